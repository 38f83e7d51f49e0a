//! Lists and maps (ORCv1, List Columns and Map Columns): lengths, and one column of all elements.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, DictionaryArray, Int32Array, ListArray, MapArray, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, FieldRef, Fields};
use orcish_core::cast::map_entries;
use orcish_core::error::{Error, ErrorKind, OrInternal as _, Result};
use orcish_core::nulls::spread;
use orcish_core::strings::offsets;

use super::streams::StreamDecoder;
use super::validity::{Pending, combine, existing};
use super::{Budget, Column, ColumnReader, PENDING, WEIGHTLESS};
use crate::codec::Stream;
use crate::encoding::int_rle::IntRle;
use crate::index::GroupStart;
use crate::options::NullMapKeys;

/// The lengths of lists and maps.
pub(super) struct Lengths {
    pub(super) pending: Pending,
    pub(super) rle: StreamDecoder<IntRle<Stream>>,
    /// Budget for the elements of a single value.
    pub(super) budget: Budget<'static>,
}

impl Lengths {
    /// The number of the next `rows` rows that can be read. `max_elements` returns how many of a number of elements can be read.
    fn rows_that_fit(
        &mut self,
        rows: usize,
        budget: Budget,
        max_elements: impl FnOnce(usize) -> Result<usize>,
    ) -> Result<usize> {
        let rows = budget.take_rows(rows, PENDING);
        let rle = &mut self.rle;
        self.pending.fill(rows, |n, out| rle.with(|rle| rle.append(n, out)))?;
        let lengths = self.pending.numbers(rows)?;
        let total: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
        let max_items = i32::MAX as usize;
        let requested = usize::try_from(total).unwrap_or(max_items).min(max_items);
        let fit = if requested == 0 { 0 } else { max_elements(requested)? };
        if fit as u64 == total {
            return Ok(rows);
        }
        match self.pending.rows_within(rows, fit as u64, u64::from)? {
            (0, Some(_)) if budget.is_part() => Ok(0),
            (0, Some(length)) => Err(budget.exceeded(&format!("a value of {length} elements"))),
            (rows, _) => Ok(rows),
        }
    }

    /// Offsets and nulls of the next slots, and the number of elements.
    fn read(
        &mut self,
        slots: usize,
        parent: Option<&NullBuffer>,
    ) -> Result<(OffsetBuffer<i32>, Option<NullBuffer>, usize)> {
        let rows = existing(slots, parent);
        let own_nulls = self.pending.take(rows);
        let mut lengths = self.pending.take_dense(existing(rows, own_nulls.as_ref()))?;
        let nulls = combine(parent, own_nulls);
        spread(&mut lengths, nulls.as_ref());
        let offsets = offsets::<i32>(&lengths)?;
        let total = usize::try_from(offsets.last()).or_internal("an offset is negative")?;
        Ok((offsets, nulls, total))
    }

    /// Skips `rows` rows, and returns the number of their elements, of at least `width` bytes each. A value with too many
    /// elements to be read is an error: skipping it could take hours.
    fn skip(&mut self, rows: usize, width: usize) -> Result<usize> {
        let (rle, budget) = (&mut self.rle, self.budget);
        let max_items = budget.rows(if width == 0 { WEIGHTLESS } else { width });
        self.pending.skip(rows)?.total(|n| {
            let (sum, longest) = rle.with(|rle| rle.skip_lengths(n))?;
            if longest as usize > max_items {
                return Err(budget.exceeded(&format!("a value of {longest} elements")));
            }
            Ok(sum)
        })
    }

    fn seek(&mut self, positions: &[u64]) -> Result<()> {
        self.pending.seek(positions)?;
        self.rle.seek(positions)
    }
}

pub(super) struct ListReader {
    pub(super) lengths: Lengths,
    pub(super) element: Column,
    pub(super) field: FieldRef,
}

impl ColumnReader for ListReader {
    fn width(&self) -> usize {
        PENDING
    }

