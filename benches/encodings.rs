//! Kernels of each stage of decoding, in bytes of the result per cycle: `cargo bench --bench encodings [FILTER]`.
//!
//! The inputs are made by the encoders. Each input is decoded once and compared before the measurement.

mod common;
#[path = "common/random.rs"]
mod random;

use std::error::Error;
use std::hint::black_box;

use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use common::{Criterion, Cycles};
use criterion::{BatchSize, BenchmarkGroup, Throughput};
use orcish::internals::encoding::bool_rle::BoolRle;
use orcish::internals::encoding::byte_rle::ByteRle;
use orcish::internals::encoding::decimal::{DecimalDecoder, DecimalType};
use orcish::internals::encoding::encode::{self, SubEncoding, encode_as};
use orcish::internals::encoding::int_rle::{IntRle, Integer, Version};
use orcish::internals::encoding::varint;
use orcish_core::nulls::spread;
use orcish_core::strings::DictionaryValues;
use random::Random;

type BenchResult = Result<(), Box<dyn Error>>;
type Group<'a> = BenchmarkGroup<'a, Cycles>;

/// Values of a stream, which are the values of a batch.
const VALUES: usize = 1 << 16;
/// Maximum number of values of a run of version 2.
const MAX_RUN: usize = 512;

fn main() -> BenchResult {
    let mut criterion = common::criterion();
    byte_rle(&mut criterion)?;
    bool_rle(&mut criterion)?;
    int_rle_v1(&mut criterion)?;
    int_rle_v2(&mut criterion)?;
    decimals(&mut criterion)?;
    varints(&mut criterion)?;
    nulls(&mut criterion);
    dictionaries(&mut criterion)?;
    memory(&mut criterion);
    criterion.final_summary();
    Ok(())
}

fn group<'a>(criterion: &'a mut Criterion, name: &str) -> Group<'a> {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Bytes(VALUES as u64));
    group
}

/// Bytes of so many values.
fn bytes_of<T>(count: usize) -> Throughput {
    Throughput::Bytes((count * size_of::<T>()) as u64)
}

/// A random number of `width` bits, 1 to 64.
fn bits(random: &mut Random, width: u32) -> u64 {
    random.next() >> (64 - width)
}

fn check(is_equal: bool, name: &str) -> BenchResult {
    if is_equal { Ok(()) } else { Err(format!("{name} does not round trip").into()) }
}

fn byte_rle(criterion: &mut Criterion) -> BenchResult {
    let mut group = group(criterion, "byte_rle");
    let mut random = Random(1);
    let mut bytes = |max_run: u32| {
        let mut bytes = Vec::new();
        while bytes.len() < VALUES {
            let [byte, ..] = random.next().to_le_bytes();
            bytes.extend(std::iter::repeat_n(byte, 1 + random.below(max_run) as usize));
        }
        bytes.truncate(VALUES);
        bytes
    };
    for (name, values) in [("literals", bytes(1)), ("runs to 8", bytes(8)), ("runs to 200", bytes(200))] {
        let mut stored = Vec::new();
        encode::byte_rle::encode(&values, &mut stored);
        let mut out = vec![0; VALUES];
        ByteRle::new(&stored[..]).read(&mut out)?;
        check(out == values, name)?;
        group.bench_function(name, |b| b.iter(|| ByteRle::new(black_box(&stored[..])).read(&mut out)));
    }
    group.finish();
    Ok(())
}

fn bool_rle(criterion: &mut Criterion) -> BenchResult {
    let mut group = group(criterion, "bool_rle");
    let mut random = Random(2);
    for (name, percent) in [("half true", 50), ("95 % true", 95), ("all true", 100)] {
        let values: Vec<bool> = (0..VALUES).map(|_| random.below(100) < percent).collect();
        let mut stored = Vec::new();
        encode::bool_rle::encode(&values, &mut stored);
        // After a skipped bit, bits have other positions in the bitmap than in the bytes of the stream.
        for (suffix, skip) in [("", 0), (", shifted", 1)] {
            let decode = |stored: &[u8]| {
                let mut decoder = BoolRle::new(stored);
                decoder.read(skip)?;
                decoder.read(VALUES - skip)
            };
            let bits = decode(&stored)?;
            let bit = |i: usize| bits.get(i / 8).is_some_and(|byte| byte >> (i % 8) & 1 == 1);
            check(values.iter().skip(skip).enumerate().all(|(i, &value)| bit(i) == value), name)?;
            group.bench_function(format!("{name}{suffix}"), |b| b.iter(|| decode(black_box(&stored))));
        }
    }
    group.finish();
    Ok(())
}

