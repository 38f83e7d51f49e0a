//! Mapping of Arrow types to ORC types.
//!
//! | Arrow | ORC | how values are stored |
//! |---|---|---|
//! | null | boolean | all null |
//! | boolean, int8 … int64, float32, float64 | boolean, tinyint … bigint, float, double | |
//! | uint8, uint16, uint32 | smallint, int, bigint | |
//! | uint64 | decimal(20,0) | |
//! | float16 | float | |
//! | strings of all forms | string; char(n), varchar(n) where the field says so under [`TYPE_KEY`] | |
//! | binary of all forms, fixed-size too | binary; geometry, geography likewise | |
//! | date32, date64 | date | days |
//! | time32, time64 | int, bigint | in their unit |
//! | timestamp | timestamp | wall clock |
//! | timestamp, field with Spark's `timestamp_ntz` | bigint | microseconds |
//! | timestamp with a zone | timestamp with local time zone; timestamp where the field says so under [`TYPE_KEY`] | instant |
//! | duration | bigint, Spark's `interval day to second` if of microseconds | in its unit |
//! | interval of months | int, Spark's `interval year to month` | |
//! | interval of days and milliseconds | struct<days:int,milliseconds:int> | |
//! | interval of months, days and nanoseconds | struct<months:int,days:int,nanoseconds:bigint> | |
//! | decimal(p, s) of all widths | decimal(p, s), of 38 digits at most | a negative scale is multiplied out |
//! | lists of all forms, fixed-size too | array | |
//! | map, struct, union | map, struct, uniontype | |
//! | dictionary, run-end encoded, extension | as their values or storage | |
//!
//! Metadata of a field become attributes of the type.

use arrow_schema::{DataType, Field, FieldRef, Fields, IntervalUnit, Schema, TimeUnit};
use orcish_core::error::{Error, OrInternal as _, Result};
use orcish_core::types::{SPARK_NTZ, entries_of, is_spark_ntz, item_of, value_type};

use crate::proto::orc;
use crate::proto::orc::r#type::Kind;
use crate::read::{DAYS, MONTHS, SPARK_TYPE, TYPE_KEY};

/// Maximum precision of a decimal.
pub(super) const MAX_DECIMAL_PRECISION: u8 = 38;
/// Maximum number of variants of a union: a tag has 8 bits.
const MAX_VARIANTS: usize = 256;
/// Maximum nesting of types, which readers of orcish accept by default. The root counts as one level.
const MAX_DEPTH: usize = orcish_core::limits::DEFAULT_MAX_DEPTH;

const DAY_TIME: &str = "interval day to second";
const YEAR_MONTH: &str = "interval year to month";

/// The ORC types of a file with the columns of `schema`, and whether each column is nullable, by column id.
///
/// # Errors
/// `InvalidArgument` with the column for a type that cannot be stored.
pub(super) fn orc_types(schema: &Schema) -> Result<(Vec<orc::Type>, Vec<bool>)> {
    let mut tree = TypeTree::default();
    tree.add(new_type(Kind::Struct), false, Children::named(schema.fields()), 1)?;
    Ok((tree.types, tree.nullable))
}

/// ORC types, and whether each is nullable, in preorder.
#[derive(Default)]
struct TypeTree {
    types: Vec<orc::Type>,
    nullable: Vec<bool>,
}

impl TypeTree {
    /// Adds a type and all types below. Returns its column id.
    fn add(&mut self, this: orc::Type, is_nullable: bool, children: Children, depth: usize) -> Result<u32> {
        if depth > MAX_DEPTH {
            return Err(Error::invalid(format!("types are nested deeper than {MAX_DEPTH} levels")));
        }
        let id = self.types.len();
        let column = u32::try_from(id).map_err(|_| Error::invalid("too many columns"))?;
        self.types.push(this);
        self.nullable.push(is_nullable);
        let add_child = |field: &FieldRef| match self.add_field(field, depth + 1) {
            Err(error) if children.are_named => Err(error.in_column(field.name())),
            added => added,
        };
        let subtypes = children.fields.iter().map(add_child).collect::<Result<_>>()?;
        let parent = self.types.get_mut(id).or_internal("a type that was added is missing")?;
        parent.subtypes = subtypes;
        if children.are_named {
            parent.field_names = children.fields.iter().map(|field| field.name().clone().into()).collect();
        }
        Ok(column)
    }

    fn add_field(&mut self, field: &Field, depth: usize) -> Result<u32> {
        let data_type = value_type(field.data_type());
        let this = orc::Type { attributes: attributes(field, data_type), ..orc_type(field, data_type)? };
        self.add(this, field.is_nullable(), Children::of(data_type)?, depth)
    }
}

/// The fields below a type.
struct Children {
    fields: Vec<FieldRef>,
    /// Whether the names of the fields are stored.
    are_named: bool,
}

impl Children {
    fn named(fields: &Fields) -> Self {
        Children { fields: fields.iter().cloned().collect(), are_named: true }
    }

    fn unnamed(fields: impl IntoIterator<Item = FieldRef>) -> Self {
        Children { fields: fields.into_iter().collect(), are_named: false }
    }

