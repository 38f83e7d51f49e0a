//! The plan of a stripe: the row groups that may have matching rows, by row indexes and bloom filters.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use orcish_core::error::{Error, Result};
use orcish_core::predicate::{Condition, Leaf, Pruning, Truth};

use super::filter::Filter;
use super::indexes::{index_columns, read_bloom_filters};
use super::instants::asks_instants;
use super::opener::Opener;
use super::prune::{prune_by_streams, prune_leaf, statistics_of};
use super::stripe_plan::PlannedStripe;
use crate::bloom::{BloomFilters, BloomKind, FilterContext, ValueHash, ValueHasher, hashes_of_leaf};
use crate::index::{Indexes, RowGroups};
use crate::predicate::{BLOOM_FILTER, NO_PRESENT_STREAM, ROW_GROUP_STATISTICS, ROW_NUMBERS};
use crate::stripe::{IndexKind, Stripe};
use crate::tail::Calendar;
use crate::time::WriterZone;

/// Row groups of a stripe.
pub(super) struct RowGroupPlan {
    pub(super) groups: RowGroups,
    /// What is known of each row group.
    pub(super) prunings: Vec<Pruning>,
    /// Whether the filter columns can seek to row groups.
    pub(super) can_seek: bool,
    pub(super) indexes: Indexes,
}

/// The bloom filters of a column, with the hashes of some leaves.
struct Lookup {
    filters: BloomFilters,
    keys: BTreeMap<usize, Vec<ValueHash>>,
}

impl Lookup {
    fn may_hold(&self, group: usize, leaf: usize) -> bool {
        self.keys.get(&leaf).is_none_or(|keys| self.filters.might_contain(group, keys))
    }
}

/// Prunes the row groups of a stripe, by the result for the stripe, its row indexes, and its bloom filters.
pub(super) fn plan_row_groups(
    opener: &Opener,
    filter: &Filter,
    stripe: &Stripe,
    planned: &PlannedStripe,
) -> Result<RowGroupPlan> {
    let condition = filter.condition();
    let mut pruning = planned.pruning.clone();
    pruning.refine(condition, NO_PRESENT_STREAM, |_, leaf| prune_by_streams(leaf, stripe, &opener.tail().schema))?;
    let mut groups = RowGroups::new(stripe.rows, opener.tail().row_index_stride);
    let (mut indexes, mut can_seek) = (Indexes::new(), false);
    // A single row group has the statistics of its stripe, but may have a bloom filter.
    let is_one = pruning.truth() != Truth::Maybe || groups.count() < 2;
    if is_one {
        groups = RowGroups::single(stripe.rows);
    }
    let count = groups.count();
    if count > usize::try_from(opener.limits().memory).unwrap_or(usize::MAX) / (2 * pruning.size()) {
        return Err(Error::over("memory", format!("{count} row groups, more than the memory allowed has room for")));
    }
    let mut prunings = vec![pruning; count];
    if !is_one {
        can_seek = index_columns(opener, stripe, groups, &opener.ids_of(stripe, &filter.columns), &mut indexes)?;
        let columns = condition.columns();
        // An unknown zone is an error when values are read.
        let zone = opener.request.reader_zone.clone().or_else(|| WriterZone::parse(&stripe.writer_timezone).ok());
        let first_row = planned.first_row;
        for (group, pruning) in prunings.iter_mut().enumerate() {
            let rows = groups.rows(group);
            let numbers = first_row + rows.start..first_row.saturating_add(rows.end);
            condition.prune_row_numbers(pruning, &numbers, ROW_NUMBERS)?;
            refine_group(opener, pruning, condition, &columns, (groups, group), &indexes, zone.as_ref())?;
        }
    }
    look_up(opener, condition, stripe, groups, &mut prunings)?;
    Ok(RowGroupPlan { groups, prunings, can_seek, indexes })
}

/// Adds what the statistics of a row group prove. `columns` are the filter columns.
fn refine_group(
    opener: &Opener,
    pruning: &mut Pruning,
    condition: &Condition,
    columns: &[u32],
    (groups, group): (RowGroups, usize),
    indexes: &Indexes,
    zone: Option<&WriterZone>,
) -> Result<()> {
    let of_index = |id: &u32| match indexes.get(id) {
        Some(index) => index.statistics(*id, group, opener.tail()),
        None => Ok(None),
    };
    let statistics = columns.iter().map(of_index).collect::<Result<Vec<_>>>()?;
    let rows = groups.rows(group);
    pruning.refine(condition, ROW_GROUP_STATISTICS, |_, leaf| {
        let statistics = |id| statistics_of(id, columns, &statistics);
        prune_leaf(leaf, rows.end - rows.start, opener.tail(), zone, &statistics)
    })
}

/// Tests the undecided row groups by bloom filters, column by column.
fn look_up(
    opener: &Opener,
    condition: &Condition,
    stripe: &Stripe,
    groups: RowGroups,
    prunings: &mut [Pruning],
) -> Result<()> {
    for column in condition.columns() {
        let is_open = |pruning: &Pruning| pruning.truth() == Truth::Maybe;
        let open = |leaf: usize| prunings.iter().any(|pruning| is_open(pruning) && pruning.leaf(leaf) == Truth::Maybe);
        let leaves = condition.leaves().iter().enumerate().filter(|(_, leaf)| leaf.column == Some(column));
        let leaves: Vec<_> = leaves.filter(|(index, _)| open(*index)).collect();
        let Some(lookup) = filters_of(opener, column, &leaves, stripe, groups)? else { continue };
        for (group, pruning) in prunings.iter_mut().enumerate() {
            pruning.refine(condition, BLOOM_FILTER, |leaf, _| {
                Ok(if lookup.may_hold(group, leaf) { Truth::Maybe } else { Truth::Never })
            })?;
        }
    }
    Ok(())
}

/// The bloom filters of a column, and the hashes of the `leaves` that they can decide; `None` if they decide none.
fn filters_of(
    opener: &Opener,
    id: u32,
    leaves: &[(usize, &Leaf)],
    stripe: &Stripe,
    groups: RowGroups,
) -> Result<Option<Lookup>> {
    let tail = opener.tail();
    let column = tail.schema.get(id)?;
    let kinds = [(IndexKind::BloomFilterUtf8, BloomKind::Utf8), (IndexKind::BloomFilter, BloomKind::Original)];
    for (index, stream) in kinds {
        if leaves.is_empty() || stripe.index(id, index).is_none() {
            continue;
        }
        let maker = ValueHasher::new(&FilterContext {
            writer: tail.writer,
            writer_version: tail.writer_version,
            software_version: tail.software_version.as_deref(),
            proleptic: tail.calendar == Calendar::ProlepticGregorian,
            is_unstable_pre_2_0: tail.has_decimal64(),
            writer_timezone: &stripe.writer_timezone,
            stream,
            bloom_encoding: stripe.bloom_encoding(id),
            column,
        });
        let zone = |leaf: &Leaf| opener.request.reader_zone.as_ref().filter(|_| asks_instants(leaf, column));
        let keys =
            leaves.iter().filter_map(|(at, leaf)| Some((*at, hashes_of_leaf(leaf, column.kind, &maker, zone(leaf))?)));
        let keys: BTreeMap<_, _> = keys.collect();
        if keys.is_empty() {
            continue;
        }
        let Some(filters) = read_bloom_filters(opener, stripe, groups, id, index)? else { continue };
        return Ok(Some(Lookup { filters, keys }));
    }
    Ok(None)
}
