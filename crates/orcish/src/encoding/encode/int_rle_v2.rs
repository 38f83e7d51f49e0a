//! Integer run length encoding, version 2 (ORCv1, Integer Run Length Encoding, version 2).
//!
//! Values are cut where three equal ones begin, or after 512, as Java's writer does; each stretch takes the
//! sub-encoding with the fewest bytes, which are computed, not tried. Neighbouring stretches then join into one
//! direct or delta run wherever that is not larger: short repeats within narrow values would otherwise cost more
//! than they save. So no stream is larger than what Java writes with its default, the widths not deprecated.

use std::ops::Range;

use super::super::cpu::{self, Kernel};
use super::bitpack::{aligned_width_for, bits, pack, packed_len, width_code};
use super::patched_base;
use super::run::{Kind, pack_each, write_header};
use super::varint::{len_u64, write_i64, write_u64, zigzag};

/// Most values of a run.
const MAX_RUN: usize = 512;
/// Values of a short repeat.
const REPEATS: std::ops::RangeInclusive<usize> = 3..=10;

/// A sub-encoding of integer run length encoding version 2, with the width that is free to choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubEncoding {
    /// Short Repeat, of a value of `bytes` bytes, 1 to 8.
    ShortRepeat {
        /// Bytes of the value.
        bytes: u8,
    },
    /// Direct, fields of `width` bits.
    Direct {
        /// Bits of a field.
        width: u32,
    },
    /// Patched Base, fields of `width` bits before patching.
    PatchedBase {
        /// Bits of a field.
        width: u32,
    },
    /// Delta with one difference throughout, and so no fields.
    FixedDelta,
    /// Delta with fields of `width` bits, 2 at least.
    Delta {
        /// Bits of a field.
        width: u32,
    },
}

/// Appends all of `values`. Unsigned streams hold values of 0 and above; others come back as the same 64 bits.
pub fn encode(values: &[i64], signed: bool, out: &mut Vec<u8>) {
    encode_runs(values, signed, true, out);
}

/// Appends the runs of `values` that more values behind them could not change; returns how many values those hold.
pub fn encode_settled(values: &[i64], signed: bool, out: &mut Vec<u8>) -> usize {
    encode_runs(values, signed, false, out)
}

/// Appends one run with all of `values` in the sub-encoding `sub`; `false`, and nothing is appended, where it
/// cannot hold them.
pub fn encode_as(sub: SubEncoding, values: &[i64], signed: bool, out: &mut Vec<u8>) -> bool {
    if values.len() > MAX_RUN {
        return false;
    }
    let Some(shape) = Shape::of(values, signed) else { return false };
    let fits = |width, most| bits(most) <= width && width_code(width).is_some();
    let possible = match sub {
        SubEncoding::ShortRepeat { bytes } => {
            let width = u32::from(bytes) * 8;
            REPEATS.contains(&shape.len) && shape.constant() && width <= 64 && bits(shape.any) <= width
        }
        SubEncoding::Direct { width } => fits(width, shape.any),
        // The writer sees for itself.
        SubEncoding::PatchedBase { .. } => true,
        SubEncoding::FixedDelta => shape.len >= 2 && shape.fixed(),
        SubEncoding::Delta { width } => shape.len >= 2 && width > 1 && shape.sloped() && fits(width, shape.later),
    };
    possible && write(sub, values, signed, out).is_some()
}

/// Differences that are looked at before the others.
const FIRST_SLOPES: usize = 16;

/// What decides on the sub-encoding of a stretch of values. Shapes of neighbours join in constant time.
#[derive(Clone, Copy)]
struct Shape {
    len: usize,
    first: i64,
    last: i64,
    signed: bool,
    /// All values as stored, or-ed: their highest bit is that of the largest.
    any: u64,
    /// The difference between the first two values, wrapping; 0 for a single value.
    delta: i64,
    /// The magnitudes of the other differences, or-ed; of no meaning where values are neither rising nor falling.
    later: u64,
    /// All differences are the same.
    even: bool,
    rising: bool,
    falling: bool,
}

impl Shape {
    /// `None` without values.
    #[inline(always)]
    fn of(values: &[i64], signed: bool) -> Option<Shape> {
        let (&first, rest) = values.split_first()?;
        let mut shape = Shape::single(first, signed);
        shape.len = values.len();
        if let Some(&second) = rest.first() {
            shape.delta = second.wrapping_sub(first);
        }
        shape.last = rest.last().copied().unwrap_or(first);
        shape.any = values.iter().fold(0, |any, &value| any | stored(value, signed));
        // Most that is neither rising nor falling shows it at once.
        let (start, more) = rest.split_at(rest.len().min(FIRST_SLOPES));
        shape.slopes(values, start);
        if !shape.rising && !shape.falling {
            shape.even = false;
            return Some(shape);
        }
        shape.slopes(values.get(start.len()..).unwrap_or_default(), more);
        if shape.rising || shape.falling {
            let pairs = rest.iter().zip(rest.iter().skip(1));
            shape.later = pairs.fold(0, |later, (&before, &value)| later | before.abs_diff(value));
        }
        Some(shape)
    }

