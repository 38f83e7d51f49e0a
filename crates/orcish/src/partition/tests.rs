use std::sync::Arc;

use arrow_array::{
    Array as _, ArrayRef, Date32Array, Date64Array, Decimal128Array, DurationMicrosecondArray, Float32Array,
    Float64Array, Int32Array, Int64Array, StringArray, Time64NanosecondArray, TimestampMicrosecondArray,
    TimestampNanosecondArray, UInt64Array,
};
use arrow_cast::cast;
use arrow_schema::{DataType, TimeUnit};
use orcish_core::ErrorKind;
use proptest::prelude::*;

use super::*;

fn formatted(array: impl arrow_array::Array + 'static, flavor: Flavor) -> Vec<String> {
    let array: ArrayRef = Arc::new(array);
    let texts = format_values(&array, &ValueFormat { flavor, ..ValueFormat::default() }).unwrap();
    texts.iter().map(|text| text.unwrap_or("null").to_owned()).collect()
}

fn parsed(texts: &[&str], kind: &DataType) -> orcish_core::Result<ArrayRef> {
    parse_values(&StringArray::from_iter_values(texts), kind, Flavor::Spark)
}

#[test]
fn types_of_spark() {
    let of = |texts: &[&str]| infer_type(texts.iter().copied(), Flavor::Spark);
    let instant = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    let cases: [(&[&str], DataType); 22] = [
        (&[], DataType::Utf8),
        (&["1", "-7", "+07", "-2147483648"], DataType::Int32),
        (&["1", "-2147483649"], DataType::Int64),
        (&["99999999999999999999", "1"], DataType::Decimal128(20, 0)),
        (&["1e10", "1"], DataType::Decimal128(11, 0)),
        (&["1e3", "10000000000"], DataType::Decimal128(20, 0)),
        (&["1e37"], DataType::Decimal128(38, 0)),
        (&["1e38"], DataType::Float64),
        (&["1.5", "-2", "1e-3"], DataType::Float64),
        (&[" 1d ", "2.5f", ".5", "-Infinity", "NaN"], DataType::Float64),
        (&["1.5", "10000000000"], DataType::Utf8),
        (&["10000000000", "1", "1.5"], DataType::Utf8),
        (&["99999999999999999999", "1.5"], DataType::Utf8),
        (&["2026-01-31", "-0044-03-15", "+12345-01-01"], DataType::Date32),
        (&["2026-01-31", "12345-01-01"], DataType::Utf8),
        (&["2026-02-31"], DataType::Utf8),
        (&["2026-01-31", "2026-01-31 12:00:00.5"], instant),
        (&["2026-01-31 12:00:00.55"], DataType::Utf8),
        (&["2026-01-31 24:00:00"], DataType::Utf8),
        (&["1", "2026-01-31"], DataType::Utf8),
        (&["1_0"], DataType::Utf8),
        (&["true", "false"], DataType::Utf8),
    ];
    for (texts, kind) in cases {
        assert_eq!(of(texts), kind, "{texts:?}");
    }
}

#[test]
fn types_of_hive() {
    let of = |values: &[&str]| infer_type(values.iter().copied(), Flavor::Hive);
    assert_eq!(of(&["1", "-20"]), DataType::Int64);
    assert_eq!(of(&["1", "007"]), DataType::Utf8);
    assert_eq!(of(&["2026-11-21", "1999-01-01"]), DataType::Date32);
    assert_eq!(of(&["+12345-01-02", "-0001-01-01", "0000-02-29"]), DataType::Date32);
    assert_eq!(of(&["2026-11-21", "1"]), DataType::Utf8);
    for text in ["+2026-1-01", "2026- 1- 1", "2026-1-1", "+2026-01-01", "2026-02-30"] {
        assert_eq!(of(&["2026-11-21", text]), DataType::Utf8);
    }
    assert_eq!(of(&[]), DataType::Utf8);
}

