//! Boolean run length encoding (ORCv1, Boolean Run Length Encoding).

use super::byte_rle;

/// Appends the encoded `values`. The padding bits of the last byte are zero.
pub fn encode(values: &[bool], out: &mut Vec<u8>) {
    byte_rle::encode(&pack(values), out);
}

/// Packs eight values into a byte, the first into the highest bit. The padding bits of the last byte are zero.
pub fn pack(values: &[bool]) -> Vec<u8> {
    let byte = |eight: &[bool]| {
        eight.iter().enumerate().fold(0, |byte, (i, &value)| if value { byte | 0x80 >> i } else { byte })
    };
    values.chunks(8).map(byte).collect()
}
