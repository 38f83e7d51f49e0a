//! Encoder of patched base runs (ORCv1, Integer Run Length Encoding, version 2, Patched Base).
//!
//! The base is the least value. The differences to the base are bit-packed. The patch list has the high bits of the few
//! differences that do not fit into the width.

use super::bitpack::{bits, pack, packed_len, width_code, width_for};
use super::run::{Kind, write_header};
use crate::encoding::cpu::{COMPARED, InstructionSet};
use crate::encoding::run::MAX_RUN;

/// Maximum number of entries of the patch list, which is stated in five bits.
const MAX_PATCHES: usize = 31;
/// Maximum gap of an entry, which has at most eight bits.
const MAX_GAP: usize = 255;
/// Widths of the packed differences. Width 64 leaves no bits for a patch.
const WIDTHS: [u32; 31] =
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 26, 28, 30, 32, 40, 48, 56];

/// The base of a run, its size in bytes, and the bits of the largest difference to it.
struct Base {
    value: i64,
    bytes: u8,
    max_bits: u32,
}

impl Base {
    /// The base of `values`; `None` where a difference overflows, or the base has no magnitude of 63 bits.
    #[inline(always)]
    fn new(values: &[i64]) -> Option<Base> {
        let (min, max) = values.iter().fold((i64::MAX, i64::MIN), |(min, max), &v| (min.min(v), max.max(v)));
        let span = max.checked_sub(min)?.cast_unsigned();
        // The base has a sign bit.
        let bytes = (bits(min.checked_abs()?.cast_unsigned()) + 1).div_ceil(8);
        Some(Base { value: min, bytes: u8::try_from(bytes).ok()?, max_bits: bits(span) })
    }

    /// The difference of `value` to the base, which is the least value.
    #[inline(always)]
    fn difference(&self, value: i64) -> u64 {
        value.wrapping_sub(self.value).cast_unsigned()
    }

    /// The values whose difference to the base has more than `width` bits, of which at least one is.
    #[inline(always)]
    fn wider(&self, instructions: impl InstructionSet, values: &[i64], width: u32) -> Positions {
        // The difference of the largest value is greater, so that the sum does not overflow.
        let least = [self.value.wrapping_add((1 << width) - 1); COMPARED];
        let mut positions = Positions::default();
        let (chunks, rest) = values.as_chunks::<COMPARED>();
        for (word, chunk) in positions.0.iter_mut().zip(chunks) {
            *word = instructions.less(&least, chunk);
        }
        if let Some(word) = positions.0.get_mut(chunks.len()) {
            let mut last = [self.value; COMPARED];
            last.iter_mut().zip(rest).for_each(|(to, &value)| *to = value);
            *word = instructions.less(&least, &last);
        }
        positions
    }
}

/// Positions of some values of a run: a bit for each value, the first in the lowest bit of the first word.
#[derive(Default)]
struct Positions([u64; MAX_RUN / COMPARED]);

impl Positions {
    #[inline(always)]
    fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The positions, ascending.
    #[inline(always)]
    fn iter(&self) -> impl Iterator<Item = usize> {
        let bits_of = |(at, &word): (usize, &u64)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest.wrapping_sub(1);
                (bit < COMPARED).then_some(at * COMPARED + bit)
            })
        };
        self.0.iter().enumerate().flat_map(bits_of)
    }
}

/// Number of entries and widths of a patch list.
struct PatchList {
    entries: usize,
    patch_width: u32,
    gap_width: u32,
}

impl PatchList {
    /// The patch list for values at `positions`; `None` where the list is empty, which readers reject, or too large.
    #[inline(always)]
    fn new(base: &Base, width: u32, positions: impl Iterator<Item = usize>) -> Option<PatchList> {
        let (mut entries, mut max_gap, mut previous) = (0, 0, 0);
        for position in positions {
            let gap = position - previous;
            previous = position;
            max_gap = max_gap.max(gap);
            entries += 1 + filler_entries(gap);
        }
        let patch_width = width_for(base.max_bits.checked_sub(width)?);
        let gap_width = bits(max_gap.min(MAX_GAP) as u64).max(1);
        let fits = (1..=MAX_PATCHES).contains(&entries) && patch_width + gap_width <= 64;
        fits.then_some(PatchList { entries, patch_width, gap_width })
    }