#[test]
fn floats() {
    let values = [1.0, 0.1, -1.5e10, 1e16, 1e15, 1e-4, 1e-5, 5e-324, 1.25e-7, 1e7, 1e-3, -0.0, f64::NAN];
    let hive = "1.0 0.1 -15000000000.0 1e+16 1000000000000000.0 0.0001 1e-05 5e-324 1.25e-07 10000000.0 0.001 -0.0 NaN";
    let spark = "1.0 0.1 -1.5E10 1.0E16 1.0E15 1.0E-4 1.0E-5 4.9E-324 1.25E-7 1.0E7 0.001 -0.0 NaN";
    assert_eq!(formatted(Float64Array::from(values.to_vec()), Flavor::Hive).join(" "), hive);
    assert_eq!(formatted(Float64Array::from(values.to_vec()), Flavor::Spark).join(" "), spark);
    // Two texts are equally near.
    let tie = Float64Array::from(vec![1_160_972_656_570_364.2]);
    assert_eq!(formatted(tie.clone(), Flavor::Spark), ["1.1609726565703642E15"]);
    assert_eq!(formatted(tie, Flavor::Hive), ["1160972656570364.2"]);
    let single = Float32Array::from(vec![0.1, 1e10, 1.4e-45, f32::NEG_INFINITY]);
    assert_eq!(formatted(single.clone(), Flavor::Spark).join(" "), "0.1 1.0E10 1.4E-45 -Infinity");
    let hive = "0.10000000149011612 10000000000.0 1.401298464324817e-45 -Infinity";
    assert_eq!(formatted(single, Flavor::Hive).join(" "), hive);
}

#[test]
fn decimals() {
    let of = |values: Vec<i128>, scale, flavor| {
        formatted(Decimal128Array::from(values).with_precision_and_scale(20, scale).unwrap(), flavor).join(" ")
    };
    assert_eq!(of(vec![1, -150, 0, 123_456_789_012], 8, Flavor::Hive), "1E-8 -0.00000150 0E-8 1234.56789012");
    assert_eq!(of(vec![1, -150, 0], 8, Flavor::Spark), "0.00000001 -0.00000150 0.00000000");
    assert_eq!(of(vec![15, -1, 0], -2, Flavor::Hive), "1.5E+3 -1E+2 0E+2");
    assert_eq!(of(vec![15, -1, 0], -2, Flavor::Spark), "1500 -100 0");
    assert_eq!(of(vec![15, 0], 0, Flavor::Hive), "15 0");
    let kind = DataType::Decimal128(5, 2);
    let values = Decimal128Array::from(vec![150, -12_345, 100, 0, 1]).with_precision_and_scale(5, 2).unwrap();
    assert_eq!(*parsed(&["1.50", "-123.45", "1e0", "0e99999", "1000e-5"], &kind).unwrap(), values);
    for text in ["1.505", "1000", "1e999999999", "1e-999999999", "x", ""] {
        assert!(parsed(&[text], &kind).unwrap_err().message().contains("is no decimal128(5, 2)"), "{text}");
    }
}

#[test]
fn dates_and_times() {
    let days = Date32Array::from(vec![Some(0), Some(-719_529), Some(3_790_204), None]);
    assert_eq!(formatted(days.clone(), Flavor::Spark), ["1970-01-01", "-0001-12-31", "+12347-03-25", "null"]);
    assert_eq!(formatted(days.slice(0, 1), Flavor::Hive), ["1970-01-01"]);
    for far in [1, 2] {
        let far: ArrayRef = Arc::new(days.slice(far, 1));
        assert!(format_values(&far, &ValueFormat::default()).unwrap_err().message().contains("years 1 to 9999"));
    }
    let clocks = TimestampMicrosecondArray::from(vec![0, 1_500_000, -1]);
    let hive = ["1970-01-01 00:00:00", "1970-01-01 00:00:01.500000", "1969-12-31 23:59:59.999999"];
    assert_eq!(formatted(clocks.clone(), Flavor::Hive), hive);
    let spark = ["1970-01-01 00:00:00", "1970-01-01 00:00:01.5", "1969-12-31 23:59:59.999999"];
    assert_eq!(formatted(clocks.clone(), Flavor::Spark), spark);
    assert_eq!(*parsed(&spark, clocks.data_type()).unwrap(), clocks);
    let berlin = TimestampMicrosecondArray::from(vec![0, -10_000_000_000_000_000]).with_timezone("Europe/Berlin");
    let texts = ["1970-01-01 01:00:00+01:00", "1653-02-10 07:06:48+00:53:28"];
    assert_eq!(formatted(berlin.clone(), Flavor::Hive), texts);
    assert_eq!(formatted(berlin.clone(), Flavor::Spark), ["1970-01-01 01:00:00", "1653-02-10 07:06:48"]);
    assert_eq!(*parsed(&["1970-01-01 01:00", "1653-02-10T07:06:48"], berlin.data_type()).unwrap(), berlin);
    let shown = ValueFormat { flavor: Flavor::Spark, timezone: Some("-08:00".into()), ..ValueFormat::default() };
    let berlin: ArrayRef = Arc::new(berlin.slice(0, 1));
    assert_eq!(format_values(&berlin, &shown).unwrap().value(0), "1969-12-31 16:00:00");
    assert_eq!(formatted(TimestampNanosecondArray::from(vec![1]), Flavor::Hive), ["1970-01-01 00:00:00.000000001"]);
    let times = Time64NanosecondArray::from(vec![86_399_100_000_000, 1_000]);
    assert_eq!(formatted(times.clone(), Flavor::Hive), ["23:59:59.100000", "00:00:00.000001"]);
    assert_eq!(formatted(times.clone(), Flavor::Spark), ["23:59:59.1", "00:00:00.000001"]);
    assert_eq!(*parsed(&["23:59:59.1", "00:00:00.000001"], times.data_type()).unwrap(), times);
    for text in ["2026-01-31 12:00:60", "2026-01-31 1:00", "2026-01-31 12:00:00.", "999999-01-01", "1970-01-01Z"] {
        assert!(parsed(&[text], clocks.data_type()).is_err(), "{text}");
    }
    // Beyond 64 bits.
    assert!(parsed(&["+999999-01-01"], clocks.data_type()).is_err());
}

