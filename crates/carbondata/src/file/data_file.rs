//! An open data file.

use std::ops::Range;
use std::sync::Arc;

use orcish_core::{Limits, Result};
use orcish_io::{ReadAt, read_with_limits};

use super::blocklet::BlockletData;
use super::chunk_location::ChunkLocation;
use super::metadata::FileMetadata;
use super::{chunk_reader, open};
use crate::metadata::format::MinMax;
use crate::metadata::schema::Column;
use crate::page::Dictionaries;

/// A data file that is open; clones share what is known of it.
#[derive(Clone)]
pub(crate) struct DataFile {
    pub(super) metadata: Arc<FileMetadata>,
    dictionaries: Option<Dictionaries>,
}

impl DataFile {
    /// Reads what the file says of itself.
    ///
    /// # Errors
    /// `Io` where the source fails, `Corrupt` for what is no data file, `LimitExceeded` for large footers.
    pub(crate) fn open(source: Arc<dyn ReadAt>, limits: &Limits) -> Result<Self> {
        let name = source.name().to_owned();
        let metadata = open::open(source, limits).map_err(|error| error.in_file(&name))?;
        Ok(DataFile { metadata: Arc::new(metadata), dictionaries: None })
    }

    /// With the dictionaries of the table, which files of 1.x need.
    pub(crate) fn with_dictionaries(self, dictionaries: Dictionaries) -> Self {
        DataFile { dictionaries: Some(dictionaries), ..self }
    }

    pub(crate) fn name(&self) -> &str {
        self.metadata.source.name()
    }

    /// The file's own columns, in the order of its list.
    pub(crate) fn columns(&self) -> &[Column] {
        &self.metadata.columns
    }

    pub(crate) fn rows(&self) -> u64 {
        self.metadata.rows
    }

    /// The version of the format: 1, 2 or 3.
    pub(crate) fn version(&self) -> u8 {
        self.metadata.version
    }

    /// What the writer said of itself.
    pub(crate) fn written_by(&self) -> &[(String, String)] {
        &self.metadata.extra_info
    }

    pub(crate) fn blocklets(&self) -> usize {
        self.metadata.blocklets.len()
    }

    pub(crate) fn blocklet_rows(&self, at: usize) -> u64 {
        self.metadata.blocklets.get(at).map_or(0, |blocklet| blocklet.rows)
    }

    /// Bounds of all chunks of a blocklet, see [`DataFile::first_chunk`].
    pub(crate) fn min_max(&self, at: usize) -> Option<&MinMax> {
        self.metadata.blocklets.get(at)?.min_max.as_ref()
    }

    /// Where the first chunk of a column is among those of a blocklet: those of dimensions come first, each before
    /// those of the columns within it, then those of measures.
    pub(crate) fn first_chunk(&self, column: usize) -> usize {
        self.metadata.first_chunk(column)
    }

    /// Reads the chunks of some columns of a blocklet, by as few requests as the source wants.
    ///
    /// # Errors
    /// `Io` where the source fails, `Corrupt` where chunks are not where they should be.
    pub(crate) fn read_blocklet(&self, at: usize, columns: &[usize]) -> Result<BlockletData> {
        self.read_chunks(at, columns, ChunkLocation::ranges)
            .map_err(|error| error.in_section("blocklet", at).in_file(self.name()))
    }

    /// Reads the heads of the chunks of some columns, which have the bounds of pages, and the pages only where they are
    /// so few bytes that to ask for them again would take longer; see [`BlockletData::read_pages`].
    ///
    /// # Errors
    /// As [`read_blocklet`](Self::read_blocklet).
    pub(crate) fn read_chunk_headers(&self, at: usize, columns: &[usize]) -> Result<BlockletData> {
        let headers =
            |place: &ChunkLocation| place.header_ranges(self.metadata.version, self.metadata.source.coalesce_gap());
        self.read_chunks(at, columns, headers).map_err(|error| error.in_section("blocklet", at).in_file(self.name()))
    }

    fn read_chunks(
        &self,
        at: usize,
        columns: &[usize],
        ranges_of: impl Fn(&ChunkLocation) -> Result<Vec<Range<u64>>>,
    ) -> Result<BlockletData> {
        let mut chunks = Vec::new();
        for &column in columns {
            for (chunk, place) in self.metadata.places(at, column)?.iter().enumerate() {
                chunks.push((self.first_chunk(column) + chunk, place, ranges_of(place)?));
            }
        }
        let ranges: Vec<Range<u64>> = chunks.iter().flat_map(|(_, _, ranges)| ranges.iter().cloned()).collect();
        let mut parts = read_with_limits(&*self.metadata.source, &ranges, &self.metadata.limits)?.into_iter();
        let mut data = BlockletData::new(self.metadata.clone(), self.dictionaries.clone(), at);
        for (chunk, place, ranges) in chunks {
            let bytes: Vec<bytes::Bytes> = parts.by_ref().take(ranges.len()).collect();
            data.set_chunk(chunk, chunk_reader::read(place, &bytes, self.metadata.version, &self.metadata.limits)?);
        }
        data.resolve_page_rows()?;
        Ok(data)
    }
}
