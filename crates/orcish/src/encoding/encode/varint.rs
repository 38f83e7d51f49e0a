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

/// Appends `value` as a varint.
#[inline]
pub fn write_u64(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(low_bits(value) | 0x80);
        value >>= 7;
    }
    out.push(low_bits(value));
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
    match value {
        0 => 1,
        _ => (value.ilog2() as usize) / 7 + 1,
    }
}

/// The lowest seven bits.
#[inline]
fn low_bits(value: u64) -> u8 {
    value.to_le_bytes()[0] & 0x7f
}
