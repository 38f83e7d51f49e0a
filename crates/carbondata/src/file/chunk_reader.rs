//! Reads column chunks of any version.

use bytes::Bytes;
use orcish_core::{Error, Limits, Result};

use super::chunk::ColumnChunk;
use super::chunk_location::ChunkLocation;
use super::{v1_v2, v3};

/// Reads the header of a chunk, and its pages where `bytes` include them.
pub(crate) fn read(location: &ChunkLocation, bytes: &[Bytes], version: u8, limits: &Limits) -> Result<ColumnChunk> {
    match (location, bytes, version) {
        (ChunkLocation::Contiguous { range, header_length }, [bytes], 3) => {
            v3::read_chunk(bytes, range, *header_length, limits)
        }
        (ChunkLocation::Contiguous { header_length, .. }, [bytes], _) => {
            v1_v2::read_chunk_v2(bytes, *header_length, limits)
        }
        (ChunkLocation::Separate(chunk), bytes, _) => v1_v2::read_chunk_v1(chunk, bytes),
        _ => Err(Error::corrupt("a chunk in more than one piece")),
    }
}
