//! Streams of each codec, in decompressed bytes per cycle: `cargo bench --bench codecs [FILTER]`.
//!
//! 256 KiB is the chunk size of ORC Java, 64 KiB the chunk size of ORC C++. `read` decompresses into a buffer of the
//! caller, as for floating point columns. `fill` returns the decompressed bytes in place, as for run length decoders.

mod common;
#[path = "common/random.rs"]
mod random;

use std::error::Error;
use std::hint::black_box;

use bytes::Bytes;
use common::Criterion;
use criterion::Throughput;
use orcish::Compression;
use orcish::internals::codec::{Framing, Stream};
use orcish::internals::source::ByteSource as _;
use random::Random;

type BenchResult<T> = Result<T, Box<dyn Error>>;

/// Decompressed bytes of a stream.
const LENGTH: usize = 1 << 20;
/// 64 KiB of text, compressed by `lzo1x_1_compress` of liblzo2 2.10: there is no LZO compressor in Rust.
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

fn main() -> BenchResult<()> {
    let mut criterion = common::criterion();
    for (kind, data) in [("text", text()), ("numbers", numbers())] {
        for codec in CODECS {
            for chunk_size in [256 << 10, 64 << 10] {
                let is_lzo = codec == Compression::Lzo;
                let is_duplicate = codec == Compression::None && chunk_size != 64 << 10;
                if is_duplicate || is_lzo && (kind != "text" || chunk_size != LZO_CHUNK) {
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

fn bench(c: &mut Criterion, name: &str, stored: &Bytes, framing: Framing, expected: Option<&[u8]>) -> BenchResult<()> {
    let mut out = vec![0; LENGTH];
    Stream::new(stored.clone(), framing).read_exact(&mut out)?;
    if expected.is_some_and(|expected| expected != out) {
        return Err(format!("{name} does not round trip").into());
    }
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Bytes(LENGTH as u64));
    group.bench_function("read", |b| b.iter(|| Stream::new(stored.clone(), framing).read_exact(black_box(&mut out))));
    group.bench_function("fill", |b| {
        b.iter(|| -> orcish::Result<usize> {
            let mut stream = Stream::new(stored.clone(), framing);
            let mut total = 0;
            loop {
                let length = black_box(stream.fill(4096)?).len().min(4000);
                if length == 0 {
                    return Ok(total);
                }
                total += length;
                stream.consume(length);
            }
        });
    });
    group.finish();
    Ok(())
}

/// The library flate2 with zlib-rs, on the chunks of `zlib … 256K`.
fn flate2(c: &mut Criterion, kind: &str, data: &[u8]) -> BenchResult<()> {
    let chunks =
        data.chunks(256 << 10).map(|chunk| compress(Compression::Zlib, chunk)).collect::<BenchResult<Vec<_>>>()?;
    let mut out = vec![0; 256 << 10];
    let mut state = flate2::Decompress::new(false);
    let mut group = c.benchmark_group(format!("zlib {kind} 256K by flate2"));
    group.throughput(Throughput::Bytes(LENGTH as u64));
    group.bench_function("read", |b| {
        b.iter(|| -> BenchResult<()> {
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

/// Random English words.
fn text() -> Vec<u8> {
    const WORDS: &str = "about above accounts across after against along among are bold busily carefully cajole \
        deposits dolphins dependencies even express final fluffily foxes furiously haggle idly instructions integrate \
        ironic nag packages pending platelets pinto beans quickly quietly regular requests ruthlessly silent sleep \
        slyly special the theodolites unusual use wake";
    let words: Vec<&str> = WORDS.split(' ').collect();
    let count = u32::try_from(words.len()).unwrap_or(u32::MAX);
    let mut random = Random(1);
    let mut text = Vec::with_capacity(LENGTH + 32);
    while text.len() < LENGTH {
        let word = words.get(random.below(count) as usize).copied().unwrap_or_default();
        text.extend_from_slice(word.as_bytes());
        text.push(b' ');
    }
    text.truncate(LENGTH);
    text
}

/// Prices as doubles, which compress little.
fn numbers() -> Vec<u8> {
    let mut random = Random(2);
    let price = |cents: u32| f64::from(cents) / 100.0;
    (0..LENGTH / 8).flat_map(|_| price(random.below(20_000)).to_le_bytes()).collect()
}

/// A chunk with its header (ORCv1, Compression).
fn chunk(is_original: bool, body: &[u8]) -> BenchResult<Vec<u8>> {
    let header = u32::try_from(body.len())? << 1 | u32::from(is_original);
    let [a, b, c, _] = header.to_le_bytes();
    Ok([&[a, b, c], body].concat())
}

fn stream(codec: Compression, chunk_size: usize, data: &[u8]) -> BenchResult<Bytes> {
    if codec == Compression::None {
        return Ok(data.to_vec().into());
    }
    let mut stored = Vec::new();
    for original in data.chunks(chunk_size) {
        let compressed = compress(codec, original)?;
        let is_original = compressed.len() >= original.len();
        stored.extend(chunk(is_original, if is_original { original } else { &compressed })?);
    }
    Ok(stored.into())
}

fn lzo_stream() -> BenchResult<Bytes> {
    Ok(chunk(false, LZO)?.repeat(LENGTH / LZO_CHUNK).into())
}

fn compress(codec: Compression, data: &[u8]) -> BenchResult<Vec<u8>> {
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
        other => return Err(format!("{other:?} is not known here").into()),
    })
}
