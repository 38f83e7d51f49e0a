//! Decompression of LZO1X blocks, as liblzo2 defines them and ORC Java writes them (ORCv1, Compression, LZO).
//!
//! A block is a list of instructions, and ends with the bytes `11 00 00`. An instruction is a match (a copy of bytes at a
//! `distance` before the end of the output) with up to three literals, or a run of literals:
//!
//! | first byte  | meaning                                                                  |
//! |-------------|--------------------------------------------------------------------------|
//! | `0000 NNNN` | after no literals: a run of literals, length N + 3, or extended          |
//! | `0000 DDLL` | after 1 to 3 literals: match of 2 bytes at 1 to 1024, 8 bits follow      |
//! | `0000 DDLL` | after a run of literals: match of 3 bytes at 2049 to 3072, 8 bits follow |
//! | `0001 DNNN` | match at 16385 to 49151, 16 bits follow; distance 0 ends the block       |
//! | `001N NNNN` | match at 1 to 16384, 16 bits follow                                      |
//! | `NNND DDLL` | match of 3 to 8 bytes at 1 to 2048, 8 bits follow                        |
//!
//! If the first byte of a block is above 17, it is a run of literals: the number of literals plus 17.
//!
//! The readers of ORC Java and C++ confuse the second and the third row. Java's writer uses neither.

use orcish_core::error::{Error, Result};

/// Matches and literals up to this length are copied as a block of this length, if input and output have enough bytes.
const BLOCK: usize = 16;

/// Literals before an instruction. They determine the meaning of a first byte below 16.
#[derive(Clone, Copy)]
enum PrecedingLiterals {
    None,
    Few,
    Run,
}

impl PrecedingLiterals {
    fn from_count(count: usize) -> Self {
        match count {
            0 => PrecedingLiterals::None,
            1..=3 => PrecedingLiterals::Few,
            _ => PrecedingLiterals::Run,
        }
    }
}

/// Decompresses a chunk into the front of `output`, and returns the number of bytes. The bytes of `output` behind them may be
/// overwritten.
///
/// A chunk is a list of blocks, as in Java. An empty chunk decompresses to no bytes.
///
/// # Errors
/// `Corrupt` where `input` is not a list of complete blocks, or does not fit into `output`.
pub(crate) fn decompress(input: &[u8], output: &mut [u8]) -> Result<usize> {
    let mut decoder = Decoder { input, output, written: 0 };
    while !decoder.input.is_empty() {
        decoder.decode_block()?;
    }
    Ok(decoder.written)
}

struct Decoder<'a> {
    /// The remaining bytes.
    input: &'a [u8],
    output: &'a mut [u8],
    written: usize,
}

