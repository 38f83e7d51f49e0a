//! Tests of hand-made pages.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, Int32Array, StringArray};
use orcish_core::{Error, ErrorKind, Result};

use super::*;
use crate::compress::Compressor;
use crate::metadata::format::{DictionaryMeta, Encoding, LocalDictionary as StoredDictionary, NULL_TEXT};
use crate::metadata::schema::{CarbonType, Column};

fn column(carbon_type: CarbonType) -> Column {
    Column::sample("c", carbon_type)
}

/// A serialized `ColumnPageEncoderMeta`; `bounds` are maximum, minimum and unique value.
fn meta_bytes(schema: u8, role: u8, digits: [i32; 2], store: u8, decimals: i32, bounds: &[u8]) -> Vec<u8> {
    let [scale, precision] = digits.map(i32::to_be_bytes);
    let decimals = decimals.to_be_bytes();
    let parts: [&[u8]; 9] =
        [&[0, 1, b'c', schema, role], &scale, &precision, &[store], &decimals, &[0], bounds, &[0, 6], b"snappy"];
    parts.concat()
}

fn meta(schema: u8, store: u8, decimals: i32, max: &[u8]) -> EncoderMeta {
    let bounds = [max, max, &[0; 8][..if schema == 6 { 4 } else { 8 }]].concat();
    EncoderMeta::read(&meta_bytes(schema, 4, [-1, -1], store, decimals, &bounds)).unwrap()
}

fn decode_numbers(
    carbon_type: CarbonType,
    encoder: Encoding,
    meta: &EncoderMeta,
    rows: usize,
    data: &[u8],
) -> Result<ArrayRef> {
    let column = column(carbon_type);
    decode(&PageInput { meta: Some(meta), ..PageInput::sample(&column, rows, &[encoder], data) })
}

#[test]
fn encoder_meta() {
    let max = [&[0, 3, 2, 1, 0][..], &[0, 1, 0], &[0, 1, 0], &[0; 8]].concat();
    let meta = EncoderMeta::read(&meta_bytes(10, 4, [2, 9], 5, 0, &max)).unwrap();
    assert_eq!(
        (meta.store_data_type, meta.scale, meta.precision, meta.max),
        (StoreDataType::Int, 2, 9, encoder_meta::MaxValue::Decimal(256))
    );
    assert_eq!(meta.compressor, Compressor::Snappy);
    assert_eq!(
        EncoderMeta::read(&meta_bytes(15, 6, [-1, -1], 15, 0, &[])).unwrap().column_type,
        encoder_meta::ColumnType::ComplexArray
    );
    assert!(EncoderMeta::read(&[0, 1, b'c', 5]).is_err());
    assert!(EncoderMeta::read(&meta_bytes(5, 4, [-1, -1], 77, 0, &[0; 16])).is_err());
}

#[test]
fn integers_of_all_widths() {
    let max = 1000i32.to_be_bytes();
    let integral = Encoding::AdaptiveIntegral;
    let decode = |encoder, store, data: &[u8]| {
        let rows = 2;
        let array = decode_numbers(CarbonType::Int, encoder, &meta(5, store, 0, &max), rows, data)?;
        Ok::<_, Error>(array.as_primitive::<Int32Type>().values().to_vec())
    };
    assert_eq!(decode(integral, 14, &[1, 0xff]).unwrap(), [1, -1]);
    assert_eq!(decode(integral, 4, &[0, 1, 0xff, 0xff]).unwrap(), [256, -1]);
    assert_eq!(decode(integral, 16, &[0, 1, 0, 0xff, 0xff, 0xfe]).unwrap(), [256, -2]);
    assert_eq!(decode(Encoding::DirectCompress, 5, &[0, 1, 0, 0, 0xff, 0xff, 0xff, 0xff]).unwrap(), [256, -1]);
    assert_eq!(decode(integral, 7, &[&[1][..], &[0; 7], &[0xff; 8]].concat()).unwrap(), [1, -1]);
    assert_eq!(decode(Encoding::AdaptiveDeltaIntegral, 14, &[0, 100]).unwrap(), [1000, 900]);
    assert_eq!(decode(Encoding::RleIntegral, 5, &[0, 2, 0, 0, 0, 7]).unwrap(), [7, 7]);
    for (encoder, store, data) in [
        (integral, 14, &[1u8][..]),
        (integral, 4, &[0, 1, 0]),
        (integral, 15, &[]),
        (Encoding::AdaptiveFloating, 14, &[1, 2]),
    ] {
        assert_eq!(decode(encoder, store, data).unwrap_err().kind(), ErrorKind::Corrupt, "{encoder:?} {store}");
    }
}

