//! Bloom filters (ORCv1, Bloom Filter Index): which row groups of a stripe cannot hold a value.
//!
//! A column has a stream of filters, one a row group. Each value that is not null was hashed to 64 bits, and these
//! set some bits of the filter. [`BloomFilters`] looks for the bits of a [`Key`]; [`KeyMaker`] knows under which keys
//! the writer of a file may have put a value. What it cannot prove, it has no keys for, and then nothing is excluded.
//!
//! What is hashed, as an integer (Thomas Wang) or as bytes (Murmur3):
//!
//! | type | ORC Java | ORC C++ | Trino |
//! |---|---|---|---|
//! | `boolean` | nothing: filters stay empty | any number for true | no filter |
//! | `tinyint` | the number | the number before it was cut to a byte | no filter |
//! | `smallint`, `int`, `bigint` | the number | the number | the number; see `time` below |
//! | `float` | as double | as the double that it may have been before | not looked at here |
//! | `double` | its bits, one NaN | its bits | its bits, one NaN |
//! | `string`, `varchar` | bytes as stored | bytes as stored; empty ones maybe as no bytes | bytes as stored |
//! | `binary` | bytes | bytes; nothing before ORC-773 | no filter |
//! | `char` | padded; as given before ORC-406 | as many bytes from the unpadded value, whatever follows it | unpadded |
//! | `date` | days as stored | days as stored | days as stored |
//! | `timestamp` | milliseconds of the wall clock, in zone rules of the writer's | the same; ORC-1151 | milliseconds or microseconds |
//! | `timestamp with local time zone` | milliseconds of the instant | the same | the same |
//! | `decimal` | text without trailing zeros | text without trailing zeros since ORC-573 | no filter |
//! | `decimal`, format 1.9999 | the unscaled integer up to 18 digits | text | |
//!
//! Known faults, and why there may be no keys:
//!
//! | fault | who | what we do |
//! |---|---|---|
//! | ORC-101: text is hashed in the JVM's character set | ORC Java, stream `BLOOM_FILTER`, even beside the other | no keys of text and decimals |
//! | ORC-135: timestamps are hashed as instants | ORC Java: `BLOOM_FILTER`, and without `bloomEncoding` 1 | no keys of timestamps |
//! | zone rules may have been others than ours | all, `timestamp` of zones other than UTC | no keys |
//! | ORC-406: `char` is hashed as given | ORC Java before 1.5.3, so version 6 | no keys of `char` before version 7 |
//! | ORC-1024: integers are hashed with another shift | ORC C++ before 1.6.12 and 1.7.1 | no keys; nor of 1.6, which lacks ORC-573 and ORC-773 |
//! | ORC-763: what is within the second before 1970 is read as a second later | all | keys of both |
//! | negative nanoseconds, of which milliseconds are cut towards zero | pyarrow, before 1970 | keys of both |
//! | half of the bits are lost | ORC C++ on processors that are big-endian | filters with that half empty say nothing |
//! | 0 and -0 are equal, and hashed differently; NaN has many forms | all | keys of both zeros, none of NaN |
//! | Julian days before 1582-10-15 | as the footer says | keys of the stored days; none of timestamps |
//! | negative 16- and 32-bit integers stored as unsigned ones | unknown | keys of both |
//! | `time` of Iceberg is hashed as picoseconds, stored as microseconds | Trino, at times | no keys of such columns |
//! | filters of another form, before any was released | Hive | say nothing |
//! | other writers | Presto, Go, cuDF, unknown | no keys |

mod builder;
mod key;
mod keys;
mod lookup;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use bytes::Bytes;
use prost::Message as _;

pub(crate) use builder::BloomBuilder;
pub(crate) use key::{BloomKind, Key};
pub(crate) use keys::{FilterOrigin, KeyMaker};
pub(crate) use lookup::keys_of;

use orcish_core::error::Result;

use crate::memory::{Charge, Memory};
use crate::proto::{BLOOM_FILTERS, orc, repeated_field};

/// Functions beyond these are not looked at, so that a filter cannot take hours; writers have about ten.
const MAX_FUNCTIONS: u32 = 1024;

