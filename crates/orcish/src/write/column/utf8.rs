//! UTF-8 check of string arrays. Arrays of the C data interface may have arbitrary bytes.

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef, GenericStringArray, OffsetSizeTrait};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use orcish_core::error::{Error, OrInternal as _, Result};

use super::bytes::BEYOND;
use super::valid_ranges;
use crate::write::append_error::{AppendError, AppendResult};

/// Bytes of an invalid value in the error message.
const MAX_SHOWN_BYTES: usize = 32;
/// Length of the longest value that is stored in its view.
const MAX_INLINE_LENGTH: u128 = 12;
/// The highest bit of each byte of an inline value.
const NON_ASCII_BITS: u128 = 0x8080_8080_8080_8080_8080_8080;

/// Checks the valid values of a string array. Dictionary arrays are checked by [`check_dictionary`].
pub(super) fn check(array: &ArrayRef, valid: Option<&NullBuffer>, column: u32) -> AppendResult {
    match array.data_type() {
        DataType::Utf8 => check_contiguous(array.as_string::<i32>(), valid, column),
        DataType::LargeUtf8 => check_contiguous(array.as_string::<i64>(), valid, column),
        DataType::Utf8View => {
            let array = array.as_string_view().clone().to_binary_view();
            // The lowest 32 bits of a view are the length. Unused bytes of an inline value are 0.
            let is_inline_ascii =
                |view: &u128| view & u128::from(u32::MAX) <= MAX_INLINE_LENGTH && (view >> 32) & NON_ASCII_BITS == 0;
            if array.views().iter().all(is_inline_ascii) {
                return Ok(());
            }
            check_values(valid_ranges(array.len(), valid).flatten(), column, |index| Ok(array.value(index)))
        }
        _ => Ok(()),
    }
}

/// Checks the dictionary values that the valid `keys` refer to.
pub(super) fn check_dictionary(
    values: &GenericStringArray<i64>,
    keys: &[usize],
    valid: Option<&NullBuffer>,
    column: u32,
) -> AppendResult {
    if all_valid_utf8(values) {
        return Ok(());
    }
    let value = |index: usize| value_bytes(values, *keys.get(index).or_internal("a dictionary array lacks a key")?);
    check_values(valid_ranges(keys.len(), valid).flatten(), column, value)
}

fn check_contiguous<O: OffsetSizeTrait>(
    array: &GenericStringArray<O>,
    valid: Option<&NullBuffer>,
    column: u32,
) -> AppendResult {
    if all_valid_utf8(array) {
        return Ok(());
    }
    check_values(valid_ranges(array.len(), valid).flatten(), column, |index| value_bytes(array, index))
}

/// Whether all values, null slots included, are UTF-8. The contiguous bytes of all values are checked in one pass.
fn all_valid_utf8<O: OffsetSizeTrait>(array: &GenericStringArray<O>) -> bool {
    let offsets = array.value_offsets();
    let (Some(first), Some(last)) = (offsets.first(), offsets.last()) else { return true };
    let first = first.as_usize();
    let Some(bytes) = array.value_data().get(first..last.as_usize()) else { return false };
    if bytes.is_ascii() {
        return true;
    }
    // A value that ends inside a character is invalid, even if the bytes of all values together are UTF-8.
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    offsets.iter().all(|at| at.as_usize().checked_sub(first).is_some_and(|at| text.is_char_boundary(at)))
}

fn value_bytes<O: OffsetSizeTrait>(array: &GenericStringArray<O>, index: usize) -> Result<&[u8]> {
    let offset = |index| array.value_offsets().get(index).map(|at: &O| at.as_usize());
    let (from, to) = offset(index).zip(offset(index + 1)).or_internal("an array has more slots than offsets")?;
    let value = array.value_data().get(from..to);
    value.ok_or_else(|| Error::invalid(BEYOND))
}

/// Checks the values at `indices` one by one.
fn check_values<'a>(
    indices: impl Iterator<Item = usize>,
    column: u32,
    value: impl Fn(usize) -> Result<&'a [u8]>,
) -> AppendResult {
    for index in indices {
        let value = value(index)?;
        if std::str::from_utf8(value).is_err() {
            let shown = value.get(..MAX_SHOWN_BYTES).unwrap_or(value).escape_ascii();
            let ellipsis = if value.len() > MAX_SHOWN_BYTES { "…" } else { "" };
            let message =
                format!("text that is not UTF-8: \"{shown}{ellipsis}\"; columns of type binary may have any bytes");
            return Err(AppendError::Value { index, column, message });
        }
    }
    Ok(())
}
