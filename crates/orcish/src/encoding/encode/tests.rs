use proptest::prelude::*;

use super::*;
use crate::encoding::cpu::Baseline;
use crate::encoding::encode::int_rle_v2::encode_as;

/// Widths of integer run length encoding version 2.
const WIDTHS: [u32; 32] = [
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 26, 28, 30, 32, 40, 48, 56,
    64,
];

fn encoded(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out);
    out
}

fn v2(values: &[i64], signed: bool) -> Vec<u8> {
    encoded(|out| int_rle_v2::encode(values, signed, out))
}

fn v2_as(sub: SubEncoding, values: &[i64], signed: bool) -> Option<Vec<u8>> {
    let mut out = vec![0xaa];
    let done = encode_as(sub, values, signed, &mut out);
    assert!(done || out == [0xaa], "{sub:?} failed and appended bytes");
    done.then(|| out.split_off(1))
}

mod specification {
    use super::*;

    #[test]
    fn varints() {
        let cases: [(u64, &[u8]); 8] = [
            (0, &[0x00]),
            (1, &[0x01]),
            (127, &[0x7f]),
            (128, &[0x80, 0x01]),
            (129, &[0x81, 0x01]),
            (16_383, &[0xff, 0x7f]),
            (16_384, &[0x80, 0x80, 0x01]),
            (16_385, &[0x81, 0x80, 0x01]),
        ];
        for (value, bytes) in cases {
            assert_eq!(encoded(|out| varint::write_u64(value, out)), bytes);
            assert_eq!(varint::len_u64(value), bytes.len());
        }
        assert_eq!([0, -1, 1, -2, 2].map(varint::zigzag), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn byte_runs_and_literals() {
        assert_eq!(encoded(|out| byte_rle::encode(&[0; 100], out)), [0x61, 0x00]);
        assert_eq!(encoded(|out| byte_rle::encode(&[0x44, 0x45], out)), [0xfe, 0x44, 0x45]);
    }

    #[test]
    fn booleans() {
        let values = [true, false, false, false, false, false, false, false];
        assert_eq!(encoded(|out| bool_rle::encode(&values, out)), [0xff, 0x80]);
    }

    #[test]
    fn integers_version_1() {
        let down: Vec<i64> = (1..=100).rev().collect();
        assert_eq!(encoded(|out| int_rle_v1::encode(&[7; 100], false, out)), [0x61, 0x00, 0x07]);
        assert_eq!(encoded(|out| int_rle_v1::encode(&down, false, out)), [0x61, 0xff, 0x64]);
        assert_eq!(
            encoded(|out| int_rle_v1::encode(&[2, 3, 6, 7, 11], false, out)),
            [0xfb, 0x02, 0x03, 0x06, 0x07, 0x0b]
        );
    }

    #[test]
    fn short_repeat() {
        assert_eq!(v2(&[10_000; 5], false), [0x0a, 0x27, 0x10]);
    }

    #[test]
    fn direct() {
        let bytes = [0x5e, 0x03, 0x5c, 0xa1, 0xab, 0x1e, 0xde, 0xad, 0xbe, 0xef];
        assert_eq!(v2(&[23_713, 43_806, 57_005, 48_879], false), bytes);
    }

    /// The text of the example states a gap of two bits, which agrees with the bytes.
    #[test]
    fn patched_base() {
        let values = [
            2030, 2000, 2020, 1_000_000, 2040, 2050, 2060, 2070, 2080, 2090, 2100, 2110, 2120, 2130, 2140, 2150, 2160,
            2170, 2180, 2190,
        ];
        let bytes = [
            0x8e, 0x13, 0x2b, 0x21, 0x07, 0xd0, 0x1e, 0x00, 0x14, 0x70, 0x28, 0x32, 0x3c, 0x46, 0x50, 0x5a, 0x64, 0x6e,
            0x78, 0x82, 0x8c, 0x96, 0xa0, 0xaa, 0xb4, 0xbe, 0xfc, 0xe8,
        ];
        assert_eq!(v2(&values, false), bytes);
        assert_eq!(reference::ints_v2(&bytes, false).unwrap(), values);
    }

    #[test]
    fn delta() {
        let values = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29];
        let bytes = [0xc6, 0x09, 0x02, 0x02, 0x22, 0x42, 0x42, 0x46];
        assert_eq!(v2_as(SubEncoding::Delta { width: 4 }, &values, false).unwrap(), bytes);
        assert_eq!(v2(&values, false), bytes);
    }

    #[test]
    fn nanoseconds() {
        assert_eq!(encode_nanos(1000), 0x0a);
        assert_eq!(encode_nanos(100_000), 0x0c);
        assert_eq!([0, 1, 10, 100].map(encode_nanos), [0, 1 << 3, 10 << 3, 1 << 3 | 1]);
        assert_eq!(
            [999_999_999, 900_000_000, 123_400].map(encode_nanos),
            [999_999_999 << 3, 9 << 3 | 7, 1234 << 3 | 1]
        );
    }
}

mod shapes {
    use super::*;

