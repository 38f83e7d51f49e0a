use std::path::Path;

use arrow_array::builder::{Int32Builder, ListBuilder, StringDictionaryBuilder};
use arrow_array::cast::AsArray as _;
use arrow_array::types::*;
use arrow_array::*;
use arrow_buffer::{IntervalDayTime, IntervalMonthDayNano, NullBuffer, OffsetBuffer, ScalarBuffer, i256};
use arrow_schema::UnionFields;
use orcish_core::cast::restore;
use orcish_io::FileSource;

use super::*;
use crate::read::stored::encode;
use crate::{ErrorKind, OrcFile};

const MEMORY: u64 = 1 << 30;

fn field(kind: &DataType) -> Field {
    Field::new("x", kind.clone(), true)
}

/// Restores an array, and a slice of it, which has to be the slice of what was expected.
#[track_caller]
fn becomes(read: ArrayRef, expected: ArrayRef) {
    let field = field(expected.data_type());
    assert!(is_compatible(read.data_type(), expected.data_type()), "{} {}", read.data_type(), expected.data_type());
    assert_eq!(&restore(&read, &field, MEMORY).unwrap(), &expected);
    if read.len() > 2 {
        let slice = restore(&read.slice(1, read.len() - 2), &field, MEMORY).unwrap();
        assert_eq!(slice.len(), expected.len() - 2);
        // Runs and dictionaries may be other ones.
        let plain = |array: &ArrayRef| match array.data_type() {
            DataType::RunEndEncoded(_, values) => arrow_cast::cast(array, values.data_type()).unwrap(),
            DataType::Dictionary(_, values) => arrow_cast::cast(array, values).unwrap(),
            _ => array.clone(),
        };
        assert_eq!(&plain(&slice), &plain(&expected).slice(1, expected.len() - 2));
        assert_eq!(restore(&read.slice(1, 0), &field, MEMORY).unwrap().len(), 0);
    }
}

/// The error of values that cannot have been of a type.
#[track_caller]
fn is_refused(read: impl Array + 'static, kind: DataType) -> String {
    let read: ArrayRef = Arc::new(read);
    let error = restore(&read, &field(&kind), MEMORY).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.place().column.as_deref().unwrap().starts_with('x'), "{error}");
    error.to_string()
}

fn decimals(values: Vec<Option<i128>>, precision: u8, scale: i8) -> Decimal128Array {
    Decimal128Array::from(values).with_data_type(DataType::Decimal128(precision, scale))
}

#[test]
fn numbers() {
    let read = Int16Array::from(vec![Some(0), None, Some(255)]);
    becomes(Arc::new(read), Arc::new(UInt8Array::from(vec![Some(0), None, Some(255)])));
    let read = Int32Array::from(vec![Some(0), None, Some(65_535)]);
    becomes(Arc::new(read), Arc::new(UInt16Array::from(vec![Some(0), None, Some(65_535)])));
    let read = Int64Array::from(vec![Some(0), None, Some(u32::MAX.into())]);
    becomes(Arc::new(read), Arc::new(UInt32Array::from(vec![Some(0), None, Some(u32::MAX)])));
    let read = decimals(vec![Some(0), None, Some(u64::MAX.into())], 20, 0);
    becomes(Arc::new(read), Arc::new(UInt64Array::from(vec![Some(0), None, Some(u64::MAX)])));
    type Half = <Float16Type as ArrowPrimitiveType>::Native;
    let read = Float32Array::from(vec![Some(1.5), None, Some(f32::NEG_INFINITY)]);
    let half = Float16Array::from(vec![Some(Half::from_f32(1.5)), None, Some(Half::NEG_INFINITY)]);
    becomes(Arc::new(read), Arc::new(half));
    becomes(Arc::new(BooleanArray::from(vec![None; 4])), Arc::new(NullArray::new(4)));

    is_refused(Int16Array::from(vec![300]), DataType::UInt8);
    is_refused(Int16Array::from(vec![-1]), DataType::UInt8);
    is_refused(Int32Array::from(vec![-1]), DataType::UInt16);
    is_refused(Int64Array::from(vec![1 << 32]), DataType::UInt32);
    is_refused(decimals(vec![Some(-1)], 20, 0), DataType::UInt64);
    is_refused(decimals(vec![Some(1 << 64)], 20, 0), DataType::UInt64);
    is_refused(Float32Array::from(vec![1e10]), DataType::Float16);
    is_refused(Float32Array::from(vec![0.1]), DataType::Float16);
    is_refused(BooleanArray::from(vec![None, Some(false)]), DataType::Null);
}

