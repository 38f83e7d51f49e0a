//! What a caller may choose: plain data, every default a documented constant.

use std::collections::BTreeMap;

use orcish_core::expression::Predicate;
use orcish_core::limits::Limits;

/// Default of [`ReadOptions::batch_size`], in rows.
pub const DEFAULT_BATCH_SIZE: usize = 65_536;
/// Unit of Arrow timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimestampUnit {
    /// Seconds.
    Second,
    /// Milliseconds.
    Millisecond,
    /// Microseconds; finer digits are dropped, toward the past.
    #[default]
    Microsecond,
    /// Nanoseconds: years 1677 to 2262 only.
    Nanosecond,
    /// Nanoseconds for columns whose statistics show that all values fit, else microseconds.
    Auto,
}

/// What is read of `timestamp` columns, whose stripes store instants and the time zone of their writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Timestamps {
    /// What the writer's clock showed: an Arrow timestamp without zone.
    #[default]
    Wall,
    /// The instant: an Arrow timestamp in UTC. Both times of an hour that the clock showed twice are told apart.
    Instant,
}

/// What becomes of a value that its type cannot hold: of a timestamp the unit, of a decimal the precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutOfRange {
    /// An error that names the column and the row.
    #[default]
    Error,
    /// Null.
    Null,
}

/// Arrow type of string, char and varchar columns (and, where it applies, of binary ones).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StringType {
    /// `Utf8` and `Binary`: 32-bit offsets; batches end before 2 GiB.
    #[default]
    Utf8,
    /// `LargeUtf8` and `LargeBinary`: 64-bit offsets.
    Large,
    /// `Utf8View` and `BinaryView`.
    View,
    /// `Dictionary(Int32, Utf8)`, whatever the encoding of the stripe; binary columns stay `Binary`.
    Dictionary,
    /// `Binary`: bytes as stored, not checked to be UTF-8.
    Binary,
}

/// What becomes of text that is not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InvalidUtf8 {
    /// An error that names the column and the value.
    #[default]
    Error,
    /// U+FFFD in place of each maximal part of a character that is not whole, and of each byte that is in no character:
    /// what `String::from_utf8_lossy` does, Java's `String`, and the standard of the web.
    Replace,
    /// Null in place of the value.
    Null,
    /// All text columns have the binary type of the form in which they are read: `LargeBinary` in place of `LargeUtf8`,
    /// `BinaryView` in place of `Utf8View`, else `Binary`, also as values of a dictionary. [`StringType::Binary`] is
    /// `Utf8` with this.
    Binary,
}

/// What becomes of text that is longer than its `char` or `varchar`, in code points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LongChar {
    /// It is read as it is stored, as by ORC C++.
    #[default]
    Keep,
    /// It is cut, as by ORC Java.
    Cut,
    /// An error that names the column and the value.
    Error,
}

/// Arrow type of union columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnionType {
    /// Dense union; a union of more than 128 variants comes as [`UnionType::Struct`].
    #[default]
    Dense,
    /// Sparse union; a union of more than 128 variants comes as [`UnionType::Struct`].
    Sparse,
    /// `struct<tag: int8 (int16 beyond 128 variants), field0, field1, …>`, all but the tagged field null.
    Struct,
}

/// What becomes of maps with null keys, which Arrow's maps cannot have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NullMapKeys {
    /// An error of kind [`NullMapKey`](orcish_core::ErrorKind::NullMapKey) that names the place.
    #[default]
    Error,
    /// Keys of all maps become dictionary arrays, whose values may be null where their references are not.
    Dictionary,
}

/// How a single column is read, where it is not as all of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnForm {
    /// Timestamps in this unit, and as wall clocks or instants; where that is none, as all of their kind.
    Timestamp(Option<TimestampUnit>, Option<Timestamps>),
    /// Strings, or binary values, of this type.
    Strings(StringType),
    /// A union of this type.
    Union(UnionType),
}