    fn bounded(width: u32) -> impl Strategy<Value = i64> + Clone {
        any::<u64>().prop_map(move |value| (value >> (64 - width)).cast_signed())
    }

    /// A sequence of one kind. A stream is a concatenation of such sequences.
    fn piece() -> impl Strategy<Value = Vec<i64>> {
        let extreme = prop::sample::select(vec![i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX]);
        let start = prop_oneof![any::<i64>(), -1000..1000i64, extreme.clone()];
        let constant = (start.clone(), 1..700usize).prop_map(|(value, count)| vec![value; count]);
        let arithmetic = (start.clone(), -300..300i64, 1..600i64)
            .prop_map(|(start, step, count)| (0..count).map(|i| start.wrapping_add(i * step)).collect());
        let monotone = (start.clone(), 1..50u32, prop::bool::ANY, prop::collection::vec(any::<u64>(), 1..600))
            .prop_map(|(start, width, up, steps)| {
                let mut value = start;
                let step = |step: u64| (step >> (64 - width)).cast_signed();
                let next = |raw| {
                    value = if up { value.saturating_add(step(raw)) } else { value.saturating_sub(step(raw)) };
                    value
                };
                steps.into_iter().map(next).collect()
            });
        let random = (1..=64u32, prop::bool::ANY).prop_flat_map(|(width, negate)| {
            let value = bounded(width).prop_map(move |value| if negate { !value } else { value });
            prop::collection::vec(value, 1..600)
        });
        let outliers = (start, 1..30u32, 1..=64u32, 2..200u32).prop_flat_map(|(base, narrow, wide, rarity)| {
            let value = prop_oneof![rarity => bounded(narrow), 1 => bounded(wide)];
            prop::collection::vec(value.prop_map(move |value| base.wrapping_add(value)), 1..600)
        });
        let repeats = prop::collection::vec((bounded(3), 1..14usize), 1..60)
            .prop_map(|runs| runs.into_iter().flat_map(|(value, count)| vec![value; count]).collect());
        let stairs = (any::<i32>(), prop::collection::vec((0..40i64, 1..14usize), 1..60)).prop_map(|(start, runs)| {
            let mut value = i64::from(start) << 24;
            let step = |(up, count)| {
                value += up;
                vec![value; count]
            };
            runs.into_iter().flat_map(step).collect()
        });
        let extremes = prop::collection::vec(extreme, 1..40);
        prop_oneof![constant, arithmetic, monotone, random, outliers, repeats, stairs, extremes]
    }

    pub(super) fn stream() -> impl Strategy<Value = Vec<i64>> {
        prop::collection::vec(piece(), 0..5).prop_map(|pieces| pieces.concat())
    }

    pub(super) fn run() -> impl Strategy<Value = Vec<i64>> {
        piece().prop_map(|mut values| {
            values.truncate(512);
            values
        })
    }

    pub(super) fn bytes() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec((prop_oneof![any::<u8>(), 0..3u8], 1..300usize, prop::bool::weighted(0.8)), 0..200)
            .prop_map(|runs| runs.into_iter().flat_map(|(value, count, one)| vec![value; if one { 1 } else { count }]))
            .prop_map(Iterator::collect)
    }
}

/// The size of a stream of Java's writer with its default, aligned widths.
mod java {
    use super::bitpack::{aligned_width_for, bits, packed_len, width_for};
    use super::varint::{len_u64, zigzag};

    pub(super) fn size(values: &[i64], signed: bool) -> usize {
        let (mut at, mut total) = (0, 0);
        while at < values.len() {
            let rest = &values[at..values.len().min(at + 512)];
            let equal = rest.iter().take_while(|&&v| v == rest[0]).count();
            let (len, size) = if equal >= 3 {
                let bytes = bits(stored(rest[0], signed)).div_ceil(8).max(1) as usize;
                (equal, if equal <= 10 { 1 + bytes } else { 3 + len_u64(stored(rest[0], signed)) })
            } else {
                let len = rest.windows(3).position(|w| w[0] == w[1] && w[1] == w[2]).unwrap_or(rest.len());
                (len, variable(&rest[..len], signed))
            };
            at += len;
            total += size;
        }
        total
    }

