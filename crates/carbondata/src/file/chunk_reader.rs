//! Reads column chunks of any version.

use bytes::Bytes;
use orcish_core::{Error, Limits, Result};

use super::chunk::Chunk;
use super::chunk_location::Place;
use super::{v1_v2, v3};

/// Reads the head of a chunk, and what is there of its pages.
pub(crate) fn read(place: &Place, bytes: &[Bytes], version: u8, limits: &Limits) -> Result<Chunk> {
    match (place, bytes, version) {
        (Place::Whole { bytes: place, head }, [bytes], 3) => v3::chunk(bytes, place, *head, limits),
        (Place::Whole { head, .. }, [bytes], _) => v1_v2::chunk_2(bytes, *head, limits),
        (Place::Parts(chunk), bytes, _) => v1_v2::chunk_1(chunk, bytes),
        _ => Err(Error::corrupt("a chunk in more than one piece")),
    }
}
