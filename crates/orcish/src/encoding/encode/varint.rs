//! Base 128 varints and zigzag encoding (ORCv1, Base 128 Varint).

/// Zigzag encodes an integer: 0, −1, 1, −2 … are 0, 1, 2, 3 ….
#[inline]
pub fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}

/// Zigzag encodes an integer of 128 bits.
#[inline]
pub fn zigzag_128(value: i128) -> u128 {
    (value << 1 ^ value >> 127).cast_unsigned()
}

/// Bits of a value whose varint fits into a 64-bit word.
const WORD_BITS: u32 = 56;
/// Values that are encoded at a time.
const ENCODED: usize = 64;

/// Appends `value` as a varint.
#[inline]
pub fn write_u64(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(low_bits(value) | 0x80);
        value >>= 7;
    }
    out.push(low_bits(value));
}

/// Appends the zigzag encoded `values` as varints.
#[inline(always)]
pub fn write_all_i64(values: &[i64], out: &mut Vec<u8>) {
    for values in values.chunks(ENCODED) {
        let or_of_values = values.iter().fold(0, |or, &value| or | zigzag(value));
        if or_of_values < 0x80 {
            out.extend(values.iter().map(|&value| low_bits(zigzag(value))));
        } else if or_of_values >> WORD_BITS == 0 {
            let (mut buffer, mut at) = ([0; ENCODED * size_of::<u64>()], 0);
            for &value in values {
                let (word, length) = encode_word(zigzag(value));
                if let Some(to) = buffer.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
                    *to = word.to_le_bytes();
                }
                at += length;
            }
            out.extend_from_slice(buffer.split_at(at).0);
        } else {
            values.iter().for_each(|&value| write_i64(value, out));
        }
    }
}

/// The varint of a value of at most 56 bits, the first byte lowest, and its length.
#[inline(always)]
fn encode_word(value: u64) -> (u64, usize) {
    // Groups of 28, 14 and 7 bits move to the places of their bytes.
    let halves = value & 0x0fff_ffff | (value & !0x0fff_ffff) << 4;
    let quarters = halves & 0x0000_3fff_0000_3fff | (halves & 0x0fff_c000_0fff_c000) << 2;
    let groups = quarters & 0x007f_007f_007f_007f | (quarters & 0x3f80_3f80_3f80_3f80) << 1;
    let length = len_u64(value);
    // All bytes but the last have the highest bit.
    let more = 0x0080_8080_8080_8080 & !(u64::MAX << (8 * (length - 1)));
    (groups | more, length)
}

/// Appends the zigzag encoded `value` as a varint.
#[inline]
pub fn write_i64(value: i64, out: &mut Vec<u8>) {
    write_u64(zigzag(value), out);
}

/// Appends the zigzag encoded `value` as a varint: the unscaled value of a decimal (ORCv1, Decimal Columns).
#[inline]
pub fn write_i128(value: i128, out: &mut Vec<u8>) {
    let mut rest = zigzag_128(value);
    while rest >= 0x80 {
        out.push(rest.to_le_bytes()[0] | 0x80);
        rest >>= 7;
    }
    out.push(rest.to_le_bytes()[0]);
}

/// Length in bytes of the varint of `value`.
#[inline]
pub(super) fn len_u64(value: u64) -> usize {
    let bits = u64::BITS - (value | 1).leading_zeros();
    // A seventh of up to 64 bits, rounded up.
    (bits as usize * 9 + 64) >> 6
}

/// The lowest seven bits.
#[inline]
fn low_bits(value: u64) -> u8 {
    value.to_le_bytes()[0] & 0x7f
}
