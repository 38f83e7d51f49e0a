//! Arrow types of ORC types. [`super::restore`] changes them to the types that columns were written with.
//!
//! | ORC | Arrow |
//! |---|---|
//! | boolean, tinyint … bigint, float, double, date | their like |
//! | string, char, varchar | as [`StringType`] says |
//! | binary, geometry, geography | binary, large or view after [`StringType`] |
//! | decimal(p, s) | decimal128(p, s) |
//! | timestamp | timestamp without zone, or in UTC where instants are wanted |
//! | timestamp with local time zone | timestamp in UTC |
//! | bigint and int with Spark's type attribute | timestamp without zone, duration, year-month interval |
//! | array, map, struct, uniontype | list, map, struct, union |
//!
//! Attributes of a type become metadata of the field, except attributes that name an extension type of Arrow. Properties
//! without place in the Arrow type (length of char and varchar, coordinate systems) are in the metadata under [`TYPE_KEY`].

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, IntervalUnit, TimeUnit, UnionFields, UnionMode};
use orcish_core::error::{Error, OrInternal as _, Result};
use orcish_core::predicate::{Domain, FilterColumn, TextConversion};
use orcish_core::statistics::Detail;
use orcish_core::types::{NANOSECONDS_OF_DAY, SPARK_NTZ, finer_unit, is_extension_key, nanoseconds};

use crate::options::{
    ColumnOptions, InvalidUtf8, LongChar, NullMapKeys, OutOfRange, ReadOptions, StringType, TimestampUnit, Timestamps,
    UnionType,
};
use crate::projection::Projected;
use crate::schema::{Kind, Type};
use crate::tail::FileTail;

pub(crate) use orcish_core::types::SPARK_TYPE;
pub use orcish_core::types::TYPE_KEY;

/// Maximum number of variants of an Arrow union.
const MAX_VARIANTS: usize = 128;
/// Maximum seconds before and after 1970 of timestamps in nanoseconds of 64 bits.
const NANOSECOND_RANGE: i128 = 9_223_372_035 * 1_000_000_000;
const DAY: i128 = NANOSECONDS_OF_DAY as i128;

/// Spark type of an integer column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SparkType {
    /// Microseconds of a local timestamp.
    TimestampNtz,
    /// Microseconds.
    DayTimeInterval,
    /// Months.
    YearMonthInterval,
}

pub(super) fn spark_type(this: &Type) -> Option<SparkType> {
    let name = this.attributes.iter().find(|(key, _)| key == SPARK_TYPE).map(|(_, name)| name.as_str())?;
    let is_interval = |units: [&str; 4]| units.iter().any(|unit| name.starts_with(&format!("interval {unit}")));
    match this.kind {
        Kind::Long if name == SPARK_NTZ => Some(SparkType::TimestampNtz),
        Kind::Long if is_interval(["day", "hour", "minute", "second"]) => Some(SparkType::DayTimeInterval),
        Kind::Int if is_interval(["year", "month", "year", "month"]) => Some(SparkType::YearMonthInterval),
        _ => None,
    }
}

/// Maps columns of a file to Arrow fields.
pub(crate) struct Mapping<'a> {
    pub(crate) tail: &'a FileTail,
    pub(crate) options: &'a ReadOptions,
}

