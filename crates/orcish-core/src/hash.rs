//! The hash functions of bloom filters, and the bits that a hash sets (ORCv1, Bloom Filter Index).

/// The seed of Java for the hash of bytes.
const SEED: u64 = 104_729;
const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

/// The hash of a null buffer in ORC C++, which may be an empty string.
pub const NO_BYTES: u64 = 2_862_933_555_777_941_757;

/// Thomas Wang's hash of a 64-bit integer, with arithmetic right shifts as in Java.
pub fn integer(key: i64) -> u64 {
    let mut key = (!key).wrapping_add(key << 21);
    key ^= key >> 24;
    key = key.wrapping_mul(1 + 8 + 256);
    key ^= key >> 14;
    key = key.wrapping_mul(1 + 4 + 16);
    key ^= key >> 28;
    key.wrapping_add(key << 31).cast_unsigned()
}

/// The first half of 128-bit Murmur3 in ORC's variant, which hashes words of 8 bytes.
pub fn bytes(bytes: &[u8]) -> u64 {
    let mix = |word: u64| word.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2);
    let (words, rest) = bytes.as_chunks::<8>();
    let mut hash = SEED;
    for &word in words {
        hash ^= mix(u64::from_le_bytes(word));
        hash = hash.rotate_left(27).wrapping_mul(5).wrapping_add(0x52dc_e729);
    }
    let mut last = [0; 8];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    // An empty rest is mixed to 0, which changes nothing.
    hash ^= mix(u64::from_le_bytes(last));
    hash ^= bytes.len() as u64;
    for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
        hash = (hash ^ (hash >> 33)).wrapping_mul(factor);
    }
    hash ^ (hash >> 33)
}

/// The bit positions of a hash in a filter of `bits` bits, one for each hash function; none in a filter without bits.
pub fn positions(hash: u64, functions: u32, bits: u32) -> impl Iterator<Item = u32> {
    let [a, b, c, d, e, f, g, h] = hash.to_le_bytes();
    let (first, second) = (i32::from_le_bytes([a, b, c, d]), i32::from_le_bytes([e, f, g, h]));
    (1..=functions).filter_map(move |i| {
        let sum = first.wrapping_add(i.cast_signed().wrapping_mul(second));
        let positive = if sum < 0 { !sum } else { sum };
        positive.cast_unsigned().checked_rem(bits)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values are in the tests of ORC Java and ORC C++.
    #[test]
    fn hashes_equal_java() {
        let integers = [
            (0, 0),
            (-1, 6_614_246_905_173_314_819),
            (-2, -5_218_250_166_726_157_773),
            (-3, 1_396_019_780_946_710_816),
            (-9_223_372_036_854_775_805, 3_691_278_333_958_578_070),
            (-9_223_372_036_854_775_807, -9_102_499_068_535_824_902),
            (790_302_201, 1_499_534_499_340_523_007),
            (18_000_000_000, -1_097_054_448_615_658_549),
            (9_223_372_036_064_673_415, 294_188_322_706_112_357),
        ];
        for (key, hash) in integers {
            assert_eq!(integer(key).cast_signed(), hash, "of {key}");
        }
        let text = "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of \
            foolishness, it was the epoch of belief, it was the epoch of incredulity, it was the season of Light, it \
            was the season of Darkness, it was the spring of hope, it was the winter of despair, we had everything \
            before us, we had nothing before us, we were all going direct to Heaven, we were all going direct the \
            other way.";
        assert_eq!(bytes(text.as_bytes()), 305_830_725_663_368_540);
    }

    /// Bits of a filter for 128 values with a false positive probability of 5 %.
    #[test]
    fn bits_equal_java() {
        let bits = |hash| positions(hash, 5, 832).collect::<Vec<_>>();
        assert_eq!(bits(integer(11)), [228, 285, 342, 399, 456]);
        let sorted = |hash| {
            let mut bits = bits(hash);
            bits.sort_unstable();
            bits
        };
        assert_eq!(sorted(integer(-1111)), [232, 434, 572, 680, 818]);
        assert_eq!(sorted(integer(1.1f64.to_bits().cast_signed())), [12, 370, 522, 692, 753]);
        assert_eq!(sorted(bytes(b"")), [151, 304, 480, 656, 807]);
    }

    #[test]
    fn filters_without_bits_have_no_positions() {
        assert_eq!(positions(12345, 7, 0).count(), 0);
    }
}
