//! Options of reading, as plain data.

use std::collections::BTreeMap;

use orcish_core::expression::Predicate;
use orcish_core::limits::Limits;

/// Default of [`ReadOptions::batch_size`], in rows.
pub const DEFAULT_BATCH_SIZE: usize = 65_536;

/// Unit of Arrow timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum TimestampUnit {
    /// Seconds.
    Second,
    /// Milliseconds.
    Millisecond,
    /// Microseconds. Nanoseconds are truncated towards the past.
    #[default]
    Microsecond,
    /// Nanoseconds: years 1677 to 2262 only.
    Nanosecond,
    /// Nanoseconds for columns whose values fit according to statistics, and microseconds for other columns. The statistics
    /// are those of all files of a scan.
    Auto,
    /// No digit is lost: the unit that a column was written with, if the file has its Arrow schema, and otherwise as
    /// [`Auto`](Self::Auto). Columns of several files have the finest of these units, but nanoseconds only if the values of
    /// all files fit. A value with digits beyond the unit is an error, also where a schema that was given has the unit.
    Exact,
}

/// How `timestamp` columns are read. A stripe has instants and the time zone of its writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Timestamps {
    /// Local times of the writer: Arrow timestamps without time zone.
    #[default]
    Wall,
    /// Instants: Arrow timestamps in UTC. The two instants of an ambiguous local time are distinguished.
    Instant,
}

/// The result of a value that overflows: a timestamp that overflows the unit, or a decimal that overflows the precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OutOfRange {
    /// An error with the column and the row.
    #[default]
    Error,
    /// Null.
    Null,
}

/// Arrow type of string, char and varchar columns, and of binary columns if the type has a binary form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum StringType {
    /// `Utf8` and `Binary` with 32-bit offsets. Batches end before 2 GiB.
    #[default]
    Utf8,
    /// `LargeUtf8` and `LargeBinary` with 64-bit offsets.
    Large,
    /// `Utf8View` and `BinaryView`.
    View,
    /// `Dictionary(Int32, Utf8)` for any encoding of the stripe. Binary columns are `Binary`.
    Dictionary,
    /// `Binary`: the stored bytes without a check of UTF-8.
    Binary,
}

/// The result of invalid UTF-8 in text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum InvalidUtf8 {
    /// An error with the column and the value.
    #[default]
    Error,
    /// U+FFFD for each maximal prefix of an incomplete character and for each invalid byte, as `String::from_utf8_lossy`,
    /// Java's `String` and the WHATWG standard.
    Replace,
    /// Null for the value.
    Null,
    /// All text columns have the corresponding binary type: `LargeBinary` for `LargeUtf8`, `BinaryView` for `Utf8View`, and
    /// `Binary` otherwise, also as values of a dictionary. [`StringType::Binary`] is `Utf8` with this option.
    Binary,
}

/// The result of text that is longer than the length of its `char` or `varchar`, in code points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LongChar {
    /// The stored text, as in ORC C++.
    #[default]
    Keep,
    /// The truncated text, as in ORC Java.
    Cut,
    /// An error with the column and the value.
    Error,
}

/// Arrow type of union columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum UnionType {
    /// A dense union. A union of more than 128 variants is a [`UnionType::Struct`].
    #[default]
    Dense,
    /// A sparse union. A union of more than 128 variants is a [`UnionType::Struct`].
    Sparse,
    /// `struct<tag: int8 (int16 beyond 128 variants), field0, field1, …>`. All fields but the tagged one are null.
    Struct,
}

/// The result of maps with null keys, which Arrow's maps cannot have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum NullMapKeys {
    /// An error of kind [`NullMapKey`](orcish_core::ErrorKind::NullMapKey) with the column and the row.
    #[default]
    Error,
    /// The keys of all maps are dictionary arrays. The indexes are not null, while values of the dictionary can be null.
    Dictionary,
}

/// Options of a single column, which override the options of its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnOptions {
    /// Unit of timestamps, and local times or instants; `None` for the option of all timestamps.
    Timestamp(Option<TimestampUnit>, Option<Timestamps>),
    /// Arrow type of strings or binary values.
    Strings(StringType),
    /// Arrow type of a union.
    Union(UnionType),
}

/// Selection of columns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Columns {
    /// All columns.
    #[default]
    All,
    /// Columns by dotted names, in this order: `a`, `nest.b`; `list.element.b`, `map.key`, `map.value.c`. The names `element`
    /// and `value` can be omitted before the name of a field.
    Names(Vec<String>),
    /// Columns by their ids in the type tree, with all descendants.
    Ids(Vec<u32>),
}