    /// The fields below an Arrow type, as they are stored.
    ///
    /// # Errors
    /// `InvalidArgument` for maps without a key and a value, and for unions of no or too many variants.
    fn of(data_type: &DataType) -> Result<Self> {
        Ok(match data_type {
            DataType::Struct(fields) => Self::named(fields),
            DataType::Map(_, _) => {
                let invalid = || Error::invalid("the entries of a map are not a key and a value");
                let (key, value) = entries_of(data_type).ok_or_else(invalid)?;
                Self::unnamed([key.clone(), value.clone()])
            }
            DataType::Union(fields, _) => {
                if fields.len() > MAX_VARIANTS || fields.is_empty() {
                    return Err(Error::invalid(format!("a union of {} variants: ORC has 1 to 256", fields.len())));
                }
                Self::unnamed(fields.iter().map(|(_, field)| field.clone()))
            }
            DataType::Interval(unit) => Self::named(&interval_fields(*unit)),
            list => Self::unnamed(item_of(list).cloned()),
        })
    }
}

/// The stored precision and scale of an Arrow decimal type. `None` if the scale is larger than the maximum precision.
pub(super) fn decimal(precision: u8, scale: i8) -> Option<(u8, u8)> {
    let (zeros, scale) = (scale.min(0).unsigned_abs(), scale.max(0).unsigned_abs());
    let digits = precision.max(scale).saturating_add(zeros).min(MAX_DECIMAL_PRECISION);
    (scale <= MAX_DECIMAL_PRECISION).then_some((digits, scale))
}

fn new_type(kind: Kind) -> orc::Type {
    orc::Type { kind: Some(kind.into()), ..orc::Type::default() }
}

/// The fields of the struct that an interval is stored as.
fn interval_fields(unit: IntervalUnit) -> Fields {
    let field = |name: &str, data_type| Field::new(name, data_type, false);
    let days = |name: &&str| field(name, DataType::Int32);
    match unit {
        // Intervals of months are stored as integers.
        IntervalUnit::YearMonth => Fields::empty(),
        IntervalUnit::DayTime => DAYS.iter().map(days).collect(),
        IntervalUnit::MonthDayNano => {
            let types = [DataType::Int32, DataType::Int32, DataType::Int64];
            MONTHS.iter().zip(types).map(|(name, data_type)| field(name, data_type)).collect()
        }
    }
}

/// The ORC type of a field, without subtypes and attributes. [`TYPE_KEY`] in the metadata of the field selects one of
/// several possible types.
///
/// # Errors
/// `InvalidArgument` for a type that cannot be stored, and for a type under [`TYPE_KEY`] that does not fit.
fn orc_type(field: &Field, data_type: &DataType) -> Result<orc::Type> {
    let type_name = field.metadata().get(TYPE_KEY);
    Ok(match data_type {
        DataType::Null | DataType::Boolean => new_type(Kind::Boolean),
        DataType::Int8 => new_type(Kind::Byte),
        DataType::Int16 | DataType::UInt8 => new_type(Kind::Short),
        DataType::Int32 | DataType::UInt16 | DataType::Time32(_) => new_type(Kind::Int),
        DataType::Interval(IntervalUnit::YearMonth) => new_type(Kind::Int),
        DataType::Int64 | DataType::UInt32 | DataType::Time64(_) | DataType::Duration(_) => new_type(Kind::Long),
        DataType::UInt64 => decimal_type(20, 0),
        DataType::Float16 | DataType::Float32 => new_type(Kind::Float),
        DataType::Float64 => new_type(Kind::Double),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => string_type(type_name)?,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            binary_type(type_name)?
        }
        DataType::Date32 | DataType::Date64 => new_type(Kind::Date),
        DataType::Timestamp(_, None) if is_spark_ntz(field) => new_type(Kind::Long),
        DataType::Timestamp(_, None) => new_type(Kind::Timestamp),
        // Spark stores instants as `timestamp`, in the time zone of the writer.
        DataType::Timestamp(_, Some(_)) if type_name.is_some_and(|name| name == "timestamp") => {
            new_type(Kind::Timestamp)
        }
        DataType::Timestamp(_, Some(_)) => new_type(Kind::TimestampInstant),
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => match decimal(*precision, *scale) {
            Some((precision, scale)) => decimal_type(precision.into(), scale.into()),
            None => return Err(Error::invalid(format!("{data_type} has more digits behind the point than 38"))),
        },
        DataType::Struct(_) | DataType::Interval(_) => new_type(Kind::Struct),
        list if item_of(list).is_some() => new_type(Kind::List),
        DataType::Map(_, _) => new_type(Kind::Map),
        DataType::Union(_, _) => new_type(Kind::Union),
        _ => return Err(Error::invalid(format!("values of type {data_type} cannot be stored"))),
    })
}

fn decimal_type(precision: u32, scale: u32) -> orc::Type {
    orc::Type { precision: Some(precision), scale: Some(scale), ..new_type(Kind::Decimal) }
}

