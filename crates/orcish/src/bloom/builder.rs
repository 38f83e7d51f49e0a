//! Makes bloom filters (ORCv1, Bloom Filter Index). Only tests do, until files are written.

use super::{Key, hash};
use crate::proto::orc;

/// A filter that values are added to.
#[derive(Debug, Clone)]
pub(super) struct BloomBuilder {
    functions: u32,
    words: Vec<u64>,
}

impl BloomBuilder {
    /// An empty filter for `values` values, which finds one in 1 / `error` others wrongly; as large as Java's.
    #[expect(clippy::cast_possible_truncation, reason = "numbers of bits are below 2^31, of functions below 2000")]
    pub(super) fn new(values: u64, error: f64) -> Self {
        let ln_2 = std::f64::consts::LN_2;
        let values = values.max(1) as f64;
        let bits = -values * error.ln() / (ln_2 * ln_2);
        // A whole word more than is needed where the number of bits happens to be one of words.
        let words = (bits as u32) / 64 + 1;
        let functions = (f64::from(words * 64) / values * ln_2).round().max(1.0) as u32;
        BloomBuilder { functions, words: vec![0; words as usize] }
    }

    fn bits(&self) -> u32 {
        u32::try_from(self.words.len() * 64).unwrap_or(u32::MAX)
    }

    /// Adds a value.
    pub(super) fn add(&mut self, key: Key) {
        for at in hash::positions(key.0, self.functions, self.bits()) {
            self.words[(at / 64) as usize] |= 1 << (at % 64);
        }
    }

    /// The filter as `BLOOM_FILTER` has it.
    pub(super) fn original(&self) -> orc::BloomFilter {
        orc::BloomFilter { num_hash_functions: Some(self.functions), bitset: self.words.clone(), utf8bitset: None }
    }

    /// The filter as `BLOOM_FILTER_UTF8` has it.
    pub(super) fn utf8(&self) -> orc::BloomFilter {
        let bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        orc::BloomFilter {
            num_hash_functions: Some(self.functions),
            bitset: Vec::new(),
            utf8bitset: Some(bytes.into()),
        }
    }
}
