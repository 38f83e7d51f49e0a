//! Compressors of pages.

use std::io::Read as _;

use orcish_core::{Error, Result};

/// A compressor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Compressor {
    /// Raw Snappy block.
    #[default]
    Snappy,
    /// Zstandard frame.
    Zstd,
    /// Gzip members.
    Gzip,
}

impl Compressor {
    /// The compressor with a name. No name is Snappy, which is the only compressor before 1.5.
    ///
    /// # Errors
    /// `Unsupported` for other names, which belong to user-defined compressors.
    pub(crate) fn named(name: Option<&str>) -> Result<Self> {
        match name.map(str::to_ascii_lowercase).as_deref() {
            None | Some("" | "snappy") => Ok(Compressor::Snappy),
            Some("zstd") => Ok(Compressor::Zstd),
            Some("gzip") => Ok(Compressor::Gzip),
            Some(other) => Err(Error::unsupported(format!("the compressor {other:?} is not known"))),
        }
    }

    /// Decompresses `bytes` into at most `max_bytes` bytes.
    ///
    /// # Errors
    /// `Corrupt` for bytes that are not valid compressed data, `LimitExceeded` for more than `max_bytes`.
    pub(crate) fn decompress(self, bytes: &[u8], max_bytes: usize) -> Result<Vec<u8>> {
        let corrupt = |error: &dyn std::fmt::Display| Error::corrupt(format!("no {self:?} data: {error}"));
        match self {
            Compressor::Snappy => {
                let length = snap::raw::decompress_len(bytes).map_err(|error| corrupt(&error))?;
                check_length(length, max_bytes)?;
                // Two bytes of Snappy expand to at most 64, so a longer length is corrupt.
                if length / 64 > bytes.len() {
                    return Err(Error::corrupt(format!("{} bytes of snappy cannot become {length}", bytes.len())));
                }
                snap::raw::Decoder::new().decompress_vec(bytes).map_err(|error| corrupt(&error))
            }
            Compressor::Zstd => {
                let decoder = zstd::stream::read::Decoder::with_buffer(bytes).map_err(|error| corrupt(&error))?;
                // The frame may have the size. It is used as a capacity, up to the limit.
                let known = zstd::zstd_safe::get_frame_content_size(bytes).ok().flatten().unwrap_or(0);
                let known =
                    usize::try_from(known).unwrap_or(usize::MAX).min(max_bytes).min(bytes.len().saturating_mul(64));
                read_limited(decoder, known, max_bytes, &corrupt)
            }
            Compressor::Gzip => {
                let known = bytes.len().saturating_mul(4).min(max_bytes);
                read_limited(flate2::bufread::MultiGzDecoder::new(bytes), known, max_bytes, &corrupt)
            }
        }
    }
}

fn check_length(length: usize, max_bytes: usize) -> Result<()> {
    if length > max_bytes {
        return Err(Error::limit(format!("{length} bytes after decompression, of {max_bytes} that are allowed")));
    }
    Ok(())
}

fn read_limited(
    reader: impl std::io::Read,
    known: usize,
    max_bytes: usize,
    corrupt: &dyn Fn(&dyn std::fmt::Display) -> Error,
) -> Result<Vec<u8>> {
    let mut decompressed = Vec::with_capacity(known);
    let one_more = u64::try_from(max_bytes).unwrap_or(u64::MAX).saturating_add(1);
    reader.take(one_more).read_to_end(&mut decompressed).map_err(|error| corrupt(&error))?;
    check_length(decompressed.len(), max_bytes)?;
    Ok(decompressed)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn round_trips_and_limits() {
        let text = b"carbon ".repeat(1000);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&text).unwrap();
        let packed = [
            (Compressor::Snappy, snap::raw::Encoder::new().compress_vec(&text).unwrap()),
            (Compressor::Zstd, zstd::bulk::compress(&text, 1).unwrap()),
            (Compressor::Gzip, gzip.finish().unwrap()),
        ];
        for (compressor, bytes) in packed {
            assert_eq!(compressor.decompress(&bytes, text.len()).unwrap(), text);
            let error = compressor.decompress(&bytes, text.len() - 1).unwrap_err();
            assert_eq!(error.kind(), orcish_core::ErrorKind::LimitExceeded);
            let error = compressor.decompress(bytes.get(..bytes.len() / 2).unwrap(), text.len()).unwrap_err();
            assert_eq!(error.kind(), orcish_core::ErrorKind::Corrupt);
        }
        assert!(Compressor::named(Some("com.example.Lz77")).is_err());
    }
}