#[test]
fn decimals_of_all_widths() {
    let read = |precision, scale| Arc::new(decimals(vec![Some(-12_300), None, Some(0)], precision, scale));
    let narrow = Decimal32Array::from(vec![Some(-12_300), None, Some(0)]).with_data_type(DataType::Decimal32(7, 2));
    becomes(read(7, 2), Arc::new(narrow));
    let narrow = Decimal64Array::from(vec![Some(-12_300), None, Some(0)]).with_data_type(DataType::Decimal64(12, 2));
    becomes(read(12, 2), Arc::new(narrow));
    let wide = vec![Some(i256::from_i128(-12_300)), None, Some(i256::ZERO)];
    becomes(read(38, 2), Arc::new(Decimal256Array::from(wide).with_data_type(DataType::Decimal256(60, 2))));
    // More digits behind the point than there are.
    let small = Decimal128Array::from(vec![Some(-12), None, Some(0)]).with_data_type(DataType::Decimal128(2, 5));
    becomes(Arc::new(decimals(vec![Some(-12), None, Some(0)], 5, 5)), Arc::new(small));
    // Hundreds.
    let hundreds = decimals(vec![Some(-123), None, Some(0)], 5, -2);
    becomes(read(7, 0), Arc::new(hundreds));
    let hundreds = Decimal32Array::from(vec![Some(-123), None, Some(0)]).with_data_type(DataType::Decimal32(5, -2));
    becomes(read(7, 0), Arc::new(hundreds));

    is_refused(decimals(vec![Some(150)], 7, 0), DataType::Decimal128(5, -2));
    is_refused(decimals(vec![Some(100)], 5, 5), DataType::Decimal128(2, 5));
    is_refused(decimals(vec![Some(10_000_000)], 7, 2), DataType::Decimal32(7, 2));
    assert!(!is_compatible(&DataType::Decimal128(7, 2), &DataType::Decimal32(8, 2)));
    assert!(!is_compatible(&DataType::Decimal128(7, 2), &DataType::Decimal128(7, 1)));
    assert!(is_compatible(&DataType::Decimal128(38, 0), &DataType::Decimal256(76, -76)));
    is_refused(decimals(vec![Some(1)], 38, 0), DataType::Decimal256(76, -76));
}

#[test]
fn text_and_bytes() {
    let values = vec![Some("a"), None, Some(""), Some("a string of more than twelve bytes")];
    let texts: [ArrayRef; 3] = [
        Arc::new(StringArray::from(values.clone())),
        Arc::new(LargeStringArray::from(values.clone())),
        Arc::new(StringViewArray::from(values.clone())),
    ];
    let bytes: Vec<_> = values.iter().map(|value| value.map(str::as_bytes)).collect();
    let binaries: [ArrayRef; 3] = [
        Arc::new(BinaryArray::from(bytes.clone())),
        Arc::new(LargeBinaryArray::from(bytes.clone())),
        Arc::new(BinaryViewArray::from(bytes)),
    ];
    for all in [&texts, &binaries] {
        for (from, to) in all.iter().flat_map(|from| all.iter().map(move |to| (from, to))) {
            becomes(from.clone(), to.clone());
        }
    }
    let read: [ArrayRef; 2] = [
        Arc::new(BinaryArray::from(vec![Some(&b"ab"[..]), None, Some(b"cd")])),
        Arc::new(BinaryViewArray::from(vec![Some(&b"ab"[..]), None, Some(b"cd")])),
    ];
    let fixed = vec![Some(&b"ab"[..]), None, Some(b"cd")];
    let fixed = FixedSizeBinaryArray::try_from_sparse_iter_with_size(fixed.into_iter(), 2).unwrap();
    for read in read {
        becomes(read, Arc::new(fixed.clone()));
    }
    becomes(
        Arc::new(BinaryArray::from(vec![Some(&b""[..]), None, Some(b"")])),
        Arc::new(FixedSizeBinaryArray::new(0, Vec::<u8>::new().into(), Some(vec![true, false, true].into()))),
    );
    is_refused(BinaryArray::from(vec![&b"abc"[..]]), DataType::FixedSizeBinary(2));
    let nulls: ArrayRef = Arc::new(BinaryArray::from(vec![None; 100]));
    let error = restore(&nulls, &field(&DataType::FixedSizeBinary(i32::MAX)), MEMORY).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
}

