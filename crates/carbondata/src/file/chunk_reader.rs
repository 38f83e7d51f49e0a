//! Reads column chunks of any version.

use bytes::Bytes;
use orcish_core::{Error, Limits, Result};

use super::chunk::ColumnChunk;
use super::chunk_location::ChunkLocation;
use super::{v1_v2, v3};

/// Reads the header of a chunk, and its pages where `bytes` include them.
pub(crate) fn read(place: &ChunkLocation, bytes: &[Bytes], version: u8, limits: &Limits) -> Result<ColumnChunk> {
    match (place, bytes, version) {
        (ChunkLocation::Contiguous { bytes: place, header }, [bytes], 3) => v3::chunk(bytes, place, *header, limits),
        (ChunkLocation::Contiguous { header, .. }, [bytes], _) => v1_v2::chunk_2(bytes, *header, limits),
        (ChunkLocation::Separate(chunk), bytes, _) => v1_v2::chunk_1(chunk, bytes),
        _ => Err(Error::corrupt("a chunk in more than one piece")),
    }
}
