//! Whether text is UTF-8: arrays of other producers may call any bytes text.

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef, GenericStringArray, OffsetSizeTrait};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

use super::valid_ranges;
use crate::write::fault::{Fault, Outcome};

/// Bytes of a value that a message shows.
const SHOWN: usize = 32;
/// The length of a value that a view has in itself, and the highest bits of its bytes.
const INLINE: u128 = 12;
const NOT_ASCII: u128 = 0x8080_8080_8080_8080_8080_8080;

/// Checks the valid values of an array of text that is no dictionary.
pub(super) fn check(array: &ArrayRef, valid: Option<&NullBuffer>, column: u32) -> Outcome {
    match array.data_type() {
        DataType::Utf8 => check_offsets(array.as_string::<i32>(), valid, column),
        DataType::LargeUtf8 => check_offsets(array.as_string::<i64>(), valid, column),
        DataType::Utf8View => {
            let array = array.as_string_view().clone().to_binary_view();
            // The lowest bits of a view are the length, and bytes behind the value are 0.
            let is_plain = |view: &u128| view & u128::from(u32::MAX) <= INLINE && (view >> 32) & NOT_ASCII == 0;
            if array.views().iter().all(is_plain) {
                return Ok(());
            }
            each(valid_ranges(array.len(), valid).flatten(), column, |index| array.value(index))
        }
        _ => Ok(()),
    }
}

/// Checks the values of a dictionary that are referred to, by the valid ones of `keys`.
pub(super) fn check_references(
    values: &GenericStringArray<i64>,
    keys: &[usize],
    valid: Option<&NullBuffer>,
    column: u32,
) -> Outcome {
    if is_all_text(values) {
        return Ok(());
    }
    let key = |index: usize| keys.get(index).copied().unwrap_or_default();
    each(valid_ranges(keys.len(), valid).flatten(), column, |index| bytes(values, key(index)))
}

fn check_offsets<O: OffsetSizeTrait>(
    array: &GenericStringArray<O>,
    valid: Option<&NullBuffer>,
    column: u32,
) -> Outcome {
    if is_all_text(array) {
        return Ok(());
    }
    each(valid_ranges(array.len(), valid).flatten(), column, |index| bytes(array, index))
}

/// Whether all values are UTF-8, those that are null too: their bytes, one behind the other, are looked at once.
fn is_all_text<O: OffsetSizeTrait>(array: &GenericStringArray<O>) -> bool {
    let offsets = array.value_offsets();
    let (Some(first), Some(last)) = (offsets.first(), offsets.last()) else { return true };
    let first = first.as_usize();
    let Some(bytes) = array.value_data().get(first..last.as_usize()) else { return false };
    if bytes.is_ascii() {
        return true;
    }
    // A value that ends within a character is none, though the bytes of all are.
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    offsets.iter().all(|at| at.as_usize().checked_sub(first).is_some_and(|at| text.is_char_boundary(at)))
}

fn bytes<O: OffsetSizeTrait>(array: &GenericStringArray<O>, index: usize) -> &[u8] {
    let offset = |index| array.value_offsets().get(index).map(|at: &O| at.as_usize());
    let range = offset(index).zip(offset(index + 1));
    range.and_then(|(from, to)| array.value_data().get(from..to)).unwrap_or_default()
}

/// Checks the values at these indexes one by one.
fn each<'a>(indexes: impl Iterator<Item = usize>, column: u32, value: impl Fn(usize) -> &'a [u8]) -> Outcome {
    for index in indexes {
        let value = value(index);
        if std::str::from_utf8(value).is_err() {
            let shown = value.get(..SHOWN).unwrap_or(value).escape_ascii();
            let rest = if value.len() > SHOWN { "…" } else { "" };
            let message =
                format!("text that is not UTF-8: \"{shown}{rest}\"; columns of type binary may have any bytes");
            return Err(Fault::Value { index, column, message });
        }
    }
    Ok(())
}
