//! Open data files.

use std::ops::Range;
use std::sync::Arc;

use orcish_core::{Limits, Result};
use orcish_io::{FileVersion, ReadAt, read_with_limits};

use super::blocklet::BlockletData;
use super::chunk_location::ChunkLocation;
use super::metadata::FileMetadata;
use super::{chunk_reader, open};
use crate::metadata::format::MinMax;
use crate::metadata::schema::Column;
use crate::page::Dictionaries;

/// An open data file. Clones share its metadata.
#[derive(Clone)]
pub(crate) struct DataFile {
    pub(super) metadata: Arc<FileMetadata>,
    dictionaries: Option<Dictionaries>,
}

impl DataFile {
    /// Opens a data file and reads its metadata.
    ///
    /// # Errors
    /// `Io` where the source fails, `Corrupt` where it is not a data file, `LimitExceeded` for a large footer.
    pub(crate) fn open(source: Arc<dyn ReadAt>, limits: &Limits) -> Result<Self> {
        let name = source.name().to_owned();
        let metadata = open::open(source, limits).map_err(|error| error.in_file(&name))?;
        Ok(DataFile { metadata: Arc::new(metadata), dictionaries: None })
    }

    /// Sets the global dictionaries of the table, which files of 1.x need.
    pub(crate) fn with_dictionaries(self, dictionaries: Dictionaries) -> Self {
        DataFile { dictionaries: Some(dictionaries), ..self }
    }

    pub(crate) fn name(&self) -> &str {
        self.metadata.source.name()
    }

    /// The columns of the file, in the order of its schema.
    pub(crate) fn columns(&self) -> &[Column] {
        &self.metadata.columns
    }

    pub(crate) fn num_rows(&self) -> u64 {
        self.metadata.rows
    }

    /// The version of the source, where its file system states it.
    ///
    /// # Errors
    /// `Io` if a request fails.
    pub(crate) fn source_version(&self) -> Result<Option<FileVersion>> {
        self.metadata.source.version()
    }

    /// Version of the format: 1, 2 or 3.
    pub(crate) fn version(&self) -> u8 {
        self.metadata.version
    }

    /// The `extra_info` of the footer: name and version of the writer.
    pub(crate) fn written_by(&self) -> &[(String, String)] {
        &self.metadata.extra_info
    }

    pub(crate) fn num_blocklets(&self) -> usize {
        self.metadata.blocklets.len()
    }

    /// Checks that the file has a blocklet.
    ///
    /// # Errors
    /// `Corrupt` where it has not.
    pub(crate) fn check_blocklet(&self, at: usize) -> Result<()> {
        self.metadata.blocklet(at).map(drop)
    }

    pub(crate) fn num_blocklet_rows(&self, at: usize) -> Result<u64> {
        Ok(self.metadata.blocklet(at)?.rows)
    }

    /// Min/max index of the chunks of a blocklet, see [`DataFile::first_chunk`].
    pub(crate) fn min_max(&self, at: usize) -> Option<&MinMax> {
        self.metadata.blocklets.get(at)?.min_max.as_ref()
    }

    /// Index of the first chunk of a column among the chunks of a blocklet.
    pub(crate) fn first_chunk(&self, column: usize) -> usize {
        self.metadata.first_chunk(column)
    }

    /// Reads the chunks of some columns of a blocklet. Ranges that are close are read together.
    ///
    /// # Errors
    /// `Io` where the source fails, `Corrupt` for invalid chunks.
    pub(crate) fn read_blocklet(&self, at: usize, columns: &[usize]) -> Result<BlockletData> {
        self.read_chunks(at, columns, ChunkLocation::ranges)
            .map_err(|error| error.in_section("blocklet", at).in_file(self.name()))
    }

    /// Reads the chunk headers of some columns, which have the min/max indexes of pages. Pages are read as well where a
    /// second request would take longer; see [`BlockletData::read_pages`].
    ///
    /// # Errors
    /// As [`read_blocklet`](Self::read_blocklet).
    pub(crate) fn read_chunk_headers(&self, at: usize, columns: &[usize]) -> Result<BlockletData> {
        let headers = |location: &ChunkLocation| {
            location.header_ranges(self.metadata.version, self.metadata.source.coalesce_gap())
        };
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
            for (chunk, location) in self.metadata.chunk_locations(at, column)?.iter().enumerate() {
                chunks.push((self.first_chunk(column) + chunk, location, ranges_of(location)?));
            }
        }
        let ranges: Vec<Range<u64>> = chunks.iter().flat_map(|(_, _, ranges)| ranges.iter().cloned()).collect();
        let mut parts = read_with_limits(&*self.metadata.source, &ranges, &self.metadata.limits)?.into_iter();
        let mut data = BlockletData::try_new(self.metadata.clone(), self.dictionaries.clone(), at)?;
        for (chunk, location, ranges) in chunks {
            let bytes: Vec<bytes::Bytes> = parts.by_ref().take(ranges.len()).collect();
            data.set_chunk(chunk, chunk_reader::read(location, &bytes, self.metadata.version, &self.metadata.limits)?);
        }
        data.resolve_page_rows()?;
        Ok(data)
    }
}