#[test]
fn summer_time_has_no_end() {
    let summer = TimestampMicrosecondArray::from(vec![5_446_439_537_000_000]).with_timezone("Europe/Berlin");
    assert_eq!(formatted(summer.clone(), Flavor::Spark), ["2142-08-04 13:52:17"]);
    assert_eq!(*parsed(&["2142-08-04 13:52:17"], summer.data_type()).unwrap(), summer);
    // The first of two times, and a time that is skipped.
    let shown = parsed(&["2026-10-25 02:30:00", "2026-03-29 02:30:00"], summer.data_type()).unwrap();
    let texts = format_values(&shown, &ValueFormat::default()).unwrap();
    assert_eq!(texts, StringArray::from(vec!["2026-10-25 02:30:00+02:00", "2026-03-29 03:30:00+02:00"]));
}

#[test]
fn durations() {
    let values = DurationMicrosecondArray::from(vec![93_784_500_000, -1, 0, -86_400_000_000]);
    let hive = ["1 day, 2:03:04.500000", "-1 day, 23:59:59.999999", "0:00:00", "-1 day, 0:00:00"];
    assert_eq!(formatted(values.clone(), Flavor::Hive), hive);
    let spark = [
        "INTERVAL '1 02:03:04.5' DAY TO SECOND",
        "INTERVAL '-0 00:00:00.000001' DAY TO SECOND",
        "INTERVAL '0 00:00:00' DAY TO SECOND",
        "INTERVAL '-1 00:00:00' DAY TO SECOND",
    ];
    assert_eq!(formatted(values.clone(), Flavor::Spark), spark);
    assert_eq!(*parsed(&spark, values.data_type()).unwrap(), values);
    let all: ArrayRef = Arc::new(DurationMicrosecondArray::from(vec![3_723_500_000, i64::MIN]));
    use IntervalField::{Day, Hour, Minute, Second};
    for (first, last, text) in [
        (Day, Day, "INTERVAL '0' DAY"),
        (Hour, Hour, "INTERVAL '01' HOUR"),
        (Day, Hour, "INTERVAL '0 01' DAY TO HOUR"),
        (Minute, Second, "INTERVAL '62:03.5' MINUTE TO SECOND"),
        (Second, Second, "INTERVAL '3723.5' SECOND"),
    ] {
        let interval = IntervalFields { first, last };
        let format = ValueFormat { flavor: Flavor::Spark, interval, ..ValueFormat::default() };
        let texts = format_values(&all, &format).unwrap();
        assert_eq!(texts.value(0), text);
        if last == Second {
            assert_eq!(&parse_values(&texts, all.data_type(), Flavor::Spark).unwrap(), &all);
        }
    }
    for text in ["INTERVAL '1' DAYS", "INTERVAL '1 2' DAY", "INTERVAL '1.5' DAY", "INTERVAL '' SECOND", "1"] {
        assert!(parsed(&[text], all.data_type()).is_err(), "{text}");
    }
}

