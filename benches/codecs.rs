//! Streams of each codec, in bytes a second as decompressed: `cargo bench --bench codecs [FILTER]`.
//!
//! 256 KiB is the chunk of Java's writer, 64 KiB that of the C++ one. `read` copies or decompresses to where the
//! bytes are wanted, as doubles are read; `fill` lets them be looked at in place, as run length decoders do.

mod common;
#[path = "common/random.rs"]
mod random;

use std::error::Error;
use std::hint::black_box;

use bytes::Bytes;
use criterion::{Criterion, Throughput};
use orcish::Compression;
use orcish::codec::{Framing, Stream};
use orcish::source::ByteSource as _;
use random::Random;

type Answer<T> = Result<T, Box<dyn Error>>;

/// Bytes of a stream when decompressed.
const LENGTH: usize = 1 << 20;
/// 64 KiB of text as `lzo1x_1_compress` of liblzo2 2.10 leaves them: Rust has no compressor of LZO.
const LZO: &[u8] = include_bytes!("text.lzo");
const LZO_CHUNK: usize = 64 << 10;
const CODECS: [Compression; 7] = [
    Compression::None,
    Compression::Zlib,
    Compression::Snappy,
    Compression::Lzo,
    Compression::Lz4,
    Compression::Zstd,
    Compression::Brotli,
];

fn main() -> Answer<()> {
    let mut criterion = common::criterion();
    for (kind, data) in [("text", text()), ("numbers", numbers())] {
        for codec in CODECS {
            for chunk_size in [256 << 10, 64 << 10] {
                let is_lzo = codec == Compression::Lzo;
                let repeats = codec == Compression::None && chunk_size != 64 << 10;
                if repeats || is_lzo && (kind != "text" || chunk_size != LZO_CHUNK) {
                    continue;
                }
                let stored = if is_lzo { lzo_stream()? } else { stream(codec, chunk_size, &data)? };
                let expected = (!is_lzo).then_some(&data[..]);
                let ratio = LENGTH * 10 / stored.len();
                let name = format!("{} {kind} {}K {}.{}", codec.name(), chunk_size >> 10, ratio / 10, ratio % 10);
                bench(&mut criterion, &name, &stored, Framing { codec, chunk_size }, expected)?;
            }
        }
        flate2(&mut criterion, kind, &data)?;
    }
    criterion.final_summary();
    Ok(())
}

fn bench(c: &mut Criterion, name: &str, stored: &Bytes, framing: Framing, expected: Option<&[u8]>) -> Answer<()> {
    let mut out = vec![0; LENGTH];
    Stream::new(stored.clone(), framing).read_exact(&mut out)?;
    if expected.is_some_and(|expected| expected != out) {
        return Err(format!("{name} does not come back as it was").into());
    }
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Bytes(LENGTH as u64));
    group.bench_function("read", |b| b.iter(|| Stream::new(stored.clone(), framing).read_exact(black_box(&mut out))));
    group.bench_function("fill", |b| {
        b.iter(|| -> orcish::Result<usize> {
            let mut stream = Stream::new(stored.clone(), framing);
            let mut seen = 0;
            loop {
                let there = black_box(stream.fill(4096)?).len().min(4000);
                if there == 0 {
                    return Ok(seen);
                }
                seen += there;
                stream.consume(there);
            }
        });
    });
    group.finish();
    Ok(())
}

/// The other library for zlib, with zlib-rs under it, on the chunks that `zlib … 256K` has.
fn flate2(c: &mut Criterion, kind: &str, data: &[u8]) -> Answer<()> {
    let chunks = data.chunks(256 << 10).map(|part| compress(Compression::Zlib, part)).collect::<Answer<Vec<_>>>()?;
    let mut out = vec![0; 256 << 10];
    let mut state = flate2::Decompress::new(false);
    let mut group = c.benchmark_group(format!("zlib {kind} 256K by flate2"));
    group.throughput(Throughput::Bytes(LENGTH as u64));
    group.bench_function("read", |b| {
        b.iter(|| -> Answer<()> {
            for chunk in &chunks {
                state.reset(false);
                let status = state.decompress(chunk, black_box(&mut out), flate2::FlushDecompress::Finish)?;
                if status != flate2::Status::StreamEnd {
                    return Err(format!("{status:?}").into());
                }
            }
            Ok(())
        });
    });
    group.finish();
    Ok(())
}

/// English-like words at random.
fn text() -> Vec<u8> {
    const WORDS: &str = "about above accounts across after against along among are bold busily carefully cajole \
        deposits dolphins dependencies even express final fluffily foxes furiously haggle idly instructions integrate \
        ironic nag packages pending platelets pinto beans quickly quietly regular requests ruthlessly silent sleep \
        slyly special the theodolites unusual use wake";
    let words: Vec<&str> = WORDS.split(' ').collect();
    let most = u32::try_from(words.len()).unwrap_or(u32::MAX);
    let mut random = Random(1);
    let mut text = Vec::with_capacity(LENGTH + 32);
    while text.len() < LENGTH {
        let word = words.get(random.below(most) as usize).copied().unwrap_or_default();
        text.extend_from_slice(word.as_bytes());
        text.push(b' ');
    }
    text.truncate(LENGTH);
    text
}

/// Prices as doubles: some bits repeat, most do not.
fn numbers() -> Vec<u8> {
    let mut random = Random(2);
    let price = |cents: u32| f64::from(cents) / 100.0;
    (0..LENGTH / 8).flat_map(|_| price(random.below(20_000)).to_le_bytes()).collect()
}

fn chunk(original: bool, body: &[u8]) -> Answer<Vec<u8>> {
    let header = u32::try_from(body.len())? << 1 | u32::from(original);
    let [a, b, c, _] = header.to_le_bytes();
    Ok([&[a, b, c], body].concat())
}

fn stream(codec: Compression, chunk_size: usize, data: &[u8]) -> Answer<Bytes> {
    if codec == Compression::None {
        return Ok(data.to_vec().into());
    }
    let mut stored = Vec::new();
    for part in data.chunks(chunk_size) {
        let packed = compress(codec, part)?;
        stored.extend(if packed.len() < part.len() { chunk(false, &packed)? } else { chunk(true, part)? });
    }
    Ok(stored.into())
}

fn lzo_stream() -> Answer<Bytes> {
    Ok(chunk(false, LZO)?.repeat(LENGTH / LZO_CHUNK).into())
}

fn compress(codec: Compression, data: &[u8]) -> Answer<Vec<u8>> {
    Ok(match codec {
        Compression::None | Compression::Lzo => data.to_vec(),
        Compression::Zlib => {
            let mut compressor = libdeflater::Compressor::new(libdeflater::CompressionLvl::default());
            let mut out = vec![0; compressor.deflate_compress_bound(data.len())];
            let length = compressor.deflate_compress(data, &mut out)?;
            out.truncate(length);
            out
        }
        Compression::Snappy => snap::raw::Encoder::new().compress_vec(data)?,
        Compression::Lz4 => lz4_flex::block::compress(data),
        Compression::Zstd => zstd::bulk::compress(data, 3)?,
        Compression::Brotli => {
            let mut out = Vec::new();
            let parameters = brotli::enc::BrotliEncoderParams { quality: 5, ..Default::default() };
            brotli::BrotliCompress(&mut &data[..], &mut out, &parameters)?;
            out
        }
    })
}
