//! Byte run length encoding (ORCv1, Byte Run Length Encoding).

use orcish_core::error::Result;

use crate::source::{ByteSource, Positions, SeekSource, stream_ends, values_end};

/// Minimum length of a run.
const MIN_RUN: usize = 3;
/// Maximum length of a run.
pub(crate) const MAX_RUN: usize = 127 + MIN_RUN;

/// Decodes bytes.
#[derive(Debug)]
pub struct ByteRle<S> {
    source: S,
    /// Number of values of the current run or literal list that are not read yet.
    remaining: usize,
    /// The value of the current run; `None` in a literal list.
    run_value: Option<u8>,
}

impl<S: ByteSource> ByteRle<S> {
    /// A decoder at the start of `source`.
    pub fn new(source: S) -> Self {
        ByteRle { source, remaining: 0, run_value: None }
    }

    /// Fills `out` with the next values.
    ///
    /// # Errors
    /// `Corrupt` where the stream ends before.
    pub fn read(&mut self, out: &mut [u8]) -> Result<()> {
        let mut out = out;
        while !out.is_empty() {
            if self.remaining == 0 {
                self.read_header()?;
            }
            let n = self.remaining.min(out.len());
            let (head, tail) = out.split_at_mut(n);
            match self.run_value {
                Some(byte) => head.fill(byte),
                None => self.source.read_exact(head)?,
            }
            self.remaining -= n;
            out = tail;
        }
        Ok(())
    }

    /// Skips `n` values.
    ///
    /// # Errors
    /// `Corrupt` where the stream ends before.
    pub fn skip(&mut self, n: usize) -> Result<()> {
        let mut to_skip = n;
        while to_skip > 0 {
            if self.remaining == 0 {
                self.read_header()?;
            }
            let n = self.remaining.min(to_skip);
            if self.run_value.is_none() {
                self.source.skip(n)?;
            }
            self.remaining -= n;
            to_skip -= n;
        }
        Ok(())
    }

    /// Skips the rest of a run or literal list, and returns its number of values; 0 at the end of the stream.
    ///
    /// # Errors
    /// `Corrupt` where the stream ends within it.
    pub fn skip_run(&mut self) -> Result<usize> {
        if self.remaining == 0 {
            if self.source.fill(1)?.is_empty() {
                return Ok(0);
            }
            self.read_header()?;
        }
        let count = self.remaining;
        self.skip(count)?;
        Ok(count)
    }

    /// Reads the header of a run or literal list, and the value of a run.
    fn read_header(&mut self) -> Result<()> {
        let bytes = self.source.fill(2)?;
        let (&header, rest) = bytes.split_first().ok_or_else(values_end)?;
        let second = rest.first().copied();
        let no_second = || self.source.fault().unwrap_or_else(|| stream_ends(1));
        if header >= 0x80 {
            // The header of a literal list is the negative number of literals.
            self.remaining = 0x100 - usize::from(header);
            self.run_value = None;
            self.source.consume(1);
        } else {
            self.remaining = usize::from(header) + MIN_RUN;
            self.run_value = Some(second.ok_or_else(no_second)?);
            self.source.consume(2);
        }
        Ok(())
    }
}

impl<S: SeekSource> ByteRle<S> {
    /// Seeks to the start of a row group (ORCv1, Row Group Index).
    ///
    /// # Errors
    /// `Corrupt` where the positions are not in the stream, or positions are missing.
    pub fn seek(&mut self, positions: &mut Positions<'_>) -> Result<()> {
        self.source.seek(positions)?;
        self.remaining = 0;
        self.skip(positions.take_count()?)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::encoding::encode;

    #[test]
    fn examples_of_the_specification() {
        let mut out = [1; 100];
        ByteRle::new(&[0x61, 0x00][..]).read(&mut out).unwrap();
        assert_eq!(out, [0; 100]);
        let mut out = [0; 2];
        ByteRle::new(&[0xfe, 0x44, 0x45][..]).read(&mut out).unwrap();
        assert_eq!(out, [0x44, 0x45]);
    }

    #[test]
    fn truncated_streams_are_errors() {
        for bytes in [&[][..], &[0x61], &[0xfe, 0x44]] {
            assert!(ByteRle::new(bytes).read(&mut [0; 2]).is_err());
        }
    }

    proptest! {
        #[test]
        fn decodes_encoded_values(values: Vec<u8>, runs in prop::collection::vec((any::<u8>(), 1..300usize), 0..8), cut: prop::sample::Index) {
            let mut values = values;
            values.extend(runs.iter().flat_map(|&(byte, n)| std::iter::repeat_n(byte, n)));
            let mut bytes = Vec::new();
            encode::byte_rle::encode(&values, &mut bytes);
            let mut out = vec![0; values.len()];
            let mut decoder = ByteRle::new(&bytes[..]);
            let (a, b) = out.split_at_mut(cut.index(values.len() + 1));
            decoder.read(a).unwrap();
            decoder.read(b).unwrap();
            prop_assert_eq!(&out, &values);
            prop_assert!(decoder.read(&mut [0]).is_err());

            let mut decoder = ByteRle::new(&bytes[..]);
            let at = cut.index(values.len() + 1);
            decoder.skip(at).unwrap();
            let rest = &mut out[at..];
            decoder.read(rest).unwrap();
            prop_assert_eq!(rest, &values[at..]);
            prop_assert!(decoder.skip(1).is_err());
        }
    }
}