/// Which columns to read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Columns {
    /// All of them.
    #[default]
    All,
    /// By dotted name, in this order: `a`, `nest.b`; `list.element.b`, `map.key`, `map.value.c`.
    /// The word for the element, key or value may be left out where what follows is a field of it.
    Names(Vec<String>),
    /// By column id of the type tree; the ids below each are included.
    Ids(Vec<u32>),
}

/// How to read a file.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOptions {
    /// Which columns to read, and in which order.
    pub columns: Columns,
    /// Most rows of a batch.
    pub batch_size: usize,
    /// Give columns the Arrow types that they were written with, where the file has kept its Arrow schema (in its user
    /// metadata, under [`ARROW_SCHEMA_KEY`](crate::read::ARROW_SCHEMA_KEY)) and it fits what else the file says of them.
    /// Otherwise they have the types that ORC's become of themselves. Filters are asked of those in any case.
    pub arrow_schema: bool,
    /// Unit of timestamps. Without it they have the unit that they were written with, if that is known, or
    /// microseconds.
    pub timestamp_unit: Option<TimestampUnit>,
    /// What is read of `timestamp` columns. Without it those are instants that were written as such, if that is known, and
    /// the others wall clocks.
    pub timestamps: Option<Timestamps>,
    /// Whose instants are read of `timestamp` columns: those of a reader in this time zone, as ORC Java in a JVM there
    /// gives them, which shows the wall clock that the writer's showed. Without it they are the stored ones, whatever
    /// zone they were written in. Any id that [`WriterZone`](crate::time::WriterZone) knows.
    pub timezone: Option<String>,
    /// How single columns are read, by their ids, where it is otherwise.
    pub column_forms: BTreeMap<u32, ColumnForm>,
    /// What becomes of timestamps that the unit cannot hold.
    pub timestamp_out_of_range: OutOfRange,
    /// Arrow type of strings. Without it they have the type that they were written with, if that is known, or `Utf8`.
    pub strings: Option<StringType>,
    /// What becomes of text that is not UTF-8.
    pub invalid_utf8: InvalidUtf8,
    /// What becomes of text that is longer than its char or varchar.
    pub long_char: LongChar,
    /// What becomes of decimals of more digits than their precision.
    pub decimal_out_of_range: OutOfRange,
    /// Cut the padding blanks off the end of char values.
    pub trim_char: bool,
    /// Arrow type of unions. Without it they have the type that they were written with, if that is known, or are dense.
    pub unions: Option<UnionType>,
    /// What becomes of maps with null keys.
    pub null_map_keys: NullMapKeys,
    /// Read encrypted columns as their unencrypted masks instead of failing.
    pub allow_masked: bool,
    /// Indexes of the stripes to read, in this order; `None` reads all.
    pub stripes: Option<Vec<usize>>,
    /// Which rows to read: those for which this is true of what is read of them. Row groups that statistics or bloom
    /// filters prove to have no such row are neither read nor decompressed.
    pub filter: Option<Predicate>,
    /// Most rows to read.
    pub limit: Option<u64>,
    /// Name of a column of 64-bit integers that is added behind the others: the number of each row in the file, from 0.
    pub row_number: Option<String>,
    /// Threads that decode; 0 takes as many as the machine has cores. Those that wait for the answers of servers come
    /// on top, one for each request.
    pub threads: usize,
    /// Bounds on what the file may make the reader do.
    pub limits: Limits,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            columns: Columns::All,
            batch_size: DEFAULT_BATCH_SIZE,
            arrow_schema: true,
            timestamp_unit: None,
            timestamps: None,
            timezone: None,
            column_forms: BTreeMap::new(),
            timestamp_out_of_range: OutOfRange::default(),
            strings: None,
            invalid_utf8: InvalidUtf8::default(),
            long_char: LongChar::default(),
            decimal_out_of_range: OutOfRange::default(),
            trim_char: false,
            unions: None,
            null_map_keys: NullMapKeys::default(),
            allow_masked: false,
            stripes: None,
            filter: None,
            limit: None,
            row_number: None,
            threads: 0,
            limits: Limits::default(),
        }
    }
}
