//! Compression codecs, and the framing of compression chunks (ORCv1, Compression).
//!
//! A stream is split into chunks, which are compressed independently. Each codec but LZO is behind a feature of the crate.

#![cfg_attr(
    not(all(feature = "brotli", feature = "lz4", feature = "snap", feature = "zlib", feature = "zstd")),
    allow(dead_code, unused_variables, reason = "some items are for codecs whose feature is off")
)]

mod chunk;
mod compress;
mod lzo;
mod sparse;

use std::cell::RefCell;

use orcish_core::error::{Error, Result};
use orcish_core::words;

use crate::proto::orc;
#[cfg(feature = "zlib")]
use crate::warnings::warn;

pub use chunk::{Framing, Stream};
pub(crate) use chunk::{append_chunk, decompress_all};
pub(crate) use compress::Compressor;
pub(crate) use sparse::SparseStream;

words! {
    /// Compression codec of a file, as in its postscript. The names are those of the specification, in lower case.
    pub enum Compression {
        /// No compression. Streams have no chunks.
        None = "none" | "uncompressed",
        /// Raw deflate, without zlib header and checksum.
        Zlib = "zlib",
        /// Snappy blocks, not the framing format.
        Snappy = "snappy",
        /// LZO1X blocks.
        Lzo = "lzo",
        /// LZ4 blocks, not the frame format.
        Lz4 = "lz4",
        /// Zstandard frames.
        Zstd = "zstd",
        /// Brotli streams.
        Brotli = "brotli",
    }
}

impl Compression {
    pub(crate) fn to_proto(self) -> orc::CompressionKind {
        match self {
            Compression::None => orc::CompressionKind::None,
            Compression::Zlib => orc::CompressionKind::Zlib,
            Compression::Snappy => orc::CompressionKind::Snappy,
            Compression::Lzo => orc::CompressionKind::Lzo,
            Compression::Lz4 => orc::CompressionKind::Lz4,
            Compression::Zstd => orc::CompressionKind::Zstd,
            Compression::Brotli => orc::CompressionKind::Brotli,
        }
    }

    pub(crate) fn from_proto(kind: Option<i32>) -> Result<Self> {
        match orc::CompressionKind::try_from(kind.unwrap_or(0)) {
            Ok(orc::CompressionKind::None) => Ok(Compression::None),
            Ok(orc::CompressionKind::Zlib) => Ok(Compression::Zlib),
            Ok(orc::CompressionKind::Snappy) => Ok(Compression::Snappy),
            Ok(orc::CompressionKind::Lzo) => Ok(Compression::Lzo),
            Ok(orc::CompressionKind::Lz4) => Ok(Compression::Lz4),
            Ok(orc::CompressionKind::Zstd) => Ok(Compression::Zstd),
            Ok(orc::CompressionKind::Brotli) => Ok(Compression::Brotli),
            Err(_) => Err(Error::unsupported(format!("unknown compression kind {}", kind.unwrap_or(0)))),
        }
    }
}

/// The error of a codec whose feature is off.
#[cfg(not(all(feature = "brotli", feature = "lz4", feature = "snap", feature = "zlib", feature = "zstd")))]
fn missing_feature(codec: Compression) -> Error {
    let feature = if codec == Compression::Snappy { "snap" } else { codec.name() };
    Error::unsupported(format!("{}: this build of orcish is without the feature `{feature}`", codec.name()))
}

/// Decompression contexts of a thread. They are expensive to create, and have no state between chunks.
#[derive(Default)]
struct Contexts {
    #[cfg(feature = "zlib")]
    deflate: Option<libdeflater::Decompressor>,
    #[cfg(feature = "snap")]
    snappy: snap::raw::Decoder,
    #[cfg(feature = "zstd")]
    zstd: Option<zstd::bulk::Decompressor<'static>>,
}

thread_local! {
    static CONTEXTS: RefCell<Contexts> = RefCell::default();
}

