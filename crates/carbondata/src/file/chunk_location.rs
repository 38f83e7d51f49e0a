//! Where column chunks are in a file.

use std::ops::Range;

use orcish_core::{Error, Result};

use crate::metadata::format::DataChunk;

/// Where a chunk is.
pub(crate) enum ChunkLocation {
    /// In one piece that begins with a struct, whose length the footer says.
    Contiguous { bytes: Range<u64>, header: usize },
    /// In up to three, which the footer describes.
    Separate(Box<DataChunk>),
}

impl ChunkLocation {
    /// The bytes of its head, or all where pages cannot be read by themselves, or take no more than `gap`.
    pub(super) fn header_ranges(&self, version: u8, gap: u64) -> Result<Vec<Range<u64>>> {
        match self {
            ChunkLocation::Contiguous { bytes, header } if version == 3 => {
                let end = bytes.start.saturating_add(u64::try_from(*header).unwrap_or(u64::MAX)).min(bytes.end);
                let read = if bytes.end - end <= gap { bytes.clone() } else { bytes.start..end };
                Ok(vec![read])
            }
            _ => self.ranges(),
        }
    }

    /// The ranges of bytes it has.
    pub(super) fn ranges(&self) -> Result<Vec<Range<u64>>> {
        match self {
            ChunkLocation::Contiguous { bytes, .. } => Ok(vec![bytes.clone()]),
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