    fn entry_width(&self) -> u32 {
        width_for(self.patch_width + self.gap_width)
    }
}

/// Number of entries without a patch that a gap of more than eight bits needs.
fn filler_entries(gap: usize) -> usize {
    gap.saturating_sub(1) / MAX_GAP
}

/// The width with the smallest run and the size of the run in bytes; `None` where no run is smaller than `limit`.
///
/// The result is exact. At any width only the values with the most bits are patched, at most 31.
#[inline(always)]
pub(super) fn smallest(instructions: impl InstructionSet, values: &[i64], limit: usize) -> Option<(u32, usize)> {
    // The lower bound is a base of one byte, differences of one bit, and one entry.
    if 4 + 1 + packed_len(values.len(), 1) + 1 >= limit {
        return None;
    }
    let base = Base::new(values)?;
    let header = 4 + usize::from(base.bytes);
    let (mut best, mut best_size) = (None, limit);
    for width in WIDTHS.into_iter().rev().skip_while(|&width| width >= base.max_bits) {
        // Each width has more patches than the one before. From some width on there are too many.
        let wider = base.wider(instructions, values, width);
        let count = wider.count();
        if count > MAX_PATCHES {
            break;
        }
        let packed = header + packed_len(values.len(), width);
        // An entry has at least one bit for its gap.
        let min_entry_width = width_for(width_for(base.max_bits - width) + 1);
        if packed + packed_len(count, min_entry_width) >= best_size {
            continue;
        }
        if let Some(patches) = PatchList::new(&base, width, wider.iter()) {
            let size = packed + packed_len(patches.entries, patches.entry_width());
            // Among equal sizes, the greatest width has the fewest patches.
            if size < best_size {
                (best, best_size) = (Some((width, size)), size);
            }
        }
    }
    best
}

/// Appends the run with differences of `width` bits. Returns `None`, and appends nothing, if there is no such run.
#[inline(always)]
pub(super) fn write(instructions: impl InstructionSet, values: &[i64], width: u32, out: &mut Vec<u8>) -> Option<()> {
    let base = Base::new(values)?;
    if width >= base.max_bits {
        return None;
    }
    let wider = base.wider(instructions, values, width);
    let patches = PatchList::new(&base, width, wider.iter())?;

    let count = u8::try_from(patches.entries).ok()?;
    let gap_width = u8::try_from(patches.gap_width).ok()?;
    let patch_code = width_code(patches.patch_width)?;
    write_header(Kind::PatchedBase, width_code(width)?, values.len(), out);
    out.extend([(base.bytes - 1) << 5 | patch_code, (gap_width - 1) << 5 | count]);

    let sign = if base.value < 0 { 1 << (8 * u32::from(base.bytes) - 1) } else { 0 };
    let base_bytes = (base.value.unsigned_abs() | sign).to_be_bytes();
    out.extend_from_slice(base_bytes.get(8 - usize::from(base.bytes)..)?);

    let mask = (1 << width) - 1;
    pack(values, width, out, |&value| base.difference(value) & mask);

    let mut entries = Vec::with_capacity(patches.entries);
    let mut previous = 0;
    for position in wider.iter() {
        let &value = values.get(position)?;
        let gap = position - previous;
        previous = position;
        let fillers = filler_entries(gap);
        entries.extend(std::iter::repeat_n((MAX_GAP as u64) << patches.patch_width, fillers));
        let patch = base.difference(value) >> width;
        entries.push(((gap - fillers * MAX_GAP) as u64) << patches.patch_width | patch);
    }
    pack(&entries, patches.entry_width(), out, |&entry| entry);
    Some(())
}
