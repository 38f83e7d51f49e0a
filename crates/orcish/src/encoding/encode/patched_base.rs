//! Patched base (ORCv1, Integer Run Length Encoding, version 2, Patched Base): the least value as the base, what
//! is to be added to it in fields of one width, and a list of patches with the higher bits of the few values
//! that do not fit.

use super::bitpack::{bits, pack, packed_len, width_code, width_for};
use super::run::{Kind, pack_each, write_header};

/// Most entries of the patch list: their number has five bits.
const MAX_PATCHES: usize = 31;
/// Largest distance that one entry can bridge: a gap has at most eight bits.
const MAX_GAP: usize = 255;
/// Widths of the fields; a patch cannot be taken off at 64.
const WIDTHS: [u32; 31] =
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 26, 28, 30, 32, 40, 48, 56];

/// The base of a sequence, its bytes, and the bits of the largest value above it.
struct Base {
    value: i64,
    bytes: u8,
    most_bits: u32,
}

impl Base {
    /// `None` where values lie too far apart for a difference of 63 bits, or the base has no magnitude of 63 bits.
    #[inline(always)]
    fn of(values: &[i64]) -> Option<Base> {
        let (value, most) = values.iter().fold((i64::MAX, i64::MIN), |(a, b), &v| (a.min(v), b.max(v)));
        let span = most.checked_sub(value)?.cast_unsigned();
        // One bit more for the sign.
        let bytes = (bits(value.checked_abs()?.cast_unsigned()) + 1).div_ceil(8);
        Some(Base { value, bytes: u8::try_from(bytes).ok()?, most_bits: bits(span) })
    }

    /// What is to be added to the base for `value`, which is not below it.
    #[inline]
    fn above(&self, value: i64) -> u64 {
        value.wrapping_sub(self.value).cast_unsigned()
    }
}

/// Sizes of the patch list that a width of the fields leads to.
struct Patches {
    entries: usize,
    patch_width: u32,
    gap_width: u32,
}

impl Patches {
    /// `None` where the list would be empty, which readers refuse, or cannot be written.
    fn of(base: &Base, width: u32, positions: impl Iterator<Item = usize>) -> Option<Patches> {
        let (mut entries, mut longest, mut before) = (0, 0, 0);
        for position in positions {
            let gap = position - before;
            before = position;
            longest = longest.max(gap);
            entries += 1 + fillers(gap);
        }
        let patch_width = width_for(base.most_bits.checked_sub(width)?);
        let gap_width = bits(longest.min(MAX_GAP) as u64).max(1);
        let fits = (1..=MAX_PATCHES).contains(&entries) && patch_width + gap_width <= 64;
        fits.then_some(Patches { entries, patch_width, gap_width })
    }

    fn entry_width(&self) -> u32 {
        width_for(self.patch_width + self.gap_width)
    }
}

/// Entries that patch nothing and only bridge what `gap` has beyond eight bits.
fn fillers(gap: usize) -> usize {
    gap.saturating_sub(1) / MAX_GAP
}

/// The width with the smallest run, and the bytes of that run where they are fewer than `limit`.
///
/// Exact and yet cheap: whatever the width, only the values with the most bits are patched, 31 at most.
#[inline(always)]
pub(super) fn cheapest(values: &[i64], limit: usize) -> Option<(u32, usize)> {
    // A base of one byte, fields of one bit, and one entry.
    if 4 + 1 + packed_len(values.len(), 1) + 1 >= limit {
        return None;
    }
    let base = Base::of(values)?;
    let header = 4 + usize::from(base.bytes);
    // What has the most bits is patched, whatever the width.
    let largest = base.most_bits.checked_sub(1).map(|bits| 1u64 << bits)?;
    let patched: usize = values.iter().map(|&value| usize::from(base.above(value) >= largest)).sum();
    if patched > MAX_PATCHES {
        return None;
    }
    sized(values, &base, header, limit)
}

/// The width with the smallest run, where there may be one.
fn sized(values: &[i64], base: &Base, header: usize, limit: usize) -> Option<(u32, usize)> {
    let mut histogram = [0usize; 65];
    for &value in values {
        if let Some(count) = histogram.get_mut(bits(base.above(value)) as usize) {
            *count += 1;
        }
    }
    let mut above = 0;
    let taking = |(_, count): &(u32, &usize)| {
        above += **count;
        above > MAX_PATCHES
    };
    let least = (0..65u32).zip(histogram.iter()).rev().find(taking).map_or(1, |(bits, _)| bits.max(1));
    if header + packed_len(values.len(), least) >= limit {
        return None;
    }

    let mut large = [(0usize, 0u32); MAX_PATCHES];
    let mut count = 0;
    for (position, &value) in values.iter().enumerate() {
        let bits = bits(base.above(value));
        if bits > least
            && let Some(entry) = large.get_mut(count)
        {
            *entry = (position, bits);
            count += 1;
        }
    }
    let large = large.get(..count).unwrap_or_default();

    let mut best = None;
    let mut best_size = limit;
    for width in WIDTHS.into_iter().filter(|width| (least..base.most_bits).contains(width)) {
        let positions = large.iter().filter(|(_, bits)| *bits > width).map(|(position, _)| *position);
        if let Some(patches) = Patches::of(base, width, positions) {
            let size = header + packed_len(values.len(), width) + packed_len(patches.entries, patches.entry_width());
            // Of equals the later is better: it has fewer patches.
            if size <= best_size && size < limit {
                (best, best_size) = (Some((width, size)), size);
            }
        }
    }
    best
}

/// Appends the run with fields of `width`; `None`, and nothing is appended, where there is no such run.
pub(super) fn write(values: &[i64], width: u32, out: &mut Vec<u8>) -> Option<()> {
    let base = Base::of(values)?;
    let too_large = |(position, &value): (usize, &i64)| (bits(base.above(value)) > width).then_some(position);
    let patches = Patches::of(&base, width, values.iter().enumerate().filter_map(too_large))?;

    let count = u8::try_from(patches.entries).ok()?;
    let gap_width = u8::try_from(patches.gap_width).ok()?;
    let patch_code = width_code(patches.patch_width)?;
    write_header(Kind::PatchedBase, width_code(width)?, values.len(), out);
    out.extend([(base.bytes - 1) << 5 | patch_code, (gap_width - 1) << 5 | count]);

    let sign = if base.value < 0 { 1 << (8 * u32::from(base.bytes) - 1) } else { 0 };
    let base_bytes = (base.value.unsigned_abs() | sign).to_be_bytes();
    out.extend_from_slice(base_bytes.get(8 - usize::from(base.bytes)..).unwrap_or_default());

    let mask = (1 << width) - 1;
    pack_each(values, width, out, |&value| base.above(value) & mask);

    let mut entries = Vec::with_capacity(patches.entries);
    let mut before = 0;
    for (position, &value) in values.iter().enumerate() {
        let patch = base.above(value) >> width;
        if patch != 0 {
            let gap = position - before;
            before = position;
            let bridged = fillers(gap);
            entries.extend(std::iter::repeat_n((MAX_GAP as u64) << patches.patch_width, bridged));
            entries.push(((gap - bridged * MAX_GAP) as u64) << patches.patch_width | patch);
        }
    }
    pack(&entries, patches.entry_width(), out);
    Some(())
}
