//! Values of variable length.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use arrow_array::types::{
    BinaryType, BinaryViewType, ByteArrayType, LargeBinaryType, LargeUtf8Type, StringViewType, Utf8Type,
};
use arrow_array::{ArrayRef, DictionaryArray, GenericByteArray, Int32Array};
use arrow_buffer::{ArrowNativeType as _, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType};

use super::array::{ArrowResult, binary, offsets, slices};
use super::views::Views;
use crate::error::{Error, Result};
use crate::nulls::spread;

/// Values of variable length: the length of each, and the bytes of all, one value behind the other. The sum of the lengths
/// is the number of bytes.
///
/// The values know whether each of them is valid UTF-8. Only checks set that mark, and no method invalidates it, so that a
/// string array can be made of marked values without another check.
///
/// ```
/// use arrow_array::cast::AsArray as _;
/// use arrow_schema::DataType;
/// use orcish_core::strings::Values;
///
/// let values = Values::try_new(vec![2, 0, 1], b"abc".to_vec())?;
/// let array = values.into_array(&DataType::Utf8, None)?;
/// assert_eq!(array.as_string::<i32>().value(2), "c");
/// # Ok::<(), orcish_core::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Values {
    lengths: Vec<u32>,
    bytes: Vec<u8>,
    is_utf8: bool,
}

impl Values {
    /// Values of these lengths, which need not be UTF-8.
    ///
    /// # Errors
    /// `Corrupt` where the sum of the lengths is not the number of bytes.
    pub fn try_new(lengths: Vec<u32>, bytes: Vec<u8>) -> Result<Self> {
        let (total, there) = (lengths.iter().map(|&length| u64::from(length)).sum::<u64>(), bytes.len());
        if total != there as u64 {
            return Err(Error::corrupt(format!("values of {total} bytes together, of {there} bytes")));
        }
        Ok(Values { lengths, bytes, is_utf8: false })
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Length of each value in bytes.
    pub fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// Bytes of all values.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Lengths, bytes, and whether each value is known to be UTF-8.
    pub(super) fn into_parts(self) -> (Vec<u32>, Vec<u8>, bool) {
        (self.lengths, self.bytes, self.is_utf8)
    }

    /// The values in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        slices(&self.lengths, &self.bytes)
    }

    /// Whether each value is valid UTF-8. The check is done once.
    pub fn check_utf8(&mut self) -> bool {
        self.is_utf8 = self.is_utf8
            || self.bytes.is_ascii()
            || slices(&self.lengths, &self.bytes).all(|value| std::str::from_utf8(value).is_ok());
        self.is_utf8
    }

    /// The values without trailing blanks.
    #[must_use]
    pub fn trim_end_blanks(self) -> Self {
        let mut bytes = Vec::with_capacity(self.bytes.len());
        let trim = |(mut value, &(mut length)): (&[u8], &u32)| {
            while let [start @ .., b' '] = value {
                (value, length) = (start, length - 1);
            }
            bytes.extend_from_slice(value);
            length
        };
        Values { lengths: self.iter().zip(&self.lengths).map(trim).collect(), bytes, is_utf8: self.is_utf8 }
    }

    /// Indexes of the values of more than `max` characters.
    pub fn longer_than(&self, max: usize) -> Vec<usize> {
        let is_longer = |(_, value): &(usize, &[u8])| first_characters(value, max).len() < value.len();
        self.iter().enumerate().filter(is_longer).map(|(at, _)| at).collect()
    }

    /// The values truncated to at most `max` characters. Characters are code points. In invalid UTF-8, all bytes but
    /// continuation bytes are the start of a character.
    #[must_use]
    pub fn truncate_characters(self, max: usize) -> Self {
        if self.iter().all(|value| first_characters(value, max).len() == value.len()) {
            return self;
        }
        let mut truncated = Values { is_utf8: self.is_utf8, ..Values::default() };
        for value in self.iter().map(|value| first_characters(value, max)) {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "it is not longer than the value, whose length is 32 bits"
            )]
            truncated.lengths.push(value.len() as u32);
            truncated.bytes.extend_from_slice(value);
        }
        truncated
    }

    /// Removes the empty values at the indexes `at`, which ascend.
    pub fn remove_empty(&mut self, at: &[usize]) {
        if at.is_empty() {
            return;
        }
        let (mut index, mut at) = (0, at.iter().peekable());
        self.lengths.retain(|&length| {
            let is_removed = at.next_if_eq(&&index).is_some() && length == 0;
            index += 1;
            !is_removed
        });
    }

    /// An array of type `target`, with one value for each valid slot of `nulls`.
    ///
    /// # Errors
    /// `Corrupt` for text that is not UTF-8, and where there is not one value for each valid slot; `LimitExceeded` for more
    /// bytes than offsets reach.
    pub fn into_array(mut self, target: &DataType, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        check_count(self.len(), nulls.as_ref())?;
        if let DataType::Dictionary(_, values) = target {
            return self.into_dictionary(values, nulls);
        }
        spread(&mut self.lengths, nulls.as_ref());
        self.into_slots(target, nulls)
    }

    /// An array of type `target`, which is no dictionary, with one value for each slot of `nulls`, null slots included.
    ///
    /// # Errors
    /// As [`into_array`](Self::into_array).
    pub fn into_slots(self, target: &DataType, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        array(target, &self.lengths, Buffer::from_vec(self.bytes), nulls, self.is_utf8, |at| {
            format!("value {at} of the batch")
        })
    }

    /// A dictionary array of the distinct values in the order of their first occurrence.
    fn into_dictionary(self, target: &DataType, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let mut key_of: HashMap<&[u8], i32> = HashMap::new();
        let mut distinct = Values { is_utf8: self.is_utf8, ..Values::default() };
        let mut keys = Vec::with_capacity(self.lengths.len());
        for (value, &length) in self.iter().zip(&self.lengths) {
            let next = i32::try_from(key_of.len()).map_err(|_| Error::limit("a dictionary of 2^31 values or more"))?;
            keys.push(match key_of.entry(value) {
                Entry::Occupied(entry) => *entry.get(),
                Entry::Vacant(entry) => {
                    distinct.lengths.push(length);
                    distinct.bytes.extend_from_slice(value);
                    *entry.insert(next)
                }
            });
        }
        drop(key_of);
        dictionary_array(keys, distinct.into_array(target, None)?, nulls)
    }
}

