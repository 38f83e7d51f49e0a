use std::sync::Arc;

use arrow_array::types::{Decimal128Type, Decimal256Type, Float64Type, Int8Type, Int64Type, UInt64Type};
use arrow_array::{
    BooleanArray, Decimal128Array, DictionaryArray, Float32Array, Float64Array, Int64Array, StructArray, UInt64Array,
};
use arrow_buffer::i256;
use arrow_schema::{Field, Schema, TimeUnit};
use proptest::prelude::*;

use super::*;
use crate::error::ErrorKind;
use crate::statistics::{Bound, Decimal, Detail};

fn aggregate(function: Aggregate, arrays: &[ArrayRef]) -> ArrayRef {
    let kind = arrays.first().map_or(DataType::Null, |array| array.data_type().clone());
    let mut accumulator = Accumulator::try_new(function, &kind).unwrap();
    arrays.iter().for_each(|array| accumulator.update(array, None).unwrap());
    accumulator.finish().unwrap()
}

fn statistics(values: Option<u64>, detail: Detail) -> ColumnStatistics {
    ColumnStatistics { values, has_null: Some(true), bytes_on_disk: None, detail }
}

#[test]
fn sums_do_not_overflow() {
    let largest: ArrayRef = Arc::new(Int64Array::from(vec![i64::MAX; 3]));
    let sum = aggregate(Aggregate::Sum, &[largest.clone(), largest]);
    assert_eq!(sum.as_primitive::<Decimal128Type>().value(0), 6 * i128::from(i64::MAX));
    let unsigned: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX, u64::MAX]));
    let sum = aggregate(Aggregate::Sum, &[unsigned]);
    assert_eq!(sum.as_primitive::<Decimal128Type>().value(0), 2 * i128::from(u64::MAX));
    let digits = 10i128.pow(38) - 1;
    let decimals =
        Decimal128Array::from(vec![Some(digits), None, Some(digits)]).with_precision_and_scale(38, 2).unwrap();
    let sum = aggregate(Aggregate::Sum, &[Arc::new(decimals)]);
    let expected = i256::from_i128(digits).checked_mul(i256::from_i128(2)).unwrap();
    assert_eq!(sum.as_primitive::<Decimal256Type>().value(0), expected);
    assert_eq!(*sum.data_type(), DataType::Decimal256(76, 2));
}

#[test]
fn sums_of_floats_are_compensated() {
    let values: ArrayRef = Arc::new(Float64Array::from(vec![1e100, 1.0, -1e100]));
    assert_eq!(aggregate(Aggregate::Sum, &[values]).as_primitive::<Float64Type>().value(0), 1.0);
    for (values, expected) in [
        (vec![f64::INFINITY, 1.0], f64::INFINITY),
        (vec![f64::INFINITY, f64::NEG_INFINITY], f64::NAN),
        (vec![f64::NAN, 1.0], f64::NAN),
        (vec![f64::MAX, f64::MAX], f64::INFINITY),
    ] {
        let values: ArrayRef = Arc::new(Float64Array::from(values));
        let sum = aggregate(Aggregate::Sum, &[values]).as_primitive::<Float64Type>().value(0);
        assert!(sum == expected || (sum.is_nan() && expected.is_nan()), "{sum} {expected}");
    }
}

#[test]
fn extremes() {
    let floats: ArrayRef =
        Arc::new(Float32Array::from(vec![None, Some(f32::NAN), Some(2.0), Some(-1.0), Some(f32::NAN)]));
    let nans: ArrayRef = Arc::new(Float32Array::from(vec![Some(f32::NAN), None]));
    let minimum = aggregate(Aggregate::Min, &[nans.clone(), floats.clone()]);
    assert_eq!(minimum.as_primitive::<arrow_array::types::Float32Type>().value(0), -1.0);
    assert!(aggregate(Aggregate::Max, &[nans]).is_null(0));
    let text: DictionaryArray<Int8Type> = vec![Some("b"), None, Some("ab")].into_iter().collect();
    let text: ArrayRef = Arc::new(text);
    assert_eq!(aggregate(Aggregate::Max, std::slice::from_ref(&text)).as_string::<i32>().value(0), "b");
    assert_eq!(aggregate(Aggregate::Min, &[text]).as_string::<i32>().value(0), "ab");
    let flags: ArrayRef = Arc::new(BooleanArray::from(vec![Some(true), None, Some(false), Some(true)]));
    assert!(!aggregate(Aggregate::Min, std::slice::from_ref(&flags)).as_boolean().value(0));
    assert_eq!(aggregate(Aggregate::Sum, &[flags]).as_primitive::<UInt64Type>().value(0), 2);
}