#[test]
fn overflow_errors_name_the_row() {
    let meta = meta(4, 5, 0, &[0, 0]);
    let data = [7i32, 70_000].map(i32::to_le_bytes).concat();
    let error = decode_numbers(CarbonType::Short, Encoding::AdaptiveIntegral, &meta, 2, &data).unwrap_err();
    assert_eq!((error.kind(), error.place().row), (ErrorKind::Corrupt, Some(1)));
    let column = column(CarbonType::Short);
    let page = PageInput::sample(&column, 2, &[Encoding::AdaptiveIntegral], &data);
    // Values of nulls are not checked.
    let array = decode(&PageInput { meta: Some(&meta), nulls: &[2], ..page }).unwrap();
    assert!(array.is_null(1) && array.as_primitive::<Int16Type>().value(0) == 7);
}

#[test]
fn timestamps_and_booleans() {
    let direct = Encoding::DirectCompress;
    let times =
        |value: i64| decode_numbers(CarbonType::Timestamp, direct, &meta(2, 7, 0, &[0; 8]), 1, &value.to_le_bytes());
    assert_eq!(times(-1).unwrap().as_primitive::<TimestampMicrosecondType>().value(0), -1000);
    assert_eq!(times(i64::MAX / 1000 + 1).unwrap_err().place().row, Some(0));
    let array = decode_numbers(CarbonType::Boolean, direct, &meta(3, 14, 0, &[0]), 3, &[0, 1, 2]).unwrap();
    assert_eq!(array.as_boolean().iter().collect::<Vec<_>>(), [Some(false), Some(true), Some(true)]);
}

#[test]
fn adaptive_floating_point() {
    let (max, small) = (9.99f64.to_be_bytes(), 300.8f32.to_be_bytes());
    let double = |encoder, store, decimals, data: &[u8]| {
        let array = decode_numbers(CarbonType::Double, encoder, &meta(8, store, decimals, &max), 1, data).unwrap();
        array.as_primitive::<Float64Type>().value(0)
    };
    assert_eq!(double(Encoding::DirectCompress, 8, 0, &1.25f64.to_le_bytes()), 1.25);
    assert_eq!(double(Encoding::AdaptiveIntegral, 14, 0, &[0xfe]), -2.0);
    assert_eq!(double(Encoding::AdaptiveDeltaIntegral, 14, 0, &[2]), 7.0);
    assert_eq!(double(Encoding::AdaptiveFloating, 4, 2, &[150, 0]), 1.5);
    assert_eq!(double(Encoding::AdaptiveDeltaFloating, 14, 2, &[1]), 9.98);
    let float = |encoder, store, decimals, data: &[u8]| {
        let array = decode_numbers(CarbonType::Float, encoder, &meta(6, store, decimals, &small), 1, data).unwrap();
        array.as_primitive::<Float32Type>().value(0)
    };
    assert_eq!(float(Encoding::DirectCompress, 6, 0, &1.25f32.to_le_bytes()), 1.25);
    assert_eq!(float(Encoding::AdaptiveFloating, 14, 1, &[3]), 0.3);
    assert_eq!(float(Encoding::AdaptiveDeltaFloating, 14, 1, &[1]), 300.7);
}