/// Measures decoding of `stored`, which has `values`, into integers of type `T`.
fn integers<T: Integer>(
    group: &mut Group,
    name: &str,
    stored: &[u8],
    format: (Version, bool),
    values: &[i64],
) -> BenchResult {
    let (version, signed) = format;
    let mut wide: Vec<i64> = Vec::new();
    IntRle::new(stored, version, signed).append(values.len(), &mut wide)?;
    check(wide == values, name)?;
    let mut out: Vec<T> = Vec::with_capacity(values.len());
    group.throughput(bytes_of::<T>(values.len()));
    group.bench_function(name, |b| {
        b.iter(|| {
            out.clear();
            IntRle::new(black_box(stored), version, signed).append(values.len(), &mut out)
        });
    });
    Ok(())
}

fn int_rle_v1(criterion: &mut Criterion) -> BenchResult {
    let mut group = group(criterion, "int_rle_v1");
    let mut random = Random(3);
    let mut literals = |width| (0..VALUES).map(|_| varint::unzigzag(bits(&mut random, width))).collect::<Vec<i64>>();
    let runs = |step| (0..VALUES as i64).map(|i| i / 100 * 1000 + i % 100 * step).collect::<Vec<i64>>();
    let cases = [
        ("runs of equals", runs(0)),
        ("runs of step 3", runs(3)),
        ("literals of 6 bits", literals(6)),
        ("literals of 20 bits", literals(20)),
        ("literals of 64 bits", literals(64)),
    ];
    for (name, values) in &cases {
        let mut stored = Vec::new();
        encode::int_rle_v1::encode(values, true, &mut stored);
        integers::<i64>(&mut group, name, &stored, (Version::V1, true), values)?;
    }
    group.finish();
    Ok(())
}

/// Encodes `values` as runs of at most `max_run` values with a sub-encoding.
fn encoded_as(sub: SubEncoding, values: &[i64], max_run: usize, signed: bool) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut stored = Vec::new();
    for run in values.chunks(max_run) {
        if !encode_as(sub, run, signed, &mut stored) {
            return Err(format!("{sub:?} cannot hold the values").into());
        }
    }
    Ok(stored)
}

/// Encodes small values without sign as ORC Java does: three to ten equal values are a short repeat, others direct runs.
fn encoded_as_java(values: &[i64]) -> Result<Vec<u8>, Box<dyn Error>> {
    let (mut stored, mut literals) = (Vec::new(), Vec::new());
    for equal in values.chunk_by(|a, b| a == b).flat_map(|run| run.chunks(10)) {
        if equal.len() < 3 {
            literals.extend_from_slice(equal);
            continue;
        }
        stored.extend(encoded_as(SubEncoding::Direct { width: 3 }, &std::mem::take(&mut literals), MAX_RUN, false)?);
        stored.extend(encoded_as(SubEncoding::ShortRepeat { bytes: 1 }, equal, 10, false)?);
    }
    stored.extend(encoded_as(SubEncoding::Direct { width: 3 }, &literals, MAX_RUN, false)?);
    Ok(stored)
}

