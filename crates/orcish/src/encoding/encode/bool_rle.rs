//! Boolean run length encoding (ORCv1, Boolean Run Length Encoding).

use super::byte_rle;

/// Appends all of `values`; the bits that fill the last byte are zero.
pub fn encode(values: &[bool], out: &mut Vec<u8>) {
    byte_rle::encode(&pack(values), out);
}

/// Eight values a byte, the first in the highest bit; a writer that goes on keeps the values of a part byte.
pub fn pack(values: &[bool]) -> Vec<u8> {
    let byte = |eight: &[bool]| {
        eight.iter().enumerate().fold(0, |byte, (i, &value)| if value { byte | 0x80 >> i } else { byte })
    };
    values.chunks(8).map(byte).collect()
}
