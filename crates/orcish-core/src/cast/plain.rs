//! Decoding of dictionary and run-end encoded arrays.

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use arrow_select::take::take;

use crate::error::{Error, Result};
use crate::type_names::TypeName;

/// The values of an array, without dictionaries and run ends. Other arrays are unchanged.
///
/// # Errors
/// `Unsupported` for types that Arrow cannot take apart.
pub fn plain_values(array: &ArrayRef) -> Result<ArrayRef> {
    let unpacked = match array.data_type() {
        DataType::Dictionary(_, _) => match array.as_any_dictionary_opt() {
            Some(dictionary) => take(&plain_values(dictionary.values())?, dictionary.keys(), None),
            None => return Ok(array.clone()),
        },
        DataType::RunEndEncoded(_, values) => arrow_cast::cast(array, values.data_type()),
        _ => return Ok(array.clone()),
    };
    let fault = |error| {
        Error::unsupported(format!("values of type {} cannot be decoded", TypeName(array.data_type())))
            .with_source(error)
    };
    plain_values(&unpacked.map_err(fault)?)
}
