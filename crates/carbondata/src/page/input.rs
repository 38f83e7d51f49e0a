//! Input of the page decoders.

use super::encoder_meta::EncoderMeta;
use super::global_dictionary::Dictionaries;
use super::local_dictionary::LocalDictionary;
use crate::metadata::format::Encoding;
use crate::metadata::schema::Column;

/// A decompressed page.
pub(crate) struct PageInput<'a> {
    pub(crate) column: &'a Column,
    /// Number of rows; `None` in child columns, whose number of values follows from the data.
    pub(crate) rows: Option<usize>,
    pub(crate) encoders: &'a [Encoding],
    pub(crate) meta: Option<&'a EncoderMeta>,
    /// The first encoder metadata as stored, which measures up to 1.1 have in another format.
    pub(crate) encoder_meta_bytes: &'a [u8],
    pub(crate) data: &'a [u8],
    /// The position of the stored value of each row, where values are sorted: see [`super::inverse`].
    pub(crate) inverted_index: Option<&'a [u32]>,
    /// Number of repetitions of each stored key.
    pub(crate) runs: Option<&'a [u32]>,
    /// Bitmap of nulls in row order, as `java.util.BitSet` writes it: trailing zero bytes are left out.
    pub(crate) nulls: &'a [u8],
    pub(crate) dictionary: Option<&'a LocalDictionary>,
    /// Bytes of a key of a global or direct dictionary.
    pub(crate) key_width: usize,
    pub(crate) dictionaries: Option<&'a Dictionaries>,
    /// Maximum size of an array, in bytes.
    pub(crate) max_bytes: usize,
}

#[cfg(test)]
impl<'a> PageInput<'a> {
    /// A page without nulls, inverted index and dictionaries, for tests.
    pub(crate) fn sample(column: &'a Column, rows: usize, encoders: &'a [Encoding], data: &'a [u8]) -> Self {
        PageInput {
            column,
            rows: Some(rows),
            encoders,
            meta: None,
            encoder_meta_bytes: &[],
            data,
            inverted_index: None,
            runs: None,
            nulls: &[],
            dictionary: None,
            key_width: 4,
            dictionaries: None,
            max_bytes: 1 << 20,
        }
    }
}
