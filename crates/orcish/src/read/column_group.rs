//! Column groups of a stripe. One thread at a time decodes a group.

use arrow_array::Array as _;
use arrow_schema::DataType;
use orcish_core::allocation::ROOM;
use orcish_core::error::{Error, OrInternal as _, Result};

use super::column::{build, build_root};
use super::decoded::DecodedRows;
use super::filtered::FilteredStripe;
use super::opener::Opener;
use super::request::ReadRequest;
use super::rows::ColumnsReader;
use super::stripe_plan::PlannedStripe;
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
    Columns(ColumnsReader),
    Filtered(Box<FilteredStripe>),
    /// Rows without columns.
    Rows,
}

impl ColumnGroup {
    /// Decodes some of the remaining rows of the stripe.
    pub(super) fn decode(&mut self, remaining_rows: u64, opener: &Opener) -> Result<DecodedRows> {
        let rows = usize::try_from(remaining_rows).unwrap_or(usize::MAX).min(opener.request.batch_size);
        let budget = opener.request.budget(self.groups);
        ROOM.check(budget.group())?;
        let (arrays, rows) = match (&mut self.reader, &opener.request.filter) {
            (ColumnGroupReader::Filtered(stripe), Some(filter)) => {
                let rows = stripe.next(remaining_rows, opener, filter)?;
                ROOM.fill(rows.bytes);
                return Ok(rows);
            }
            (ColumnGroupReader::Filtered(_), None) => {
                return Err(Error::internal("a stripe is filtered without a filter"));
            }
            (ColumnGroupReader::Columns(reader), _) => reader.read(rows, budget)?,
            (ColumnGroupReader::Rows, _) => (Vec::new(), rows),
        };
        let bytes = arrays.iter().map(|array| array.get_buffer_memory_size() as u64).sum();
        ROOM.fill(bytes);
        Ok(DecodedRows { arrays, rows, bytes, passed: rows as u64 })
    }
}

/// Reads a stripe and makes the readers of its columns, for a number of decoding threads.
pub(super) fn open_stripe(opener: &Opener, planned: &PlannedStripe, threads: usize) -> Result<OpenStripe> {
    let open = || {
        let whole = |columns, reader| {
            let groups = vec![ColumnGroup { columns, reader, groups: 1 }];
            OpenStripe { rows: planned.rows, groups }
        };
        if planned.needs_rows_only(&opener.request) {
            return Ok(whole(Vec::new(), ColumnGroupReader::Rows));
        }
        if let Some(filter) = &opener.request.filter {
            let stripe = FilteredStripe::open(opener, filter, planned)?;
            let columns = (0..opener.request.physical.fields().len()).collect();
            return Ok(whole(columns, ColumnGroupReader::Filtered(Box::new(stripe))));
        }
        let stripe = opener.read_whole(planned.index)?;
        Ok(OpenStripe { rows: stripe.rows, groups: column_groups(opener, &stripe, threads)? })
    };
    open().map_err(|error: Error| error.in_section("stripe", planned.index))
}

/// Columns of the batches with their Arrow types.
fn typed_columns(request: &ReadRequest) -> impl Iterator<Item = (&Projected, &DataType)> {
    request.columns.iter().zip(request.physical.fields()).map(|(column, field)| (column, field.data_type()))
}

/// Columns of a group.
#[derive(Clone, Default)]
struct DealtColumns<'a> {
    stored_bytes: u64,
    /// Indexes of the columns in the batch.
    indexes: Vec<usize>,
    columns: Vec<(&'a Projected, &'a DataType)>,
}

/// Deals the columns out, the largest first, each to the group that has least.
fn column_groups(opener: &Opener, stripe: &Stripe, threads: usize) -> Result<Vec<ColumnGroup>> {
    let (request, context) = (&opener.request, opener.context(stripe));
    if !request.is_struct {
        let group = |(column, data_type)| {
            let reader = ColumnGroupReader::Columns(ColumnsReader::Root(build(&context, column, data_type)?));
            Ok(ColumnGroup { columns: vec![0], reader, groups: 1 })
        };
        return typed_columns(request).map(group).collect();
    }
    let max_groups = threads * tuning::GROUPS_PER_THREAD.get();
    let count = if threads == 1 { 1 } else { max_groups.min(request.columns.len()).max(1) };
    let mut columns = Vec::with_capacity(request.columns.len());
    for (index, (column, data_type)) in typed_columns(request).enumerate() {
        let last = request.tail.schema.get(column.id)?.last;
        columns.push((stripe.stored_bytes(column.id..=last), index, (column, data_type)));
    }
    if count > 1 {
        columns.sort_by_key(|&(size, ..)| std::cmp::Reverse(size));
    }
    let mut dealt: Vec<DealtColumns<'_>> = vec![DealtColumns::default(); count];
    for (size, index, column) in columns {
        let least = dealt.iter_mut().min_by_key(|group| (group.stored_bytes, group.indexes.len()));
        let least = least.or_internal("there is no column group")?;
        least.stored_bytes += size;
        least.indexes.push(index);
        least.columns.push(column);
    }
    let group = |dealt: DealtColumns<'_>| {
        let reader = ColumnsReader::OfRoot(Box::new(build_root(&context, &dealt.columns)?));
        Ok(ColumnGroup { reader: ColumnGroupReader::Columns(reader), columns: dealt.indexes, groups: count })
    };
    dealt.into_iter().map(group).collect()
}
