//! Distinct strings of a stripe (ORCv1, String, Char and VarChar Columns).

use std::hash::BuildHasher as _;

use foldhash::quality::RandomState;
use hashbrown::HashTable;

/// Strings that came lately are found without a hash of all their bytes.
const RECENT: usize = 1 << 9;
/// Longest strings that are known by their ends and length.
const SHORT: usize = 16;

/// A string that came lately.
#[derive(Debug, Clone, Copy)]
struct Recent {
    ends: (u64, u64),
    length: usize,
    number: u32,
}

impl Recent {
    const NONE: Self = Recent { ends: (0, 0), length: usize::MAX, number: 0 };
}

/// Strings, each once, numbered in the order in which they came.
#[derive(Debug)]
pub(super) struct Dictionary {
    recent: Box<[Recent; RECENT]>,
    table: HashTable<u32>,
    /// With a seed of its own: nobody can choose strings that collide.
    hasher: RandomState,
    bytes: Vec<u8>,
    /// Where each string ends in `bytes`.
    ends: Vec<usize>,
}

impl Default for Dictionary {
    fn default() -> Self {
        Dictionary {
            recent: Box::new([Recent::NONE; RECENT]),
            table: HashTable::new(),
            hasher: RandomState::default(),
            bytes: Vec::new(),
            ends: Vec::new(),
        }
    }
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

    /// The number of a string.
    #[inline]
    pub(super) fn insert(&mut self, string: &[u8]) -> u32 {
        let of_string = ends_of(string);
        let mixed =
            (of_string.0 ^ of_string.1.rotate_left(29) ^ string.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let [.., high, higher] = mixed.to_le_bytes();
        let place = usize::from(u16::from_le_bytes([high, higher])) % RECENT;
        if let Some(recent) = self.recent.get(place)
            && recent.length == string.len()
            && recent.ends == of_string
            && (string.len() <= SHORT || self.get(recent.number) == string)
        {
            return recent.number;
        }
        let number = self.look_up(string);
        if let Some(recent) = self.recent.get_mut(place) {
            *recent = Recent { ends: of_string, length: string.len(), number };
        }
        number
    }

    fn look_up(&mut self, string: &[u8]) -> u32 {
        let Dictionary { table, hasher, bytes, ends, .. } = self;
        let hash = hasher.hash_one(string);
        if let Some(&number) = table.find(hash, |&number| get(bytes, ends, number) == string) {
            return number;
        }
        let number = u32::try_from(ends.len()).unwrap_or(u32::MAX);
        bytes.extend_from_slice(string);
        ends.push(bytes.len());
        table.insert_unique(hash, number, |&number| hasher.hash_one(get(bytes, ends, number)));
        number
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
        self.recent.fill(Recent::NONE);
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

/// The first and the last bytes; of strings of up to [`SHORT`] bytes they are all there is, but for the length.
#[inline]
fn ends_of(string: &[u8]) -> (u64, u64) {
    if let (Some(first), Some(last)) = (string.first_chunk::<8>(), string.last_chunk::<8>()) {
        return (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
    }
    if let (Some(first), Some(last)) = (string.first_chunk::<4>(), string.last_chunk::<4>()) {
        return (u32::from_le_bytes(*first).into(), u32::from_le_bytes(*last).into());
    }
    match *string {
        [] => (0, 0),
        [a] => (a.into(), 0),
        [a, b] => (a.into(), b.into()),
        [a, b, c, ..] => (a.into(), u64::from(b) << 8 | u64::from(c)),
    }
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

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn equal_strings_have_one_number(
            strings in prop::collection::vec(prop::collection::vec(0u8..3, 0..20), 0..400), clear_at in 0..400usize,
        ) {
            let mut dictionary = Dictionary::default();
            let mut known: HashMap<Vec<u8>, u32> = HashMap::new();
            for (at, string) in strings.iter().enumerate() {
                if at == clear_at {
                    dictionary.clear();
                    known.clear();
                }
                let next = u32::try_from(known.len()).unwrap();
                let number = dictionary.insert(string);
                prop_assert_eq!(number, *known.entry(string.clone()).or_insert(next));
                prop_assert_eq!(dictionary.get(number), &string[..]);
            }
            prop_assert_eq!(dictionary.len(), known.len());
            prop_assert_eq!(dictionary.bytes(), known.keys().map(Vec::len).sum::<usize>());
            let sorted: Vec<&[u8]> = dictionary.sorted().into_iter().map(|number| dictionary.get(number)).collect();
            prop_assert_eq!(sorted.len(), known.len());
            prop_assert!(sorted.is_sorted());
        }
    }
}
