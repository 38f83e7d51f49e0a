use std::sync::Arc;

use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::*;
use proptest::prelude::*;

use super::*;

fn of(array: &dyn Array) -> Distinct {
    let mut sketch = Distinct::new();
    sketch.add(array).unwrap();
    sketch
}

fn longs(values: impl IntoIterator<Item = i64>) -> Distinct {
    of(&Int64Array::from_iter_values(values))
}

/// Three standard errors: as good as never reached by chance, and values are always the same here.
fn assert_near(sketch: &Distinct, count: f64, what: &str) {
    let estimate = sketch.estimate();
    let allowed = (3.0 * Distinct::ERROR * count).max(0.5);
    assert!((estimate - count).abs() <= allowed, "{what}: {estimate}, where {count} are");
}

#[test]
fn estimates_are_near() {
    assert!(Distinct::new().estimate() < f64::MIN_POSITIVE);
    for count in [1, 2, 10, 100, 1000, 5000, 16_384, 40_000, 81_920, 200_000, 1_000_000i32] {
        let of_count = f64::from(count);
        assert_near(&longs((0..count).map(i64::from)), of_count, "numbers in turn");
        assert_near(&longs((0..count).map(|n| i64::from(n) << 40)), of_count, "far numbers");
        let texts = StringArray::from_iter_values((0..count).map(|n| format!("customer {n}")));
        assert_near(&of(&texts), of_count, "texts");
        let floats = Float64Array::from_iter_values((0..count).map(|n| f64::from(n) * 0.25));
        assert_near(&of(&floats), of_count, "floats");
    }
}

/// A register for each of many sets: the estimates are right in the mean too.
#[test]
fn estimates_have_no_bias() {
    for count in [1000i64, 30_000, 60_000] {
        let errors = (0..60).map(|set| longs((0..count).map(|n| set << 40 | n)).estimate() / count as f64 - 1.0);
        let mean = errors.sum::<f64>() / 60.0;
        assert!(mean.abs() < 3.0 * Distinct::ERROR / 60f64.sqrt(), "of {count}: {mean}");
    }
}

#[test]
fn full_registers_are_estimated() {
    let full = Distinct { registers: vec![GREATEST; REGISTERS] };
    assert!(full.estimate() > 1e18);
    assert_eq!(Distinct::from_bytes(&full.to_bytes()).unwrap(), full);
    let mut sketch = Distinct::new();
    sketch.insert(0);
    sketch.insert(u64::MAX);
    assert_eq!((sketch.registers[0], sketch.registers[REGISTERS - 1]), (GREATEST, 1));
}

#[test]
fn equal_values_of_other_types_are_one() {
    let expected = longs([0, 5, -3, 100]);
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
        assert_eq!(of(&array), expected, "{}", array.data_type());
    }
    let keys = Int8Array::from(vec![Some(0), None, Some(2), Some(0)]);
    let values: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), Some("unused"), Some("b")]));
    let dictionary = DictionaryArray::<Int8Type>::try_new(keys, values).unwrap();
    let plain = of(&StringArray::from(vec!["a", "b"]));
    assert_eq!(of(&dictionary), plain);
    let nested = DictionaryArray::<Int32Type>::new(Int32Array::from(vec![1, 0]), Arc::new(dictionary.slice(2, 2)));
    assert_eq!(of(&nested), plain);
    assert_eq!(of(&LargeStringArray::from(vec!["b", "a"])), plain);
    assert_eq!(of(&StringViewArray::from(vec!["b", "a"])), plain);
    assert_eq!(of(&BinaryArray::from_vec(vec![b"b", b"a"])), plain);
    assert_eq!(of(&Float32Array::from(vec![0.5, 1e10])), of(&Float64Array::from(vec![1e10, 0.5])));
    let seconds = TimestampSecondArray::from(vec![1, i64::MAX / 1_000_000]);
    let millis = TimestampMillisecondArray::from(vec![1000, i64::MAX / 1_000_000 * 1000]);
    assert_eq!(of(&seconds), of(&millis));
}

#[test]
fn zeros_and_nans_are_one() {
    let odd = f64::from_bits(f64::NAN.to_bits() | 1);
    assert_eq!(of(&Float64Array::from(vec![0.0, -0.0, f64::NAN, odd, -f64::NAN])).estimate().round(), 2.0);
    assert_eq!(of(&BooleanArray::from(vec![Some(true), None, Some(true)])).estimate().round(), 1.0);
    assert_eq!(of(&NullArray::new(3)), Distinct::new());
}

#[test]
fn fractions_are_apart() {
    let tenths = Decimal128Array::from(vec![1, 10, 100, 11]).with_precision_and_scale(20, 2).unwrap();
    assert_eq!(of(&tenths).estimate().round(), 4.0);
    let large = 10i128.pow(37);
    let large = Decimal128Array::from(vec![large, large + 1, -large]).with_precision_and_scale(38, 3).unwrap();
    assert_eq!(of(&large).estimate().round(), 3.0);
}

#[test]
fn nested_types_are_refused() {
    let list = ListArray::new_null(Arc::new(arrow_schema::Field::new("item", arrow_schema::DataType::Int8, true)), 1);
    assert_eq!(Distinct::new().add(&list).unwrap_err().kind(), crate::ErrorKind::Unsupported);
}

#[test]
fn other_bytes_are_refused() {
    let mut full = vec![ALL; 1 + REGISTERS];
    assert!(Distinct::from_bytes(&full).is_ok());
    full[7] = GREATEST + 1;
    for bytes in [&full[..], &full[..9], &[], &[SOME, 0], &[SOME, 255, 255, 1], &[SOME, 0, 0, 60], &[3]] {
        assert!(Distinct::from_bytes(bytes).is_err());
    }
}

proptest! {
    #[test]
    fn batches_nulls_offsets_and_order_do_not_matter(
        values in prop::collection::vec(prop::option::of(-1000i64..1000), 0..400),
        cut in 0usize..400,
        seed in any::<u64>(),
    ) {
        let whole = of(&Int64Array::from(values.clone()));
        let some: Vec<i64> = values.iter().flatten().copied().collect();
        prop_assert_eq!(&whole, &longs(some.clone()));
        let mut turned = some;
        turned.reverse();
        let turn = usize::try_from(seed % 97).unwrap().min(turned.len());
        turned.rotate_left(turn);
        prop_assert_eq!(&whole, &longs(turned));

        let cut = cut.min(values.len());
        let array = Int64Array::from(values);
        let (first, second) = (of(&array.slice(0, cut)), of(&array.slice(cut, array.len() - cut)));
        let mut union = second;
        union.merge(&first);
        prop_assert_eq!(&union, &whole);
        prop_assert_eq!(&Distinct::from_bytes(&union.to_bytes()).unwrap(), &whole);
        let text = |array: &Int64Array| StringArray::from_iter(array.iter().map(|n| n.map(|n| n.to_string())));
        let mut parts = of(&text(&array).slice(0, cut));
        parts.add(&text(&array).slice(cut, array.len() - cut)).unwrap();
        prop_assert_eq!(parts, of(&text(&array)));
    }

    #[test]
    fn merged_is_the_union(from in 0i64..60_000, count in 1i64..60_000) {
        let mut merged = longs(0..60_000);
        merged.merge(&longs(from..from + count));
        let union = longs(0..60_000.max(from + count));
        prop_assert_eq!(Distinct::from_bytes(&merged.to_bytes()).unwrap(), union);
    }
}