#[test]
fn dates_and_times() {
    let days = Date32Array::from(vec![Some(-1), None, Some(20_000)]);
    let milliseconds = Date64Array::from(vec![Some(-86_400_000), None, Some(20_000 * 86_400_000)]);
    becomes(Arc::new(days), Arc::new(milliseconds));
    let read = || Arc::new(Int32Array::from(vec![Some(1), None, Some(86_399)]));
    becomes(read(), Arc::new(Time32SecondArray::from(vec![Some(1), None, Some(86_399)])));
    becomes(read(), Arc::new(Time32MillisecondArray::from(vec![Some(1), None, Some(86_399)])));
    let read = || Arc::new(Int64Array::from(vec![Some(1), None, Some(1 << 36)]));
    becomes(read(), Arc::new(Time64MicrosecondArray::from(vec![Some(1), None, Some(1 << 36)])));
    becomes(read(), Arc::new(Time64NanosecondArray::from(vec![Some(1), None, Some(1 << 36)])));
    becomes(read(), Arc::new(DurationSecondArray::from(vec![Some(1), None, Some(1 << 36)])));
    becomes(read(), Arc::new(DurationNanosecondArray::from(vec![Some(1), None, Some(1 << 36)])));
    is_refused(Int32Array::from(vec![Some(1), None, Some(-1)]), DataType::Time32(TimeUnit::Second));
    is_refused(Int32Array::from(vec![86_400]), DataType::Time32(TimeUnit::Second));
    is_refused(Int32Array::from(vec![86_400_000]), DataType::Time32(TimeUnit::Millisecond));
    is_refused(Int64Array::from(vec![86_400_000_000]), DataType::Time64(TimeUnit::Microsecond));
    is_refused(Int64Array::from(vec![-1]), DataType::Time64(TimeUnit::Nanosecond));
    // Attributes of Spark stay where they are, whatever the type becomes.
    becomes(
        Arc::new(DurationMicrosecondArray::from(vec![Some(1), None])),
        Arc::new(Int64Array::from(vec![Some(1), None])),
    );
    becomes(Arc::new(IntervalYearMonthArray::from(vec![1])), Arc::new(Int32Array::from(vec![1])));
    becomes(Arc::new(Int32Array::from(vec![1])), Arc::new(IntervalYearMonthArray::from(vec![1])));

    let utc = TimestampNanosecondArray::from(vec![Some(1), None, Some(-1)]).with_timezone("UTC");
    becomes(Arc::new(utc.clone()), Arc::new(utc.clone().with_timezone("Europe/Paris")));
    assert!(!is_compatible(utc.data_type(), &DataType::Timestamp(TimeUnit::Nanosecond, None)));
    is_refused(utc, DataType::Timestamp(TimeUnit::Second, Some("UTC".into())));
}

#[test]
fn intervals() {
    let part = |name: &str, array: ArrayRef| (Arc::new(Field::new(name, array.data_type().clone(), true)), array);
    let nulls = Some(NullBuffer::from(vec![true, false, true]));
    let structs = |parts: Vec<(FieldRef, ArrayRef)>| {
        let (fields, arrays): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        StructArray::new(fields.into(), arrays, nulls.clone())
    };
    let ints = || Arc::new(Int32Array::from(vec![Some(1), None, Some(-3)]));
    let longs = || Arc::new(Int64Array::from(vec![Some(1), None, Some(-3)]));
    let read = structs(vec![part("days", ints()), part("milliseconds", ints())]);
    let value = |n| IntervalDayTime { days: n, milliseconds: n };
    becomes(Arc::new(read), Arc::new(IntervalDayTimeArray::from(vec![Some(value(1)), None, Some(value(-3))])));
    let read = structs(vec![part("months", ints()), part("days", ints()), part("nanoseconds", longs())]);
    let value = |n: i32| IntervalMonthDayNano { months: n, days: n, nanoseconds: n.into() };
    becomes(Arc::new(read), Arc::new(IntervalMonthDayNanoArray::from(vec![Some(value(1)), None, Some(value(-3))])));

    let bad = StructArray::from(vec![part("days", ints()), part("milliseconds", ints())]);
    is_refused(bad, DataType::Interval(IntervalUnit::DayTime));
    let odd = structs(vec![part("milliseconds", ints()), part("days", ints())]);
    assert!(!is_compatible(odd.data_type(), &DataType::Interval(IntervalUnit::DayTime)));
    is_refused(odd, DataType::Interval(IntervalUnit::MonthDayNano));
}

/// `[[1, null], null, [], [3, 4]]`, and the same of 16 bits, unsigned.
fn some_lists() -> (ListArray, Int32Array, UInt16Array) {
    let mut lists = ListBuilder::new(Int32Builder::new());
    lists.append_value([Some(1), None]);
    lists.append_null();
    lists.append_value([]);
    lists.append_value([Some(3), Some(4)]);
    let lists = lists.finish();
    let values = lists.values().as_primitive::<Int32Type>().clone();
    (lists, values, UInt16Array::from(vec![Some(1), None, Some(3), Some(4)]))
}

