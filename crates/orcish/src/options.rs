//! What a caller may choose: plain data, every default a documented constant.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::expression::Predicate;

/// Default of [`ReadOptions::batch_size`], in rows.
pub const DEFAULT_BATCH_SIZE: usize = 65_536;
/// Default of [`Limits::tail`], in bytes: a footer of half a million columns.
pub const DEFAULT_MAX_TAIL: u64 = 256 << 20;
/// Default of [`Limits::chunk`], in bytes; the format's own bound is 2²³ for compressed chunks.
pub const DEFAULT_MAX_CHUNK: usize = 64 << 20;
/// Default of [`Limits::depth`].
pub const DEFAULT_MAX_DEPTH: usize = 128;
/// Default of [`Limits::columns`].
pub const DEFAULT_MAX_COLUMNS: usize = 1 << 20;
/// Default of [`Limits::stripes`].
pub const DEFAULT_MAX_STRIPES: usize = 1 << 20;
/// Default of [`Limits::memory`], in bytes.
pub const DEFAULT_MAX_MEMORY: u64 = 4 << 30;

/// Default of [`RemoteOptions::first_read`], in bytes.
pub const DEFAULT_REMOTE_FIRST_READ: u64 = 64 << 10;
/// Default of [`RemoteOptions::coalesce_gap`], in bytes.
pub const DEFAULT_COALESCE_GAP: u64 = 1 << 20;
/// Default of [`RemoteOptions::part_size`], in bytes.
pub const DEFAULT_PART_SIZE: u64 = 8 << 20;
/// Default of [`RemoteOptions::concurrency`].
pub const DEFAULT_CONCURRENCY: usize = 10;
/// Most of [`RemoteOptions::concurrency`]: each request may take a thread that waits for it.
pub const MOST_REQUESTS: usize = 256;
/// Default of [`RemoteOptions::max_retries`].
pub const DEFAULT_MAX_RETRIES: usize = 10;
/// Default of [`RemoteOptions::retry_timeout`].
pub const DEFAULT_RETRY_TIMEOUT: Duration = Duration::from_secs(180);

/// Bounds on what a file may make a reader do; checked before anything is allocated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of a footer, of the file or of a stripe, and of the stripe statistics: as stored, decompressed, and in
    /// memory once they are decoded. The dotted names of all columns may take as many, and their types.
    pub tail: u64,
    /// Most bytes that one compression chunk may hold when decompressed.
    pub chunk: usize,
    /// Deepest nesting of types; the root counts 1.
    pub depth: usize,
    /// Most columns of the type tree, nested ones and the root included.
    pub columns: usize,
    /// Most stripes.
    pub stripes: usize,
    /// Most bytes of each of three things that one reader holds at a time: stripes as stored; decompressed chunks,
    /// dictionaries and indexes; decoded batches that have not been handed out yet. All three together take about two and
    /// a half times as much at most. Batches that were handed out are not counted. An explanation of a read may take as many.
    pub memory: u64,
}

impl Limits {
    /// Of files that this process is writing: as large as they are made.
    pub(crate) const OF_OURSELVES: Self = Limits {
        tail: u64::MAX,
        chunk: DEFAULT_MAX_CHUNK,
        depth: DEFAULT_MAX_DEPTH,
        columns: usize::MAX,
        stripes: usize::MAX,
        memory: u64::MAX,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            tail: DEFAULT_MAX_TAIL,
            chunk: DEFAULT_MAX_CHUNK,
            depth: DEFAULT_MAX_DEPTH,
            columns: DEFAULT_MAX_COLUMNS,
            stripes: DEFAULT_MAX_STRIPES,
            memory: DEFAULT_MAX_MEMORY,
        }
    }
}

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
    /// An error of kind [`NullMapKey`](crate::ErrorKind::NullMapKey) that names the place.
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
    /// metadata, under [`ARROW_SCHEMA_KEY`](crate::ARROW_SCHEMA_KEY)) and it fits what else the file says of them.
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

/// How requests for files that are not local are made.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RemoteOptions {
    /// Bytes to read from the end of a file at first; what they hold is not asked for again.
    pub first_read: u64,
    /// Bytes that are read sooner than another request is made.
    pub coalesce_gap: u64,
    /// Most bytes of a request: longer ranges are read in parts, side by side.
    pub part_size: u64,
    /// Most requests to a store or server that are under way at a time, up to [`MOST_REQUESTS`]. As many files and
    /// stripes are asked for ahead of what is decoded.
    pub concurrency: usize,
    /// How often a request that failed for a passing reason is made again.
    pub max_retries: usize,
    /// How long after the first attempt a request may still be made again.
    pub retry_timeout: Duration,
}

impl Default for RemoteOptions {
    fn default() -> Self {
        RemoteOptions {
            first_read: DEFAULT_REMOTE_FIRST_READ,
            coalesce_gap: DEFAULT_COALESCE_GAP,
            part_size: DEFAULT_PART_SIZE,
            concurrency: DEFAULT_CONCURRENCY,
            max_retries: DEFAULT_MAX_RETRIES,
            retry_timeout: DEFAULT_RETRY_TIMEOUT,
        }
    }
}
