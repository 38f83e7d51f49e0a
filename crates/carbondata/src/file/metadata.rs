//! Metadata of data files.

use std::ops::Range;
use std::sync::Arc;

use orcish_core::{Error, Limits, Result};
use orcish_io::ReadAt;

use super::chunk_location::ChunkLocation;
use crate::metadata::format::MinMax;
use crate::metadata::schema::Column;

/// The metadata of a data file, from its header and footer.
pub(crate) struct FileMetadata {
    pub(crate) source: Arc<dyn ReadAt>,
    pub(crate) limits: Limits,
    pub(crate) version: u8,
    /// Whether the writer is older than 1.5.1.
    pub(crate) has_unreliable_min_max: bool,
    pub(crate) columns: Vec<Column>,
    /// Index of the first chunk of each column among the chunks of a blocklet.
    pub(crate) first_chunks: Vec<usize>,
    pub(crate) rows: u64,
    pub(crate) extra_info: Vec<(String, String)>,
    /// Number of distinct values of each dimension, by chunk. Empty since 2.0.
    pub(crate) cardinalities: Vec<i32>,
    pub(crate) blocklets: Vec<BlockletMetadata>,
}

/// The metadata of a blocklet.
pub(crate) struct BlockletMetadata {
    pub(crate) rows: u64,
    pub(crate) min_max: Option<MinMax>,
    /// Number of rows of each page; empty where the footer does not record it.
    pub(crate) page_rows: Vec<usize>,
    pub(crate) chunks: Vec<ChunkLocation>,
}

impl FileMetadata {
    /// Name of the file, for errors.
    pub(super) fn name(&self) -> &str {
        self.source.name()
    }

    pub(super) fn blocklet(&self, at: usize) -> Result<&BlockletMetadata> {
        let missing = || {
            let text = format!("the index has a blocklet {at}, of {} in the file", self.blocklets.len());
            Error::corrupt(text).in_section("blocklet", at)
        };
        self.blocklets.get(at).ok_or_else(missing)
    }

    /// Locations of the chunks of a column and of its children.
    pub(super) fn chunk_locations(&self, blocklet: usize, column: usize) -> Result<&[ChunkLocation]> {
        let blocklet = self.blocklet(blocklet)?;
        let start = self.first_chunks.get(column).copied();
        let chunk_locations = start.zip(self.columns.get(column)).and_then(|(start, column)| {
            let end = start.checked_add(column.chunks())?;
            blocklet.chunks.get(start..end)
        });
        chunk_locations.ok_or_else(|| Error::corrupt(format!("a blocklet lacks chunks of column {column}")))
    }

    /// Ranges of the chunks of some columns and of their children.
    pub(super) fn ranges(&self, blocklet: usize, columns: &[usize]) -> Result<Vec<Range<u64>>> {
        let mut ranges = Vec::new();
        for &column in columns {
            for location in self.chunk_locations(blocklet, column)? {
                ranges.extend(location.ranges()?);
            }
        }
        Ok(ranges)
    }

    /// Index of the first chunk of a column among the chunks of a blocklet.
    ///
    /// Chunks of dimensions come first, then chunks of measures. The chunk of a column with children is followed by the
    /// chunks of its children.
    pub(super) fn first_chunk(&self, column: usize) -> usize {
        self.first_chunks.get(column).copied().unwrap_or(usize::MAX)
    }

    /// Bytes of the surrogate keys of a chunk, which follow from the number of distinct values.
    pub(super) fn key_width(&self, chunk: usize) -> usize {
        match self.cardinalities.get(chunk) {
            Some(&cardinality) if cardinality > 0 => {
                let bits = u32::BITS - cardinality.cast_unsigned().leading_zeros();
                usize::try_from(bits.div_ceil(8)).unwrap_or(4)
            }
            _ => 4,
        }
    }
}

/// Index of the first chunk of each column among the chunks of a blocklet.
pub(crate) fn first_chunks(columns: &[Column]) -> Vec<usize> {
    let mut first_chunks = vec![0; columns.len()];
    let mut next = 0;
    for is_dimension in [true, false] {
        for (column, start) in columns.iter().zip(&mut first_chunks) {
            if column.is_dimension == is_dimension {
                *start = next;
                next += column.chunks();
            }
        }
    }
    first_chunks
}
