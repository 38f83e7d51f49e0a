//! Patched base runs: the base value, the bit-packed differences to the base, and the patch list. The patch list has the
//! high bits of the few differences that do not fit into the width.

use orcish_core::OrInternal as _;
use orcish_core::error::{Error, Result};

use super::run::{RunReader, decode_width, front};
use crate::encoding::bitpack::unpack;
use crate::encoding::run::MAX_RUN;
use crate::warnings::warn;

/// Maximum length of the patch list, which is stated in five bits.
const MAX_PATCHES: usize = 31;

/// Gap and patch of an entry without a patch, whose gap is continued by the next entry.
const CONTINUED_GAP: (u64, u64) = (255, 0);

/// Decodes the run with the first header byte `header`; returns the number of values.
pub(super) fn decode(header: u8, run: &mut RunReader<'_>, out: Option<&mut [i64; MAX_RUN]>) -> Result<usize> {
    let value_width = decode_width(header >> 1);
    let length = run.run_length(header)?;
    let (third, fourth) = (run.read_byte()?, run.read_byte()?);
    let base_width = usize::from(third >> 5) + 1;
    let patch_width = decode_width(third);
    let gap_width = usize::from(fourth >> 5) + 1;
    let patches = usize::from(fourth & 31);
    if patches == 0 {
        return Err(Error::corrupt("a patched base run has no patches"));
    }
    if gap_width + patch_width > 64 {
        return Err(Error::corrupt(format!("patches of {patch_width} bits behind gaps of {gap_width} bits")));
    }
    // The highest bit of the base is its sign, the other bits are the magnitude.
    let stored_base = run.read_be(base_width)?;
    let sign = 1u64 << (8 * base_width - 1);
    let base = (stored_base & (sign - 1)).cast_signed();
    let base = if stored_base & sign == 0 { base } else { -base };

    let packed = run.packed_bytes(length, value_width)?;
    let entry_width = round_up_width(gap_width + patch_width);
    let packed_entries = run.packed_bytes(patches, entry_width)?;
    let Some(out) = out else { return Ok(length) };
    let out = front(out, length)?;
    unpack::<false>(packed, value_width, out)?;

    let mut entries = [0; MAX_PATCHES];
    let entries = entries.get_mut(..patches).or_internal("a run has more patches than five bits state")?;
    unpack::<false>(packed_entries, entry_width, entries)?;
    let mut at = 0;
    let mut follows_patch = false;
    for entry in entries {
        let entry = entry.cast_unsigned();
        let (gap, patch) = (entry >> patch_width, entry & ((1u64 << patch_width) - 1));
        if gap == 0 && follows_patch {
            // ORC Java and ORC C++ look for the value of a patch behind that of the patch before, and find none from here on.
            warn("a run has two patches of one value: the second one and those behind it do not count");
            break;
        }
        follows_patch = (gap, patch) != CONTINUED_GAP;
        at += usize::try_from(gap).unwrap_or(MAX_RUN);
        let Some(value) = out.get_mut(at) else {
            warn("a run has patches beyond its end");
            break;
        };
        // The patch width is rounded up: it can be too large while the patch itself fits.
        if (patch.leading_zeros() as usize) < value_width {
            return Err(Error::corrupt(format!("a patch of more than 64 bits on values of {value_width} bits")));
        }
        // A patch on values of 64 bits is 0.
        *value |= (patch << (value_width % 64)).cast_signed();
    }
    out.iter_mut().for_each(|value| *value = value.wrapping_add(base));
    Ok(length)
}

/// The least width of integer run length encoding that is at least `bits`.
fn round_up_width(bits: usize) -> usize {
    match bits {
        0 => 1,
        1..=24 => bits,
        25..=26 => 26,
        27..=28 => 28,
        29..=30 => 30,
        31..=32 => 32,
        33..=40 => 40,
        41..=48 => 48,
        49..=56 => 56,
        _ => 64,
    }
}
