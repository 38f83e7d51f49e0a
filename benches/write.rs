//! Encoders, in bytes of their values per cycle: `cargo bench --bench write [FILTER]`.

mod common;
#[path = "common/random.rs"]
mod random;

use std::error::Error;
use std::hint::black_box;

use common::Criterion;
use criterion::Throughput;
use orcish::internals::encoding::encode;
use orcish::internals::encoding::int_rle::{IntRle, Version};
use random::Random;

type BenchResult = Result<(), Box<dyn Error>>;

/// Values of a stream, which has several row groups.
const VALUES: usize = 40_000;
/// Values of a row group.
const ROW_GROUP: usize = 10_000;

fn main() -> BenchResult {
    let mut criterion = common::criterion();
    integers(&mut criterion)?;
    bytes(&mut criterion);
    decimals(&mut criterion);
    criterion.final_summary();
    Ok(())
}

/// Names, signedness and values of typical streams.
fn streams() -> Vec<(&'static str, bool, Vec<i64>)> {
    let mut random = Random(11);
    let mut below = |end: u32| (0..VALUES).map(|_| i64::from(random.below(end))).collect::<Vec<i64>>();
    let (two, three, seven, four, dates, keys) = (below(2), below(4), below(7), below(4), below(2_500), below(200_000));
    let mut skewed = below(100);
    skewed.iter_mut().zip(below(1000)).for_each(|(value, rare)| *value += if rare == 0 { 1 << 30 } else { 0 });
    let lines: Vec<i64> = four.iter().flat_map(|&count| 1..=count + 1).take(VALUES).collect();
    let orders: Vec<i64> = (1i64..)
        .zip(&four)
        .flat_map(|(key, &count)| std::iter::repeat_n(key, usize::try_from(1 + count).unwrap_or(1)))
        .take(VALUES)
        .collect();
    vec![
        ("references to 2 strings", false, two),
        (
            "references to 3 strings, one of them twice as frequent",
            false,
            three.iter().map(|&value| (value + 1) / 2).collect(),
        ),
        ("references to 7 strings", false, seven),
        ("lengths", false, below(100)),
        ("days", true, dates.iter().map(|day| 8_036 + day).collect()),
        ("keys", true, keys),
        ("numbers of lines", true, lines),
        ("rising keys that repeat", true, orders),
        ("rising", true, (0..VALUES as i64).map(|value| value * 3).collect()),
        ("few large values", true, skewed),
        ("64 bits", true, (0..VALUES).map(|_| random.next().cast_signed()).collect()),
    ]
}

fn integers(criterion: &mut Criterion) -> BenchResult {
    for (name, version) in [("int_rle_v1 encode", Version::V1), ("int_rle_v2 encode", Version::V2)] {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Bytes((VALUES * size_of::<i64>()) as u64));
        for (name, signed, values) in streams() {
            let encode = |values: &[i64], out: &mut Vec<u8>| {
                out.clear();
                for row_group in values.chunks(ROW_GROUP) {
                    match version {
                        Version::V1 => encode::int_rle_v1::encode(row_group, signed, out),
                        Version::V2 => encode::int_rle_v2::encode(row_group, signed, out),
                    }
                }
            };
            let mut out = Vec::new();
            encode(&values, &mut out);
            let mut decoded = Vec::<i64>::new();
            IntRle::new(&out[..], version, signed).append(values.len(), &mut decoded)?;
            if decoded != values {
                return Err(format!("{name} does not round trip").into());
            }
            group.bench_function(name, |b| b.iter(|| encode(black_box(&values), &mut out)));
        }
        group.finish();
    }
    Ok(())
}

fn bytes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("byte_rle encode");
    group.throughput(Throughput::Bytes(VALUES as u64));
    let mut random = Random(12);
    for (name, end) in [("of 2 values", 2), ("of 200 values", 200)] {
        let values: Vec<u8> = (0..VALUES).map(|_| random.below(end).to_le_bytes()[0]).collect();
        let mut out = Vec::new();
        group.bench_function(name, |b| {
            b.iter(|| {
                out.clear();
                encode::byte_rle::encode(black_box(&values), &mut out);
            });
        });
    }
    group.finish();
}

fn decimals(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("varint encode");
    group.throughput(Throughput::Bytes((VALUES * size_of::<i64>()) as u64));
    let mut random = Random(13);
    for (name, end) in [("of one byte", 50), ("of two bytes", 5_000), ("of up to four bytes", 10_000_000)] {
        let values: Vec<i64> = (0..VALUES).map(|_| random.below(end).into()).collect();
        let mut out = Vec::new();
        group.bench_function(name, |b| {
            b.iter(|| {
                out.clear();
                encode::varint::write_all_i64(black_box(&values), &mut out);
            });
        });
    }
    group.finish();
}
