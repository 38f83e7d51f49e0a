//! The dictionary of a stripe (ORCv1, String, Char and VarChar Columns).

use std::hash::BuildHasher as _;

use foldhash::quality::RandomState;
use hashbrown::HashTable;
use orcish_core::tuning::Tuning;

use crate::tuning;

/// Minimum and maximum number of slots of the cache of recent strings, powers of two.
const CACHE_SLOTS: (usize, usize) = (1 << 4, 1 << 9);
/// Length of the longest string that is in the cache.
pub(super) const MAX_CACHED: usize = 32;

/// A string of at most [`MAX_CACHED`] bytes, followed by zeros.
pub(super) type Padded = [u64; MAX_CACHED / 8];

/// A string in the cache of recent strings.
#[derive(Debug, Clone, Copy)]
struct CachedString {
    padded: Padded,
    length: usize,
    entry: u32,
}

impl CachedString {
    const NONE: Self = CachedString { padded: [0; MAX_CACHED / 8], length: usize::MAX, entry: 0 };
}

/// Distinct strings. Entries are numbered in order of their first insertion.
#[derive(Debug)]
pub(super) struct Dictionary {
    /// Recent strings, which are found without a hash of all their bytes. It grows with the number of entries.
    cache: Vec<CachedString>,
    table: HashTable<u32>,
    /// The random seed prevents inputs that are made to collide.
    hasher: RandomState,
    bytes: Vec<u8>,
    /// The end of each entry in `bytes`.
    ends: Vec<usize>,
}

impl Default for Dictionary {
    fn default() -> Self {
        Dictionary {
            cache: Vec::new(),
            table: HashTable::new(),
            hasher: RandomState::default(),
            bytes: Vec::new(),
            ends: Vec::new(),
        }
    }
}

impl Dictionary {
    /// Number of entries.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of all entries.
    pub(super) fn num_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes of memory, the same for all ways in which the strings were inserted.
    pub(super) fn memory_size(&self) -> usize {
        // A hash table has eight slots for seven entries at most, with a byte beside each.
        let slots = (self.len() * 8 / 7).next_power_of_two();
        let entries = self.len().next_power_of_two() * size_of::<usize>() + slots * (size_of::<u32>() + 1);
        self.bytes.len().next_power_of_two() + entries + size_of_val(self.cache.as_slice())
    }

    /// The string of an entry.
    #[inline]
    pub(super) fn get(&self, entry: u32) -> &[u8] {
        get(&self.bytes, &self.ends, entry)
    }

    /// The entry of a string, which is added if it is new.
    #[inline]
    pub(super) fn insert(&mut self, string: &[u8]) -> u32 {
        match padded(string) {
            Some(padded) => self.insert_padded(string, &padded),
            None => self.find_or_insert(string),
        }
    }

    /// As [`insert`](Self::insert), of a string that is padded already.
    #[inline(always)]
    pub(super) fn insert_padded(&mut self, string: &[u8], padded: &Padded) -> u32 {
        let slot = slot(padded, string.len(), self.cache.len());
        if let Some(cached) = self.cache.get(slot)
            && cached.length == string.len()
            && is_equal(&cached.padded, padded)
        {
            return cached.entry;
        }
        self.insert_and_cache(string)
    }

    /// Inserts a string of at most [`MAX_CACHED`] bytes that is not in the cache. Strings that never repeat need no
    /// cache, so that a string that was inserted before makes it grow.
    ///
    /// The string is padded again: a reference to the padded string would keep it in memory instead of registers.
    #[inline(never)]
    fn insert_and_cache(&mut self, string: &[u8]) -> u32 {
        let known = self.len();
        let entry = self.find_or_insert(string);
        if (entry as usize) < known {
            self.grow_cache();
        }
        if let Some(padded) = padded(string)
            && let slot = slot(&padded, string.len(), self.cache.len())
            && let Some(cached) = self.cache.get_mut(slot)
        {
            *cached = CachedString { padded, length: string.len(), entry };
        }
        entry
    }

    /// Gives the cache two slots for each entry, up to the maximum. A cache that grows becomes empty.
    fn grow_cache(&mut self) {
        let slots = (self.len() * 2).next_power_of_two().clamp(CACHE_SLOTS.0, CACHE_SLOTS.1);
        if slots > self.cache.len() {
            self.cache = vec![CachedString::NONE; slots];
        }
    }

    #[inline(never)]
    fn find_or_insert(&mut self, string: &[u8]) -> u32 {
        let Dictionary { table, hasher, bytes, ends, .. } = self;
        let hash = hasher.hash_one(string);
        if let Some(&entry) = table.find(hash, |&entry| get(bytes, ends, entry) == string) {
            return entry;
        }
        let entry = u32::try_from(ends.len()).unwrap_or(u32::MAX);
        bytes.extend_from_slice(string);
        ends.push(bytes.len());
        table.insert_unique(hash, entry, |&entry| hasher.hash_one(get(bytes, ends, entry)));
        entry
    }

