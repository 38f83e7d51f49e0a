//! Texts as bytes.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, LargeBinaryArray};
use arrow_schema::DataType;

/// Text and bytes as bytes of any length; `None` for other types. Text may be invalid UTF-8, whatever its type says, where
/// it comes from elsewhere.
pub(crate) fn bytes_of_text(array: &ArrayRef) -> Option<ArrayRef> {
    Some(match array.data_type() {
        DataType::Utf8 => Arc::new(BinaryArray::from(array.as_string::<i32>().clone())),
        DataType::LargeUtf8 => Arc::new(LargeBinaryArray::from(array.as_string::<i64>().clone())),
        DataType::Utf8View => Arc::new(array.as_string_view().clone().to_binary_view()),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => array.clone(),
        _ => return None,
    })
}