#[test]
fn lists_of_all_forms() {
    let (lists, _, values) = some_lists();
    let (read, values): (ArrayRef, ArrayRef) = (Arc::new(lists.clone()), Arc::new(values));
    let item = Arc::new(Field::new("element", DataType::UInt16, true));
    let nulls = lists.nulls().cloned();
    let offsets: Vec<i32> = lists.offsets().to_vec();
    becomes(
        read.clone(),
        Arc::new(ListArray::new(item.clone(), lists.offsets().clone(), values.clone(), nulls.clone())),
    );
    let large = OffsetBuffer::new(offsets.iter().map(|&at| i64::from(at)).collect());
    becomes(read.clone(), Arc::new(LargeListArray::new(item.clone(), large, values.clone(), nulls.clone())));
    let view = ListViewArray::new(
        item.clone(),
        vec![0, 2, 2, 2].into(),
        vec![2, 0, 0, 2].into(),
        values.clone(),
        nulls.clone(),
    );
    becomes(read.clone(), Arc::new(view));
    let view = LargeListViewArray::new(item.clone(), vec![0, 2, 2, 2].into(), vec![2, 0, 0, 2].into(), values, nulls);
    becomes(read.clone(), Arc::new(view));

    let fixed = DataType::FixedSizeList(item.clone(), 2);
    let error = restore(&read, &field(&fixed), MEMORY).unwrap_err();
    assert!(error.to_string().contains("a list of 0 elements where the file says that all have 2"), "{error}");
    let whole = ListArray::new(
        Arc::new(Field::new("item", DataType::Int32, true)),
        OffsetBuffer::new(vec![0, 2, 2, 4].into()),
        Arc::new(Int32Array::from(vec![1, 2, 3, 4])),
        Some(vec![true, false, true].into()),
    );
    let padded = UInt16Array::from(vec![Some(1), Some(2), None, None, Some(3), Some(4)]);
    let nulls = Some(NullBuffer::from(vec![true, false, true]));
    let item = Arc::new(Field::new("element", DataType::UInt16, false));
    becomes(Arc::new(whole.clone()), Arc::new(FixedSizeListArray::new(item.clone(), 2, Arc::new(padded), nulls)));
    let error = restore(&read, &field(&DataType::List(item.clone())), MEMORY).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);

    let empty = ListArray::new_null(Arc::new(Field::new("item", DataType::Int32, true)), 1000);
    let huge = DataType::FixedSizeList(item, i32::MAX);
    let error = restore(&(Arc::new(empty) as ArrayRef), &field(&huge), MEMORY).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);

    let named = Arc::new(Field::new("element", DataType::UInt8, true));
    let text = is_refused(lists, DataType::LargeList(named));
    assert!(text.contains("were not written as"), "{text}");
}

#[test]
fn structs_and_maps() {
    let part = |name: &str, array: ArrayRef, nullable| {
        (Arc::new(Field::new(name, array.data_type().clone(), nullable)), array)
    };
    let nulls = Some(NullBuffer::from(vec![true, false, true]));
    let read = |array: Int16Array| {
        let (field, array) = part("a", Arc::new(array), true);
        StructArray::new(vec![field].into(), vec![array], nulls.clone())
    };
    // A null within a null is none.
    let (of, array) = part("a", Arc::new(UInt8Array::from(vec![Some(1), None, Some(3)])), false);
    let expected = StructArray::new(vec![of.clone()].into(), vec![array], nulls.clone());
    becomes(Arc::new(read(vec![Some(1), None, Some(3)].into())), Arc::new(expected));
    let kind = DataType::Struct(vec![of].into());
    is_refused(read(vec![None, None, Some(3)].into()), kind.clone());
    let text = is_refused(read(vec![Some(1), None, Some(300)].into()), kind);
    assert!(text.contains("column x.a"), "{text}");
    let none = |name| StructArray::new_empty_fields(2, name);
    becomes(Arc::new(none(None)), Arc::new(none(None)));

    let entries = |names: [&str; 3], key: ArrayRef, value: ArrayRef| {
        let (key, keys) = part(names[1], key, false);
        let (value, values) = part(names[2], value, true);
        let both = StructArray::new(vec![key, value].into(), vec![keys, values], None);
        (Arc::new(Field::new(names[0], both.data_type().clone(), false)), both)
    };
    let offsets = OffsetBuffer::new(vec![0, 2, 2, 3].into());
    let (field, both) = entries(
        ["entries", "key", "value"],
        Arc::new(StringArray::from(vec!["a", "b", "c"])),
        Arc::new(Int16Array::from(vec![Some(1), None, Some(3)])),
    );
    let map = MapArray::new(field, offsets.clone(), both, Some(vec![true, false, true].into()), false);
    let (field, both) = entries(
        ["pairs", "k", "v"],
        Arc::new(StringViewArray::from(vec!["a", "b", "c"])),
        Arc::new(UInt8Array::from(vec![Some(1), None, Some(3)])),
    );
    let sorted = MapArray::new(field, offsets, both, Some(vec![true, false, true].into()), true);
    becomes(Arc::new(map), Arc::new(sorted));
}

