//! Values of a dictionary, gathered by keys.

use std::sync::OnceLock;

use arrow_array::types::{
    BinaryType, BinaryViewType, ByteArrayType, ByteViewType, LargeBinaryType, LargeUtf8Type, StringViewType, Utf8Type,
};
use arrow_array::{ArrayRef, OffsetSizeTrait};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::DataType;

use super::array::{ArrowResult, Offsets, binary, offsets};
use super::values::{Values, array, check_count, no_bytes, not_an_array, text};
use super::views::Views;
use crate::error::{Error, OrInternal as _, Result};
use crate::nulls::spread_with;
use crate::types::is_text;

/// Maximum length of values that are copied with a fixed number of bytes.
const SHORT: usize = 32;
/// Values that are gathered at a time, if all are short.
const GATHERED: usize = 64;
/// Maximum number of values of a table.
const MAX_TABLE: usize = 1 << 14;

/// The values of a dictionary, and fast copies of the values that keys refer to.
#[derive(Debug)]
pub struct DictionaryValues {
    /// Offset and length of each value, and of an empty value behind them, which is the value of null slots.
    ranges: Vec<(u32, u32)>,
    /// Bytes of all values. Padding behind them lets copies of short values have a fixed length.
    bytes: Buffer,
    /// Length of the longest value.
    longest: usize,
    /// Whether each value is known to be valid UTF-8.
    is_utf8: bool,
    /// Copies of the values, and of the empty value, from which they are gathered faster. Made when they are first needed.
    table: OnceLock<Table>,
    /// Views of the values, and of the empty value. Made when they are first needed.
    views: OnceLock<Views>,
}

/// Values with their lengths: one load of an entry instead of two loads, of which one needs the other.
#[derive(Debug)]
enum Table {
    None,
    /// Values of up to 15 bytes. The last byte of an entry is the length.
    Of16(Vec<[u8; 16]>),
    /// Values of up to 31 bytes.
    Of32(Vec<[u8; 32]>),
}

impl Table {
    /// The table of the values at `ranges` of `bytes`, which have padding of `SHORT` bytes.
    fn new(ranges: &[(u32, u32)], bytes: &[u8], longest: usize) -> Self {
        match longest {
            _ if ranges.len() > MAX_TABLE => Table::None,
            0..16 => Table::Of16(entries(ranges, bytes)),
            16..32 => Table::Of32(entries(ranges, bytes)),
            _ => Table::None,
        }
    }
}

/// Entries of a table of values shorter than `N`.
#[expect(clippy::indexing_slicing, reason = "values are within the bytes, which end with padding of `SHORT` bytes")]
#[expect(clippy::cast_possible_truncation, reason = "the length is smaller than 32")]
fn entries<const N: usize>(ranges: &[(u32, u32)], bytes: &[u8]) -> Vec<[u8; N]> {
    let entry = |&(start, length): &(u32, u32)| {
        let mut entry = [0; N];
        let (value, last) = entry.split_at_mut(N - 1);
        value.copy_from_slice(&bytes[start as usize..][..N - 1]);
        last.fill(length as u8);
        entry
    };
    ranges.iter().map(entry).collect()
}

impl Default for DictionaryValues {
    fn default() -> Self {
        let bytes = Buffer::from_vec(vec![0u8; SHORT]);
        Self::of(vec![(0, 0)], bytes, 0)
    }
}

impl DictionaryValues {
    /// A dictionary of the values at `ranges` of `bytes`, as offset and length.
    ///
    /// # Errors
    /// `Corrupt` where a value ends behind `bytes`.
    pub fn try_new(mut ranges: Vec<(u32, u32)>, mut bytes: Vec<u8>) -> Result<Self> {
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
        ranges.push((0, 0));
        Ok(Self::of(ranges, Buffer::from_vec(bytes), longest))
    }

    fn of(ranges: Vec<(u32, u32)>, bytes: Buffer, longest: usize) -> Self {
        let (table, views) = (OnceLock::new(), OnceLock::new());
        DictionaryValues { ranges, bytes, longest, is_utf8: false, table, views }
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
        let invalid = self.ranges.iter().position(|&range| std::str::from_utf8(self.value(range)).is_err());
        self.is_utf8 = invalid.is_none();
        invalid.map_or(Ok(()), Err)
    }