fn int_rle_v2(criterion: &mut Criterion) -> BenchResult {
    let mut random = Random(4);

    let mut group = group(criterion, "int_rle_v2 short repeat");
    for bytes in [1u8, 2, 4, 8] {
        let count = VALUES / 10 * 10;
        let mut value = 0;
        let repeated = (0..count).map(|i| {
            value = if i % 10 == 0 { varint::unzigzag(bits(&mut random, 8 * u32::from(bytes))) } else { value };
            value
        });
        let values: Vec<i64> = repeated.collect();
        let stored = encoded_as(SubEncoding::ShortRepeat { bytes }, &values, 10, true)?;
        integers::<i64>(&mut group, &format!("{bytes} bytes"), &stored, (Version::V2, true), &values)?;
    }
    group.finish();

    let mut group = self::group(criterion, "int_rle_v2 short runs");
    for end in [2, 3, 7] {
        let values: Vec<i64> = (0..VALUES).map(|_| i64::from(random.below(end))).collect();
        let stored = encoded_as_java(&values)?;
        integers::<i64>(&mut group, &format!("below {end}"), &stored, (Version::V2, false), &values)?;
    }
    group.finish();

    let mut group = self::group(criterion, "int_rle_v2 direct");
    for width in [1, 2, 4, 8, 10, 16, 24, 32, 40, 64] {
        let values: Vec<i64> = (0..VALUES).map(|_| varint::unzigzag(bits(&mut random, width))).collect();
        let stored = encoded_as(SubEncoding::Direct { width }, &values, MAX_RUN, true)?;
        integers::<i64>(&mut group, &format!("{width} bits"), &stored, (Version::V2, true), &values)?;
        if width <= 32 {
            integers::<i32>(&mut group, &format!("{width} bits to i32"), &stored, (Version::V2, true), &values)?;
        }
    }
    for width in [4, 8, 10] {
        let values: Vec<i64> = (0..VALUES).map(|_| bits(&mut random, width).cast_signed()).collect();
        let stored = encoded_as(SubEncoding::Direct { width }, &values, MAX_RUN, false)?;
        integers::<i64>(&mut group, &format!("{width} bits unsigned"), &stored, (Version::V2, false), &values)?;
    }
    group.finish();

    let mut group = self::group(criterion, "int_rle_v2 patched base");
    for width in [6, 8, 16] {
        let outlier = |i: usize| if i % 40 == 7 { 30 } else { width };
        let values: Vec<i64> = (0..VALUES).map(|i| bits(&mut random, outlier(i)).cast_signed() - 1000).collect();
        let stored = encoded_as(SubEncoding::PatchedBase { width }, &values, MAX_RUN, true)?;
        integers::<i64>(&mut group, &format!("{width} bits"), &stored, (Version::V2, true), &values)?;
    }
    group.finish();

    let mut group = self::group(criterion, "int_rle_v2 delta");
    let fixed: Vec<i64> = (0..VALUES as i64).map(|i| 1000 + 3 * i).collect();
    let stored = encoded_as(SubEncoding::FixedDelta, &fixed, MAX_RUN, true)?;
    integers::<i64>(&mut group, "fixed", &stored, (Version::V2, true), &fixed)?;
    for width in [2, 4, 8, 16, 32] {
        let mut sum = 0;
        let increasing = (0..VALUES).map(|_| {
            sum += bits(&mut random, width).cast_signed().max(1);
            sum
        });
        let values: Vec<i64> = increasing.collect();
        let stored = encoded_as(SubEncoding::Delta { width }, &values, MAX_RUN, true)?;
        integers::<i64>(&mut group, &format!("{width} bits"), &stored, (Version::V2, true), &values)?;
    }
    group.finish();
    Ok(())
}

fn decimals(criterion: &mut Criterion) -> BenchResult {
    const MONEY: DecimalType = DecimalType { precision: 15, scale: 2 };
    const WIDE: DecimalType = DecimalType { precision: 38, scale: 10 };
    let mut group = group(criterion, "decimal");
    group.throughput(bytes_of::<i128>(VALUES));
    let mut random = Random(5);
    let mut digits = |end: u32| (0..VALUES).map(|_| i128::from(random.below(end))).collect::<Vec<i128>>();
    let (prices, discounts) = (digits(10_000_000), digits(11));
    let wide: Vec<i128> = prices.iter().map(|&price| (price - 5_000_000) * 123_456_789_123_456_789_123_456).collect();
    let cases = [
        ("prices", MONEY, &prices, false),
        ("prices, zeros trimmed", MONEY, &prices, true),
        ("discounts", MONEY, &discounts, false),
        ("discounts, zeros trimmed", MONEY, &discounts, true),
        ("30 digits", WIDE, &wide, false),
        ("30 digits, zeros trimmed", WIDE, &wide, true),
    ];
    for (name, target, values, trimmed) in cases {
        let (mut stored, mut scales) = (Vec::new(), Vec::with_capacity(VALUES));
        for &value in values {
            let (mut value, mut scale) = (value, i64::from(target.scale));
            // ORC Java trims zeros of each value.
            while trimmed && scale > 0 && value % 10 == 0 {
                (value, scale) = (value / 10, scale - 1);
            }
            encode::varint::write_i128(value, &mut stored);
            scales.push(scale);
        }
        let mut decoder = DecimalDecoder::new(target);
        let mut decode = |mut stored: &[u8], out: &mut Vec<i128>| -> orcish::Result<()> {
            out.clear();
            decoder.append(&mut stored, &scales, out)
        };
        let mut out = Vec::with_capacity(VALUES);
        decode(&stored, &mut out)?;
        check(&out == values, name)?;
        group.bench_function(name, |b| b.iter(|| decode(black_box(&stored), &mut out)));
    }
    group.finish();
    Ok(())
}