#[test]
fn unions_of_any_ids() {
    let fields = |ids: [i8; 2], kinds: [DataType; 2]| {
        let [a, b] = kinds.map(|kind| Field::new("v", kind, true));
        UnionFields::try_new(ids, [a, b]).unwrap()
    };
    let physical = fields([0, 1], [DataType::Int16, DataType::Utf8]);
    let stored = fields([7, 5], [DataType::UInt8, DataType::LargeUtf8]);
    for offsets in [None, Some(ScalarBuffer::from(vec![0, 1, 2, 0, 1]))] {
        let rows = offsets.is_none();
        let (a, b) = if rows {
            (vec![Some(1), None, Some(3), None, None], vec![None, None, None, Some("x"), Some("y")])
        } else {
            (vec![Some(1), None, Some(3)], vec![Some("x"), Some("y")])
        };
        let read: Vec<ArrayRef> = vec![Arc::new(Int16Array::from(a.clone())), Arc::new(StringArray::from(b.clone()))];
        let read = UnionArray::try_new(physical.clone(), vec![0, 0, 0, 1, 1].into(), offsets.clone(), read).unwrap();
        let a: UInt8Array = a.into_iter().map(|value| value.map(|value| u8::try_from(value).unwrap())).collect();
        let written: Vec<ArrayRef> = vec![Arc::new(a), Arc::new(LargeStringArray::from(b))];
        let written = UnionArray::try_new(stored.clone(), vec![7, 7, 7, 5, 5].into(), offsets, written).unwrap();
        becomes(Arc::new(read), Arc::new(written));
    }
}