    /// Maximum bytes of the copies of short values that a dictionary of `count` values has.
    pub fn table_bytes(count: usize) -> u64 {
        if count < MAX_TABLE { (count as u64 + 1) * SHORT as u64 } else { 0 }
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.ranges.len() - 1
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
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
    /// Where the key is greater than the number of values, which is the key of an empty value.
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

    /// An array of type `target`, which is no dictionary, of the values of `keys`: one for each valid slot of `nulls`.
    ///
    /// # Errors
    /// As [`slots`](Self::slots), and `Corrupt` where there is not one key for each valid slot.
    ///
    /// # Panics
    /// Where a key is greater than the number of values.
    pub fn array(&self, mut keys: Vec<u32>, target: &DataType, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        check_count(keys.len(), nulls.as_ref())?;
        let empty = u32::try_from(self.len()).or_internal("a dictionary has more values than keys")?;
        spread_with(&mut keys, nulls.as_ref(), empty);
        self.slots(&keys, target, nulls)
    }

    /// An array of type `target`, which is no dictionary, of the values of `keys`: one for each slot, null slots included.
    ///
    /// # Errors
    /// `Corrupt` for text that is not UTF-8, `LimitExceeded` for more bytes than offsets reach.
    ///
    /// # Panics
    /// Where a key is greater than the number of values. That number is the key of an empty value.
    pub fn slots(&self, keys: &[u32], target: &DataType, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let result = match target {
            DataType::Utf8View => self.views::<StringViewType>(keys, nulls)?,
            DataType::BinaryView => self.views::<BinaryViewType>(keys, nulls)?,
            DataType::Utf8 => self.text::<Utf8Type>(keys, nulls)?,
            DataType::LargeUtf8 => self.text::<LargeUtf8Type>(keys, nulls)?,
            DataType::LargeBinary => self.binary::<LargeBinaryType>(keys, nulls)?,
            DataType::Binary => self.binary::<BinaryType>(keys, nulls)?,
            other => return Err(no_bytes(other)),
        };
        let value = |&key: &u32| self.value(self.range(key));
        result.map_err(|error| not_an_array(error, keys.iter().map(value), |at| format!("value {at} of the batch")))
    }

    fn text<T: ByteArrayType<Native = str>>(&self, keys: &[u32], nulls: Option<NullBuffer>) -> Result<ArrowResult> {
        let (offsets, bytes) = self.gather(keys)?;
        Ok(text::<T>(offsets, bytes, nulls, self.is_utf8))
    }

    fn binary<T: ByteArrayType>(&self, keys: &[u32], nulls: Option<NullBuffer>) -> Result<ArrowResult> {
        let (offsets, bytes) = self.gather(keys)?;
        Ok(binary::<T>(offsets, bytes, nulls))
    }

    /// Views into the bytes of the dictionary.
    fn views<T: ByteViewType>(&self, keys: &[u32], nulls: Option<NullBuffer>) -> Result<ArrowResult> {
        let views = match self.views.get() {
            Some(views) => views,
            None => {
                let views = Views::of_ranges(self.ranges.iter().copied(), self.bytes.clone())?;
                self.views.get_or_init(|| views)
            }
        };
        Ok(views.gather(keys).into_array::<T>(nulls, self.is_utf8))
    }

    #[expect(clippy::indexing_slicing, reason = "the constructor has checked that ranges are within the bytes")]
    fn value(&self, (start, length): (u32, u32)) -> &[u8] {
        &self.bytes[start as usize..][..length as usize]
    }

    /// Offsets and bytes of the values of keys.
    #[expect(
        clippy::indexing_slicing,
        reason = "callers have checked the keys; values end before padding of `SHORT` bytes"
    )]
    fn gather<O: OffsetSizeTrait>(&self, keys: &[u32]) -> Result<(OffsetBuffer<O>, Buffer)> {
        match self.table.get_or_init(|| Table::new(&self.ranges, &self.bytes, self.longest)) {
            Table::Of16(table) => self.gather_short::<O, 16>(keys, |key| {
                let entry = &table[key as usize];
                (entry, entry[15].into())
            }),
            Table::Of32(table) => self.gather_short::<O, 32>(keys, |key| {
                let entry = &table[key as usize];
                (entry, entry[31].into())
            }),
            Table::None if self.longest <= SHORT => self.gather_short::<O, SHORT>(keys, |key| {
                let (start, length) = self.range(key);
                let from = &self.bytes[start as usize..][..SHORT];
                (from.first_chunk().unwrap_or(&[0; SHORT]), length)
            }),
            Table::None => self.gather_long(keys),
        }
    }

    /// Gathers values of at most `N` bytes. `entry` is the bytes of the value of a key, and its length. Each value is copied
    /// with `N` bytes, which is faster than its length. The next copy overwrites the bytes behind the value.
    #[inline(always)]
    #[expect(clippy::indexing_slicing, reason = "the buffer has `N` bytes behind the longest values of a block")]
    fn gather_short<'a, O: OffsetSizeTrait, const N: usize>(
        &self,
        keys: &[u32],
        entry: impl Fn(u32) -> (&'a [u8; N], u32),
    ) -> Result<(OffsetBuffer<O>, Buffer)> {
        let mut offsets = Offsets::with_capacity(keys.len());
        let mut bytes = Vec::with_capacity(keys.len() * N.min(self.longest));
        let (mut lengths, mut buffer) = ([0; GATHERED], [0; GATHERED * SHORT + SHORT]);
        for keys in keys.chunks(GATHERED) {
            let mut at = 0;
            for (&key, to) in keys.iter().zip(&mut lengths) {
                let (value, length) = entry(key);
                buffer[at % (GATHERED * SHORT)..][..N].copy_from_slice(value);
                *to = length;
                at += length as usize;
            }
            offsets.extend(&lengths[..keys.len()]);
            bytes.extend_from_slice(&buffer[..at]);
        }
        Ok((offsets.finish()?, Buffer::from_vec(bytes)))
    }

    #[expect(clippy::indexing_slicing, reason = "the constructor has checked that ranges are within the bytes")]
    fn gather_long<O: OffsetSizeTrait>(&self, keys: &[u32]) -> Result<(OffsetBuffer<O>, Buffer)> {
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
        Ok((offsets(&lengths)?, Buffer::from_vec(bytes)))
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::Array as _;
    use arrow_array::cast::AsArray as _;

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

    const TYPES: [DataType; 6] = [
        DataType::Utf8,
        DataType::LargeUtf8,
        DataType::Utf8View,
        DataType::Binary,
        DataType::LargeBinary,
        DataType::BinaryView,
    ];

    fn texts(array: &ArrayRef) -> Vec<Option<String>> {
        let array = arrow_cast::cast(array, &DataType::Utf8).unwrap();
        array.as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect()
    }

    /// A dictionary of empty values, and behind them a value of `length` bytes.
    fn dictionary(count: usize, length: usize) -> (DictionaryValues, String) {
        let text = "ab".repeat(length).get(..length).unwrap().to_owned();
        let mut ranges = vec![(0, 0); count];
        *ranges.last_mut().unwrap() = (0, u32::try_from(length).unwrap());
        (DictionaryValues::try_new(ranges, text.clone().into_bytes()).unwrap(), text)
    }

    #[test]
    fn values_are_gathered_by_keys() {
        for (target, length, count) in TYPES.iter().flat_map(|target| {
            [0, 1, 15, 16, 31, 32, 33].into_iter().flat_map(move |n| [2, MAX_TABLE + 1].map(|count| (target, n, count)))
        }) {
            let (dictionary, text) = dictionary(count, length);
            let long = u32::try_from(count - 1).unwrap();
            // More values than are gathered at a time.
            let keys: Vec<u32> = (0..200).map(|at| if at % 3 == 1 { 0 } else { long }).collect();
            let want: Vec<_> =
                keys.iter().map(|&key| Some(if key == 0 { String::new() } else { text.clone() })).collect();
            let array = dictionary.array(keys, target, None).unwrap();
            assert_eq!((array.data_type(), texts(&array)), (target, want), "{length} {count}");
        }
    }

    #[test]
    fn null_slots_have_no_keys() {
        let nulls = || Some(NullBuffer::from(vec![true, false, true, true]));
        for target in TYPES {
            let (dictionary, text) = dictionary(2, 5);
            let array = dictionary.array(vec![1, 0, 1], &target, nulls()).unwrap();
            assert_eq!(texts(&array), [Some(text.clone()), None, Some(String::new()), Some(text)], "{target}");
            for keys in [vec![1], vec![1; 4]] {
                let error = dictionary.array(keys, &target, nulls()).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Corrupt, "{target}");
            }
        }
    }

    #[test]
    fn keys_without_a_value_panic() {
        for (length, target) in
            [(5, DataType::Utf8), (20, DataType::Binary), (40, DataType::Utf8), (5, DataType::Utf8View)]
        {
            let (dictionary, _) = dictionary(2, length);
            let gather = || dictionary.slots(&[3], &target, None);
            assert!(std::panic::catch_unwind(gather).is_err(), "{target}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_an_error() {
        let dictionary = DictionaryValues::try_new(vec![(0, 1), (1, 1)], b"a\xff".to_vec()).unwrap();
        for target in [DataType::Utf8, DataType::LargeUtf8, DataType::Utf8View] {
            let error = dictionary.slots(&[0, 0, 1], &target, None).unwrap_err();
            assert_eq!(error.message(), "value 2 of the batch is not valid UTF-8", "{target}");
        }
        assert!(dictionary.slots(&[0, 0, 1], &DataType::Binary, None).is_ok());
    }
}
