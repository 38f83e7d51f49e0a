//! Pruning of stripes and row groups without matching rows.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;

use bytes::Bytes;
use orcish_core::cancel::Cancellation;
use orcish_core::error::{Error, OrInternal as _, Result};
use orcish_core::limits::Limits;
use orcish_core::predicate::{Condition, Leaf, Pruning, Test, Truth};
use orcish_core::statistics::ColumnStatistics;
use orcish_io::ReadAt;
use orcish_io::read_with_limits;

use super::filter::Filter;
use super::instants::{asks_instants, of_instants};
use super::plan::Plan;
use super::selection::Selection;
use crate::bloom::hashes_of_leaf;
use crate::bloom::{BloomFilters, BloomKind, FilterContext, ValueHash, ValueHasher};
use crate::codec::decompress_all;
use crate::index::{ColumnIndex, Indexes, RowGroups, find_defect};
use crate::predicate::{
    BLOOM_FILTER, FILE_STATISTICS, NO_PRESENT_STREAM, ROW_GROUP_STATISTICS, ROW_NUMBERS, STRIPE_STATISTICS,
};
use crate::stripe::{IndexKind, Stripe};
use crate::tail::{Calendar, FileTail};
use crate::time::WriterZone;
use crate::warnings::with_column;

/// Row groups of a stripe.
pub(super) struct Pruned {
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

/// What statistics of the file and of stripes prove of the selected stripes; empty without a condition.
pub(super) fn prune_stripes(selection: &Selection, cancellation: &mut Cancellation) -> Result<Vec<Pruning>> {
    let Some(condition) = &selection.condition else { return Ok(Vec::new()) };
    let (tail, stripes, limits) = (&*selection.tail, &selection.stripes, &selection.options.limits);
    let zone = selection.reader_zone.as_ref();
    let mut whole = Pruning::UNKNOWN;
    condition.prune_row_numbers(&mut whole, &(0..tail.rows), ROW_NUMBERS)?;
    whole.refine(condition, FILE_STATISTICS, |_, leaf| {
        prune_leaf(leaf, tail.rows, tail, zone, &|id| Ok(tail.column_statistics(id)?.map(Cow::Owned)))
    })?;
    if whole.truth() != Truth::Maybe || tail.stripes.len() < 2 {
        return Ok(vec![whole; stripes.len()]);
    }
    let columns = condition.columns();
    let of_stripes = if tail.stripe_statistics.is_empty() || columns.is_empty() {
        Vec::new()
    } else {
        let section = stripe_statistics(&*selection.source, tail, limits)?;
        tail.parse_stripe_statistics_of(section, &columns, limits, cancellation)?
    };
    let mut of_stripe = |&stripe: &usize| {
        cancellation.poll()?;
        let mut pruning = whole.clone();
        let info = tail.stripes.get(stripe).or_internal("a selected stripe is none of the file")?;
        let rows = info.first_row..info.first_row.saturating_add(info.rows);
        condition.prune_row_numbers(&mut pruning, &rows, ROW_NUMBERS)?;
        // A file need not have statistics of its stripes.
        if let Some(statistics) = of_stripes.get(stripe) {
            pruning.refine(condition, STRIPE_STATISTICS, |_, leaf| {
                prune_leaf(leaf, info.rows, tail, zone, &|id| statistics_of(id, &columns, statistics))
            })?;
        }
        Ok(pruning)
    };
    stripes.iter().map(|stripe| of_stripe(stripe).map_err(|error: Error| error.in_section("stripe", *stripe))).collect()
}

/// The statistics of column `id`, if known. `statistics` are those of `columns`, which are ascending.
fn statistics_of<'a>(
    id: u32,
    columns: &[u32],
    statistics: &'a [Option<ColumnStatistics>],
) -> Result<Option<Cow<'a, ColumnStatistics>>> {
    let statistics = columns.binary_search(&id).ok().and_then(|at| statistics.get(at));
    Ok(statistics.or_internal("the statistics of a filter column were not looked up")?.as_ref().map(Cow::Borrowed))
}

/// The stripe statistics as stored.
pub(super) fn stripe_statistics(source: &dyn ReadAt, tail: &FileTail, limits: &Limits) -> Result<Bytes> {
    let range = tail.stripe_statistics.clone();
    if range.end - range.start > limits.tail {
        return Err(Error::over("tail", "stripe statistics of more bytes than allowed"));
    }
    match tail.stored_stripe_statistics() {
        Some(section) => Ok(section),
        None => read_with_limits(source, &[range], limits)?.pop().or_internal("a range was not read"),
    }
}