#[test]
fn dictionaries_and_runs() {
    let texts = vec![Some("b"), None, Some("a"), Some("b"), Some("b")];
    let read_as: [ArrayRef; 2] = [
        Arc::new(texts.iter().copied().collect::<DictionaryArray<Int32Type>>()),
        Arc::new(StringArray::from(texts.clone())),
    ];
    for read in &read_as {
        let mut narrow = StringDictionaryBuilder::<UInt8Type>::new();
        texts.iter().for_each(|text| narrow.append_option(*text));
        becomes(read.clone(), Arc::new(narrow.finish()));
        let kind = DataType::Dictionary(Box::new(DataType::Int64), Box::new(DataType::Utf8View));
        let restored = restore(read, &field(&kind), MEMORY).unwrap();
        assert_eq!(restored.data_type(), &kind);
        assert_eq!(
            arrow_cast::cast(&restored, &DataType::Utf8).unwrap().as_string::<i32>(),
            &StringArray::from(texts.clone())
        );
    }
    let many: ArrayRef = Arc::new((0..300).map(|n| Some(n.to_string())).collect::<StringArray>());
    let narrow = |kind| DataType::Dictionary(Box::new(DataType::Int8), Box::new(kind));
    let error = restore(&many, &field(&narrow(DataType::Utf8)), MEMORY).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    // Entries that no row has do not count.
    let rare: ArrayRef =
        Arc::new(DictionaryArray::try_new(Int32Array::from(vec![Some(299), None, Some(0)]), many.clone()).unwrap());
    let restored = restore(&rare, &field(&narrow(DataType::Utf8)), MEMORY).unwrap();
    assert_eq!(arrow_cast::cast(&restored, &DataType::Utf8).unwrap().as_string::<i32>().value(0), "299");

    // What is in the dictionary is restored too; what Arrow does not look up is compared.
    let numbers = decimals(vec![Some(7), None, Some(7), Some(u64::MAX.into())], 20, 0);
    let plain = UInt64Array::from(vec![Some(7), None, Some(7), Some(u64::MAX)]);
    let restored = restore(&(Arc::new(numbers) as ArrayRef), &field(&narrow(DataType::UInt64)), MEMORY).unwrap();
    assert_eq!(arrow_cast::cast(&restored, &DataType::UInt64).unwrap().as_primitive::<UInt64Type>(), &plain);
    for count in [100, 1000] {
        let bits: BooleanArray = (0..count).map(|n| (n % 5 > 0).then_some(n % 2 == 0)).collect();
        let restored =
            restore(&(Arc::new(bits.clone()) as ArrayRef), &field(&narrow(DataType::Boolean)), MEMORY).unwrap();
        assert_eq!(arrow_cast::cast(&restored, &DataType::Boolean).unwrap().as_boolean(), &bits);
    }
    let (lists, _, values) = some_lists();
    let kind = narrow(DataType::LargeList(Arc::new(Field::new("e", values.data_type().clone(), true))));
    let restored = restore(&(Arc::new(lists) as ArrayRef), &field(&kind), MEMORY).unwrap();
    assert_eq!((restored.data_type(), restored.len(), restored.logical_null_count()), (&kind, 4, 1));

    for ends in [DataType::Int16, DataType::Int32, DataType::Int64] {
        let ends = || Arc::new(Field::new("ends", ends.clone(), false));
        let runs = |kind| DataType::RunEndEncoded(ends(), Arc::new(Field::new("v", kind, true)));
        for read in &read_as {
            let restored = restore(read, &field(&runs(DataType::LargeUtf8)), MEMORY).unwrap();
            assert_eq!(restored.data_type(), &runs(DataType::LargeUtf8));
            let back = arrow_cast::cast(&restored, &DataType::LargeUtf8).unwrap();
            assert_eq!(back.as_string::<i64>(), &LargeStringArray::from(texts.clone()));
        }
        let (lists, _, _) = some_lists();
        let kind = runs(lists.data_type().clone());
        let restored = restore(&(Arc::new(lists) as ArrayRef), &field(&kind), MEMORY).unwrap();
        assert_eq!((restored.data_type(), restored.len()), (&kind, 4));
        let nothing: ArrayRef = Arc::new(StringArray::new_null(0));
        assert_eq!(restore(&nothing, &field(&runs(DataType::Utf8)), MEMORY).unwrap().len(), 0);
        let nulls: ArrayRef = Arc::new(BooleanArray::new_null(3));
        assert_eq!(restore(&nulls, &field(&runs(DataType::Null)), MEMORY).unwrap().len(), 3);
    }
}

#[test]
fn nulls_that_were_not_there() {
    let read: ArrayRef = Arc::new(Int16Array::from(vec![Some(1), None]));
    for kind in [DataType::Int16, DataType::UInt8] {
        let error = restore(&read, &Field::new("x", kind, false), MEMORY).unwrap_err();
        assert_eq!(error.to_string(), "column x: there are nulls, which the file says it had not");
    }
}

/// A file of the test data, with an Arrow schema that it was not written with.
fn file(name: &str, schema: impl FnOnce(Schema) -> Schema) -> OrcFile {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(name);
    let plain = OrcFile::open(&path).unwrap();
    let schema = schema(plain.schema(&ReadOptions::default()).unwrap().as_ref().clone());
    let mut tail = plain.tail().clone();
    tail.metadata.push((ARROW_SCHEMA_KEY.to_owned(), encode(&schema).unwrap().into()));
    OrcFile::of_parts(Arc::new(FileSource::open(path).unwrap()), tail)
}

fn replaced(schema: Schema, kinds: &[(&str, DataType)]) -> Schema {
    let kind = |field: &FieldRef| {
        let found = kinds.iter().find(|(name, _)| name == field.name());
        found.map_or_else(|| field.clone(), |(_, kind)| Arc::new(field.as_ref().clone().with_data_type(kind.clone())))
    };
    let fields: Fields = schema.fields().iter().map(kind).collect();
    Schema::new_with_metadata(fields, [("of", "schema")])
}

fn other_types() -> Vec<(&'static str, DataType)> {
    let item = |kind| Arc::new(Field::new("e", kind, true));
    let deep = DataType::LargeListView(item(DataType::ListView(item(DataType::Int32))));
    let named = |name: &str, kind| Field::new(name, kind, true).with_metadata([("of", name)]);
    let nest = vec![
        named("x", DataType::UInt16),
        named("y", DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::LargeUtf8))),
        named("z", DataType::Struct(vec![named("deep", deep)].into())),
    ];
    let pair = vec![Field::new("k", DataType::Utf8View, false), Field::new("v", DataType::Int64, true)];
    vec![
        ("string", DataType::LargeUtf8),
        ("binary", DataType::BinaryView),
        ("date", DataType::Date64),
        ("stamp", DataType::Timestamp(TimeUnit::Second, None)),
        ("instant", DataType::Timestamp(TimeUnit::Millisecond, Some("Europe/Paris".into()))),
        ("money", DataType::Decimal64(10, 2)),
        ("wide", DataType::Decimal256(38, 10)),
        ("list", DataType::LargeList(item(DataType::Int32))),
        ("map", DataType::Map(Arc::new(Field::new("pairs", DataType::Struct(pair.into()), false)), true)),
        ("nest", DataType::Struct(nest.into())),
        (
            "long",
            DataType::RunEndEncoded(
                Arc::new(Field::new("r", DataType::Int16, false)),
                item(DataType::Duration(TimeUnit::Second)),
            ),
        ),
    ]
}