    fn stored(value: i64, signed: bool) -> u64 {
        if signed { zigzag(value) } else { value.cast_unsigned() }
    }

    fn percentile(mut widths: Vec<u32>, share_above: f64) -> u32 {
        widths.sort_unstable();
        #[expect(clippy::cast_possible_truncation, reason = "as Java rounds")]
        let above = (widths.len() as f64 * share_above) as usize;
        widths[widths.len() - 1 - above]
    }

    fn variable(values: &[i64], signed: bool) -> usize {
        let widths: Vec<u32> = values.iter().map(|&v| width_for(bits(stored(v, signed)))).collect();
        let largest = percentile(widths.clone(), 0.0);
        let direct = 2 + packed_len(values.len(), aligned_width_for(largest));
        let (min, max) = (*values.iter().min().unwrap(), *values.iter().max().unwrap());
        let Some(span) = max.checked_sub(min).filter(|_| values.len() > 3) else { return direct };
        let deltas: Vec<i64> = values.windows(2).map(|w| w[1] - w[0]).collect();
        let start = 2 + len_u64(stored(values[0], signed)) + len_u64(zigzag(deltas[0]));
        if deltas.iter().all(|d| *d == deltas[0]) {
            return start;
        }
        if deltas[0] != 0 && (deltas.iter().all(|d| *d >= 0) || deltas.iter().all(|d| *d <= 0)) {
            let most = deltas[1..].iter().map(|d| d.unsigned_abs()).max().unwrap();
            return start + packed_len(deltas.len() - 1, aligned_width_for(bits(most)).max(2));
        }
        if largest - percentile(widths, 1.0 - 0.9) <= 1 || min.unsigned_abs() >= 1 << 56 {
            return direct;
        }
        let above = |v: &i64| v.wrapping_sub(min).cast_unsigned();
        let mut width = percentile(values.iter().map(|v| width_for(bits(above(v)))).collect(), 1.0 - 0.95);
        let most = width_for(bits(span.cast_unsigned()));
        if most == width {
            return direct;
        }
        let mut patch_width = width_for(most - width);
        if patch_width == 64 {
            (patch_width, width) = (56, 8);
        }
        let positions: Vec<usize> = (0..values.len()).filter(|&i| bits(above(&values[i])) > width).collect();
        let gaps: Vec<usize> = positions.iter().scan(0, |p, &i| Some(i - std::mem::replace(p, i))).collect();
        let longest = gaps.iter().copied().max().unwrap();
        let entries = gaps.len() + if longest == 511 { 2 } else { usize::from(longest > 255) };
        let entry = width_for(patch_width + bits(longest.min(255) as u64).max(1));
        let base = (width_for(bits(min.unsigned_abs())) + 1).div_ceil(8) as usize;
        4 + base + packed_len(values.len(), width) + packed_len(entries, entry)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn varints_round_trip(values: Vec<u64>, signed: Vec<i64>, shift in 0..64u32, wide: Vec<i128>) {
        let bytes = encoded(|out| values.iter().for_each(|&v| varint::write_u64(v, out)));
        prop_assert_eq!(bytes.len(), values.iter().map(|&v| varint::len_u64(v)).sum::<usize>());
        prop_assert_eq!(reference::varints_u64(&bytes).unwrap(), values);
        let signed: Vec<i64> = signed.iter().map(|value| value >> shift).collect();
        let bytes = encoded(|out| signed.iter().for_each(|&v| varint::write_i64(v, out)));
        let wider: Vec<i128> = signed.iter().copied().map(i128::from).collect();
        prop_assert_eq!(reference::varints_i128(&bytes).unwrap(), wider);
        prop_assert_eq!(encoded(|out| varint::write_all_i64(&signed, out)), bytes);
        let bytes = encoded(|out| wide.iter().for_each(|&v| varint::write_i128(v, out)));
        prop_assert_eq!(reference::varints_i128(&bytes).unwrap(), wide);
    }

    #[test]
    fn nanoseconds_round_trip(digits in 0..1_000_000_000u32, zeros in 0..10u32) {
        for nanos in [digits, digits / 10u32.pow(zeros.min(9)) * 10u32.pow(zeros.min(9))] {
            let coded = encode_nanos(nanos);
            prop_assert_eq!(reference::nanos(coded), u64::from(nanos));
            prop_assert!(matches!(coded % 8, 0 | 7) || !(coded / 8).is_multiple_of(10), "a zero is left");
        }
    }

    #[test]
    fn bytes_round_trip(values in shapes::bytes()) {
        let stream = encoded(|out| byte_rle::encode(&values, out));
        prop_assert_eq!(reference::bytes(&stream).unwrap(), values);
    }

    #[test]
    fn booleans_round_trip(values in prop::collection::vec(prop_oneof![Just(true), any::<bool>()], 0..5000)) {
        let stream = encoded(|out| bool_rle::encode(&values, out));
        prop_assert_eq!(reference::bools(&stream, values.len()).unwrap(), values);
    }

    #[test]
    fn integers_of_version_1_round_trip(values in shapes::stream(), signed: bool) {
        let stream = encoded(|out| int_rle_v1::encode(&values, signed, out));
        let back = reference::ints_v1(&stream, signed);
        // An unsigned value of 64 bits is a negative `i64`.
        prop_assert_eq!(back.unwrap(), values);
    }

    #[test]
    fn integers_of_version_2_round_trip(values in shapes::stream(), signed: bool) {
        let stream = v2(&values, signed);
        prop_assert_eq!(reference::ints_v2(&stream, signed).unwrap(), &values[..]);
        prop_assert!(stream.len() <= java::size(&values, signed), "{} > {}", stream.len(), java::size(&values, signed));
    }

    #[test]
    fn streams_do_not_depend_on_the_batches_of_values(values in shapes::stream(), step in 1..1500usize, signed: bool) {
        let narrow: Vec<u8> = values.iter().map(|v| v.to_le_bytes()[0]).collect();
        let parts = encoded(|out| {
            let (mut from, mut to) = (0, 0);
            while to < narrow.len() {
                to = narrow.len().min(to + step);
                from += byte_rle::encode_complete_runs(&narrow[from..to], out);
            }
            byte_rle::encode(&narrow[from..], out);
        });
        prop_assert_eq!(parts, encoded(|out| byte_rle::encode(&narrow, out)));
        type EncodeCompleteRuns = fn(&[i64], bool, &mut Vec<u8>) -> usize;
        type Encode = fn(&[i64], bool, &mut Vec<u8>);
        let both: [(EncodeCompleteRuns, Encode); 2] = [
            (int_rle_v1::encode_complete_runs, int_rle_v1::encode),
            (int_rle_v2::encode_complete_runs, int_rle_v2::encode),
        ];
        for (settle, whole) in both {
            let parts = encoded(|out| {
                let (mut from, mut to) = (0, 0);
                while to < values.len() {
                    to = values.len().min(to + step);
                    from += settle(&values[from..to], signed, out);
                }
                whole(&values[from..], signed, out);
            });
            prop_assert_eq!(parts, encoded(|out| whole(&values, signed, out)));
        }
    }

    #[test]
    fn runs_of_every_sub_encoding_round_trip(values in shapes::run(), signed: bool) {
        let shorts = (1..=8).map(|bytes| SubEncoding::ShortRepeat { bytes });
        let others = WIDTHS.into_iter().flat_map(|width| {
            [SubEncoding::Direct { width }, SubEncoding::PatchedBase { width }, SubEncoding::Delta { width }]
        });
        let mut taken = 0;
        let mut least = usize::MAX;
        for sub in shorts.chain(others).chain([SubEncoding::FixedDelta]) {
            if let Some(stream) = v2_as(sub, &values, signed) {
                let runs = reference::runs_v2(&stream, signed).map_err(|error| format!("{sub:?}: {error}")).unwrap();
                prop_assert_eq!(runs.len(), 1);
                let kind = match sub {
                    SubEncoding::ShortRepeat { .. } => 0,
                    SubEncoding::Direct { .. } => 1,
                    SubEncoding::PatchedBase { .. } => 2,
                    _ => 3,
                };
                prop_assert_eq!(runs[0].0, kind);
                prop_assert_eq!(&runs[0].1, &values, "{:?}", sub);
                taken += 1;
                if matches!(sub, SubEncoding::PatchedBase { .. }) {
                    least = least.min(stream.len());
                }
            }
        }
        prop_assert!(taken > 0);
        // The computed size is the least size of all widths.
        let cheapest = patched_base::smallest(Baseline, &values, usize::MAX).map_or(usize::MAX, |(_, size)| size);
        prop_assert_eq!(cheapest, least);
    }
}

#[test]
fn every_width_can_be_encoded() {
    for width in 1..=64 {
        let legal = WIDTHS.contains(&width);
        let high = 1u64 << (width - 1);
        let values: Vec<i64> =
            (0..23).map(|i| (high | (0x1234_5678_9abc_def1u64.wrapping_mul(i) % high)).cast_signed()).collect();
        let direct = v2_as(SubEncoding::Direct { width }, &values, false);
        assert_eq!(direct.is_some(), legal, "{width}");
        if let Some(stream) = direct {
            assert_eq!(reference::ints_v2(&stream, false).unwrap(), values);
            let narrower = WIDTHS.into_iter().rfind(|&narrower| narrower < width);
            assert!(narrower.is_none_or(|width| v2_as(SubEncoding::Direct { width }, &values, false).is_none()));
        }
        let steps = [0, 5, 5 + (high >> 1).cast_signed()];
        let delta = v2_as(SubEncoding::Delta { width }, &steps, false);
        assert_eq!(delta.is_some(), legal && width > 1, "{width}");
        let patched = v2_as(SubEncoding::PatchedBase { width }, &[1, 0, i64::MAX], false);
        // A single entry of 64 bits must hold the gap too.
        assert_eq!(patched.is_some(), legal && (7..63).contains(&width), "{width}");
    }
    for bytes in 0..=9 {
        let repeat = v2_as(SubEncoding::ShortRepeat { bytes }, &[-5; 4], true);
        assert_eq!(repeat.is_some(), (1..=8).contains(&bytes));
        assert!(repeat.is_none_or(|stream| reference::ints_v2(&stream, true).unwrap() == [-5; 4]));
    }
}

#[test]
fn sub_encodings_reject_values_that_they_cannot_encode() {
    let delta = SubEncoding::Delta { width: 64 };
    assert_eq!(v2_as(SubEncoding::ShortRepeat { bytes: 8 }, &[1; 2], true), None);
    assert_eq!(v2_as(SubEncoding::ShortRepeat { bytes: 8 }, &[1; 11], true), None);
    assert_eq!(v2_as(SubEncoding::ShortRepeat { bytes: 1 }, &[128; 3], true), None);
    assert_eq!(v2_as(SubEncoding::Direct { width: 64 }, &[1; 513], true), None);
    assert_eq!(v2_as(SubEncoding::Direct { width: 64 }, &[], true), None);
    assert_eq!(v2_as(SubEncoding::PatchedBase { width: 8 }, &[1, 2, 3], true), None, "nothing to patch");
    assert_eq!(v2_as(SubEncoding::PatchedBase { width: 8 }, &[i64::MIN, 0], true), None);
    assert_eq!(v2_as(SubEncoding::FixedDelta, &[1, 2, 4], true), None);
    assert_eq!(v2_as(SubEncoding::FixedDelta, &[i64::MAX, i64::MIN], true), None);
    assert_eq!(v2_as(delta, &[1, 1, 2], true), None, "the first difference has no sign");
    assert_eq!(v2_as(delta, &[1, 2, 1], true), None);
    assert_eq!(v2_as(delta, &[i64::MIN, 0, i64::MAX], true), None);
}

/// A gap of more than eight bits needs entries without a patch.
#[test]
fn long_gaps_get_filler_entries() {
    for (positions, entries) in [(vec![255], 1), (vec![256], 2), (vec![510], 2), (vec![511], 3), (vec![0, 255, 511], 4)]
    {
        let mut values = vec![3; 512];
        values[1] = 0;
        positions.iter().for_each(|&position: &usize| values[position] = 1 << 40);
        let stream = v2_as(SubEncoding::PatchedBase { width: 2 }, &values, true).unwrap();
        assert_eq!(stream[3] & 31, entries, "{positions:?}");
        assert_eq!(reference::ints_v2(&stream, true).unwrap(), values);
    }
}

/// The width and the patch width have 70 bits together. The patch has fewer bits than the patch width.
#[test]
fn width_and_patch_width_may_exceed_64_bits() {
    let mut values = vec![(1 << 30) - 1; 100];
    values[7] = 1 << 62;
    values[8] = 0;
    let stream = v2_as(SubEncoding::PatchedBase { width: 30 }, &values, true).unwrap();
    assert_eq!(stream[2] & 31, 28, "40 bits");
    assert_eq!(reference::ints_v2(&stream, true).unwrap(), values);
}

#[test]
fn short_repeats_among_narrow_values_are_merged() {
    let values: Vec<i64> = [0, 1, 1, 1, 0, 1, 0, 0, 0, 0].repeat(50);
    assert_eq!(v2(&values, false).len(), 2 + 500usize.div_ceil(8));
    let stairs: Vec<i64> = (0..400).map(|i| 1_600_000_000 + (i + 3) / 4).collect();
    let runs = reference::runs_v2(&v2(&stairs, true), true).unwrap();
    assert!(runs.len() <= 3, "{} runs", runs.len());
}