    /// The entries in order of their strings.
    pub(super) fn sorted(&self) -> Vec<u32> {
        // Most strings differ in the first bytes.
        let count = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        let mut order: Vec<(u64, u32)> = (0..count).map(|entry| (prefix(self.get(entry)), entry)).collect();
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| self.get(a.1).cmp(self.get(b.1))));
        order.into_iter().map(|(_, entry)| entry).collect()
    }

    /// Whether the entries are too many in relation to `num_values`, which they are the distinct values of.
    pub(super) fn has_too_many_entries(&self, num_values: usize) -> bool {
        self.len() as f64 > per_mille(&tuning::DICTIONARY_MAX_DISTINCT) * num_values as f64
    }

    /// Whether a dictionary is expected to make a stripe of `expected_values` smaller, judged by its first
    /// `num_values`.
    pub(super) fn is_worthwhile(&self, num_values: usize, expected_values: usize) -> bool {
        if self.num_bytes() > tuning::MAX_DICTIONARY_BYTES.get() {
            return false;
        }
        let (values, distinct) = (num_values as f64, self.len() as f64);
        let max_distinct = per_mille(&tuning::DICTIONARY_MAX_DISTINCT);
        let few_distinct = per_mille(&tuning::DICTIONARY_FEW_DISTINCT);
        if distinct <= few_distinct * values {
            return true;
        }
        // n values drawn uniformly from d strings have about n² / 2d repetitions, from which d is estimated.
        let repeated = values - distinct;
        let population = values * values / (2.0 * repeated.max(0.5));
        let stripe_values = (expected_values as f64).max(values);
        let stripe_distinct = population * (1.0 - (-stripe_values / population).exp());
        distinct <= max_distinct * values && stripe_distinct <= max_distinct * stripe_values
            || stripe_distinct <= few_distinct * stripe_values
    }

    pub(super) fn clear(&mut self) {
        self.cache.fill(CachedString::NONE);
        self.table.clear();
        self.bytes.clear();
        self.ends.clear();
    }
}

/// A number of thousandths as a fraction.
fn per_mille(tuning: &Tuning) -> f64 {
    tuning.get() as f64 / 1000.0
}

#[inline]
#[expect(clippy::indexing_slicing, reason = "entries are those that the dictionary has given")]
fn get<'a>(bytes: &'a [u8], ends: &[usize], entry: u32) -> &'a [u8] {
    let entry = entry as usize;
    let start = if entry == 0 { 0 } else { ends[entry - 1] };
    &bytes[start..ends[entry]]
}

/// Whether two padded strings are equal. The words are compared in registers: a comparison of arrays would wait until both
/// are in memory.
#[inline(always)]
fn is_equal([a, b, c, d]: &Padded, [e, f, g, h]: &Padded) -> bool {
    (a ^ e) | (b ^ f) | (c ^ g) | (d ^ h) == 0
}

/// The slot of a string in a cache of so many slots, which are a power of two or none.
#[inline(always)]
fn slot(padded: &Padded, length: usize, slots: usize) -> usize {
    let [a, b, c, d] = *padded;
    let mixed = a ^ b.rotate_left(29) ^ c.rotate_left(17) ^ d.rotate_left(43) ^ length as u64;
    let [.., high, higher] = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
    usize::from(u16::from_le_bytes([high, higher])) & slots.wrapping_sub(1)
}

/// A string with its padding; `None` for a longer string.
#[inline]
fn padded(string: &[u8]) -> Option<Padded> {
    let mut bytes = [0; MAX_CACHED];
    bytes.get_mut(..string.len())?.copy_from_slice(string);
    Some(padded_prefix(&bytes, MAX_CACHED))
}

/// The first `length` bytes of `bytes`, with their padding.
#[inline(always)]
pub(super) fn padded_prefix(bytes: &[u8; MAX_CACHED], length: usize) -> Padded {
    let mut padded = [0; MAX_CACHED / 8];
    for (at, (to, word)) in padded.iter_mut().zip(bytes.as_chunks::<8>().0).enumerate() {
        let [kept, ..] = length.saturating_sub(8 * at).min(8).to_le_bytes();
        *to = u64::from_le_bytes(*word) & u64::MAX.unbounded_shr(64 - 8 * u32::from(kept));
    }
    padded
}

/// The first eight bytes as a number with the same order. Different strings may have the same prefix.
#[inline]
pub(super) fn prefix(string: &[u8]) -> u64 {
    match string.first_chunk::<8>() {
        Some(first) => u64::from_be_bytes(*first),
        None => {
            let mut first = [0; 8];
            first.iter_mut().zip(string).for_each(|(to, from)| *to = *from);
            u64::from_be_bytes(first)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn equal_strings_have_one_entry(
            strings in prop::collection::vec(prop::collection::vec(0u8..3, 0..20), 0..400), clear_at in 0..400usize,
        ) {
            let mut dictionary = Dictionary::default();
            let mut expected: HashMap<Vec<u8>, u32> = HashMap::new();
            for (at, string) in strings.iter().enumerate() {
                if at == clear_at {
                    dictionary.clear();
                    expected.clear();
                }
                let next = u32::try_from(expected.len()).unwrap();
                let entry = dictionary.insert(string);
                prop_assert_eq!(entry, *expected.entry(string.clone()).or_insert(next));
                prop_assert_eq!(dictionary.get(entry), &string[..]);
            }
            prop_assert_eq!(dictionary.len(), expected.len());
            prop_assert_eq!(dictionary.num_bytes(), expected.keys().map(Vec::len).sum::<usize>());
            let sorted: Vec<&[u8]> = dictionary.sorted().into_iter().map(|entry| dictionary.get(entry)).collect();
            prop_assert_eq!(sorted.len(), expected.len());
            prop_assert!(sorted.is_sorted());
        }
    }
}