impl Mapping<'_> {
    /// Fields of the children of `parent` that are read.
    pub(super) fn fields(&self, parent: &Projected) -> Result<Fields> {
        let this = self.tail.schema.get(parent.id)?;
        let field = |child: &Projected| {
            let index = this.index_of_child(child.id)?;
            self.field(this.child_name(index), child)
        };
        parent.children.iter().map(field).collect()
    }

    pub(super) fn field(&self, name: impl Into<String>, column: &Projected) -> Result<FieldRef> {
        let this = self.tail.schema.get(column.id)?;
        // The storage type of an extension type is in the stored schema, which has the extension metadata itself.
        let attributes = this.attributes.iter().filter(|(key, _)| !is_extension_key(key));
        let mut metadata: HashMap<String, String> = attributes.cloned().collect();
        if matches!(this.kind, Kind::Char | Kind::Varchar | Kind::Geometry | Kind::Geography) {
            metadata.insert(TYPE_KEY.to_owned(), self.tail.schema.type_string(column.id)?);
        }
        Ok(Arc::new(Field::new(name, self.data_type(column)?, true).with_metadata(metadata)))
    }

    pub(crate) fn data_type(&self, column: &Projected) -> Result<DataType> {
        let this = self.tail.schema.get(column.id)?;
        Ok(match this.kind {
            Kind::Boolean => DataType::Boolean,
            Kind::Byte => DataType::Int8,
            Kind::Short => DataType::Int16,
            Kind::Int => match spark_type(this) {
                Some(_) => DataType::Interval(IntervalUnit::YearMonth),
                None => DataType::Int32,
            },
            Kind::Long => match spark_type(this) {
                Some(SparkType::TimestampNtz) => DataType::Timestamp(self.unit(column.id)?, None),
                Some(_) => DataType::Duration(TimeUnit::Microsecond),
                None => DataType::Int64,
            },
            Kind::Float => DataType::Float32,
            Kind::Double => DataType::Float64,
            Kind::String | Kind::Char | Kind::Varchar => self.text_type(column.id),
            Kind::Binary | Kind::Geometry | Kind::Geography => match self.strings(column.id) {
                StringType::Large => DataType::LargeBinary,
                StringType::View => DataType::BinaryView,
                StringType::Utf8 | StringType::Dictionary | StringType::Binary => DataType::Binary,
            },
            Kind::Decimal => {
                let (precision, scale) = decimal(this)?;
                DataType::Decimal128(precision, scale.cast_signed())
            }
            Kind::Date => DataType::Date32,
            Kind::Timestamp => {
                let zone = self.is_instant(column.id).then(|| "UTC".into());
                DataType::Timestamp(self.unit(column.id)?, zone)
            }
            Kind::TimestampInstant => DataType::Timestamp(self.unit(column.id)?, Some("UTC".into())),
            Kind::Struct => DataType::Struct(self.fields(column)?),
            Kind::List => match &column.children[..] {
                [element] => DataType::List(self.field("item", element)?),
                _ => DataType::Null,
            },
            Kind::Map => {
                DataType::Map(Arc::new(Field::new("entries", DataType::Struct(self.entries(column)?), false)), false)
            }
            Kind::Union => match self.union_type(column) {
                UnionType::Dense => DataType::Union(self.variants(column)?, UnionMode::Dense),
                UnionType::Sparse => DataType::Union(self.variants(column)?, UnionMode::Sparse),
                UnionType::Struct => DataType::Struct(self.tagged(column)?),
            },
            Kind::Unknown => return Err(self.unreadable(column.id)),
        })
    }

    /// The Arrow type of strings: binaries if invalid UTF-8 is kept.
    fn text_type(&self, id: u32) -> DataType {
        let is_utf8 = self.options.invalid_utf8 != InvalidUtf8::Binary;
        let dictionary = |values| DataType::Dictionary(Box::new(DataType::Int32), Box::new(values));
        match (self.strings(id), is_utf8) {
            (StringType::Utf8, true) => DataType::Utf8,
            (StringType::Large, true) => DataType::LargeUtf8,
            (StringType::View, true) => DataType::Utf8View,
            (StringType::Dictionary, true) => dictionary(DataType::Utf8),
            (StringType::Utf8 | StringType::Binary, _) => DataType::Binary,
            (StringType::Large, false) => DataType::LargeBinary,
            (StringType::View, false) => DataType::BinaryView,
            (StringType::Dictionary, false) => dictionary(DataType::Binary),
        }
    }

    /// The error of a column of unknown kind.
    fn unreadable(&self, id: u32) -> Error {
        self.tail.schema.fault(id).unwrap_or_else(|| Error::unsupported("a column of unknown type"))
    }

    /// Fields of the key and value of a map.
    pub(super) fn entries(&self, column: &Projected) -> Result<Fields> {
        let [key, value] = &column.children[..] else { return Ok(Fields::empty()) };
        let key = self.field("key", key)?.as_ref().clone().with_nullable(false);
        let key = match self.options.null_map_keys {
            NullMapKeys::Error => key,
            NullMapKeys::Dictionary => {
                let values = key.data_type().clone();
                key.with_data_type(DataType::Dictionary(Box::new(DataType::Int32), Box::new(values)))
            }
        };
        Ok(vec![Arc::new(key), self.field("value", value)?].into())
    }

    fn column_options(&self, id: u32) -> Option<ColumnOptions> {
        self.options.column_options.get(&id).copied()
    }

    /// The Arrow type family of strings or binaries.
    fn strings(&self, id: u32) -> StringType {
        match self.column_options(id) {
            Some(ColumnOptions::Strings(string_type)) => string_type,
            _ => self.options.strings.unwrap_or_default(),
        }
    }

    /// The Arrow type of a union: as requested, if Arrow allows so many variants.
    pub(super) fn union_type(&self, column: &Projected) -> UnionType {
        match self.column_options(column.id) {
            _ if !(1..=MAX_VARIANTS).contains(&column.children.len()) => UnionType::Struct,
            Some(ColumnOptions::Union(union_type)) => union_type,
            _ => self.options.unions.unwrap_or_default(),
        }
    }

    pub(super) fn variants(&self, column: &Projected) -> Result<UnionFields> {
        let fields = self.fields(column)?;
        Ok((0..=i8::MAX).zip(fields.iter().cloned()).collect())
    }

    /// The fields of a union as a struct: tag and variants.
    pub(super) fn tagged(&self, column: &Projected) -> Result<Fields> {
        let tag = if column.children.len() <= MAX_VARIANTS { DataType::Int8 } else { DataType::Int16 };
        let fields = self.fields(column)?;
        Ok(std::iter::once(Arc::new(Field::new("tag", tag, true))).chain(fields.iter().cloned()).collect())
    }

    /// Whether column `id` of type `timestamp` is read as instants.
    pub(super) fn is_instant(&self, id: u32) -> bool {
        let timestamps = match self.column_options(id) {
            Some(ColumnOptions::Timestamp(_, timestamps)) => timestamps,
            _ => None,
        };
        timestamps.or(self.options.timestamps) == Some(Timestamps::Instant)
    }

    /// Unit of the timestamps of column `id`.
    pub(super) fn unit(&self, id: u32) -> Result<TimeUnit> {
        let unit = match self.column_options(id) {
            Some(ColumnOptions::Timestamp(Some(unit), _)) => unit,
            _ => self.options.timestamp_unit.unwrap_or_default(),
        };
        Ok(match unit {
            TimestampUnit::Second => TimeUnit::Second,
            TimestampUnit::Millisecond => TimeUnit::Millisecond,
            TimestampUnit::Microsecond => TimeUnit::Microsecond,
            TimestampUnit::Nanosecond => TimeUnit::Nanosecond,
            TimestampUnit::Auto | TimestampUnit::Exact => match self.tail.timestamp_bounds(id)? {
                Some(bounds) if fits_nanoseconds(bounds) => TimeUnit::Nanosecond,
                _ => TimeUnit::Microsecond,
            },
        })
    }
}

