//! Dictionary encoded strings, char and varchar (ORCv1, String, Char, and VarChar Columns).

use arrow_array::{ArrayRef, new_empty_array};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use orcish_core::allocation;
use orcish_core::error::{Error, OrInternal as _, Result};
use orcish_core::strings::{DictionaryValues, dictionary_array};

use super::binary::{Target, rows_within};
use super::streams::StreamDecoder;
use super::strings::read_values;
use super::text::{Applied, without};
use super::validity::{Pending, combine, existing, with_further_nulls};
use super::{Budget, ColumnReader};
use crate::codec::Stream;
use crate::encoding::int_rle::IntRle;
use crate::index::GroupStart;
use crate::memory::Charge;

/// Bytes of a dictionary entry beside its value: length, position, and a view or offset.
const BYTES_PER_ENTRY: u64 = 32;

/// A dictionary encoded column. A stripe has one dictionary.
pub(super) struct DictionaryReader {
    pub(super) pending: Pending,
    pub(super) references: StreamDecoder<IntRle<Stream>>,
    /// Streams of the dictionary; `None` once the dictionary has been read.
    pub(super) stored_dictionary: Option<StoredDictionary>,
    pub(super) dictionary: Dictionary,
    pub(super) target: Target,
    /// Memory of the dictionary.
    pub(super) charge: Charge,
}

pub(super) struct StoredDictionary {
    pub(super) size: u32,
    pub(super) lengths: StreamDecoder<IntRle<Stream>>,
    pub(super) data: StreamDecoder<Stream>,
}

/// A decoded dictionary.
#[derive(Default)]
pub(super) struct Dictionary {
    entries: DictionaryValues,
    /// The entries as an array.
    array: Option<ArrayRef>,
    /// Entries that become null. They are empty.
    lost: Vec<u32>,
    /// Entries that are longer than their type, if this is an error of the rows with them.
    long: Vec<u32>,
}

impl StoredDictionary {
    fn load(mut self, target: &Target, budget: Budget, charge: &mut Charge) -> Result<Dictionary> {
        let size = self.size as usize;
        if size > budget.rows(size_of::<(u32, u32)>()) {
            return Err(budget.exceeded(&format!("a dictionary of {size} entries")));
        }
        let of_entries =
            (size as u64).saturating_mul(BYTES_PER_ENTRY).saturating_add(DictionaryValues::table_bytes(size));
        let in_data = |error: Error| error.in_stream("DICTIONARY_DATA");
        charge.raise_to(of_entries).map_err(in_data)?;
        allocation::check(usize::try_from(of_entries).unwrap_or(usize::MAX))?;
        let mut lengths = Vec::new();
        self.lengths.with(|rle| rle.append(size, &mut lengths))?;
        let total = lengths.iter().map(|&length: &u32| u64::from(length)).sum::<u64>();
        charge.raise_to(of_entries.saturating_add(total)).map_err(in_data)?;
        let applied = self.data.with(|data| target.form.apply(read_values(lengths, data, budget)?, budget))?;
        let Applied { values, lost, long } = applied;
        // Replaced text is longer than stored text.
        charge.raise_to(of_entries.saturating_add(values.bytes().len() as u64)).map_err(in_data)?;
        let number = |entry: usize| u32::try_from(entry).or_internal("a dictionary has more entries than references");
        let numbers = |entries: Vec<usize>| entries.into_iter().map(number).collect::<Result<_>>();
        let (lost, long) = (numbers(lost)?, numbers(long)?);
        // Entries of string columns are validated here, once.
        let kind = match &target.arrow {
            DataType::Dictionary(_, values) => values.as_ref(),
            other => other,
        };
        let (entries, array) = DictionaryValues::with_array(values, kind).map_err(in_data)?;
        Ok(Dictionary { entries, array: Some(array), lost, long })
    }
}

impl ColumnReader for DictionaryReader {
    fn width(&self) -> usize {
        size_of::<u128>()
    }

    fn rows_that_fit(&mut self, rows: usize, budget: Budget) -> Result<usize> {
        if let Some(stored_dictionary) = self.stored_dictionary.take() {
            self.dictionary = stored_dictionary.load(&self.target, budget.of_one_value(), &mut self.charge)?;
        }
        let rows = budget.take_rows(rows, self.width());
        let (references, size) = (&mut self.references, self.dictionary.entries.len());
        self.pending.fill(rows, |n, out| {
            let from = out.len();
            references.with(|references| {
                references.append(n, out)?;
                // A fold over a slice is vectorized, and `max` is not.
                let (_, appended) = out.split_at(from);
                let largest = appended.iter().fold(0, |largest, &reference| largest.max(reference));
                if largest as usize >= size && n > 0 {
                    return Err(Error::corrupt(format!("entry {largest} of a dictionary of {size}")));
                }
                Ok(())
            })
        })?;
        let entries = &self.dictionary.entries;
        let size = |reference| entries.length_of(reference) as usize;
        match self.target.arrow {
            DataType::Dictionary(_, _) | DataType::Utf8View | DataType::BinaryView => Ok(rows),
            _ if budget.remaining_bytes.is_none() && rows.saturating_mul(entries.longest()) <= budget.bytes => Ok(rows),
            _ => rows_within(&self.pending, rows, budget, size),
        }
    }

    fn read(&mut self, slots: usize, parent: Option<&NullBuffer>) -> Result<ArrayRef> {
        let rows = existing(slots, parent);
        let own_nulls = self.pending.take(rows);
        let mut references = self.pending.take_dense(existing(rows, own_nulls.as_ref()))?;
        let mut nulls = combine(parent, own_nulls);
        if !self.dictionary.long.is_empty() {
            let is_long = |reference| self.dictionary.long.binary_search(reference).is_ok();
            if let Some(first) = references.iter().position(is_long) {
                return Err(self.target.form.too_long(first).in_stream("DICTIONARY_DATA"));
            }
        }
        if !self.dictionary.lost.is_empty() {
            let is_lost = |(_, reference): &(usize, &u32)| self.dictionary.lost.binary_search(reference).is_ok();
            let lost: Vec<usize> = references.iter().enumerate().filter(is_lost).map(|(at, _)| at).collect();
            without(&mut references, &lost);
            nulls = with_further_nulls(nulls, slots, &lost);
        }
        match (&self.target.arrow, &self.dictionary.array) {
            (DataType::Dictionary(_, kind), values) => {
                // A dictionary that was not read is one of no values.
                let values = values.clone().unwrap_or_else(|| new_empty_array(kind));
                dictionary_array(references.into_iter().map(u32::cast_signed).collect(), values, nulls)
            }
            (target, _) => self.dictionary.entries.array(references, target, nulls),
        }
    }

    fn skip(&mut self, rows: usize) -> Result<()> {
        let n = self.pending.skip(rows)?.fresh;
        self.references.with(|references| references.skip(n))
    }

    fn seek(&mut self, positions: &[u64], _to: &GroupStart<'_>) -> Result<()> {
        self.pending.seek(positions)?;
        self.references.seek(positions)
    }
}
