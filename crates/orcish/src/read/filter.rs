//! The filter of a read, and the columns that are read for it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{ArrayRef, Int64Array};
use orcish_core::error::{Error, Result};
use orcish_core::predicate::{Condition, PruneResult, Test, Truth, ValueSet};

use crate::projection::{Projected, Projection};
use crate::tail::FileTail;

/// A condition, its columns, and the other columns.
pub(super) struct Filter {
    pub(super) condition: Condition,
    /// The columns that the condition reads.
    pub(super) projection: Projection,
    /// The filter columns: children of the root, or the root itself.
    pub(super) columns: Vec<Projected>,
    /// For each leaf, the path of its column: an index among the filter columns, then indexes of children.
    pub(super) paths: Vec<Vec<usize>>,
    /// For each column of the batches, its index among the filter columns, if it is one of them.
    pub(super) shared: Vec<Option<usize>>,
    /// Bounds of timestamps that are compared with all digits, by the ids of their columns.
    pub(super) bounds: TimestampBounds,
}

/// Bounds of timestamps in nanoseconds, ascending, by the ids of columns.
pub(super) type TimestampBounds = BTreeMap<u32, Arc<[i128]>>;

/// Resolves the columns of a condition among its projection and among the columns of the batches.
pub(super) fn new_filter(
    condition: Condition,
    projection: Projection,
    is_struct: bool,
    columns: &[Projected],
    tail: &FileTail,
) -> Result<Filter> {
    let has_columns = condition.leaves.iter().any(|leaf| !leaf.is_of_row_number());
    let filter_columns = if has_columns { columns_of(&projection.root, is_struct) } else { Vec::new() };
    let path = |column: u32| {
        let (mut steps, mut level) = (Vec::new(), &filter_columns[..]);
        loop {
            let last = |child: &Projected| tail.schema.get(child.id).map_or(child.id, |this| this.last);
            let holds = |child: &Projected| child.id <= column && column <= last(child);
            let Some(at) = level.iter().position(holds) else { return steps };
            steps.push(at);
            let Some(child) = level.get(at).filter(|child| child.id != column) else { return steps };
            level = &child.children;
        }
    };
    let paths = condition.leaves.iter().map(|leaf| path(leaf.column)).collect();
    let shared = columns.iter().map(|column| filter_columns.iter().position(|other| other == column)).collect();
    let bounds = timestamp_bounds(&condition);
    Ok(Filter { condition, projection, columns: filter_columns, paths, shared, bounds })
}

/// Where sets of timestamps begin and end that have digits below the unit in which the timestamps are read.
fn timestamp_bounds(condition: &Condition) -> TimestampBounds {
    let mut found: BTreeMap<u32, BTreeSet<i128>> = BTreeMap::new();
    for leaf in &condition.leaves {
        if let Test::In(set) = &leaf.test
            && let ValueSet::Ticks { exact: Some(ranges), .. } = &**set
        {
            let bounds = ranges.as_slice().iter().flat_map(|&(start, end)| [Some(start), end]).flatten();
            found.entry(leaf.column).or_default().extend(bounds);
        }
    }
    found.into_iter().map(|(column, bounds)| (column, bounds.into_iter().collect())).collect()
}

impl Filter {
    /// The payload columns: `columns` of the batches that are not filter columns.
    pub(super) fn payload_columns(&self, columns: &[Projected]) -> Vec<Projected> {
        columns
            .iter()
            .zip(&self.shared)
            .filter(|(_, shared)| shared.is_none())
            .map(|(column, _)| column.clone())
            .collect()
    }

    /// The values of a leaf: those of its column among the arrays of the filter columns, or the numbers of `rows`.
    pub(super) fn values(&self, leaf: usize, arrays: &[ArrayRef], rows: Range<u64>) -> Result<ArrayRef> {
        let missing = || Error::invalid("a column of the filter is missing");
        if self.condition.leaves.get(leaf).ok_or_else(missing)?.is_of_row_number() {
            return Ok(row_numbers(rows));
        }
        let mut path = self.paths.get(leaf).ok_or_else(missing)?.iter();
        let mut array = path.next().and_then(|&at| arrays.get(at)).ok_or_else(missing)?.clone();
        for &at in path {
            let inner = array.as_struct_opt().and_then(|parent| parent.columns().get(at)).ok_or_else(missing)?.clone();
            array = inner;
        }
        Ok(array)
    }

    /// Whether the filter columns have to be read.
    pub(super) fn is_needed(&self, kept: &[(Range<usize>, Truth)]) -> bool {
        let undecided = kept.iter().any(|(_, truth)| *truth == Truth::Maybe);
        undecided || !kept.is_empty() && self.shared.iter().any(Option::is_some)
    }
}

/// The numbers of rows as an array.
pub(super) fn row_numbers(rows: impl IntoIterator<Item = u64>) -> ArrayRef {
    let number = |row: u64| i64::try_from(row).unwrap_or(i64::MAX);
    Arc::new(rows.into_iter().map(number).collect::<Int64Array>())
}

/// Runs of adjacent row groups with the same truth, without row groups that have no matching row.
pub(super) fn runs(results: &[PruneResult]) -> impl Iterator<Item = (Range<usize>, Truth)> {
    let mut start = 0;
    results.chunk_by(|a, b| a.truth == b.truth).filter_map(move |run| {
        let range = start..start + run.len();
        start = range.end;
        run.first().filter(|result| result.truth != Truth::Never).map(|result| (range, result.truth))
    })
}

/// Columns of the batches of a projection.
pub(super) fn columns_of(root: &Projected, is_struct: bool) -> Vec<Projected> {
    if is_struct { root.children.clone() } else { vec![root.clone()] }
}
