//! Integer run length encoding, version 2 (ORCv1, Integer Run Length Encoding, version 2).
//!
//! 1. The values are split into segments where three equal values begin, and after 512 values, as in Java's writer.
//! 2. A segment gets the sub-encoding with the fewest bytes. Sizes are computed from `SegmentStats`, without encoding.
//! 3. Adjacent segments are merged into one direct or delta run if that is not larger. Without that, short repeats among
//!    narrow values cost more bytes than they save.
//!
//! No stream is larger than the stream of Java's writer with its default, which is to use no deprecated width.

mod segment_stats;
mod segments;
mod sub_encoding;

use self::segment_stats::{SegmentStats, direct_size};
use self::segments::Segments;
use self::sub_encoding::{SHORT_REPEAT_LEN, write_run};
use super::super::cpu::{self, Baseline, InstructionSet, Kernel};
use super::super::run::MAX_RUN;
use super::bitpack::{aligned_width_for, bits, width_code};
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
    let Some(stats) = Segments::new(values).stats(0, values.len(), signed) else { return false };
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
    is_possible && write_run(Baseline, sub, values, signed, out).is_some()
}

/// A run with its sub-encoding and its size in bytes, which is not written yet: the next segment may be merged into it.
struct UnwrittenRun {
    stats: SegmentStats,
    sub: SubEncoding,
    size: usize,
}

impl UnwrittenRun {
    /// Appends a short segment to a direct run of narrow values, where the comparison of sizes is known to favor it. Returns
    /// `false`, and appends nothing, where it is not.
    #[inline(always)]
    fn extend_direct(&mut self, segments: &Segments<'_>, at: usize, len: usize, is_equal: bool) -> bool {
        /// Bits of a short repeat run of a value of one byte, which is the smallest run.
        const MIN_RUN_BITS: usize = 16;
        /// Bits of the smallest delta run. A patched base run is larger.
        const MIN_DELTA_BITS: usize = 32;
        let SubEncoding::Direct { width } = self.sub else { return false };
        // The packed values, at most, make the direct run this many bits larger, rounded up to bytes.
        let packed_bits = len * width as usize;
        if packed_bits > MIN_DELTA_BITS || self.stats.len + len > MAX_RUN || self.stats.is_monotonic() {
            return false;
        }
        let or_of_values = segments.or_of_values(at, len, self.stats.signed);
        // Other direct runs have a header of 16 bits, and as many bits for the values if they are as wide.
        let is_smaller = packed_bits <= MIN_RUN_BITS || !is_equal && aligned_width_for(bits(or_of_values)) == width;
        let is_extended = is_smaller && bits(or_of_values) <= width;
        if is_extended && let Some(last) = segments.value(at + len - 1) {
            self.stats.len += len;
            self.stats.last = last;
            self.stats.or_of_values |= or_of_values;
            self.size = direct_size(self.stats.len, width);
        }
        is_extended
    }
}

fn encode_runs(values: &[i64], signed: bool, is_end: bool, out: &mut Vec<u8>) -> usize {
    cpu::run(Encode { segments: Segments::new(values), values, signed, is_end, out })
}

struct Encode<'a> {
    segments: Segments<'a>,
    values: &'a [i64],
    signed: bool,
    /// Whether the stream ends behind the values.
    is_end: bool,
    out: &'a mut Vec<u8>,
}

impl Kernel for Encode<'_> {
    type Output = usize;

    #[inline(always)]
    fn run(self, instructions: impl InstructionSet) -> usize {
        // The loop is compiled once for each value of `signed`.
        if self.signed {
            encode_all(instructions, &self.segments, self.values, true, self.is_end, self.out)
        } else {
            encode_all(instructions, &self.segments, self.values, false, self.is_end, self.out)
        }
    }
}

#[inline(always)]
fn encode_all(
    instructions: impl InstructionSet,
    segments: &Segments<'_>,
    values: &[i64],
    signed: bool,
    is_end: bool,
    out: &mut Vec<u8>,
) -> usize {
    // The first value that is in no run yet, and the values that are not written yet.
    let (mut at, mut unwritten_values) = (0, values);
    let mut unwritten: Option<UnwrittenRun> = None;
    while let Some((len, is_equal)) = segments.length(at, is_end) {
        if let Some(run) = &mut unwritten
            && run.extend_direct(segments, at, len, is_equal)
        {
            at += len;
            continue;
        }
        let (Some(stats), Some(segment)) = (segments.stats(at, len, signed), values.get(at..at + len)) else {
            break;
        };
        let (mut sub, mut size) = stats.smallest();
        if let SubEncoding::Direct { .. } | SubEncoding::Delta { .. } = sub
            && let Some((width, patched_size)) = patched_base::smallest(instructions, segment, size)
        {
            (sub, size) = (SubEncoding::PatchedBase { width }, patched_size);
        }
        at += len;
        let mut run = UnwrittenRun { stats, sub, size };
        if let Some(previous) = unwritten.take() {
            let stats = previous.stats.merge(stats);
            let (sub, size) = stats.smallest();
            if stats.len <= MAX_RUN && size <= previous.size + run.size {
                run = UnwrittenRun { stats, sub, size };
            } else {
                let (run_values, behind) = unwritten_values.split_at(previous.stats.len);
                write_sized(instructions, &previous, run_values, out);
                unwritten_values = behind;
            }
        }
        unwritten = Some(run);
    }
    if is_end && let Some(run) = unwritten {
        let (run_values, behind) = unwritten_values.split_at(run.stats.len);
        write_sized(instructions, &run, run_values, out);
        unwritten_values = behind;
    }
    assert!(
        !is_end || unwritten_values.is_empty(),
        "a stream ends before its values; this is a fault of orcish, please report it"
    );
    values.len() - unwritten_values.len()
}

#[inline(always)]
fn write_sized(instructions: impl InstructionSet, run: &UnwrittenRun, values: &[i64], out: &mut Vec<u8>) {
    let start = out.len();
    let written = write_run(instructions, run.sub, values, run.stats.signed, out);
    // A run that is not written is lost values.
    assert!(
        written.is_some(),
        "values do not fit into a run of {:?}; this is a fault of orcish, please report it",
        run.sub
    );
    debug_assert!(out.len() - start == run.size, "{:?} of {values:?}", run.sub);
}
