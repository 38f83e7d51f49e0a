//! Integer run length encoding, version 2 (ORCv1, Integer Run Length Encoding, version 2).
//!
//! 1. The values are split into segments where three equal values begin, and after 512 values, as in Java's writer.
//! 2. A segment gets the sub-encoding with the fewest bytes. Sizes are computed from `SegmentStats`, without encoding.
//! 3. Adjacent segments are merged into one direct or delta run if that is not larger. Without that, short repeats among
//!    narrow values cost more bytes than they save.
//!
//! No stream is larger than the stream of Java's writer with its default, which is to use no deprecated width.

use std::ops::Range;

use super::super::cpu::{self, Kernel};
use super::bitpack::{aligned_width_for, bits, pack, packed_len, width_code};
use super::patched_base;
use super::run::{Kind, pack_mapped, write_header};
use super::varint::{len_u64, write_i64, write_u64, zigzag};

/// Maximum number of values of a run.
const MAX_RUN: usize = 512;
/// Number of values of a short repeat run.
const SHORT_REPEAT_LEN: std::ops::RangeInclusive<usize> = 3..=10;

/// A sub-encoding of integer run length encoding version 2, and its width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubEncoding {
    /// Short Repeat.
    ShortRepeat {
        /// Bytes of the value, 1 to 8.
        bytes: u8,
    },
    /// Direct.
    Direct {
        /// Bits of a packed value.
        width: u32,
    },
    /// Patched Base.
    PatchedBase {
        /// Bits of a packed value, without the patch.
        width: u32,
    },
    /// Delta with equal deltas, which are not packed.
    FixedDelta,
    /// Delta with packed deltas.
    Delta {
        /// Bits of a packed delta, at least 2.
        width: u32,
    },
}

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

/// Number of deltas that are checked before the others.
const FIRST_DELTAS: usize = 16;

/// Statistics of a segment of values, which determine the size of each sub-encoding. The statistics of adjacent segments
/// are merged in constant time.
#[derive(Clone, Copy)]
struct SegmentStats {
    len: usize,
    first: i64,
    last: i64,
    signed: bool,
    /// Bitwise or of the values as stored. Its highest bit is the highest bit of the largest value.
    or_of_values: u64,
    /// The first delta, wrapping; 0 for a single value.
    first_delta: i64,
    /// Bitwise or of the magnitudes of the other deltas. Unspecified where the values are not monotonic.
    or_of_deltas: u64,
    /// Whether all deltas are equal.
    has_equal_deltas: bool,
    is_non_decreasing: bool,
    is_non_increasing: bool,
}

impl SegmentStats {
    /// The statistics of `values`; `None` without values.
    #[inline(always)]
    fn compute(values: &[i64], signed: bool) -> Option<SegmentStats> {
        let (&first, rest) = values.split_first()?;
        let mut stats = SegmentStats::single(first, signed);
        stats.len = values.len();
        if let Some(&second) = rest.first() {
            stats.first_delta = second.wrapping_sub(first);
        }
        stats.last = rest.last().copied().unwrap_or(first);
        stats.or_of_values = values.iter().fold(0, |or, &value| or | stored(value, signed));
        // The first deltas of values that are not monotonic usually have both signs.
        let (head, tail) = rest.split_at(rest.len().min(FIRST_DELTAS));
        stats.add_deltas(values, head);
        if !stats.is_monotonic() {
            stats.has_equal_deltas = false;
            return Some(stats);
        }
        stats.add_deltas(values.get(head.len()..).unwrap_or_default(), tail);
        if stats.is_monotonic() {
            let pairs = rest.iter().zip(rest.iter().skip(1));
            stats.or_of_deltas = pairs.fold(0, |or, (&previous, &value)| or | previous.abs_diff(value));
        }
        Some(stats)
    }