/// Decompresses a zlib chunk without a final block: it is empty, or ends behind a block that is not marked as final. Returns
/// `None` where the chunk ends within a block.
#[cfg(feature = "zlib")]
fn inflate_without_final_block(
    context: &mut libdeflater::Decompressor,
    input: &[u8],
    output: &mut [u8],
) -> Option<usize> {
    // Two empty final blocks that begin with different bits. The results differ if the input ends within a block.
    const FINAL_BLOCKS: [&[u8]; 2] = [&[3, 0], &[0, 0, 0, 0xff, 0xff, 3, 0]];
    let [first, second] = FINAL_BLOCKS.map(|block| [input, block].concat());
    let length = context.deflate_decompress(&first, output).ok()?;
    let mut second_output = vec![0; length + 1];
    let second_length = context.deflate_decompress(&second, &mut second_output).ok()?;
    if second_output.get(..second_length)? != output.get(..length)? {
        return None;
    }
    warn(if input.is_empty() { "a zlib chunk has no bytes" } else { "a zlib chunk has no final block" });
    Some(length)
}

/// The number of bytes that a chunk decompresses to, if the codec states it.
fn decompressed_length(codec: Compression, input: &[u8]) -> Option<usize> {
    match codec {
        #[cfg(feature = "snap")]
        Compression::Snappy => snap::raw::decompress_len(input).ok(),
        // A chunk can have several frames, and a frame states its own length only.
        #[cfg(feature = "zstd")]
        Compression::Zstd if zstd::zstd_safe::find_frame_compressed_size(input) == Ok(input.len()) => {
            let length = zstd::zstd_safe::get_frame_content_size(input).ok().flatten()?;
            usize::try_from(length).ok()
        }
        _ => None,
    }
}

/// Decompresses a chunk into the front of `output`, and returns its number of bytes.
///
/// # Errors
/// `Corrupt` where the chunk is malformed, or does not fit into `output`: the postscript states the maximum size.
fn decompress(codec: Compression, input: &[u8], output: &mut [u8]) -> Result<usize> {
    let (length, max) = (input.len(), output.len());
    let fault = |what: &dyn std::fmt::Display| {
        let name = codec.name();
        Error::corrupt(format!("a {name} chunk of {length} bytes does not decompress into {max} bytes: {what}"))
    };
    match codec {
        Compression::None => {
            let out = output.get_mut(..input.len()).ok_or_else(|| Error::corrupt("a chunk is larger than stated"))?;
            out.copy_from_slice(input);
            Ok(input.len())
        }
        Compression::Lzo => lzo::decompress(input, output),
        #[cfg(feature = "lz4")]
        Compression::Lz4 => {
            let result = lz4_flex::block::decompress_into(input, output);
            result.map_err(|error| fault(&error))
        }
        #[cfg(feature = "brotli")]
        Compression::Brotli => {
            let result = brotli_decompressor::brotli_decode(input, output);
            match result.result {
                brotli_decompressor::BrotliResult::ResultSuccess => Ok(result.decoded_size),
                _ => Err(fault(&"not a whole brotli stream")),
            }
        }
        #[cfg(feature = "zlib")]
        Compression::Zlib => CONTEXTS.with_borrow_mut(|contexts| {
            let context = contexts.deflate.get_or_insert_with(libdeflater::Decompressor::new);
            match context.deflate_decompress(input, output) {
                Ok(length) => Ok(length),
                Err(error) => inflate_without_final_block(context, input, output).ok_or_else(|| fault(&error)),
            }
        }),
        #[cfg(feature = "snap")]
        Compression::Snappy => CONTEXTS.with_borrow_mut(|contexts| {
            let result = contexts.snappy.decompress(input, output);
            result.map_err(|error| fault(&error))
        }),
        #[cfg(feature = "zstd")]
        Compression::Zstd => CONTEXTS.with_borrow_mut(|contexts| {
            let context = match &mut contexts.zstd {
                Some(context) => context,
                none => none.insert(zstd::bulk::Decompressor::new().map_err(|error| fault(&error))?),
            };
            let result = context.decompress_to_buffer(input, output);
            result.map_err(|error| fault(&error))
        }),
        #[cfg(not(all(feature = "brotli", feature = "lz4", feature = "snap", feature = "zlib", feature = "zstd")))]
        _ => Err(missing_feature(codec)),
    }
}