    fn rows_that_fit(&mut self, rows: usize, budget: Budget) -> Result<usize> {
        let element = &mut self.element;
        self.lengths.rows_that_fit(rows, budget, |elements| element.rows_that_fit(elements, budget))
    }

    fn read(&mut self, slots: usize, parent: Option<&NullBuffer>) -> Result<ArrayRef> {
        let (offsets, nulls, total) = self.lengths.read(slots, parent)?;
        let elements = self.element.read(total, None)?;
        let array = ListArray::try_new(self.field.clone(), offsets, elements, nulls);
        Ok(Arc::new(array.map_err(|error| Error::corrupt("its elements do not fit").with_source(error))?))
    }

    fn skip(&mut self, rows: usize) -> Result<()> {
        let elements = self.lengths.skip(rows, self.element.width())?;
        self.element.skip(elements)
    }

    fn seek(&mut self, positions: &[u64], to: &GroupStart<'_>) -> Result<()> {
        self.lengths.seek(positions)?;
        self.element.seek(to)
    }
}

pub(super) struct MapReader {
    pub(super) lengths: Lengths,
    pub(super) key: Column,
    pub(super) value: Column,
    /// The struct of key and value.
    pub(super) field: FieldRef,
    pub(super) fields: Fields,
    pub(super) null_keys: NullMapKeys,
}

impl ColumnReader for MapReader {
    fn width(&self) -> usize {
        PENDING
    }

    fn rows_that_fit(&mut self, rows: usize, budget: Budget) -> Result<usize> {
        let (key, value) = (&mut self.key, &mut self.value);
        self.lengths
            .rows_that_fit(rows, budget, |entries| value.rows_that_fit(key.rows_that_fit(entries, budget)?, budget))
    }

    fn read(&mut self, slots: usize, parent: Option<&NullBuffer>) -> Result<ArrayRef> {
        let (offsets, nulls, total) = self.lengths.read(slots, parent)?;
        let (keys, values) = (self.key.read(total, None)?, self.value.read(total, None)?);
        let null_key = keys.nulls().and_then(|nulls| nulls.iter().position(|valid| !valid));
        let invalid_entries = |error| Error::corrupt("its entries do not fit").with_source(error);
        let entries = match (self.null_keys, null_key) {
            (NullMapKeys::Error, Some(entry)) => {
                let ends = offsets.iter().skip(1);
                let slot = ends.map(|&end| end.cast_unsigned() as usize).position(|end| end > entry);
                let slot = slot.or_internal("an entry belongs to no map")?;
                let text =
                    format!("value {slot} of the batch is a map with a null key, which Arrow's maps cannot have");
                return Err(Error::new(ErrorKind::NullMapKey, text));
            }
            (NullMapKeys::Error, None) => {
                StructArray::try_new_with_length(self.fields.clone(), vec![keys, values], None, total)
                    .map_err(invalid_entries)?
            }
            (NullMapKeys::Dictionary, _) => self.with_dictionary(keys, values, total).map_err(invalid_entries)?,
        };
        let array = MapArray::try_new(self.field.clone(), offsets, entries, nulls, false);
        Ok(Arc::new(array.map_err(invalid_entries)?))
    }

    fn skip(&mut self, rows: usize) -> Result<()> {
        let entries = self.lengths.skip(rows, self.key.width().max(self.value.width()))?;
        self.key.skip(entries)?;
        self.value.skip(entries)
    }

    fn seek(&mut self, positions: &[u64], to: &GroupStart<'_>) -> Result<()> {
        self.lengths.seek(positions)?;
        self.key.seek(to)?;
        self.value.seek(to)
    }
}

impl MapReader {
    /// Map entries whose keys are a dictionary array: its keys are never null, its values may be.
    fn with_dictionary(&self, keys: ArrayRef, values: ArrayRef, total: usize) -> Result<StructArray, ArrowError> {
        let references = (0..i32::try_from(total).unwrap_or(i32::MAX)).collect::<Vec<_>>();
        let keys = DictionaryArray::try_new(Int32Array::from(references), keys)?;
        map_entries(self.fields.clone(), Arc::new(keys), values)
    }
}
