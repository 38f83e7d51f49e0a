//! Builder of bloom filters (ORCv1, Bloom Filter Index) with the sizes and hashes of ORC Java.

use orcish_core::hash;

use super::hasher::{decimal_text, without_trailing_zeros};
use super::{MAX_FUNCTIONS, ValueHash};
use crate::proto::orc;

/// Builds a bloom filter.
#[derive(Debug, Clone)]
pub(crate) struct BloomBuilder {
    functions: u32,
    words: Vec<u64>,
}

impl BloomBuilder {
    /// A builder of a filter for a number of values and a false positive probability, with the size of ORC Java.
    #[expect(clippy::cast_possible_truncation, reason = "bits are fewer than 2^31, functions fewer than 2000")]
    pub(crate) fn new(values: u64, fpp: f64) -> Self {
        let ln_2 = std::f64::consts::LN_2;
        let values = values.max(1) as f64;
        let bits = -values * fpp.ln() / (ln_2 * ln_2);
        // One word more than necessary where the bits are a multiple of 64.
        let words = (bits as u32) / 64 + 1;
        let functions = (f64::from(words * 64) / values * ln_2).round().max(1.0) as u32;
        BloomBuilder { functions, words: vec![0; words as usize] }
    }

    /// A builder of a filter with the number of bits and functions of another; `None` where the other filter has none.
    pub(crate) fn with_size_of(other: &orc::BloomFilter) -> Option<Self> {
        let words = other.utf8bitset.as_ref().map_or(other.bitset.len(), |bytes| bytes.len() / size_of::<u64>());
        let functions = other.num_hash_functions.filter(|functions| (1..=MAX_FUNCTIONS).contains(functions))?;
        (words > 0).then(|| BloomBuilder { functions, words: vec![0; words] })
    }

    /// Size of the bits in bytes.
    pub(crate) fn size(&self) -> usize {
        self.words.len() * size_of::<u64>()
    }

    fn bits(&self) -> u32 {
        u32::try_from(self.words.len() * 64).unwrap_or(u32::MAX)
    }

    /// Adds a hash.
    #[expect(
        clippy::indexing_slicing,
        reason = "positions are below the number of bits, and a bit must not be left out"
    )]
    pub(super) fn add(&mut self, hash_value: ValueHash) {
        for at in hash::positions(hash_value.0, self.functions, self.bits()) {
            self.words[(at / 64) as usize] |= 1 << (at % 64);
        }
    }

    /// Adds an integer, the days of a date, or the milliseconds of a timestamp.
    pub(crate) fn add_integer(&mut self, value: i64) {
        self.add(ValueHash(hash::integer(value)));
    }

    /// Adds a `float`, as a double, or a `double`. All NaNs have one hash. Adding a zero adds both zeros, which are equal.
    pub(crate) fn add_float(&mut self, value: f64) {
        let value = if value.is_nan() { f64::NAN } else { value };
        self.add_integer(value.to_bits().cast_signed());
        if value == 0.0 {
            self.add_integer((-value).to_bits().cast_signed());
        }
    }

    /// Adds the bytes of a stored text or of a binary value.
    pub(crate) fn add_bytes(&mut self, value: &[u8]) {
        self.add(ValueHash(hash::bytes(value)));
    }

    /// Adds a decimal, `unscaled / 10^scale`, as its text without trailing zeros.
    pub(crate) fn add_decimal(&mut self, unscaled: i128, scale: u32) {
        let (unscaled, scale) = without_trailing_zeros(unscaled, scale);
        self.add_bytes(decimal_text(unscaled, scale).as_bytes());
    }

    /// The filter as a message of `BLOOM_FILTER`.
    #[cfg(test)]
    pub(super) fn to_original(&self) -> orc::BloomFilter {
        orc::BloomFilter { num_hash_functions: Some(self.functions), bitset: self.words.clone(), utf8bitset: None }
    }

    /// The filter as a message of `BLOOM_FILTER_UTF8`.
    pub(crate) fn to_utf8(&self) -> orc::BloomFilter {
        let bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        orc::BloomFilter {
            num_hash_functions: Some(self.functions),
            bitset: Vec::new(),
            utf8bitset: Some(bytes.into()),
        }
    }

    /// Returns the filter as a message of `BLOOM_FILTER_UTF8`, and clears the builder.
    pub(crate) fn take(&mut self) -> orc::BloomFilter {
        let filter = self.to_utf8();
        self.words.fill(0);
        filter
    }
}
