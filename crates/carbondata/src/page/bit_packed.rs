//! Bit-packed inverted indexes and runs, in files of versions 1 and 2.

use orcish_core::{Error, Result};

use super::inverted_index;
use crate::bytes::ByteReader;

/// Bit width for the default blocklet size of 120,000 rows. Files do not record the width.
const DEFAULT_BITS: u32 = 17;
/// Bit widths for the configurable blocklet sizes, 2,000 to 12,000,000 rows.
const POSSIBLE_BITS: std::ops::RangeInclusive<u32> = 11..=24;

/// The result of `read` for the first bit width that it accepts.
fn try_bit_widths<T>(what: &str, read: impl Fn(u32) -> Option<T>) -> Result<T> {
    let mut all = std::iter::once(DEFAULT_BITS).chain(POSSIBLE_BITS.filter(|&bits| bits != DEFAULT_BITS));
    all.find_map(read).ok_or_else(|| Error::corrupt(format!("{what} fit to no number of bits")))
}

/// Unpacks the digits of one big integer, the last of which is in the lowest bits.
fn unpack(bytes: &[u8], bits: u32) -> Vec<u32> {
    let count = (bytes.len() * 8).checked_div(bits as usize).unwrap_or(0);
    let mask = (1u64 << bits) - 1;
    let (mut word, mut num_bits) = (0u64, 0u32);
    let mut all = Vec::with_capacity(count);
    for &byte in bytes.iter().rev() {
        word |= u64::from(byte) << num_bits;
        num_bits += 8;
        while num_bits >= bits && all.len() < count {
            all.push(u32::try_from(word & mask).unwrap_or(u32::MAX));
            word >>= bits;
            num_bits -= bits;
        }
    }
    all.reverse();
    all
}

/// The position of the stored value of each row, see [`inverted_index::inverse`].
///
/// # Errors
/// `Corrupt` where the row ids are not a permutation of the rows.
pub(crate) fn bit_packed_row_ids(bytes: &[u8], rows: usize) -> Result<Vec<u32>> {
    let mut bytes = ByteReader::new(bytes);
    let length = bytes.length()?;
    let ids = bytes.take(length)?;
    let runs = bytes.rest();
    try_bit_widths("row ids", |bits| inverted_index::inverse(&unpack(ids, bits), &unpack(runs, bits), rows).ok())
}

/// The length of each run.
///
/// # Errors
/// `Corrupt` where the runs do not have `rows` values.
pub(crate) fn bit_packed_runs(bytes: &[u8], rows: usize) -> Result<Vec<u32>> {
    try_bit_widths("runs", |bits| {
        let all = unpack(bytes, bits);
        let (pairs, rest) = all.as_chunks();
        let mut at = 0u32;
        let mut counts = Vec::with_capacity(pairs.len());
        for &[start, count] in pairs {
            // A run starts where the previous run ends.
            if start != at {
                return None;
            }
            at = at.checked_add(count)?;
            counts.push(count);
        }
        (rest.is_empty() && usize::try_from(at).ok()? == rows).then_some(counts)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pack(values: &[u32], bits: usize) -> Vec<u8> {
        let mut digits: Vec<bool> = Vec::new();
        for value in values {
            digits.extend((0..bits).rev().map(|bit| value >> bit & 1 == 1));
        }
        while !digits.len().is_multiple_of(8) {
            digits.insert(0, false);
        }
        digits.chunks(8).map(|byte| byte.iter().fold(0, |sum, &bit| sum << 1 | u8::from(bit))).collect()
    }

    fn stored_ids(ids: &[u32], runs: &[u32], bits: usize) -> Vec<u8> {
        let ids = pack(ids, bits);
        let length = i32::try_from(ids.len()).unwrap().to_be_bytes();
        [&length[..], &ids, &pack(runs, bits)].concat()
    }

    #[test]
    fn row_ids_with_and_without_runs() {
        for bits in [17, 11, 20] {
            let stored = stored_ids(&[3, 6, 0, 2, 1, 7, 9], &[0, 5], bits);
            assert_eq!(bit_packed_row_ids(&stored, 10).unwrap(), [4, 6, 5, 0, 1, 2, 3, 7, 8, 9]);
            assert!(bit_packed_row_ids(&stored, 9).is_err());
            assert_eq!(bit_packed_row_ids(&stored_ids(&[1, 0, 2], &[], bits), 3).unwrap(), [1, 0, 2]);
        }
        assert!(bit_packed_row_ids(&stored_ids(&[0, 0], &[], 17), 2).is_err());
        assert!(bit_packed_row_ids(&stored_ids(&[0, 0x1ffff], &[0], 17), 2).is_err());
        assert!(bit_packed_row_ids(&[0, 0, 0, 9, 1], 2).is_err());
    }

    #[test]
    fn run_lengths() {
        for bits in [17, 13] {
            assert_eq!(bit_packed_runs(&pack(&[0, 500, 500, 1, 501, 299], bits), 800).unwrap(), [500, 1, 299]);
        }
        assert!(bit_packed_runs(&pack(&[0, 500, 400, 1], 17), 501).is_err());
        assert!(bit_packed_runs(&[], 1).is_err());
    }
}