    /// Takes in the differences between values and those before them.
    #[inline(always)]
    fn slopes(&mut self, before: &[i64], values: &[i64]) {
        let (mut rising, mut falling, mut even) = (true, true, true);
        for (&before, &value) in before.iter().zip(values) {
            rising &= before <= value;
            falling &= before >= value;
            even &= value.wrapping_sub(before) == self.delta;
        }
        self.rising &= rising;
        self.falling &= falling;
        self.even &= even;
    }

    #[inline(always)]
    fn single(value: i64, signed: bool) -> Shape {
        let any = stored(value, signed);
        Shape {
            len: 1,
            first: value,
            last: value,
            signed,
            any,
            delta: 0,
            later: 0,
            even: true,
            rising: true,
            falling: true,
        }
    }

    /// The shape of the values of `self` and those of `next` behind them.
    #[inline(always)]
    fn join(self, next: Shape) -> Shape {
        let between = next.first.wrapping_sub(self.last);
        let delta = if self.len > 1 { self.delta } else { between };
        // Differences that count as later ones: not the first of the whole.
        let mut later = self.later | next.later;
        if self.len > 1 {
            later |= self.last.abs_diff(next.first);
        }
        if next.len > 1 {
            later |= next.delta.unsigned_abs();
        }
        Shape {
            len: self.len + next.len,
            first: self.first,
            last: next.last,
            signed: self.signed,
            any: self.any | next.any,
            delta,
            later,
            even: self.even && next.even && between == delta && (next.len == 1 || next.delta == delta),
            rising: self.rising && next.rising && self.last <= next.first,
            falling: self.falling && next.falling && self.last >= next.first,
        }
    }

    #[inline(always)]
    fn constant(&self) -> bool {
        self.rising && self.falling
    }

    /// One difference throughout, and no overflow on the way.
    #[inline(always)]
    fn fixed(&self) -> bool {
        self.even && self.bounded()
    }

    /// Rising or falling from the first difference on: its sign is that of all.
    #[inline(always)]
    fn sloped(&self) -> bool {
        self.delta != 0 && self.bounded()
    }

    /// Monotone, and every difference of two values has 63 bits.
    #[inline(always)]
    fn bounded(&self) -> bool {
        (self.rising || self.falling) && self.last.checked_sub(self.first).is_some()
    }

    /// The smallest of short repeat, direct and delta, and its bytes.
    #[inline(always)]
    fn cheapest(&self) -> (SubEncoding, usize) {
        if REPEATS.contains(&self.len) && self.constant() {
            let bytes = bits(self.any).div_ceil(8).max(1);
            return (SubEncoding::ShortRepeat { bytes: bytes.to_le_bytes()[0] }, 1 + bytes as usize);
        }
        let width = aligned_width_for(bits(self.any));
        let direct = (SubEncoding::Direct { width }, 2 + packed_len(self.len, width));
        if self.len < 3 {
            return direct;
        }
        let start = 2 + len_u64(stored(self.first, self.signed)) + len_u64(zigzag(self.delta));
        let delta = if self.fixed() {
            (SubEncoding::FixedDelta, start)
        } else if self.sloped() {
            // Width 1 is not to be had in a delta run.
            let width = aligned_width_for(bits(self.later)).max(2);
            (SubEncoding::Delta { width }, start + packed_len(self.len - 2, width))
        } else {
            return direct;
        };
        // Of equals a fixed delta reads fastest, then direct.
        match delta {
            (SubEncoding::FixedDelta, size) if size <= direct.1 => delta,
            (_, size) if size < direct.1 => delta,
            _ => direct,
        }
    }
}

/// A run that is not written yet, since the next may join it.
struct Held {
    shape: Shape,
    sub: SubEncoding,
    size: usize,
}

fn encode_runs(values: &[i64], signed: bool, last: bool, out: &mut Vec<u8>) -> usize {
    cpu::run(Encode { values, signed, last, out })
}

struct Encode<'a> {
    values: &'a [i64],
    signed: bool,
    last: bool,
    out: &'a mut Vec<u8>,
}

impl Kernel for Encode<'_> {
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        // Each has a loop without the other's cases.
        if self.signed {
            encode_all(self.values, true, self.last, self.out)
        } else {
            encode_all(self.values, false, self.last, self.out)
        }
    }
}

