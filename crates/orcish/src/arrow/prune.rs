//! Which stripes and row groups have rows for which a condition may be true.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use bytes::Bytes;

use super::filtered::Filter;
use super::reader::Plan;
use crate::bloom::{BloomFilters, BloomKind, FilterOrigin, Key, KeyMaker};
use crate::codec::decompress_all;
use crate::error::{Error, Result};
use crate::index::{ColumnIndex, Groups, Indexes, can_seek};
use crate::io::{ReadAt, read_coalesced};
use crate::options::Limits;
use crate::predicate::{Condition, Leaf, Test, Truth};
use crate::statistics::ColumnStatistics;
use crate::stripe::{IndexKind, StreamKind, Stripe};
use crate::tail::{Calendar, FileTail};

/// Row groups of a stripe.
pub(super) struct Pruned {
    pub(super) groups: Groups,
    /// What is known of each.
    pub(super) truths: Vec<Truth>,
    /// Whether the columns that are asked can go to each.
    pub(super) can_seek: bool,
    pub(super) indexes: Indexes,
}

/// What statistics of the file and of its stripes say of each of `stripes`.
pub(super) fn judge_stripes(
    condition: &Condition,
    source: &Arc<dyn ReadAt>,
    tail: &FileTail,
    stripes: &[usize],
    limits: &Limits,
) -> Result<Vec<Truth>> {
    let of_file = |leaf: usize| {
        let Some(leaf) = condition.leaves.get(leaf) else { return Ok(Truth::Maybe) };
        let statistics = tail.column_statistics(leaf.column)?;
        Ok(statistics.map_or(Truth::Maybe, |found| leaf.judge(&found, tail.rows, is_top(tail, leaf.column))))
    };
    let whole = condition.judge(&mut { of_file })?;
    let range = tail.stripe_statistics.clone();
    if whole != Truth::Maybe || tail.stripes.len() < 2 || range.is_empty() {
        return Ok(vec![whole; stripes.len()]);
    }
    if range.end - range.start > limits.tail {
        return Err(Error::limit("stripe statistics of more bytes than allowed"));
    }
    let section = read_coalesced(&**source, &[range])?.pop().unwrap_or_default();
    let columns = condition.columns();
    let of_stripes = tail.parse_stripe_statistics_of(section, &columns, limits)?;
    let of_stripe = |&stripe: &usize| {
        let (Some(found), Some(info)) = (of_stripes.get(stripe), tail.stripes.get(stripe)) else {
            return Ok(Truth::Maybe);
        };
        condition.judge(&mut |leaf| {
            let Some(leaf) = condition.leaves.get(leaf) else { return Ok(Truth::Maybe) };
            let at = columns.binary_search(&leaf.column).unwrap_or(usize::MAX);
            let statistics: Option<&ColumnStatistics> = found.get(at).and_then(Option::as_ref);
            Ok(statistics.map_or(Truth::Maybe, |found| leaf.judge(found, info.rows, is_top(tail, leaf.column))))
        })
    };
    stripes.iter().map(|stripe| of_stripe(stripe).map_err(|error: Error| error.in_stripe(*stripe))).collect()
}

/// Whether a column is in no other but the root.
fn is_top(tail: &FileTail, column: u32) -> bool {
    tail.schema.get(column).is_ok_and(|this| this.parent.is_none_or(|parent| parent == 0))
}

impl Plan {
    /// What the row indexes of a stripe say of its row groups.
    pub(super) fn prune(&self, filter: &Filter, stripe: &Stripe, index: usize) -> Result<Pruned> {
        let (tail, condition) = (self.tail(), &filter.condition);
        let mut pruned = Pruned {
            groups: Groups::new(stripe.rows, tail.row_index_stride),
            truths: Vec::new(),
            can_seek: false,
            indexes: Indexes::new(),
        };
        let truth = match self.truth_of(index) {
            Truth::Maybe => condition.judge(&mut |leaf| Ok(self.judge_streams(condition, leaf, stripe)))?,
            known => known,
        };
        let count = pruned.groups.count();
        if truth != Truth::Maybe || count < 2 {
            pruned.groups = Groups::one(stripe.rows);
            pruned.truths = vec![truth; pruned.groups.count()];
            return Ok(pruned);
        }
        if count as u64 > stripe.rows || count > most_groups(self.limits()) {
            return Err(Error::limit(format!("{count} row groups, more than the memory allowed has room for")));
        }
        let ids = self.ids_of(stripe, &filter.asked);
        pruned.can_seek = self.index_columns(stripe, pruned.groups, &ids, &mut pruned.indexes)?;
        let judge = |group: usize| {
            condition.judge(&mut |leaf| self.judge_group(condition, leaf, group, pruned.groups, &pruned.indexes))
        };
        pruned.truths = (0..count).map(judge).collect::<Result<_>>()?;
        self.look_up(condition, stripe, &mut pruned)?;
        Ok(pruned)
    }

