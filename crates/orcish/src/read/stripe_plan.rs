//! The stripe plan: which stripes a request reads, and what statistics prove of them. Planning reads nothing, so that any
//! driver can read what planning needs.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use orcish_core::cancel::Cancellation;
use orcish_core::error::{Error, OrInternal as _, Result};
use orcish_core::predicate::{Condition, Pruning, Truth};
use orcish_core::statistics::ColumnStatistics;

use super::prune::{prune_leaf, statistics_of};
use super::request::ReadRequest;
use crate::predicate::{FILE_STATISTICS, ROW_NUMBERS, STRIPE_STATISTICS};
use crate::tail::StripeInfo;

/// A selected stripe.
#[derive(Debug, Clone)]
pub(super) struct PlannedStripe {
    /// Index of the stripe in the file.
    pub(super) index: usize,
    /// Number of the first row in the file.
    pub(super) first_row: u64,
    pub(super) rows: u64,
    /// Stored bytes of all columns.
    pub(super) stored_bytes: u64,
    /// What statistics prove of the stripe.
    pub(super) pruning: Pruning,
}

/// The selected stripes of a request.
#[derive(Debug, Default)]
pub(super) struct StripePlan {
    /// Stripes that are read, in order.
    pub(super) read: Vec<PlannedStripe>,
    /// Stripes of a filtered read that are not read, in order, each once: the filter excludes them, or the limit is 0.
    pub(super) skipped: Vec<PlannedStripe>,
}

/// The planning of a request, from the statistics of the file on.
pub(super) struct Planning<'a> {
    request: &'a ReadRequest,
    /// What statistics of the file prove of all stripes.
    whole: Pruning,
}

impl PlannedStripe {
    fn try_new(request: &ReadRequest, index: usize, pruning: Pruning) -> Result<Self> {
        let StripeInfo { first_row, rows, data_length, .. } = *info(request, index)?;
        let stored_bytes = data_length.min(request.tail().file_length);
        Ok(PlannedStripe { index, first_row, rows, stored_bytes, pruning })
    }

    /// Whether nothing of the stripe has to be read: all rows match, and there is no column.
    pub(super) fn needs_rows_only(&self, request: &ReadRequest) -> bool {
        let is_filtered = request.is_filtered() && self.pruning.truth() != Truth::Always;
        // Row numbers of a filtered stripe are made with its columns.
        let is_numbered = request.is_filtered() && request.is_numbered();
        request.columns.is_empty() && !is_filtered && !is_numbered
    }
}

impl<'a> Planning<'a> {
    /// Begins with the statistics of the file.
    ///
    /// # Errors
    /// `Corrupt` where the statistics cannot be decoded.
    pub(super) fn try_new(request: &'a ReadRequest) -> Result<Self> {
        let mut whole = Pruning::UNKNOWN;
        if let Some(condition) = condition(request) {
            let tail = request.tail();
            condition.prune_row_numbers(&mut whole, &(0..tail.rows), ROW_NUMBERS)?;
            whole.refine(condition, FILE_STATISTICS, |_, leaf| {
                let statistics = |id| Ok(tail.column_statistics(id)?.map(std::borrow::Cow::Owned));
                prune_leaf(leaf, tail.rows, tail, request.reader_zone.as_ref(), &statistics)
            })?;
        }
        Ok(Planning { request, whole })
    }

    /// The ids of the columns whose statistics of all stripes decide more, ascending; empty if there are none.
    pub(super) fn statistics_needed(&self) -> Vec<u32> {
        let tail = self.request.tail();
        let is_open =
            self.whole.truth() == Truth::Maybe && tail.stripes.len() > 1 && !tail.stripe_statistics.is_empty();
        condition(self.request).filter(|_| is_open).map_or_else(Vec::new, Condition::columns)
    }

    /// The plan. `statistics` has an entry for each stripe of the file with those of the columns that are
    /// [needed](Self::statistics_needed), or no entries.
    ///
    /// # Errors
    /// Errors of the cancellation check.
    pub(super) fn finish(
        self,
        statistics: &[Vec<Option<ColumnStatistics>>],
        cancellation: &mut Cancellation,
    ) -> Result<StripePlan> {
        let Planning { request, whole } = &self;
        let columns = condition(request).map_or_else(Vec::new, Condition::columns);
        let limit = request.options.limit.filter(|limit| !request.is_filtered() || *limit == 0);
        let (mut plan, mut rows, mut skipped) = (StripePlan::default(), 0u64, BTreeSet::new());
        for &index in &request.stripes {
            let mut prune = || {
                cancellation.poll()?;
                match condition(request).filter(|_| whole.truth() == Truth::Maybe) {
                    Some(condition) => self.prune(condition, index, &columns, statistics.get(index)),
                    None => Ok(whole.clone()),
                }
            };
            let pruning = prune().map_err(|error: Error| error.in_section("stripe", index))?;
            let stripe = PlannedStripe::try_new(request, index, pruning)?;
            let is_beyond_limit = limit.is_some_and(|limit| rows >= limit);
            if stripe.pruning.truth() != Truth::Never && !is_beyond_limit {
                rows = rows.saturating_add(stripe.rows);
                plan.read.push(stripe);
            } else if request.is_filtered() && skipped.insert(index) {
                plan.skipped.push(stripe);
            }
        }
        Ok(plan)
    }

    /// What the numbers of the rows of a stripe and its statistics prove. A file need not have statistics of its stripes.
    fn prune(
        &self,
        condition: &Condition,
        index: usize,
        columns: &[u32],
        statistics: Option<&Vec<Option<ColumnStatistics>>>,
    ) -> Result<Pruning> {
        let (tail, zone) = (self.request.tail(), self.request.reader_zone.as_ref());
        let mut pruning = self.whole.clone();
        if tail.stripes.len() < 2 {
            return Ok(pruning);
        }
        let info = info(self.request, index)?;
        let rows = info.first_row..info.first_row.saturating_add(info.rows);
        condition.prune_row_numbers(&mut pruning, &rows, ROW_NUMBERS)?;
        if let Some(statistics) = statistics {
            pruning.refine(condition, STRIPE_STATISTICS, |_, leaf| {
                prune_leaf(leaf, info.rows, tail, zone, &|id| statistics_of(id, columns, statistics))
            })?;
        }
        Ok(pruning)
    }
}

fn condition(request: &ReadRequest) -> Option<&Condition> {
    request.filter.as_ref().map(|filter| filter.condition())
}

fn info(request: &ReadRequest, index: usize) -> Result<&StripeInfo> {
    request.tail().stripes.get(index).or_internal("a selected stripe is none of the file")
}