/// Builds [`Values`] that are UTF-8 from texts.
#[derive(Debug, Default)]
pub struct ValuesBuilder {
    lengths: Vec<u32>,
    text: String,
    /// Start of the current value in `text`.
    start: usize,
}

impl ValuesBuilder {
    /// A builder with capacity for `count` values with `bytes` bytes together.
    pub fn with_capacity(count: usize, bytes: usize) -> Self {
        ValuesBuilder { lengths: Vec::with_capacity(count), text: String::with_capacity(bytes), start: 0 }
    }

    /// Appends to the current value.
    pub fn push_str(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Ends the current value.
    ///
    /// # Errors
    /// `LimitExceeded` where the value has 4 GiB or more.
    pub fn end_value(&mut self) -> Result<()> {
        let length = u32::try_from(self.text.len() - self.start);
        self.lengths.push(length.map_err(|_| Error::limit("a value of more than 4 GiB"))?);
        self.start = self.text.len();
        Ok(())
    }

    /// The values that have ended.
    pub fn finish(mut self) -> Values {
        self.text.truncate(self.start);
        Values { lengths: self.lengths, bytes: self.text.into_bytes(), is_utf8: true }
    }
}

/// The first `max` characters of a value.
fn first_characters(value: &[u8], max: usize) -> &[u8] {
    // A value has no more characters than bytes.
    if value.len() <= max {
        return value;
    }
    let mut starts = value.iter().enumerate().filter(|(_, byte)| *byte & 0xc0 != 0x80);
    match starts.nth(max) {
        Some((start, _)) => value.split_at(start).0,
        None => value,
    }
}

/// Checks that there is one value for each valid slot: values that are spread over other slots are others.
pub(super) fn check_count(values: usize, nulls: Option<&NullBuffer>) -> Result<()> {
    match nulls.map(|nulls| nulls.len() - nulls.null_count()).filter(|&valid| valid != values) {
        Some(valid) => Err(Error::corrupt(format!("{values} values for {valid} slots"))),
        None => Ok(()),
    }
}

/// A dictionary array of `keys`, one for each valid slot of `nulls`.
///
/// # Errors
/// `Corrupt` where a key has no value, and where there is not one key for each valid slot.
pub fn dictionary_array(mut keys: Vec<i32>, values: ArrayRef, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    check_count(keys.len(), nulls.as_ref())?;
    spread(&mut keys, nulls.as_ref());
    let keys = Int32Array::new(ScalarBuffer::from(keys), nulls);
    let array = DictionaryArray::try_new(keys, values);
    Ok(Arc::new(array.map_err(|error| Error::corrupt("its references do not fit").with_source(error))?))
}

/// An array of values of these lengths, which are valid UTF-8 if `is_utf8`. `name` is the name of a value in messages.
pub(super) fn array(
    target: &DataType,
    lengths: &[u32],
    bytes: Buffer,
    nulls: Option<NullBuffer>,
    is_utf8: bool,
    name: impl Fn(usize) -> String,
) -> Result<ArrayRef> {
    let shared = bytes.clone();
    let result = match target {
        DataType::Utf8View => Views::of_lengths(lengths, bytes)?.into_array::<StringViewType>(nulls, is_utf8),
        DataType::BinaryView => Views::of_lengths(lengths, bytes)?.into_array::<BinaryViewType>(nulls, is_utf8),
        DataType::Utf8 => text::<Utf8Type>(offsets(lengths)?, bytes, nulls, is_utf8),
        DataType::LargeUtf8 => text::<LargeUtf8Type>(offsets(lengths)?, bytes, nulls, is_utf8),
        DataType::LargeBinary => binary::<LargeBinaryType>(offsets(lengths)?, bytes, nulls),
        DataType::Binary => binary::<BinaryType>(offsets(lengths)?, bytes, nulls),
        other => return Err(no_bytes(other)),
    };
    result.map_err(|error| not_an_array(error, slices(lengths, &shared), name))
}

/// The error for a type whose values are not of variable length.
pub(super) fn no_bytes(target: &DataType) -> Error {
    Error::internal(format!("an array of type {target} is made of bytes of variable length"))
}

/// The error for `values` that are no array.
pub(super) fn not_an_array<'a>(
    error: ArrowError,
    mut values: impl Iterator<Item = &'a [u8]>,
    name: impl Fn(usize) -> String,
) -> Error {
    match values.position(|value| std::str::from_utf8(value).is_err()) {
        Some(at) => Error::corrupt(format!("{} is not valid UTF-8", name(at))),
        None => Error::corrupt("its values do not fit together").with_source(error),
    }
}

