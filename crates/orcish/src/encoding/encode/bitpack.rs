//! Bit packing of integers, and the widths of packed integers (ORCv1, Integer Run Length Encoding, version 2).

/// Number of significant bits of `value`, 0 for 0.
#[inline]
pub(super) fn bits(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

/// The least width of the specification that is at least `bits`.
#[inline]
pub(super) fn width_for(bits: u32) -> u32 {
    match bits {
        0 => 1,
        1..=24 => bits,
        25..=32 => bits.next_multiple_of(2),
        _ => bits.next_multiple_of(8),
    }
}

/// The least width that is at least `bits` and not deprecated: 1, 2, 4, or a multiple of 8.
#[inline]
pub(super) const fn aligned_width_for(bits: u32) -> u32 {
    match bits {
        0 | 1 => 1,
        2..=8 => bits.next_power_of_two(),
        _ => bits.next_multiple_of(8),
    }
}

/// The five-bit code of `width`; `None` where the specification has no such width.
///
/// Code 0 is width 1, except in delta runs: there it is a fixed delta, and width 1 has no code.
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

/// Bytes of `count` values of `width` bits each.
#[inline]
pub(super) fn packed_len(count: usize, width: u32) -> usize {
    (count * width as usize).div_ceil(8)
}

/// Values of a group, which takes a whole number of bytes at any width.
const GROUP: usize = 8;

/// Maps values, and appends the low `width` bits of each result, the highest bit first, and zero bits up to a whole byte.
///
/// `width` is a width of the specification. No result has more than `width` bits.
#[inline(always)]
pub(super) fn pack<T>(values: &[T], width: u32, out: &mut Vec<u8>, map: impl Fn(&T) -> u64) {
    debug_assert!(width_code(width).is_some());
    let start = out.len();
    out.resize(start + packed_len(values.len(), width), 0);
    let (_, out) = out.split_at_mut(start);
    match width {
        1 => pack_groups::<T, 1>(values, out, map),
        2 => pack_groups::<T, 2>(values, out, map),
        4 => pack_groups::<T, 4>(values, out, map),
        8 => pack_bytes::<T, 1>(values, out, map),
        16 => pack_bytes::<T, 2>(values, out, map),
        24 => pack_bytes::<T, 3>(values, out, map),
        32 => pack_bytes::<T, 4>(values, out, map),
        40 => pack_bytes::<T, 5>(values, out, map),
        48 => pack_bytes::<T, 6>(values, out, map),
        56 => pack_bytes::<T, 7>(values, out, map),
        64 => pack_bytes::<T, 8>(values, out, map),
        _ => pack_unaligned(values, width, out, map),
    }
}

/// Packs values of `N` whole bytes.
#[inline(always)]
fn pack_bytes<T, const N: usize>(values: &[T], out: &mut [u8], map: impl Fn(&T) -> u64) {
    for (to, value) in out.as_chunks_mut::<N>().0.iter_mut().zip(values) {
        if let Some(low) = map(value).to_be_bytes().last_chunk::<N>() {
            *to = *low;
        }
    }
}

/// Packs values of up to eight bits: a group fits into a 64-bit word.
#[inline(always)]
fn pack_groups<T, const W: usize>(values: &[T], out: &mut [u8], map: impl Fn(&T) -> u64) {
    let (groups, rest) = values.as_chunks::<GROUP>();
    let (head, tail) = out.split_at_mut(groups.len() * W);
    for (to, group) in head.as_chunks_mut::<W>().0.iter_mut().zip(groups) {
        let word = group.iter().fold(0, |word, value| word << W | map(value));
        if let Some(low) = word.to_be_bytes().last_chunk::<W>() {
            *to = *low;
        }
    }
    let mut last = [0; GROUP];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = map(from));
    let word = last.iter().fold(0, |word, value| word << W | value) << (64 - GROUP * W);
    tail.iter_mut().zip(word.to_be_bytes()).for_each(|(to, byte)| *to = byte);
}

/// Packs values of any width up to 30 bits.
#[inline(always)]
fn pack_unaligned<T>(values: &[T], width: u32, out: &mut [u8], map: impl Fn(&T) -> u64) {
    // The lowest `pending_bits` of `word` are not written yet. They are fewer than 32 after each iteration.
    let (mut word, mut pending_bits) = (0u64, 0u32);
    let (words, end) = out.as_chunks_mut::<4>();
    let mut words = words.iter_mut();
    for value in values {
        word = word << width | map(value);
        pending_bits += width;
        if pending_bits >= 32 {
            pending_bits -= 32;
            let [_, _, _, _, high @ ..] = (word >> pending_bits).to_be_bytes();
            if let Some(to) = words.next() {
                *to = high;
            }
        }
    }
    if pending_bits > 0 {
        let bytes = (word << (64 - pending_bits)).to_be_bytes();
        let rest = words.as_slice().len() * 4 + end.len();
        let rest = words.flatten().chain(end).take(rest);
        rest.zip(bytes).for_each(|(to, byte)| *to = byte);
    }
}
