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
    is_text: bool,
}

impl LocalDictionary {
    /// Reads a dictionary of at most `max_bytes` bytes.
    pub(crate) fn read(
        stored: &Stored,
        compressor: Option<&str>,
        carbon_type: CarbonType,
        max_bytes: usize,
    ) -> Result<Self> {
        let meta = stored.meta.encoder_meta.first().map(|meta| EncoderMeta::read(meta)).transpose()?;
        let (compressor, role) = match meta {
            Some(meta) => (meta.compressor, meta.role),
            None => (Compressor::named(compressor)?, ColumnType::Other),
        };
        let keys = compressor.decompress(&stored.keys, MAX_KEYS / 8)?;
        let max_bytes = max_bytes.min(i32::MAX.cast_unsigned().try_into().unwrap_or(max_bytes));
        let data = compressor.decompress(&stored.data, max_bytes)?;
        let prefix = if role == ColumnType::LongText { LengthWidth::Int } else { LengthWidth::Short };
        let is_text = carbon_type != CarbonType::Binary;
        let (mut places, mut dense_from, mut null) = (Vec::new(), 0, None);
        let room = keys.len().saturating_mul(8 * size_of::<(u32, u32)>());
        if room > max_bytes {
            return Err(Error::limit(format!("{room} bytes for the keys of a dictionary")));
        }
        let mut texts = texts_of(&data, prefix, set_bits(&keys).count(), is_text)?.into_iter();
        let mut at = 0;
        for key in set_bits(&keys) {
            let text = texts.next().ok_or_else(|| Error::corrupt("a dictionary has more keys than values"))?;
            if places.len() < key {
                places.resize(key, (0, 0));
                dense_from = small(key)?;
            }
            at += if prefix == LengthWidth::Int { 4 } else { 2 };
            // The stored form of null, mostly with key 1. Null of long strings and of binaries is stored as an empty
            // value.
            if text == NULL_TEXT {
                if null.replace(small(key)?).is_some() {
                    return Err(Error::corrupt("a dictionary in which null is twice"));
                }
                places.push((0, 0));
            } else {
                places.push((small(at)?, small(text.len())?));
            }
            at += text.len();
        }
        if texts.next().is_some() {
            return Err(Error::corrupt("a dictionary has more values than keys"));
        }
        let mut values = DictionaryValues::new(places, data);
        if is_text && let Err(key) = values.check_utf8() {
            return Err(Error::corrupt(format!("the text of key {key} of a dictionary is no UTF-8")));
        }
        Ok(LocalDictionary { values, keys, dense_from, null, is_text })
    }

    /// Looks up the keys of a page.
    pub(super) fn decode(&self, keys: &[u32], column: &Column, max_bytes: usize) -> Result<ArrayRef> {
        self.check(keys)?;
        match column.carbon_type {
            CarbonType::String | CarbonType::Varchar if self.is_text => {}
            CarbonType::Binary => {}
            carbon_type => return Err(Error::unsupported(format!("a dictionary of a column of type {carbon_type:?}"))),
        }
        if keys.len().saturating_mul(self.values.longest()) > max_bytes {
            let length = |&key: &u32| u64::from(self.values.place(key).1);
            let total: u64 = keys.iter().map(length).sum();
            if usize::try_from(total).map_or(true, |total| total > max_bytes) {
                return Err(Error::limit(format!("{total} bytes of texts in a page")));
            }
        }
        let nulls = self.null.and_then(|null| nulls_of(keys, null));
        self.values.gather(keys).into_slots(&column.data_type(), nulls)
    }

    /// Checks that all keys have values.
    fn check(&self, keys: &[u32]) -> Result<()> {
        let (least, max_bytes) =
            keys.iter().fold((u32::MAX, 0), |(least, max_bytes), &key| (least.min(key), max_bytes.max(key)));
        let is_used = |key: u32| {
            let byte = usize::try_from(key / 8).ok().and_then(|byte| self.keys.get(byte));
            byte.is_some_and(|byte| byte >> (key % 8) & 1 == 1)
        };
        // In most dictionaries all keys but 0 have values.
        let wrong = match usize::try_from(max_bytes) {
            Ok(max_bytes) if max_bytes < self.values.len() && least >= self.dense_from => None,
            _ => keys.iter().copied().find(|&key| !is_used(key)),
        };
        match wrong {
            Some(key) => Err(Error::corrupt(format!("the key {key} is not in the dictionary"))),
            None => Ok(()),
        }
    }
}

/// Splits the data into `count` values.
fn texts_of(data: &[u8], prefix: LengthWidth, count: usize, is_text: bool) -> Result<Vec<&[u8]>> {
    let found = slices(data, prefix, Some(count), usize::MAX);
    match &found {
        Ok(_) => found,
        // A value is longer than its length prefix can express.
        _ if prefix == LengthWidth::Short && data.len() > truncated_lengths::LENGTHS => {
            truncated_lengths::values(data, count, is_text)
        }
        _ => found,
    }
}

fn small(number: usize) -> Result<u32> {
    u32::try_from(number).map_err(|_| Error::limit("a dictionary of more than 4 GiB"))
}

/// Positions of the set bits, ascending, of a bitmap of `java.util.BitSet`.
fn set_bits(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let of_byte =
        |(byte, &bits): (usize, &u8)| (0..8).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| byte * 8 + bit);
    bytes.iter().enumerate().flat_map(of_byte)
}
