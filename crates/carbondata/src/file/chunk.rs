//! The chunk of a column in a blocklet: its pages, as they are stored.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use orcish::{Error, Result};

use super::{Place, old, v3};
use crate::metadata::format::{DataChunk2, LocalDictionary as StoredDictionary};
use crate::metadata::schema::{Column, Kind};
use crate::page::Dictionaries;
use crate::page::local::LocalDictionary;

/// A chunk whose head has been read.
pub(crate) struct Chunk {
    pub(crate) pages: Vec<StoredPage>,
    pub(crate) dictionary: Option<StoredDictionary>,
    /// The dictionary, once a page needed it.
    pub(crate) decoded: OnceLock<Arc<LocalDictionary>>,
}

/// A page as it is stored; of version 1 it is described as in version 2.
pub(crate) struct StoredPage {
    pub(crate) head: DataChunk2,
    /// Values, compressed.
    pub(crate) data: Bytes,
    pub(crate) row_ids: Bytes,
    pub(crate) rle: Bytes,
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
    pub(crate) most: usize,
}

impl Chunk {
    pub(crate) fn new(pages: Vec<StoredPage>, dictionary: Option<StoredDictionary>) -> Self {
        Chunk { pages, dictionary, decoded: OnceLock::new() }
    }

    /// Its own dictionary, if it has one.
    pub(crate) fn dictionary(&self, kind: Kind, most: usize) -> Result<Option<&LocalDictionary>> {
        let Some(stored) = &self.dictionary else { return Ok(None) };
        if let Some(decoded) = self.decoded.get() {
            return Ok(Some(decoded));
        }
        let compressor = self.pages.first().and_then(|page| page.head.compression.compressor.as_deref());
        let decoded = LocalDictionary::read(stored, compressor, kind, most)?;
        Ok(Some(self.decoded.get_or_init(|| Arc::new(decoded))))
    }
}

/// Reads the head of a chunk, and finds its pages.
pub(crate) fn read(place: &Place, bytes: &[Bytes], version: u8) -> Result<Chunk> {
    match (place, bytes, version) {
        (Place::Whole { head, .. }, [bytes], 3) => v3::chunk(bytes, *head),
        (Place::Whole { head, .. }, [bytes], _) => old::chunk_2(bytes, *head),
        (Place::Parts(chunk), bytes, _) => old::chunk_1(chunk, bytes),
        _ => Err(Error::corrupt("a chunk in more than one piece")),
    }
}

/// The bytes of a range that lies in one of `joined`, whose bytes are `parts`.
pub(crate) fn slice(joined: &[Range<u64>], parts: &[Bytes], range: &Range<u64>) -> Result<Bytes> {
    if range.is_empty() {
        return Ok(Bytes::new());
    }
    let at = joined.partition_point(|whole| whole.end <= range.start);
    let found = joined.get(at).zip(parts.get(at)).and_then(|(whole, bytes)| {
        let start = usize::try_from(range.start.checked_sub(whole.start)?).ok()?;
        let end = usize::try_from(range.end.checked_sub(whole.start)?).ok()?;
        (start <= end && end <= bytes.len()).then(|| bytes.slice(start..end))
    });
    found.ok_or_else(|| Error::new(orcish::ErrorKind::Io, "the source gave fewer bytes than were asked for"))
}