#[test]
fn other_values() {
    let integers = Int32Array::from(vec![Some(7), None]);
    assert_eq!(formatted(integers, Flavor::Spark), ["7", "null"]);
    assert_eq!(*parsed(&[" 1d", "2.5", "-Infinity"], &DataType::Float32).unwrap(), {
        Float32Array::from(vec![1.0, 2.5, f32::NEG_INFINITY])
    });
    assert_eq!(parsed(&["1"], &DataType::Float16).unwrap().len(), 1);
    for kind in [DataType::LargeUtf8, DataType::Binary, DataType::Utf8View] {
        assert_eq!(parsed(&["é"], &kind).unwrap().data_type(), &kind);
    }
    for (text, kind) in [("1", DataType::new_list(DataType::Int8, true)), ("1", DataType::Null)] {
        assert_eq!(parsed(&[text], &kind).unwrap_err().kind(), ErrorKind::Unsupported);
    }
    let list: ArrayRef = arrow_array::new_null_array(&DataType::new_list(DataType::Int8, true), 1);
    assert_eq!(format_values(&list, &ValueFormat::default()).unwrap_err().kind(), ErrorKind::Unsupported);
    let wrong: ArrayRef = Arc::new(arrow_array::BinaryArray::from_vec(vec![b"caf\xe9"]));
    let error = format_values(&wrong, &ValueFormat::default()).unwrap_err();
    assert!(error.message().contains("b'caf\\xe9' is not UTF-8"), "{error}");
    let codes: arrow_array::DictionaryArray<arrow_array::types::Int32Type> = ["a", "b", "a"].into_iter().collect();
    let codes: ArrayRef = Arc::new(codes);
    assert_eq!(format_values(&codes, &ValueFormat::default()).unwrap(), StringArray::from(vec!["a", "b", "a"]));
}

fn parsed_hive(texts: &[&str], kind: &DataType) -> orcish_core::Result<ArrayRef> {
    parse_values(&StringArray::from_iter_values(texts), kind, Flavor::Hive)
}

#[test]
fn other_spellings_are_the_same_values() {
    let instant = DataType::Timestamp(TimeUnit::Second, Some("Europe/Berlin".into()));
    let cases: [(&[&str], DataType); 12] = [
        (&["1", "01", "+1"], DataType::Int8),
        (&["0", "-0", "+00"], DataType::UInt64),
        (&["true", "TRUE", "True"], DataType::Boolean),
        (&["2026-01-02", "2026-1-2", "2026-01-2"], DataType::Date32),
        (&["2026-01-02", "2026-1-2"], DataType::Date64),
        (&["1.0", "1", "1e0", "1.00", "1d"], DataType::Float64),
        (&["1.5", "1.50", "15E-1"], DataType::Decimal128(5, 2)),
        (&["0.00000001", "1E-8"], DataType::Decimal256(60, 8)),
        (&["2026-01-02 03:04:05", "2026-01-02T03:04:05.000"], DataType::Timestamp(TimeUnit::Second, None)),
        (
            &[
                "2026-01-02 03:04:05",
                "2026-01-02 02:04:05Z",
                "2026-01-02 02:04:05+00:00",
                "2026-01-01 21:04:05.000-05:00",
            ],
            instant,
        ),
        (&["03:04:05", "03:04:05.000000"], DataType::Time32(TimeUnit::Second)),
        (
            &["1 day, 2:03:04.500000", "INTERVAL '1 02:03:04.5' DAY TO SECOND"],
            DataType::Duration(TimeUnit::Millisecond),
        ),
    ];
    for (texts, kind) in cases {
        let values = parsed_hive(texts, &kind).unwrap();
        for at in 1..texts.len() {
            assert_eq!(values.slice(at, 1).as_ref(), values.slice(0, 1).as_ref(), "{texts:?} {kind}");
        }
    }
}

