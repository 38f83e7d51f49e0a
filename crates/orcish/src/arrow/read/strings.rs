//! Arrays of values that lie one after the other.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use arrow_array::types::{
    BinaryType, BinaryViewType, ByteArrayType, ByteViewType, LargeBinaryType, LargeUtf8Type, StringViewType, Utf8Type,
};
use arrow_array::{
    ArrayRef, DictionaryArray, GenericByteArray, GenericByteViewArray, Int32Array, OffsetSizeTrait, builder::make_view,
};
use arrow_buffer::{ArrowNativeType as _, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType};

use super::Budget;
use super::validity::spread;
use crate::codec::Stream;
use crate::error::{Error, Result};
use crate::source::{ByteSource, stream_ends};

/// Values one after the other: their lengths, and their bytes.
pub(super) struct Concatenated {
    pub(super) lengths: Vec<u32>,
    pub(super) bytes: Vec<u8>,
    /// Whether each value is known to be what its type wants, that is, valid UTF-8 if it is text.
    pub(super) checked: bool,
}

impl Concatenated {
    /// Reads values of the given lengths.
    pub(super) fn read(lengths: Vec<u32>, stream: &mut Stream, budget: Budget) -> Result<Self> {
        let total: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
        let mut left = usize::try_from(total).ok().filter(|&total| total <= budget.bytes());
        let mut bytes = Vec::with_capacity(left.unwrap_or_default());
        let left = left.as_mut().ok_or_else(|| budget.exceeded(&format!("{total} bytes of values")))?;
        while *left > 0 {
            let there = stream.fill(1)?;
            let n = there.len().min(*left);
            if n == 0 {
                return Err(stream_ends(*left));
            }
            bytes.extend_from_slice(there.get(..n).unwrap_or_default());
            stream.consume(n);
            *left -= n;
        }
        Ok(Concatenated { lengths, bytes, checked: false })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        values(&self.lengths, &self.bytes)
    }

    /// Cuts the blanks off the end of each value.
    pub(super) fn trim(self) -> Self {
        let mut bytes = Vec::with_capacity(self.bytes.len());
        let trim = |value: &[u8]| {
            let length = value.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1);
            bytes.extend_from_slice(value.get(..length).unwrap_or_default());
            u32::try_from(length).unwrap_or_default()
        };
        Concatenated { lengths: self.iter().map(trim).collect(), bytes, checked: self.checked }
    }

    /// The array of these values, spread over the slots that are valid.
    pub(super) fn into_array(mut self, target: &DataType, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        if let DataType::Dictionary(_, values) = target {
            return self.into_dictionary(values, nulls);
        }
        spread(&mut self.lengths, nulls.as_ref());
        byte_array(target, &self.lengths, Buffer::from_vec(self.bytes), nulls, self.checked)
    }

    /// Finds equal values; the dictionary is in order of first occurrence.
    fn into_dictionary(self, target: &DataType, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let mut found: HashMap<&[u8], i32> = HashMap::new();
        let mut distinct = Concatenated { lengths: Vec::new(), bytes: Vec::new(), checked: self.checked };
        let mut keys = Vec::with_capacity(self.lengths.len());
        for (value, &length) in self.iter().zip(&self.lengths) {
            let next = i32::try_from(found.len()).unwrap_or(i32::MAX);
            keys.push(match found.entry(value) {
                Entry::Occupied(entry) => *entry.get(),
                Entry::Vacant(entry) => {
                    distinct.lengths.push(length);
                    distinct.bytes.extend_from_slice(value);
                    *entry.insert(next)
                }
            });
        }
        drop(found);
        dictionary_array(keys, distinct.into_array(target, None)?, nulls)
    }
}

/// Values of these lengths, which are one after the other in `bytes`.
pub(super) fn values<'a>(lengths: &'a [u32], bytes: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let mut rest = bytes;
    lengths.iter().map(move |&length| {
        let (value, after) = rest.split_at_checked(length as usize).unwrap_or_default();
        rest = after;
        value
    })
}

type Arrow<T> = std::result::Result<T, ArrowError>;

/// An array of values of the given lengths, each of which is known to be what its type wants if `checked`.
///
/// # Errors
/// `Corrupt` for text that is no UTF-8, and for bytes or nulls that the lengths do not fit; `LimitExceeded` for more
/// bytes than offsets reach.
pub fn byte_array(
    target: &DataType,
    lengths: &[u32],
    bytes: Buffer,
    nulls: Option<NullBuffer>,
    checked: bool,
) -> Result<ArrayRef> {
    byte_array_of(Place::Batch, target, lengths, bytes, nulls, checked)
}

/// What values are counted in.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    Batch,
    Dictionary,
}

impl Place {
    /// The value at an index.
    pub(super) fn named(self, at: usize) -> String {
        match self {
            Place::Batch => format!("value {at} of the batch"),
            Place::Dictionary => format!("entry {at} of the dictionary"),
        }
    }
}

