//! The dictionary of a chunk, for all of its pages.

use std::sync::Arc;

use arrow_array::types::{BinaryType, ByteArrayType, Utf8Type};
use arrow_array::{ArrayRef, GenericByteArray};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use orcish::{Error, Result};

use super::arrays::nulls_where;
use super::meta::{PageMeta, Role};
use super::texts::{NULL_TEXT, Prefix, STEP, copy, slices};
use super::{PageInput, packed};
use crate::compress::Compressor;
use crate::metadata::format::LocalDictionary as Stored;
use crate::metadata::schema::Kind;

/// Bytes of a key in pages.
pub(crate) const KEY_WIDTH: usize = 3;
/// Keys of three bytes.
const MOST_KEYS: usize = 1 << 24;
/// Behind the values, so that of each as many bytes can be copied.
const PADDING: usize = STEP;

/// Values by their keys.
pub(crate) struct LocalDictionary {
    /// Values one after the other, with their lengths between them.
    data: Vec<u8>,
    values: Vec<Entry>,
    /// They are UTF-8.
    is_text: bool,
}

/// Where the value of a key is.
#[derive(Clone, Copy)]
struct Entry {
    start: u32,
    length: u32,
}

impl Entry {
    /// Of a key that no value has.
    const UNUSED: Entry = Entry { start: u32::MAX, length: 0 };
    /// No value is at the beginning, where its length is.
    const NULL: Entry = Entry { start: 0, length: 0 };

    fn is_null(&self) -> bool {
        self.start == 0
    }

    /// Where it begins, and its length; none for keys that are not used.
    fn place(&self) -> Option<(usize, usize)> {
        let place = usize::try_from(self.start).ok().zip(usize::try_from(self.length).ok());
        place.filter(|_| self.start != u32::MAX)
    }
}

impl LocalDictionary {
    /// Reads it, of at most `most` bytes.
    pub(crate) fn read(stored: &Stored, compressor: Option<&str>, kind: Kind, most: usize) -> Result<Self> {
        let meta = stored.meta.encoder_meta.first().map(|meta| PageMeta::read(meta)).transpose()?;
        let (compressor, role) = match meta {
            Some(meta) => (meta.compressor, meta.role),
            None => (Compressor::named(compressor)?, Role::Other),
        };
        let keys = compressor.decompress(&stored.keys, MOST_KEYS / 8)?;
        let mut data =
            compressor.decompress(&stored.data, most.min(i32::MAX.cast_unsigned().try_into().unwrap_or(most)))?;
        let prefix = if role == Role::LongText { Prefix::Int } else { Prefix::Short };
        let is_text = kind != Kind::Binary;
        let mut values = Vec::new();
        let mut texts = slices(&data, prefix, None)?.into_iter();
        let mut at = 0;
        for (byte, &bits) in keys.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let key = byte * 8 + usize::try_from(bits.trailing_zeros()).unwrap_or(0);
                bits &= bits - 1;
                let text = texts.next().ok_or_else(|| Error::corrupt("a dictionary has more keys than values"))?;
                if is_text && std::str::from_utf8(text).is_err() {
                    return Err(Error::corrupt(format!("the text of key {key} of a dictionary is no UTF-8")));
                }
                at += if prefix == Prefix::Int { 4 } else { 2 };
                let (start, length) = (u32::try_from(at), u32::try_from(text.len()));
                let entry = match (start, length) {
                    // That of null, which mostly has key 1; of long texts and binaries null is stored as nothing.
                    _ if text == NULL_TEXT => Entry::NULL,
                    (Ok(start), Ok(length)) => Entry { start, length },
                    _ => return Err(Error::limit("a dictionary of more than 4 GiB")),
                };
                at += text.len();
                values.resize(key, Entry::UNUSED);
                values.push(entry);
            }
        }
        if texts.next().is_some() {
            return Err(Error::corrupt("a dictionary has more values than keys"));
        }
        let end = data.len();
        data.resize(end + PADDING, 0);
        Ok(LocalDictionary { data, values, is_text })
    }

    /// The values of a page of keys.
    pub(super) fn decode(&self, input: &PageInput<'_>) -> Result<ArrayRef> {
        let keys = packed::keys_of(input, KEY_WIDTH)?;
        match input.column.kind {
            Kind::String | Kind::Varchar if self.is_text => self.gather::<Utf8Type>(&keys, input.most),
            Kind::Binary => self.gather::<BinaryType>(&keys, input.most),
            kind => Err(Error::unsupported(format!("a dictionary of a column of type {kind:?}"))),
        }
    }

    fn gather<T: ByteArrayType<Offset = i32>>(&self, keys: &[u32], most: usize) -> Result<ArrayRef> {
        let unused = |key: u32| Error::corrupt(format!("the key {key} is not in the dictionary"));
        let entry =
            |key: u32| usize::try_from(key).ok().and_then(|key| self.values.get(key)).ok_or_else(|| unused(key));
        let mut offsets = Vec::with_capacity(keys.len() + 1);
        offsets.push(0);
        let mut end = 0u64;
        let mut has_nulls = false;
        for &key in keys {
            let entry = entry(key)?;
            has_nulls |= entry.is_null();
            end += u64::from(entry.length);
            // What is too large is found when all are known.
            offsets.push(i32::try_from(end).unwrap_or(i32::MAX));
        }
        let total = usize::try_from(end).ok().filter(|&total| total <= most && i32::try_from(total).is_ok());
        let total = total.ok_or_else(|| Error::limit(format!("{end} bytes of texts in a page")))?;
        let mut data = vec![0u8; total + PADDING];
        let mut place = data.as_mut_slice();
        for &key in keys {
            let entry = entry(key)?;
            let (start, length) = entry.place().ok_or_else(|| unused(key))?;
            let value = self.data.get(start..).unwrap_or_default();
            copy(place, value, length)?;
            place = place.get_mut(length..).unwrap_or_default();
        }
        data.truncate(total);
        let nulls = has_nulls.then(|| {
            nulls_where(keys.len(), |row| keys.get(row).is_some_and(|&key| entry(key).is_ok_and(Entry::is_null)))
        });
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        #[expect(
            unsafe_code,
            reason = "values were checked when the dictionary was read; to do it again takes longer than all else"
        )]
        // SAFETY: offsets begin at 0, never go back, and end with the data; each value is one of the dictionary, which
        // are UTF-8 where the column is text; there are as many nulls as keys.
        Ok(Arc::new(unsafe { GenericByteArray::<T>::new_unchecked(offsets, Buffer::from_vec(data), nulls.flatten()) }))
    }
}
