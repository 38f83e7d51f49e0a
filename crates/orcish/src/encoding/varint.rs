//! Base 128 varints (ORCv1, Base 128 Varint): seven bits per byte, the lowest bits first. The high bit is set in all bytes
//! but the last. Signed integers are zigzag encoded.

use orcish_core::error::{Error, Result};

use crate::source::{ByteSource, stream_ends};

/// Maximum number of bytes of a varint of 64 bits.
pub const MAX_LEN_64: usize = 10;
/// Maximum number of bytes of a varint of 128 bits.
pub const MAX_LEN_128: usize = 19;

/// Decodes a zigzag encoded integer: 0, 1, 2, 3 … are 0, −1, 1, −2 ….
#[inline(always)]
pub fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

/// Decodes a zigzag encoded integer of 128 bits.
#[inline]
pub fn unzigzag_128(value: u128) -> i128 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

/// The varint at the front of `bytes`, and its length in bytes.
///
/// # Errors
/// `Corrupt` where `bytes` ends within the varint, or the varint has more than 64 bits.
#[inline]
pub fn read_u64(bytes: &[u8]) -> Result<(u64, usize)> {
    let mut value = 0;
    for (i, &byte) in bytes.iter().take(MAX_LEN_64).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte < 0x80 {
            if i == MAX_LEN_64 - 1 && byte > 1 {
                break;
            }
            return Ok((value, i + 1));
        }
    }
    Err(unterminated(bytes.len(), MAX_LEN_64, 64))
}

/// The varint of up to 128 bits at the front of `bytes`, and its length in bytes.
///
/// # Errors
/// `Corrupt` where `bytes` ends within the varint, or the varint has more than 128 bits.
#[inline]
pub fn read_u128(bytes: &[u8]) -> Result<(u128, usize)> {
    let mut value = 0;
    for (i, &byte) in bytes.iter().take(MAX_LEN_128).enumerate() {
        value |= u128::from(byte & 0x7f) << (7 * i);
        if byte < 0x80 {
            if i == MAX_LEN_128 - 1 && byte > 3 {
                break;
            }
            return Ok((value, i + 1));
        }
    }
    Err(unterminated(bytes.len(), MAX_LEN_128, 128))
}

/// Skips `n` varints of any length.
///
/// # Errors
/// `Corrupt` where the stream ends before.
pub fn skip<S: ByteSource>(source: &mut S, n: usize) -> Result<()> {
    let mut remaining = n;
    while remaining > 0 {
        let bytes = source.fill(1)?;
        if bytes.is_empty() {
            return Err(stream_ends(remaining));
        }
        // At most eight varints end in a word of eight bytes.
        let words = bytes.as_chunks::<8>().0;
        let (mut skipped_words, mut skipped) = (0, 0);
        while let Some(word) = words.get(skipped_words).filter(|_| remaining - skipped > 8) {
            skipped += (!u64::from_le_bytes(*word) & 0x8080_8080_8080_8080).count_ones() as usize;
            skipped_words += 1;
        }
        remaining -= skipped;
        let mut taken = 8 * skipped_words;
        for &byte in bytes.get(taken..).unwrap_or_default() {
            if remaining == 0 {
                break;
            }
            remaining -= usize::from(byte < 0x80);
            taken += 1;
        }
        source.consume(taken);
    }
    Ok(())
}

/// The error for a varint that does not end within `available` bytes; a varint of `bits` bits has at most `max_len` bytes.
#[cold]
fn unterminated(available: usize, max_len: usize, bits: u32) -> Error {
    if available < max_len {
        Error::corrupt("the stream ends within a varint")
    } else {
        Error::corrupt(format!("a varint is longer than {bits} bits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_of_the_specification() {
        let cases: [(&[u8], u64); 7] = [
            (&[0x00], 0),
            (&[0x01], 1),
            (&[0x7f], 127),
            (&[0x80, 0x01], 128),
            (&[0xff, 0x7f], 16_383),
            (&[0x80, 0x80, 0x01], 16_384),
            (&[0x81, 0x80, 0x01], 16_385),
        ];
        for (bytes, value) in cases {
            assert_eq!(read_u64(bytes).unwrap(), (value, bytes.len()));
            assert_eq!(read_u128(bytes).unwrap(), (u128::from(value), bytes.len()));
        }
        assert_eq!([0, 1, 2, 3, 4].map(unzigzag), [0, -1, 1, -2, 2]);
    }

    #[test]
    fn skips_values_of_all_lengths() {
        let mut bytes = Vec::new();
        let mut starts = Vec::new();
        for i in 0..200u32 {
            starts.push(bytes.len());
            crate::encoding::encode::varint::write_i128(1i128 << (i * 7 % 120), &mut bytes);
        }
        for (n, start) in starts.into_iter().enumerate() {
            let mut source = &bytes[..];
            skip(&mut source, n).unwrap();
            assert_eq!(source, &bytes[start..]);
        }
        assert!(skip(&mut &bytes[..], 201).is_err());
    }

    #[test]
    fn unterminated_varints_are_errors() {
        assert!(read_u64(&[]).is_err());
        assert!(read_u64(&[0x80]).is_err());
        assert!(read_u64(&[0xff; 11]).is_err());
        assert!(read_u64(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]).is_err());
        assert_eq!(read_u64(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]).unwrap().0, u64::MAX);
        assert!(read_u128(&[0x80; 19]).is_err());
    }
}