#[inline(always)]
fn encode_all(values: &[i64], signed: bool, last: bool, out: &mut Vec<u8>) -> usize {
    let part = |range: Range<usize>| values.get(range).unwrap_or_default();
    let mut written = 0;
    let mut at = 0;
    let mut held: Option<Held> = None;
    while let Some(len) = stretch(part(at..values.len()), last) {
        let stretch = part(at..at + len);
        let Some(shape) = Shape::of(stretch, signed) else { break };
        let (mut sub, mut size) = shape.cheapest();
        if let SubEncoding::Direct { .. } | SubEncoding::Delta { .. } = sub
            && let Some((width, fewer)) = patched_base::cheapest(stretch, size)
        {
            (sub, size) = (SubEncoding::PatchedBase { width }, fewer);
        }
        at += len;
        let mut next = Held { shape, sub, size };
        if let Some(before) = held.take() {
            let joined = before.shape.join(shape);
            let (sub, size) = joined.cheapest();
            if joined.len <= MAX_RUN && size <= before.size + next.size {
                next = Held { shape: joined, sub, size };
            } else {
                let end = written + before.shape.len;
                write_sized(&before, part(written..end), out);
                written = end;
            }
        }
        held = Some(next);
    }
    match held {
        Some(run) if last => {
            write_sized(&run, part(written..at), out);
            at
        }
        _ => written,
    }
}

/// Values of the stretch at the front: equal ones, or those before three equal ones. `None` at the end of
/// `values`, which more could still change unless these are the `last`.
#[inline(always)]
fn stretch(values: &[i64], last: bool) -> Option<usize> {
    let near = values.get(..MAX_RUN).unwrap_or(values);
    let first = near.first()?;
    let len = match near {
        [a, b, c, ..] if a == b && b == c => near.iter().take_while(|&value| value == first).count(),
        _ => before_three_equal(near),
    };
    (last || len < values.len() || len == MAX_RUN).then_some(len)
}

/// How many values are before three equal ones.
#[inline(always)]
fn before_three_equal(values: &[i64]) -> usize {
    /// Places that are looked at together, without a jump for each.
    const TOGETHER: usize = 16;
    let three_equal = |three: &[i64]| matches!(three, [a, b, c] if a == b && b == c);
    let mut at = 0;
    while let Some(block) = values.get(at..).and_then(|rest| rest.first_chunk::<{ TOGETHER + 2 }>()) {
        let mut found = false;
        for ((a, b), c) in block.iter().zip(block.iter().skip(1)).zip(block.iter().skip(2)) {
            found |= (a ^ b) | (b ^ c) == 0;
        }
        if found {
            break;
        }
        at += TOGETHER;
    }
    let rest = values.get(at..).unwrap_or_default();
    rest.windows(3).position(three_equal).map_or(values.len(), |position| at + position)
}

#[inline(always)]
fn write_sized(run: &Held, values: &[i64], out: &mut Vec<u8>) {
    let before = out.len();
    let done = write(run.sub, values, run.shape.signed, out);
    debug_assert!(done.is_some() && out.len() - before == run.size, "{:?} of {values:?}", run.sub);
}

/// Appends one run that is known to hold `values`, but for patched base, which is `None` where it cannot.
#[inline(always)]
fn write(sub: SubEncoding, values: &[i64], signed: bool, out: &mut Vec<u8>) -> Option<()> {
    let &first = values.first()?;
    match sub {
        SubEncoding::ShortRepeat { bytes } => {
            let count = u8::try_from(values.len() - REPEATS.start()).ok()?;
            out.push((bytes - 1) << 3 | count);
            let value = stored(first, signed).to_be_bytes();
            out.extend_from_slice(value.get(8 - usize::from(bytes)..)?);
        }
        SubEncoding::Direct { width } => {
            write_header(Kind::Direct, width_code(width)?, values.len(), out);
            pack_each(values, width, out, |&value| stored(value, signed));
        }
        SubEncoding::PatchedBase { width } => patched_base::write(values, width, out)?,
        SubEncoding::FixedDelta => write_delta(values, 0, signed, out),
        SubEncoding::Delta { width } => {
            write_delta(values, width_code(width)?, signed, out);
            let (mut fields, rest) = ([0; MAX_RUN], values.get(1..)?);
            for ((to, before), &value) in fields.iter_mut().zip(rest).zip(rest.iter().skip(1)) {
                *to = before.abs_diff(value);
            }
            pack(fields.get(..rest.len() - 1)?, width, out);
        }
    }
    Some(())
}

/// The parts of a delta run before its fields.
fn write_delta(values: &[i64], code: u8, signed: bool, out: &mut Vec<u8>) {
    write_header(Kind::Delta, code, values.len(), out);
    if let [first, second, ..] = values {
        write_u64(stored(*first, signed), out);
        write_i64(second.wrapping_sub(*first), out);
    }
}

/// A value as short repeat, direct and the base of delta store it.
#[inline]
fn stored(value: i64, signed: bool) -> u64 {
    if signed { zigzag(value) } else { value.cast_unsigned() }
}