/// A string array. Arrow validates every byte, and then the start of each value. ASCII bytes need the first check only,
/// values that are known to be UTF-8 need neither.
#[expect(unsafe_code, reason = "reading a column of short strings takes 1.3 times as long with the checks")]
pub(super) fn text<T: ByteArrayType<Native = str>>(
    offsets: OffsetBuffer<T::Offset>,
    bytes: Buffer,
    nulls: Option<NullBuffer>,
    is_utf8: bool,
) -> ArrowResult {
    let ends_within = offsets.last().as_usize() <= bytes.len();
    let as_long = nulls.as_ref().is_none_or(|nulls| nulls.len() + 1 == offsets.len());
    if ends_within && as_long && (is_utf8 || bytes.is_ascii()) {
        // SAFETY: offsets are non-decreasing, start at 0, and end within the bytes. Their number is the number of slots plus
        // one. Each value is valid UTF-8: it was checked, or all bytes are ASCII.
        return Ok(Arc::new(unsafe { GenericByteArray::<T>::new_unchecked(offsets, bytes, nulls) }));
    }
    binary::<T>(offsets, bytes, nulls)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(all: &[&[u8]]) -> Values {
        let lengths = all.iter().map(|value| u32::try_from(value.len()).unwrap()).collect();
        Values::try_new(lengths, all.concat()).unwrap()
    }

    fn texts(values: &Values) -> Vec<String> {
        values.iter().map(|value| String::from_utf8_lossy(value).into_owned()).collect()
    }

    #[test]
    fn characters_are_code_points() {
        let all: [&[u8]; 4] = ["äöü".as_bytes(), b"ab ", b"", "a😀".as_bytes()];
        assert_eq!(texts(&values(&all).truncate_characters(2)), ["äö", "ab", "", "a😀"]);
        assert_eq!(values(&all).longer_than(2), [0, 1]);
        assert_eq!(texts(&values(&all).trim_end_blanks()), ["äöü", "ab", "", "a😀"]);
    }

    #[test]
    fn values_that_are_cut_within_a_character_are_no_text() {
        // The bytes are UTF-8 as a whole.
        let mut cut = Values::try_new(vec![1, 1], "ä".as_bytes().to_vec()).unwrap();
        assert!(!cut.check_utf8());
        for target in [DataType::Utf8, DataType::LargeUtf8, DataType::Utf8View] {
            let error = cut.clone().into_array(&target, None).unwrap_err();
            assert_eq!(error.message(), "value 0 of the batch is not valid UTF-8", "{target}");
        }
        assert!(cut.into_array(&DataType::Binary, None).is_ok());
    }

    #[test]
    fn built_values_are_text() {
        let mut builder = ValuesBuilder::with_capacity(2, 8);
        ["a", "ä"].into_iter().for_each(|part| builder.push_str(part));
        builder.end_value().unwrap();
        builder.end_value().unwrap();
        builder.push_str("not ended");
        let mut built = builder.finish();
        assert_eq!((texts(&built), built.is_utf8), (vec!["aä".to_owned(), String::new()], true));
        built.remove_empty(&[0, 1]);
        assert_eq!(texts(&built), ["aä"]);
    }

    #[test]
    fn lengths_are_those_of_the_bytes() {
        // The first byte of a character.
        let cut = &"ä".as_bytes()[..1];
        for lengths in [vec![2], vec![1, 1], vec![0], vec![], vec![u32::MAX, 2]] {
            let error = Values::try_new(lengths.clone(), cut.to_vec()).unwrap_err();
            assert_eq!(error.kind(), crate::error::ErrorKind::Corrupt, "{lengths:?}");
        }
    }

    #[test]
    fn values_are_as_many_as_valid_slots() {
        for valid in [[false, true, false], [true, true, true]] {
            // One of the lengths alone cuts the character.
            let mut text = values(&[b"a", "ä".as_bytes()]);
            assert!(text.check_utf8());
            let text_type = DataType::Utf8;
            for target in [text_type.clone(), DataType::Dictionary(DataType::Int32.into(), text_type.into())] {
                let error = text.clone().into_array(&target, Some(NullBuffer::from(valid.to_vec()))).unwrap_err();
                assert_eq!(error.kind(), crate::error::ErrorKind::Corrupt, "{target}");
            }
        }
    }
}
