//! Evaluation on arrays of all types, compared with tests of single values.

#![allow(
    clippy::panic_in_result_fn,
    clippy::unwrap_in_result,
    clippy::cast_possible_truncation,
    reason = "a test helper asserts, and small numbers are cast"
)]

use std::sync::Arc;

use arrow_array::{
    BinaryArray, BinaryViewArray, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array,
    Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, LargeBinaryArray, LargeStringArray, StringArray,
    StringViewArray, TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray,
    TimestampSecondArray,
};
use proptest::prelude::*;

use super::*;
use crate::predicate::NonNan;

/// Checks the mask of `array` from index `from` on. `want` is the expected bit of a valid value; nulls are never in a set.
fn check(
    set: &ValueSet,
    array: ArrayRef,
    from: usize,
    want: impl Fn(usize) -> bool,
) -> std::result::Result<(), TestCaseError> {
    let sliced = array.slice(from, array.len() - from);
    let found = in_set(set, &sliced).unwrap();
    prop_assert_eq!(found.len(), sliced.len());
    let valid = test_values(&Test::NotNull, &sliced).unwrap();
    let null = test_values(&Test::IsNull, &sliced).unwrap();
    for at in 0..sliced.len() {
        let is_valid = sliced.is_valid(at);
        prop_assert_eq!(found.value(at), is_valid && want(from + at), "{} of {:?} in {:?}", at, sliced, set);
        prop_assert_eq!((valid.value(at), null.value(at)), (is_valid, !is_valid));
    }
    // Padding bits of the last byte are not set.
    prop_assert_eq!(found.count_set_bits(), found.iter().filter(|holds| *holds).count());
    Ok(())
}

fn ranges<T: Clone + Ord>(parts: &[(T, T)]) -> Vec<(T, Option<T>)> {
    let mut parts: Vec<_> = parts.iter().filter(|(a, b)| a < b).map(|(a, b)| (a.clone(), Some(b.clone()))).collect();
    parts.sort();
    parts
}

fn within<T: PartialOrd>(parts: &[(T, Option<T>)], value: &T) -> bool {
    parts.iter().any(|(start, end)| start <= value && end.as_ref().is_none_or(|end| value < end))
}

