//! The places of a file in which stripes are looked for: where its tail says, between these, and behind the tail.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use orcish_core::cancel::Cancellation;
use orcish_core::error::Result;
use orcish_core::limits::Limits;
use orcish_io::ReadAt;

use super::super::tail::MAGIC;
use super::lost::Lost;
use super::tails::{Tails, content_end};
use super::walk::{End, Walker};
use crate::tail::{FileTail, StripeInfo};

/// A stripe, and its number in the tail of the file. `None` if the tail does not list it.
pub(super) struct LocatedStripe {
    pub(super) stripe: StripeInfo,
    pub(super) listed: Option<usize>,
}

impl LocatedStripe {
    fn unlisted(stripe: StripeInfo) -> Self {
        LocatedStripe { stripe, listed: None }
    }
}

/// The stripes of a file in the order of their rows, and what is no stripe.
///
/// # Errors
/// Errors of the source and of the cancellation check.
pub(super) fn found_stripes(
    source: &Arc<dyn ReadAt>,
    tails: &mut Tails<'_>,
    tail_end: Option<u64>,
    tail: &FileTail,
    limits: &Limits,
    cancellation: &mut Cancellation,
) -> Result<(Vec<LocatedStripe>, Vec<Lost>)> {
    let mut places = Places { source, tails, tail, limits, lost: Vec::new() };
    let mut between: BTreeMap<Option<usize>, Vec<StripeInfo>> = BTreeMap::new();
    if let Some(end) = tail_end {
        for (gap, after) in gaps(&tail.stripes, content_end(tail, end)) {
            let stripes = places.walk(gap, true, cancellation)?;
            between.entry(after).or_default().extend(stripes);
        }
    }
    let mut unlisted = |after| between.remove(&after).into_iter().flatten().map(LocatedStripe::unlisted);
    let mut stripes: Vec<LocatedStripe> = unlisted(None).collect();
    for (index, stripe) in tail.stripes.iter().enumerate() {
        stripes.push(LocatedStripe { stripe: stripe.clone(), listed: Some(index) });
        stripes.extend(unlisted(Some(index)));
    }
    let behind = tail_end.unwrap_or(MAGIC.len() as u64)..places.tails.size();
    stripes.extend(places.walk(behind, false, cancellation)?.into_iter().map(LocatedStripe::unlisted));
    Ok((stripes, places.lost))
}

/// The ranges before `end` that no stripe has, and the stripe before each of them.
fn gaps(stripes: &[StripeInfo], end: u64) -> Vec<(Range<u64>, Option<usize>)> {
    let mut by_offset: Vec<(usize, &StripeInfo)> = stripes.iter().enumerate().collect();
    by_offset.sort_by_key(|(_, stripe)| stripe.offset);
    let (mut at, mut before) = (MAGIC.len() as u64, None);
    let mut gaps = Vec::new();
    for (index, stripe) in by_offset {
        if stripe.offset > at && stripe.offset <= end {
            gaps.push((at..stripe.offset, before));
        }
        if stripe.footer().end >= at {
            (at, before) = (stripe.footer().end, Some(index));
        }
    }
    if at < end {
        gaps.push((at..end, before));
    }
    gaps
}

struct Places<'a, 'b> {
    source: &'a Arc<dyn ReadAt>,
    tails: &'a mut Tails<'b>,
    tail: &'a FileTail,
    limits: &'a Limits,
    lost: Vec<Lost>,
}

impl Places<'_, '_> {
    /// The stripes of a range, up to the first one that is not complete.
    ///
    /// Between stripes that the tail lists (`is_listed`), padding is not lost, nor is a tail of an earlier flush.
    fn walk(&mut self, range: Range<u64>, is_listed: bool, cancellation: &mut Cancellation) -> Result<Vec<StripeInfo>> {
        let mut walker = Walker::new(self.source, range.end, self.tail, self.limits);
        let (mut at, mut stripes) = (range.start, Vec::new());
        loop {
            // A stripe may begin with zeros, too.
            let behind_padding = if is_listed { walker.skip_padding(at, cancellation)? } else { at };
            if behind_padding >= range.end {
                return Ok(stripes);
            }
            if is_listed && let Some(end) = self.tails.first_of(&(behind_padding..range.end), cancellation)? {
                at = end;
                continue;
            }
            match walker.stripe(at, cancellation)? {
                Ok(stripe) => {
                    at = stripe.footer().end;
                    stripes.push(stripe);
                }
                Err(end) => {
                    let reason = match (is_listed, end) {
                        (true, _) => "the tail lists no stripe there, and no complete one is there",
                        (false, End::NoFooter) => "no complete stripe is there",
                        (false, End::NoRowCount) => {
                            "the stripe has no row index, which has its number of rows, and no column without nulls"
                        }
                    };
                    self.lost.push(Lost { range: behind_padding..range.end, rows: None, reason: reason.to_owned() });
                    return Ok(stripes);
                }
            }
        }
    }
}
