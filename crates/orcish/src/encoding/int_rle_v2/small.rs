//! Small runs: short repeat runs, and direct runs of a few narrow values.
//!
//! Columns with some repeated values alternate between the two. Both are decoded by the same instructions: the values are
//! bit-packed fields of a word, and the fields of a short repeat run are all the same one.

use super::run::decode_width;
use crate::encoding::cpu::{InstructionSet, UNPACKED};
use crate::encoding::run::MAX_RUN;

/// Bytes of the longest small run, and of the shortest input of the decoder: two header bytes and a word.
const WINDOW: usize = 2 + 8;

/// What the first byte of a run states about its values.
#[derive(Clone, Copy)]
struct Header {
    /// Bits from a value to the next one; 0 for a short repeat run.
    step: u8,
    /// Bits of the word behind the first byte that are in front of the first value.
    skipped: u8,
    /// The bits of the second byte that are the length: all bits of a direct run, none of a short repeat run.
    length_mask: u8,
    /// Bits of a word without those of a value.
    shift: u8,
}

/// Number of values and bytes of a run; no values for runs that are not small.
#[derive(Clone, Copy)]
struct Size {
    length: u8,
    bytes: u8,
}

/// Low bits of the second byte that are part of an index of [`SIZES`]: the length of a small direct run.
const LENGTH_BITS: u32 = 4;
/// The first byte, and the low bits of the second byte.
const SIZE_BITS: u32 = 8 + LENGTH_BITS;
/// The other bits of the second byte.
const LONG: u8 = 0xff << LENGTH_BITS;

impl Header {
    #[expect(clippy::cast_possible_truncation, reason = "a width is at most 64")]
    const fn of(first: u8) -> Self {
        match first >> 6 {
            0 => Header { step: 0, skipped: 0, length_mask: 0, shift: 64 - 8 * ((first >> 3 & 7) + 1) },
            _ => {
                let width = decode_width(first >> 1) as u8;
                Header { step: width, skipped: 8, length_mask: 0xff, shift: 64 - width }
            }
        }
    }
}

impl Size {
    #[expect(clippy::cast_possible_truncation, reason = "a run of a word has at most 64 values")]
    const fn of(first: u8, second: u8) -> Self {
        let (length, width) = (second as usize + 1, decode_width(first >> 1));
        match first >> 6 {
            0 => Size { length: (first & 7) + 3, bytes: 2 + (first >> 3 & 7) },
            // The lowest bit is the highest one of nine bits of the length.
            1 if first & 1 == 0 && length <= UNPACKED && length * width <= 64 => {
                Size { length: length as u8, bytes: 2 + (length * width).div_ceil(8) as u8 }
            }
            _ => Size { length: 0, bytes: 0 },
        }
    }
}

static HEADERS: [Header; 256] = {
    let mut headers = [Header::of(0); 256];
    let mut first = 0;
    #[expect(clippy::indexing_slicing, clippy::cast_possible_truncation, reason = "evaluated by the compiler")]
    while first < headers.len() {
        headers[first] = Header::of(first as u8);
        first += 1;
    }
    headers
};

static SIZES: [Size; 1 << SIZE_BITS] = {
    let mut sizes = [Size::of(0, 0); 1 << SIZE_BITS];
    let mut index = 0;
    #[expect(clippy::indexing_slicing, clippy::cast_possible_truncation, reason = "evaluated by the compiler")]
    while index < sizes.len() {
        sizes[index] = Size::of(index as u8, (index >> 8) as u8);
        index += 1;
    }
    sizes
};

/// Decodes the small runs at the front of `bytes`, while `out` has room for a run of the maximum length. Returns the number of
/// values and the bytes behind the runs.
///
/// The position of a run depends on the run before it. One look-up by the first two bytes has the least latency.
#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "a byte is an index of 256 headers, and twelve bits are one of the sizes")]
pub(super) fn decode<'a, const SIGNED: bool>(
    instructions: impl InstructionSet,
    bytes: &'a [u8],
    out: &mut [i64],
) -> (usize, &'a [u8]) {
    let (mut rest, mut len) = (bytes, 0);
    while let Some(window @ &[first, second, .., last]) = rest.first_chunk::<WINDOW>()
        && let [_, word @ .., _] = window
        && let Some(room) = out.get_mut(len..).and_then(<[i64]>::first_chunk_mut::<MAX_RUN>)
        && let Some(values) = room.first_chunk_mut::<UNPACKED>()
    {
        let size = SIZES[usize::from(u16::from_le_bytes([first, second]) & ((1 << SIZE_BITS) - 1))];
        let header = HEADERS[usize::from(first)];
        if size.length == 0 || second & header.length_mask & LONG != 0 {
            break;
        }
        let Some(behind) = rest.get(usize::from(size.bytes)..) else { break };
        let word = u64::from_be_bytes(*word) << (header.skipped & 63);
        let word = word | u64::from(last & header.length_mask);
        // Values behind the length of the run are no values of the stream. The next run overwrites them.
        instructions.unpack_word::<SIGNED>(word, header.step, header.shift, values);
        len += usize::from(size.length);
        rest = behind;
    }
    (len, rest)
}
