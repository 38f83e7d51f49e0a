//! The entries of maps.

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_schema::{ArrowError, DataType, Fields};

/// The entries of maps. Keys are not null; where they are a dictionary, values in it may be.
///
/// # Errors
/// The arrays are not of the fields, or a key is null.
#[expect(unsafe_code, reason = "the safe way looks for nulls in the dictionary too")]
pub fn map_entries(fields: Fields, keys: ArrayRef, values: ArrayRef) -> Result<StructArray, ArrowError> {
    let is_dictionary = matches!(keys.data_type(), DataType::Dictionary(_, _));
    let have_types = fields.iter().map(|field| field.data_type()).eq([keys.data_type(), values.data_type()]);
    let is_value = fields.get(1).is_some_and(|field| field.is_nullable() || values.logical_null_count() == 0);
    let (count, is_even) = (keys.len(), keys.len() == values.len());
    if !is_dictionary || !have_types || !is_value || !is_even || keys.null_count() > 0 {
        return StructArray::try_new(fields, vec![keys, values], None);
    }
    // SAFETY: both arrays have `count` values and the types of the fields, and values are null only where their field is
    // nullable. The only unchecked condition is that values of the dictionary of the keys are not null, on which no memory
    // access depends.
    Ok(unsafe { StructArray::new_unchecked_with_length(fields, vec![keys, values], None, count) })
}

/// Applies a function to keys of maps: to the values of a dictionary, where both keys are dictionaries.
pub(super) fn cast_keys<E>(
    keys: &ArrayRef,
    target: &DataType,
    apply: impl Fn(&ArrayRef, &DataType) -> Result<ArrayRef, E>,
) -> Result<ArrayRef, E> {
    match (keys.data_type(), target, keys.as_any_dictionary_opt()) {
        (DataType::Dictionary(index, _), DataType::Dictionary(target_index, values), Some(dictionary))
            if index == target_index =>
        {
            Ok(dictionary.with_values(apply(dictionary.values(), values)?))
        }
        _ => apply(keys, target),
    }
}
