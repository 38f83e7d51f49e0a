//! Base 128 varints (ORCv1, Base 128 Varint): seven bits per byte, the lowest bits first. The high bit is set in all bytes
//! but the last. Signed integers are zigzag encoded.

use orcish_core::error::{Error, Result};

use crate::source::{ByteSource, values_end};

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

/// Takes the varint at the front of `bytes`.
///
/// # Errors
/// `Corrupt` where `bytes` ends within the varint, or the varint has more than 64 bits.
#[inline]
pub fn read_u64(bytes: &mut &[u8]) -> Result<u64> {
    let (mut rest, mut value) = (*bytes, 0);
    for i in 0..MAX_LEN_64 {
        let Some((&byte, tail)) = rest.split_first() else { return Err(ends_within_varint()) };
        rest = tail;
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte < 0x80 {
            if i == MAX_LEN_64 - 1 && byte > 1 {
                break;
            }
            *bytes = rest;
            return Ok(value);
        }
    }
    Err(too_long(64))
}

/// Takes the varint of up to 128 bits at the front of `bytes`.
///
/// # Errors
/// `Corrupt` where `bytes` ends within the varint, or the varint has more than 128 bits.
#[inline]
pub fn read_u128(bytes: &mut &[u8]) -> Result<u128> {
    let (mut rest, mut value) = (*bytes, 0);
    for i in 0..MAX_LEN_128 {
        let Some((&byte, tail)) = rest.split_first() else { return Err(ends_within_varint()) };
        rest = tail;
        value |= u128::from(byte & 0x7f) << (7 * i);
        if byte < 0x80 {
            if i == MAX_LEN_128 - 1 && byte > 3 {
                break;
            }
            *bytes = rest;
            return Ok(value);
        }
    }
    Err(too_long(128))
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
            return Err(values_end());
        }
        let (skipped, taken) = skip_within(bytes, remaining);
        remaining -= skipped;
        source.consume(taken);
    }
    Ok(())
}

/// Skips up to `n` varints of any length at the front of `bytes`, and returns their number and their number of bytes. If
/// `bytes` has fewer varints, that is all bytes.
pub(super) fn skip_within(bytes: &[u8], n: usize) -> (usize, usize) {
    let (words, tail) = bytes.as_chunks::<8>();
    let (mut words, mut remaining) = (words.iter(), n);
    // At most eight varints end in a word of eight bytes.
    while remaining > 8
        && let Some(word) = words.next()
    {
        remaining -= (!u64::from_le_bytes(*word) & 0x8080_8080_8080_8080).count_ones() as usize;
    }
    let mut rest = words.as_slice().as_flattened().iter().chain(tail);
    let mut unread = 8 * words.len() + tail.len();
    while remaining > 0
        && let Some(&byte) = rest.next()
    {
        remaining -= usize::from(byte < 0x80);
        unread -= 1;
    }
    (n - remaining, bytes.len() - unread)
}

#[cold]
pub(super) fn ends_within_varint() -> Error {
    Error::corrupt("the stream ends within a varint")
}

/// The error for a varint that does not fit into `bits` bits.
#[cold]
pub(super) fn too_long(bits: u32) -> Error {
    Error::corrupt(format!("a varint is longer than {bits} bits"))
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
            let mut rest = bytes;
            assert_eq!((read_u64(&mut rest).unwrap(), rest), (value, &[][..]));
            let mut rest = bytes;
            assert_eq!((read_u128(&mut rest).unwrap(), rest), (value.into(), &[][..]));
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
        assert!(read_u64(&mut &[][..]).is_err());
        assert!(read_u64(&mut &[0x80][..]).is_err());
        assert!(read_u64(&mut &[0xff; 11][..]).is_err());
        assert!(read_u64(&mut &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2][..]).is_err());
        let largest = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        assert_eq!(read_u64(&mut &largest[..]).unwrap(), u64::MAX);
        assert!(read_u128(&mut &[0x80; 19][..]).is_err());
    }
}
