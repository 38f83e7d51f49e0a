//! The input of the decoders of pages.

use super::encoder_meta::EncoderMeta;
use super::global_dictionary::Dictionaries;
use super::local_dictionary::LocalDictionary;
use crate::metadata::format::Encoding;
use crate::metadata::schema::Column;

/// A page, decompressed.
pub(crate) struct PageInput<'a> {
    pub(crate) column: &'a Column,
    /// None within other columns: as many as the data has.
    pub(crate) rows: Option<usize>,
    pub(crate) encoders: &'a [Encoding],
    pub(crate) meta: Option<&'a EncoderMeta>,
    /// The meta as it is stored, which measures up to 1.1 have in other forms.
    pub(crate) encoder_meta_bytes: &'a [u8],
    pub(crate) data: &'a [u8],
    /// Which stored value each row has, where they are in another order: see [`inverted_index::inverse`].
    pub(crate) inverted_index: Option<&'a [u32]>,
    /// How often each stored key is repeated.
    pub(crate) runs: Option<&'a [u32]>,
    /// A bit for each null, as `java.util.BitSet` has them: by rows, those behind the last one left out.
    pub(crate) nulls: &'a [u8],
    pub(crate) dictionary: Option<&'a LocalDictionary>,
    /// Bytes of a key of a global or direct dictionary.
    pub(crate) key_width: usize,
    pub(crate) dictionaries: Option<&'a Dictionaries>,
    /// Most bytes that an array may have.
    pub(crate) max_bytes: usize,
}

#[cfg(test)]
impl<'a> PageInput<'a> {
    /// A page of values in the order of their rows, for tests: without nulls and dictionaries.
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