fn small() -> impl Strategy<Value = i8> {
    prop_oneof![3 => -6..6i8, 1 => Just(i8::MIN), 1 => Just(i8::MAX)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn numbers_of_all_types(
        values in prop::collection::vec(prop::option::weighted(0.8, small()), 0..150),
        parts in prop::collection::vec((small(), small()), 0..4),
        is_open: bool,
        from: prop::sample::Index,
    ) {
        let from = from.index(values.len() + 1);
        let mut parts = ranges(&parts);
        if is_open {
            // The last range is unbounded.
            parts.push((3, None));
        }
        let holds = |at: usize| values[at].is_some_and(|value| within(&parts, &value));
        macro_rules! ranges_of {
            ($t:ty) => {
                Ranges::union(parts.iter().map(|&(a, b)| Ranges::between(<$t>::from(a), b.map(<$t>::from))))
            };
        }
        macro_rules! array {
            ($array:ty, $t:ty) => {
                Arc::new(<$array>::from(values.iter().map(|value| value.map(<$t>::from)).collect::<Vec<_>>()))
            };
        }
        let integers = ValueSet::Integers(ranges_of!(i64));
        check(&integers, array!(Int8Array, i8), from, holds)?;
        check(&integers, array!(Int16Array, i16), from, holds)?;
        check(&integers, array!(Int32Array, i32), from, holds)?;
        check(&integers, array!(Int64Array, i64), from, holds)?;
        check(&integers, array!(Date32Array, i32), from, holds)?;
        let ticks = ValueSet::Ticks { ranges: ranges_of!(i64), nanoseconds: 1, exact: None };
        check(&ticks, array!(TimestampSecondArray, i64), from, holds)?;
        check(&ticks, array!(TimestampMillisecondArray, i64), from, holds)?;
        check(&ticks, array!(TimestampMicrosecondArray, i64), from, holds)?;
        check(&ticks, array!(TimestampNanosecondArray, i64), from, holds)?;
        check(&ValueSet::Decimals { ranges: ranges_of!(i128), scale: 0 }, array!(Decimal128Array, i128), from, holds)?;

        let bits: Vec<_> = values.iter().map(|value| value.map(|value| value > 0)).collect();
        let bit = |at: usize| values[at].is_some_and(|value| within(&parts, &i8::from(value > 0)));
        check(&integers, Arc::new(BooleanArray::from(bits)), from, bit)?;

        // 5 becomes NaN, and 0 becomes -0.0.
        let float = |value: i8| match value {
            5 => f64::NAN,
            0 => -0.0,
            value => f64::from(value),
        };
        for nan in [false, true] {
            let number = |value: i8| NonNan::new(value.into()).unwrap();
            let of_numbers = parts.iter().map(|&(a, b)| Ranges::between(number(a), b.map(number)));
            let set = ValueSet::Floats { ranges: Ranges::union(of_numbers), nan };
            let want = |at: usize| if values[at] == Some(5) { nan } else { holds(at) };
            let doubles: Vec<_> = values.iter().map(|value| value.map(float)).collect();
            let floats: Vec<_> = doubles.iter().map(|value| value.map(|value| value as f32)).collect();
            check(&set, Arc::new(Float64Array::from(doubles)), from, want)?;
            check(&set, Arc::new(Float32Array::from(floats)), from, want)?;
        }
    }

    #[test]
    fn strings_of_all_types(
        values in prop::collection::vec(prop::option::weighted(0.8, "[ab]{0,3}|a{10,20}"), 0..100),
        parts in prop::collection::vec(("[ab]{0,3}", "[ab]{0,3}"), 0..3),
        one in prop::option::of("[ab]{0,2}|a{13}"),
        from: prop::sample::Index,
    ) {
        let from = from.index(values.len() + 1);
        let mut parts = ranges(&parts);
        if let Some(one) = &one {
            // A set of a single value is evaluated by another function.
            parts = vec![(one.clone(), Some(format!("{one}\0")))];
        }
        let bytes = |text: &String| text.clone().into_bytes();
        let of_bytes = parts.iter().map(|(a, b)| Ranges::between(bytes(a), b.as_ref().map(bytes)));
        let set = ValueSet::Bytes { ranges: Ranges::union(of_bytes), trimmed: false };
        let holds = |at: usize| values[at].as_ref().is_some_and(|value| within(&parts, value));
        let texts = || values.iter().map(Option::as_deref);
        let binaries = || values.iter().map(|value| value.as_ref().map(|value| value.as_bytes()));
        check(&set, Arc::new(texts().collect::<StringArray>()), from, holds)?;
        check(&set, Arc::new(texts().collect::<LargeStringArray>()), from, holds)?;
        check(&set, Arc::new(texts().collect::<StringViewArray>()), from, holds)?;
        check(&set, Arc::new(binaries().collect::<BinaryArray>()), from, holds)?;
        check(&set, Arc::new(binaries().collect::<LargeBinaryArray>()), from, holds)?;
        check(&set, Arc::new(binaries().collect::<BinaryViewArray>()), from, holds)?;
        check(&set, Arc::new(texts().collect::<DictionaryArray<Int32Type>>()), from, holds)?;
    }
}

/// Null slots can have bytes, or a key without a value.
#[test]
fn null_slots_are_not_in_sets() {
    let set = ValueSet::Bytes { ranges: Ranges::all(), trimmed: false };
    let nulls = Some(NullBuffer::from(vec![true, false, true]));
    let offsets = arrow_buffer::OffsetBuffer::new(vec![0i32, 1, 3, 4].into());
    let hidden: ArrayRef = Arc::new(StringArray::new(offsets, Buffer::from(b"abcd".to_vec()), nulls.clone()));
    assert_eq!(in_set(&set, &hidden).unwrap(), BooleanBuffer::from(vec![true, false, true]));
    let one = ValueSet::Bytes { ranges: Ranges::single(b"d".to_vec()), trimmed: false };
    assert_eq!(in_set(&one, &hidden).unwrap(), BooleanBuffer::from(vec![false, false, true]));

    let keys = Int32Array::new(vec![0, -7, 1].into(), nulls);
    let entries = Arc::new(StringArray::from(vec!["a", "d"]));
    let dictionary: ArrayRef = Arc::new(DictionaryArray::new(keys, entries));
    assert_eq!(in_set(&one, &dictionary).unwrap(), BooleanBuffer::from(vec![false, false, true]));
}

#[test]
fn sets_of_another_type_are_errors() {
    let array: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    assert!(in_set(&ValueSet::Bytes { ranges: Ranges::all(), trimmed: false }, &array).is_err());
    assert!(in_set(&ValueSet::Ticks { ranges: Ranges::all(), nanoseconds: 1, exact: None }, &array).is_err());
}

/// Arrays of all types that can be compared in a table, with the values 0, 1, null and 5 or texts in this order, and a predicate
/// that is true for the last value.
fn comparable_arrays() -> Vec<(ArrayRef, &'static str)> {
    use arrow_schema::Field;

    let cast = |array: &ArrayRef, kind: &DataType| arrow_cast::cast(array, kind).unwrap();
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(0), Some(1), None, Some(5)]));
    let wide: ArrayRef = cast(&numbers, &DataType::Int64);
    let hundreds: ArrayRef = Arc::new(Int32Array::from(vec![Some(0), Some(100), None, Some(500)]));
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), Some("b"), None, Some("f")]));
    let run_end_encoded = |values: &DataType| {
        let ends = Field::new("run_ends", DataType::Int32, false);
        DataType::RunEndEncoded(Arc::new(ends), Arc::new(Field::new("values", values.clone(), true)))
    };
    let dictionary = |values: DataType| DataType::Dictionary(Box::new(DataType::Int8), Box::new(values));
    let mut arrays: Vec<(ArrayRef, &'static str)> = Vec::new();
    for kind in [
        DataType::Int8,
        DataType::Int16,
        DataType::Int32,
        DataType::Int64,
        DataType::UInt8,
        DataType::UInt16,
        DataType::UInt32,
        DataType::UInt64,
        DataType::Float16,
        DataType::Float32,
        DataType::Float64,
        DataType::Decimal32(5, 2),
        DataType::Decimal64(12, 2),
        DataType::Decimal128(12, 2),
        DataType::Decimal256(12, 2),
        dictionary(DataType::Int32),
        run_end_encoded(&DataType::Int32),
    ] {
        arrays.push((cast(&numbers, &kind), "c > 1"));
    }
    for kind in [DataType::Decimal32(5, -2), DataType::Decimal128(12, -2), DataType::Decimal256(12, -2)] {
        arrays.push((cast(&hundreds, &kind), "c > 100 and c = 500 and c in (500, 7)"));
    }
    for kind in [DataType::Time32(TimeUnit::Second), DataType::Time32(TimeUnit::Millisecond)] {
        arrays.push((cast(&numbers, &kind), "c > 1"));
    }
    for unit in [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Nanosecond] {
        arrays.push((cast(&wide, &DataType::Duration(unit)), "c > 1"));
    }
    for unit in [TimeUnit::Microsecond, TimeUnit::Nanosecond] {
        arrays.push((cast(&wide, &DataType::Time64(unit)), "c > 1"));
    }
    for kind in [DataType::Date32, DataType::Date64] {
        arrays.push((cast(&cast(&numbers, &DataType::Date32), &kind), "c > date '1970-01-02'"));
    }
    for kind in [
        DataType::Utf8,
        DataType::LargeUtf8,
        DataType::Utf8View,
        DataType::Binary,
        DataType::LargeBinary,
        DataType::BinaryView,
        dictionary(DataType::Utf8),
        run_end_encoded(&DataType::Utf8),
    ] {
        arrays.push((cast(&texts, &kind), "c > 'b' and starts_with(c, 'f')"));
    }
    arrays.push((cast(&cast(&texts, &DataType::Binary), &DataType::FixedSizeBinary(1)), "c > x'62'"));
    let flags: ArrayRef = Arc::new(BooleanArray::from(vec![Some(false), Some(false), None, Some(true)]));
    arrays.push((flags, "c"));
    arrays
}

#[test]
fn every_type_of_a_domain_is_evaluated() {
    use crate::names::ColumnName;
    use crate::predicate::{BatchFilter, Domain, FilterColumn, stored_domain};

    for (array, text) in comparable_arrays() {
        let kind = array.data_type().clone();
        let evaluate = |text: &str| {
            let predicate = text.parse().unwrap();
            let column = |_: &ColumnName| {
                let domain = stored_domain(&kind);
                assert!(!matches!(domain, Domain::Opaque), "{kind}");
                Ok((FilterColumn::new(domain, kind.to_string()), vec![0]))
            };
            let filter = BatchFilter::bind(&predicate, &mut column.clone()).unwrap();
            let mask = filter.evaluate(&|_| Ok(array.clone()), array.len()).unwrap();
            mask.values().iter().collect::<Vec<_>>()
        };
        assert_eq!(evaluate(text), [false, false, false, true], "{kind}: {text}");
        assert_eq!(evaluate(&format!("not ({text})")), [true, true, false, false], "{kind}: {text}");
        assert_eq!(evaluate("c is null"), [false, false, true, false], "{kind}");
    }
}