/// As [`byte_array`], where errors name values by their `place`.
pub(super) fn byte_array_of(
    place: Place,
    target: &DataType,
    lengths: &[u32],
    bytes: Buffer,
    nulls: Option<NullBuffer>,
    checked: bool,
) -> Result<ArrayRef> {
    let shared = bytes.clone();
    let result = match target {
        DataType::Utf8View => views::<StringViewType>(lengths, bytes, nulls),
        DataType::BinaryView => views::<BinaryViewType>(lengths, bytes, nulls),
        DataType::Utf8 => text::<Utf8Type>(offsets(lengths)?, bytes, nulls, checked),
        DataType::LargeUtf8 => text::<LargeUtf8Type>(offsets(lengths)?, bytes, nulls, checked),
        DataType::LargeBinary => binary::<LargeBinaryType>(offsets(lengths)?, bytes, nulls),
        _ => binary::<BinaryType>(offsets(lengths)?, bytes, nulls),
    };
    result.map_err(|error| match values(lengths, &shared).position(|value| std::str::from_utf8(value).is_err()) {
        Some(at) => Error::corrupt(format!("{} is not valid UTF-8", place.named(at))),
        None => Error::corrupt("its values do not fit together").with_source(error),
    })
}

/// Offsets of values of these lengths.
#[expect(unsafe_code, reason = "to look at all of them once more takes longer than to make them")]
pub(super) fn offsets<O: OffsetSizeTrait>(lengths: &[u32]) -> Result<OffsetBuffer<O>> {
    let mut sum = 0u64;
    let mut offsets = Vec::with_capacity(lengths.len() + 1);
    offsets.push(O::usize_as(0));
    offsets.extend(lengths.iter().map(|&length| {
        sum += u64::from(length);
        #[expect(clippy::cast_possible_truncation, reason = "the largest is checked below")]
        O::usize_as(sum as usize)
    }));
    if usize::try_from(sum).ok().and_then(O::from_usize).is_none() {
        return Err(Error::limit(format!("{sum} bytes or elements in one array, more than its offsets reach")));
    }
    // SAFETY: there is at least one offset; the first is 0, and they rise: the last of the sums, none of which is
    // more than the next, fits into an offset.
    Ok(unsafe { OffsetBuffer::new_unchecked(ScalarBuffer::from(offsets)) })
}

fn binary<T: ByteArrayType>(
    offsets: OffsetBuffer<T::Offset>,
    bytes: Buffer,
    nulls: Option<NullBuffer>,
) -> Arrow<ArrayRef> {
    Ok(Arc::new(GenericByteArray::<T>::try_new(offsets, bytes, nulls)?))
}

/// An array of text. Arrow looks at every byte, and then at each place where a value begins; the second can be
/// spared where no byte is more than ASCII, and both where the values come from a dictionary that was looked at.
#[expect(unsafe_code, reason = "reading a column of short strings takes 1.3 times as long with the checks")]
fn text<T: ByteArrayType<Native = str>>(
    offsets: OffsetBuffer<T::Offset>,
    bytes: Buffer,
    nulls: Option<NullBuffer>,
    checked: bool,
) -> Arrow<ArrayRef> {
    let ends_within = offsets.last().as_usize() <= bytes.len();
    let as_long = nulls.as_ref().is_none_or(|nulls| nulls.len() + 1 == offsets.len());
    if ends_within && as_long && (checked || bytes.is_ascii()) {
        // SAFETY: offsets rise, from 0 to what is no more than the number of bytes; there are as many as slots;
        // and each value is valid UTF-8: known to be, or ASCII wherever it is cut.
        return Ok(Arc::new(unsafe { GenericByteArray::<T>::new_unchecked(offsets, bytes, nulls) }));
    }
    binary::<T>(offsets, bytes, nulls)
}

/// An array of views of values of the given lengths.
fn views<T: ByteViewType>(lengths: &[u32], bytes: Buffer, nulls: Option<NullBuffer>) -> Arrow<ArrayRef> {
    let mut offset = 0;
    let view = |value: &[u8]| {
        let view = make_view(value, 0, offset);
        offset += u32::try_from(value.len()).unwrap_or_default();
        view
    };
    let views: Vec<u128> = values(lengths, &bytes).map(view).collect();
    Ok(Arc::new(GenericByteViewArray::<T>::try_new(ScalarBuffer::from(views), vec![bytes], nulls)?))
}

/// References to `values`, spread over the slots that are valid.
pub(super) fn dictionary_array(mut keys: Vec<i32>, values: ArrayRef, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    spread(&mut keys, nulls.as_ref());
    let keys = Int32Array::new(ScalarBuffer::from(keys), nulls);
    let array = DictionaryArray::try_new(keys, values);
    Ok(Arc::new(array.map_err(|error| Error::corrupt("its references do not fit").with_source(error))?))
}
