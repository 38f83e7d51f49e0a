//! Structs (ORCv1, Struct Columns): nothing but a present stream of their own.

use std::sync::Arc;

use arrow_array::{ArrayRef, StructArray};
use arrow_buffer::NullBuffer;
use arrow_schema::Fields;
use orcish_core::error::{Error, Result};

use super::validity::{Pending, combine, existing};
use super::{Budget, Column, ColumnReader, PENDING, WEIGHTLESS};
use crate::index::GroupStart;

pub(crate) struct StructReader {
    pub(super) pending: Pending,
    pub(super) children: Vec<Column>,
    pub(super) fields: Fields,
}

impl StructReader {
    /// Reads the children. Nulls of the struct are nulls of the children.
    pub(crate) fn read_children(
        &mut self,
        slots: usize,
        parent: Option<&NullBuffer>,
    ) -> Result<(Vec<ArrayRef>, Option<NullBuffer>)> {
        let own_nulls = self.pending.take(existing(slots, parent));
        let nulls = combine(parent, own_nulls);
        let children = self.children.iter_mut().map(|child| child.read(slots, nulls.as_ref()));
        Ok((children.collect::<Result<_>>()?, nulls))
    }
}

impl ColumnReader for StructReader {
    fn width(&self) -> usize {
        // Children have no rows where the struct is null.
        let of_children = || self.children.iter().map(Column::width).max().unwrap_or(0);
        if self.pending.is_free() { of_children() } else { PENDING }
    }

    fn full_width(&self) -> usize {
        let of_children = || self.children.iter().map(Column::full_width).fold(0, usize::saturating_add);
        if self.pending.is_free() { of_children() } else { PENDING }
    }

    fn rows_that_fit(&mut self, rows: usize, budget: Budget) -> Result<usize> {
        let rows = match (self.pending.is_free(), self.children.is_empty()) {
            (false, _) => budget.take_rows(rows, PENDING),
            (true, true) => budget.take_rows(rows, WEIGHTLESS),
            // Without a present stream, rows need no memory.
            (true, false) => rows,
        };
        self.pending.fill(rows, |_, _| Ok(()))?;
        let valid = self.pending.valid(rows);
        let mut fit = valid;
        for child in &mut self.children {
            fit = fit.min(child.rows_that_fit(fit, budget)?);
        }
        Ok(if fit < valid { self.pending.rows_with(rows, fit) } else { rows })
    }

    fn read(&mut self, slots: usize, parent: Option<&NullBuffer>) -> Result<ArrayRef> {
        let (children, nulls) = self.read_children(slots, parent)?;
        let array = StructArray::try_new_with_length(self.fields.clone(), children, nulls, slots);
        Ok(Arc::new(array.map_err(|error| Error::corrupt("its fields do not fit together").with_source(error))?))
    }

    fn skip(&mut self, rows: usize) -> Result<()> {
        let skipped = self.pending.skip(rows)?;
        let existing = skipped.valid + skipped.fresh;
        self.children.iter_mut().try_for_each(|child| child.skip(existing))
    }

    fn seek(&mut self, positions: &[u64], to: &GroupStart<'_>) -> Result<()> {
        self.pending.seek(positions)?;
        self.children.iter_mut().try_for_each(|child| child.seek(to))
    }
}