impl Decoder<'_> {
    /// Decodes a block with its end marker. Each iteration of the loop reads at least one byte.
    fn decode_block(&mut self) -> Result<()> {
        let mut preceding = PrecedingLiterals::None;
        if let Some((&first, rest)) = self.input.split_first()
            && first > 17
        {
            self.input = rest;
            let count = usize::from(first) - 17;
            self.copy_literals(count)?;
            preceding = PrecedingLiterals::from_count(count);
        }
        loop {
            let first = self.read_byte()?;
            let code = usize::from(first);
            let (length, distance, count) = match first {
                0..=15 => match preceding {
                    PrecedingLiterals::None => {
                        let count = self.read_length(code, 15)?.saturating_add(3);
                        self.copy_literals(count)?;
                        preceding = PrecedingLiterals::Run;
                        continue;
                    }
                    PrecedingLiterals::Few => (2, (self.read_usize()? << 2) + (code >> 2) + 1, code & 3),
                    PrecedingLiterals::Run => (3, (self.read_usize()? << 2) + (code >> 2) + 2049, code & 3),
                },
                16..=31 => {
                    let length = self.read_length(code & 7, 7)?.saturating_add(2);
                    let low = self.read_u16()?;
                    let distance = ((code & 8) << 11) + (low >> 2);
                    if distance == 0 {
                        return if first == 17 && low == 0 { Ok(()) } else { Err(fault("a damaged end mark")) };
                    }
                    (length, distance + 16384, low & 3)
                }
                32..=63 => {
                    let length = self.read_length(code & 31, 31)?.saturating_add(2);
                    let low = self.read_u16()?;
                    (length, (low >> 2) + 1, low & 3)
                }
                64.. => ((code >> 5) + 1, (self.read_usize()? << 3) + ((code >> 2) & 7) + 1, code & 3),
            };
            self.copy_match(length, distance)?;
            if count > 0 {
                self.copy_literals(count)?;
            }
            preceding = PrecedingLiterals::from_count(count);
        }
    }

    fn read_byte(&mut self) -> Result<u8> {
        let (&byte, rest) = self.input.split_first().ok_or_else(truncated)?;
        self.input = rest;
        Ok(byte)
    }

    fn read_usize(&mut self) -> Result<usize> {
        self.read_byte().map(usize::from)
    }

    /// Reads two bytes, the lowest first.
    fn read_u16(&mut self) -> Result<usize> {
        let (&pair, rest) = self.input.split_first_chunk().ok_or_else(truncated)?;
        self.input = rest;
        Ok(usize::from(u16::from_le_bytes(pair)))
    }

    /// The length of a length field. If the field is 0, the length is `max`, the maximum of the field, plus the bytes that
    /// follow.
    fn read_length(&mut self, field: usize, max: usize) -> Result<usize> {
        if field != 0 {
            return Ok(field);
        }
        let mut zeros = 0usize;
        while let [0, rest @ ..] = self.input {
            self.input = rest;
            zeros += 1;
        }
        // A saturated length exceeds any output.
        Ok(zeros.saturating_mul(255).saturating_add(max).saturating_add(self.read_usize()?))
    }

    /// Copies literals from the input.
    #[inline]
    fn copy_literals(&mut self, count: usize) -> Result<()> {
        let free = self.output.get_mut(self.written..).ok_or_else(too_long)?;
        let (literals, rest) = self.input.split_at_checked(count).ok_or_else(truncated)?;
        if count <= BLOCK
            && let (Some(from), Some(to)) = (self.input.first_chunk::<BLOCK>(), free.first_chunk_mut::<BLOCK>())
        {
            *to = *from;
        } else {
            free.get_mut(..count).ok_or_else(too_long)?.copy_from_slice(literals);
        }
        self.input = rest;
        self.written += count;
        Ok(())
    }

    /// Copies `length` bytes at `distance` before the end of the output. A match can overlap with the bytes that it writes.
    #[inline]
    fn copy_match(&mut self, length: usize, distance: usize) -> Result<()> {
        let (done, free) = self.output.split_at_mut_checked(self.written).ok_or_else(too_long)?;
        let start = done.len().checked_sub(distance).ok_or_else(|| fault("a match that starts before the chunk"))?;
        let (_, from) = done.split_at(start);
        if length <= BLOCK
            && let (Some(from), Some(to)) = (from.first_chunk::<BLOCK>(), free.first_chunk_mut::<BLOCK>())
        {
            *to = *from;
        } else {
            let to = free.get_mut(..length).ok_or_else(too_long)?;
            match (from, from.get(..length)) {
                (&[byte], _) => to.fill(byte),
                (_, Some(from)) => to.copy_from_slice(from),
                (_, None) => self.copy_repeating(start, distance, length)?,
            }
        }
        self.written += length;
        Ok(())
    }

    /// Repeats the `period` bytes at `start` for `length` more bytes. Each iteration doubles the number of copied bytes.
    fn copy_repeating(&mut self, start: usize, period: usize, length: usize) -> Result<()> {
        let bytes = self.output.get_mut(start..start + period + length).ok_or_else(too_long)?;
        let mut filled = period;
        while filled < bytes.len() {
            let count = filled.min(bytes.len() - filled);
            bytes.copy_within(..count, filled);
            filled += count;
        }
        Ok(())
    }
}

#[cold]
fn truncated() -> Error {
    fault("the chunk ends early")
}

#[cold]
fn too_long() -> Error {
    fault("more bytes than a chunk may hold")
}

#[cold]
fn fault(what: &str) -> Error {
    Error::corrupt(format!("bad LZO data: {what}"))
}

#[cfg(test)]
mod tests {
    use orcish_core::ErrorKind;
    use proptest::prelude::*;

    use super::*;

