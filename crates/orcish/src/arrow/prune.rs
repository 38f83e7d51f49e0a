//! Which stripes and row groups have rows for which a condition may be true.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use super::filtered::Filter;
use super::plan::Plan;
use crate::bloom::{BloomFilters, BloomKind, FilterOrigin, Key, KeyMaker};
use crate::codec::decompress_all;
use crate::error::{Error, Result};
use crate::index::{ColumnIndex, Groups, Indexes, can_seek};
use crate::io::ReadAt;
use crate::options::Limits;
use crate::predicate::{Condition, Leaf, Proof, Test, Truth, Verdict};
use crate::statistics::ColumnStatistics;
use crate::stripe::{IndexKind, StreamKind, Stripe, read_within};
use crate::tail::{Calendar, FileTail};

/// Row groups of a stripe.
pub(super) struct Pruned {
    pub(super) groups: Groups,
    /// What is known of each.
    pub(super) verdicts: Vec<Verdict>,
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
) -> Result<Vec<Verdict>> {
    let whole = condition.judge(&mut |_, leaf| {
        let found = tail.column_statistics(leaf.column)?;
        Ok((judge(leaf, found.as_ref(), tail.rows, tail), Proof::FileStatistics))
    })?;
    let range = tail.stripe_statistics.clone();
    if whole.truth != Truth::Maybe || tail.stripes.len() < 2 || range.is_empty() {
        return Ok(vec![whole; stripes.len()]);
    }
    let section = stripe_statistics(&**source, tail, limits)?;
    let columns = condition.columns();
    let of_stripes = tail.parse_stripe_statistics_of(section, &columns, limits)?;
    let of_stripe = |&stripe: &usize| {
        let (Some(found), Some(info)) = (of_stripes.get(stripe), tail.stripes.get(stripe)) else {
            return Ok(Verdict::MAYBE);
        };
        condition.judge(&mut |_, leaf| {
            let at = columns.binary_search(&leaf.column).unwrap_or(usize::MAX);
            let found = found.get(at).and_then(Option::as_ref);
            Ok((judge(leaf, found, info.rows, tail), Proof::StripeStatistics))
        })
    };
    stripes.iter().map(|stripe| of_stripe(stripe).map_err(|error: Error| error.in_stripe(*stripe))).collect()
}

/// The stripe statistics as stored.
pub(super) fn stripe_statistics(source: &dyn ReadAt, tail: &FileTail, limits: &Limits) -> Result<Bytes> {
    let range = tail.stripe_statistics.clone();
    if range.end - range.start > limits.tail {
        return Err(Error::limit("stripe statistics of more bytes than allowed"));
    }
    match tail.stored_stripe_statistics() {
        Some(section) => Ok(section),
        None => Ok(read_within(source, &[range], limits)?.pop().unwrap_or_default()),
    }
}

/// What statistics of some `rows`, where there are any, prove of a leaf.
fn judge(leaf: &Leaf, statistics: Option<&ColumnStatistics>, rows: u64, tail: &FileTail) -> Truth {
    statistics.map_or(Truth::Maybe, |found| leaf.judge(found, rows, is_top(tail, leaf.column)))
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
            verdicts: Vec::new(),
            can_seek: false,
            indexes: Indexes::new(),
        };
        let mut verdict = self.verdict_of(index);
        if verdict.truth == Truth::Maybe {
            verdict = condition.judge(&mut |_, leaf| Ok((self.judge_streams(leaf, stripe), Proof::NoPresentStream)))?;
        }
        let count = pruned.groups.count();
        if verdict.truth != Truth::Maybe || count < 2 {
            pruned.groups = Groups::one(stripe.rows);
            pruned.verdicts = vec![verdict; pruned.groups.count()];
            // One row group has the statistics of its stripe, but may have a bloom filter.
            self.look_up(condition, stripe, &mut pruned)?;
            return Ok(pruned);
        }
        if count as u64 > stripe.rows || count > most_groups(self.limits()) {
            return Err(Error::limit(format!("{count} row groups, more than the memory allowed has room for")));
        }
        let ids = self.ids_of(stripe, &filter.asked);
        pruned.can_seek = self.index_columns(stripe, pruned.groups, &ids, &mut pruned.indexes)?;
        let of_group = |group: usize| {
            let Pruned { groups, indexes, .. } = &pruned;
            condition.judge(&mut |_, leaf| self.judge_group(leaf, group, *groups, indexes))
        };
        pruned.verdicts = (0..count).map(of_group).collect::<Result<_>>()?;
        self.look_up(condition, stripe, &mut pruned)?;
        Ok(pruned)
    }

    /// What the streams of a stripe prove of a leaf: where there are no present streams, nothing is null. Rows that
    /// take no bytes may be so many that they cannot be looked at.
    fn judge_streams(&self, leaf: &Leaf, stripe: &Stripe) -> Truth {
        if leaf.may_become_null {
            return Truth::Maybe;
        }
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
    fn judge_group(&self, leaf: &Leaf, group: usize, groups: Groups, indexes: &Indexes) -> Result<(Truth, Proof)> {
        // With another number of entries nobody knows which is whose.
        let index = indexes.get(&leaf.column).filter(|index| index.len() == groups.count());
        let statistics = index.map(|index| index.statistics(leaf.column, group, self.tail())).transpose()?.flatten();
        let rows = groups.rows(group);
        Ok((judge(leaf, statistics.as_ref(), rows.end - rows.start, self.tail()), Proof::RowGroupStatistics))
    }

    /// Asks bloom filters about the row groups of which statistics prove nothing.
    fn look_up(&self, condition: &Condition, stripe: &Stripe, pruned: &mut Pruned) -> Result<()> {
        let Pruned { groups, verdicts, indexes, .. } = pruned;
        if verdicts.iter().all(|verdict| verdict.truth != Truth::Maybe) {
            return Ok(());
        }
        let mut filters = BTreeMap::new();
        for (index, leaf) in condition.leaves.iter().enumerate() {
            let found = self.filters_of(leaf, stripe)?.filter(|(filters, _)| filters.len() == groups.count());
            filters.extend(found.map(|found| (index, found)));
        }
        if filters.is_empty() {
            return Ok(());
        }
        for (group, verdict) in verdicts.iter_mut().enumerate().filter(|(_, verdict)| verdict.truth == Truth::Maybe) {
            *verdict = condition.judge(&mut |index, leaf| {
                if filters.get(&index).is_some_and(|(filters, keys)| !filters.may_hold(group, keys)) {
                    return Ok((Truth::Never, Proof::BloomFilter));
                }
                self.judge_group(leaf, group, *groups, indexes)
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
                writer: tail.writer,
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
        let sections = read_within(self.source(), &ranges, self.limits())?;
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
