//! Widths that integer run length encoding version 2 knows, and the packing of numbers into them
//! (ORCv1, Integer Run Length Encoding, version 2: the table of widths, big endian fields).

/// Bits that `value` takes, 0 for 0.
#[inline]
pub(super) fn bits(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

/// The least width of the table that holds `bits`.
#[inline]
pub(super) fn width_for(bits: u32) -> u32 {
    match bits {
        0 => 1,
        1..=24 => bits,
        25..=32 => bits.next_multiple_of(2),
        _ => bits.next_multiple_of(8),
    }
}

/// The least width that holds `bits` and is not deprecated: those cut no byte, or divide one evenly.
#[inline]
pub(super) fn aligned_width_for(bits: u32) -> u32 {
    match bits {
        0 | 1 => 1,
        2..=8 => bits.next_power_of_two(),
        _ => bits.next_multiple_of(8),
    }
}

/// The five bits that stand for `width`, or `None` where the table has no such width. (In a delta run the
/// code 0 means that there are no fields, so that width 1 is not to be had there.)
#[inline]
pub(super) fn width_code(width: u32) -> Option<u8> {
    let code = match width {
        1..=24 => width - 1,
        26 | 28 | 30 | 32 => width / 2 + 11,
        40 | 48 | 56 | 64 => width / 8 + 23,
        _ => return None,
    };
    u8::try_from(code).ok()
}

/// Bytes of `count` fields of `width` bits.
#[inline]
pub(super) fn packed_len(count: usize, width: u32) -> usize {
    (count * width as usize).div_ceil(8)
}

/// Appends the low `width` bits of each value, highest bit first, and zero bits up to a whole byte.
///
/// `width` is one of the table, so that beyond 32 it is of whole bytes; no value takes more bits than `width`.
pub(super) fn pack(values: impl Iterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
    debug_assert!(width_code(width).is_some());
    if width.is_multiple_of(8) {
        let skip = 8 - (width / 8) as usize;
        for value in values {
            out.extend_from_slice(value.to_be_bytes().get(skip..).unwrap_or_default());
        }
        return;
    }
    // Fields gather at the low end; `held` stays below 32 between turns and a field has at most 30 bits.
    let (mut fields, mut held) = (0u64, 0u32);
    for value in values {
        fields = fields << width | value;
        held += width;
        if held >= 32 {
            held -= 32;
            let [_, _, _, _, word @ ..] = (fields >> held).to_be_bytes();
            out.extend_from_slice(&word);
        }
    }
    if held > 0 {
        let bytes = (fields << (64 - held)).to_be_bytes();
        out.extend_from_slice(bytes.get(..held.div_ceil(8) as usize).unwrap_or_default());
    }
}