    /// Chunks of `examples/TestVectorOrcFile.testLzo.orc` of Apache ORC, a stripe footer and the metadata, with their content
    /// as decompressed by another implementation of LZO.
    const STRIPE_FOOTER: [&str; 2] = [
        "190a0608061000180c9f000118269f0002181d9c0000030318290a080801100118f39c010a0608011002183484020003\
         0318cfb90212020800120208021202080212020802110000",
        "0a0608061000180c0a060806100118260a0608061002181d0a060806100318290a080801100118f39c010a0608011002\
         18340a080801100318cfb90212020800120208021202080212020802",
    ];
    const METADATA: [&str; 2] = [
        "6a0a550a0508882750000a1a088827121308b5c283ff0f10f6ccedfe0f18fffac8af960750000a11088827120a080010\
         8e4e18b8c9f50b50000a1d0888271216088fca899b9fb4edf6ff01108ef0ede8f1f082fbff0150000a572d5801001587\
         f7c5fe0f10d0ebb4f90f18d4d0ead88c0150000a13088827120c08904e109e9c0118b8aae1232860010005a5ccb7c484\
         a1d5e2ff0110c0ddb8d3c7ebb5f7ff015000110000",
        "0a550a0508882750000a1a088827121308b5c283ff0f10f6ccedfe0f18fffac8af960750000a11088827120a0800108e\
         4e18b8c9f50b50000a1d0888271216088fca899b9fb4edf6ff01108ef0ede8f1f082fbff0150000a570a050888275000\
         0a1a08882712130887f7c5fe0f10d0ebb4f90f18d4d0ead88c0150000a13088827120c08904e109e9c0118b8aae12350\
         000a1d088827121608a5ccb7c484a1d5e2ff0110c0ddb8d3c7ebb5f7ff015000",
    ];
    const END: [u8; 3] = [0x11, 0, 0];

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
    }

    fn decompressed(input: &[u8], capacity: usize) -> Result<Vec<u8>> {
        let mut output = vec![0; capacity];
        let written = decompress(input, &mut output)?;
        output.truncate(written);
        Ok(output)
    }

    /// Checks that the parts and an end marker decompress to `expected` in an output of its length and in a longer one, and
    /// that a shorter output is an error.
    fn check(parts: &[&[u8]], expected: &[u8]) {
        let input = [&parts.concat()[..], &END].concat();
        assert_eq!(decompressed(&input, expected.len()).unwrap(), expected);
        assert_eq!(decompressed(&input, expected.len() + 100).unwrap(), expected);
        if let Some(less) = expected.len().checked_sub(1) {
            assert_eq!(decompressed(&input, less).unwrap_err().kind(), ErrorKind::Corrupt);
        }
    }

    /// Appends a length field and the bytes that extend it.
    fn length(code: u8, max: usize, length: usize, out: &mut Vec<u8>) {
        if length <= max {
            out.push(code | u8::try_from(length).unwrap());
        } else {
            out.push(code);
            let more = length - max - 1;
            out.extend(std::iter::repeat_n(0, more / 255));
            out.push(u8::try_from(more % 255).unwrap() + 1);
        }
    }

    /// Appends literals. `behind` is the index of the byte of the preceding match that states the number of literals.
    fn literals(run: &[u8], behind: Option<usize>, out: &mut Vec<u8>) {
        match (run.len(), behind) {
            (0, _) => {}
            (1..=3, Some(at)) => out[at] |= u8::try_from(run.len()).unwrap(),
            (1..=238, None) => out.push(u8::try_from(run.len()).unwrap() + 17),
            (count, _) => length(0, 15, count - 3, out),
        }
        out.extend_from_slice(run);
    }

    /// A greedy compressor. It uses all instructions but matches with a first byte below 16.
    fn compress(input: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let (mut at, mut from, mut behind) = (0, 0, None);
        let mut seen = std::collections::HashMap::<&[u8], usize>::new();
        while at < input.len() {
            let key = &input[at..input.len().min(at + 3)];
            let found = seen.insert(key, at).filter(|&start| key.len() == 3 && at - start < 49152 && at > 0);
            let Some(start) = found else {
                at += 1;
                continue;
            };
            literals(&input[from..at], behind, &mut out);
            let count = input[at..].iter().zip(&input[start..]).take_while(|(a, b)| a == b).count();
            let distance = at - start;
            if count <= 8 && distance <= 2048 {
                let near = distance - 1;
                out.push(u8::try_from((count - 1) << 5 | (near & 7) << 2).unwrap());
                out.push(u8::try_from(near >> 3).unwrap());
                behind = Some(out.len() - 2);
            } else {
                let low = if distance <= 16384 {
                    length(0x20, 31, count - 2, &mut out);
                    distance - 1
                } else {
                    let far = distance - 16384;
                    length(0x10 | u8::try_from(far >> 11 & 8).unwrap(), 7, count - 2, &mut out);
                    far & 0x3fff
                };
                out.extend(u16::try_from(low << 2).unwrap().to_le_bytes());
                behind = Some(out.len() - 2);
            }
            at += count;
            from = at;
        }
        literals(&input[from..], behind, &mut out);
        out.extend(END);
        out
    }

    #[test]
    fn chunks_of_a_file() {
        for [input, expected] in [STRIPE_FOOTER, METADATA] {
            let (input, expected) = (bytes(input), bytes(expected));
            assert_eq!(decompressed(&input, expected.len()).unwrap(), expected);
            assert_eq!(decompressed(&input, 1000).unwrap(), expected);
        }
    }

    #[test]
    fn all_instructions() {
        let text: Vec<u8> = (0..=255).collect();
        let far: Vec<u8> = (0..50_000u32).map(|i| (i * i / 7).to_le_bytes()[0]).collect();
        let mut all_far = Vec::new();
        literals(&far, None, &mut all_far);
        let with = |count: usize, distance: usize| [&far[..], &far[far.len() - distance..][..count]].concat();

        check(&[], &[]);
        check(&[&[18, 7]], &[7]);
        check(&[&[21], b"abcd"], b"abcd");
        check(&[&[1], b"abcd"], b"abcd");
        check(&[&[0, 1], &text[..19]], &text[..19]);
        check(&[&[0, 0, 1], &far[..15 + 255 + 1 + 3]], &far[..274]);
        // Three bytes at 1 and a literal, then two bytes at 1 + 2 + 0 × 4 and a literal.
        check(&[&[21], b"abcd", &[0x41, 0, b'x', 0b1001, 0, b'y']], b"abcddddxddy");
        // After a run of literals: three bytes at 2049 + 1 + 2 × 4.
        check(&[&all_far, &[0b0100, 2]], &with(3, 2058));
        check(&[&all_far, &[0b1111_1100, 255]], &with(8, 2048));
        check(&[&all_far, &[0x21, 0xfc, 0xff]], &with(3, 16384));
        check(&[&all_far, &[0x20, 9, 0, 0]], &[&far[..], &[far[far.len() - 1]; 42]].concat());
        // Length 3 at 16385 differs from an end marker in its distance only.
        check(&[&all_far, &[0x11, 4, 0]], &with(3, 16385));
        check(&[&all_far, &[0x18, 0, 1, 0xfc, 0xff]], &with(7 + 255 + 1 + 2, 49151));
    }

    #[test]
    fn chunks_can_have_several_blocks() {
        let two = [&[20, 1, 2, 3], &END[..], &[0x12, 9], &END].concat();
        assert_eq!(decompressed(&two, 4).unwrap(), [1, 2, 3, 9]);
        assert!(decompressed(&[], 4).unwrap().is_empty());
    }

    #[test]
    fn malformed_blocks_are_errors() {
        let cases: [&[u8]; 9] = [
            &[17],
            &[17, 0],
            &[17, 0, 1],
            &[18, 17, 0],
            &[21, 1, 2, 3, 4, 0x40],
            &[21, 1, 2, 3, 4, 0x50, 0, 17, 0, 0],
            &[0, 0, 0, 0, 0],
            &[18, 1, 0x32, 0, 0],
            &[18, 1, 0x12, 0, 0],
        ];
        for input in cases {
            assert_eq!(decompressed(input, 1000).unwrap_err().kind(), ErrorKind::Corrupt, "{input:?}");
        }
    }

    /// Nested repetitions and random bytes.
    fn compressible() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            prop::collection::vec(any::<u8>(), 0..400),
            prop::collection::vec(0..3u8, 0..3000),
            (prop::collection::vec(any::<u8>(), 1..30), 1..200usize).prop_map(|(bytes, count)| bytes.repeat(count)),
            (any::<u32>(), 0..30_000u32).prop_map(|(seed, count)| (0..count)
                .map(|i| (seed ^ (i.wrapping_mul(i) / 11)).to_le_bytes()[0])
                .collect()),
        ];
        prop::collection::vec(piece, 0..8).prop_map(|pieces| [pieces.concat(), pieces.concat()].concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn compressed_bytes_round_trip(input in compressible()) {
            let chunk = compress(&input);
            prop_assert_eq!(&decompressed(&chunk, input.len()).unwrap(), &input);
            prop_assert!(input.is_empty() || decompressed(&chunk, input.len() - 1).is_err());
        }

        #[test]
        fn damage_does_not_panic(
            input in compressible(),
            cut: prop::sample::Index,
            flips: Vec<(prop::sample::Index, u8)>,
            capacity in 0..5000usize,
        ) {
            let mut chunk = compress(&input);
            prop_assert!(decompressed(&chunk[..cut.index(chunk.len()).max(1)], input.len()).is_err());
            for (at, bits) in flips {
                let at = at.index(chunk.len());
                chunk[at] ^= bits;
                let _ = decompressed(&chunk, capacity);
                let _ = decompressed(&chunk[..at], input.len());
            }
        }

        #[test]
        fn noise_does_not_panic(chunk: Vec<u8>, capacity in 0..300usize) {
            let _ = decompressed(&chunk, capacity);
        }
    }

    #[test]
    fn every_cut_and_every_flipped_bit_of_a_real_chunk() {
        let (input, expected) = (bytes(METADATA[0]), bytes(METADATA[1]));
        for cut in 1..input.len() {
            assert!(decompressed(&input[..cut], 1000).is_err());
        }
        for bit in 0..input.len() * 8 {
            let mut damaged = input.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let _ = decompressed(&damaged, expected.len());
        }
    }
}
