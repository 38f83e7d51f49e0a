//! Column chunks and pages, as stored.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use orcish_core::{Error, Result};

use crate::metadata::format::{DataChunk2, LocalDictionary as StoredDictionary};
use crate::metadata::schema::{CarbonType, Column};
use crate::page::{Dictionaries, LocalDictionary};

/// A column chunk whose header was read.
pub(crate) struct ColumnChunk {
    pub(crate) pages: Vec<EncodedPage>,
    /// Range of each page in the file. Empty where pages are not read one by one.
    pub(crate) page_ranges: Vec<Range<u64>>,
    pub(crate) dictionary: Option<StoredDictionary>,
    /// The decoded dictionary, set when a page first needs it.
    pub(crate) decoded_dictionary: OnceLock<Arc<LocalDictionary>>,
}

/// An encoded page. The header of a page of version 1 is converted to that of version 2.
pub(crate) struct EncodedPage {
    pub(crate) header: DataChunk2,
    /// `None` until the page is read.
    pub(crate) bytes: Option<PageData>,
}

/// The bytes of a page.
pub(crate) struct PageData {
    /// Compressed values.
    pub(crate) data: Bytes,
    pub(crate) row_ids: Bytes,
    pub(crate) rle: Bytes,
}

impl PageData {
    /// Cuts the parts of a page, which follow each other.
    ///
    /// # Errors
    /// `Corrupt` where the parts are longer than the bytes.
    pub(crate) fn split(header: &DataChunk2, bytes: &Bytes) -> Result<Self> {
        let mut at = 0usize;
        let mut part = |length: i32| {
            let end = usize::try_from(length).ok().and_then(|length| at.checked_add(length));
            let end = end.filter(|&end| end <= bytes.len());
            let end = end.ok_or_else(|| Error::corrupt(format!("{length} bytes of a page are not in its chunk")))?;
            Ok::<Bytes, Error>(bytes.slice(std::mem::replace(&mut at, end)..end))
        };
        Ok(PageData {
            data: part(header.data_length)?,
            row_ids: part(header.row_ids_length)?,
            rle: part(header.rle_length)?,
        })
    }
}

/// The context of decoding a page.
pub(crate) struct PageContext<'a> {
    pub(crate) column: &'a Column,
    /// `None` in child columns.
    pub(crate) rows: Option<usize>,
    pub(crate) key_width: usize,
    pub(crate) dictionary: Option<&'a LocalDictionary>,
    pub(crate) dictionaries: Option<&'a Dictionaries>,
    /// Maximum size of the decoded page.
    pub(crate) max_bytes: usize,
}

impl ColumnChunk {
    /// A chunk with one page, as in versions 1 and 2.
    pub(crate) fn of(page: EncodedPage) -> Self {
        ColumnChunk {
            pages: vec![page],
            page_ranges: Vec::new(),
            dictionary: None,
            decoded_dictionary: OnceLock::new(),
        }
    }

    /// The local dictionary of the chunk, if it has one.
    pub(crate) fn dictionary(&self, carbon_type: CarbonType, max_bytes: usize) -> Result<Option<&LocalDictionary>> {
        let Some(encoded) = &self.dictionary else { return Ok(None) };
        if let Some(decoded) = self.decoded_dictionary.get() {
            return Ok(Some(decoded));
        }
        let compressor = self.pages.first().and_then(|page| page.header.compression.compressor.as_deref());
        let decoded = LocalDictionary::read(encoded, compressor, carbon_type, max_bytes)?;
        Ok(Some(self.decoded_dictionary.get_or_init(|| Arc::new(decoded))))
    }
}