#[test]
fn texts_that_no_value_has_exactly() {
    let instant = DataType::Timestamp(TimeUnit::Second, Some("UTC".into()));
    let cases = [
        ("256", DataType::UInt8),
        ("-1", DataType::UInt64),
        ("18446744073709551616", DataType::UInt64),
        ("1.0", DataType::Int64),
        ("1", DataType::Boolean),
        ("2026-02-30", DataType::Date32),
        ("2026-01-02 00:00:00", DataType::Date32),
        ("1e400", DataType::Float64),
        ("1e39", DataType::Float32),
        ("70000", DataType::Float16),
        ("0.125", DataType::Decimal128(5, 2)),
        ("2026-01-02 03:04:05.5", DataType::Timestamp(TimeUnit::Second, None)),
        ("2026-01-02 03:04:05+00:00", DataType::Timestamp(TimeUnit::Second, None)),
        ("2026-01-02 03:04:05.5Z", instant.clone()),
        ("2026-01-02 03:04:05+0100", instant.clone()),
        ("2026-01-02+01:00", instant),
        ("03:04:05.0001", DataType::Time32(TimeUnit::Millisecond)),
        ("0:00:00.5", DataType::Duration(TimeUnit::Second)),
        ("1 week, 0:00:00", DataType::Duration(TimeUnit::Second)),
        ("abc", DataType::FixedSizeBinary(4)),
    ];
    for (text, kind) in cases {
        let error = parsed_hive(&[text], &kind).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{text} {kind}");
        assert!(error.message().contains(text), "{error}");
    }
    assert_eq!(parsed_hive(&["Infinity", "-Infinity"], &DataType::Float16).unwrap().null_count(), 0);
    let within: ArrayRef = Arc::new(Date64Array::from(vec![86_400_001]));
    assert!(format_values(&within, &ValueFormat::default()).unwrap_err().message().contains("86400001"));
}

/// Arrays of all types of partition columns with values from random bits.
fn arrays_of(bits: &[u64], scale: i8) -> Vec<ArrayRef> {
    const DAYS: i64 = 3_652_059;
    /// The first and the last second of the years that have names.
    const SECONDS: std::ops::Range<i64> = -62_135_596_800..253_402_300_800;
    let integers: ArrayRef = Arc::new(Int64Array::from_iter_values(bits.iter().map(|bits| bits.cast_signed())));
    let unsigned: ArrayRef = Arc::new(UInt64Array::from_iter_values(bits.iter().copied()));
    let within = |range: std::ops::Range<i64>| {
        Int64Array::from_iter_values(
            bits.iter().map(|bits| range.start + bits.cast_signed().rem_euclid(range.end - range.start)),
        )
    };
    let wrapped = |mask: i64, kind: DataType| cast(&within(-mask - 1..mask + 1), &kind).unwrap();
    let mut arrays = vec![integers.clone(), unsigned];
    arrays.push(wrapped(i8::MAX.into(), DataType::Int8));
    arrays.push(wrapped(i16::MAX.into(), DataType::Int16));
    arrays.push(wrapped(i32::MAX.into(), DataType::Int32));
    arrays.push(cast(&within(0..1 << 32), &DataType::UInt32).unwrap());
    arrays.push(cast(&within(0..2), &DataType::Boolean).unwrap());
    let days = cast(&cast(&within(-719_162..DAYS - 719_162), &DataType::Int32).unwrap(), &DataType::Date32).unwrap();
    arrays.push(cast(&days, &DataType::Date64).unwrap());
    arrays.push(days);
    arrays.push(Arc::new(Float64Array::from_iter_values(bits.iter().map(|bits| f64::from_bits(*bits)))));
    let float = |bits: &u64| f32::from_bits(u32::try_from(bits & u64::from(u32::MAX)).unwrap());
    let floats: ArrayRef = Arc::new(Float32Array::from_iter_values(bits.iter().map(float)));
    arrays.push(cast(&floats, &DataType::Float16).unwrap());
    arrays.push(floats);
    let unscaled = bits.iter().map(|bits| i128::from(bits.cast_signed()));
    let decimals = Decimal128Array::from_iter_values(unscaled).with_precision_and_scale(38, scale).unwrap();
    arrays.push(cast(&decimals, &DataType::Decimal256(60, scale)).unwrap());
    arrays.push(Arc::new(decimals));
    for unit in [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond] {
        arrays.push(cast(&integers, &DataType::Duration(unit)).unwrap());
        let per_second = 1_000_000_000 / orcish_core::types::nanoseconds(unit);
        let ticks: ArrayRef = match unit {
            TimeUnit::Nanosecond => integers.clone(),
            _ => Arc::new(within(SECONDS.start * per_second..SECONDS.end * per_second)),
        };
        for zone in [None, Some("UTC"), Some("Europe/Berlin"), Some("+05:30")] {
            // A time of a zone may be in the next year.
            arrays.push(cast(&ticks, &DataType::Timestamp(unit, zone.map(Into::into))).unwrap());
        }
        let times = within(0..86_400 * per_second);
        arrays.push(match unit {
            TimeUnit::Second | TimeUnit::Millisecond => {
                cast(&cast(&times, &DataType::Int32).unwrap(), &DataType::Time32(unit)).unwrap()
            }
            _ => cast(&times, &DataType::Time64(unit)).unwrap(),
        });
    }
    arrays
}

