//! The chunk of a column in a blocklet: its pages, as they are stored.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use orcish_core::{Error, Result};

use crate::metadata::format::{DataChunk2, LocalDictionary as StoredDictionary};
use crate::metadata::schema::{CarbonType, Column};
use crate::page::{Dictionaries, LocalDictionary};

/// A chunk whose head has been read.
pub(crate) struct ColumnChunk {
    pub(crate) pages: Vec<EncodedPage>,
    /// Where in the file each page is, where pages can be read one by one.
    pub(crate) page_ranges: Vec<Range<u64>>,
    pub(crate) dictionary: Option<StoredDictionary>,
    /// The dictionary, once a page needed it.
    pub(crate) decoded: OnceLock<Arc<LocalDictionary>>,
}

/// A page as it is stored; of version 1 it is described as in version 2.
pub(crate) struct EncodedPage {
    pub(crate) header: DataChunk2,
    /// None until it is read.
    pub(crate) bytes: Option<PageData>,
}

/// The bytes of a page.
pub(crate) struct PageData {
    /// Values, compressed.
    pub(crate) data: Bytes,
    pub(crate) row_ids: Bytes,
    pub(crate) rle: Bytes,
}

impl PageData {
    /// The parts of a page, which are one after the other.
    ///
    /// # Errors
    /// `Corrupt` where they are longer than what is there.
    pub(crate) fn cut(header: &DataChunk2, bytes: &Bytes) -> Result<Self> {
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

/// What else a page needs to be decoded.
pub(crate) struct PageContext<'a> {
    pub(crate) column: &'a Column,
    /// None within other columns.
    pub(crate) rows: Option<usize>,
    pub(crate) key_width: usize,
    pub(crate) dictionary: Option<&'a LocalDictionary>,
    pub(crate) dictionaries: Option<&'a Dictionaries>,
    /// Most bytes that it may become.
    pub(crate) max_bytes: usize,
}

impl ColumnChunk {
    /// Of one page, as chunks of versions 1 and 2 are.
    pub(crate) fn of(page: EncodedPage) -> Self {
        ColumnChunk { pages: vec![page], page_ranges: Vec::new(), dictionary: None, decoded: OnceLock::new() }
    }

    /// Its own dictionary, if it has one.
    pub(crate) fn dictionary(&self, carbon_type: CarbonType, max_bytes: usize) -> Result<Option<&LocalDictionary>> {
        let Some(stored) = &self.dictionary else { return Ok(None) };
        if let Some(decoded) = self.decoded.get() {
            return Ok(Some(decoded));
        }
        let compressor = self.pages.first().and_then(|page| page.header.compression.compressor.as_deref());
        let decoded = LocalDictionary::read(stored, compressor, carbon_type, max_bytes)?;
        Ok(Some(self.decoded.get_or_init(|| Arc::new(decoded))))
    }
}