/// What a file says of the unit of a column that several files have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnitOfFile {
    /// The unit of the column in the file; `None` if any unit has its values.
    pub(crate) unit: Option<TimeUnit>,
    /// Whether all values fit into nanoseconds.
    pub(crate) fits_nanoseconds: bool,
}

impl UnitOfFile {
    /// The unit of column `id`, which is `recorded` in the Arrow schema of the file if it counts.
    pub(crate) fn of(mapping: &Mapping<'_>, id: u32, recorded: Option<TimeUnit>) -> Result<Self> {
        let statistics = mapping.tail.column_statistics(id)?;
        let has_values = statistics.as_ref().is_none_or(|statistics| statistics.values != Some(0));
        let this = mapping.tail.schema.get(id)?;
        let unit = match (recorded, this.kind) {
            (Some(recorded), _) => Some(recorded),
            (None, Kind::Date) => None,
            (None, _) => has_values.then(|| mapping.unit(id)).transpose()?,
        };
        let scaled = |min: i128, max: i128, nanoseconds: i128| (min * nanoseconds, max * nanoseconds);
        let bounds = match statistics.map(|statistics| statistics.detail) {
            Some(Detail::Timestamp { lower_bound: Some(min), upper_bound: Some(max), .. }) => Some((min, max)),
            Some(Detail::Date { min: Some(min), max: Some(max) }) => Some(scaled(min.into(), max.into(), DAY)),
            // `timestamp_ntz` of Spark.
            Some(Detail::Integer { min: Some(min), max: Some(max), .. }) => Some(scaled(min.into(), max.into(), 1_000)),
            _ => None,
        };
        let fits_nanoseconds =
            !has_values || recorded == Some(TimeUnit::Nanosecond) || bounds.is_some_and(fits_nanoseconds);
        Ok(UnitOfFile { unit, fits_nanoseconds })
    }

    /// The finer unit of two files.
    pub(crate) fn merged(self, other: Self) -> Self {
        let unit = match (self.unit, other.unit) {
            (Some(unit), Some(other)) => Some(finer_unit(unit, other)),
            (unit, other) => unit.or(other),
        };
        UnitOfFile { unit, fits_nanoseconds: self.fits_nanoseconds && other.fits_nanoseconds }
    }

    /// The unit of the column in the table; `None` if any unit has its values.
    pub(crate) fn of_table(self) -> Option<TimeUnit> {
        let is_coarser = self.unit == Some(TimeUnit::Nanosecond) && !self.fits_nanoseconds;
        if is_coarser { Some(TimeUnit::Microsecond) } else { self.unit }
    }
}

/// Whether recorded bounds prove that all timestamps fit into nanoseconds. Statistics are in UTC, values in the zone of the
/// writer: a margin of a day covers all zones.
fn fits_nanoseconds((min, max): (i128, i128)) -> bool {
    min > DAY - NANOSECOND_RANGE && max < NANOSECOND_RANGE - DAY
}

