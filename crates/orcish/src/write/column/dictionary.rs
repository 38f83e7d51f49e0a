//! Distinct strings of a stripe (ORCv1, String, Char and VarChar Columns).

use std::hash::BuildHasher as _;

use foldhash::quality::RandomState;
use hashbrown::HashTable;

/// Strings, each once, numbered in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    table: HashTable<u32>,
    /// With a seed of its own: nobody can choose strings that collide.
    hasher: RandomState,
    bytes: Vec<u8>,
    /// Where each string ends in `bytes`.
    ends: Vec<usize>,
}

impl Dictionary {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of all strings together.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The string of a number.
    #[inline]
    pub(super) fn get(&self, number: u32) -> &[u8] {
        get(&self.bytes, &self.ends, number)
    }

    /// The number of a string, and whether it is new.
    #[inline]
    pub(super) fn insert(&mut self, string: &[u8]) -> (u32, bool) {
        let Dictionary { table, hasher, bytes, ends } = self;
        let hash = hasher.hash_one(string);
        if let Some(&number) = table.find(hash, |&number| get(bytes, ends, number) == string) {
            return (number, false);
        }
        let number = u32::try_from(ends.len()).unwrap_or(u32::MAX);
        bytes.extend_from_slice(string);
        ends.push(bytes.len());
        table.insert_unique(hash, number, |&number| hasher.hash_one(get(bytes, ends, number)));
        (number, true)
    }

    /// The numbers in the order of their strings.
    pub(super) fn sorted(&self) -> Vec<u32> {
        // Most strings differ in the first bytes.
        let count = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        let mut order: Vec<(u64, u32)> = (0..count).map(|number| (prefix(self.get(number)), number)).collect();
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| self.get(a.1).cmp(self.get(b.1))));
        order.into_iter().map(|(_, number)| number).collect()
    }

    pub(super) fn clear(&mut self) {
        self.table.clear();
        self.bytes.clear();
        self.ends.clear();
    }
}

#[inline]
fn get<'a>(bytes: &'a [u8], ends: &[usize], number: u32) -> &'a [u8] {
    let number = number as usize;
    let start = number.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or_default();
    let end = ends.get(number).copied().unwrap_or_default();
    bytes.get(start..end).unwrap_or_default()
}

/// The first eight bytes as a number that orders as they do; strings with equal ones need not be equal.
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