    /// Adds the deltas between the `values` and their predecessors.
    #[inline(always)]
    fn add_deltas(&mut self, predecessors: &[i64], values: &[i64]) {
        let (mut is_non_decreasing, mut is_non_increasing, mut has_equal_deltas) = (true, true, true);
        for (&previous, &value) in predecessors.iter().zip(values) {
            is_non_decreasing &= previous <= value;
            is_non_increasing &= previous >= value;
            has_equal_deltas &= value.wrapping_sub(previous) == self.first_delta;
        }
        self.is_non_decreasing &= is_non_decreasing;
        self.is_non_increasing &= is_non_increasing;
        self.has_equal_deltas &= has_equal_deltas;
    }

    #[inline(always)]
    fn single(value: i64, signed: bool) -> SegmentStats {
        SegmentStats {
            len: 1,
            first: value,
            last: value,
            signed,
            or_of_values: stored(value, signed),
            first_delta: 0,
            or_of_deltas: 0,
            has_equal_deltas: true,
            is_non_decreasing: true,
            is_non_increasing: true,
        }
    }

    /// The statistics of this segment and the adjacent segment `next`.
    #[inline(always)]
    fn merge(self, next: SegmentStats) -> SegmentStats {
        let delta_between = next.first.wrapping_sub(self.last);
        let first_delta = if self.len > 1 { self.first_delta } else { delta_between };
        let mut or_of_deltas = self.or_of_deltas | next.or_of_deltas;
        if self.len > 1 {
            or_of_deltas |= self.last.abs_diff(next.first);
        }
        if next.len > 1 {
            or_of_deltas |= next.first_delta.unsigned_abs();
        }
        SegmentStats {
            len: self.len + next.len,
            first: self.first,
            last: next.last,
            signed: self.signed,
            or_of_values: self.or_of_values | next.or_of_values,
            first_delta,
            or_of_deltas,
            has_equal_deltas: self.has_equal_deltas
                && next.has_equal_deltas
                && delta_between == first_delta
                && (next.len == 1 || next.first_delta == first_delta),
            is_non_decreasing: self.is_non_decreasing && next.is_non_decreasing && self.last <= next.first,
            is_non_increasing: self.is_non_increasing && next.is_non_increasing && self.last >= next.first,
        }
    }

    #[inline(always)]
    fn is_monotonic(&self) -> bool {
        self.is_non_decreasing || self.is_non_increasing
    }

    #[inline(always)]
    fn is_constant(&self) -> bool {
        self.is_non_decreasing && self.is_non_increasing
    }

    #[inline(always)]
    fn allows_fixed_delta(&self) -> bool {
        self.has_equal_deltas && self.is_monotonic_in_63_bits()
    }

    /// Whether a delta run can have packed deltas: all deltas get the sign of the first, which therefore is not 0.
    #[inline(always)]
    fn allows_packed_deltas(&self) -> bool {
        self.first_delta != 0 && self.is_monotonic_in_63_bits()
    }

    /// Whether the values are monotonic, and no difference of two values overflows.
    #[inline(always)]
    fn is_monotonic_in_63_bits(&self) -> bool {
        self.is_monotonic() && self.last.checked_sub(self.first).is_some()
    }

