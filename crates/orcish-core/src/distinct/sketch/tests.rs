use std::sync::Arc;

use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::*;
use proptest::prelude::*;

use super::*;

fn sketch_of(array: &dyn Array) -> HyperLogLog {
    let mut sketch = HyperLogLog::new();
    sketch.add(array).unwrap();
    sketch
}

fn sketch_of_integers(values: impl IntoIterator<Item = i64>) -> HyperLogLog {
    sketch_of(&Int64Array::from_iter_values(values))
}

/// Checks that the error is at most three standard errors. The values are deterministic.
fn assert_near(sketch: &HyperLogLog, count: f64, what: &str) {
    let estimate = sketch.estimate();
    let allowed = (3.0 * HyperLogLog::ERROR * count).max(0.5);
    assert!((estimate - count).abs() <= allowed, "{what}: {estimate}, where {count} are");
}

#[test]
fn estimates_are_near() {
    assert!(HyperLogLog::new().estimate() < f64::MIN_POSITIVE);
    for count in [1, 2, 10, 100, 1000, 5000, 16_384, 40_000, 81_920, 200_000, 1_000_000i32] {
        let of_count = f64::from(count);
        assert_near(&sketch_of_integers((0..count).map(i64::from)), of_count, "numbers in turn");
        assert_near(&sketch_of_integers((0..count).map(|n| i64::from(n) << 40)), of_count, "far numbers");
        let texts = StringArray::from_iter_values((0..count).map(|n| format!("customer {n}")));
        assert_near(&sketch_of(&texts), of_count, "texts");
        let floats = Float64Array::from_iter_values((0..count).map(|n| f64::from(n) * 0.25));
        assert_near(&sketch_of(&floats), of_count, "floats");
    }
}

/// The mean of the errors of many sets.
#[test]
fn estimates_have_no_bias() {
    for count in [1000i64, 30_000, 60_000] {
        let errors =
            (0..60).map(|set| sketch_of_integers((0..count).map(|n| set << 40 | n)).estimate() / count as f64 - 1.0);
        let mean = errors.sum::<f64>() / 60.0;
        assert!(mean.abs() < 3.0 * HyperLogLog::ERROR / 60f64.sqrt(), "of {count}: {mean}");
    }
}

#[test]
fn full_registers_are_estimated() {
    let full = HyperLogLog { registers: vec![MAX_RANK; REGISTERS] };
    assert!(full.estimate() > 1e18);
    assert_eq!(HyperLogLog::from_bytes(&full.to_bytes()).unwrap(), full);
    let mut sketch = HyperLogLog::new();
    sketch.insert(0);
    sketch.insert(u64::MAX);
    assert_eq!((sketch.registers[0], sketch.registers[REGISTERS - 1]), (MAX_RANK, 1));
}

#[test]
fn equal_values_of_different_types_count_once() {
    let expected = sketch_of_integers([0, 5, -3, 100]);
    let equal: Vec<ArrayRef> = vec![
        Arc::new(Int8Array::from(vec![0, 5, -3, 100])),
        Arc::new(Int16Array::from(vec![0, 5, -3, 100])),
        Arc::new(Int32Array::from(vec![0, 5, -3, 100, 5])),
        Arc::new(Decimal128Array::from(vec![0, 500, -300, 10_000]).with_precision_and_scale(9, 2).unwrap()),
        Arc::new(Decimal64Array::from(vec![0, 50, -30, 1000]).with_precision_and_scale(9, 1).unwrap()),
        Arc::new(Date32Array::from(vec![0, 5, -3, 100])),
        Arc::new(TimestampNanosecondArray::from(vec![0, 5, -3, 100])),
    ];
    for array in equal {
        assert_eq!(sketch_of(&array), expected, "{}", array.data_type());
    }
    let keys = Int8Array::from(vec![Some(0), None, Some(2), Some(0)]);
    let values: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), Some("unused"), Some("b")]));
    let dictionary = DictionaryArray::<Int8Type>::try_new(keys, values).unwrap();
    let plain = sketch_of(&StringArray::from(vec!["a", "b"]));
    assert_eq!(sketch_of(&dictionary), plain);
    let nested = DictionaryArray::<Int32Type>::new(Int32Array::from(vec![1, 0]), Arc::new(dictionary.slice(2, 2)));
    assert_eq!(sketch_of(&nested), plain);
    assert_eq!(sketch_of(&LargeStringArray::from(vec!["b", "a"])), plain);
    assert_eq!(sketch_of(&StringViewArray::from(vec!["b", "a"])), plain);
    assert_eq!(sketch_of(&BinaryArray::from_vec(vec![b"b", b"a"])), plain);
    assert_eq!(sketch_of(&Float32Array::from(vec![0.5, 1e10])), sketch_of(&Float64Array::from(vec![1e10, 0.5])));
    let seconds = TimestampSecondArray::from(vec![1, i64::MAX / 1_000_000]);
    let millis = TimestampMillisecondArray::from(vec![1000, i64::MAX / 1_000_000 * 1000]);
    assert_eq!(sketch_of(&seconds), sketch_of(&millis));
}