/// The bloom filters of the row groups of a column in a stripe.
#[derive(Debug)]
pub(crate) struct BloomFilters {
    filters: Vec<orc::BloomFilter>,
    /// Bytes of memory that they take.
    _charge: Charge,
}

impl BloomFilters {
    /// Parses a stream of either kind, decompressed, if `memory` has room for it. The bits of `BLOOM_FILTER_UTF8` stay
    /// slices of `section`.
    ///
    /// A filter that cannot be decoded says nothing: Hive had another form before it released any. Where there are not
    /// as many as `groups`, nobody knows which is whose, and none says anything.
    ///
    /// # Errors
    /// `Corrupt` when it is not a sequence of filters, `LimitExceeded` when `memory` has no room for them.
    pub(crate) fn parse(section: Bytes, groups: usize, memory: &Arc<Memory>) -> Result<Self> {
        let (mut size, mut charge) = (section.len() as u64, memory.part());
        charge.raise_to(size)?;
        let Some(filters) = repeated_field(section, groups, &BLOOM_FILTERS, memory.left())? else {
            return Ok(BloomFilters { filters: Vec::new(), _charge: memory.part() });
        };
        let filters = filters.into_iter().map(|filter| orc::BloomFilter::decode(filter).unwrap_or_default());
        let filters = filters.collect::<Vec<_>>();
        for filter in &filters {
            size += (size_of_val(filter) + filter.bitset.capacity() * size_of::<u64>()) as u64;
        }
        charge.raise_to(size)?;
        Ok(BloomFilters { filters, _charge: charge })
    }

    /// The filter of a row group, as it is.
    pub(crate) fn filter(&self, group: usize) -> Option<&orc::BloomFilter> {
        self.filters.get(group)
    }

    /// Whether row group `group` may hold a value that one of `keys` stands for. True where the filter is missing or
    /// says nothing; never where there are no keys.
    pub(crate) fn may_hold(&self, group: usize, keys: &[Key]) -> bool {
        let Some(filter) = self.filters.get(group) else { return true };
        let Some(bits) = Bits::of(filter) else { return true };
        let functions = filter.num_hash_functions.unwrap_or(0).min(MAX_FUNCTIONS);
        let holds = |key: &Key| orcish_core::hash::positions(key.0, functions, bits.len()).all(|at| bits.get(at));
        keys.iter().any(holds) || bits.upper_halves_are_empty()
    }
}

/// The bits of a filter: words of 64, the first bit in the lowest place of the first word.
enum Bits<'a> {
    Words(&'a [u64]),
    /// Words in little endian.
    Bytes(&'a [[u8; 8]]),
}

impl<'a> Bits<'a> {
    /// `None` where there are none, or in no form that a writer has.
    fn of(filter: &'a orc::BloomFilter) -> Option<Self> {
        let (bytes, rest) = filter.utf8bitset.as_deref().unwrap_or_default().as_chunks();
        let bits = match (filter.bitset.as_slice(), bytes) {
            (words, []) => Bits::Words(words),
            ([], bytes) => Bits::Bytes(bytes),
            _ => return None,
        };
        // Java's positions are of 31 bits.
        (rest.is_empty() && bits.words() > 0 && bits.words() <= (1 << 31) / 64).then_some(bits)
    }

    fn words(&self) -> usize {
        match self {
            Bits::Words(words) => words.len(),
            Bits::Bytes(words) => words.len(),
        }
    }

    /// Number of bits.
    fn len(&self) -> u32 {
        u32::try_from(self.words() * 64).unwrap_or(0)
    }

    fn get(&self, at: u32) -> bool {
        let word = (at / 64) as usize;
        let word = match self {
            Bits::Words(words) => words.get(word).copied(),
            Bits::Bytes(words) => words.get(word).map(|word| u64::from_le_bytes(*word)),
        };
        word.is_none_or(|word| word >> (at % 64) & 1 == 1)
    }

    /// Whether the upper half of every word is zero: either there are hardly any values, or ORC C++ lost these bits
    /// on a processor that is big-endian.
    fn upper_halves_are_empty(&self) -> bool {
        match self {
            Bits::Words(words) => words.iter().all(|word| word >> 32 == 0),
            Bits::Bytes(words) => words.iter().all(|word| matches!(word, [_, _, _, _, 0, 0, 0, 0])),
        }
    }
}