#[test]
fn decimals_of_all_encodings() {
    let bounds = [&[0, 3, 2, 1, 0][..], &[0, 1, 0], &[0, 1, 0], &[0; 8]].concat();
    let narrow = EncoderMeta::read(&meta_bytes(10, 4, [2, 9], 14, 0, &bounds)).unwrap();
    let carbon_type = CarbonType::Decimal { precision: 10, scale: 3 };
    let array = decode_numbers(carbon_type, Encoding::AdaptiveDeltaIntegral, &narrow, 1, &[6]).unwrap();
    // 2.56 - 0.06, in another scale.
    assert_eq!(array.as_primitive::<Decimal128Type>().value(0), 2500);
    let wide = EncoderMeta::read(&meta_bytes(10, 4, [0, 19], 10, 0, &bounds)).unwrap();
    let carbon_type = CarbonType::Decimal { precision: 19, scale: 0 };
    let array = decode_numbers(carbon_type, Encoding::DirectCompress, &wide, 1, &[0xff; 9]).unwrap();
    assert_eq!(array.as_primitive::<Decimal128Type>().value(0), -1);
    let counted = EncoderMeta::read(&meta_bytes(10, 4, [-1, -1], 10, 0, &bounds)).unwrap();
    let array =
        decode_numbers(carbon_type, Encoding::DirectCompress, &counted, 2, &[0, 0, 0, 2, 0, 5, 0, 0, 0, 0]).unwrap();
    assert_eq!(array.as_primitive::<Decimal128Type>().iter().collect::<Vec<_>>(), [Some(5), None]);
}

#[test]
fn inverted_index_restores_row_order() {
    let column = column(CarbonType::Int);
    let meta = meta(5, 14, 0, &[0; 4]);
    let encoders = [Encoding::AdaptiveIntegral, Encoding::InvertedIndex];
    let page = PageInput::sample(&column, 3, &encoders, &[10, 20, 30]);
    let array =
        decode(&PageInput { meta: Some(&meta), inverted_index: Some(&[2, 0, 1]), nulls: &[1], ..page }).unwrap();
    assert_eq!(array.as_primitive::<Int32Type>().iter().collect::<Vec<_>>(), [None, Some(10), Some(20)]);
}

#[test]
fn length_prefixed_strings() {
    let data = [&[0, 1, b'a', 0, 0, 0, 8][..], NULL_TEXT, &[0, 20], &[b'b'; 20]].concat();
    let column = column(CarbonType::String);
    let expected = [Some("a"), Some(""), None, Some("bbbbbbbbbbbbbbbbbbbb")];
    let array = decode(&PageInput::sample(&column, 4, &[], &data)).unwrap();
    assert_eq!(array.as_string::<i32>().iter().collect::<Vec<_>>(), expected);
    let array = decode(&PageInput { inverted_index: Some(&[3, 2, 1, 0]), ..PageInput::sample(&column, 4, &[], &data) })
        .unwrap();
    assert_eq!(array.as_string::<i32>().iter().rev().collect::<Vec<_>>(), expected);
    assert!(
        decode(&PageInput::sample(&column, 3, &[], &data)).is_err()
            && decode(&PageInput::sample(&column, 5, &[], &data)).is_err()
    );
    assert!(decode(&PageInput::sample(&column, 1, &[], &[0, 2, b'a'])).is_err());
    assert!(decode(&PageInput::sample(&column, 1, &[], &[0xff, 0xff, b'a'])).is_err());
    // The two bytes of a character are split between two values, which are each invalid.
    let error = decode(&PageInput::sample(&column, 3, &[], &[0, 1, b'a', 0, 1, 0xc3, 0, 1, 0xa9])).unwrap_err();
    assert!(error.to_string().contains("value 1 "), "{error}");
    let long = decode(&PageInput::sample(&column, 1, &[Encoding::DirectCompressVarchar], &[0, 0, 0, 1, b'a'])).unwrap();
    assert_eq!(long.as_string::<i32>().value(0), "a");
}