fn varints(criterion: &mut Criterion) -> BenchResult {
    let mut group = group(criterion, "varint");
    group.throughput(bytes_of::<u64>(VALUES));
    let mut random = Random(6);
    for max_width in [7, 21, 64] {
        let mut stored = Vec::new();
        let mut total = 0u64;
        for _ in 0..VALUES {
            let width = 1 + random.below(max_width);
            let value = bits(&mut random, width);
            total = total.wrapping_add(value);
            encode::varint::write_u64(value, &mut stored);
        }
        let decode = |stored: &[u8]| -> orcish::Result<u64> {
            let (mut remaining, mut sum) = (stored, 0u64);
            while !remaining.is_empty() {
                sum = sum.wrapping_add(varint::read_u64(&mut remaining)?);
            }
            Ok(sum)
        };
        let name = format!("to {max_width} bits");
        check(decode(&stored)? == total, &name)?;
        group.bench_function(name, |b| b.iter(|| decode(black_box(&stored))));
    }
    group.finish();
    Ok(())
}

/// Moves values to their slots.
fn nulls(criterion: &mut Criterion) {
    let mut group = group(criterion, "null slots");
    group.throughput(bytes_of::<i64>(VALUES));
    let mut random = Random(7);
    for percent in [1, 30, 90] {
        let nulls: NullBuffer = (0..VALUES).map(|_| random.below(100) >= percent).collect();
        let dense: Vec<i64> = (0..VALUES as i64).take(VALUES - nulls.null_count()).collect();
        group.bench_function(format!("{percent} % nulls"), |b| {
            b.iter_batched_ref(|| dense.clone(), |values| spread(values, Some(&nulls)), BatchSize::LargeInput);
        });
    }
    group.finish();
}

/// Gathers strings by the keys of a dictionary.
fn dictionaries(criterion: &mut Criterion) -> BenchResult {
    let mut group = group(criterion, "dictionary");
    let mut random = Random(8);
    for (count, length) in [(4, 10), (1_000, 14), (1_000, 28), (100_000, 28)] {
        let ranges = (0..count).map(|entry| (entry * length, length)).collect();
        let values = DictionaryValues::try_new(ranges, vec![b'x'; (count * length) as usize])?;
        let keys: Vec<u32> = (0..VALUES).map(|_| random.below(count)).collect();
        for target in [DataType::Utf8, DataType::Utf8View] {
            let bytes = if target == DataType::Utf8 { length as usize + size_of::<i32>() } else { size_of::<u128>() };
            group.throughput(Throughput::Bytes((VALUES * bytes) as u64));
            let name = format!("{count} values of {length} bytes to {target}");
            group.bench_function(name, |b| b.iter(|| values.slots(black_box(&keys), &target, None)));
        }
    }
    group.finish();
    Ok(())
}

/// What the system takes for memory: a copy into memory that is in use, and into memory that is new.
fn memory(criterion: &mut Criterion) {
    const LENGTH: usize = 64 << 20;
    let mut group = group(criterion, "memory");
    group.throughput(Throughput::Bytes(LENGTH as u64));
    let (source, mut target) = (vec![1u8; LENGTH], vec![2u8; LENGTH]);
    group.bench_function("copy", |b| b.iter(|| target.copy_from_slice(black_box(&source))));
    group.bench_function("copy to new pages", |b| b.iter_with_large_drop(|| black_box(&source).clone()));
    group.finish();
}
