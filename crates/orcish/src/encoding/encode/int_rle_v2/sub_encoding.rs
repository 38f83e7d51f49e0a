//! Sub-encodings, and writing of runs.

use super::super::bitpack::{pack, width_code};
use super::super::patched_base;
use super::super::run::{Kind, write_header};
use super::super::varint::{write_i64, write_u64, zigzag};
use crate::encoding::cpu::{COMPARED, InstructionSet};

/// Number of values of a short repeat run.
pub(super) const SHORT_REPEAT_LEN: std::ops::RangeInclusive<usize> = 3..=10;

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

/// Appends a run. The sub-encoding can encode `values`; patched base is checked here, and `None` if it cannot.
#[inline(always)]
pub(super) fn write_run(
    instructions: impl InstructionSet,
    sub: SubEncoding,
    values: &[i64],
    signed: bool,
    out: &mut Vec<u8>,
) -> Option<()> {
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
            pack(values, width, out, |&value| stored(value, signed));
        }
        SubEncoding::PatchedBase { width } => patched_base::write(instructions, values, width, out)?,
        SubEncoding::FixedDelta => write_delta_start(values, 0, signed, out),
        SubEncoding::Delta { width } => {
            write_delta_start(values, width_code(width)?, signed, out);
            let mut rest = values.get(1..)?;
            while let Some(count) = rest.len().checked_sub(1).filter(|&count| count > 0) {
                // So many deltas take a whole number of bytes.
                let mut deltas = [0; COMPARED];
                for ((delta, previous), &value) in deltas.iter_mut().zip(rest).zip(rest.iter().skip(1)) {
                    *delta = previous.abs_diff(value);
                }
                let count = count.min(COMPARED);
                pack(deltas.get(..count)?, width, out, |&delta| delta);
                rest = rest.get(count..)?;
            }
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
pub(super) fn stored(value: i64, signed: bool) -> u64 {
    if signed { zigzag(value) } else { value.cast_unsigned() }
}