    /// What the streams of a stripe prove of a leaf: where there are no present streams, nothing is null. Rows that
    /// take no bytes may be so many that they cannot be looked at.
    fn judge_streams(&self, condition: &Condition, leaf: usize, stripe: &Stripe) -> Truth {
        let Some(leaf) = condition.leaves.get(leaf).filter(|leaf| !leaf.may_become_null) else { return Truth::Maybe };
        let mut at = Some(leaf.column);
        while let Some(id) = at {
            if stripe.streams(id).any(|(kind, _)| kind == StreamKind::Present) {
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

    /// What statistics of a row group prove of a leaf.
    fn judge_group(
        &self,
        condition: &Condition,
        leaf: usize,
        group: usize,
        groups: Groups,
        indexes: &Indexes,
    ) -> Result<Truth> {
        let Some(leaf) = condition.leaves.get(leaf) else { return Ok(Truth::Maybe) };
        let index = indexes.get(&leaf.column).filter(|index| index.len() == groups.count());
        let Some(index) = index else { return Ok(Truth::Maybe) };
        let Some(statistics) = index.statistics(leaf.column, group, self.tail())? else { return Ok(Truth::Maybe) };
        let rows = groups.rows(group);
        Ok(leaf.judge(&statistics, rows.end - rows.start, is_top(self.tail(), leaf.column)))
    }

    /// Asks bloom filters about the row groups of which statistics prove nothing.
    fn look_up(&self, condition: &Condition, stripe: &Stripe, pruned: &mut Pruned) -> Result<()> {
        let Pruned { groups, truths, indexes, .. } = pruned;
        if !truths.contains(&Truth::Maybe) {
            return Ok(());
        }
        let filters = condition.leaves.iter().map(|leaf| self.filters_of(leaf, stripe));
        let filters: Vec<Option<(BloomFilters, Vec<Key>)>> = filters.collect::<Result<_>>()?;
        let filters: Vec<_> =
            filters.into_iter().map(|found| found.filter(|(filters, _)| filters.len() == groups.count())).collect();
        if filters.iter().all(Option::is_none) {
            return Ok(());
        }
        for (group, truth) in truths.iter_mut().enumerate().filter(|(_, truth)| **truth == Truth::Maybe) {
            *truth = condition.judge(&mut |leaf| {
                if let Some(Some((filters, keys))) = filters.get(leaf)
                    && !filters.may_hold(group, keys)
                {
                    return Ok(Truth::Never);
                }
                self.judge_group(condition, leaf, group, *groups, indexes)
            })?;
        }
        Ok(())
    }

    /// The bloom filters of a leaf's column, and what to look for in them; none where they cannot help.
    fn filters_of(&self, leaf: &Leaf, stripe: &Stripe) -> Result<Option<(BloomFilters, Vec<Key>)>> {
        let tail = self.tail();
        let column = tail.schema.get(leaf.column)?;
        let kinds = [(IndexKind::BloomFilterUtf8, BloomKind::Utf8), (IndexKind::BloomFilter, BloomKind::Original)];
        for (index, stream) in kinds {
            if stripe.index(leaf.column, index).is_none() {
                continue;
            }
            let maker = KeyMaker::new(&FilterOrigin {
                writer: tail.writer_code(),
                writer_version: tail.writer_version,
                software_version: tail.software_version.as_deref(),
                proleptic: tail.calendar == Calendar::ProlepticGregorian,
                is_draft: tail.has_decimal64(),
                writer_timezone: &stripe.writer_timezone,
                stream,
                bloom_encoding: stripe.bloom_encoding(leaf.column),
                column,
            });
            let Some(keys) = leaf.keys(column.kind, &maker) else { continue };
            let Some((_, section)) = self.sections(stripe, &[leaf.column], index)?.pop() else { continue };
            let filters = BloomFilters::parse(section);
            return Ok(Some((filters.map_err(|error| self.in_index(error, leaf.column, index))?, keys)));
        }
        Ok(None)
    }

    /// Reads the row indexes of columns, so far as the stripe has them; says whether all can be used to seek.
    pub(super) fn index_columns(
        &self,
        stripe: &Stripe,
        groups: Groups,
        ids: &[u32],
        indexes: &mut Indexes,
    ) -> Result<bool> {
        let missing: Vec<u32> = ids.iter().copied().filter(|id| !indexes.contains_key(id)).collect();
        for (id, section) in self.sections(stripe, &missing, IndexKind::RowIndex)? {
            let index = ColumnIndex::parse(section);
            indexes.insert(id, index.map_err(|error| self.in_index(error, id, IndexKind::RowIndex))?);
        }
        for &id in ids {
            if !can_seek(indexes.get(&id), stripe, id, groups, self.tail())? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The streams of the index of columns, decompressed, so far as the stripe has them.
    fn sections(&self, stripe: &Stripe, ids: &[u32], kind: IndexKind) -> Result<Vec<(u32, Bytes)>> {
        let found: Vec<_> = ids.iter().filter_map(|&id| Some((id, stripe.index(id, kind)?))).collect();
        let (found, ranges): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let bytes: u64 = ranges.iter().map(|range| range.end - range.start).sum();
        if bytes > self.limits().memory {
            return Err(Error::limit(format!("indexes of {bytes} bytes, more than the memory allowed")));
        }
        let sections = read_coalesced(self.source(), &ranges)?;
        let decompress = |(id, section)| {
            let section = decompress_all(section, stripe.framing(), self.limits().tail);
            Ok((id, section.map_err(|error| self.in_index(error, id, kind))?))
        };
        found.into_iter().zip(sections).map(decompress).collect()
    }

    fn in_index(&self, error: Error, id: u32, kind: IndexKind) -> Error {
        error.in_column(&self.tail().schema.path(id)).in_stream(kind.name())
    }
}

/// Row groups of which something can be kept for each.
fn most_groups(limits: &Limits) -> usize {
    usize::try_from(limits.memory / 64).unwrap_or(usize::MAX)
}
