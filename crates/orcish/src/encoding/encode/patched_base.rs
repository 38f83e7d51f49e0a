//! Encoder of patched base runs (ORCv1, Integer Run Length Encoding, version 2, Patched Base).
//!
//! The base is the least value. The differences to the base are bit-packed. The patch list has the high bits of the few
//! differences that do not fit into the width.

use super::bitpack::{bits, pack, packed_len, width_code, width_for};
use super::run::{Kind, pack_mapped, write_header};

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
    #[inline]
    fn difference(&self, value: i64) -> u64 {
        value.wrapping_sub(self.value).cast_unsigned()
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
pub(super) fn smallest(values: &[i64], limit: usize) -> Option<(u32, usize)> {
    // The lower bound is a base of one byte, differences of one bit, and one entry.
    if 4 + 1 + packed_len(values.len(), 1) + 1 >= limit {
        return None;
    }
    let base = Base::new(values)?;
    let header = 4 + usize::from(base.bytes);
    // The values with the most bits are patched at any width.
    let threshold = base.max_bits.checked_sub(1).map(|bits| 1u64 << bits)?;
    let patched: usize = values.iter().map(|&value| usize::from(base.difference(value) >= threshold)).sum();
    if patched > MAX_PATCHES {
        return None;
    }
    smallest_of_widths(values, &base, header, limit)
}

/// As [`smallest`], by the size of the run at each possible width. `header` is the size of header and base.
fn smallest_of_widths(values: &[i64], base: &Base, header: usize, limit: usize) -> Option<(u32, usize)> {
    let mut histogram = [0usize; 65];
    for &value in values {
        if let Some(count) = histogram.get_mut(bits(base.difference(value)) as usize) {
            *count += 1;
        }
    }
    let mut patched = 0;
    let has_too_many_patches = |(_, count): &(u32, &usize)| {
        patched += **count;
        patched > MAX_PATCHES
    };
    let bits_and_counts = (0..65u32).zip(histogram.iter()).rev();
    let min_width = bits_and_counts.clone().find(has_too_many_patches).map_or(1, |(bits, _)| bits.max(1));
    if header + packed_len(values.len(), min_width) >= limit {
        return None;
    }

    let mut large = [(0usize, 0u32); MAX_PATCHES];
    let mut count = 0;
    for (position, &value) in values.iter().enumerate() {
        let bits = bits(base.difference(value));
        if bits > min_width
            && let Some(entry) = large.get_mut(count)
        {
            *entry = (position, bits);
            count += 1;
        }
    }

    let mut best = None;
    let mut best_size = limit;
    for width in WIDTHS.into_iter().filter(|width| (min_width..base.max_bits).contains(width)) {
        let positions = large.iter().take(count).filter(|(_, bits)| *bits > width).map(|(position, _)| *position);
        if let Some(patches) = PatchList::new(base, width, positions) {
            let size = header + packed_len(values.len(), width) + packed_len(patches.entries, patches.entry_width());
            // Among equal sizes, the greatest width has the fewest patches.
            if size <= best_size && size < limit {
                (best, best_size) = (Some((width, size)), size);
            }
        }
    }
    best
}

/// Appends the run with differences of `width` bits. Returns `None`, and appends nothing, if there is no such run.
pub(super) fn write(values: &[i64], width: u32, out: &mut Vec<u8>) -> Option<()> {
    let base = Base::new(values)?;
    let too_large = |(position, &value): (usize, &i64)| (bits(base.difference(value)) > width).then_some(position);
    let patches = PatchList::new(&base, width, values.iter().enumerate().filter_map(too_large))?;

    let count = u8::try_from(patches.entries).ok()?;
    let gap_width = u8::try_from(patches.gap_width).ok()?;
    let patch_code = width_code(patches.patch_width)?;
    write_header(Kind::PatchedBase, width_code(width)?, values.len(), out);
    out.extend([(base.bytes - 1) << 5 | patch_code, (gap_width - 1) << 5 | count]);

    let sign = if base.value < 0 { 1 << (8 * u32::from(base.bytes) - 1) } else { 0 };
    let base_bytes = (base.value.unsigned_abs() | sign).to_be_bytes();
    out.extend_from_slice(base_bytes.get(8 - usize::from(base.bytes)..)?);

    let mask = (1 << width) - 1;
    pack_mapped(values, width, out, |&value| base.difference(value) & mask)?;

    let mut entries = Vec::with_capacity(patches.entries);
    let mut previous = 0;
    for (position, &value) in values.iter().enumerate() {
        let patch = base.difference(value) >> width;
        if patch != 0 {
            let gap = position - previous;
            previous = position;
            let fillers = filler_entries(gap);
            entries.extend(std::iter::repeat_n((MAX_GAP as u64) << patches.patch_width, fillers));
            entries.push(((gap - fillers * MAX_GAP) as u64) << patches.patch_width | patch);
        }
    }
    pack(&entries, patches.entry_width(), out);
    Some(())
}
