//! Segments: where runs can begin.

use super::segment_stats::SegmentStats;
use super::sub_encoding::stored;
use crate::encoding::cpu::{self, COMPARED, InstructionSet, Kernel};
use crate::encoding::run::MAX_RUN;

/// Values that are combined at a time.
const LANES: usize = 8;

/// Values, and which of them are equal to those behind them: a bit for each value, the first in the lowest bit of the first
/// word.
pub(super) struct Segments<'a> {
    values: &'a [i64],
    /// Whether a value is equal to the next one. The bit of the last value is not set.
    equal: Vec<u64>,
    /// Whether a value is equal to the next two.
    three_equal: Vec<u64>,
}

struct Compare<'a>(&'a [i64]);

impl Kernel for Compare<'_> {
    type Output = Vec<u64>;

    #[inline(always)]
    fn run(self, instructions: impl InstructionSet) -> Self::Output {
        let mut equal = Vec::with_capacity(self.0.len() / COMPARED + 1);
        let mut rest = self.0;
        while let Some((values, others)) = pairs(rest) {
            equal.push(instructions.equal(values, others));
            rest = rest.split_at(COMPARED).1;
        }
        // The last values, and as many zeros as a comparison takes.
        let mut last = [0; COMPARED + 1];
        last.iter_mut().zip(rest).for_each(|(to, &value)| *to = value);
        if let Some((values, others)) = pairs(&last) {
            let count = rest.len().saturating_sub(1);
            equal.push(instructions.equal(values, others) & !(u64::MAX << count));
        }
        equal
    }
}

/// The first values of a slice, and the value behind each.
#[inline(always)]
fn pairs(values: &[i64]) -> Option<(&[i64; COMPARED], &[i64; COMPARED])> {
    Some((values.first_chunk()?, values.get(1..)?.first_chunk()?))
}

impl<'a> Segments<'a> {
    pub(super) fn new(values: &'a [i64]) -> Self {
        let equal = cpu::run(Compare(values));
        let next = equal.iter().skip(1).chain([&0]);
        let three_equal = equal.iter().zip(next).map(|(&word, next)| word & (word >> 1 | next << 63)).collect();
        Segments { values, equal, three_equal }
    }

    /// Length of the segment that begins at `at`, and whether it has three or more equal values. Other segments have the values
    /// before the next three equal values. `None` where the length depends on values that follow, which are unknown unless
    /// `is_end`, and where there are no values.
    #[inline(always)]
    pub(super) fn length(&self, at: usize, is_end: bool) -> Option<(usize, bool)> {
        let rest = self.values.len().checked_sub(at).filter(|&rest| rest > 0)?;
        let head = rest.min(MAX_RUN);
        let end = at + head;
        let three_equal = next_set(&self.three_equal, at, end, 0);
        let is_equal = three_equal == Some(at);
        let length = match three_equal {
            Some(_) if is_equal => {
                next_set(&self.equal, at, end, u64::MAX).map_or(head, |last| (last + 1 - at).min(head))
            }
            Some(three_equal) if three_equal + 3 <= end => three_equal - at,
            _ => head,
        };
        (is_end || length < rest || length == MAX_RUN).then_some((length, is_equal))
    }

    /// The value at `at`.
    #[inline(always)]
    pub(super) fn value(&self, at: usize) -> Option<i64> {
        self.values.get(at).copied()
    }

    /// The statistics of the `length` values from `at` on; `None` without values.
    #[inline(always)]
    pub(super) fn stats(&self, at: usize, length: usize, signed: bool) -> Option<SegmentStats> {
        let values = self.values.get(at..at + length)?;
        let (&first, &last) = (values.first()?, values.last()?);
        let (is_non_decreasing, is_non_increasing) = self.order(at, length);
        let first_delta = values.get(1).map_or(0, |second| second.wrapping_sub(first));
        let mut stats = SegmentStats {
            len: length,
            first,
            last,
            signed,
            or_of_values: if is_non_decreasing && is_non_increasing {
                stored(first, signed)
            } else {
                self.or_of_values(at, length, signed)
            },
            first_delta,
            or_of_deltas: 0,
            has_equal_deltas: is_non_decreasing && is_non_increasing,
            is_non_decreasing,
            is_non_increasing,
        };
        if is_non_decreasing != is_non_increasing {
            let deltas = || values.iter().zip(values.iter().skip(1));
            let is_other = |(&value, &next): (&i64, &i64)| next.wrapping_sub(value) != first_delta;
            stats.has_equal_deltas = deltas().fold(0, |others, pair| others | u64::from(is_other(pair))) == 0;
            stats.or_of_deltas = deltas().skip(1).fold(0, |or, (&value, &next)| or | value.abs_diff(next));
        }
        Some(stats)
    }

    /// Whether no value is less, and whether no value is greater, than the value before it, of the `length` values from `at` on.
    #[inline(always)]
    fn order(&self, at: usize, length: usize) -> (bool, bool) {
        let (mut at, last) = (at, at + length - 1);
        let (mut falls, mut rises) = (false, false);
        // Values in no order usually have both among the first.
        while at < last && !(falls && rises) {
            let (_, rest) = self.values.split_at(at);
            let Some(block) = rest.first_chunk::<{ LANES + 1 }>() else {
                let (rest, _) = rest.split_at(last + 1 - at);
                for (value, next) in rest.iter().zip(rest.iter().skip(1)) {
                    falls |= next < value;
                    rises |= value < next;
                }
                break;
            };
            // Values behind the last one are compared, and not counted, so that short segments take one step.
            let count = last - at;
            for (lane, (value, next)) in block.iter().zip(block.iter().skip(1)).enumerate() {
                falls |= next < value && lane < count;
                rises |= value < next && lane < count;
            }
            at += LANES;
        }
        (!falls, !rises)
    }

    /// Bitwise or of values as stored. Its highest bit is the highest bit of the largest value.
    #[inline(always)]
    pub(super) fn or_of_values(&self, at: usize, length: usize, signed: bool) -> u64 {
        let (_, rest) = self.values.split_at(at);
        let (blocks, last) = rest.split_at(length).0.as_chunks::<LANES>();
        let mut lanes = [0; LANES];
        for block in blocks {
            lanes.iter_mut().zip(block).for_each(|(lane, &value)| *lane |= stored(value, signed));
        }
        // Values behind the last one are loaded, and not combined, so that the time does not depend on their number.
        match rest.split_at(length - last.len()).1.first_chunk::<LANES>() {
            Some(block) => {
                for (number, (lane, &value)) in lanes.iter_mut().zip(block).enumerate() {
                    *lane |= if number < last.len() { stored(value, signed) } else { 0 };
                }
            }
            None => lanes.iter_mut().zip(last).for_each(|(lane, &value)| *lane |= stored(value, signed)),
        }
        lanes.iter().fold(0, |or, lane| or | lane)
    }
}

/// Position of the first bit from `from` on that is set after `flip` was applied. Bits from `end` on are not all looked at.
#[inline(always)]
fn next_set(words: &[u64], from: usize, end: usize, flip: u64) -> Option<usize> {
    let mut at = from / COMPARED;
    let mut word = (words.get(at)? ^ flip) & u64::MAX << (from % COMPARED);
    while word == 0 {
        at += 1;
        if at * COMPARED >= end {
            return None;
        }
        word = words.get(at)? ^ flip;
    }
    Some(at * COMPARED + word.trailing_zeros() as usize)
}