fn names(names: &[&str]) -> Columns {
    Columns::Names(names.iter().map(|&name| name.into()).collect())
}

fn all(file: &OrcFile, options: ReadOptions) -> RecordBatch {
    let schema = file.schema(&options).unwrap();
    let reader = file.read(options).unwrap();
    assert_eq!(reader.schema(), schema);
    arrow_select::concat::concat_batches(&schema, &reader.map(|batch| batch.unwrap()).collect::<Vec<_>>()).unwrap()
}

#[test]
fn a_file_in_the_types_that_it_had() {
    let mut stored = None;
    let file = file("pyarrow.zlib.orc", |schema| {
        // Integers that do not fit are another test.
        let fields = schema.fields().iter().map(|field| field.as_ref().clone()).collect::<Vec<_>>();
        stored = Some(replaced(Schema::new(fields), &other_types()));
        stored.clone().unwrap()
    });
    let (stored, options) = (stored.unwrap(), ReadOptions::default);
    assert_eq!(*file.schema(&options()).unwrap(), stored);
    assert_eq!(file.stored().unwrap().data_type(&file.tail().schema, 1), Some(&DataType::Boolean));
    for id in 1..u32::try_from(file.tail().schema.types().len()).unwrap() {
        assert!(file.stored().unwrap().data_type(&file.tail().schema, id).is_some(), "column {id}");
    }
    let physical = all(&file, ReadOptions { arrow_schema: false, ..options() });
    assert_eq!(physical.schema().field(2).data_type(), &DataType::Int16);

    // Not all of the numbers of this column are of 16 bits without sign.
    let columns =
        ["string", "binary", "date", "stamp", "instant", "money", "wide", "list", "map", "nest.y", "nest.z", "long"];
    let batch = all(&file, ReadOptions { columns: names(&columns), row_number: Some("row".into()), ..options() });
    assert_eq!(batch.num_rows(), physical.num_rows());
    assert_eq!(batch.schema().metadata().get("of").map(String::as_str), Some("schema"));
    for (field, array) in batch.schema().fields().iter().zip(batch.columns()).take(9) {
        assert_eq!(field, &stored.field_with_name(field.name()).unwrap().clone().into());
        let read = physical.column_by_name(field.name()).unwrap();
        let mut back = array.clone();
        if field.name() == "instant" || field.name() == "stamp" {
            continue;
        }
        if field.name() == "map" || field.name() == "list" {
            assert_eq!((back.len(), back.null_count()), (read.len(), read.null_count()));
            continue;
        }
        back = arrow_cast::cast(&back, read.data_type()).unwrap();
        assert_eq!(&back, read, "{}", field.name());
    }
    assert_eq!(batch.schema().field(9).name(), "nest");
    let DataType::Struct(nest) = batch.schema().field(9).data_type().clone() else { panic!() };
    let DataType::Struct(of) = stored.field_with_name("nest").unwrap().data_type().clone() else { panic!() };
    assert_eq!(nest[..], of[1..]);
    assert_eq!(batch.schema().field(11).name(), "row");

    // By ids, in another order, under a filter.
    let id = |name: &str| file.tail().schema.column_id(&name.into()).unwrap();
    let columns = Columns::Ids(vec![id("wide"), id("nest.z"), id("nest.y")]);
    let filter = Some(crate::Predicate::Not(Box::new(crate::Predicate::IsNull { column: "long".into() })));
    let batch = all(&file, ReadOptions { columns, filter, batch_size: 3, ..options() });
    assert_eq!(batch.schema().field(0), stored.field_with_name("wide").unwrap());
    let DataType::Struct(nest) = batch.schema().field(1).data_type().clone() else { panic!() };
    assert_eq!(nest[..], [of[2].clone(), of[1].clone()]);
}

