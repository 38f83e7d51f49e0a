//! Casts keep all values, or are errors.

use std::sync::Arc;

use arrow_array::builder::{Int64Builder, MapBuilder, StringBuilder};
use arrow_array::cast::AsArray as _;
use arrow_array::types::{Decimal128Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, FixedSizeListArray, Float16Array,
    Float32Array, Float64Array, Int8Array, Int32Array, Int64Array, LargeListArray, ListArray, ListViewArray,
    StringArray, StructArray, Time64NanosecondArray, TimestampMicrosecondArray, TimestampNanosecondArray,
    TimestampSecondArray, UInt64Array, UnionArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{Field, Fields, TimeUnit, UnionFields, UnionMode};
use proptest::prelude::*;

use super::number::half;
use super::*;
use crate::error::{Error, ErrorKind};

/// Local mean time of Zurich before 1894, and its present standard time later.
fn zurich(name: &str) -> Result<Offsets> {
    match name {
        "Zurich" => Ok(Box::new(|instant| if instant < -2_385_246_586 { 1_786 } else { 3_600 })),
        _ => Err(Error::unsupported("no such zone")),
    }
}

const EXACT: ExactCast<'static> = ExactCast { zones: &zurich, adds_fields: false };
const ADDING: ExactCast<'static> = ExactCast { zones: &zurich, adds_fields: true };

fn array(values: impl Array + 'static) -> ArrayRef {
    Arc::new(values)
}

fn texts(values: &[&str]) -> ArrayRef {
    array(StringArray::from(values.to_vec()))
}

fn decimals(values: &[i128], precision: u8, scale: i8) -> ArrayRef {
    array(Decimal128Array::from(values.to_vec()).with_precision_and_scale(precision, scale).unwrap())
}

fn timestamp(unit: TimeUnit) -> DataType {
    DataType::Timestamp(unit, None)
}

fn field(kind: &DataType) -> Field {
    Field::new("s", kind.clone(), true)
}

/// The texts of the values of an array after its cast.
fn cast_texts(array: &ArrayRef, target: &DataType) -> Vec<String> {
    let made = EXACT.apply(array, target).unwrap();
    made.to_data().validate_full().unwrap();
    assert_eq!(made.data_type(), target);
    let found = EXACT.apply(&made, &DataType::Utf8).unwrap();
    found.as_string::<i32>().iter().map(|text| text.unwrap_or("null").to_owned()).collect()
}

const NOON: i64 = 1_767_355_200;
const DAY: i64 = 86_400;

#[test]
fn values_are_kept() {
    use DataType as D;
    let days = |days: i64| TimestampSecondArray::from(vec![days * DAY]);
    for (given, target, wanted) in [
        (
            array(Float64Array::from(vec![Some(1.5), Some(f64::INFINITY), Some(f64::NAN), None, Some(-0.0)])),
            D::Float32,
            "1.5 inf nan null -0",
        ),
        (array(Int64Array::from(vec![Some(5), Some(99_999), Some(-1), None])), D::Decimal128(5, 0), "5 99999 -1 null"),
        (
            array(Int64Array::from(vec![5, i64::MIN])),
            D::Decimal128(38, 10),
            "5.0000000000 -9223372036854775808.0000000000",
        ),
        (array(UInt64Array::from(vec![u64::MAX])), D::Decimal128(20, 0), "18446744073709551615"),
        (array(Int64Array::from(vec![7])), D::Decimal256(76, 70), &format!("7.{}", "0".repeat(70))),
        (array(Int64Array::from(vec![700, 0])), D::Decimal128(5, -2), "7E+2 0E+2"),
        (array(BooleanArray::from(vec![Some(true), None])), D::Decimal64(3, 1), "1.0 null"),
        (array(BooleanArray::from(vec![true, false])), D::Int32, "1 0"),
        (array(BooleanArray::from(vec![true, false])), D::Float16, "1 0"),
        (
            array(Int64Array::from(vec![(1 << 53) + 2, 1 << 60])),
            D::Float64,
            "9.007199254740994e+15 1.152921504606847e+18",
        ),
        (array(Int64Array::from(vec![Some(0), Some(1), None])), D::Boolean, "false true null"),
        (array(Float64Array::from(vec![0.0, 1.0, -0.0])), D::Boolean, "false true false"),
        (decimals(&[0, 100], 5, 2), D::Boolean, "false true"),
        (texts(&["true", "FALSE"]), D::Boolean, "true false"),
        (decimals(&[10, -1_250], 6, 2), D::Float64, "0.1 -12.5"),
        (decimals(&[10, 12], 38, 30), D::Float64, "1e-29 1.2e-29"),
        (array(Float64Array::from(vec![0.1, 2.0, 1e2])), D::Decimal128(5, 2), "0.10 2.00 100.00"),
        (array(Float32Array::from(vec![0.1, 16_777_216.0])), D::Decimal128(12, 3), "0.100 16777216.000"),
        (array(Float16Array::from(vec![half(0.1), half(65_504.0)])), D::Decimal128(12, 3), "0.100 65504.000"),
        (decimals(&[200], 5, 2), D::Int32, "2"),
        (decimals(&[1_550], 5, 3), D::Decimal32(3, 2), "1.55"),
        (array(days(3)), D::Date32, "1970-01-04"),
        (array(days(-3)), D::Date64, "1969-12-29"),
        (array(Date32Array::from(vec![20_455])), timestamp(TimeUnit::Microsecond), "2026-01-02 00:00:00.000000"),
        (
            array(TimestampNanosecondArray::from(vec![NOON * 1_000_000_000])),
            timestamp(TimeUnit::Second),
            "2026-01-02 12:00:00",
        ),
        (array(Int32Array::from(vec![3_600])), D::Time32(TimeUnit::Second), "01:00:00"),
        (
            texts(&["0.1", "1e5", "NaN", "-Infinity", "1e300", "5e-324", "0e999", "0.10000000000000001", "-0"]),
            D::Float64,
            "0.1 100000 nan -inf 1e+300 5e-324 0 0.1 -0",
        ),
        (
            texts(&["0.1", "16777216", "1.17549435e-38", "2750141.3"]),
            D::Float32,
            "0.1 16777216 1.1754944e-38 2750141.3",
        ),
        (texts(&["0.1", "65504"]), D::Float16, "0.1 65504"),
        (texts(&["7", "-1", "007"]), D::Int8, "7 -1 7"),
        (texts(&["1.50", "1e1", "+.5", "2."]), D::Decimal128(4, 2), "1.50 10.00 0.50 2.00"),
        (
            texts(&["01:02:03.5000", "01:02", "23"]),
            D::Time64(TimeUnit::Microsecond),
            "01:02:03.500000 01:02:00.000000 23:00:00.000000",
        ),
        (
            texts(&["2026-01-02T12:00:00.0", "2026-01-02", "-0001-12-31 01:02"]),
            timestamp(TimeUnit::Second),
            "2026-01-02 12:00:00 2026-01-02 00:00:00 -0001-12-31 01:02:00",
        ),
        (
            texts(&["2026-01-02T12:00:00Z", "2026-01-02 12:00:00+0130", "2026-01-02 12-02"]),
            D::Timestamp(TimeUnit::Second, Some("UTC".into())),
            "2026-01-02 12:00:00Z 2026-01-02 10:30:00Z 2026-01-02 14:00:00Z",
        ),
        (texts(&["PT1.5S", "PT-0.001S"]), D::Duration(TimeUnit::Millisecond), "1500 -1"),
        (
            texts(&["101903-08-11", "-5877641-06-23", "5881580-07-11"]),
            D::Date32,
            "101903-08-11 -5877641-06-23 5881580-07-11",
        ),
        (texts(&["ab"]), D::FixedSizeBinary(2), "ab"),
        (array(BinaryArray::from(vec![b"ab".as_slice()])), D::LargeUtf8, "ab"),
        (texts(&["x", "y", "x"]), D::Dictionary(Box::new(D::Int8), Box::new(D::LargeUtf8)), "x y x"),
        (
            array(Int64Array::from(vec![7, 7, 9])),
            D::RunEndEncoded(
                Arc::new(Field::new("run_ends", D::Int32, false)),
                Arc::new(Field::new("values", D::Int8, true)),
            ),
            "7 7 9",
        ),
    ] {
        let sliced = given.slice(1.min(given.len() - 1), given.len() - 1.min(given.len() - 1));
        assert_eq!(cast_texts(&given, &target).join(" "), wanted, "{given:?} as {target}");
        let found = cast_texts(&sliced, &target).join(" ");
        assert!(wanted.ends_with(&found), "{found} of {wanted}");
    }
}

/// Values of which some would change.
fn changed() -> Vec<(ArrayRef, DataType)> {
    use DataType as D;
    let floats = |value| array(Float64Array::from(vec![value]));
    let integers = |value| array(Int64Array::from(vec![value]));
    let noon = || array(TimestampMicrosecondArray::from(vec![NOON * 1_000_000 + 1]));
    let of_texts = [
        ("1", D::Boolean),
        ("yes", D::Boolean),
        ("1e39", D::Float32),
        ("16777217", D::Float32),
        ("1E400", D::Float64),
        ("1e-400", D::Float64),
        ("1e99999999999999999999999", D::Float64),
        ("1234567890123456.78", D::Float64),
        ("12345678901234567.5", D::Float64),
        ("9007199254740993", D::Float64),
        ("0.09997", D::Float16),
        ("0x1F", D::Int32),
        ("+1", D::Int32),
        ("300", D::Int8),
        ("-1", D::UInt8),
        ("1.0", D::Int32),
        ("", D::Int32),
        ("1.505", D::Decimal128(5, 2)),
        ("1e9", D::Decimal128(5, 2)),
        ("NaN", D::Decimal128(5, 2)),
        (".", D::Float64),
        ("2026-01-02T12:00:00", D::Date32),
        ("2026-02-30", D::Date32),
        ("2026-2-3", D::Date32),
        ("9999999-01-01", D::Date32),
        ("2026-01-02T12:00:00+02:00", timestamp(TimeUnit::Microsecond)),
        ("2026-01-02 24:00", timestamp(TimeUnit::Second)),
        ("2026-01-02 12:00:00", D::Timestamp(TimeUnit::Second, Some("UTC".into()))),
        ("2026-01-02 12:00:00.1", timestamp(TimeUnit::Second)),
        ("3000-01-01", timestamp(TimeUnit::Nanosecond)),
        ("12:00:00.0001", D::Time32(TimeUnit::Millisecond)),
        ("PT0.0001S", D::Duration(TimeUnit::Millisecond)),
        ("P1M", D::Duration(TimeUnit::Millisecond)),
        ("abc", D::FixedSizeBinary(2)),
    ];
    let mut found: Vec<(ArrayRef, DataType)> =
        of_texts.into_iter().map(|(text, target)| (texts(&[text]), target)).collect();
    found.extend([
        (floats(1e300), D::Float32),
        (floats(16_777_217.0), D::Float32),
        (floats(0.1), D::Float32),
        (floats(0.5), D::Boolean),
        (floats(f64::NAN), D::Boolean),
        (floats(1.5), D::Int32),
        (floats(9.3e18), D::Int64),
        (floats(0.125), D::Decimal128(10, 2)),
        (floats(f64::INFINITY), D::Decimal128(10, 2)),
        (floats(123_456_789.123_456_79), D::Decimal128(38, 7)),
        (integers((1 << 53) + 1), D::Float64),
        (integers(i64::MAX), D::Float64),
        (integers(16_777_217), D::Float32),
        (integers(7), D::Boolean),
        (integers(300), D::Int8),
        (integers(100_000), D::Decimal128(5, 0)),
        (integers(7), D::Decimal128(5, -2)),
        (integers(DAY * 1_000 + 1), D::Date64),
        (integers(DAY * 1_000_000), D::Time64(TimeUnit::Microsecond)),
        (noon(), D::Date32),
        (noon(), D::Time64(TimeUnit::Microsecond)),
        (noon(), timestamp(TimeUnit::Millisecond)),
        (decimals(&[5], 5, 1), D::Boolean),
        (decimals(&[1_234_567_890_123_456_789], 30, 2), D::Float64),
        (decimals(&[18_770], 5, 0), D::Float16),
        (decimals(&[10_i128.pow(35)], 38, 0), D::Float32),
        (decimals(&[155], 5, 2), D::Decimal128(5, 1)),
        (decimals(&[150], 5, 2), D::Int32),
        (array(Date32Array::from(vec![i32::MAX])), timestamp(TimeUnit::Nanosecond)),
        (array(BinaryArray::from(vec![b"\xff".as_slice()])), D::Utf8),
    ]);
    found
}

#[test]
fn values_that_would_change_are_errors() {
    for (given, target) in changed() {
        let nulls = arrow_array::new_null_array(given.data_type(), 2);
        assert_eq!(EXACT.apply(&nulls, &target).unwrap().null_count(), 2);
        let with_null = arrow_select::concat::concat(&[&nulls, &given]).unwrap();
        let error = EXACT.apply(&with_null, &target).unwrap_err();
        assert_eq!((error.kind(), error.place().row), (ErrorKind::InvalidArgument, Some(2)), "{error}");
        assert!(error.message().contains(" is "), "{error}");

        let item = |kind: &DataType| Arc::new(field(kind));
        let offsets = OffsetBuffer::new(vec![0, 1, 1, 3].into());
        let list = ListArray::new(item(given.data_type()), offsets, with_null.clone(), None);
        let error = EXACT.apply(&array(list), &DataType::List(item(&target))).unwrap_err();
        assert_eq!(error.place().row, Some(2), "{error}");
        assert!(error.message().starts_with("element: "), "{error}");

        let fields = |kind: &DataType| Fields::from(vec![field(kind)]);
        let nulls = NullBuffer::from(vec![true, true, false]);
        let hidden = StructArray::new(fields(given.data_type()), vec![with_null.clone()], Some(nulls));
        let found = EXACT.apply(&array(hidden), &DataType::Struct(fields(&target))).unwrap();
        assert_eq!(found.as_struct().column(0).null_count(), 3, "values of null structs are none");
        let shown = StructArray::new(fields(given.data_type()), vec![with_null], None);
        let error = EXACT.apply(&array(shown), &DataType::Struct(fields(&target))).unwrap_err();
        assert!(error.message().starts_with("s: ") && error.place().row == Some(2), "{error}");
    }
}

#[test]
fn messages_have_the_value_and_the_types() {
    for (given, target, wanted) in [
        (array(Int64Array::from(vec![1, 7])), DataType::Boolean, "row 1: 7 of int64 is not a value of bool"),
        (texts(&["x7"]), DataType::Int32, "row 0: 'x7' is not the text of a value of int32"),
        (
            array(BinaryArray::from(vec![b"\xff".as_slice()])),
            DataType::Utf8,
            r"row 0: b'\xff' of binary is no text in UTF-8",
        ),
    ] {
        assert_eq!(EXACT.apply(&given, &target).unwrap_err().to_string(), wanted);
    }
    let long = texts(&[&"9".repeat(100)]);
    assert!(EXACT.apply(&long, &DataType::Int8).unwrap_err().message().len() < 120);
    let intervals = DataType::Interval(arrow_schema::IntervalUnit::MonthDayNano);
    for (own, target) in [
        (intervals, DataType::Utf8),
        (DataType::Int32, DataType::Date64),
        (DataType::Int32, DataType::Struct(Fields::empty())),
    ] {
        let error = EXACT.apply(&arrow_array::new_null_array(&own, 1), &target).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    }
}

#[test]
fn texts_of_instants_have_the_offset_of_the_zone() {
    let far = (1_i64 << 50, -(1_i64 << 50));
    let instants = |zone: &str| {
        let seconds: TimestampSecondArray = vec![0, -3_000_000_000, far.0, far.1].into();
        array(seconds.with_timezone(zone))
    };
    let zoned = |zone: &str| cast_texts(&instants(zone), &DataType::Utf8);
    let wanted =
        ["1970-01-01 01:00:00+0100", "1874-12-07 18:40:00Z", "35680317-09-25 18:57:04Z", "-35676378-04-08 05:02:56Z"];
    assert_eq!(zoned("Zurich"), wanted);
    assert_eq!(zoned("UTC")[0], "1970-01-01 00:00:00Z");
    let error = EXACT.apply(&instants("Nowhere"), &DataType::Utf8).unwrap_err();
    assert!(error.message().contains("no such zone"), "{error}");
    let nanos = array(TimestampNanosecondArray::from(vec![1_500_000_000, 0]).with_timezone("Zurich"));
    assert_eq!(
        EXACT.iso_texts(&nanos).unwrap(),
        StringArray::from(vec!["1970-01-01T00:00:01.5Z", "1970-01-01T00:00:00Z"])
    );
    let times = array(Time64NanosecondArray::from(vec![3_600_000_000_010, 0]));
    assert_eq!(EXACT.iso_texts(&times).unwrap(), StringArray::from(vec!["01:00:00.00000001", "00:00:00"]));
}

fn pairs() -> ArrayRef {
    let numbers = Int64Array::from(vec![Some(1), None, Some(3), Some(4)]);
    array(ListArray::new(
        Arc::new(Field::new("item", DataType::Int64, true)),
        OffsetBuffer::new(vec![0, 2, 2, 4].into()),
        array(numbers),
        // The null has no elements here, and two in `hidden`.
        Some(NullBuffer::from(vec![true, false, true])),
    ))
}

#[test]
fn lists_get_other_layouts() {
    use DataType as D;
    let item = Arc::new(Field::new("element", D::Int8, true));
    let layouts = [
        D::List(item.clone()),
        D::LargeList(item.clone()),
        D::ListView(item.clone()),
        D::LargeListView(item.clone()),
        D::FixedSizeList(item.clone(), 2),
    ];
    for own in &layouts {
        let first = EXACT.apply(&pairs(), own).unwrap();
        for target in &layouts {
            let found = EXACT.apply(&first.slice(1, 2), target).unwrap();
            let back = EXACT.apply(&found, pairs().data_type()).unwrap();
            assert_eq!(back.as_list::<i32>(), pairs().slice(1, 2).as_list::<i32>(), "{own} {target}");
        }
    }
    let error = EXACT.apply(&pairs(), &D::FixedSizeList(item.clone(), 3)).unwrap_err();
    assert!(error.to_string().starts_with("row 0: a list of 2 elements is not a value of "), "{error}");
    // Elements of nulls, and those that no list has, are no values.
    let hidden = FixedSizeListArray::new(
        item.clone(),
        1,
        array(Int8Array::from(vec![1, 2])),
        Some(NullBuffer::from(vec![true, false])),
    );
    let booleans = D::LargeList(Arc::new(Field::new("element", D::Boolean, true)));
    assert_eq!(EXACT.apply(&array(hidden), &booleans).unwrap().as_list::<i64>().values().len(), 1);
    let views =
        ListViewArray::new(item, vec![2, 0].into(), vec![1, 1].into(), array(Int8Array::from(vec![1, 2, 0])), None);
    let found = EXACT.apply(&array(views), &booleans).unwrap();
    let values: &LargeListArray = found.as_list();
    assert_eq!(values.values().as_boolean(), &BooleanArray::from(vec![false, true]));
}

fn map_of(keys: &[&str]) -> ArrayRef {
    let mut map = MapBuilder::new(None, StringBuilder::new(), Int64Builder::new());
    for key in keys {
        map.keys().append_value(key);
        map.values().append_value(1);
    }
    map.append(true).unwrap();
    map.append(false).unwrap();
    array(map.finish())
}

#[test]
fn keys_of_maps_stay_different() {
    let entries =
        |key| DataType::Struct(vec![Field::new("key", key, false), Field::new("value", DataType::Int8, true)].into());
    let target = |key| DataType::Map(Arc::new(Field::new("entries", entries(key), false)), false);
    let found = EXACT.apply(&map_of(&["1", "2"]), &target(DataType::Int64)).unwrap();
    assert_eq!(found.as_map().keys().as_primitive::<Int64Type>().values(), &[1, 2]);
    assert_eq!((found.as_map().value_length(0), found.is_null(1)), (2, true));
    for (keys, wanted) in [
        (["1", "01"], "row 0: keys of a map that differ as string are equal as int64"),
        (["1", "1.5"], "row 0: key: '1.5' is not the text of a value of int64"),
    ] {
        assert_eq!(EXACT.apply(&map_of(&keys), &target(DataType::Int64)).unwrap_err().to_string(), wanted);
    }
    let list = DataType::List(Arc::new(Field::new(
        "element",
        DataType::Struct(match entries(DataType::LargeUtf8) {
            DataType::Struct(fields) => fields
                .iter()
                .map(|field| field.as_ref().clone().with_name(if field.name() == "key" { "keys" } else { "values" }))
                .collect(),
            other => panic!("{other}"),
        }),
        true,
    )));
    assert_eq!(EXACT.apply(&map_of(&["1", "2"]), &list).unwrap().as_list::<i32>().value_length(0), 2);
}

#[test]
fn structs_keep_their_fields() {
    let fields = |names: &[&str], kind: DataType| -> Fields {
        names.iter().map(|name| Field::new(*name, kind.clone(), true)).collect()
    };
    let columns = vec![array(Int64Array::from(vec![1, 2])), array(Int64Array::from(vec![3, 4]))];
    let given = array(StructArray::new(fields(&["x", "y"], DataType::Int64), columns, Some(vec![true, false].into())));
    let target = |names: &[&str]| DataType::Struct(fields(names, DataType::Int32));
    let found = EXACT.apply(&given, &target(&["y", "x"])).unwrap();
    assert_eq!(found.as_struct().column(0).as_primitive::<Int32Type>(), &Int32Array::from(vec![Some(3), None]));
    for (names, wanted) in [
        (&["x"][..], "'y' would be lost"),
        (&["x", "y", "z"], "'z' would be new"),
        (&["p", "q"], "'x' and 'y' would be lost, 'p' and 'q' would be new"),
    ] {
        let error = EXACT.apply(&given, &target(names)).unwrap_err();
        assert!(error.message().ends_with(wanted) && error.kind() == ErrorKind::InvalidArgument, "{error}");
    }
    let found = ADDING.apply(&given, &target(&["x", "z", "y"])).unwrap();
    assert_eq!(found.as_struct().column(1).null_count(), 2);
    assert!(ADDING.apply(&given, &target(&["x", "z"])).is_err());
}

#[test]
fn structs_of_tags_become_unions() {
    let fields = vec![
        Field::new("tag", DataType::Int32, true),
        Field::new("field0", DataType::Int32, true),
        Field::new("field1", DataType::Utf8, true),
    ];
    let columns: Vec<ArrayRef> = vec![
        array(Int32Array::from(vec![1, 0, 0])),
        array(Int32Array::from(vec![None, Some(5), None])),
        array(StringArray::from(vec![Some("a"), None, None])),
    ];
    let given = array(StructArray::new(fields.into(), columns, Some(vec![true, true, false].into())));
    for mode in [UnionMode::Sparse, UnionMode::Dense] {
        let variants = UnionFields::try_new(
            [3, 7],
            [Field::new("a", DataType::Int64, true), Field::new("b", DataType::Utf8, true)],
        )
        .unwrap();
        let found = EXACT.apply(&given, &DataType::Union(variants, mode)).unwrap();
        found.to_data().validate_full().unwrap();
        let union: &UnionArray = found.as_union();
        assert_eq!(union.type_ids().to_vec(), [7, 3, 3]);
        assert_eq!(union.value(1).as_primitive::<Int64Type>().value(0), 5);
    }
}

fn cast_back(given: &ArrayRef, target: &DataType) -> ArrayRef {
    let made = EXACT.apply(given, target).unwrap();
    EXACT.apply(&made, given.data_type()).unwrap()
}

proptest! {
    #[test]
    fn texts_are_values_again(number in any::<i64>(), days in any::<i32>(), double in any::<f64>(), single in any::<f32>(), unscaled in -(10_i128.pow(38) - 1)..10_i128.pow(38), scale in 0..=38_i8) {
        use TimeUnit as U;
        let mut given: Vec<ArrayRef> = vec![
            array(Int64Array::from(vec![number])),
            array(UInt64Array::from(vec![number.cast_unsigned()])),
            array(Date32Array::from(vec![days])),
            array(Float64Array::from(vec![double])),
            array(Float32Array::from(vec![single])),
            decimals(&[unscaled], 38, scale),
        ];
        for unit in [U::Second, U::Millisecond, U::Microsecond, U::Nanosecond] {
            for zone in [None, Some("UTC".into()), Some("Zurich".into())] {
                let kind = DataType::Timestamp(unit, zone);
                given.push(EXACT.apply(&given[0], &kind).unwrap());
            }
        }
        for each in &given {
            let back = cast_back(each, &DataType::Utf8View);
            let shown = EXACT.apply(each, &DataType::Utf8).unwrap();
            let is_nan = shown.as_string::<i32>().value(0) == "nan";
            prop_assert!(is_nan || back.to_data() == each.to_data(), "{shown:?}");
        }
    }

    /// Whole numbers stay as they are, others have their shortest digits; or the cast is an error.
    #[test]
    fn decimals_of_floats(part in prop_oneof![-1e9..1e9_f64, (0..1000_i32).prop_map(f64::from), (0..100_i32).prop_map(|power| 2_f64.powi(power)), (-999_999..999_999_i32).prop_map(|number| f64::from(number) / 1000.0)], scale in 0..=30_i8) {
        let given = array(Float64Array::from(vec![part]));
        let shortest = format!("{part}");
        let (whole, fraction) = shortest.split_once('.').unwrap_or((&shortest, ""));
        let fits = fraction.len() <= usize::try_from(scale).unwrap() && whole.trim_start_matches('-').len() <= 38 - usize::try_from(scale).unwrap();
        match EXACT.apply(&given, &DataType::Decimal128(38, scale)) {
            Ok(found) => {
                let text = found.as_primitive::<Decimal128Type>().value_as_string(0);
                prop_assert_eq!(text.parse::<f64>().unwrap(), part);
                prop_assert!(fits, "{}", text);
                prop_assert_eq!(&cast_back(&given, &DataType::Decimal128(38, scale)), &given);
            }
            Err(error) => prop_assert!(!fits && error.message().contains("is not a value of decimal"), "{}", error),
        }
    }

    #[test]
    fn units_are_exact(count in any::<i64>()) {
        use TimeUnit as U;
        let given = array(TimestampMicrosecondArray::from(vec![count]));
        let widths = [(U::Second, 1_000_000), (U::Millisecond, 1_000), (U::Microsecond, 1)];
        for (unit, width) in widths {
            let made = EXACT.apply(&given, &timestamp(unit));
            prop_assert_eq!(made.is_ok(), count % width == 0);
        }
        prop_assert_eq!(EXACT.apply(&given, &timestamp(U::Nanosecond)).is_ok(), count.checked_mul(1_000).is_some());
        prop_assert_eq!(EXACT.apply(&given, &DataType::Date32).is_ok(), count % (DAY * 1_000_000) == 0);
    }
}
