use std::sync::Arc;

use arrow_schema::{Fields, IntervalUnit, TimeUnit, UnionFields, UnionMode};
use orcish_core::ErrorKind;
use proptest::prelude::*;

use super::*;

const MANY: usize = 1 << 20;
const MEMORY: u64 = 1 << 30;

fn leaf() -> impl Strategy<Value = DataType> {
    use DataType as D;
    let unit = || {
        prop_oneof![
            Just(TimeUnit::Second),
            Just(TimeUnit::Millisecond),
            Just(TimeUnit::Microsecond),
            Just(TimeUnit::Nanosecond)
        ]
    };
    prop_oneof![
        proptest::sample::select(vec![
            D::Null,
            D::Boolean,
            D::Int8,
            D::Int16,
            D::Int32,
            D::Int64,
            D::UInt8,
            D::UInt16,
            D::UInt32,
            D::UInt64,
            D::Float16,
            D::Float32,
            D::Float64,
            D::Utf8,
            D::LargeUtf8,
            D::Utf8View,
            D::Binary,
            D::LargeBinary,
            D::BinaryView,
            D::Date32,
            D::Date64,
            D::Time32(TimeUnit::Second),
            D::Time32(TimeUnit::Millisecond),
            D::Time64(TimeUnit::Microsecond),
            D::Time64(TimeUnit::Nanosecond),
            D::Interval(IntervalUnit::YearMonth),
            D::Interval(IntervalUnit::DayTime),
            D::Interval(IntervalUnit::MonthDayNano),
        ]),
        (0..i32::MAX).prop_map(D::FixedSizeBinary),
        (unit(), proptest::option::of("[A-Za-z/:+0-9]{1,12}"))
            .prop_map(|(unit, zone)| D::Timestamp(unit, zone.map(Into::into))),
        unit().prop_map(D::Duration),
        (1..=9u8, -9..=9i8).prop_map(|(precision, scale)| D::Decimal32(precision, scale)),
        (1..=18u8, -18..=18i8).prop_map(|(precision, scale)| D::Decimal64(precision, scale)),
        (1..=38u8, -38..=38i8).prop_map(|(precision, scale)| D::Decimal128(precision, scale)),
        (1..=76u8, -76..=76i8).prop_map(|(precision, scale)| D::Decimal256(precision, scale)),
    ]
}

fn field(kind: impl Strategy<Value = DataType>) -> impl Strategy<Value = FieldRef> {
    let metadata = proptest::collection::hash_map("[^\0]{0,4}", "[^\0]{0,4}", 0..3);
    ("[^\0]{0,6}", kind, any::<bool>(), metadata)
        .prop_map(|(name, kind, nullable, metadata)| Arc::new(Field::new(name, kind, nullable).with_metadata(metadata)))
}

type FieldRef = Arc<Field>;

/// Any type of Arrow.
fn kind() -> impl Strategy<Value = DataType> {
    use DataType as D;
    leaf().prop_recursive(4, 24, 4, |inner| {
        let some = || proptest::collection::vec(field(inner.clone()), 0..4);
        let one = || field(inner.clone());
        let mode = prop_oneof![Just(UnionMode::Dense), Just(UnionMode::Sparse)];
        let ids = proptest::sample::subsequence((0..=i8::MAX).collect::<Vec<_>>(), 4).prop_shuffle();
        // Narrower ones become wider.
        let integers = vec![D::Int32, D::Int64, D::UInt32, D::UInt64];
        let ends = vec![D::Int16, D::Int32, D::Int64];
        prop_oneof![
            one().prop_map(D::List),
            one().prop_map(D::LargeList),
            one().prop_map(D::ListView),
            one().prop_map(D::LargeListView),
            (one(), 0..i32::MAX).prop_map(|(item, length)| D::FixedSizeList(item, length)),
            some().prop_map(|fields| D::Struct(fields.into())),
            (one(), one(), any::<bool>()).prop_map(|(key, value, is_sorted)| {
                D::Map(Arc::new(Field::new("e", D::Struct(Fields::from(vec![key, value])), false)), is_sorted)
            }),
            (some(), ids, mode).prop_map(|(fields, ids, mode)| {
                let ids = ids.into_iter().take(fields.len()).collect::<Vec<_>>();
                D::Union(UnionFields::try_new(ids, fields).unwrap(), mode)
            }),
            (proptest::sample::select(integers), inner.clone())
                .prop_map(|(keys, values)| D::Dictionary(Box::new(keys), Box::new(values))),
            (proptest::sample::select(ends), one())
                .prop_map(|(ends, values)| D::RunEndEncoded(Arc::new(Field::new("r", ends, false)), values)),
        ]
    })
}

