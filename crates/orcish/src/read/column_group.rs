//! Column groups of a stripe. One thread at a time decodes a group.

use arrow_array::Array as _;
use orcish_core::allocation::ROOM;
use orcish_core::error::{Error, Result};

use super::column::{Context, build, build_root};
use super::decoded::DecodedRows;
use super::filtered::FilteredStripe;
use super::plan::Plan;
use super::rows::Columns;
use crate::projection::Projected;
use crate::stripe::Stripe;
use crate::tuning;

/// A stripe, and the readers of its columns.
pub(super) struct OpenStripe {
    pub(super) rows: u64,
    pub(super) groups: Vec<ColumnGroup>,
}

/// Columns that one thread at a time decodes.
pub(super) struct ColumnGroup {
    /// Indexes of the columns in the batch.
    pub(super) columns: Vec<usize>,
    pub(super) reader: ColumnGroupReader,
    /// Number of groups of the stripe.
    groups: usize,
}

/// The reader of the columns of a group.
pub(super) enum ColumnGroupReader {
    Columns(Columns),
    Filtered(Box<FilteredStripe>),
    /// Rows without columns.
    Rows,
}

impl ColumnGroup {
    /// Decodes some of the `left` rows.
    pub(super) fn decode(&mut self, left: u64, plan: &Plan) -> Result<DecodedRows> {
        let rows = usize::try_from(left).unwrap_or(usize::MAX).min(plan.batch_size);
        let budget = plan.budget(self.groups);
        ROOM.check(budget.group())?;
        let (arrays, rows) = match (&mut self.reader, &plan.filter) {
            (ColumnGroupReader::Filtered(stripe), Some(filter)) => {
                let rows = stripe.next(left, plan, filter)?;
                ROOM.fill(rows.bytes);
                return Ok(rows);
            }
            (ColumnGroupReader::Filtered(_), None) => return Err(Error::invalid("a filter is missing")),
            (ColumnGroupReader::Columns(reader), _) => reader.read(rows, budget)?,
            (ColumnGroupReader::Rows, _) => (Vec::new(), rows),
        };
        let bytes = arrays.iter().map(|array| array.get_buffer_memory_size() as u64).sum();
        ROOM.fill(bytes);
        Ok(DecodedRows { arrays, rows, bytes, passed: rows as u64 })
    }
}

impl Plan {
    /// Reads a stripe and makes the readers of its columns.
    pub(super) fn open(&self, index: usize) -> Result<OpenStripe> {
        let open = || {
            if self.needs_rows_only(index) {
                let rows = ColumnGroup { columns: Vec::new(), reader: ColumnGroupReader::Rows, groups: 1 };
                return Ok(OpenStripe { rows: self.rows_of(index), groups: vec![rows] });
            }
            if let Some(filter) = &self.filter {
                let stripe = FilteredStripe::open(self, filter, index)?;
                let reader = ColumnGroupReader::Filtered(Box::new(stripe));
                let columns = (0..self.physical.fields().len()).collect();
                let groups = vec![ColumnGroup { columns, reader, groups: 1 }];
                return Ok(OpenStripe { rows: self.rows_of(index), groups });
            }
            let wanted = |id| self.projection.contains(id);
            let (limits, all) = (self.limits(), self.projection.all);
            let stripe = Stripe::open(&*self.source, &self.tail, index, limits, &self.memory, all, &wanted)?;
            let groups = self.groups(&stripe)?;
            Ok(OpenStripe { rows: stripe.rows, groups })
        };
        open().map_err(|error: Error| error.in_section("stripe", index))
    }

    fn groups(&self, stripe: &Stripe) -> Result<Vec<ColumnGroup>> {
        let context = self.context(stripe);
        if self.is_struct {
            return self.root_groups(&context);
        }
        let columns = self.columns.iter().zip(self.physical.fields());
        let columns = columns.map(|(column, field)| build(&context, column, field.data_type()));
        let group = |column| {
            let reader = ColumnGroupReader::Columns(Columns::Root(column));
            ColumnGroup { columns: vec![0], reader, groups: 1 }
        };
        Ok(columns.collect::<Result<Vec<_>>>()?.into_iter().map(group).collect())
    }

    /// Deals the columns out, the largest first, each to the group that has least.
    fn root_groups(&self, context: &Context<'_>) -> Result<Vec<ColumnGroup>> {
        let max_groups = self.threads * tuning::GROUPS_PER_THREAD.get();
        let count = if self.threads == 1 { 1 } else { max_groups.min(self.columns.len()).max(1) };
        let bytes = |column: &Projected| {
            let last = self.tail.schema.get(column.id).map_or(column.id, |this| this.last);
            context.stripe.stored_bytes(column.id..=last)
        };
        let mut sizes: Vec<_> = self.columns.iter().map(bytes).enumerate().collect();
        if count > 1 {
            sizes.sort_by_key(|&(_, size)| std::cmp::Reverse(size));
        }
        let mut dealt: Vec<(u64, Vec<usize>)> = vec![(0, Vec::new()); count];
        for (index, size) in sizes {
            if let Some((sum, indexes)) = dealt.iter_mut().min_by_key(|(sum, indexes)| (*sum, indexes.len())) {
                *sum += size;
                indexes.push(index);
            }
        }
        let group = |(_, columns): (u64, Vec<usize>)| {
            let typed =
                |&index: &usize| Some((self.columns.get(index)?, self.physical.fields().get(index)?.data_type()));
            let projected: Vec<_> = columns.iter().filter_map(typed).collect();
            Ok(ColumnGroup {
                reader: ColumnGroupReader::Columns(Columns::OfRoot(Box::new(build_root(context, &projected)?))),
                columns,
                groups: count,
            })
        };
        dealt.into_iter().map(group).collect()
    }
}
