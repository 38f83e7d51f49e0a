//! The plan of a read, without reading rows.

use std::ops::Range;

use orcish_core::cancel::Cancellation;
use orcish_core::error::{Error, Result};
use orcish_core::explain::{Explanation, Outcome, SectionPlan};
use orcish_core::predicate::Pruning;
use orcish_io::coalesce_ranges;

use super::filter::runs;
use super::indexes::index_columns;
use super::opener::Opener;
use super::row_group_plan::plan_row_groups;
use super::stripe_plan::PlannedStripe;
use crate::index::{Indexes, RowGroups};
use crate::projection::Projected;
use crate::stripe::Stripe;

/// Bytes of the outcome of a stripe or row group, here and as objects of a caller in another language.
const GROUP_BYTES: u64 = 512;
/// Bytes of a test that no row passes, beside its text.
const CAUSE_BYTES: u64 = 256;

/// What a read would do. Stripe footers, row indexes and bloom filters are read.
pub(super) fn explain(opener: &Opener, cancellation: &mut Cancellation) -> Result<Explanation> {
    let plan = opener.plan_stripes(cancellation)?;
    let mut explainer = Explainer { opener, bytes: 0 };
    let mut explain = || {
        let mut sections = Vec::new();
        for stripe in &plan.skipped {
            cancellation.poll()?;
            sections.push(explainer.section(stripe)?);
        }
        for stripe in &plan.read {
            cancellation.poll()?;
            let section = explainer.stripe(stripe).map_err(|error| error.in_section("stripe", stripe.index))?;
            sections.push(section);
        }
        sections.sort_by_key(|section| section.index);
        Ok(Explanation { file: opener.source().name().to_owned(), skipped: false, sections })
    };
    explain().map_err(|error| opener.in_file(error))
}

struct Explainer<'a> {
    opener: &'a Opener,
    /// Bytes of all outcomes so far.
    bytes: u64,
}

impl Explainer<'_> {
    fn outcome(&self, pruning: &Pruning) -> Outcome {
        let filter = self.opener.request.filter.as_ref();
        filter.map_or(Outcome::AllMatch, |filter| pruning.outcome(filter.condition()))
    }

    /// What statistics say of a stripe.
    fn section(&mut self, stripe: &PlannedStripe) -> Result<SectionPlan> {
        let outcome = self.outcome(&stripe.pruning);
        self.charge(&outcome)?;
        Ok(SectionPlan::new(stripe.index, stripe.rows, outcome))
    }

    /// Adds the bytes of an outcome.
    fn charge(&mut self, outcome: &Outcome) -> Result<()> {
        let causes = if let Outcome::Skipped(causes) = outcome { &causes[..] } else { &[] };
        let causes = causes.iter().map(|(text, _)| CAUSE_BYTES + text.len() as u64).sum::<u64>();
        self.bytes = self.bytes.saturating_add(GROUP_BYTES + causes);
        let max = self.opener.limits().memory;
        if self.bytes > max {
            let message = format!("what becomes of the row groups takes more than the {max} bytes allowed");
            return Err(Error::over("memory", message));
        }
        Ok(())
    }

    /// What becomes of the row groups of a stripe, and what is read of it.
    fn stripe(&mut self, planned: &PlannedStripe) -> Result<SectionPlan> {
        let (opener, request) = (self.opener, &self.opener.request);
        let mut section = self.section(planned)?;
        if planned.needs_rows_only(request) {
            return Ok(section);
        }
        let stripe = opener.begin(planned.index)?;
        let mut kept_runs = vec![Range { start: 0, end: 1 }];
        let (mut groups, mut indexes) = (RowGroups::single(stripe.rows), Indexes::new());
        let mut payload = request.columns.clone();
        if let Some(filter) = &request.filter {
            let plan = plan_row_groups(opener, filter, &stripe, planned)?;
            (groups, indexes) = (plan.groups, plan.indexes);
            if let [only] = &plan.prunings[..] {
                section.outcome = self.outcome(only);
            } else {
                let outcome = |(group, pruning)| {
                    let (rows, outcome) = (groups.rows(group), self.outcome(pruning));
                    self.charge(&outcome)?;
                    Ok((rows.end - rows.start, outcome))
                };
                section.row_groups = plan.prunings.iter().enumerate().map(outcome).collect::<Result<_>>()?;
            }
            let kept: Vec<_> = runs(&plan.prunings).collect();
            kept_runs = kept.iter().map(|(run, _)| run.clone()).collect();
            if filter.is_needed(&kept) {
                (section.filter_bytes, section.filter_requests) =
                    self.weigh(&stripe, &filter.columns, &kept_runs, plan.can_seek, &indexes)?;
            }
            payload = filter.payload_columns(&request.columns);
        }
        let is_all = kept_runs.first().is_some_and(|run| *run == (0..groups.count()));
        let ids = opener.ids_of(&stripe, &payload);
        let can_seek = !is_all && index_columns(opener, &stripe, groups, &ids, &mut indexes)?;
        (section.payload_bytes, section.payload_requests) =
            self.weigh(&stripe, &payload, &kept_runs, can_seek, &indexes)?;
        Ok(section)
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
        let mut reader = self.opener.row_reader(stripe, columns)?;
        reader.can_seek = can_seek;
        let parts = reader.parts(stripe, indexes, runs, self.opener.tail())?;
        let ranges = coalesce_ranges(&stripe.file_ranges(&parts), self.opener.source().coalesce_gap());
        Ok((ranges.iter().map(|range| range.end - range.start).sum(), ranges.len()))
    }
}