/// What statistics of `rows` rows prove of a leaf. `statistics` returns those of a column, if known. Recorded timestamps are
/// local times in `zone`, if known.
fn prune_leaf<'a>(
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

impl Plan {
    /// Prunes the row groups of a stripe, by the result for the stripe, its row indexes, and its bloom filters.
    pub(super) fn prune(&self, filter: &Filter, stripe: &Stripe, index: usize) -> Result<Pruned> {
        let condition = filter.condition();
        let mut pruning = self.pruning(index);
        pruning.refine(condition, NO_PRESENT_STREAM, |_, leaf| self.prune_by_streams(leaf, stripe))?;
        let mut groups = RowGroups::new(stripe.rows, self.tail().row_index_stride);
        let (mut indexes, mut can_seek) = (Indexes::new(), false);
        // A single row group has the statistics of its stripe, but may have a bloom filter.
        let is_one = pruning.truth() != Truth::Maybe || groups.count() < 2;
        if is_one {
            groups = RowGroups::single(stripe.rows);
        }
        let count = groups.count();
        if count > usize::try_from(self.limits().memory).unwrap_or(usize::MAX) / (2 * pruning.size()) {
            return Err(Error::over(
                "memory",
                format!("{count} row groups, more than the memory allowed has room for"),
            ));
        }
        let mut prunings = vec![pruning; count];
        if !is_one {
            can_seek = self.index_columns(stripe, groups, &self.ids_of(stripe, &filter.columns), &mut indexes)?;
            let columns = condition.columns();
            // An unknown zone is an error when values are read.
            let zone = self.reader_zone.clone().or_else(|| WriterZone::parse(&stripe.writer_timezone).ok());
            let first_row = self.first_row_of(index);
            for (group, pruning) in prunings.iter_mut().enumerate() {
                let rows = groups.rows(group);
                let numbers = first_row + rows.start..first_row.saturating_add(rows.end);
                condition.prune_row_numbers(pruning, &numbers, ROW_NUMBERS)?;
                self.refine_group(pruning, condition, &columns, (groups, group), &indexes, zone.as_ref())?;
            }
        }
        self.look_up(condition, stripe, groups, &mut prunings)?;
        Ok(Pruned { groups, prunings, can_seek, indexes })
    }

    /// What the streams of a stripe prove of a leaf: without present streams there are no nulls. A file may state more rows
    /// without bytes than can be evaluated.
    fn prune_by_streams(&self, leaf: &Leaf, stripe: &Stripe) -> Result<Truth> {
        if leaf.may_become_null || leaf.column.is_none() {
            return Ok(Truth::Maybe);
        }
        let mut ancestor = leaf.column;
        while let Some(id) = ancestor {
            if stripe.has_present(id) {
                return Ok(Truth::Maybe);
            }
            ancestor = self.tail().schema.get(id)?.parent;
        }
        Ok(match leaf.test {
            Test::IsNull => Truth::Never,
            Test::NotNull => Truth::Always,
            Test::In(_) => Truth::Maybe,
        })
    }

    /// Adds what the statistics of a row group prove. `columns` are the filter columns.
    fn refine_group(
        &self,
        pruning: &mut Pruning,
        condition: &Condition,
        columns: &[u32],
        (groups, group): (RowGroups, usize),
        indexes: &Indexes,
        zone: Option<&WriterZone>,
    ) -> Result<()> {
        let of_index = |id: &u32| match indexes.get(id) {
            Some(index) => index.statistics(*id, group, self.tail()),
            None => Ok(None),
        };
        let statistics = columns.iter().map(of_index).collect::<Result<Vec<_>>>()?;
        let rows = groups.rows(group);
        pruning.refine(condition, ROW_GROUP_STATISTICS, |_, leaf| {
            let statistics = |id| statistics_of(id, columns, &statistics);
            prune_leaf(leaf, rows.end - rows.start, self.tail(), zone, &statistics)
        })
    }