    /// The smallest of short repeat, direct and delta, and its size in bytes.
    #[inline(always)]
    fn smallest(&self) -> (SubEncoding, usize) {
        if SHORT_REPEAT_LEN.contains(&self.len) && self.is_constant() {
            let bytes = bits(self.or_of_values).div_ceil(8).max(1);
            return (SubEncoding::ShortRepeat { bytes: bytes.to_le_bytes()[0] }, 1 + bytes as usize);
        }
        let width = aligned_width_for(bits(self.or_of_values));
        let direct = (SubEncoding::Direct { width }, 2 + packed_len(self.len, width));
        if self.len < 3 {
            return direct;
        }
        let header = 2 + len_u64(stored(self.first, self.signed)) + len_u64(zigzag(self.first_delta));
        let delta = if self.allows_fixed_delta() {
            (SubEncoding::FixedDelta, header)
        } else if self.allows_packed_deltas() {
            // Width 1 has no code in a delta run.
            let width = aligned_width_for(bits(self.or_of_deltas)).max(2);
            (SubEncoding::Delta { width }, header + packed_len(self.len - 2, width))
        } else {
            return direct;
        };
        // Among equal sizes, a fixed delta is the fastest to decode, followed by direct.
        match delta {
            (SubEncoding::FixedDelta, size) if size <= direct.1 => delta,
            (_, size) if size < direct.1 => delta,
            _ => direct,
        }
    }
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
    fn run(self) -> usize {
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
    let slice = |range: Range<usize>| values.get(range).unwrap_or_default();
    let mut written = 0;
    let mut at = 0;
    let mut unwritten: Option<UnwrittenRun> = None;
    while let Some(len) = segment_len(slice(at..values.len()), is_end) {
        let segment = slice(at..at + len);
        let Some(stats) = SegmentStats::compute(segment, signed) else { break };
        let (mut sub, mut size) = stats.smallest();
        if let SubEncoding::Direct { .. } | SubEncoding::Delta { .. } = sub
            && let Some((width, patched_size)) = patched_base::smallest(segment, size)
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
                let end = written + previous.stats.len;
                write_sized(&previous, slice(written..end), out);
                written = end;
            }
        }
        unwritten = Some(run);
    }
    match unwritten {
        Some(run) if is_end => {
            write_sized(&run, slice(written..at), out);
            at
        }
        _ => written,
    }
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
    let mut at = 0;
    while let Some(block) = values.get(at..).and_then(|rest| rest.first_chunk::<{ BLOCK + 2 }>()) {
        let mut found = false;
        for ((a, b), c) in block.iter().zip(block.iter().skip(1)).zip(block.iter().skip(2)) {
            found |= (a ^ b) | (b ^ c) == 0;
        }
        if found {
            break;
        }
        at += BLOCK;
    }
    let rest = values.get(at..).unwrap_or_default();
    rest.windows(3).position(three_equal).map_or(values.len(), |position| at + position)
}

#[inline(always)]
fn write_sized(run: &UnwrittenRun, values: &[i64], out: &mut Vec<u8>) {
    let start = out.len();
    let written = write_run(run.sub, values, run.stats.signed, out);
    debug_assert!(written.is_some() && out.len() - start == run.size, "{:?} of {values:?}", run.sub);
}

/// Appends a run. The sub-encoding can encode `values`; patched base is checked here, and `None` if it cannot.
#[inline(always)]
fn write_run(sub: SubEncoding, values: &[i64], signed: bool, out: &mut Vec<u8>) -> Option<()> {
    let &first = values.first()?;
    match sub {
        SubEncoding::ShortRepeat { bytes } => {
            let count = u8::try_from(values.len() - SHORT_REPEAT_LEN.start()).ok()?;
            out.push((bytes - 1) << 3 | count);
            let value = stored(first, signed).to_be_bytes();
            out.extend_from_slice(value.get(8 - usize::from(bytes)..)?);
        }
        SubEncoding::Direct { width } => {
            write_header(Kind::Direct, width_code(width)?, values.len(), out);
            pack_mapped(values, width, out, |&value| stored(value, signed));
        }
        SubEncoding::PatchedBase { width } => patched_base::write(values, width, out)?,
        SubEncoding::FixedDelta => write_delta_start(values, 0, signed, out),
        SubEncoding::Delta { width } => {
            write_delta_start(values, width_code(width)?, signed, out);
            let (mut deltas, rest) = ([0; MAX_RUN], values.get(1..)?);
            for ((delta, previous), &value) in deltas.iter_mut().zip(rest).zip(rest.iter().skip(1)) {
                *delta = previous.abs_diff(value);
            }
            pack(deltas.get(..rest.len() - 1)?, width, out);
        }
    }
    Some(())
}

/// Appends the start of a delta run: the header, the base and the first delta.
fn write_delta_start(values: &[i64], width_code: u8, signed: bool, out: &mut Vec<u8>) {
    write_header(Kind::Delta, width_code, values.len(), out);
    if let [first, second, ..] = values {
        write_u64(stored(*first, signed), out);
        write_i64(second.wrapping_sub(*first), out);
    }
}

/// The stored bits of a value in short repeat and direct runs, and of the base of a delta run.
#[inline]
fn stored(value: i64, signed: bool) -> u64 {
    if signed { zigzag(value) } else { value.cast_unsigned() }
}
