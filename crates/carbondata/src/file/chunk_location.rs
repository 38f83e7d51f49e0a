//! Locations of column chunks.

use std::ops::Range;

use orcish_core::{Error, Result};

use crate::metadata::format::DataChunk;

/// Location of a column chunk.
pub(crate) enum ChunkLocation {
    /// The header of the chunk is followed by its pages.
    Contiguous { range: Range<u64>, header_length: usize },
    /// The parts of the only page have their own ranges, in version 1.
    Separate(Box<DataChunk>),
}

impl ChunkLocation {
    /// Ranges to read for the header. The pages are included where they cannot be read one by one, or take at most
    /// `gap` bytes.
    pub(super) fn header_ranges(&self, version: u8, gap: u64) -> Result<Vec<Range<u64>>> {
        match self {
            ChunkLocation::Contiguous { range, header_length } if version == 3 => {
                let end = range.start.saturating_add(u64::try_from(*header_length).unwrap_or(u64::MAX)).min(range.end);
                let read = if range.end - end <= gap { range.clone() } else { range.start..end };
                Ok(vec![read])
            }
            _ => self.ranges(),
        }
    }

    /// Whether the chunk starts at `offset`, with a header of `length` bytes.
    pub(super) fn is_at(&self, offset: i64, length: i32) -> bool {
        match self {
            ChunkLocation::Contiguous { range, header_length } => {
                u64::try_from(offset) == Ok(range.start) && usize::try_from(length) == Ok(*header_length)
            }
            // Index files have no chunks of version 1.
            ChunkLocation::Separate(_) => false,
        }
    }

    /// Ranges of the chunk.
    pub(super) fn ranges(&self) -> Result<Vec<Range<u64>>> {
        match self {
            ChunkLocation::Contiguous { range, .. } => Ok(vec![range.clone()]),
            ChunkLocation::Separate(chunk) => [chunk.data, chunk.row_ids, chunk.rle]
                .into_iter()
                .map(|(start, length)| {
                    let range = u64::try_from(start).ok().zip(u64::try_from(length).ok());
                    let range = range.and_then(|(start, length)| Some(start..start.checked_add(length)?));
                    range.ok_or_else(|| Error::corrupt(format!("{length} bytes at {start}")))
                })
                .collect(),
        }
    }
}
