//! Integer run length encoding, version 2 (ORCv1, Integer Run Length Encoding, version 2).
//!
//! 1. The values are split into segments where three equal values begin, and after 512 values, as in Java's writer.
//! 2. A segment gets the sub-encoding with the fewest bytes. Sizes are computed from `SegmentStats`, without encoding.
//! 3. Adjacent segments are merged into one direct or delta run if that is not larger. Without that, short repeats among
//!    narrow values cost more bytes than they save.
//!
//! No stream is larger than the stream of Java's writer with its default, which is to use no deprecated width.

mod segment_stats;
mod sub_encoding;

use self::segment_stats::SegmentStats;
use self::sub_encoding::{MAX_RUN, SHORT_REPEAT_LEN, write_run};
use super::super::cpu::{self, InstructionSet, Kernel};
use super::bitpack::{bits, width_code};
use super::patched_base;

pub use sub_encoding::SubEncoding;

/// Appends the encoded `values`. An unsigned stream has the same 64 bits for a negative value.
pub fn encode(values: &[i64], signed: bool, out: &mut Vec<u8>) {
    encode_runs(values, signed, true, out);
}

/// Appends the complete runs of `values`: the runs that do not depend on the values that follow. Returns the number of
/// values in these runs.
pub fn encode_complete_runs(values: &[i64], signed: bool, out: &mut Vec<u8>) -> usize {
    encode_runs(values, signed, false, out)
}

/// Appends one run with all `values` in a sub-encoding. Returns `false`, and appends nothing, if the sub-encoding cannot
/// encode the values in one run.
pub fn encode_as(sub: SubEncoding, values: &[i64], signed: bool, out: &mut Vec<u8>) -> bool {
    if values.len() > MAX_RUN {
        return false;
    }
    let Some(stats) = SegmentStats::compute(values, signed) else { return false };
    let fits = |width, or_of_values| bits(or_of_values) <= width && width_code(width).is_some();
    let is_possible = match sub {
        SubEncoding::ShortRepeat { bytes } => {
            let width = u32::from(bytes) * 8;
            SHORT_REPEAT_LEN.contains(&stats.len)
                && stats.is_constant()
                && width <= 64
                && bits(stats.or_of_values) <= width
        }
        SubEncoding::Direct { width } => fits(width, stats.or_of_values),
        // `write_run` checks the values.
        SubEncoding::PatchedBase { .. } => true,
        SubEncoding::FixedDelta => stats.len >= 2 && stats.allows_fixed_delta(),
        SubEncoding::Delta { width } => {
            stats.len >= 2 && width > 1 && stats.allows_packed_deltas() && fits(width, stats.or_of_deltas)
        }
    };
    is_possible && write_run(sub, values, signed, out).is_some()
}

/// A run with its sub-encoding and its size in bytes, which is not written yet: the next segment may be merged into it.
struct UnwrittenRun {
    stats: SegmentStats,
    sub: SubEncoding,
    size: usize,
}

fn encode_runs(values: &[i64], signed: bool, is_end: bool, out: &mut Vec<u8>) -> usize {
    cpu::run(Encode { values, signed, is_end, out })
}

struct Encode<'a> {
    values: &'a [i64],
    signed: bool,
    /// Whether the stream ends behind the values.
    is_end: bool,
    out: &'a mut Vec<u8>,
}

impl Kernel for Encode<'_> {
    type Output = usize;

    #[inline(always)]
    fn run(self, _instructions: impl InstructionSet) -> usize {
        // The loop is compiled once for each value of `signed`.
        if self.signed {
            encode_all(self.values, true, self.is_end, self.out)
        } else {
            encode_all(self.values, false, self.is_end, self.out)
        }
    }
}

#[inline(always)]
fn encode_all(values: &[i64], signed: bool, is_end: bool, out: &mut Vec<u8>) -> usize {
    // The values that are not written yet, and those of them that are in no run yet.
    let (mut unwritten_values, mut rest) = (values, values);
    let mut unwritten: Option<UnwrittenRun> = None;
    while let Some(len) = segment_len(rest, is_end) {
        let (segment, behind) = rest.split_at(len);
        let Some(stats) = SegmentStats::compute(segment, signed) else { break };
        let (mut sub, mut size) = stats.smallest();
        if let SubEncoding::Direct { .. } | SubEncoding::Delta { .. } = sub
            && let Some((width, patched_size)) = patched_base::smallest(segment, size)
        {
            (sub, size) = (SubEncoding::PatchedBase { width }, patched_size);
        }
        rest = behind;
        let mut run = UnwrittenRun { stats, sub, size };
        if let Some(previous) = unwritten.take() {
            let stats = previous.stats.merge(stats);
            let (sub, size) = stats.smallest();
            if stats.len <= MAX_RUN && size <= previous.size + run.size {
                run = UnwrittenRun { stats, sub, size };
            } else {
                let (run_values, behind) = unwritten_values.split_at(previous.stats.len);
                write_sized(&previous, run_values, out);
                unwritten_values = behind;
            }
        }
        unwritten = Some(run);
    }
    if is_end && let Some(run) = unwritten {
        let (run_values, behind) = unwritten_values.split_at(run.stats.len);
        write_sized(&run, run_values, out);
        unwritten_values = behind;
    }
    assert!(
        !is_end || unwritten_values.is_empty(),
        "a stream ends before its values; this is a fault of orcish, please report it"
    );
    values.len() - unwritten_values.len()
}

/// Length of the segment at the front of `values`: equal values, or the values before the next three equal values. `None`
/// where the length depends on values that follow, which are unknown unless `is_end`.
#[inline(always)]
fn segment_len(values: &[i64], is_end: bool) -> Option<usize> {
    let head = values.get(..MAX_RUN).unwrap_or(values);
    let first = head.first()?;
    let len = match head {
        [a, b, c, ..] if a == b && b == c => head.iter().take_while(|&value| value == first).count(),
        _ => len_before_three_equal(head),
    };
    (is_end || len < values.len() || len == MAX_RUN).then_some(len)
}

/// Number of values before the first three equal values.
#[inline(always)]
fn len_before_three_equal(values: &[i64]) -> usize {
    /// Number of positions that are checked with one branch.
    const BLOCK: usize = 16;
    let three_equal = |three: &[i64]| matches!(three, [a, b, c] if a == b && b == c);
    let mut rest = values;
    while let Some(block) = rest.first_chunk::<{ BLOCK + 2 }>() {
        let mut has_three_equal = false;
        for ((a, b), c) in block.iter().zip(block.iter().skip(1)).zip(block.iter().skip(2)) {
            has_three_equal |= (a ^ b) | (b ^ c) == 0;
        }
        if has_three_equal {
            break;
        }
        rest = rest.split_at(BLOCK).1;
    }
    let checked = values.len() - rest.len();
    rest.windows(3).position(three_equal).map_or(values.len(), |position| checked + position)
}

#[inline(always)]
fn write_sized(run: &UnwrittenRun, values: &[i64], out: &mut Vec<u8>) {
    let start = out.len();
    let written = write_run(run.sub, values, run.stats.signed, out);
    // A run that is not written is lost values.
    assert!(
        written.is_some(),
        "values do not fit into a run of {:?}; this is a fault of orcish, please report it",
        run.sub
    );
    debug_assert!(out.len() - start == run.size, "{:?} of {values:?}", run.sub);
}