proptest! {
    #[test]
    fn texts_of_hive_are_parsed_back(
        bits in prop::collection::vec(prop_oneof![any::<u64>(), Just(0), Just(u64::MAX), Just(1 << 63), Just((1 << 63) - 1)], 1..9),
        scale in 0_i8..30,
    ) {
        for array in arrays_of(&bits, scale) {
            let Ok(texts) = format_values(&array, &ValueFormat::default()) else {
                // The first and the last day of the years that have names, in a zone.
                prop_assert!(matches!(array.data_type(), DataType::Timestamp(_, Some(_))));
                continue;
            };
            let again = parse_values(&texts, array.data_type(), Flavor::Hive).unwrap();
            let bits = format_values(&again, &ValueFormat::default()).unwrap();
            prop_assert_eq!(&bits, &texts);
            if !matches!(array.data_type(), DataType::Float16 | DataType::Float32 | DataType::Float64) {
                prop_assert_eq!(&again, &array);
            }
        }
    }

    #[test]
    fn unescaping_is_the_inverse_of_escaping(text in ".{0,20}|[%0-9A-F\u{0}-\u{7f}]{0,20}") {
        let escaped = escape_partition(&text);
        prop_assert_eq!(unescape_partition(&escaped), text.clone());
        prop_assert!(!escaped.contains(['/', '=', '\n']));
        let path = format!("t/{}/part-0.orc", partition_folder("a=b/c", Some(&text)));
        let value = Some(text).filter(|text| !text.is_empty() && text != NULL_PARTITION);
        prop_assert_eq!(hive_partitions(&path), [("a=b/c".to_owned(), value)]);
    }

    #[test]
    fn texts_of_spark_are_parsed_back(
        floats in prop::collection::vec(any::<f64>(), 0..20),
        micros in prop::collection::vec(-400_000_000_000_000_000_i64..400_000_000_000_000_000, 0..20),
        unscaled in prop::collection::vec(-9_999_999_999_999_999_999_i128..9_999_999_999_999_999_999, 0..20),
        scale in 0_i8..19,
    ) {
        let arrays: [ArrayRef; 5] = [
            Arc::new(Float64Array::from(floats.clone())),
            Arc::new(TimestampMicrosecondArray::from(micros.clone())),
            Arc::new(TimestampMicrosecondArray::from(micros.clone()).with_timezone("UTC")),
            Arc::new(DurationMicrosecondArray::from(micros)),
            Arc::new(Decimal128Array::from(unscaled).with_precision_and_scale(19, scale).unwrap()),
        ];
        let format = ValueFormat { flavor: Flavor::Spark, ..ValueFormat::default() };
        for array in arrays {
            let texts = format_values(&array, &format).unwrap();
            let again = parse_values(&texts, array.data_type(), Flavor::Spark).unwrap();
            prop_assert_eq!(&again, &array);
        }
        let hive = format_values(&(Arc::new(Float64Array::from(floats.clone())) as ArrayRef), &ValueFormat::default());
        for (text, value) in hive.unwrap().iter().zip(floats) {
            prop_assert_eq!(text.unwrap().parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
    }

    #[test]
    fn no_text_panics(text in ".{0,30}|[-+0-9.eEdDT: ]{0,40}|INTERVAL '[-0-9.: ]{0,30}' (DAY|HOUR|SECOND) TO SECOND") {
        infer_type([text.as_str()].into_iter(), Flavor::Spark);
        infer_type([text.as_str()].into_iter(), Flavor::Hive);
        let _ = parsed_hive(&[&text], &DataType::Duration(TimeUnit::Nanosecond));
        for kind in [
            DataType::Int8,
            DataType::UInt64,
            DataType::Date32,
            DataType::Float64,
            DataType::Decimal128(38, 10),
            DataType::Timestamp(TimeUnit::Nanosecond, Some("Europe/Berlin".into())),
            DataType::Time32(TimeUnit::Second),
            DataType::Duration(TimeUnit::Nanosecond),
        ] {
            let _ = parsed(&[&text], &kind);
        }
    }
}
