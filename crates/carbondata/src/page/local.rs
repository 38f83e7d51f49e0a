//! The dictionary of a chunk, for all of its pages.

use arrow_array::ArrayRef;
use arrow_array::types::{BinaryType, ByteArrayType, Utf8Type};
use orcish::{Error, Result};

use super::meta::{PageMeta, Role};
use super::texts::{NULL_TEXT, Prefix, Texts, slices};
use super::{PageInput, packed};
use crate::compress::Compressor;
use crate::metadata::format::LocalDictionary as Stored;
use crate::metadata::schema::Kind;

/// Bytes of a key in pages.
pub(crate) const KEY_WIDTH: usize = 3;
/// Keys of three bytes.
const MOST_KEYS: usize = 1 << 24;
/// Behind the values, so that of each as many bytes can be copied.
const PADDING: usize = 16;

/// Values by their keys.
pub(crate) struct LocalDictionary {
    /// Values one after the other, with their lengths between them.
    data: Vec<u8>,
    values: Vec<Entry>,
}

/// Where the value of a key is.
#[derive(Clone, Copy)]
struct Entry {
    start: u32,
    length: u32,
}

impl Entry {
    const UNUSED: Entry = Entry { start: 0, length: u32::MAX };
    const NULL: Entry = Entry { start: 1, length: u32::MAX };
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
        let mut values = Vec::new();
        let mut texts = slices(&data, prefix, None)?.into_iter();
        let mut at = 0;
        for (byte, &bits) in keys.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let key = byte * 8 + usize::try_from(bits.trailing_zeros()).unwrap_or(0);
                bits &= bits - 1;
                let text = texts.next().ok_or_else(|| Error::corrupt("a dictionary has more keys than values"))?;
                if kind != Kind::Binary && std::str::from_utf8(text).is_err() {
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
        Ok(LocalDictionary { data, values })
    }

    /// The values of a page of keys.
    pub(super) fn decode(&self, input: &PageInput<'_>) -> Result<ArrayRef> {
        let keys = packed::keys_of(input, KEY_WIDTH)?;
        match input.column.kind {
            Kind::String | Kind::Varchar => self.gather::<Utf8Type>(&keys, input.most),
            Kind::Binary => self.gather::<BinaryType>(&keys, input.most),
            kind => Err(Error::unsupported(format!("a dictionary of a column of type {kind:?}"))),
        }
    }

    fn gather<T: ByteArrayType<Offset = i32>>(&self, keys: &[u32], most: usize) -> Result<ArrayRef> {
        let entry = |key: u32| usize::try_from(key).ok().and_then(|key| self.values.get(key).copied());
        let length = |entry: Entry| if entry.length == u32::MAX { 0 } else { u64::from(entry.length) };
        let total: u64 = keys.iter().map(|&key| entry(key).map_or(0, length)).sum();
        let bytes = usize::try_from(total).ok().filter(|&total| total <= most);
        let bytes = bytes.ok_or_else(|| Error::limit(format!("{total} bytes of texts, of {most} that are allowed")))?;
        let mut texts = Texts::new(keys.len(), bytes);
        for &key in keys {
            match entry(key) {
                Some(Entry { start: 1, length: u32::MAX }) => texts.push_null()?,
                Some(Entry { start, length }) if length != u32::MAX => {
                    let start = usize::try_from(start).unwrap_or(usize::MAX);
                    let length = usize::try_from(length).unwrap_or(usize::MAX);
                    texts.push(self.data.get(start..).unwrap_or_default(), length)?;
                }
                _ => return Err(Error::corrupt(format!("the key {key} is not in the dictionary"))),
            }
        }
        texts.array::<T>()
    }
}