#[test]
fn dates_of_a_direct_dictionary() {
    let column = column(CarbonType::Date);
    let data = [1, 1_073_741_823, 1_073_741_822u32].map(u32::to_be_bytes).concat();
    let array = decode(&PageInput::sample(&column, 3, &[Encoding::Dictionary], &data)).unwrap();
    assert_eq!(array.as_primitive::<Date32Type>().iter().collect::<Vec<_>>(), [None, Some(0), Some(-1)]);
    // With runs and an inverted index.
    let page = PageInput {
        runs: Some(&[2, 0, 1]),
        inverted_index: Some(&[2, 0, 1]),
        ..PageInput::sample(&column, 3, &[Encoding::Dictionary], &data)
    };
    let array = decode(&page).unwrap();
    assert_eq!(array.as_primitive::<Date32Type>().iter().collect::<Vec<_>>(), [Some(-1), None, None]);
}

fn dictionary(texts: &[u8], keys: &[u8]) -> Result<LocalDictionary> {
    let compress = |bytes: &[u8]| snap::raw::Encoder::new().compress_vec(bytes).unwrap();
    let meta = DictionaryMeta { encoder_meta: vec![meta_bytes(15, 2, [-1, -1], 15, 0, &[])] };
    let stored = StoredDictionary { meta, data: compress(texts), keys: compress(keys) };
    LocalDictionary::read(&stored, None, CarbonType::String, 1 << 20)
}

fn keys<'a>(dictionary: &'a LocalDictionary, column: &'a Column, data: &'a [u8]) -> PageInput<'a> {
    PageInput { dictionary: Some(dictionary), ..PageInput::sample(column, 3, &[], data) }
}

#[test]
fn keys_of_a_local_dictionary() {
    let texts = [&[0, 8][..], NULL_TEXT, &[0, 1, b'a', 0, 20], &[b'b'; 20]].concat();
    // The used keys are 1, 2 and 9.
    let dictionary = dictionary(&texts, &[6, 2]).unwrap();
    let column = column(CarbonType::String);
    let array = decode(&keys(&dictionary, &column, &[0, 0, 9, 0, 0, 1, 0, 0, 2])).unwrap();
    let array = array.as_string::<i32>();
    assert_eq!(array.iter().collect::<Vec<_>>(), [Some("bbbbbbbbbbbbbbbbbbbb"), None, Some("a")]);
    for unknown in [[0, 0, 2, 0, 0, 0, 0, 0, 2], [0, 0, 2, 0, 0, 3, 0, 0, 2], [0, 0, 2, 0, 0, 10, 0, 0, 2]] {
        assert!(decode(&keys(&dictionary, &column, &unknown)).is_err());
    }
    let error =
        decode(&PageInput { max_bytes: 30, ..keys(&dictionary, &column, &[0, 0, 9, 0, 0, 9, 0, 0, 2]) }).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
}

#[test]
fn invalid_local_dictionaries() {
    assert!(dictionary(&[0, 1, b'a'], &[6]).is_err());
    assert!(dictionary(&[0, 1, b'a', 0, 0], &[2]).is_err());
    assert!(dictionary(&[0, 1, 0xff], &[4]).is_err());
    assert!(dictionary(&[0, 3, b'a'], &[2]).is_err());
    // Null occurs twice. Then, the keys need more memory than the limit.
    let nulls = [&[0, 8][..], NULL_TEXT, &[0, 8], NULL_TEXT].concat();
    assert!(dictionary(&nulls, &[6]).is_err());
    let last = [vec![0; 1 << 15], vec![1]].concat();
    let error = dictionary(&[0, 1, b'a'], &last).map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
}

#[test]
fn keys_of_a_global_dictionary() {
    let mut column = column(CarbonType::String);
    column.encoders = vec![Encoding::Dictionary];
    let page = PageInput::sample(&column, 3, &[Encoding::Dictionary], &[2, 1, 3]);
    let page = PageInput { key_width: 1, ..page };
    assert_eq!(decode(&page).unwrap_err().kind(), ErrorKind::Unsupported);
    let values: ArrayRef = Arc::new(StringArray::from(vec![None, None, Some("a"), Some("b")]));
    let known: Dictionaries = Arc::new(move |_: &Column| Ok(values.clone()));
    let array = decode(&PageInput { dictionaries: Some(&known), ..page }).unwrap();
    assert_eq!(array.as_string::<i32>().iter().collect::<Vec<_>>(), [Some("a"), None, Some("b")]);
    let page = PageInput::sample(&column, 1, &[Encoding::Dictionary], &[0, 0, 0, 4]);
    assert!(decode(&PageInput { dictionaries: Some(&known), ..page }).is_err());
}

