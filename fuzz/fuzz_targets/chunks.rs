//! Compression chunks with every codec. The first byte of the input selects the codec, the next two the chunk size.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use orcish::{Compression, fuzzing};
use orcish::internals::source::ByteSource;

const CODECS: [Compression; 7] = [
    Compression::None,
    Compression::Zlib,
    Compression::Snappy,
    Compression::Lzo,
    Compression::Lz4,
    Compression::Zstd,
    Compression::Brotli,
];
/// Maximum decompressed bytes of an input.
const MAX_BYTES: usize = 1 << 20;

fuzz_target!(|data: &[u8]| {
    let [codec, low, high, stored @ ..] = data else { return };
    let codec = CODECS[usize::from(*codec) % CODECS.len()];
    let chunk_size = usize::from(u16::from_le_bytes([*low, *high])) + 1;
    let stored = Bytes::copy_from_slice(stored);
    let stream = || fuzzing::stream(stored.clone(), codec, chunk_size);

    let small = fuzzing::drain(&mut stream(), 1, MAX_BYTES);
    let large = fuzzing::drain(&mut stream(), chunk_size * 3 + 7, MAX_BYTES);
    let section = fuzzing::section(stored.clone(), codec, chunk_size, MAX_BYTES as u64);
    // The bytes do not depend on the step.
    if let (Ok(small), Ok(large)) = (&small, &large) {
        let n = small.len().min(large.len());
        assert!(small[..n] == large[..n]);
        assert!(n >= MAX_BYTES || small.len() == large.len());
        if let Ok(section) = &section {
            assert!(section[..n] == small[..n]);
        }
        let mut exact = vec![0; n];
        stream().read_exact(&mut exact).expect("the bytes are there");
        assert!(exact == small[..n]);
        assert!(n >= MAX_BYTES || stream().read_exact(&mut vec![0; n + 1]).is_err());
    }
});
