//! Pruning of stripes and row groups without matching rows.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use bytes::Bytes;
use orcish_core::cancel::Cancellation;
use orcish_core::error::{Error, Result};
use orcish_core::limits::Limits;
use orcish_core::predicate::{Condition, Leaf, PruneResult, Test, Truth};
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
    /// The result for each row group.
    pub(super) results: Vec<PruneResult>,
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

/// The results of pruning the selected stripes by statistics of the file and of stripes; empty without a condition.
pub(super) fn prune_stripes(selection: &Selection, cancellation: &mut Cancellation) -> Result<Vec<PruneResult>> {
    let Some(condition) = &selection.condition else { return Ok(Vec::new()) };
    let (tail, stripes, limits) = (&*selection.tail, &selection.stripes, &selection.options.limits);
    let zone = selection.reader_zone.as_ref();
    let mut whole = PruneResult::MAYBE;
    condition.prune_row_numbers(&mut whole, &(0..tail.rows), ROW_NUMBERS)?;
    whole.refine(condition, FILE_STATISTICS, &mut |_, leaf| match leaf.is_of_row_number() {
        true => Ok(Truth::Maybe),
        false => Ok(prune_leaf(leaf, tail.column_statistics(leaf.column)?.as_ref(), tail.rows, tail, zone)),
    })?;
    if whole.truth != Truth::Maybe || tail.stripes.len() < 2 {
        return Ok(vec![whole; stripes.len()]);
    }
    let columns = condition.columns();
    let of_stripes = match tail.stripe_statistics.is_empty() || columns.is_empty() {
        true => Vec::new(),
        false => {
            let section = stripe_statistics(&*selection.source, tail, limits)?;
            tail.parse_stripe_statistics_of(section, &columns, limits, cancellation)?
        }
    };
    let mut of_stripe = |&stripe: &usize| {
        cancellation.poll()?;
        let mut result = whole.clone();
        let Some(info) = tail.stripes.get(stripe) else { return Ok(result) };
        let rows = info.first_row..info.first_row.saturating_add(info.rows);
        condition.prune_row_numbers(&mut result, &rows, ROW_NUMBERS)?;
        if let Some(found) = of_stripes.get(stripe) {
            result.refine(condition, STRIPE_STATISTICS, &mut |_, leaf| {
                Ok(prune_leaf(leaf, of_leaf(&columns, found, leaf), info.rows, tail, zone))
            })?;
        }
        Ok(result)
    };
    stripes.iter().map(|stripe| of_stripe(stripe).map_err(|error: Error| error.in_section("stripe", *stripe))).collect()
}

/// The statistics of the column of a leaf. `found` are the statistics of `columns`, which are ascending.
fn of_leaf<'a>(columns: &[u32], found: &'a [Option<ColumnStatistics>], leaf: &Leaf) -> Option<&'a ColumnStatistics> {
    found.get(columns.binary_search(&leaf.column).ok()?)?.as_ref()
}

/// The stripe statistics as stored.
pub(super) fn stripe_statistics(source: &dyn ReadAt, tail: &FileTail, limits: &Limits) -> Result<Bytes> {
    let range = tail.stripe_statistics.clone();
    if range.end - range.start > limits.tail {
        return Err(Error::over("tail", "stripe statistics of more bytes than allowed"));
    }
    match tail.stored_stripe_statistics() {
        Some(section) => Ok(section),
        None => Ok(read_with_limits(source, &[range], limits)?.pop().unwrap_or_default()),
    }
}

/// What statistics of `rows` rows, if known, prove of a leaf. Recorded timestamps are local times in `zone`, if known.
fn prune_leaf(
    leaf: &Leaf,
    statistics: Option<&ColumnStatistics>,
    rows: u64,
    tail: &FileTail,
    zone: Option<&WriterZone>,
) -> Truth {
    let is_top = is_top(tail, leaf.column);
    match statistics {
        None => Truth::Maybe,
        Some(found) if asks_instants(leaf, tail) => leaf.prune(&of_instants(found, zone), rows, is_top),
        Some(found) => leaf.prune(found, rows, is_top),
    }
}

/// Whether a column is a child of the root, or the root.
fn is_top(tail: &FileTail, column: u32) -> bool {
    tail.schema.get(column).is_ok_and(|this| this.parent.is_none_or(|parent| parent == 0))
}

