//! The input of the decoders of pages.

use super::encoder_meta::PageMeta;
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
    pub(crate) meta: Option<&'a PageMeta>,
    /// The meta as it is stored, which measures up to 1.1 have in other forms.
    pub(crate) raw_meta: &'a [u8],
    pub(crate) data: &'a [u8],
    /// Which stored value each row has, where they are in another order: see [`order::inverse`].
    pub(crate) order: Option<&'a [u32]>,
    /// How often each stored key is repeated.
    pub(crate) runs: Option<&'a [u32]>,
    /// A bit for each null, as `java.util.BitSet` has them: by rows, those behind the last one left out.
    pub(crate) nulls: &'a [u8],
    pub(crate) dictionary: Option<&'a LocalDictionary>,
    /// Bytes of a key of a global or direct dictionary.
    pub(crate) key_width: usize,
    pub(crate) dictionaries: Option<&'a Dictionaries>,
    /// Most bytes that an array may have.
    pub(crate) most: usize,
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
            raw_meta: &[],
            data,
            order: None,
            runs: None,
            nulls: &[],
            dictionary: None,
            key_width: 4,
            dictionaries: None,
            most: 1 << 20,
        }
    }
}