    /// Tests the undecided row groups by bloom filters, column by column.
    fn look_up(
        &self,
        condition: &Condition,
        stripe: &Stripe,
        groups: RowGroups,
        prunings: &mut [Pruning],
    ) -> Result<()> {
        for column in condition.columns() {
            let is_open = |pruning: &Pruning| pruning.truth() == Truth::Maybe;
            let open =
                |leaf: usize| prunings.iter().any(|pruning| is_open(pruning) && pruning.leaf(leaf) == Truth::Maybe);
            let leaves = condition.leaves().iter().enumerate().filter(|(_, leaf)| leaf.column == Some(column));
            let leaves: Vec<_> = leaves.filter(|(index, _)| open(*index)).collect();
            let Some(lookup) = self.filters_of(column, &leaves, stripe, groups)? else { continue };
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
        &self,
        id: u32,
        leaves: &[(usize, &Leaf)],
        stripe: &Stripe,
        groups: RowGroups,
    ) -> Result<Option<Lookup>> {
        let tail = self.tail();
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
            let zone = |leaf: &Leaf| self.reader_zone.as_ref().filter(|_| asks_instants(leaf, column));
            let keys = leaves
                .iter()
                .filter_map(|(at, leaf)| Some((*at, hashes_of_leaf(leaf, column.kind, &maker, zone(leaf))?)));
            let keys: BTreeMap<_, _> = keys.collect();
            if keys.is_empty() {
                continue;
            }
            let Some(filters) = self.bloom_filters(stripe, groups, id, index)? else { continue };
            return Ok(Some(Lookup { filters, keys }));
        }
        Ok(None)
    }

    /// Reads the bloom filters of a column, if the stripe has streams of this kind.
    pub(super) fn bloom_filters(
        &self,
        stripe: &Stripe,
        groups: RowGroups,
        id: u32,
        kind: IndexKind,
    ) -> Result<Option<BloomFilters>> {
        let Some((_, stored)) = self.sections(stripe, &[id], kind)?.pop() else { return Ok(None) };
        let parse = |section| BloomFilters::parse(section, groups.count(), &self.memory);
        self.of_index((id, kind), stored, stripe, parse).map(Some)
    }

    /// Reads the row indexes of columns, if the stripe has them. Returns whether all columns can seek.
    pub(super) fn index_columns(
        &self,
        stripe: &Stripe,
        groups: RowGroups,
        ids: &[u32],
        indexes: &mut Indexes,
    ) -> Result<bool> {
        let missing: Vec<u32> = ids.iter().copied().filter(|id| !indexes.contains_key(id)).collect();
        for (id, stored) in self.sections(stripe, &missing, IndexKind::RowIndex)? {
            let parse = |section| ColumnIndex::parse(section, groups, &self.memory);
            indexes.insert(id, self.of_index((id, IndexKind::RowIndex), stored, stripe, parse)?);
        }
        for &id in ids {
            if find_defect(indexes.get(&id), stripe, id, groups, self.tail())?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The stored index streams of columns, if the stripe has them.
    fn sections(&self, stripe: &Stripe, ids: &[u32], kind: IndexKind) -> Result<Vec<(u32, Bytes)>> {
        let streams = ids.iter().filter_map(|&id| Some((id, stripe.index(id, kind)?)));
        let (ids, ranges): (Vec<_>, Vec<_>) = streams.unzip();
        let sections = read_with_limits(self.source(), &ranges, self.limits())?;
        Ok(ids.into_iter().zip(sections).collect())
    }

    /// Decompresses and parses an index stream of a column.
    fn of_index<T>(
        &self,
        (id, kind): (u32, IndexKind),
        stored: Bytes,
        stripe: &Stripe,
        parse: impl FnOnce(Bytes) -> Result<T>,
    ) -> Result<T> {
        let section = with_column(id, || decompress(stored, stripe, self.memory.available()));
        let place = |error: Error| error.in_column(&self.tail().schema.path(id)).in_stream(kind.name());
        section.and_then(parse).map_err(place)
    }
}

/// Decompresses an index stream of at most `limit` bytes.
fn decompress(stored: Bytes, stripe: &Stripe, limit: u64) -> Result<Bytes> {
    let section = decompress_all(stored, stripe.framing(), limit)?;
    if section.len() as u64 > limit {
        let message = format!("{} bytes, more than the memory allowed has room for", section.len());
        return Err(Error::over("memory", message));
    }
    Ok(section)
}
