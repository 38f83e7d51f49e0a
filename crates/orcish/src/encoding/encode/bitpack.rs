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

/// Values whose fields take whole bytes, whatever their width.
const GROUP: usize = 8;

/// Appends the low `width` bits of each field, highest bit first, and zero bits up to a whole byte.
///
/// `width` is one of the table; no field takes more bits than `width`.
#[inline(always)]
pub(super) fn pack(fields: &[u64], width: u32, out: &mut Vec<u8>) {
    debug_assert!(width_code(width).is_some());
    let start = out.len();
    out.resize(start + packed_len(fields.len(), width), 0);
    let out = out.get_mut(start..).unwrap_or_default();
    match width {
        1 => narrow::<1>(fields, out),
        2 => narrow::<2>(fields, out),
        4 => narrow::<4>(fields, out),
        8 => whole::<1>(fields, out),
        16 => whole::<2>(fields, out),
        24 => whole::<3>(fields, out),
        32 => whole::<4>(fields, out),
        40 => whole::<5>(fields, out),
        48 => whole::<6>(fields, out),
        56 => whole::<7>(fields, out),
        64 => whole::<8>(fields, out),
        _ => uneven(fields, width, out),
    }
}

/// Fields of whole bytes.
#[inline(always)]
fn whole<const N: usize>(fields: &[u64], out: &mut [u8]) {
    for (to, field) in out.as_chunks_mut::<N>().0.iter_mut().zip(fields) {
        if let Some(low) = field.to_be_bytes().last_chunk::<N>() {
            *to = *low;
        }
    }
}

/// Fields of up to eight bits: a group is a word.
#[inline(always)]
fn narrow<const W: usize>(fields: &[u64], out: &mut [u8]) {
    let (groups, rest) = fields.as_chunks::<GROUP>();
    let (whole, end) = out.split_at_mut(groups.len() * W);
    for (to, group) in whole.as_chunks_mut::<W>().0.iter_mut().zip(groups) {
        if let Some(low) = group.iter().fold(0, |word, field| word << W | field).to_be_bytes().last_chunk::<W>() {
            *to = *low;
        }
    }
    let mut last = [0; GROUP];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let word = last.iter().fold(0, |word, field| word << W | field) << (64 - GROUP * W);
    end.iter_mut().zip(word.to_be_bytes()).for_each(|(to, byte)| *to = byte);
}

/// Fields of up to 30 bits.
#[inline(always)]
fn uneven(fields: &[u64], width: u32, out: &mut [u8]) {
    // Fields gather at the low end; `held` stays below 32 between turns.
    let (mut word, mut held) = (0u64, 0u32);
    let (words, end) = out.as_chunks_mut::<4>();
    let mut words = words.iter_mut();
    for field in fields {
        word = word << width | field;
        held += width;
        if held >= 32 {
            held -= 32;
            let [_, _, _, _, high @ ..] = (word >> held).to_be_bytes();
            words.next().into_iter().for_each(|to| *to = high);
        }
    }
    if held > 0 {
        let bytes = (word << (64 - held)).to_be_bytes();
        let rest = words.as_slice().len() * 4 + end.len();
        let rest = words.flatten().chain(end).take(rest);
        rest.zip(bytes).for_each(|(to, byte)| *to = byte);
    }
}
