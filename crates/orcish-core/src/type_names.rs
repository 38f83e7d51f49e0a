//! Names of Arrow types in messages.

use std::fmt;

use arrow_schema::{DataType, Field, Fields, IntervalUnit, TimeUnit, UnionMode};

/// The name of an Arrow type in messages: that of the C++ library, which Python shows too, such as `list<item: int64>`.
///
/// ```
/// use arrow_schema::{DataType, TimeUnit};
/// use orcish_core::type_names::TypeName;
///
/// let instant = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
/// assert_eq!(TypeName(&instant).to_string(), "timestamp[us, tz=UTC]");
/// assert_eq!(TypeName(&DataType::Utf8).to_string(), "string");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct TypeName<'a>(pub &'a DataType);

impl fmt::Display for TypeName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use DataType as D;
        match self.0 {
            D::Null => f.write_str("null"),
            D::Boolean => f.write_str("bool"),
            D::Int8 => f.write_str("int8"),
            D::Int16 => f.write_str("int16"),
            D::Int32 => f.write_str("int32"),
            D::Int64 => f.write_str("int64"),
            D::UInt8 => f.write_str("uint8"),
            D::UInt16 => f.write_str("uint16"),
            D::UInt32 => f.write_str("uint32"),
            D::UInt64 => f.write_str("uint64"),
            D::Float16 => f.write_str("halffloat"),
            D::Float32 => f.write_str("float"),
            D::Float64 => f.write_str("double"),
            D::Utf8 => f.write_str("string"),
            D::LargeUtf8 => f.write_str("large_string"),
            D::Utf8View => f.write_str("string_view"),
            D::Binary => f.write_str("binary"),
            D::LargeBinary => f.write_str("large_binary"),
            D::BinaryView => f.write_str("binary_view"),
            D::FixedSizeBinary(width) => write!(f, "fixed_size_binary[{width}]"),
            D::Date32 => f.write_str("date32[day]"),
            D::Date64 => f.write_str("date64[ms]"),
            D::Time32(unit) => write!(f, "time32[{}]", unit_name(*unit)),
            D::Time64(unit) => write!(f, "time64[{}]", unit_name(*unit)),
            D::Duration(unit) => write!(f, "duration[{}]", unit_name(*unit)),
            D::Timestamp(unit, None) => write!(f, "timestamp[{}]", unit_name(*unit)),
            D::Timestamp(unit, Some(zone)) => write!(f, "timestamp[{}, tz={zone}]", unit_name(*unit)),
            D::Interval(IntervalUnit::YearMonth) => f.write_str("month_interval"),
            D::Interval(IntervalUnit::DayTime) => f.write_str("day_time_interval"),
            D::Interval(IntervalUnit::MonthDayNano) => f.write_str("month_day_nano_interval"),
            D::Decimal32(precision, scale) => write!(f, "decimal32({precision}, {scale})"),
            D::Decimal64(precision, scale) => write!(f, "decimal64({precision}, {scale})"),
            D::Decimal128(precision, scale) => write!(f, "decimal128({precision}, {scale})"),
            D::Decimal256(precision, scale) => write!(f, "decimal256({precision}, {scale})"),
            D::List(item) => write!(f, "list<{}>", FieldName(item)),
            D::LargeList(item) => write!(f, "large_list<{}>", FieldName(item)),
            D::ListView(item) => write!(f, "list_view<{}>", FieldName(item)),
            D::LargeListView(item) => write!(f, "large_list_view<{}>", FieldName(item)),
            D::FixedSizeList(item, length) => write!(f, "fixed_size_list<{}>[{length}]", FieldName(item)),
            D::Struct(fields) => {
                f.write_str("struct<")?;
                separated(f, fields.iter().map(|field| FieldName(field)))?;
                f.write_str(">")
            }
            D::Map(entries, _) => {
                f.write_str("map<")?;
                let types: &Fields = match entries.data_type() {
                    D::Struct(fields) => fields,
                    _ => &Fields::empty(),
                };
                separated(f, types.iter().map(|field| TypeName(field.data_type())))?;
                f.write_str(">")
            }
            D::Union(fields, mode) => {
                f.write_str(if *mode == UnionMode::Sparse { "sparse_union<" } else { "dense_union<" })?;
                separated(f, fields.iter().map(|(id, field)| Variant(field, id)))?;
                f.write_str(">")
            }
            D::Dictionary(keys, values) => {
                write!(f, "dictionary<values={}, indices={}, ordered=0>", TypeName(values), TypeName(keys))
            }
            D::RunEndEncoded(ends, values) => {
                let names = [ends, values].map(|field| TypeName(field.data_type()));
                write!(f, "run_end_encoded<run_ends: {}, values: {}>", names[0], names[1])
            }
        }
    }
}

struct FieldName<'a>(&'a Field);

impl fmt::Display for FieldName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let required = if self.0.is_nullable() { "" } else { " not null" };
        write!(f, "{}: {}{required}", self.0.name(), TypeName(self.0.data_type()))
    }
}

/// A field of a union, with its type id.
struct Variant<'a>(&'a Field, i8);

impl fmt::Display for Variant<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", FieldName(self.0), self.1)
    }
}

fn separated(f: &mut fmt::Formatter<'_>, items: impl Iterator<Item = impl fmt::Display>) -> fmt::Result {
    for (at, item) in items.enumerate() {
        if at > 0 {
            f.write_str(", ")?;
        }
        item.fmt(f)?;
    }
    Ok(())
}

/// The name of a unit in names of types, such as `us`.
pub fn unit_name(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Second => "s",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Microsecond => "us",
        TimeUnit::Nanosecond => "ns",
    }
}
