//! Makes bloom filters (ORCv1, Bloom Filter Index), as ORC Java does.

use orcish_core::hash;

use super::keys::{decimal_text, without_zeros};
use super::{Key, MAX_FUNCTIONS};
use crate::proto::orc;

/// A filter that values are added to.
#[derive(Debug, Clone)]
pub(crate) struct BloomBuilder {
    functions: u32,
    words: Vec<u64>,
}

impl BloomBuilder {
    /// An empty filter for `values` values, which finds one in 1 / `error` others wrongly; as large as Java's.
    #[expect(clippy::cast_possible_truncation, reason = "numbers of bits are below 2^31, of functions below 2000")]
    pub(crate) fn new(values: u64, error: f64) -> Self {
        let ln_2 = std::f64::consts::LN_2;
        let values = values.max(1) as f64;
        let bits = -values * error.ln() / (ln_2 * ln_2);
        // A whole word more than is needed where the number of bits happens to be one of words.
        let words = (bits as u32) / 64 + 1;
        let functions = (f64::from(words * 64) / values * ln_2).round().max(1.0) as u32;
        BloomBuilder { functions, words: vec![0; words as usize] }
    }

    /// An empty filter of as many bits and functions as another; none of none.
    pub(crate) fn like(other: &orc::BloomFilter) -> Option<Self> {
        let words = other.utf8bitset.as_ref().map_or(other.bitset.len(), |bytes| bytes.len() / size_of::<u64>());
        let functions = other.num_hash_functions.filter(|functions| (1..=MAX_FUNCTIONS).contains(functions))?;
        (words > 0).then(|| BloomBuilder { functions, words: vec![0; words] })
    }

    /// Bytes of its bits.
    pub(crate) fn size(&self) -> usize {
        self.words.len() * size_of::<u64>()
    }

    fn bits(&self) -> u32 {
        u32::try_from(self.words.len() * 64).unwrap_or(u32::MAX)
    }

    /// Adds a value.
    pub(super) fn add(&mut self, key: Key) {
        for at in hash::positions(key.0, self.functions, self.bits()) {
            if let Some(word) = self.words.get_mut((at / 64) as usize) {
                *word |= 1 << (at % 64);
            }
        }
    }

    /// Adds an integer, the days of a date, or the milliseconds of a timestamp.
    pub(crate) fn add_integer(&mut self, value: i64) {
        self.add(Key(hash::integer(value)));
    }

    /// Adds a `float`, widened, or a `double`. All NaN are one; of the zeros both are there if one is, since they are equal.
    pub(crate) fn add_float(&mut self, value: f64) {
        let value = if value.is_nan() { f64::NAN } else { value };
        self.add_integer(value.to_bits().cast_signed());
        if value == 0.0 {
            self.add_integer((-value).to_bits().cast_signed());
        }
    }

    /// Adds text as stored, or bytes.
    pub(crate) fn add_bytes(&mut self, value: &[u8]) {
        self.add(Key(hash::bytes(value)));
    }

    /// Adds a decimal, `unscaled / 10^scale`, as its text without trailing zeros.
    pub(crate) fn add_decimal(&mut self, unscaled: i128, scale: u32) {
        let (unscaled, scale) = without_zeros(unscaled, scale);
        self.add_bytes(decimal_text(unscaled, scale).as_bytes());
    }

    /// The filter as `BLOOM_FILTER` has it.
    #[cfg(test)]
    pub(super) fn original(&self) -> orc::BloomFilter {
        orc::BloomFilter { num_hash_functions: Some(self.functions), bitset: self.words.clone(), utf8bitset: None }
    }

    /// The filter as `BLOOM_FILTER_UTF8` has it.
    pub(crate) fn utf8(&self) -> orc::BloomFilter {
        let bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        orc::BloomFilter {
            num_hash_functions: Some(self.functions),
            bitset: Vec::new(),
            utf8bitset: Some(bytes.into()),
        }
    }

    /// The filter as `BLOOM_FILTER_UTF8` has it; none of its values stay.
    pub(crate) fn take(&mut self) -> orc::BloomFilter {
        let filter = self.utf8();
        self.words.fill(0);
        filter
    }
}
