//! Bloom filters (ORCv1, Bloom Filter Index): they prove that a row group of a stripe does not contain a value.
//!
//! A column has a stream with a filter for each row group. The writer hashes each non-null value to 64 bits, and sets the
//! bits of the filter that this hash selects. [`BloomFilters`] tests the bits of a [`ValueHash`]. [`ValueHasher`] computes
//! the hashes that the writer of a file may have used for a value. If they are unknown, no row group is excluded.
//!
//! The hashed integers (Thomas Wang) or bytes (Murmur3) of values:
//!
//! | type | ORC Java | ORC C++ | Trino |
//! |---|---|---|---|
//! | `boolean` | nothing: filters are empty | any number for true | no filter |
//! | `tinyint` | the number | the number before truncation to a byte | no filter |
//! | `smallint`, `int`, `bigint` | the number | the number | the number; see `time` below |
//! | `float` | as double | the double before rounding | unused |
//! | `double` | the bits, one NaN | the bits | the bits, one NaN |
//! | `string`, `varchar` | stored bytes | stored bytes; possibly a null buffer for an empty string | stored bytes |
//! | `binary` | bytes | bytes; nothing before ORC-773 | no filter |
//! | `char` | padded; unpadded before ORC-406 | the padded length of bytes from the unpadded value, with any bytes behind it | unpadded |
//! | `date` | stored days | stored days | stored days |
//! | `timestamp` | milliseconds of local time, by the time zone rules of the writer | the same; ORC-1151 | milliseconds or microseconds |
//! | `timestamp with local time zone` | milliseconds of the instant | the same | the same |
//! | `decimal` | text without trailing zeros | text without trailing zeros since ORC-573 | no filter |
//! | `decimal`, format 1.9999 | the unscaled integer up to 18 digits | text | |
//!
//! Known faults, and other reasons for unknown hashes:
//!
//! | fault | writers | result |
//! |---|---|---|
//! | ORC-101: text is hashed in the character set of the JVM | ORC Java, stream `BLOOM_FILTER`, even beside `BLOOM_FILTER_UTF8` | unknown for text and decimals |
//! | ORC-135: timestamps are hashed as instants | ORC Java: `BLOOM_FILTER`, and without `bloomEncoding` 1 | unknown for timestamps |
//! | the rules of time zones may differ | all, `timestamp` of time zones other than UTC | unknown |
//! | ORC-406: `char` is hashed without padding | ORC Java before 1.5.3, which is version 6 | unknown for `char` before version 7 |
//! | ORC-1024: integers are hashed with another shift | ORC C++ before 1.6.12 and 1.7.1 | unknown; also for 1.6, which lacks ORC-573 and ORC-773 |
//! | ORC-763: a value in the second before 1970 is read a second later | all | hashes of both |
//! | nanoseconds are negative, as milliseconds are truncated towards zero | pyarrow, before 1970 | hashes of both |
//! | half of the bits are lost | ORC C++ on big-endian processors | filters where that half is empty are ignored |
//! | 0 and -0 are equal, and hashed differently; NaN has many bit patterns | all | hashes of both zeros, unknown for NaN |
//! | Julian days before 1582-10-15 | files with the hybrid calendar | hashes of the stored days; unknown for timestamps |
//! | negative 16- and 32-bit integers are stored as unsigned integers | unknown | hashes of both |
//! | `time` of Iceberg is hashed as picoseconds, and stored as microseconds | some releases of Trino | unknown for such columns |
//! | filters of another message, of unreleased software | Hive | the filters are ignored |
//! | other writers | Presto, Go, cuDF, unknown | unknown |

mod builder;
mod hasher;
mod lookup;
#[cfg(test)]
mod tests;
mod value_hash;

use std::sync::Arc;

use bytes::Bytes;

pub(crate) use builder::BloomBuilder;
pub(crate) use hasher::{FilterContext, ValueHasher};
pub(crate) use lookup::hashes_of_leaf;
pub(crate) use value_hash::{BloomKind, ValueHash};

use orcish_core::error::Result;
use prost::Message as _;

use crate::memory::{Charge, Memory};
use crate::proto::{BLOOM_FILTERS, orc, repeated_field};
use crate::warnings::warn;

/// Maximum number of hash functions that are tested, which bounds the time of a test. Writers use about ten.
const MAX_FUNCTIONS: u32 = 1024;

/// The bloom filters of the row groups of a column in a stripe.
#[derive(Debug)]
pub(crate) struct BloomFilters {
    /// The filter of each row group; `None` where it is ignored.
    filters: Vec<Option<orc::BloomFilter>>,
    /// Memory of the filters.
    _charge: Charge,
}