#[test]
fn zeros_and_nans_count_once() {
    let odd = f64::from_bits(f64::NAN.to_bits() | 1);
    assert_eq!(sketch_of(&Float64Array::from(vec![0.0, -0.0, f64::NAN, odd, -f64::NAN])).estimate().round(), 2.0);
    assert_eq!(sketch_of(&BooleanArray::from(vec![Some(true), None, Some(true)])).estimate().round(), 1.0);
    assert_eq!(sketch_of(&NullArray::new(3)), HyperLogLog::new());
}

#[test]
fn different_decimals_are_distinct() {
    let tenths = Decimal128Array::from(vec![1, 10, 100, 11]).with_precision_and_scale(20, 2).unwrap();
    assert_eq!(sketch_of(&tenths).estimate().round(), 4.0);
    let large = 10i128.pow(37);
    let large = Decimal128Array::from(vec![large, large + 1, -large]).with_precision_and_scale(38, 3).unwrap();
    assert_eq!(sketch_of(&large).estimate().round(), 3.0);
}

#[test]
fn nested_types_are_errors() {
    let list = ListArray::new_null(Arc::new(arrow_schema::Field::new("item", arrow_schema::DataType::Int8, true)), 1);
    assert_eq!(HyperLogLog::new().add(&list).unwrap_err().kind(), crate::ErrorKind::Unsupported);
}

#[test]
fn malformed_bytes_are_errors() {
    let mut full = vec![DENSE; 1 + REGISTERS];
    assert!(HyperLogLog::from_bytes(&full).is_ok());
    full[7] = MAX_RANK + 1;
    for bytes in [&full[..], &full[..9], &[], &[SPARSE, 0], &[SPARSE, 255, 255, 1], &[SPARSE, 0, 0, 60], &[3]] {
        assert!(HyperLogLog::from_bytes(bytes).is_err());
    }
}

proptest! {
    #[test]
    fn sketches_do_not_depend_on_batches_nulls_offsets_and_order(
        values in prop::collection::vec(prop::option::of(-1000i64..1000), 0..400),
        cut in 0usize..400,
        seed in any::<u64>(),
    ) {
        let whole = sketch_of(&Int64Array::from(values.clone()));
        let some: Vec<i64> = values.iter().flatten().copied().collect();
        prop_assert_eq!(&whole, &sketch_of_integers(some.clone()));
        let mut rotated = some;
        rotated.reverse();
        let turn = usize::try_from(seed % 97).unwrap().min(rotated.len());
        rotated.rotate_left(turn);
        prop_assert_eq!(&whole, &sketch_of_integers(rotated));

        let cut = cut.min(values.len());
        let array = Int64Array::from(values);
        let (first, second) = (sketch_of(&array.slice(0, cut)), sketch_of(&array.slice(cut, array.len() - cut)));
        let mut union = second;
        union.merge(&first);
        prop_assert_eq!(&union, &whole);
        prop_assert_eq!(&HyperLogLog::from_bytes(&union.to_bytes()).unwrap(), &whole);
        let text = |array: &Int64Array| StringArray::from_iter(array.iter().map(|n| n.map(|n| n.to_string())));
        let mut parts = sketch_of(&text(&array).slice(0, cut));
        parts.add(&text(&array).slice(cut, array.len() - cut)).unwrap();
        prop_assert_eq!(parts, sketch_of(&text(&array)));
    }

    #[test]
    fn merged_is_the_union(from in 0i64..60_000, count in 1i64..60_000) {
        let mut merged = sketch_of_integers(0..60_000);
        merged.merge(&sketch_of_integers(from..from + count));
        let union = sketch_of_integers(0..60_000.max(from + count));
        prop_assert_eq!(HyperLogLog::from_bytes(&merged.to_bytes()).unwrap(), union);
    }
}
