//! What statistics and streams prove of the leaves of a condition.

use std::borrow::Cow;

use orcish_core::error::{OrInternal as _, Result};
use orcish_core::predicate::{Leaf, Test, Truth};
use orcish_core::statistics::ColumnStatistics;

use super::instants::{asks_instants, of_instants};
use crate::schema::Schema;
use crate::stripe::Stripe;
use crate::tail::FileTail;
use crate::time::WriterZone;

/// The statistics of column `id`, if known. `statistics` are those of `columns`, which are ascending.
pub(super) fn statistics_of<'a>(
    id: u32,
    columns: &[u32],
    statistics: &'a [Option<ColumnStatistics>],
) -> Result<Option<Cow<'a, ColumnStatistics>>> {
    let statistics = columns.binary_search(&id).ok().and_then(|at| statistics.get(at));
    Ok(statistics.or_internal("the statistics of a filter column were not looked up")?.as_ref().map(Cow::Borrowed))
}

/// What statistics of `rows` rows prove of a leaf. `statistics` returns those of a column, if known. Recorded timestamps are
/// local times in `zone`, if known.
pub(super) fn prune_leaf<'a>(
    leaf: &Leaf,
    rows: u64,
    tail: &FileTail,
    zone: Option<&WriterZone>,
    statistics: &dyn Fn(u32) -> Result<Option<Cow<'a, ColumnStatistics>>>,
) -> Result<Truth> {
    // Numbers of rows have no statistics.
    let Some(id) = leaf.column else { return Ok(Truth::Maybe) };
    let Some(statistics) = statistics(id)? else { return Ok(Truth::Maybe) };
    let column = tail.schema.get(id)?;
    let is_top = column.parent.is_none_or(|parent| parent == 0);
    if asks_instants(leaf, column) {
        return Ok(leaf.prune(&of_instants(&statistics, zone), rows, is_top));
    }
    Ok(leaf.prune(&statistics, rows, is_top))
}

/// What the streams of a stripe prove of a leaf: without present streams there are no nulls. A file may state more rows
/// without bytes than can be evaluated.
pub(super) fn prune_by_streams(leaf: &Leaf, stripe: &Stripe, schema: &Schema) -> Result<Truth> {
    if leaf.may_become_null || leaf.column.is_none() {
        return Ok(Truth::Maybe);
    }
    let mut ancestor = leaf.column;
    while let Some(id) = ancestor {
        if stripe.has_present(id) {
            return Ok(Truth::Maybe);
        }
        ancestor = schema.get(id)?.parent;
    }
    Ok(match leaf.test {
        Test::IsNull => Truth::Never,
        Test::NotNull => Truth::Always,
        Test::In(_) => Truth::Maybe,
    })
}
