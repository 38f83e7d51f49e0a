//! Options of reading, as plain data.

use std::collections::BTreeMap;

use orcish_core::expression::Predicate;
use orcish_core::limits::Limits;
use orcish_core::names::ColumnName;
use orcish_core::options::{OptionKind, OptionType};
use orcish_core::{options, words};

use crate::encryption::Keys;

/// Default of [`ReadOptions::batch_size`], in rows.
pub const DEFAULT_BATCH_SIZE: usize = 65_536;

words! {
    /// Unit of Arrow timestamps.
    #[derive(Default)]
    pub enum TimestampUnit {
        /// Seconds.
        Second = "s",
        /// Milliseconds.
        Millisecond = "ms",
        /// Microseconds. Nanoseconds are truncated towards the past.
        #[default]
        Microsecond = "us",
        /// Nanoseconds: years 1677 to 2262 only.
        Nanosecond = "ns",
        /// Nanoseconds for columns whose values fit according to statistics, and microseconds for other columns. The statistics
        /// are those of all files of a scan.
        Auto = "auto",
        /// No digit is lost: the unit that a column was written with, if the file has its Arrow schema, and otherwise as
        /// [`Auto`](Self::Auto). Columns of several files have the finest of these units, but nanoseconds only if the values of
        /// all files fit. A value with digits beyond the unit is an error, also where a schema that was given has the unit.
        Exact = "exact",
    }

    /// How `timestamp` columns are read. A stripe has instants and the time zone of its writer.
    #[derive(Default)]
    pub enum Timestamps {
        /// Local times of the writer: Arrow timestamps without time zone.
        #[default]
        Wall = "wall",
        /// Instants: Arrow timestamps in UTC. The two instants of an ambiguous local time are distinguished.
        Instant = "instant",
    }

    /// The result of a value that overflows: a timestamp that overflows the unit, or a decimal that overflows the precision.
    #[derive(Default)]
    pub enum OutOfRange {
        /// An error with the column and the row.
        #[default]
        Error = "error",
        /// Null.
        Null = "null",
    }

    /// Arrow type of string, char and varchar columns, and of binary columns if the type has a binary form.
    #[derive(Default)]
    pub enum StringType {
        /// `Utf8` and `Binary` with 32-bit offsets. Batches end before 2 GiB.
        #[default]
        Utf8 = "utf8",
        /// `LargeUtf8` and `LargeBinary` with 64-bit offsets.
        Large = "large",
        /// `Utf8View` and `BinaryView`.
        View = "view",
        /// `Dictionary(Int32, Utf8)` for any encoding of the stripe. Binary columns are `Binary`.
        Dictionary = "dictionary",
        /// `Binary`: the stored bytes without a check of UTF-8.
        Binary = "binary",
    }

    /// The result of invalid UTF-8 in text.
    #[derive(Default)]
    pub enum InvalidUtf8 {
        /// An error with the column and the value.
        #[default]
        Error = "error",
        /// U+FFFD for each maximal prefix of an incomplete character and for each invalid byte, as `String::from_utf8_lossy`,
        /// Java's `String` and the WHATWG standard.
        Replace = "replace",
        /// Null for the value.
        Null = "null",
        /// All text columns have the corresponding binary type: `LargeBinary` for `LargeUtf8`, `BinaryView` for `Utf8View`, and
        /// `Binary` otherwise, also as values of a dictionary. [`StringType::Binary`] is `Utf8` with this option.
        Binary = "binary",
    }

    /// The result of text that is longer than the length of its `char` or `varchar`, in code points.
    #[derive(Default)]
    pub enum LongChar {
        /// The stored text, as in ORC C++.
        #[default]
        Keep = "keep",
        /// The truncated text, as in ORC Java.
        Cut = "cut",
        /// An error with the column and the value.
        Error = "error",
    }

    /// Arrow type of union columns.
    #[derive(Default)]
    pub enum UnionType {
        /// A dense union. A union of more than 128 variants is a [`UnionType::Struct`].
        #[default]
        Dense = "dense",
        /// A sparse union. A union of more than 128 variants is a [`UnionType::Struct`].
        Sparse = "sparse",
        /// `struct<tag: int8 (int16 beyond 128 variants), field0, field1, …>`. All fields but the tagged one are null.
        Struct = "struct",
    }

    /// The result of maps with null keys, which Arrow's maps cannot have.
    #[derive(Default)]
    pub enum NullMapKeys {
        /// An error of kind [`NullMapKey`](orcish_core::ErrorKind::NullMapKey) with the column and the row.
        #[default]
        Error = "error",
        /// The keys of all maps are dictionary arrays. The indexes are not null, while values of the dictionary can be null.
        Dictionary = "dictionary",
    }

    /// The result of encrypted columns, of which a file has masked values that are not encrypted.
    #[derive(Default)]
    pub enum Masked {
        /// An error with the columns.
        #[default]
        Error = "error",
        /// The masked values.
        Allow = "allow",
    }
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
    /// Columns by names, in this order: `a`, `nest.b`; `list.element.b`, `map.key`, `map.value.c`. The names `element` and `value`
    /// can be omitted before the name of a field. A column `a.b` precedes the field `b` of `a`, which is
    /// [`ColumnName::of_steps`]`(["a", "b"])`.
    Names(Vec<ColumnName>),
    /// Columns by their ids in the type tree, with all descendants.
    Ids(Vec<u32>),
}