/// Precision and scale of a decimal.
///
/// # Errors
/// `Internal` for digits that the schema does not allow.
pub(super) fn decimal(column: &Type) -> Result<(u8, u8)> {
    let (precision, scale) = column.decimal();
    let digits = |digits: u32| u8::try_from(digits).or_internal("a decimal was not checked");
    Ok((digits(precision)?, digits(scale)?))
}

/// Whether values of a column may become null.
pub(crate) fn may_become_null(this: &Type, options: &ReadOptions) -> bool {
    match this.kind {
        Kind::String | Kind::Char | Kind::Varchar => options.invalid_utf8 == InvalidUtf8::Null,
        Kind::Decimal => options.decimal_out_of_range == OutOfRange::Null,
        Kind::Timestamp | Kind::TimestampInstant => options.timestamp_out_of_range == OutOfRange::Null,
        Kind::Long => {
            spark_type(this) == Some(SparkType::TimestampNtz) && options.timestamp_out_of_range == OutOfRange::Null
        }
        _ => false,
    }
}

/// Column `id` as a column of a filter.
///
/// # Errors
/// As [`domain`].
pub(crate) fn filter_column(mapping: &Mapping<'_>, id: u32) -> Result<FilterColumn> {
    let schema = &mapping.tail.schema;
    Ok(FilterColumn {
        may_become_null: may_become_null(schema.get(id)?, mapping.options),
        conversion: text_conversion(mapping, id)?,
        ..FilterColumn::new(domain(mapping, id)?, schema.type_string(id)?)
    })
}

/// How text of column `id` is converted when it is read.
pub(crate) fn text_conversion(mapping: &Mapping<'_>, id: u32) -> Result<TextConversion> {
    let (this, options) = (mapping.tail.schema.get(id)?, mapping.options);
    if !matches!(this.kind, Kind::String | Kind::Char | Kind::Varchar) {
        return Ok(TextConversion::default());
    }
    let is_text = mapping.strings(id) != StringType::Binary;
    let is_cut = this.kind != Kind::String && options.long_char == LongChar::Cut;
    Ok(TextConversion {
        replaces_invalid_utf8: is_text && options.invalid_utf8 == InvalidUtf8::Replace,
        max_characters: this.max_length.filter(|_| is_cut),
    })
}

/// The domain of comparisons of column `id`.
///
/// # Errors
/// `InvalidArgument` for unions: Arrow cannot tell their nulls from nulls of variants.
fn domain(mapping: &Mapping<'_>, id: u32) -> Result<Domain> {
    let (this, options) = (mapping.tail.schema.get(id)?, mapping.options);
    let timestamp = |is_instant| {
        let nanoseconds = nanoseconds(mapping.unit(id)?);
        let compares_digits = options.compares_digits();
        Ok::<_, Error>(Domain::Timestamp { nanoseconds, is_instant, compares_digits })
    };
    Ok(match this.kind {
        Kind::Boolean => Domain::Boolean,
        Kind::Int | Kind::Long => match spark_type(this) {
            None => Domain::Integer,
            Some(SparkType::TimestampNtz) => timestamp(false)?,
            Some(_) => Domain::Opaque,
        },
        Kind::Byte | Kind::Short => Domain::Integer,
        Kind::Float | Kind::Double => Domain::Float,
        Kind::Decimal => Domain::Decimal { scale: decimal(this)?.1.into() },
        Kind::String | Kind::Varchar => Domain::Text { trimmed: false },
        Kind::Char => Domain::Text { trimmed: options.trim_char },
        Kind::Binary | Kind::Geometry | Kind::Geography => Domain::Binary,
        Kind::Date => Domain::Date,
        Kind::Timestamp => timestamp(mapping.is_instant(id))?,
        Kind::TimestampInstant => timestamp(true)?,
        Kind::List | Kind::Map | Kind::Struct => Domain::Opaque,
        Kind::Unknown => return Err(mapping.unreadable(id)),
        Kind::Union => {
            return Err(Error::invalid(format!(
                "column {} is a union, which no filter can ask",
                mapping.tail.schema.path(id)
            )));
        }
    })
}

/// Adds the field of row numbers to the fields of the batches.
///
/// # Errors
/// `InvalidArgument` if there is a field of the name.
pub(crate) fn push_row_number(fields: &mut Vec<FieldRef>, name: &str) -> Result<()> {
    if fields.iter().any(|field| field.name() == name) {
        return Err(Error::invalid(format!("row_number: there is a column {name:?} already")));
    }
    fields.push(Arc::new(Field::new(name, DataType::Int64, false)));
    Ok(())
}
