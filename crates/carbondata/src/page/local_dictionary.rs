//! Local dictionaries: the dictionary of a column chunk.

use arrow_array::ArrayRef;
use orcish_core::strings::DictionaryValues;
use orcish_core::{Error, Result};

use super::encoder_meta::{ColumnType, EncoderMeta};
use super::length_prefixed::{LengthWidth, slices};
use super::nulls::nulls_of;
use super::truncated_lengths;
use crate::compress::Compressor;
use crate::metadata::format::{LocalDictionary as Stored, NULL_TEXT};
use crate::metadata::schema::{CarbonType, Column};

/// Bytes of a key in pages.
pub(crate) const KEY_WIDTH: usize = 3;
/// Number of keys of three bytes.
const MAX_KEYS: usize = 1 << 24;

/// A local dictionary.
pub(crate) struct LocalDictionary {
    values: DictionaryValues,
    /// Bitmap of the keys that have a value.
    keys: Vec<u8>,
    /// All keys from here to the last have values.
    dense_from: u32,
    /// The key of null.
    null: Option<u32>,
    /// Whether the values are strings, checked to be valid UTF-8.
    is_string: bool,
}

impl LocalDictionary {
    /// Reads a dictionary of at most `max_bytes` bytes.
    pub(crate) fn read(
        encoded: &Stored,
        compressor: Option<&str>,
        carbon_type: CarbonType,
        max_bytes: usize,
    ) -> Result<Self> {
        let meta = encoded.meta.encoder_meta.first().map(|meta| EncoderMeta::read(meta)).transpose()?;
        let (compressor, column_type) = match meta {
            Some(meta) => (meta.compressor, meta.column_type),
            None => (Compressor::named(compressor)?, ColumnType::Other),
        };
        let keys = compressor.decompress(&encoded.keys, MAX_KEYS / 8)?;
        let max_bytes = max_bytes.min(i32::MAX.cast_unsigned().try_into().unwrap_or(max_bytes));
        let data = compressor.decompress(&encoded.data, max_bytes)?;
        let length_width =
            if column_type == ColumnType::PlainLongValue { LengthWidth::Int } else { LengthWidth::Short };
        let is_string = carbon_type != CarbonType::Binary;
        let (mut ranges, mut dense_from, mut null) = (Vec::new(), 0, None);
        let keys_memory = keys.len().saturating_mul(8 * size_of::<(u32, u32)>());
        if keys_memory > max_bytes {
            return Err(Error::limit(format!("{keys_memory} bytes for the keys of a dictionary")));
        }
        let mut values_iter = split_values(&data, length_width, set_bits(&keys).count(), is_string)?.into_iter();
        let mut offset = 0;
        for key in set_bits(&keys) {
            let value = values_iter.next().ok_or_else(|| Error::corrupt("a dictionary has more keys than values"))?;
            if ranges.len() < key {
                ranges.resize(key, (0, 0));
                dense_from = to_u32(key)?;
            }
            offset += if length_width == LengthWidth::Int { 4 } else { 2 };
            // The stored form of null, mostly with key 1. Null of long strings and of binaries is stored as an empty
            // value.
            if value == NULL_TEXT {
                if null.replace(to_u32(key)?).is_some() {
                    return Err(Error::corrupt("a dictionary in which null is twice"));
                }
                ranges.push((0, 0));
            } else {
                ranges.push((to_u32(offset)?, to_u32(value.len())?));
            }
            offset += value.len();
        }
        if values_iter.next().is_some() {
            return Err(Error::corrupt("a dictionary has more values than keys"));
        }
        let mut values = DictionaryValues::try_new(ranges, data)?;
        if is_string && let Err(key) = values.check_utf8() {
            return Err(Error::corrupt(format!("the text of key {key} of a dictionary is no UTF-8")));
        }
        Ok(LocalDictionary { values, keys, dense_from, null, is_string })
    }

    /// Looks up the keys of a page.
    pub(super) fn decode(&self, keys: &[u32], column: &Column, max_bytes: usize) -> Result<ArrayRef> {
        self.check(keys)?;
        match column.carbon_type {
            CarbonType::String | CarbonType::Varchar if self.is_string => {}
            CarbonType::Binary => {}
            carbon_type => return Err(Error::unsupported(format!("a dictionary of a column of type {carbon_type:?}"))),
        }
        if keys.len().saturating_mul(self.values.longest()) > max_bytes {
            let length = |&key: &u32| u64::from(self.values.length_of(key));
            let total: u64 = keys.iter().map(length).sum();
            if usize::try_from(total).map_or(true, |total| total > max_bytes) {
                return Err(Error::limit(format!("{total} bytes of texts in a page")));
            }
        }
        let nulls = self.null.and_then(|null| nulls_of(keys, null));
        self.values.slots(keys, &column.data_type(), nulls)
    }

    /// Checks that all keys have values.
    fn check(&self, keys: &[u32]) -> Result<()> {
        let (min_key, max_key) =
            keys.iter().fold((u32::MAX, 0), |(min_key, max_key), &key| (min_key.min(key), max_key.max(key)));
        let is_used = |key: u32| {
            let byte = usize::try_from(key / 8).ok().and_then(|byte| self.keys.get(byte));
            byte.is_some_and(|byte| byte >> (key % 8) & 1 == 1)
        };
        // In most dictionaries all keys but 0 have values.
        let unknown = match usize::try_from(max_key) {
            Ok(max_key) if max_key < self.values.len() && min_key >= self.dense_from => None,
            _ => keys.iter().copied().find(|&key| !is_used(key)),
        };
        match unknown {
            Some(key) => Err(Error::corrupt(format!("the key {key} is not in the dictionary"))),
            None => Ok(()),
        }
    }
}

/// Splits the data into `count` values.
fn split_values(data: &[u8], length_width: LengthWidth, count: usize, is_string: bool) -> Result<Vec<&[u8]>> {
    let values = slices(data, length_width, Some(count), usize::MAX);
    match &values {
        Ok(_) => values,
        // A value is longer than its length prefix can express.
        _ if length_width == LengthWidth::Short && data.len() > truncated_lengths::NUM_LENGTHS => {
            truncated_lengths::values(data, count, is_string)
        }
        _ => values,
    }
}

fn to_u32(number: usize) -> Result<u32> {
    u32::try_from(number).map_err(|_| Error::limit("a dictionary of more than 4 GiB"))
}

/// Positions of the set bits, ascending, of a bitmap of `java.util.BitSet`.
fn set_bits(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let of_byte =
        |(byte, &bits): (usize, &u8)| (0..8).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| byte * 8 + bit);
    bytes.iter().enumerate().flat_map(of_byte)
}