impl<S: Into<String>> FromIterator<S> for Columns {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        Columns::Names(names.into_iter().map(Into::into).collect())
    }
}

impl<S: Into<String>> From<Vec<S>> for Columns {
    fn from(names: Vec<S>) -> Self {
        names.into_iter().collect()
    }
}

impl<S: Into<String>, const N: usize> From<[S; N]> for Columns {
    fn from(names: [S; N]) -> Self {
        names.into_iter().collect()
    }
}

impl From<&[&str]> for Columns {
    fn from(names: &[&str]) -> Self {
        names.iter().copied().collect()
    }
}

/// Options of reading a file.
///
/// ```
/// use orcish::{Columns, ReadOptions};
///
/// let options = ReadOptions::default().with_columns(["id", "nest.a"]).with_batch_size(1024).with_limit(100);
/// assert_eq!(options.columns, Columns::Names(vec!["id".into(), "nest.a".into()]));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The projected columns, in order.
    pub columns: Columns,
    /// Maximum number of rows of a batch.
    pub batch_size: usize,
    /// Read columns with the Arrow types that they were written with. The file needs to have its Arrow schema (in its user
    /// metadata, key [`ARROW_SCHEMA_KEY`](crate::read::ARROW_SCHEMA_KEY)), which has to agree with the types of the file.
    /// Otherwise columns have the Arrow types of their ORC types. Filters are evaluated on the latter.
    pub arrow_schema: bool,
    /// Unit of timestamps. The default is the unit that they were written with, if it is known, or microseconds.
    pub timestamp_unit: Option<TimestampUnit>,
    /// How `timestamp` columns are read. The default is instants for columns that were written as instants, if that is known,
    /// and local times for other columns.
    pub timestamps: Option<Timestamps>,
    /// Time zone of the reader for instants of `timestamp` columns, any id of [`WriterZone`](crate::time::WriterZone). The
    /// instants are those of ORC Java in a JVM of this time zone: their local times are the local times of the writer. The
    /// default are the stored instants.
    pub timezone: Option<String>,
    /// Options of single columns by their ids.
    pub column_options: BTreeMap<u32, ColumnOptions>,
    /// The result of timestamps that overflow the unit.
    pub timestamp_out_of_range: OutOfRange,
    /// Arrow type of strings. The default is the type that they were written with, if it is known, or `Utf8`.
    pub strings: Option<StringType>,
    /// The result of invalid UTF-8.
    pub invalid_utf8: InvalidUtf8,
    /// The result of text that is longer than the length of its char or varchar.
    pub long_char: LongChar,
    /// The result of decimals with more digits than their precision.
    pub decimal_out_of_range: OutOfRange,
    /// Trim the trailing blanks of char values.
    pub trim_char: bool,
    /// Arrow type of unions. The default is the type that they were written with, if it is known, or dense.
    pub unions: Option<UnionType>,
    /// The result of maps with null keys.
    pub null_map_keys: NullMapKeys,
    /// Read the unencrypted masked values of encrypted columns, instead of an error.
    pub allow_masked: bool,
    /// Indexes of the stripes to read, in this order. The default are all stripes.
    pub stripes: Option<Vec<usize>>,
    /// Predicate on the rows to read. Row groups without such rows, as proven by statistics or bloom filters, are neither
    /// read nor decompressed.
    pub filter: Option<Predicate>,
    /// Maximum number of rows to read.
    pub limit: Option<u64>,
    /// Name of an additional last column of 64-bit integers: the index of the row in the file. The filter can name it.
    pub row_number: Option<String>,
    /// Whether only the filter has the column of row numbers, and the batches do not.
    pub hide_row_number: bool,
    /// Number of decoding threads; 0 for the number of cores. Requests to servers have additional threads.
    pub threads: usize,
    /// Limits of resources.
    pub limits: Limits,
}

/// Fields are assigned by name, or set in a chain of methods.
impl ReadOptions {
    /// Sets [`columns`](Self::columns).
    #[must_use]
    pub fn with_columns(mut self, columns: impl Into<Columns>) -> Self {
        self.columns = columns.into();
        self
    }

    /// Sets [`batch_size`](Self::batch_size).
    #[must_use]
    pub fn with_batch_size(mut self, batch_size: usize) -> Self {
        self.batch_size = batch_size;
        self
    }

    /// Sets [`arrow_schema`](Self::arrow_schema).
    #[must_use]
    pub fn with_arrow_schema(mut self, arrow_schema: bool) -> Self {
        self.arrow_schema = arrow_schema;
        self
    }

