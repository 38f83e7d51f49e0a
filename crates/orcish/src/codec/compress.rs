//! Compression of chunks.

use orcish_core::error::{Error, Result};

use super::Compression;

/// Default level of zlib. Files are smaller than files of ORC Java. Higher levels take at least twice the time.
const ZLIB_LEVEL: i32 = 1;
/// Default level of Zstandard. Chunks of 256 KiB are no larger than at level 3, the default of Java.
const ZSTD_LEVEL: i32 = 2;
/// Minimum match of Zstandard in text at the default level. 256 KiB of ids have a match for any five characters, which take
/// twice the time and save nothing. Numbers compress better with the default of Zstandard.
const ZSTD_TEXT_MIN_MATCH: u32 = 6;
/// Default quality of Brotli. Higher qualities take many times longer.
const BROTLI_LEVEL: i32 = 5;
/// Base 2 logarithm of Brotli's window. No chunk is larger than 2²³ bytes.
const BROTLI_WINDOW: i32 = 22;

/// Compresses chunks with a codec and a level.
pub(crate) struct Compressor {
    encoder: Encoder,
    /// Output of the codec, which is dropped if it is not smaller than the chunk.
    buffer: Vec<u8>,
}

/// The encoder of a codec, with its level.
enum Encoder {
    None,
    #[cfg(feature = "zlib")]
    Zlib(libdeflater::Compressor),
    #[cfg(feature = "snap")]
    Snappy(Box<snap::raw::Encoder>),
    #[cfg(feature = "lz4")]
    Lz4,
    #[cfg(feature = "zstd")]
    Zstd(zstd::bulk::Compressor<'static>),
    #[cfg(feature = "brotli")]
    Brotli(i32),
}

impl std::fmt::Debug for Compressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compressor").finish_non_exhaustive()
    }
}

impl Compressor {
    /// A compressor of a codec. The levels are 1 to 12 for zlib, −7 to 22 for Zstandard, and 0 to 11 for Brotli. Other codecs
    /// have no levels.
    ///
    /// # Errors
    /// `InvalidArgument` where the codec does not have the level, `Unsupported` for LZO, which cannot be written, and for
    /// codecs whose feature is off.
    pub(crate) fn try_new(codec: Compression, level: Option<i32>) -> Result<Self> {
        let level_in = |min: i32, max: i32, default: i32| match level {
            Some(level) if level < min || level > max => Err(Error::invalid(format!(
                "compression level {level} of {}: it has levels from {min} to {max}",
                codec.name()
            ))),
            level => Ok(level.unwrap_or(default)),
        };
        if level.is_some() && matches!(codec, Compression::None | Compression::Snappy | Compression::Lz4) {
            return Err(Error::invalid(format!("{} has no compression levels", codec.name())));
        }
        let encoder = match codec {
            Compression::None => Encoder::None,
            #[cfg(feature = "zlib")]
            Compression::Zlib => {
                let level = libdeflater::CompressionLvl::new(level_in(1, 12, ZLIB_LEVEL)?);
                let level = level.map_err(|_| Error::invalid("no such compression level of zlib"))?;
                Encoder::Zlib(libdeflater::Compressor::new(level))
            }
            #[cfg(feature = "snap")]
            Compression::Snappy => Encoder::Snappy(Box::new(snap::raw::Encoder::new())),
            #[cfg(feature = "lz4")]
            Compression::Lz4 => Encoder::Lz4,
            #[cfg(feature = "zstd")]
            Compression::Zstd => {
                let compressor = zstd::bulk::Compressor::new(level_in(-7, 22, ZSTD_LEVEL)?);
                Encoder::Zstd(compressor.map_err(|error| Error::io("zstd cannot be set up", error))?)
            }
            #[cfg(feature = "brotli")]
            Compression::Brotli => Encoder::Brotli(level_in(0, 11, BROTLI_LEVEL)?),
            Compression::Lzo => return Err(Error::unsupported("lzo is read, and not written")),
            #[cfg(not(all(
                feature = "brotli",
                feature = "lz4",
                feature = "snap",
                feature = "zlib",
                feature = "zstd"
            )))]
            _ => return Err(super::missing_feature(codec)),
        };
        Ok(Compressor { encoder, buffer: Vec::new() })
    }

    /// A compressor of a codec for text.
    ///
    /// # Errors
    /// As [`Compressor::try_new`].
    #[cfg_attr(not(feature = "zstd"), expect(unused_mut, reason = "text differs for zstd only"))]
    pub(crate) fn for_text(codec: Compression, level: Option<i32>) -> Result<Self> {
        let mut compressor = Self::try_new(codec, level)?;
        #[cfg(feature = "zstd")]
        if let (Encoder::Zstd(encoder), None) = (&mut compressor.encoder, level) {
            let result = encoder.set_parameter(zstd::zstd_safe::CParameter::MinMatch(ZSTD_TEXT_MIN_MATCH));
            result.map_err(|error| Error::io("zstd cannot be set up", error))?;
        }
        Ok(compressor)
    }

    /// The compressed bytes of a chunk; `None` where they are no fewer.
    ///
    /// # Errors
    /// `Io` where the codec fails, which is unexpected.
    pub(crate) fn compress(&mut self, chunk: &[u8]) -> Result<Option<&[u8]>> {
        let buffer = &mut self.buffer;
        let length = match &mut self.encoder {
            // No fewer bytes than the chunk has.
            Encoder::None => chunk.len(),
            #[cfg(feature = "zlib")]
            Encoder::Zlib(encoder) => {
                buffer.resize(encoder.deflate_compress_bound(chunk.len()), 0);
                encoder.deflate_compress(chunk, buffer).map_err(|error| codec_error("zlib", &error))?
            }
            #[cfg(feature = "snap")]
            Encoder::Snappy(encoder) => {
                buffer.resize(snap::raw::max_compress_len(chunk.len()), 0);
                encoder.compress(chunk, buffer).map_err(|error| codec_error("snappy", &error))?
            }
            #[cfg(feature = "lz4")]
            Encoder::Lz4 => {
                buffer.resize(lz4_flex::block::get_maximum_output_size(chunk.len()), 0);
                lz4_flex::block::compress_into(chunk, buffer).map_err(|error| codec_error("lz4", &error))?
            }
            #[cfg(feature = "zstd")]
            Encoder::Zstd(encoder) => {
                buffer.resize(zstd::zstd_safe::compress_bound(chunk.len()), 0);
                encoder.compress_to_buffer(chunk, buffer).map_err(|error| codec_error("zstd", &error))?
            }
            #[cfg(feature = "brotli")]
            Encoder::Brotli(quality) => {
                buffer.clear();
                let options = brotli::enc::BrotliEncoderParams {
                    quality: *quality,
                    lgwin: BROTLI_WINDOW,
                    size_hint: chunk.len(),
                    ..brotli::enc::BrotliEncoderParams::default()
                };
                let mut input = chunk;
                brotli::BrotliCompress(&mut input, buffer, &options).map_err(|error| codec_error("brotli", &error))?
            }
        };
        Ok(buffer.get(..length).filter(|_| length < chunk.len()))
    }
}

