//! Families of Arrow types.

use arrow_schema::{DataType, Field, FieldRef, TimeUnit};

/// Whether values are strings of variable length.
pub fn is_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// Whether values are binary of variable length.
pub fn is_binary(kind: &DataType) -> bool {
    matches!(kind, DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
}

/// The type of the values of dictionary and run-end encoded arrays; other types unchanged.
pub fn value_type(kind: &DataType) -> &DataType {
    match kind {
        DataType::Dictionary(_, values) => value_type(values),
        DataType::RunEndEncoded(_, values) => value_type(values.data_type()),
        kind => kind,
    }
}

/// The element of a list type; `None` for other types.
pub fn item_of(kind: &DataType) -> Option<&FieldRef> {
    match kind {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _) => Some(item),
        _ => None,
    }
}

/// The list type with another element.
pub fn with_item(kind: &DataType, item: FieldRef) -> DataType {
    match kind {
        DataType::LargeList(_) => DataType::LargeList(item),
        DataType::ListView(_) => DataType::ListView(item),
        DataType::LargeListView(_) => DataType::LargeListView(item),
        DataType::FixedSizeList(_, length) => DataType::FixedSizeList(item, *length),
        _ => DataType::List(item),
    }
}

/// Key of the attribute of a type, or of the field metadata, where Spark records its type.
pub const SPARK_TYPE: &str = "spark.sql.catalyst.type";

/// Prefix of the metadata keys of extension types.
const EXTENSION: &str = "ARROW:extension:";

/// Whether a metadata key of a field belongs to its extension type.
pub fn is_extension_key(key: &str) -> bool {
    key.starts_with(EXTENSION)
}

/// The field with another type. The extension type of a field is removed if the type changes: it has one storage type.
pub fn with_type(field: &Field, kind: DataType) -> Field {
    let mut field = field.clone();
    if *field.data_type() != kind {
        field.metadata_mut().retain(|key, _| !is_extension_key(key));
    }
    field.with_data_type(kind)
}

/// Nanoseconds of a day.
pub const NANOSECONDS_OF_DAY: i64 = 86_400 * 1_000_000_000;

/// Nanoseconds of a time unit.
pub fn nanoseconds(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    }
}

/// Precision and scale of a decimal type; `None` for other types.
pub fn precision_and_scale(kind: &DataType) -> Option<(u8, i8)> {
    match kind {
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => Some((*precision, *scale)),
        _ => None,
    }
}
