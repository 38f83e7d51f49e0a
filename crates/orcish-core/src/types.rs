//! What a type of Arrow is, in whichever of its forms it comes.

use arrow_schema::{DataType, Field, FieldRef, TimeUnit};

/// Whether values are text, of any length.
pub fn is_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// Whether values are bytes, of any length.
pub fn is_binary(kind: &DataType) -> bool {
    matches!(kind, DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
}

/// The type of the values of dictionaries and runs; any other as it is.
pub fn values_of(kind: &DataType) -> &DataType {
    match kind {
        DataType::Dictionary(_, values) => values_of(values),
        DataType::RunEndEncoded(_, values) => values_of(values.data_type()),
        kind => kind,
    }
}

/// The element of any list.
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

/// A list as another, of other elements.
pub fn with_item(kind: &DataType, item: FieldRef) -> DataType {
    match kind {
        DataType::LargeList(_) => DataType::LargeList(item),
        DataType::ListView(_) => DataType::ListView(item),
        DataType::LargeListView(_) => DataType::LargeListView(item),
        DataType::FixedSizeList(_, length) => DataType::FixedSizeList(item, *length),
        _ => DataType::List(item),
    }
}

/// How the keys begin under which the metadata of a field name its extension type.
const EXTENSION: &str = "ARROW:extension:";

/// Whether a key of metadata is about the extension type of a field. Extension types are of one storage type each.
pub fn is_of_extension(key: &str) -> bool {
    key.starts_with(EXTENSION)
}

/// A field with values of a type. A field whose values are of another type is no longer of its extension type.
pub fn with_type(field: &Field, kind: DataType) -> Field {
    let mut field = field.clone();
    if *field.data_type() != kind {
        field.metadata_mut().retain(|key, _| !is_of_extension(key));
    }
    field.with_data_type(kind)
}

/// Nanoseconds of a day: times are less.
pub const NANOSECONDS_OF_DAY: i64 = 86_400 * 1_000_000_000;

/// Nanoseconds of a unit of time.
pub fn nanoseconds(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    }
}

/// Precision and scale of a decimal, of any width.
pub fn digits(kind: &DataType) -> Option<(u8, i8)> {
    match kind {
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => Some((*precision, *scale)),
        _ => None,
    }
}