proptest! {
    #[test]
    fn schemas_come_back(
        fields in proptest::collection::vec(field(kind()), 0..4),
        metadata in proptest::collection::hash_map("[^\0]{0,4}", "[^\0]{0,4}", 0..3),
    ) {
        let schema = Schema::new_with_metadata(fields, metadata);
        let bytes = Bytes::from(encode(&schema).unwrap());
        prop_assert_eq!(decode(&bytes, MANY, MEMORY).unwrap(), schema);
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode(&bytes.into(), MANY, MEMORY);
    }

    #[test]
    fn no_damage_panics(fields in proptest::collection::vec(field(kind()), 1..4), at in any::<usize>(), byte in any::<u8>()) {
        let mut bytes = encode(&Schema::new(fields)).unwrap();
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = decode(&bytes.into(), MANY, MEMORY);
    }

    #[test]
    fn no_format_panics(format in "(\\+?[a-zA-Z]{1,3}|w|d|\\+w|\\+ud|\\+us|ts.)(:[-0-9,]{0,12})?", children in 0..4usize) {
        let child = Arc::new(Field::new("x", DataType::Int8, true));
        let _ = type_of(&format, vec![child; children], true);
    }
}

#[test]
fn what_is_no_type_is_refused() {
    let item = || Arc::new(Field::new("x", DataType::Int8, true));
    for format in ["w:-1", "w:", "d:0,0", "d:39,0", "d:77,0,256", "d:5", "d:5,0,512", "tsx:", "tss", "", "+l", "+w:2"] {
        assert_eq!(type_of(format, vec![], false), None, "{format}");
    }
    for format in ["+w:-2", "+ud:0,1", "+ud:-1", "+us:200", "+m", "+r", "i"] {
        assert_eq!(type_of(format, vec![item()], false), None, "{format}");
    }
    assert_eq!(type_of("+ud:3,3", vec![item(), item()], false), None);
    assert_eq!(type_of("+r", vec![item(), item()], false), None, "run ends of 8 bits");
}

#[test]
fn depth_and_number_are_bounded() {
    let nested = |depth: usize| {
        let item = |kind, _| DataType::List(Arc::new(Field::new("item", kind, true)));
        Schema::new(vec![Field::new("x", (1..depth).fold(DataType::Int8, item), true)])
    };
    let deepest = Bytes::from(encode(&nested(MAX_DEPTH)).unwrap());
    assert_eq!(decode(&deepest, MAX_DEPTH, MEMORY).unwrap(), nested(MAX_DEPTH));
    assert_eq!(decode(&deepest, MAX_DEPTH - 1, MEMORY).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(encode(&nested(MAX_DEPTH + 1)).unwrap_err().kind(), ErrorKind::Unsupported);

    // A message within a message, ten thousand times.
    let mut bytes = Vec::new();
    for _ in 0..10_000 {
        let mut outer = vec![u8::try_from(WITHIN[0]).unwrap()];
        prost::encode_length_delimiter(bytes.len(), &mut outer).unwrap();
        outer.extend(&bytes);
        bytes = outer;
    }
    bytes[0] = u8::try_from(FIELD).unwrap();
    assert_eq!(decode(&bytes.into(), MANY, MEMORY).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn dictionaries_that_are_read_have_no_order() {
    let kind = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
    let schema = Schema::new(vec![Field::new("x", kind, true).with_dict_is_ordered(true)]);
    let bytes = encode(&schema).unwrap();
    assert_ne!(bytes, encode(&Schema::new(vec![Field::new("x", schema.field(0).data_type().clone(), true)])).unwrap());
    let back = decode(&bytes.into(), MANY, MEMORY).unwrap();
    assert_eq!(back.field(0).dict_is_ordered(), Some(false));
}

#[test]
fn keys_that_are_read_have_32_bits_at_least() {
    use DataType as D;
    for (written, expected) in [
        (D::Int8, D::Int32),
        (D::UInt8, D::Int32),
        (D::Int16, D::Int32),
        (D::UInt16, D::Int32),
        (D::Int32, D::Int32),
        (D::UInt32, D::UInt32),
        (D::Int64, D::Int64),
        (D::UInt64, D::UInt64),
    ] {
        let dictionary = |keys| D::Dictionary(Box::new(keys), Box::new(D::Utf8));
        let list = |keys| D::List(Arc::new(Field::new("item", dictionary(keys), true)));
        let fields = |keys: D| vec![Field::new("x", dictionary(keys.clone()), true), Field::new("y", list(keys), true)];
        let bytes = encode(&Schema::new(fields(written))).unwrap();
        assert_eq!(decode(&bytes.into(), MANY, MEMORY).unwrap(), Schema::new(fields(expected)));
    }
}
