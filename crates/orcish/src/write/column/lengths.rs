//! Lengths of values. Readers, this one included, have lengths of 32 bits.

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

use super::valid::valid_ranges;
use crate::write::append_error::{AppendError, AppendResult};

/// # Errors
/// [`AppendError::Value`] for a text, binary value or list whose length has more than 32 bits. Only Arrow types with
/// offsets of 64 bits have such values.
pub(super) fn check(array: &ArrayRef, valid: Option<&NullBuffer>, column: u32) -> AppendResult {
    let (fault, what) = match array.data_type() {
        DataType::LargeUtf8 => (too_long_between(array.as_string::<i64>().value_offsets(), valid), "bytes"),
        DataType::LargeBinary => (too_long_between(array.as_binary::<i64>().value_offsets(), valid), "bytes"),
        DataType::LargeList(_) => (too_long_between(array.as_list::<i64>().value_offsets(), valid), "elements"),
        DataType::LargeListView(_) => (too_long(array.as_list_view::<i64>().value_sizes(), valid), "elements"),
        DataType::Dictionary(_, values) if **values == DataType::LargeUtf8 => {
            let dictionary = array.as_any_dictionary();
            let values = dictionary.values().as_string::<i64>();
            let Some((entry, length)) = too_long_between(values.value_offsets(), None) else { return Ok(()) };
            let keys = dictionary.normalized_keys();
            let is_used = |index: &usize| keys.get(*index) == Some(&entry);
            (valid_ranges(array.len(), valid).flatten().find(is_used).map(|index| (index, length)), "bytes")
        }
        _ => return Ok(()),
    };
    match fault {
        None => Ok(()),
        Some((index, length)) => {
            let message = format!("a value of {length} {what}: more than {} cannot be read", u32::MAX);
            Err(AppendError::Value { index, column, message })
        }
    }
}

/// The first valid value between two offsets that is too long, and its length.
fn too_long_between(offsets: &[i64], valid: Option<&NullBuffer>) -> Option<(usize, i64)> {
    let span = offsets.last()?.saturating_sub(*offsets.first()?);
    if !is_too_long(span) {
        return None;
    }
    let length = |index: usize| Some(offsets.get(index + 1)?.saturating_sub(*offsets.get(index)?));
    let mut indices = valid_ranges(offsets.len().saturating_sub(1), valid).flatten();
    indices.find_map(|index| Some((index, length(index)?)).filter(|(_, length)| is_too_long(*length)))
}

/// The first valid size that is too long, and its index.
fn too_long(sizes: &[i64], valid: Option<&NullBuffer>) -> Option<(usize, i64)> {
    let mut indices = valid_ranges(sizes.len(), valid).flatten();
    indices.find_map(|index| Some((index, *sizes.get(index)?)).filter(|(_, length)| is_too_long(*length)))
}

fn is_too_long(length: i64) -> bool {
    length > i64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_more_than_32_bits_are_found() {
        let max = i64::from(u32::MAX);
        assert_eq!(too_long_between(&[], None), None);
        assert_eq!(too_long_between(&[7, 7 + max], None), None);
        // Together they are long.
        assert_eq!(too_long_between(&[0, max, 2 * max], None), None);
        assert_eq!(too_long_between(&[3, 4, 5 + max, 6 + max], None), Some((1, max + 1)));
        let nulls = NullBuffer::from(vec![true, false, true]);
        assert_eq!(too_long_between(&[3, 4, 5 + max, 6 + max], Some(&nulls)), None);
        assert_eq!(too_long(&[1, max, max + 1], Some(&nulls)), Some((2, max + 1)));
        assert_eq!(too_long(&[1, max + 1, max], Some(&nulls)), None);
    }
}
