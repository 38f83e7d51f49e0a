//! Values of a dictionary, gathered by keys.

use arrow_array::ArrayRef;
use arrow_buffer::Buffer;
use arrow_schema::DataType;

use super::values::{Values, array};
use crate::error::{Error, Result};
use crate::types::is_text;

/// Maximum length of short values, which are copied with a fixed number of bytes.
const SHORT: usize = 32;
/// Values that are gathered at a time, if all are short.
const GATHERED: usize = 64;

/// The values of a dictionary, and fast copies of the values that keys refer to.
#[derive(Debug, Default)]
pub struct DictionaryValues {
    /// Offset and length of each value.
    ranges: Vec<(u32, u32)>,
    /// Bytes of all values. Padding behind them lets copies of short values have a fixed length.
    bytes: Buffer,
    /// Length of the longest value.
    longest: usize,
    /// Whether each value is known to be valid UTF-8.
    is_utf8: bool,
}

impl DictionaryValues {
    /// A dictionary of the values at `ranges` of `bytes`, as offset and length.
    ///
    /// # Errors
    /// `Corrupt` where a value ends behind `bytes`.
    pub fn try_new(ranges: Vec<(u32, u32)>, mut bytes: Vec<u8>) -> Result<Self> {
        let mut longest = 0;
        for (entry, &(start, length)) in ranges.iter().enumerate() {
            let end = u64::from(start) + u64::from(length);
            if end > bytes.len() as u64 {
                let text = format!("entry {entry} of a dictionary of {} bytes ends at byte {end}", bytes.len());
                return Err(Error::corrupt(text));
            }
            longest = longest.max(length as usize);
        }
        bytes.resize(bytes.len() + SHORT, 0);
        Ok(DictionaryValues { ranges, bytes: Buffer::from_vec(bytes), longest, is_utf8: false })
    }

    /// A dictionary of `values`, and an array of type `target` of the values.
    ///
    /// # Errors
    /// `Corrupt` for text that is not UTF-8, `LimitExceeded` for more bytes than offsets reach.
    pub fn with_array(values: Values, target: &DataType) -> Result<(Self, ArrayRef)> {
        let (lengths, bytes, is_utf8) = values.into_parts();
        let mut end = 0u32;
        let range = |&length: &u32| {
            let start = end;
            end = end.checked_add(length).ok_or_else(|| Error::limit("a dictionary of more than 4 GiB"))?;
            Ok((start, length))
        };
        let mut dictionary = Self::try_new(lengths.iter().map(range).collect::<Result<_>>()?, bytes)?;
        let name = |at| format!("entry {at} of the dictionary");
        let array = array(target, &lengths, dictionary.bytes.clone(), None, is_utf8, name)?;
        dictionary.is_utf8 = is_utf8 || is_text(target);
        Ok((dictionary, array))
    }

