//! Internals of the crate for fuzz targets, behind the feature `fuzzing`. They are not part of the API.

use bytes::Bytes;
use orcish_core::error::Result;

use crate::Compression;
use crate::codec::Stream;
use crate::codec::{Framing, decompress_all};
use crate::source::ByteSource as _;

/// A stream of stored bytes with a codec and a chunk size.
pub fn stream(stored_bytes: Bytes, codec: Compression, chunk_size: usize) -> Stream {
    Stream::new(stored_bytes, Framing { codec, chunk_size })
}

/// Decompresses a section.
///
/// # Errors
/// Errors of decompression.
pub fn section(stored_bytes: Bytes, codec: Compression, chunk_size: usize, limit: u64) -> Result<Bytes> {
    decompress_all(stored_bytes, Framing { codec, chunk_size }, limit)
}

/// Reads a stream as decoders do, `wanted` bytes at a time; returns its bytes, up to `max` bytes.
///
/// # Errors
/// Errors of decompression.
pub fn drain(stream: &mut Stream, wanted: usize, max: usize) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    while out.len() < max {
        let bytes = stream.fill(wanted)?;
        if bytes.is_empty() {
            break;
        }
        let n = bytes.len().min(wanted.max(1));
        out.extend_from_slice(bytes.split_at(n).0);
        stream.consume(n);
    }
    Ok(out)
}
