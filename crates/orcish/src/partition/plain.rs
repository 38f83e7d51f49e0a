//! Arrays without dictionaries, run ends and views.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, LargeBinaryArray};
use arrow_schema::DataType;
use arrow_select::take::take;
use orcish_core::error::{Error, Result};

/// Values without dictionaries and run ends.
///
/// # Errors
/// `Unsupported` for types that Arrow cannot take apart.
pub(crate) fn plain_values(array: &ArrayRef) -> Result<ArrayRef> {
    let unpacked = match array.data_type() {
        DataType::Dictionary(_, _) => match array.as_any_dictionary_opt() {
            Some(dictionary) => take(&plain_values(dictionary.values())?, dictionary.keys(), None),
            None => return Ok(array.clone()),
        },
        DataType::RunEndEncoded(_, values) => arrow_cast::cast(array, values.data_type()),
        _ => return Ok(array.clone()),
    };
    let fault = |error| Error::unsupported(format!("{} is not taken apart", array.data_type())).with_source(error);
    plain_values(&unpacked.map_err(fault)?)
}

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