fn lists(places: &[[u32; 2]]) -> ListOffsets {
    let bytes: Vec<u8> = places.iter().flatten().flat_map(|number| number.to_be_bytes()).collect();
    ListOffsets::read(&bytes, Some(places.len())).unwrap()
}

fn with_children(carbon_type: CarbonType, children: &[CarbonType]) -> Column {
    Column { children: children.iter().map(|&carbon_type| column(carbon_type)).collect(), ..column(carbon_type) }
}

#[test]
fn an_array_of_one_null_is_null() {
    let column = with_children(CarbonType::Array, &[CarbonType::Int]);
    let child: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, None, Some(2)]));
    let array = nested::arrays(&column, &lists(&[[2, 0], [0, 0], [1, 2], [1, 3]]), &child).unwrap();
    let array = array.as_list::<i32>();
    let found: Vec<_> = array.iter().map(|list| Some(list?.as_primitive::<Int32Type>().iter().collect())).collect();
    assert_eq!(found, [Some(vec![Some(1), None]), Some(vec![]), None, Some(vec![Some(2)])]);
    // Stored in another order, then out of range.
    let array = nested::arrays(&column, &lists(&[[1, 3], [1, 0]]), &child).unwrap();
    assert_eq!(array.as_list::<i32>().values().as_primitive::<Int32Type>().values(), &[2, 1]);
    assert!(nested::arrays(&column, &lists(&[[1, 3], [1, 4]]), &child).is_err());
    assert!(nested::arrays(&column, &lists(&[[5, 0]]), &child).is_err());
    assert!(ListOffsets::read(&[0xff; 8], None).is_err() && ListOffsets::read(&[0; 7], None).is_err());
}

#[test]
fn maps_have_no_null_keys() {
    let column = with_children(CarbonType::Map, &[CarbonType::String, CarbonType::Int]);
    let maps = |places: &[[u32; 2]], keys: Vec<Option<&str>>, values: Vec<Option<i32>>| {
        let entries = keys.len();
        let children: Vec<ArrayRef> = vec![Arc::new(StringArray::from(keys)), Arc::new(Int32Array::from(values))];
        nested::maps(&column, &lists(places), children, entries)
    };
    let array = maps(
        &[[1, 0], [1, 1], [2, 2]],
        vec![Some("a"), None, Some("b"), Some("c")],
        vec![Some(1), None, None, Some(2)],
    );
    let array = array.unwrap();
    assert_eq!(array.as_map().offsets().as_ref(), [0, 1, 1, 3]);
    assert!(array.is_null(1) && array.is_valid(2));
    array.to_data().validate_full().unwrap();
    let error = maps(&[[1, 0], [1, 1]], vec![Some("a"), None], vec![Some(1), Some(2)]).unwrap_err();
    assert_eq!((error.kind(), error.place().row), (ErrorKind::NullMapKey, Some(1)));
    assert!(maps(&[[2, 0]], vec![Some("a"), None], vec![Some(1), None]).is_err());
}

#[test]
fn a_struct_of_nulls_is_null() {
    let column = with_children(CarbonType::Struct, &[CarbonType::String, CarbonType::Int]);
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, None]));
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![None, Some(1), None]));
    let array = nested::structs(&column, vec![texts.clone(), numbers.clone()], 3).unwrap();
    assert_eq!((0..3).map(|row| array.is_null(row)).collect::<Vec<_>>(), [false, false, true]);
    assert!(nested::structs(&column, vec![texts, numbers], 2).is_err());
    assert_eq!(nested::struct_rows(&[0, 2, 0, 2], Some(2)).unwrap(), 2);
    assert!(nested::struct_rows(&[0, 2, 0], None).is_err());
}
