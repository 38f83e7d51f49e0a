//! Boolean run length encoding (ORCv1, Boolean Run Length Encoding): bytes of eight values in byte run length encoding.
//! The first value of a byte is the highest bit.

use orcish_core::error::{Error, Result};

use super::byte_rle::ByteRle;
use crate::source::{ByteSource, Positions, SeekSource};

/// Decodes booleans into bitmaps in Arrow's order: the first value of a byte is the lowest bit.
#[derive(Debug)]
pub struct BoolRle<S> {
    bytes: ByteRle<S>,
    /// Values of the last byte that are not read yet, in Arrow's order. Bits above `buffered_len` are zero.
    buffered: u8,
    /// Number of buffered values.
    buffered_len: usize,
}

impl<S: ByteSource> BoolRle<S> {
    /// A decoder at the start of `source`.
    pub fn new(source: S) -> Self {
        BoolRle { bytes: ByteRle::new(source), buffered: 0, buffered_len: 0 }
    }

    /// The next `n` values as a bitmap of whole bytes. Bits behind the last value are zero.
    ///
    /// # Errors
    /// `Corrupt` where the stream ends before.
    pub fn read(&mut self, n: usize) -> Result<Vec<u8>> {
        let mut out = vec![0; n.div_ceil(8)];
        let new_bytes = n.saturating_sub(self.buffered_len).div_ceil(8);
        let (head, tail) = out.split_at_mut(new_bytes);
        self.bytes.read(head)?;
        // The last byte that was decoded, the number of its values that were not read before, and the values that move
        // into the next byte of the bitmap.
        let (mut last, mut last_len, mut carry) = (self.buffered, self.buffered_len, self.buffered);
        if new_bytes > 0 {
            last_len = 8;
        }
        if self.buffered_len == 0 {
            head.iter_mut().for_each(|byte| *byte = byte.reverse_bits());
            if let Some(&byte) = head.last() {
                last = byte;
            }
        } else {
            for byte in head {
                last = byte.reverse_bits();
                *byte = carry | (last << self.buffered_len);
                carry = last >> (8 - self.buffered_len);
            }
            tail.iter_mut().take(1).for_each(|byte| *byte = carry);
        }
        // The values behind the `n` values are the highest bits of the last byte.
        let unread = self.buffered_len + 8 * new_bytes - n;
        self.buffered = if unread == 0 { 0 } else { last >> (last_len - unread) };
        self.buffered_len = unread;
        if !n.is_multiple_of(8)
            && let Some(byte) = out.last_mut()
        {
            *byte &= (1 << (n % 8)) - 1;
        }
        Ok(out)
    }

    /// Skips `n` values.
    ///
    /// # Errors
    /// `Corrupt` where the stream ends before.
    pub fn skip(&mut self, n: usize) -> Result<()> {
        let Some(unbuffered) = n.checked_sub(self.buffered_len) else {
            // At most seven values: all are buffered.
            self.buffered >>= n;
            self.buffered_len -= n;
            return Ok(());
        };
        self.bytes.skip(unbuffered / 8)?;
        (self.buffered, self.buffered_len) = (0, 0);
        if unbuffered % 8 > 0 {
            self.read(unbuffered % 8)?;
        }
        Ok(())
    }
}

impl<S: SeekSource> BoolRle<S> {
    /// Seeks to the start of a row group (ORCv1, Row Group Index).
    ///
    /// # Errors
    /// `Corrupt` where the positions are not in the stream, or positions are missing.
    pub fn seek(&mut self, positions: &mut Positions<'_>) -> Result<()> {
        self.bytes.seek(positions)?;
        (self.buffered, self.buffered_len) = (0, 0);
        match positions.take_count()? {
            bits @ 0..=8 => self.skip(bits),
            bits => Err(Error::corrupt(format!("the row index states bit {bits} of a byte"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::encoding::encode;

    #[test]
    fn example_of_the_specification() {
        // One true and seven false, from bytes [0xff, 0x80].
        assert_eq!(BoolRle::new(&[0xff, 0x80][..]).read(8).unwrap(), [1]);
    }

    /// A read can begin and end in the same byte, and leave more values buffered than before.
    #[test]
    fn reads_end_at_any_bit() {
        for (first, second) in (0..20).flat_map(|first| (0..20).map(move |second| (first, second))) {
            let mut decoder = BoolRle::new(&[0x03, 0xff][..]);
            for n in [first, second, 48 - first - second] {
                let ones: u32 = decoder.read(n).unwrap().iter().map(|byte| byte.count_ones()).sum();
                assert_eq!(ones as usize, n, "after {first} and {second} bits");
            }
        }
    }

    proptest! {
        #[test]
        fn decodes_encoded_values(
            runs in prop::collection::vec((any::<bool>(), 1..40usize), 0..30),
            lens in prop::collection::vec(0..30usize, 0..40),
        ) {
            let values: Vec<bool> = runs.iter().flat_map(|&(bit, n)| std::iter::repeat_n(bit, n)).collect();
            let mut bytes = Vec::new();
            encode::bool_rle::encode(&values, &mut bytes);
            let mut decoder = BoolRle::new(&bytes[..]);
            let mut remaining = &values[..];
            for len in lens.into_iter().chain([values.len()]) {
                let (want, tail) = remaining.split_at(len.min(remaining.len()));
                let bits = decoder.read(want.len()).unwrap();
                let got: Vec<bool> = (0..want.len()).map(|i| bits[i / 8] >> (i % 8) & 1 == 1).collect();
                prop_assert_eq!(&got[..], want);
                if want.len() % 8 != 0 {
                    prop_assert_eq!(bits[want.len() / 8] >> (want.len() % 8), 0);
                }
                remaining = tail;
            }
        }

        #[test]
        fn skips_any_number_of_values(values: Vec<bool>, steps in prop::collection::vec((0..20usize, 0..20usize), 0..20)) {
            let mut bytes = Vec::new();
            encode::bool_rle::encode(&values, &mut bytes);
            let mut decoder = BoolRle::new(&bytes[..]);
            let mut at = 0;
            for (skipped, read) in steps {
                let skipped = skipped.min(values.len() - at);
                decoder.skip(skipped).unwrap();
                at += skipped;
                let read = read.min(values.len() - at);
                let bits = decoder.read(read).unwrap();
                let got: Vec<bool> = (0..read).map(|i| bits[i / 8] >> (i % 8) & 1 == 1).collect();
                prop_assert_eq!(&got[..], &values[at..at + read]);
                at += read;
            }
        }
    }
}
