//! The filter of a read, and the columns that are read for it.

use std::ops::Range;

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray as _;
use orcish_core::error::{Error, Result};
use orcish_core::predicate::{Condition, PruneResult, Truth};

use crate::projection::{Projected, Projection};
use crate::tail::FileTail;

/// A condition, with what is read to decide it and what else.
pub(super) struct Filter {
    pub(super) condition: Condition,
    /// What is read to decide it.
    pub(super) projection: Projection,
    /// The columns that it asks, as the root has them.
    pub(super) asked: Vec<Projected>,
    /// Where among `asked` the column of each leaf is: the way down.
    pub(super) paths: Vec<Vec<usize>>,
    /// For each column of the batches, which of `asked` it is, if it is one.
    pub(super) shared: Vec<Option<usize>>,
}

/// Finds the columns of a condition among those that are read for it, and those among the batches' columns.
pub(super) fn new_filter(
    condition: Condition,
    projection: Projection,
    is_struct: bool,
    columns: &[Projected],
    tail: &FileTail,
) -> Result<Filter> {
    let asked = columns_of(&projection.root, is_struct);
    let path = |column: u32| {
        let (mut way, mut level) = (Vec::new(), &asked[..]);
        loop {
            let last = |child: &Projected| tail.schema.get(child.id).map_or(child.id, |this| this.last);
            let holds = |child: &Projected| child.id <= column && column <= last(child);
            let Some(at) = level.iter().position(holds) else { return way };
            way.push(at);
            let Some(child) = level.get(at).filter(|child| child.id != column) else { return way };
            level = &child.children;
        }
    };
    let paths = condition.leaves.iter().map(|leaf| path(leaf.column)).collect();
    let shared = columns.iter().map(|column| asked.iter().position(|asked| asked == column)).collect();
    Ok(Filter { condition, projection, asked, paths, shared })
}

impl Filter {
    /// Those of `columns`, which are those of the batches, that it does not ask.
    pub(super) fn rest(&self, columns: &[Projected]) -> Vec<Projected> {
        columns
            .iter()
            .zip(&self.shared)
            .filter(|(_, shared)| shared.is_none())
            .map(|(column, _)| column.clone())
            .collect()
    }

    /// The values of a leaf's column, among those that were read.
    pub(super) fn values(&self, leaf: usize, arrays: &[ArrayRef]) -> Result<ArrayRef> {
        let missing = || Error::invalid("a column of the filter is missing");
        let mut way = self.paths.get(leaf).ok_or_else(missing)?.iter();
        let mut array = way.next().and_then(|&at| arrays.get(at)).ok_or_else(missing)?.clone();
        for &at in way {
            let inner = array.as_struct_opt().and_then(|parent| parent.columns().get(at)).ok_or_else(missing)?.clone();
            array = inner;
        }
        Ok(array)
    }

    /// Whether the columns that are asked have to be read.
    pub(super) fn is_needed(&self, kept: &[(Range<usize>, Truth)]) -> bool {
        let undecided = kept.iter().any(|(_, truth)| *truth == Truth::Maybe);
        undecided || !kept.is_empty() && self.shared.iter().any(Option::is_some)
    }
}

/// Neighbouring row groups of which the same is known, but for those without a wanted row.
pub(super) fn runs(verdicts: &[PruneResult]) -> impl Iterator<Item = (Range<usize>, Truth)> {
    let mut start = 0;
    verdicts.chunk_by(|a, b| a.truth == b.truth).filter_map(move |run| {
        let range = start..start + run.len();
        start = range.end;
        run.first().filter(|verdict| verdict.truth != Truth::Never).map(|verdict| (range, verdict.truth))
    })
}

/// The columns of the batches that a projection gives.
pub(super) fn columns_of(root: &Projected, is_struct: bool) -> Vec<Projected> {
    if is_struct { root.children.clone() } else { vec![root.clone()] }
}
