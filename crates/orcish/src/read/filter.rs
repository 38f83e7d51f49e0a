//! The filter of a read, and the columns that are read for it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array};
use arrow_buffer::BooleanBuffer;
use orcish_core::error::{OrInternal as _, Result};
use orcish_core::predicate::{BatchFilter, Condition, Pruning, Test, Truth, ValueSet};

use crate::projection::{Projected, Projection};
use crate::schema::Schema;

/// A condition, its columns, and the other columns.
pub(super) struct Filter {
    /// The condition on the filter columns, which are followed by the numbers of the rows.
    batch_filter: BatchFilter,
    /// The columns that the condition reads.
    pub(super) projection: Projection,
    /// The filter columns: children of the root, or the root itself.
    pub(super) columns: Vec<Projected>,
    /// For each column of the batches, its index among the filter columns, if it is one of them.
    pub(super) shared: Vec<Option<usize>>,
    /// Bounds of timestamps that are compared with all digits, by the ids of their columns.
    pub(super) bounds: TimestampBounds,
}

/// Bounds of timestamps in nanoseconds, ascending, by the ids of columns.
pub(super) type TimestampBounds = BTreeMap<u32, Arc<[i128]>>;

/// The path to column `id`: an index among `columns`, then indexes of children.
fn path_to(id: u32, columns: &[Projected]) -> Result<Vec<usize>> {
    let (mut path, mut level) = (Vec::new(), columns);
    loop {
        // Ids are in preorder: a column has a lower id than those below it, and these have lower ids than its next sibling.
        let above = level.iter().enumerate().filter(|(_, child)| child.id <= id);
        let (at, child) = above.max_by_key(|(_, child)| child.id).or_internal("a column of a filter is not read")?;
        path.push(at);
        if child.id == id {
            return Ok(path);
        }
        level = &child.children;
    }
}

/// Where sets of timestamps begin and end that have digits below the unit in which the timestamps are read.
fn timestamp_bounds(condition: &Condition) -> TimestampBounds {
    let mut columns: BTreeMap<u32, BTreeSet<i128>> = BTreeMap::new();
    for leaf in condition.leaves() {
        if let (Some(id), Test::In(set)) = (leaf.column, &leaf.test)
            && let ValueSet::Ticks { exact: Some(ranges), .. } = &**set
        {
            let bounds = ranges.as_slice().iter().flat_map(|&(start, end)| [Some(start), end]).flatten();
            columns.entry(id).or_default().extend(bounds);
        }
    }
    // A set of all timestamps, or of none, has no bounds.
    let columns = columns.into_iter().filter(|(_, bounds)| !bounds.is_empty());
    columns.map(|(column, bounds)| (column, bounds.into_iter().collect())).collect()
}

impl Filter {
    /// Resolves the columns of a condition: those that it reads, and those that are among the `columns` of the batches, too.
    ///
    /// # Errors
    /// `Internal` where the condition was bound to another schema.
    pub(super) fn try_new(
        condition: Condition,
        schema: &Schema,
        is_struct: bool,
        columns: &[Projected],
    ) -> Result<Self> {
        let ids = condition.columns();
        let projection = Projection::for_filter(schema, &ids)?;
        let filter_columns = if ids.is_empty() { Vec::new() } else { projection.columns(is_struct) };
        let shared = columns.iter().map(|column| filter_columns.iter().position(|other| other == column)).collect();
        let bounds = timestamp_bounds(&condition);
        let batch_filter = BatchFilter::of_condition(condition, |leaf| match leaf.column {
            Some(id) => path_to(id, &filter_columns),
            None => Ok(vec![filter_columns.len()]),
        })?;
        Ok(Filter { batch_filter, projection, columns: filter_columns, shared, bounds })
    }

    /// The condition.
    pub(super) fn condition(&self) -> &Condition {
        self.batch_filter.condition()
    }

    /// The payload columns: `columns` of the batches that are not filter columns.
    pub(super) fn payload_columns(&self, columns: &[Projected]) -> Vec<Projected> {
        columns
            .iter()
            .zip(&self.shared)
            .filter(|(_, shared)| shared.is_none())
            .map(|(column, _)| column.clone())
            .collect()
    }

    /// A mask of the rows for which the condition is true. `arrays` are the filter columns, `rows` the numbers of the rows.
    pub(super) fn evaluate(&self, arrays: &[ArrayRef], rows: Range<u64>) -> Result<BooleanBuffer> {
        let count = usize::try_from(rows.end - rows.start).or_internal("a window has more rows than memory")?;
        let column = |at: usize| {
            if at == self.columns.len() {
                return row_numbers(rows.clone());
            }
            arrays.get(at).cloned().or_internal("a filter column was not read")
        };
        Ok(self.batch_filter.evaluate(&column, count)?.into_parts().0)
    }

    /// Whether the filter columns have to be read.
    pub(super) fn is_needed(&self, kept: &[(Range<usize>, Truth)]) -> bool {
        let undecided = kept.iter().any(|(_, truth)| *truth == Truth::Maybe);
        undecided || !kept.is_empty() && self.shared.iter().any(Option::is_some)
    }
}

/// The numbers of rows as an array.
pub(super) fn row_numbers(rows: impl IntoIterator<Item = u64>) -> Result<ArrayRef> {
    let number = |row: u64| i64::try_from(row).or_internal("a row has a number of more than 63 bits");
    Ok(Arc::new(rows.into_iter().map(number).collect::<Result<Int64Array>>()?))
}

/// Runs of adjacent row groups with the same truth, without row groups that have no matching row.
pub(super) fn runs(prunings: &[Pruning]) -> impl Iterator<Item = (Range<usize>, Truth)> {
    let mut start = 0;
    prunings.chunk_by(|a, b| a.truth() == b.truth()).filter_map(move |run| {
        let range = start..start + run.len();
        start = range.end;
        let truth = run.first()?.truth();
        (truth != Truth::Never).then_some((range, truth))
    })
}
