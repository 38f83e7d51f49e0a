//! The plan of a read, without reading rows.

use std::collections::BTreeSet;
use std::ops::Range;

use orcish_core::cancel::Cancellation;
use orcish_core::error::{Error, Result};
use orcish_core::explain::{Explanation, Outcome, SectionPlan};
use orcish_core::predicate::Pruning;
use orcish_io::coalesce_ranges;

use super::filter::runs;
use super::plan::Plan;
use crate::index::{Indexes, RowGroups};
use crate::projection::Projected;
use crate::stripe::Stripe;

/// Bytes of the outcome of a stripe or row group, here and as objects of a caller in another language.
const GROUP_BYTES: u64 = 512;
/// Bytes of a test that no row passes, beside its text.
const CAUSE_BYTES: u64 = 256;

impl Plan {
    /// The plan of the read.
    pub(super) fn explain(&self, cancellation: &mut Cancellation) -> Result<Explanation> {
        let (mut stripes, mut bytes) = (Vec::new(), 0);
        let read: BTreeSet<usize> = self.stripes.iter().copied().collect();
        for (stripe, pruning) in self.prunings().filter(|(stripe, _)| !read.contains(stripe)) {
            cancellation.poll()?;
            let outcome = self.outcome(pruning);
            self.charge(&mut bytes, &outcome)?;
            stripes.push(self.stripe_plan(stripe, outcome));
        }
        for &stripe in &self.stripes {
            cancellation.poll()?;
            stripes.push(self.explain_stripe(stripe, &mut bytes).map_err(|error| error.in_section("stripe", stripe))?);
        }
        stripes.sort_by_key(|plan| plan.index);
        Ok(Explanation { file: self.source.name().to_owned(), skipped: false, sections: stripes })
    }

    fn stripe_plan(&self, stripe: usize, outcome: Outcome) -> SectionPlan {
        SectionPlan::new(stripe, self.rows_of(stripe), outcome)
    }

    fn outcome(&self, pruning: &Pruning) -> Outcome {
        self.filter.as_ref().map_or(Outcome::AllMatch, |filter| pruning.outcome(filter.condition()))
    }

    /// Adds the bytes of an outcome to `bytes`.
    fn charge(&self, bytes: &mut u64, outcome: &Outcome) -> Result<()> {
        let causes = if let Outcome::Skipped(causes) = outcome { &causes[..] } else { &[] };
        let causes = causes.iter().map(|(text, _)| CAUSE_BYTES + text.len() as u64).sum::<u64>();
        *bytes = bytes.saturating_add(GROUP_BYTES + causes);
        let max = self.limits().memory;
        if *bytes > max {
            let message = format!("what becomes of the row groups takes more than the {max} bytes allowed");
            return Err(Error::over("memory", message));
        }
        Ok(())
    }

    /// The plan of a stripe. `bytes` are the bytes of the outcomes so far.
    fn explain_stripe(&self, index: usize, bytes: &mut u64) -> Result<SectionPlan> {
        let mut plan = self.stripe_plan(index, self.outcome(&self.pruning(index)));
        self.charge(bytes, &plan.outcome)?;
        if self.needs_rows_only(index) {
            return Ok(plan);
        }
        let stripe = self.begin(index)?;
        let mut all = vec![Range { start: 0, end: 1 }];
        let (mut groups, mut indexes) = (RowGroups::single(stripe.rows), Indexes::new());
        let mut payload = self.columns.clone();
        if let Some(filter) = &self.filter {
            let pruned = self.prune(filter, &stripe, index)?;
            (groups, indexes) = (pruned.groups, pruned.indexes);
            if let [only] = &pruned.prunings[..] {
                plan.outcome = self.outcome(only);
            } else {
                let outcome = |(group, pruning)| {
                    let (rows, outcome) = (groups.rows(group), self.outcome(pruning));
                    self.charge(bytes, &outcome)?;
                    Ok((rows.end - rows.start, outcome))
                };
                plan.row_groups = pruned.prunings.iter().enumerate().map(outcome).collect::<Result<_>>()?;
            }
            let kept: Vec<_> = runs(&pruned.prunings).collect();
            all = kept.iter().map(|(run, _)| run.clone()).collect();
            if filter.is_needed(&kept) {
                (plan.filter_bytes, plan.filter_requests) =
                    self.weigh(&stripe, &filter.columns, &all, pruned.can_seek, &indexes)?;
            }
            payload = filter.payload_columns(&self.columns);
        }
        let is_all = all.first().is_some_and(|run| *run == (0..groups.count()));
        let ids = self.ids_of(&stripe, &payload);
        let can_seek = !is_all && self.index_columns(&stripe, groups, &ids, &mut indexes)?;
        (plan.payload_bytes, plan.payload_requests) = self.weigh(&stripe, &payload, &all, can_seek, &indexes)?;
        Ok(plan)
    }

    /// Number of bytes and of requests for some row groups of columns.
    fn weigh(
        &self,
        stripe: &Stripe,
        columns: &[Projected],
        runs: &[Range<usize>],
        can_seek: bool,
        indexes: &Indexes,
    ) -> Result<(u64, usize)> {
        if runs.is_empty() {
            return Ok((0, 0));
        }
        let mut reader = self.rows_of_columns(stripe, columns)?;
        reader.can_seek = can_seek;
        let parts = reader.parts(stripe, indexes, runs, self.tail())?;
        let ranges = coalesce_ranges(&stripe.file_ranges(&parts), self.source.coalesce_gap());
        Ok((ranges.iter().map(|range| range.end - range.start).sum(), ranges.len()))
    }
}