impl BloomFilters {
    /// Decodes a decompressed stream of either kind, and charges it to `memory`. The bits of `BLOOM_FILTER_UTF8` are slices
    /// of `section`.
    ///
    /// A filter is ignored that cannot be decoded, as filters of unreleased versions of Hive, that has no bits, or that has
    /// more hash functions than any writer. All filters are ignored where their number is not `groups`. `check` warns of them.
    ///
    /// # Errors
    /// `Corrupt` where the section is not a list of filters, `LimitExceeded` where `memory` is exhausted.
    pub(crate) fn parse(section: Bytes, groups: usize, memory: &Arc<Memory>) -> Result<Self> {
        let (mut size, mut charge) = (section.len() as u64, memory.charge());
        charge.raise_to(size)?;
        let Some(filters) = repeated_field(section, groups, &BLOOM_FILTERS, memory.available())? else {
            warn("their number is not that of the row groups, so that they are ignored");
            return Ok(BloomFilters { filters: Vec::new(), _charge: memory.charge() });
        };
        let filters = filters.into_iter().map(usable);
        let filters = filters.collect::<Vec<_>>();
        for filter in &filters {
            let words = filter.as_ref().map_or(0, |filter| filter.bitset.capacity());
            size += (size_of_val(filter) + words * size_of::<u64>()) as u64;
        }
        charge.raise_to(size)?;
        Ok(BloomFilters { filters, _charge: charge })
    }

    /// The filter of a row group.
    pub(crate) fn filter(&self, group: usize) -> Option<&orc::BloomFilter> {
        self.filters.get(group)?.as_ref()
    }

    /// Hash functions, bits, and bits that are set of the filter of a row group; `None` where it is missing or ignored.
    pub(crate) fn fill(&self, group: usize) -> Option<(u32, u32, u32)> {
        let filter = self.filter(group)?;
        let bits = Bits::new(filter)?;
        Some((filter.num_hash_functions.unwrap_or(0), bits.length, bits.count_ones()))
    }

    /// Whether a row group may contain a value with one of these hashes. True where the filter is missing or ignored; false for
    /// no hashes.
    pub(crate) fn might_contain(&self, group: usize, hashes: &[ValueHash]) -> bool {
        let Some(filter) = self.filter(group) else { return true };
        let Some(bits) = Bits::new(filter) else { return true };
        let functions = filter.num_hash_functions.unwrap_or(0);
        let are_set =
            |hash: &ValueHash| orcish_core::hash::positions(hash.0, functions, bits.length).all(|at| bits.get(at));
        hashes.iter().any(are_set) || bits.upper_halves_are_empty()
    }
}

/// Decodes a filter; `None` for one that is ignored.
fn usable(filter: Bytes) -> Option<orc::BloomFilter> {
    let Ok(filter) = orc::BloomFilter::decode(filter) else {
        warn("a filter cannot be decoded, so that it is ignored");
        return None;
    };
    if Bits::new(&filter).is_none() {
        warn("a filter has no bits, or bits that no writer has, so that it is ignored");
        return None;
    }
    if filter.num_hash_functions.unwrap_or(0) > MAX_FUNCTIONS {
        warn("a filter has more hash functions than any writer, so that it is ignored");
        return None;
    }
    Some(filter)
}

/// The bits of a filter.
struct Bits<'a> {
    words: Words<'a>,
    /// Number of bits.
    length: u32,
}

/// Words of 64 bits. The first bit is the lowest bit of the first word.
enum Words<'a> {
    Words(&'a [u64]),
    /// Little-endian words.
    Bytes(&'a [[u8; 8]]),
}

impl<'a> Bits<'a> {
    /// The bits of a filter; `None` where it has none, or no writer has such a filter.
    fn new(filter: &'a orc::BloomFilter) -> Option<Self> {
        let (bytes, rest) = filter.utf8bitset.as_deref().unwrap_or(&[]).as_chunks();
        let (words, count) = match (filter.bitset.as_slice(), bytes) {
            (words, []) => (Words::Words(words), words.len()),
            ([], bytes) => (Words::Bytes(bytes), bytes.len()),
            _ => return None,
        };
        // Java's positions have 31 bits.
        let length = u32::try_from(count).ok()?.checked_mul(64).filter(|length| (1..=1 << 31).contains(length))?;
        rest.is_empty().then_some(Bits { words, length })
    }

    /// Number of bits that are set.
    fn count_ones(&self) -> u32 {
        match self.words {
            Words::Words(words) => words.iter().map(|word| word.count_ones()).sum(),
            Words::Bytes(words) => words.as_flattened().iter().map(|byte| byte.count_ones()).sum(),
        }
    }

    fn get(&self, at: u32) -> bool {
        let word = (at / 64) as usize;
        let word = match self.words {
            Words::Words(words) => words.get(word).copied(),
            Words::Bytes(words) => words.get(word).map(|word| u64::from_le_bytes(*word)),
        };
        word.is_none_or(|word| word >> (at % 64) & 1 == 1)
    }

    /// Whether the upper half of every word is zero: the filter has very few values, or ORC C++ on a big-endian processor
    /// has lost these bits.
    fn upper_halves_are_empty(&self) -> bool {
        match self.words {
            Words::Words(words) => words.iter().all(|word| word >> 32 == 0),
            Words::Bytes(words) => words.iter().all(|word| matches!(word, [_, _, _, _, 0, 0, 0, 0])),
        }
    }
}
