//! Compression of chunks.

use orcish_core::error::{Error, Result};

use super::Compression;

/// Level of zlib where none is given: it makes files smaller than those of ORC Java, and twice as fast as higher ones.
const ZLIB_LEVEL: i32 = 1;
/// Level of Zstandard where none is given: chunks of 256 KiB come out no larger than at level 3, which Java takes.
const ZSTD_LEVEL: i32 = 2;
/// Shortest match of Zstandard in text at its default level: in 256 KiB of ids, any five characters are found again,
/// which takes twice the time and saves nothing. Numbers are better off with what Zstandard takes by itself.
const ZSTD_TEXT_MATCH: u32 = 6;
/// Quality of Brotli where none is given: higher ones take many times longer.
const BROTLI_LEVEL: i32 = 5;
/// Logarithm of Brotli's window: no chunk is larger than 2²³ bytes.
const BROTLI_WINDOW: i32 = 22;

/// Compresses chunks, one after the other, with one codec at one level.
pub(crate) struct Compressor {
    state: State,
    /// Where a chunk is compressed before it is known to become smaller.
    room: Vec<u8>,
}

enum State {
    Plain,
    Zlib(libdeflater::Compressor),
    Snappy(Box<snap::raw::Encoder>),
    Lz4,
    Zstd(zstd::bulk::Compressor<'static>),
    Brotli(i32),
}

impl std::fmt::Debug for Compressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compressor").finish_non_exhaustive()
    }
}

impl Compressor {
    /// Of a codec at a level: 1 to 12 of zlib, −7 to 22 of Zstandard, 0 to 11 of Brotli; others have none.
    ///
    /// # Errors
    /// `InvalidArgument` for a level that the codec does not have, `Unsupported` for LZO, which is read only.
    pub(crate) fn new(codec: Compression, level: Option<i32>) -> Result<Self> {
        let within = |least: i32, most: i32, default: i32| match level {
            Some(level) if level < least || level > most => Err(Error::invalid(format!(
                "compression level {level} of {}: it has levels from {least} to {most}",
                codec.name()
            ))),
            level => Ok(level.unwrap_or(default)),
        };
        if level.is_some() && matches!(codec, Compression::None | Compression::Snappy | Compression::Lz4) {
            return Err(Error::invalid(format!("{} has no compression levels", codec.name())));
        }
        let state = match codec {
            Compression::None => State::Plain,
            Compression::Zlib => {
                let level = libdeflater::CompressionLvl::new(within(1, 12, ZLIB_LEVEL)?);
                let level = level.map_err(|_| Error::invalid("no such compression level of zlib"))?;
                State::Zlib(libdeflater::Compressor::new(level))
            }
            Compression::Snappy => State::Snappy(Box::new(snap::raw::Encoder::new())),
            Compression::Lz4 => State::Lz4,
            Compression::Zstd => {
                let made = zstd::bulk::Compressor::new(within(-7, 22, ZSTD_LEVEL)?);
                State::Zstd(made.map_err(|error| Error::io("zstd cannot be set up", error))?)
            }
            Compression::Brotli => State::Brotli(within(0, 11, BROTLI_LEVEL)?),
            Compression::Lzo => return Err(Error::unsupported("lzo is read, and not written")),
        };
        Ok(Compressor { state, room: Vec::new() })
    }

    /// The same, for text.
    ///
    /// # Errors
    /// As of [`Compressor::new`].
    pub(crate) fn of_text(codec: Compression, level: Option<i32>) -> Result<Self> {
        let mut made = Self::new(codec, level)?;
        if let (State::Zstd(state), None) = (&mut made.state, level) {
            let set = state.set_parameter(zstd::zstd_safe::CParameter::MinMatch(ZSTD_TEXT_MATCH));
            set.map_err(|error| Error::io("zstd cannot be set up", error))?;
        }
        Ok(made)
    }

    /// The bytes of a chunk, compressed; none where that makes it no smaller.
    ///
    /// # Errors
    /// Of kind `Io` when the codec fails, which it should not.
    pub(crate) fn compress(&mut self, chunk: &[u8]) -> Result<Option<&[u8]>> {
        let room = &mut self.room;
        let length = match &mut self.state {
            State::Plain => return Ok(None),
            State::Zlib(state) => {
                room.resize(state.deflate_compress_bound(chunk.len()), 0);
                state.deflate_compress(chunk, room).map_err(|error| fault("zlib", &error))?
            }
            State::Snappy(state) => {
                room.resize(snap::raw::max_compress_len(chunk.len()), 0);
                state.compress(chunk, room).map_err(|error| fault("snappy", &error))?
            }
            State::Lz4 => {
                room.resize(lz4_flex::block::get_maximum_output_size(chunk.len()), 0);
                lz4_flex::block::compress_into(chunk, room).map_err(|error| fault("lz4", &error))?
            }
            State::Zstd(state) => {
                room.resize(zstd::zstd_safe::compress_bound(chunk.len()), 0);
                state.compress_to_buffer(chunk, room).map_err(|error| fault("zstd", &error))?
            }
            State::Brotli(quality) => {
                room.clear();
                let options = brotli::enc::BrotliEncoderParams {
                    quality: *quality,
                    lgwin: BROTLI_WINDOW,
                    size_hint: chunk.len(),
                    ..brotli::enc::BrotliEncoderParams::default()
                };
                let mut input = chunk;
                brotli::BrotliCompress(&mut input, room, &options).map_err(|error| fault("brotli", &error))?
            }
        };
        Ok(room.get(..length).filter(|_| length < chunk.len()))
    }
}

fn fault(codec: &str, error: &dyn std::fmt::Display) -> Error {
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
    fn levels_are_those_of_the_codec() {
        for (codec, least, most) in
            [(Compression::Zlib, 1, 12), (Compression::Zstd, -7, 22), (Compression::Brotli, 0, 11)]
        {
            for level in [least, most] {
                let mut made = Compressor::new(codec, Some(level)).unwrap();
                let length = made.compress(&[7; 1000]).unwrap().unwrap().len();
                assert!(length < 100, "{codec:?} {level}: {length}");
            }
            for level in [least - 1, most + 1, i32::MIN, i32::MAX] {
                let error = Compressor::new(codec, Some(level)).unwrap_err();
                assert_eq!(error.kind(), orcish_core::ErrorKind::InvalidArgument);
                assert!(error.message().contains(codec.name()), "{error}");
            }
        }
        for codec in [Compression::None, Compression::Snappy, Compression::Lz4] {
            assert!(Compressor::new(codec, Some(1)).is_err());
        }
        assert_eq!(Compressor::new(Compression::Lzo, None).unwrap_err().kind(), orcish_core::ErrorKind::Unsupported);
    }

    proptest! {
        /// What becomes no smaller is not compressed, and what is comes back.
        #[test]
        fn chunks_come_back(chunks in prop::collection::vec(prop::collection::vec(0u8..9, 0..3000), 1..4)) {
            for codec in CODECS {
                let mut compressor = Compressor::new(codec, None).unwrap();
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
