//! Boolean run length encoding (ORCv1, Boolean Run Length Encoding): bytes of eight bits, the first
//! in the highest place, behind byte run length encoding.

use orcish_core::error::{Error, Result};

use super::byte_rle::ByteRle;
use crate::source::{ByteSource, Positions, SeekSource};

/// Decodes bits into bitmaps as Arrow has them: the first bit in the lowest place.
#[derive(Debug)]
pub struct BoolRle<S> {
    bytes: ByteRle<S>,
    /// Bits of the last byte that are not taken yet, the next one lowest; zero above `left`.
    rest: u8,
    left: u32,
}

impl<S: ByteSource> BoolRle<S> {
    /// A decoder at the start of `source`.
    pub fn new(source: S) -> Self {
        BoolRle { bytes: ByteRle::new(source), rest: 0, left: 0 }
    }

    /// The next `n` bits as a bitmap of whole bytes; bits beyond `n` are zero.
    pub fn read(&mut self, n: usize) -> Result<Vec<u8>> {
        let mut out = vec![0; n.div_ceil(8)];
        let fresh = n.saturating_sub(self.left as usize).div_ceil(8);
        let (head, spare) = out.split_at_mut(fresh);
        self.bytes.read(head)?;
        // The newest byte, with how many bits of it were not taken before, and what of it is carried on.
        let (mut newest, mut valid, mut carry) = (self.rest, self.left, self.rest);
        if fresh > 0 {
            valid = 8;
        }
        if self.left == 0 {
            head.iter_mut().for_each(|byte| *byte = byte.reverse_bits());
            newest = head.last().copied().unwrap_or_default();
        } else {
            for byte in head {
                newest = byte.reverse_bits();
                *byte = carry | (newest << self.left);
                carry = newest >> (8 - self.left);
            }
            spare.iter_mut().take(1).for_each(|byte| *byte = carry);
        }
        // What is beyond `n` are the highest bits of the newest byte.
        let over = u32::try_from(self.left as usize + 8 * fresh - n).unwrap_or_default();
        self.rest = newest.checked_shr(valid - over).unwrap_or_default();
        self.left = over;
        if !n.is_multiple_of(8)
            && let Some(byte) = out.last_mut()
        {
            *byte &= (1 << (n % 8)) - 1;
        }
        Ok(out)
    }
}

impl<S: ByteSource> BoolRle<S> {
    /// Passes over `n` bits.
    pub fn skip(&mut self, n: usize) -> Result<()> {
        let Some(beyond) = n.checked_sub(self.left as usize) else {
            // Fewer than the eight of a byte.
            let n = u32::try_from(n).unwrap_or_default();
            self.rest >>= n;
            self.left -= n;
            return Ok(());
        };
        self.bytes.skip(beyond / 8)?;
        (self.rest, self.left) = (0, 0);
        if beyond % 8 > 0 {
            self.read(beyond % 8)?;
        }
        Ok(())
    }
}

impl<S: SeekSource> BoolRle<S> {
    /// Goes to where a row group begins.
    pub fn seek(&mut self, positions: &mut Positions<'_>) -> Result<()> {
        self.bytes.seek(positions)?;
        (self.rest, self.left) = (0, 0);
        match positions.take()? {
            0 => Ok(()),
            bits @ 1..=8 => self.skip(usize::try_from(bits).unwrap_or_default()),
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

    /// A read may end in the byte that it began to take, with more bits left than were carried into it.
    #[test]
    fn reads_end_anywhere() {
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
        fn reads_what_was_encoded(
            runs in prop::collection::vec((any::<bool>(), 1..40usize), 0..30),
            cuts in prop::collection::vec(0..30usize, 0..40),
        ) {
            let values: Vec<bool> = runs.iter().flat_map(|&(bit, n)| std::iter::repeat_n(bit, n)).collect();
            let mut bytes = Vec::new();
            encode::bool_rle::encode(&values, &mut bytes);
            let mut decoder = BoolRle::new(&bytes[..]);
            let mut rest = &values[..];
            for cut in cuts.into_iter().chain([values.len()]) {
                let (now, later) = rest.split_at(cut.min(rest.len()));
                let bits = decoder.read(now.len()).unwrap();
                let got: Vec<bool> = (0..now.len()).map(|i| bits[i / 8] >> (i % 8) & 1 == 1).collect();
                prop_assert_eq!(&got[..], now);
                if now.len() % 8 != 0 {
                    prop_assert_eq!(bits[now.len() / 8] >> (now.len() % 8), 0);
                }
                rest = later;
            }
        }

        #[test]
        fn skips_any_number(values: Vec<bool>, steps in prop::collection::vec((0..20usize, 0..20usize), 0..20)) {
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
