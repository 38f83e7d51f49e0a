//! What fuzz targets need of the inside of the crate; behind the feature `fuzzing`, and no part of the API.

use bytes::Bytes;
use orcish_core::error::Result;

use crate::Compression;
use crate::codec::Stream;
use crate::codec::{Framing, decompress_all};
use crate::source::ByteSource as _;

/// A stream of `stored` bytes in chunks of `codec`, each of at most `chunk_size` bytes when decompressed.
pub fn stream(stored: Bytes, codec: Compression, chunk_size: usize) -> Stream {
    Stream::new(stored, Framing { codec, chunk_size })
}

/// Decompresses a whole section.
///
/// # Errors
/// Those of the section.
pub fn section(stored: Bytes, codec: Compression, chunk_size: usize, limit: u64) -> Result<Bytes> {
    decompress_all(stored, Framing { codec, chunk_size }, limit)
}

/// Takes a stream apart as decoders do, by looks of `wanted` bytes; returns what it holds, up to `most` bytes.
///
/// # Errors
/// Those of the stream.
pub fn drain(stream: &mut Stream, wanted: usize, most: usize) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    while out.len() < most {
        let there = stream.fill(wanted)?;
        if there.is_empty() {
            break;
        }
        let n = there.len().min(wanted.max(1));
        out.extend_from_slice(there.get(..n).unwrap_or_default());
        stream.consume(n);
    }
    Ok(out)
}