fn codec_error(codec: &str, error: &dyn std::fmt::Display) -> Error {
    Error::new(orcish_core::ErrorKind::Io, format!("{codec} does not compress: {error}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::codec::decompress;

    const CODECS: [Compression; 5] =
        [Compression::Zlib, Compression::Snappy, Compression::Lz4, Compression::Zstd, Compression::Brotli];

    #[test]
    fn levels_are_checked() {
        for (codec, min, max) in [(Compression::Zlib, 1, 12), (Compression::Zstd, -7, 22), (Compression::Brotli, 0, 11)]
        {
            for level in [min, max] {
                let mut compressor = Compressor::try_new(codec, Some(level)).unwrap();
                let length = compressor.compress(&[7; 1000]).unwrap().unwrap().len();
                assert!(length < 100, "{codec:?} {level}: {length}");
            }
            for level in [min - 1, max + 1, i32::MIN, i32::MAX] {
                let error = Compressor::try_new(codec, Some(level)).unwrap_err();
                assert_eq!(error.kind(), orcish_core::ErrorKind::InvalidArgument);
                assert!(error.message().contains(codec.name()), "{error}");
            }
        }
        for codec in [Compression::None, Compression::Snappy, Compression::Lz4] {
            assert!(Compressor::try_new(codec, Some(1)).is_err());
        }
        assert_eq!(
            Compressor::try_new(Compression::Lzo, None).unwrap_err().kind(),
            orcish_core::ErrorKind::Unsupported
        );
    }

    proptest! {
        /// A chunk that becomes no smaller is not compressed.
        #[test]
        fn chunks_round_trip(chunks in prop::collection::vec(prop::collection::vec(0u8..9, 0..3000), 1..4)) {
            for codec in CODECS {
                let mut compressor = Compressor::try_new(codec, None).unwrap();
                for chunk in &chunks {
                    if let Some(packed) = compressor.compress(chunk).unwrap() {
                        prop_assert!(packed.len() < chunk.len());
                        let mut out = vec![0; chunk.len()];
                        prop_assert_eq!(decompress(codec, packed, &mut out).unwrap(), chunk.len());
                        prop_assert_eq!(&out, chunk);
                    }
                }
            }
        }
    }
}
