//! What a type of Arrow is, in whichever of its forms it comes.

use arrow_schema::{DataType, FieldRef, TimeUnit};

/// Whether values are text, of any length.
pub(crate) fn is_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// Whether values are bytes, of any length.
pub(crate) fn is_binary(kind: &DataType) -> bool {
    matches!(kind, DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
}

/// The type of the values of dictionaries and runs; any other as it is.
pub(crate) fn values_of(kind: &DataType) -> &DataType {
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

/// Nanoseconds of a day: times are less.
pub(crate) const NANOSECONDS_OF_DAY: i64 = 86_400 * 1_000_000_000;

/// Nanoseconds of a unit of time.
pub(crate) fn nanoseconds(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    }
}