impl Plan {
    /// Prunes the row groups of a stripe, by the result for the stripe, its row indexes, and its bloom filters.
    pub(super) fn prune(&self, filter: &Filter, stripe: &Stripe, index: usize) -> Result<Pruned> {
        let condition = &filter.condition;
        let mut result = self.prune_result(index);
        let mut of_streams = |_: usize, leaf: &Leaf| Ok(self.prune_by_streams(leaf, stripe));
        result.refine(condition, NO_PRESENT_STREAM, &mut of_streams)?;
        let mut groups = RowGroups::new(stripe.rows, self.tail().row_index_stride);
        let (mut indexes, mut can_seek) = (Indexes::new(), false);
        // A single row group has the statistics of its stripe, but may have a bloom filter.
        let is_one = result.truth != Truth::Maybe || groups.count() < 2;
        if is_one {
            groups = RowGroups::single(stripe.rows);
        }
        let count = groups.count();
        let size = 2 * (size_of::<PruneResult>() + size_of_val(&result.leaves[..]));
        if count > usize::try_from(self.limits().memory).unwrap_or(usize::MAX) / size {
            return Err(Error::over(
                "memory",
                format!("{count} row groups, more than the memory allowed has room for"),
            ));
        }
        let mut results = vec![result; count];
        if !is_one {
            can_seek = self.index_columns(stripe, groups, &self.ids_of(stripe, &filter.columns), &mut indexes)?;
            let columns = condition.columns();
            // An unknown zone is an error when values are read.
            let zone = self.reader_zone.clone().or_else(|| WriterZone::parse(&stripe.writer_timezone).ok());
            let first_row = self.first_row_of(index);
            for (group, result) in results.iter_mut().enumerate() {
                let rows = groups.rows(group);
                condition.prune_row_numbers(
                    result,
                    &(first_row + rows.start..first_row.saturating_add(rows.end)),
                    ROW_NUMBERS,
                )?;
                self.refine_group(result, condition, &columns, (groups, group), &indexes, zone.as_ref())?;
            }
        }
        self.look_up(condition, stripe, groups, &mut results)?;
        Ok(Pruned { groups, results, can_seek, indexes })
    }

    /// What the streams of a stripe prove of a leaf: without present streams there are no nulls. A file may state more rows
    /// without bytes than can be evaluated.
    fn prune_by_streams(&self, leaf: &Leaf, stripe: &Stripe) -> Truth {
        if leaf.may_become_null || leaf.is_of_row_number() {
            return Truth::Maybe;
        }
        let mut at = Some(leaf.column);
        while let Some(id) = at {
            if stripe.has_present(id) {
                return Truth::Maybe;
            }
            at = self.tail().schema.get(id).ok().and_then(|this| this.parent);
        }
        match leaf.test {
            Test::IsNull => Truth::Never,
            Test::NotNull => Truth::Always,
            Test::In(_) => Truth::Maybe,
        }
    }

    /// Adds what the statistics of a row group prove. `columns` are the filter columns.
    fn refine_group(
        &self,
        result: &mut PruneResult,
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
        let found = columns.iter().map(of_index).collect::<Result<Vec<_>>>()?;
        let rows = groups.rows(group);
        result.refine(condition, ROW_GROUP_STATISTICS, &mut |_, leaf| {
            Ok(prune_leaf(leaf, of_leaf(columns, &found, leaf), rows.end - rows.start, self.tail(), zone))
        })
    }

    /// Tests the undecided row groups by bloom filters, column by column.
    fn look_up(
        &self,
        condition: &Condition,
        stripe: &Stripe,
        groups: RowGroups,
        results: &mut [PruneResult],
    ) -> Result<()> {
        for column in condition.columns() {
            let open = |leaf: usize| {
                results.iter().any(|result| result.truth == Truth::Maybe && result.leaf(leaf) == Truth::Maybe)
            };
            let leaves = condition.leaves.iter().enumerate().filter(|(_, leaf)| leaf.column == column);
            let leaves: Vec<_> = leaves.filter(|(index, _)| open(*index)).collect();
            let Some(lookup) = self.filters_of(column, &leaves, stripe, groups)? else { continue };
            for (group, result) in results.iter_mut().enumerate() {
                result.refine(condition, BLOOM_FILTER, &mut |leaf, _| {
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
            let zone = |leaf: &Leaf| self.reader_zone.as_ref().filter(|_| asks_instants(leaf, tail));
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
        let found = ids.iter().filter_map(|&id| Some((id, stripe.index(id, kind)?)));
        let (found, ranges): (Vec<_>, Vec<_>) = found.unzip();
        let sections = read_with_limits(self.source(), &ranges, self.limits())?;
        Ok(found.into_iter().zip(sections).collect())
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
    match section.len() as u64 > limit {
        true => {
            Err(Error::over("memory", format!("{} bytes, more than the memory allowed has room for", section.len())))
        }
        false => Ok(section),
    }
}