    /// Checks that each value is valid UTF-8, so that arrays of text need no check.
    ///
    /// # Errors
    /// `Err` with the index of the first value that is not.
    pub fn check_utf8(&mut self) -> std::result::Result<(), usize> {
        #[expect(clippy::indexing_slicing, reason = "the constructor has checked that ranges are within the bytes")]
        let value = |&(start, length): &(u32, u32)| &self.bytes[start as usize..][..length as usize];
        let invalid = self.ranges.iter().position(|range| std::str::from_utf8(value(range)).is_err());
        self.is_utf8 = invalid.is_none();
        invalid.map_or(Ok(()), Err)
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Length of the longest value in bytes.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Bytes of all values, followed by padding.
    pub fn bytes(&self) -> &Buffer {
        &self.bytes
    }

    /// Length in bytes of the value of a key.
    ///
    /// # Panics
    /// Where the key is not less than the number of values.
    #[inline]
    pub fn length_of(&self, key: u32) -> u32 {
        self.range(key).1
    }

    /// Offset and length of the value of a key.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "callers have checked the keys, which come from a file")]
    fn range(&self, key: u32) -> (u32, u32) {
        self.ranges[key as usize]
    }

    /// The values of these keys.
    ///
    /// # Panics
    /// Where a key is not less than the number of values.
    pub fn gather(&self, keys: &[u32]) -> Values {
        let (lengths, bytes) = match self.longest {
            0..=8 => self.gather_short::<8>(keys),
            9..=16 => self.gather_short::<16>(keys),
            17..=SHORT => self.gather_short::<SHORT>(keys),
            _ => self.gather_long(keys),
        };
        Values::gathered(lengths, bytes, self.is_utf8)
    }

    /// Gathers values of at most `N` bytes. Each value is copied with `N` bytes, which is faster than its length. The next copy
    /// overwrites the bytes behind the value.
    #[expect(clippy::indexing_slicing, reason = "values are within the bytes, which end with padding of `SHORT` bytes")]
    fn gather_short<const N: usize>(&self, keys: &[u32]) -> (Vec<u32>, Vec<u8>) {
        let mut all_lengths = Vec::with_capacity(keys.len());
        let mut bytes = Vec::with_capacity(keys.len() * N.min(self.longest));
        let (mut lengths, mut buffer) = ([0; GATHERED], [0; GATHERED * SHORT + SHORT]);
        for keys in keys.chunks(GATHERED) {
            let mut at = 0;
            for (&key, to) in keys.iter().zip(&mut lengths) {
                let (start, length) = self.range(key);
                buffer[at % (GATHERED * SHORT)..][..N].copy_from_slice(&self.bytes[start as usize..][..N]);
                *to = length;
                at += length as usize;
            }
            all_lengths.extend_from_slice(&lengths[..keys.len()]);
            bytes.extend_from_slice(&buffer[..at]);
        }
        (all_lengths, bytes)
    }

    #[expect(clippy::indexing_slicing, reason = "the constructor has checked that ranges are within the bytes")]
    fn gather_long(&self, keys: &[u32]) -> (Vec<u32>, Vec<u8>) {
        let lengths: Vec<u32> = keys.iter().map(|&key| self.range(key).1).collect();
        let total: usize = lengths.iter().map(|&length| length as usize).sum();
        let mut bytes: Vec<u8> = Vec::with_capacity(total + SHORT);
        for (start, length) in keys.iter().map(|&key| self.range(key)) {
            let (at, length) = (bytes.len(), length as usize);
            let from = &self.bytes[start as usize..];
            match from.first_chunk::<SHORT>() {
                Some(short) if length <= SHORT => bytes.extend_from_slice(short),
                _ => bytes.extend_from_slice(&from[..length]),
            }
            bytes.truncate(at + length);
        }
        (lengths, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn entries_are_within_the_bytes() {
        // Behind the first byte of a character is padding.
        let cut = "ä".as_bytes().get(..1).unwrap();
        for range in [(0, 2), (1, 1), (u32::MAX, u32::MAX)] {
            let error = DictionaryValues::try_new(vec![(0, 1), range], cut.to_vec()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{range:?}");
            assert!(error.message().starts_with("entry 1 of a dictionary of 1 bytes ends"), "{}", error.message());
        }
        assert_eq!(DictionaryValues::try_new(vec![(0, 1), (1, 0)], cut.to_vec()).unwrap().check_utf8(), Err(0));
    }

    #[test]
    fn values_are_gathered_by_keys() {
        for length in [0, 1, 9, 17, 33] {
            let text = "ab".repeat(length);
            let length = u32::try_from(text.len()).unwrap();
            let values = DictionaryValues::try_new(vec![(0, 0), (0, length)], text.clone().into_bytes()).unwrap();
            let gathered = values.gather(&[1, 0, 1]);
            assert_eq!(gathered.lengths(), [length, 0, length]);
            assert_eq!(gathered.bytes(), text.repeat(2).as_bytes());
            assert!(std::panic::catch_unwind(|| values.gather(&[1, 2])).is_err(), "a key without a value");
        }
    }
}