    /// Sets [`timestamp_unit`](Self::timestamp_unit).
    #[must_use]
    pub fn with_timestamp_unit(mut self, timestamp_unit: impl Into<Option<TimestampUnit>>) -> Self {
        self.timestamp_unit = timestamp_unit.into();
        self
    }

    /// Sets [`timestamps`](Self::timestamps).
    #[must_use]
    pub fn with_timestamps(mut self, timestamps: impl Into<Option<Timestamps>>) -> Self {
        self.timestamps = timestamps.into();
        self
    }

    /// Sets [`timezone`](Self::timezone).
    #[must_use]
    pub fn with_timezone(mut self, timezone: impl Into<String>) -> Self {
        self.timezone = Some(timezone.into());
        self
    }

    /// Adds the options of the column `id` to [`column_options`](Self::column_options).
    #[must_use]
    pub fn with_column_options(mut self, id: u32, options: ColumnOptions) -> Self {
        self.column_options.insert(id, options);
        self
    }

    /// Sets [`timestamp_out_of_range`](Self::timestamp_out_of_range).
    #[must_use]
    pub fn with_timestamp_out_of_range(mut self, timestamp_out_of_range: OutOfRange) -> Self {
        self.timestamp_out_of_range = timestamp_out_of_range;
        self
    }

    /// Sets [`strings`](Self::strings).
    #[must_use]
    pub fn with_strings(mut self, strings: impl Into<Option<StringType>>) -> Self {
        self.strings = strings.into();
        self
    }

    /// Sets [`invalid_utf8`](Self::invalid_utf8).
    #[must_use]
    pub fn with_invalid_utf8(mut self, invalid_utf8: InvalidUtf8) -> Self {
        self.invalid_utf8 = invalid_utf8;
        self
    }

    /// Sets [`long_char`](Self::long_char).
    #[must_use]
    pub fn with_long_char(mut self, long_char: LongChar) -> Self {
        self.long_char = long_char;
        self
    }

    /// Sets [`decimal_out_of_range`](Self::decimal_out_of_range).
    #[must_use]
    pub fn with_decimal_out_of_range(mut self, decimal_out_of_range: OutOfRange) -> Self {
        self.decimal_out_of_range = decimal_out_of_range;
        self
    }

    /// Sets [`trim_char`](Self::trim_char).
    #[must_use]
    pub fn with_trim_char(mut self, trim_char: bool) -> Self {
        self.trim_char = trim_char;
        self
    }

    /// Sets [`unions`](Self::unions).
    #[must_use]
    pub fn with_unions(mut self, unions: impl Into<Option<UnionType>>) -> Self {
        self.unions = unions.into();
        self
    }

    /// Sets [`null_map_keys`](Self::null_map_keys).
    #[must_use]
    pub fn with_null_map_keys(mut self, null_map_keys: NullMapKeys) -> Self {
        self.null_map_keys = null_map_keys;
        self
    }

    /// Sets [`allow_masked`](Self::allow_masked).
    #[must_use]
    pub fn with_allow_masked(mut self, allow_masked: bool) -> Self {
        self.allow_masked = allow_masked;
        self
    }

    /// Sets [`stripes`](Self::stripes).
    #[must_use]
    pub fn with_stripes(mut self, stripes: impl Into<Option<Vec<usize>>>) -> Self {
        self.stripes = stripes.into();
        self
    }

    /// Sets [`filter`](Self::filter).
    #[must_use]
    pub fn with_filter(mut self, filter: Predicate) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Sets [`limit`](Self::limit).
    #[must_use]
    pub fn with_limit(mut self, limit: impl Into<Option<u64>>) -> Self {
        self.limit = limit.into();
        self
    }

    /// Sets [`row_number`](Self::row_number).
    #[must_use]
    pub fn with_row_number(mut self, row_number: impl Into<String>) -> Self {
        self.row_number = Some(row_number.into());
        self
    }

    /// Sets [`threads`](Self::threads).
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets [`limits`](Self::limits).
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Whether filters compare all digits of timestamps, also those beyond their unit.
    pub(crate) fn compares_digits(&self) -> bool {
        matches!(self.timestamp_unit, Some(TimestampUnit::Auto | TimestampUnit::Exact))
    }

    /// The name of the column of row numbers, if the batches have it.
    pub(crate) fn shown_row_number(&self) -> Option<&str> {
        self.row_number.as_deref().filter(|_| !self.hide_row_number)
    }

    /// Whether timestamps with digits beyond their unit are errors.
    pub(crate) fn keeps_digits(&self) -> bool {
        self.timestamp_unit == Some(TimestampUnit::Exact)
    }
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
            column_options: BTreeMap::new(),
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
            hide_row_number: false,
            threads: 0,
            limits: Limits::default(),
        }
    }
}
