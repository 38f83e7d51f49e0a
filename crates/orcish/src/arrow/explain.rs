//! What a read would do, without doing it.

use std::collections::BTreeSet;
use std::ops::Range;

use super::filtered::runs;
use super::plan::Plan;
use crate::error::{Error, Result};
use crate::index::{Groups, Indexes};
use crate::io::coalesce;
use crate::patience::Patience;
use crate::predicate::{Condition, Proof, Truth, Verdict};
use crate::projection::Projected;
use crate::stripe::Stripe;

/// Bytes that what becomes of a stripe or row group may take, here and as objects of a caller in another language.
const GROUP_BYTES: u64 = 512;
/// Bytes that a test may take that no row passes, beside its text.
const CAUSE_BYTES: u64 = 256;

/// What a read would do: which parts of a file are skipped, and why, and how much is read of the others.
///
/// Footers, indexes and bloom filters have been read to find out; they are not counted again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Name of the source.
    pub file: String,
    /// Whether the file is skipped, because the filter is true of no row by the values of its partition columns.
    pub skipped: bool,
    /// Stripes that were asked for, in order.
    pub stripes: Vec<StripePlan>,
}

/// What a read would do with a stripe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StripePlan {
    /// Index of the stripe.
    pub stripe: usize,
    /// Its rows.
    pub rows: u64,
    /// What is known of it as a whole.
    pub outcome: Outcome,
    /// Its row groups, with their rows; none where the stripe is skipped, or is one row group.
    pub groups: Vec<(u64, Outcome)>,
    /// Bytes of the columns that the filter asks, which are read in any case.
    pub filter_bytes: u64,
    /// Requests for those, where neighbouring ranges are one.
    pub filter_requests: usize,
    /// Bytes of the other columns, which are read where rows are found: at most these.
    pub other_bytes: u64,
    /// Requests for those, at most.
    pub other_requests: usize,
}

/// What becomes of the rows of a stripe or of a row group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// All of them are wanted: the filter is not evaluated.
    AllWanted,
    /// They are read to find those that are wanted.
    Read,
    /// None is wanted. These tests, as people write them, are true of none of them, and this proves it.
    Skipped(Vec<(String, Proof)>),
}

impl StripePlan {
    /// The plan of a stripe of which nothing else is known: no row groups, and nothing to read.
    #[doc(hidden)]
    pub fn of(stripe: usize, rows: u64, outcome: Outcome) -> Self {
        StripePlan {
            stripe,
            rows,
            outcome,
            groups: Vec::new(),
            filter_bytes: 0,
            filter_requests: 0,
            other_bytes: 0,
            other_requests: 0,
        }
    }
}

impl Outcome {
    /// Whether none of the rows is wanted.
    pub fn is_skipped(&self) -> bool {
        matches!(self, Outcome::Skipped(_))
    }

    /// What becomes of rows of which this is known.
    pub(crate) fn of(verdict: &Verdict, condition: &Condition) -> Self {
        let cause = |(leaf, proof): (usize, Proof)| Some((condition.leaves.get(leaf)?.text.clone(), proof));
        match verdict.truth {
            Truth::Always => Outcome::AllWanted,
            Truth::Maybe => Outcome::Read,
            Truth::Never => Outcome::Skipped(verdict.causes(condition).into_iter().filter_map(cause).collect()),
        }
    }
}

impl Plan {
    /// What reading would do.
    pub(super) fn explain(&self, patience: &mut Patience) -> Result<Explanation> {
        let (mut stripes, mut held) = (Vec::new(), 0);
        let read: BTreeSet<usize> = self.stripes.iter().copied().collect();
        for (&stripe, verdict) in self.verdicts.iter().filter(|(stripe, _)| !read.contains(stripe)) {
            patience.look()?;
            let outcome = self.outcome(verdict);
            self.charge(&mut held, &outcome)?;
            stripes.push(self.stripe_plan(stripe, outcome));
        }
        for &stripe in &self.stripes {
            patience.look()?;
            stripes.push(self.explain_stripe(stripe, &mut held).map_err(|error| error.in_stripe(stripe))?);
        }
        stripes.sort_by_key(|plan| plan.stripe);
        Ok(Explanation { file: self.source.name().to_owned(), skipped: false, stripes })
    }

    fn stripe_plan(&self, stripe: usize, outcome: Outcome) -> StripePlan {
        StripePlan::of(stripe, self.rows_of(stripe), outcome)
    }

    fn outcome(&self, verdict: &Verdict) -> Outcome {
        self.filter.as_ref().map_or(Outcome::AllWanted, |filter| Outcome::of(verdict, &filter.condition))
    }

    /// Counts what becomes of a stripe or row group among what is `held`.
    fn charge(&self, held: &mut u64, outcome: &Outcome) -> Result<()> {
        let causes = if let Outcome::Skipped(causes) = outcome { &causes[..] } else { &[] };
        let causes = causes.iter().map(|(text, _)| CAUSE_BYTES + text.len() as u64).sum::<u64>();
        *held = held.saturating_add(GROUP_BYTES + causes);
        let most = self.limits().memory;
        match *held > most {
            true => Err(Error::over(
                "memory",
                format!("what becomes of the row groups takes more than the {most} bytes allowed"),
            )),
            false => Ok(()),
        }
    }

    /// What becomes of a stripe. What that of all stripes takes so far is `held`.
    fn explain_stripe(&self, index: usize, held: &mut u64) -> Result<StripePlan> {
        let mut plan = self.stripe_plan(index, self.outcome(&self.verdict_of(index)));
        self.charge(held, &plan.outcome)?;
        if self.needs_rows_only(index) {
            return Ok(plan);
        }
        let stripe = self.begin(index)?;
        let mut all = vec![Range { start: 0, end: 1 }];
        let (mut groups, mut indexes) = (Groups::one(stripe.rows), Indexes::new());
        let mut rest = self.columns.clone();
        if let Some(filter) = &self.filter {
            let pruned = self.prune(filter, &stripe, index)?;
            (groups, indexes) = (pruned.groups, pruned.indexes);
            if let [only] = &pruned.verdicts[..] {
                plan.outcome = self.outcome(only);
            } else {
                let outcome = |(group, verdict)| {
                    let (rows, outcome) = (groups.rows(group), self.outcome(verdict));
                    self.charge(held, &outcome)?;
                    Ok((rows.end - rows.start, outcome))
                };
                plan.groups = pruned.verdicts.iter().enumerate().map(outcome).collect::<Result<_>>()?;
            }
            let kept: Vec<_> = runs(&pruned.verdicts).collect();
            all = kept.iter().map(|(run, _)| run.clone()).collect();
            if filter.is_needed(&kept) {
                (plan.filter_bytes, plan.filter_requests) =
                    self.weigh(&stripe, &filter.asked, &all, pruned.can_seek, &indexes)?;
            }
            rest = filter.rest(&self.columns);
        }
        let is_all = all.first().is_some_and(|run| *run == (0..groups.count()));
        let ids = self.ids_of(&stripe, &rest);
        let can_seek = !is_all && self.index_columns(&stripe, groups, &ids, &mut indexes)?;
        (plan.other_bytes, plan.other_requests) = self.weigh(&stripe, &rest, &all, can_seek, &indexes)?;
        Ok(plan)
    }

    /// Bytes and requests for some row groups of columns.
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
        let ranges = coalesce(&stripe.ranges(&parts), self.source.gap());
        Ok((ranges.iter().map(|range| range.end - range.start).sum(), ranges.len()))
    }
}