#[test]
fn given_options_take_precedence() {
    let file = file("pyarrow.zlib.orc", |schema| replaced(schema, &other_types()));
    let options = ReadOptions {
        strings: Some(StringType::Utf8),
        timestamp_unit: Some(TimestampUnit::Nanosecond),
        null_map_keys: NullMapKeys::Dictionary,
        ..ReadOptions::default()
    };
    let schema = file.schema(&options).unwrap();
    let kind = |name| schema.field_with_name(name).unwrap().data_type().clone();
    assert_eq!((kind("string"), kind("binary")), (DataType::Utf8, DataType::Binary));
    assert_eq!(kind("stamp"), DataType::Timestamp(TimeUnit::Nanosecond, None));
    assert_eq!(kind("instant"), DataType::Timestamp(TimeUnit::Nanosecond, Some("Europe/Paris".into())));
    assert_eq!(kind("money"), DataType::Decimal64(10, 2));
    assert!(kind("map").to_string().contains("Dictionary"), "{}", kind("map"));
    let DataType::Struct(nest) = kind("nest") else { panic!() };
    assert_eq!(nest[1].data_type(), &DataType::Utf8);
    let columns = names(&["string", "binary", "instant", "map", "nest.y"]);
    all(&file, ReadOptions { columns, timestamp_unit: Some(TimestampUnit::Microsecond), ..options });
}

#[test]
fn values_that_do_not_fit_are_named() {
    let file = file("pyarrow.zlib.orc", |schema| replaced(schema, &[("int", DataType::UInt16)]));
    let error = file.read(ReadOptions::default()).unwrap().find_map(Result::err).unwrap();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert_eq!(error.place().column.as_deref(), Some("int"));
    assert!(error.place().file.as_deref().unwrap().ends_with("pyarrow.zlib.orc"));
}

#[test]
fn a_schema_of_another_file_is_left_alone() {
    let physical = OrcFile::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/pyarrow.zlib.orc"));
    let physical = physical.unwrap().schema(&ReadOptions::default()).unwrap();
    let is_ignored = |change: &dyn Fn(Schema) -> Schema| {
        let file = file("pyarrow.zlib.orc", change);
        assert!(file.stored().is_none());
        assert_eq!(file.schema(&ReadOptions::default()).unwrap(), physical);
    };
    is_ignored(&|schema| replaced(schema, &[("string", DataType::LargeUtf8), ("int", DataType::Int64)]));
    is_ignored(&|schema| Schema::new(schema.fields()[1..].to_vec()));
    is_ignored(&|schema| Schema::new(schema.fields().iter().rev().cloned().collect::<Vec<_>>()));
    is_ignored(&|_| Schema::empty());
    for bytes in [&b""[..], b"\xff", b"\x0a\x02\x12\x00"] {
        let mut tail = file("pyarrow.zlib.orc", |schema| schema).tail().clone();
        tail.metadata.retain(|(key, _)| key != ARROW_SCHEMA_KEY);
        tail.metadata.push((ARROW_SCHEMA_KEY.to_owned(), bytes::Bytes::copy_from_slice(bytes)));
        assert!(StoredSchema::of(&tail).is_none());
    }
}

#[test]
fn unions_of_a_file() {
    let schema = |mode| {
        move |schema: Schema| {
            let DataType::Union(fields, _) = schema.field(0).data_type().clone() else { panic!() };
            let kinds = [DataType::UInt16, DataType::Utf8View, DataType::Float64];
            let fields = fields.iter().zip([9, 3, 100]).zip(kinds);
            let fields =
                fields.map(|(((_, field), id), kind)| (id, Arc::new(field.as_ref().clone().with_data_type(kind))));
            replaced(schema, &[("choice", DataType::Union(fields.collect(), mode))])
        }
    };
    for mode in [arrow_schema::UnionMode::Dense, arrow_schema::UnionMode::Sparse] {
        let file = file("pyorc.none.orc", schema(mode));
        assert!(file.stored().is_some());
        let read = |options: ReadOptions| {
            let columns = names(&["choice"]);
            file.read(ReadOptions { columns, ..options }).unwrap().collect::<crate::Result<Vec<_>>>()
        };
        let batches = read(ReadOptions::default()).unwrap();
        let DataType::Union(fields, read_as) = batches[0].column(0).data_type() else { panic!() };
        assert_eq!((fields.iter().map(|(id, _)| id).collect::<Vec<_>>(), read_as), (vec![9, 3, 100], &mode));
        for unions in [UnionType::Dense, UnionType::Sparse, UnionType::Struct] {
            let options = ReadOptions { unions: Some(unions), ..ReadOptions::default() };
            assert!(!read(options).unwrap().is_empty());
        }
    }
}