impl OptionType for Columns {
    const KIND: OptionKind = OptionKind::List;
}

impl<S: Into<ColumnName>> FromIterator<S> for Columns {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        Columns::Names(names.into_iter().map(Into::into).collect())
    }
}

impl<S: Into<ColumnName>> From<Vec<S>> for Columns {
    fn from(names: Vec<S>) -> Self {
        names.into_iter().collect()
    }
}

impl<S: Into<ColumnName>, const N: usize> From<[S; N]> for Columns {
    fn from(names: [S; N]) -> Self {
        names.into_iter().collect()
    }
}

impl From<&[&str]> for Columns {
    fn from(names: &[&str]) -> Self {
        names.iter().copied().collect()
    }
}

options! {
    /// Options of reading a file.
    ///
    /// ```
    /// use orcish::{Columns, ReadOptions};
    ///
    /// let options = ReadOptions::default().with_columns(["id", "nest.a"]).with_batch_size(1024).with_limit(100);
    /// assert_eq!(options.columns, Columns::Names(vec!["id".into(), "nest.a".into()]));
    /// ```
    #[derive(Debug, Clone, PartialEq)]
    pub struct ReadOptions {
        /// The projected columns, in order.
        columns: Columns => with_columns(into),
        /// Maximum number of rows of a batch.
        batch_size: usize = DEFAULT_BATCH_SIZE => with_batch_size,
        /// Read columns with the Arrow types that they were written with. The file needs to have its Arrow schema (in its user
        /// metadata, key [`ARROW_SCHEMA_KEY`](crate::read::ARROW_SCHEMA_KEY)), which has to agree with the types of the file.
        /// Otherwise columns have the Arrow types of their ORC types. Filters are evaluated on the latter.
        arrow_schema: bool = true => with_arrow_schema,
        /// Unit of timestamps. The default is the unit that they were written with, if it is known, or microseconds.
        timestamp_unit: Option<TimestampUnit> => with_timestamp_unit(into),
        /// How `timestamp` columns are read. The default is instants for columns that were written as instants, if that is known,
        /// and local times for other columns.
        timestamps: Option<Timestamps> => with_timestamps(into),
        /// Time zone of the reader for instants of `timestamp` columns, any id of [`WriterZone`](crate::time::WriterZone). The
        /// instants are those of ORC Java in a JVM of this time zone: their local times are the local times of the writer. The
        /// default are the stored instants.
        timezone: Option<String> => with_timezone(into String),
        /// The result of timestamps that overflow the unit.
        timestamp_out_of_range: OutOfRange => with_timestamp_out_of_range,
        /// Arrow type of strings. The default is the type that they were written with, if it is known, or `Utf8`.
        strings: Option<StringType> => with_strings(into),
        /// The result of invalid UTF-8.
        invalid_utf8: InvalidUtf8 => with_invalid_utf8,
        /// The result of text that is longer than the length of its char or varchar.
        long_char: LongChar => with_long_char,
        /// The result of decimals with more digits than their precision.
        decimal_out_of_range: OutOfRange => with_decimal_out_of_range,
        /// Trim the trailing blanks of char values.
        trim_char: bool => with_trim_char,
        /// Arrow type of unions. The default is the type that they were written with, if it is known, or dense.
        unions: Option<UnionType> => with_unions(into),
        /// The result of maps with null keys.
        null_map_keys: NullMapKeys => with_null_map_keys,
        /// The result of encrypted columns.
        masked: Masked => with_masked,
        /// Indexes of the stripes to read, in this order. The default are all stripes.
        stripes: Option<Vec<usize>> => with_stripes(into),
        /// Predicate on the rows to read. Row groups without such rows, as proven by statistics or bloom filters, are neither
        /// read nor decompressed.
        filter: Option<Predicate> => with_filter(of Predicate),
        /// Maximum number of rows to read.
        limit: Option<u64> => with_limit(into),
        /// Name of an additional last column of 64-bit integers: the index of the row in the file. The filter can name it.
        row_number: Option<String> => with_row_number(into String),
        /// Whether only the filter has the column of row numbers, and the batches do not.
        hide_row_number: bool => with_hide_row_number,
        /// Number of decoding threads; 0 for the number of cores. Requests to servers have additional threads.
        threads: usize => with_threads,
        unlisted {
            /// Options of single columns by their ids.
            column_options: BTreeMap<u32, ColumnOptions>,
            /// Limits of resources.
            limits: Limits => with_limits,
            /// Keys of encrypted columns.
            keys: Option<Keys> => with_keys(into),
        }
    }
}

impl ReadOptions {
    /// Adds the options of the column `id` to [`column_options`](Self::column_options).
    #[must_use]
    pub fn with_column_options(mut self, id: u32, options: ColumnOptions) -> Self {
        self.column_options.insert(id, options);
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