#[test]
fn fields_of_structs_are_null_where_the_struct_is() {
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![9, 5, 7]));
    let field = Arc::new(Field::new("x", DataType::Int64, true));
    let nulls = NullBuffer::from(vec![false, true, true]);
    let fields: ArrayRef = Arc::new(StructArray::new(vec![field].into(), vec![numbers], Some(nulls)));
    let schema = Schema::new(vec![Field::new("s", fields.data_type().clone(), true)]);
    let batch = RecordBatch::try_new(Arc::new(schema), vec![fields]).unwrap();
    for (function, expected) in [(Aggregate::Max, 7), (Aggregate::Sum, 12)] {
        let mut accumulator = Accumulator::try_new(function, &DataType::Int64).unwrap();
        accumulator.update_batch(&batch).unwrap();
        let result = accumulator.finish().unwrap();
        let value = match function {
            Aggregate::Sum => i64::try_from(result.as_primitive::<Decimal128Type>().value(0)).unwrap(),
            _ => result.as_primitive::<Int64Type>().value(0),
        };
        assert_eq!(value, expected);
    }
}

#[test]
fn types_without_order_or_sum_are_refused() {
    for (function, kind) in [
        (Aggregate::Sum, DataType::Utf8),
        (Aggregate::Sum, DataType::Timestamp(TimeUnit::Second, None)),
        (Aggregate::Min, DataType::new_list(DataType::Int8, true)),
        (Aggregate::Max, DataType::Interval(arrow_schema::IntervalUnit::MonthDayNano)),
    ] {
        assert_eq!(Accumulator::try_new(function, &kind).unwrap_err().kind(), ErrorKind::InvalidArgument, "{kind}");
    }
    assert!("mean".parse::<Aggregate>().is_err());
}

#[test]
fn statistics_are_used_where_they_are_exact() {
    let decimal = |unscaled, scale| Decimal::new(unscaled, scale);
    let bound = |text: &str, exact| Some(Bound { value: text.to_owned().into(), exact });
    let text = |exact| Detail::String { min: bound("a", exact), max: bound("b", exact), total_length: None };
    let integers = Detail::Integer { min: Some(-1), max: Some(300), sum: None };
    let amounts = |max: i128| Detail::Decimal { min: decimal(-5, 1), max: decimal(max, 1), sum: decimal(35, 1) };
    let doubles = Detail::Double { min: Some(0.5), max: Some(2.0), sum: Some(2.5) };
    for (detail, kind, function, is_exact) in [
        (integers.clone(), DataType::Int64, Aggregate::Min, true),
        (integers.clone(), DataType::Int8, Aggregate::Max, false),
        (integers.clone(), DataType::Int64, Aggregate::Sum, false),
        (integers, DataType::Utf8, Aggregate::Max, false),
        (amounts(40), DataType::Decimal128(10, 2), Aggregate::Max, true),
        (amounts(41), DataType::Decimal128(10, 0), Aggregate::Max, false),
        (amounts(40), DataType::Decimal128(10, 2), Aggregate::Sum, true),
        (amounts(10i128.pow(37)), DataType::Decimal128(38, 1), Aggregate::Sum, false),
        (doubles.clone(), DataType::Float64, Aggregate::Max, true),
        (doubles, DataType::Float64, Aggregate::Sum, false),
        (text(true), DataType::Utf8View, Aggregate::Min, true),
        (text(false), DataType::Utf8, Aggregate::Min, false),
        (Detail::Date { min: Some(1), max: Some(2) }, DataType::Date64, Aggregate::Max, true),
        (Detail::Boolean { true_count: Some(3) }, DataType::Boolean, Aggregate::Sum, true),
        (Detail::None, DataType::Int64, Aggregate::Min, false),
    ] {
        let mut accumulator = Accumulator::try_new(function, &kind).unwrap();
        let found = accumulator.update_statistics(&statistics(Some(20), detail.clone())).unwrap();
        assert_eq!(found, is_exact, "{function:?} {kind} {detail:?}");
        assert_eq!(accumulator.finish().unwrap().is_valid(0), is_exact);
        let mut accumulator = Accumulator::try_new(function, &kind).unwrap();
        assert!(!accumulator.update_statistics(&statistics(None, detail)).unwrap(), "the number of values is unknown");
    }
    let mut accumulator = Accumulator::try_new(Aggregate::Max, &DataType::Int64).unwrap();
    assert!(accumulator.update_statistics(&ColumnStatistics::EMPTY).unwrap());
    assert!(accumulator.finish().unwrap().is_null(0));
}

proptest! {
    #[test]
    fn aggregates_do_not_depend_on_batches(values in prop::collection::vec(any::<Option<i64>>(), 0..40), cut in 0usize..40) {
        let cut = cut.min(values.len());
        let array = |values: &[Option<i64>]| Arc::new(Int64Array::from(values.to_vec())) as ArrayRef;
        let arrays = [array(&values[..cut]), array(&values[cut..])];
        let plain = || values.iter().flatten().copied();
        let one = |function| {
            let result = aggregate(function, &arrays);
            result.is_valid(0).then_some(result)
        };
        let integer = |array: ArrayRef| array.as_primitive::<Int64Type>().value(0);
        prop_assert_eq!(one(Aggregate::Min).map(integer), plain().min());
        prop_assert_eq!(one(Aggregate::Max).map(integer), plain().max());
        let sum = one(Aggregate::Sum).map(|array| array.as_primitive::<Decimal128Type>().value(0));
        prop_assert_eq!(sum, plain().next().map(|_| plain().map(i128::from).sum::<i128>()));
    }
}