/// The type `string`, `char(n)` or `varchar(n)` by its name. `string` without a name.
fn string_type(type_name: Option<&String>) -> Result<orc::Type> {
    let Some(name) = type_name else { return Ok(new_type(Kind::String)) };
    let length =
        |parameter: Option<&str>| parameter?.strip_suffix(')')?.parse::<u32>().ok().filter(|&length| length > 0);
    let (kind, length) = match (length(name.strip_prefix("char(")), length(name.strip_prefix("varchar("))) {
        (Some(length), _) => (Kind::Char, length),
        (_, Some(length)) => (Kind::Varchar, length),
        _ if name == "string" => return Ok(new_type(Kind::String)),
        _ => return Err(type_name_error(name, "text")),
    };
    Ok(orc::Type { maximum_length: Some(length), ..new_type(kind) })
}

/// The type `binary`, `geometry(crs)` or `geography(crs,algorithm)` by its name. `binary` without a name.
fn binary_type(type_name: Option<&String>) -> Result<orc::Type> {
    use orc::r#type::EdgeInterpolationAlgorithm as Algorithm;
    let Some(name) = type_name else { return Ok(new_type(Kind::Binary)) };
    let (word, parameters) = match name.split_once('(') {
        Some((word, parameters)) => {
            (word, Some(parameters.strip_suffix(')').ok_or_else(|| type_name_error(name, "binary"))?))
        }
        None => (name.as_str(), None),
    };
    let kind = match word {
        "binary" if parameters.is_none() => return Ok(new_type(Kind::Binary)),
        "geometry" => Kind::Geometry,
        "geography" => Kind::Geography,
        _ => return Err(type_name_error(name, "binary")),
    };
    let algorithm = parameters.and_then(|parameters| parameters.rsplit_once(',')).filter(|_| kind == Kind::Geography);
    let (crs, algorithm) = match algorithm.and_then(|(crs, name)| Some((crs, Algorithm::from_str_name(name)?))) {
        Some((crs, algorithm)) => (Some(crs), Some(algorithm)),
        None => (parameters, None),
    };
    Ok(orc::Type { crs: crs.map(|crs| crs.to_owned().into()), algorithm: algorithm.map(Into::into), ..new_type(kind) })
}

/// Whether Spark's type name `name` fits the ORC type of a field. A name that was left in the metadata after a cast
/// would make Spark read the column as the former type.
fn is_valid_spark_type(field: &Field, name: &str) -> bool {
    let kinds: &[Kind] = match name.split_once('(').map_or(name, |(word, _)| word) {
        SPARK_NTZ => return is_spark_ntz(field),
        "string" | "char" | "varchar" => &[Kind::String, Kind::Char, Kind::Varchar],
        "timestamp" => &[Kind::Timestamp, Kind::TimestampInstant],
        "boolean" => &[Kind::Boolean],
        "tinyint" => &[Kind::Byte],
        "smallint" => &[Kind::Short],
        "int" => &[Kind::Int],
        "bigint" => &[Kind::Long],
        "float" => &[Kind::Float],
        "double" => &[Kind::Double],
        "decimal" => &[Kind::Decimal],
        "date" => &[Kind::Date],
        "binary" => &[Kind::Binary],
        word if word.starts_with("interval") => &[],
        _ => return true,
    };
    orc_type(field, value_type(field.data_type())).is_ok_and(|orc_type| kinds.contains(&orc_type.kind()))
}

/// Whether a name is Spark's name of a day-time interval type, such as `interval hour to second`.
fn is_day_time_interval(name: &str) -> bool {
    let is_unit = |word: &str| matches!(word, "day" | "hour" | "minute" | "second");
    let mut words = name.split(' ');
    words.next() == Some("interval")
        && words.next().is_some_and(is_unit)
        && (words.next().is_none_or(|word| word == "to" && words.next().is_some_and(is_unit)) && words.next().is_none())
}

fn type_name_error(name: &str, column_kind: &str) -> Error {
    Error::invalid(format!("metadata {TYPE_KEY} of the field is {name:?}, which no column of {column_kind} can be"))
}

/// The attributes of a type: the metadata of the field, and Spark's type name for types that ORC does not have.
fn attributes(field: &Field, data_type: &DataType) -> Vec<orc::StringPair> {
    let spark = match data_type {
        DataType::Duration(TimeUnit::Microsecond) => {
            let name = field.metadata().get(SPARK_TYPE).map(String::as_str);
            Some(name.filter(|name| is_day_time_interval(name)).unwrap_or(DAY_TIME))
        }
        DataType::Interval(IntervalUnit::YearMonth) => Some(YEAR_MONTH),
        _ => None,
    };
    let mut pairs: Vec<(&str, &str)> =
        field.metadata().iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    pairs.retain(|(key, name)| {
        *key != TYPE_KEY && (*key != SPARK_TYPE || spark.is_none() && is_valid_spark_type(field, name))
    });
    pairs.extend(spark.map(|name| (SPARK_TYPE, name)));
    // The order of a hash map is random. Files with the same rows should be equal.
    pairs.sort_unstable();
    let pair = |(key, value): (&str, &str)| orc::StringPair {
        key: Some(key.to_owned().into()),
        value: Some(value.to_owned().into()),
    };
    pairs.into_iter().map(pair).collect()
}
