//! Internals of the crate for fuzz targets. The feature `fuzzing` is not a part of the API.

use bytes::Bytes;
use orcish_core::error::Result;

use crate::Compression;
use crate::codec::Stream;
use crate::codec::{Framing, decompress_all};
use crate::source::ByteSource as _;

/// A stream with the `stored` chunks, each of at most `chunk_size` decompressed bytes.
pub fn stream(stored: Bytes, codec: Compression, chunk_size: usize) -> Stream {
    Stream::new(stored, Framing { codec, chunk_size })
}

/// Decompresses a whole section, up to `limit` bytes.
///
/// # Errors
/// The errors of decompression, and `LimitExceeded`.
pub fn section(stored: Bytes, codec: Compression, chunk_size: usize, limit: u64) -> Result<Bytes> {
    decompress_all(stored, Framing { codec, chunk_size }, limit)
}

/// Reads a stream as decoders do, in steps of `step` bytes. Returns its first `max` bytes.
///
/// # Errors
/// The errors of the stream.
pub fn drain(stream: &mut Stream, step: usize, max: usize) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    while out.len() < max {
        let available = stream.fill(step)?;
        if available.is_empty() {
            break;
        }
        let n = available.len().min(step.max(1));
        out.extend_from_slice(available.get(..n).unwrap_or_default());
        stream.consume(n);
    }
    Ok(out)
}
