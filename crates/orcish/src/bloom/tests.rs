use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use orcish_core::hash;
use orcish_io::{FileSource, ReadAt};
use proptest::prelude::*;

use super::builder::BloomBuilder;
use super::*;
use crate::codec::decompress_all;
use crate::schema::{Kind, Type};
use crate::tail::Calendar;
use crate::writer::Writer;
use crate::{Columns, OrcFile, ReadOptions};

const MEMORY: u64 = 1 << 30;

fn column(kind: Kind) -> Type {
    Type {
        kind,
        children: Vec::new(),
        field_names: Vec::new(),
        max_length: Some(5),
        precision: Some(10),
        scale: Some(2),
        attributes: Vec::new(),
        crs: None,
        fault: None,
        algorithm: None,
        last: 0,
        parent: None,
    }
}

/// The latest ORC Java, in UTC.
fn java(column: &Type) -> FilterContext<'_> {
    FilterContext {
        writer: Writer::Java,
        writer_version: 9,
        software_version: Some("2.3.0"),
        proleptic: true,
        is_unstable_pre_2_0: false,
        writer_timezone: "UTC",
        stream: BloomKind::Utf8,
        bloom_encoding: Some(1),
        column,
    }
}

fn cpp(column: &Type) -> FilterContext<'_> {
    FilterContext { writer: Writer::Cpp, software_version: Some("1.7.1"), ..java(column) }
}

fn is_known(origin: FilterContext<'_>) -> bool {
    ValueHasher::new(&origin).is_known()
}

fn filters(filters: Vec<orc::BloomFilter>) -> BloomFilters {
    let count = filters.len();
    let section = orc::BloomFilterIndex { bloom_filter: filters }.encode_to_vec();
    BloomFilters::parse(section.into(), count, &Memory::new(MEMORY)).unwrap()
}

fn text(text: &str) -> ValueHash {
    ValueHash(hash::bytes(text.as_bytes()))
}

fn number(number: i64) -> ValueHash {
    ValueHash(hash::integer(number))
}

#[test]
fn sizes_equal_java() {
    let shape = |values, error| {
        let filter = BloomBuilder::new(values, error).to_original();
        (filter.bitset.len() * 64, filter.num_hash_functions.unwrap())
    };
    assert_eq!(shape(128, 0.05), (832, 5));
    assert_eq!(shape(10_000, 0.05), (62_400, 4));
    assert_eq!(shape(10_000, 0.01), (95_872, 7));
    assert_eq!(shape(0, 0.5), (64, 44));
}

#[test]
fn false_positives_are_rare() {
    let mut builder = BloomBuilder::new(1000, 0.01);
    (0..1000).for_each(|i| builder.add(number(i)));
    let filters = filters(vec![builder.to_utf8()]);
    let wrong = (1000..11_000).filter(|&i| filters.might_contain(0, &[number(i)])).count();
    assert!(wrong < 200, "{wrong} of 10,000");
}

#[test]
fn unusable_filters_exclude_nothing() {
    let filter = |functions, bitset: &[u64], utf8bitset: Option<&[u8]>| orc::BloomFilter {
        num_hash_functions: functions,
        bitset: bitset.to_vec(),
        utf8bitset: utf8bitset.map(Bytes::copy_from_slice),
    };
    let high = 1 << 63;
    let unusable = vec![
        orc::BloomFilter::default(),
        filter(Some(3), &[], Some(&[])),
        filter(Some(0), &[high], None),
        filter(None, &[], Some(&[0, 0, 0, 0, 0, 0, 0, 1])),
        filter(Some(3), &[], Some(&[0, 0, 0, 0, 0, 0, 0, 1, 1])), // incomplete word
        filter(Some(3), &[high], Some(&[0, 0, 0, 0, 0, 0, 0, 1])), // both kinds of bits
        filter(Some(3), &[0, 0], None),
        filter(Some(3), &[0xffff_0000], None), // big-endian C++
        filter(Some(u32::MAX), &[u64::MAX; 4], None),
        filter(Some(MAX_FUNCTIONS + 1), &[high, 0, 0], None), // more functions than any writer has
    ];
    let count = unusable.len();
    let unusable = filters(unusable);
    assert_eq!(unusable.filters.len(), count);
    for group in 0..count + 3 {
        assert!(unusable.might_contain(group, &[number(1), number(2)]), "filter {group}");
    }
    let missing = filters(vec![filter(Some(MAX_FUNCTIONS), &[high, 0, 0], None)]);
    assert!(!missing.might_contain(0, &[number(1)]));
}

/// The message of Apache's `over1k_bloom.orc`: entries, probability, and bits as varints.
#[test]
fn filters_of_another_message_exclude_nothing() {
    let filter = [&[0x08, 0x90, 0x4e, 0x11][..], &0.05f64.to_le_bytes(), &[0x18, 0x80, 0x01, 0x18, 0x00]].concat();
    let index = [&[0x0a, u8::try_from(filter.len()).unwrap()][..], &filter].concat();
    let filters = BloomFilters::parse(index.into(), 1, &Memory::new(MEMORY)).unwrap();
    assert!(filters.filters.len() == 1 && filters.might_contain(0, &[number(1)]));
    assert!(BloomFilters::parse(Bytes::from_static(&[0x0a, 0x7f]), 1, &Memory::new(MEMORY)).is_err());
}

#[test]
fn hashes_are_known_by_writer_and_type() {
    use Kind::*;
    let all = [
        Boolean,
        Byte,
        Short,
        Int,
        Long,
        Float,
        Double,
        String,
        Binary,
        Timestamp,
        List,
        Map,
        Struct,
        Union,
        Decimal,
        Date,
        Varchar,
        Char,
        TimestampInstant,
        Geometry,
        Geography,
    ];
    let trusted = |change: &dyn Fn(&mut FilterContext<'_>)| {
        let trusts = |kind: &Kind| {
            let column = column(*kind);
            let mut origin = java(&column);
            change(&mut origin);
            is_known(origin)
        };
        all.into_iter().filter(trusts).map(Kind::name).collect::<Vec<_>>().join(" ")
    };
    let numbers = "tinyint smallint int bigint float double";
    let modern = format!("{numbers} string binary timestamp decimal date varchar char timestamp with local time zone");
    assert_eq!(trusted(&|_| {}), modern);
    assert_eq!(trusted(&|of| of.stream = BloomKind::Original), format!("{numbers} date"));
    assert_eq!(trusted(&|of| of.writer_version = 5), format!("{numbers} string binary decimal date varchar"));
    assert_eq!(trusted(&|of| of.writer_version = 6), modern.replace(" char", ""));
    assert_eq!(trusted(&|of| of.writer_version = 7), modern);
    assert_eq!(trusted(&|of| of.writer_version = 4), "");
    assert_eq!(trusted(&|of| of.bloom_encoding = Some(2)), "");
    let timeless = modern.replace(" timestamp with local time zone", "").replace(" timestamp", "");
    assert_eq!(trusted(&|of| of.bloom_encoding = None), timeless);
    for zone in ["", "Europe/London", "Asia/Kolkata"] {
        assert_eq!(trusted(&|of| of.writer_timezone = zone), modern.replacen(" timestamp", "", 1), "{zone}");
    }
    assert_eq!(trusted(&|of| of.is_unstable_pre_2_0 = true), modern.replace(" decimal", ""));

    let of_cpp = "smallint int bigint double string binary timestamp decimal date varchar \
        timestamp with local time zone";
    assert_eq!(trusted(&|of| *of = cpp(of.column)), of_cpp);
    let draft = |of: &mut FilterContext<'_>| {
        (of.writer, of.software_version, of.is_unstable_pre_2_0) = (Writer::Cpp, Some("1.7.1"), true)
    };
    assert_eq!(trusted(&draft), of_cpp.replace(" decimal", ""));
    let of_trino = "smallint int bigint double string date varchar char";
    assert_eq!(trusted(&|of| of.writer = Writer::Trino), of_trino);
    for writer in [Writer::Presto, Writer::Go, Writer::Cudf, Writer::Unknown(6)] {
        assert_eq!(trusted(&|of| of.writer = writer), "");
    }
    for writer in [Writer::Cpp, Writer::Trino] {
        assert_eq!(trusted(&|of| (of.writer, of.stream) = (writer, BloomKind::Original)), "");
    }
}

#[test]
fn releases_of_cpp() {
    let column = column(Kind::Long);
    let trusted = |version| is_known(FilterContext { software_version: version, ..cpp(&column) });
    for version in ["1.7.1", "1.7.11", "1.8.0", "1.8.1-SNAPSHOT", "2.0.0-SNAPSHOT", "2.3.1"] {
        assert!(trusted(Some(version)), "{version}");
    }
    for version in ["", "1.6.11", "1.6.12", "1.7.0", "1.7.1-SNAPSHOT", "1.8.0-SNAPSHOT", "unknown"] {
        assert!(!trusted(Some(version)), "{version}");
    }
    assert!(!trusted(None));
}

#[test]
fn hashes_of_iceberg_times_are_unknown() {
    let mut column = column(Kind::Long);
    column.attributes = vec![("iceberg.long-type".to_owned(), "TIME".to_owned())];
    assert!(!is_known(FilterContext { writer: Writer::Trino, ..java(&column) }));
    assert!(is_known(java(&column)));
}

#[test]
fn equal_values_have_all_hashes() {
    let hashes = |kind| {
        let column = column(kind);
        ValueHasher::new(&java(&column))
    };
    let sorted = |mut hashes: Vec<ValueHash>| {
        hashes.sort_unstable_by_key(|hash_value| hash_value.0);
        hashes
    };
    assert_eq!(hashes(Kind::Int).hash_integer(-1).unwrap(), [number(-1), number(0xffff_ffff)]);
    assert_eq!(hashes(Kind::Int).hash_integer(7).unwrap(), [number(7)]);
    assert_eq!(hashes(Kind::Long).hash_integer(i64::MIN).unwrap(), [number(i64::MIN)]);
    assert_eq!(hashes(Kind::Short).hash_integer(i64::MIN).unwrap(), [number(i64::MIN)]);
    assert_eq!(hashes(Kind::Long).hash_float(1.0), None);

    assert_eq!(hashes(Kind::Double).hash_float(f64::NAN), None);
    assert_eq!(hashes(Kind::Double).hash_float(-0.0).unwrap(), [number(0), number(i64::MIN)]);

    let char = |value: &str| hashes(Kind::Char).hash_bytes(value.as_bytes()).unwrap();
    assert_eq!(char("日本 "), sorted(vec![text("日本"), text("日本 "), text("日本   ")]));
    assert_eq!(char("five!"), [text("five!")]);
    assert_eq!(hashes(Kind::String).hash_bytes(b"a ").unwrap(), [text("a ")]);
    assert_eq!(hashes(Kind::String).hash_bytes(b"").unwrap().len(), 2);
    let column = Type { max_length: Some(u32::MAX), ..column(Kind::Char) };
    assert_eq!(ValueHasher::new(&java(&column)).hash_bytes(b"a"), None);

    let decimal = |unscaled, scale| hashes(Kind::Decimal).hash_decimal(unscaled, scale);
    for (unscaled, scale, expected) in [
        (0, 2, "0"),
        (-5, 2, "-0.05"),
        (150, 2, "1.5"),
        (-12_300, 2, "-123"),
        (100, 0, "100"),
        (i128::MIN, 38, "-1.70141183460469231731687303715884105728"),
    ] {
        assert_eq!(decimal(unscaled, scale).unwrap(), [text(expected)], "{expected}");
    }
    assert_eq!(decimal(1, 39), None);
    assert_eq!(decimal(10, u32::MAX), None);
}

#[test]
fn equal_floats_are_found() {
    let has = |added: f64, sought: f64| {
        let mut builder = BloomBuilder::new(10, 0.0001);
        builder.add_float(added);
        filters(vec![builder.to_utf8()]).might_contain(0, &[number(sought.to_bits().cast_signed())])
    };
    // Readers test the requested zero, or both zeros.
    for (added, sought) in [(0.0, 0.0), (0.0, -0.0), (-0.0, 0.0), (-0.0, -0.0), (-f64::NAN, f64::NAN), (1.5, 1.5)] {
        assert!(has(added, sought), "{sought} of {added}");
    }
    assert!(!has(1.5, -1.5) && !has(1.5, 0.0));
}

#[test]
fn hashes_of_dates_and_timestamps() {
    let (stamp, date) = (column(Kind::Timestamp), column(Kind::Date));
    let hashes = |nanos| ValueHasher::new(&java(&stamp)).hash_timestamp(nanos);
    assert_eq!(hashes(1_500_999_999).unwrap(), [number(1500)]);
    assert_eq!(hashes(500_000_000).unwrap(), [number(500), number(-500)]);
    assert_eq!(hashes(-1_500_000_000).unwrap(), [number(-1500), number(-1499)]);
    assert_eq!(hashes(-1_500_000_001).unwrap(), [number(-1501), number(-1500)]);
    assert_eq!(hashes(i128::MIN), None);
    assert_eq!(hashes(0).unwrap(), [number(0), number(-1000)]);
    let hybrid = FilterContext { proleptic: false, ..java(&stamp) };
    let hybrid = |millis: i64| ValueHasher::new(&hybrid).hash_timestamp(i128::from(millis) * 1_000_000);
    let first = crate::time::calendar::GREGORIAN_START_SECOND * 1000;
    assert_eq!(hybrid(first - 1), None);
    // Gregorian dates are equal in both calendars.
    for millis in [first, first + 1, -1500, 1500] {
        assert_eq!(hybrid(millis), hashes(i128::from(millis) * 1_000_000));
    }
    assert!(hashes(i128::from(first - 1) * 1_000_000).is_some());

    assert_eq!(ValueHasher::new(&java(&date)).hash_date(-171_605).unwrap()[0], number(-171_605));
    let hybrid = ValueHasher::new(&FilterContext { proleptic: false, ..java(&date) });
    let hashes = hybrid.hash_date(-171_605).unwrap();
    assert!(hashes.contains(&number(-171_596)) && hashes.contains(&number(-171_595)), "29 February and 1 March 1500");
    assert_eq!(hybrid.hash_date(-141_428), None, "a skipped day");
    assert_eq!(hybrid.hash_date(i32::MIN), None);
    assert_eq!(hybrid.hash_date(100).unwrap(), [number(100)]);
}

proptest! {
    #[test]
    fn added_values_are_found(
        numbers in prop::collection::vec(any::<i64>(), 0..200),
        texts in prop::collection::vec(any::<Vec<u8>>(), 0..50),
        room in 0..100u64,
        error in 0.0001..0.9,
    ) {
        let mut builder = BloomBuilder::new(room, error);
        let hashes: Vec<ValueHash> =
            numbers.into_iter().map(number).chain(texts.iter().map(|text| ValueHash(hash::bytes(text)))).collect();
        hashes.iter().for_each(|hash_value| builder.add(*hash_value));
        let filters = filters(vec![builder.to_utf8(), builder.to_original()]);
        for hash_value in hashes {
            prop_assert!(filters.might_contain(0, &[hash_value]) && filters.might_contain(1, &[ValueHash(1), hash_value]));
        }
    }

    #[test]
    fn stored_days_are_found(day: i32, near in -800_000..-100_000i32) {
        for day in [day, near] {
            let column = column(Kind::Date);
            let hashes = ValueHasher::new(&FilterContext { proleptic: false, ..java(&column) });
            let read = crate::time::calendar::days_to_proleptic(day);
            prop_assert!(hashes.hash_date(read).is_none_or(|hashes| hashes.contains(&number(day.into()))));
        }
    }

    #[test]
    fn decimals_are_written_as_parsed(unscaled: i64, scale in 0..30u32) {
        let column = column(Kind::Decimal);
        let hashes = ValueHasher::new(&java(&column)).hash_decimal(unscaled.into(), scale).unwrap();
        let padded = ValueHasher::new(&java(&column)).hash_decimal(i128::from(unscaled) * 10_000, scale + 4).unwrap();
        prop_assert_eq!(hashes, padded);
    }

    #[test]
    fn any_bytes_are_filters_or_an_error(bytes: Vec<u8>, group in 0..4usize, hash_value: u64) {
        if let Ok(filters) = BloomFilters::parse(bytes.into(), 4, &Memory::new(MEMORY)) {
            filters.might_contain(group, &[ValueHash(hash_value)]);
        }
    }

    #[test]
    fn any_filter_is_tested(functions: Option<u32>, bitset: Vec<u64>, utf8bitset: Option<Vec<u8>>, hash_value: u64) {
        let filter = orc::BloomFilter { num_hash_functions: functions, bitset, utf8bitset: utf8bitset.map(Bytes::from) };
        filters(vec![filter]).might_contain(0, &[ValueHash(hash_value)]);
    }
}

/// Result of a check of the filters of a column.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Found {
    name: String,
    /// Number of values that the filter of their row group contains.
    found: usize,
    /// Number of values with unknown hashes.
    unknown: usize,
    /// Number of other values that are excluded.
    excluded: usize,
}

/// Checks that the filter of a row group contains each value of the row group.
fn check(path: &Path) -> Vec<Found> {
    let source = Arc::new(FileSource::open(path).unwrap());
    let file = OrcFile::open(path).unwrap();
    let tail = file.tail().clone();
    let mut all: Vec<Found> = Vec::new();
    for (at, info) in tail.stripes.iter().enumerate() {
        let read = |range: std::ops::Range<u64>| {
            let stored = source.read_ranges(&[range]).unwrap().remove(0);
            decompress_all(stored, tail.framing(), 1 << 30).unwrap()
        };
        let footer = orc::StripeFooter::decode(read(info.footer())).unwrap();
        let mut offset = info.offset;
        for stream in &footer.streams {
            let range = offset..offset + stream.length();
            offset = range.end;
            let kind = match stream.kind() {
                orc::stream::Kind::BloomFilter => BloomKind::Original,
                orc::stream::Kind::BloomFilterUtf8 => BloomKind::Utf8,
                _ => continue,
            };
            let id = stream.column();
            let this = tail.schema.get(id).unwrap();
            if this.parent != Some(0) || !this.children.is_empty() {
                continue;
            }
            let stride = tail.row_index_stride as usize;
            let groups = usize::try_from(info.rows).unwrap().div_ceil(stride);
            let filters = BloomFilters::parse(read(range), groups, &Memory::new(MEMORY)).unwrap();
            assert_eq!(filters.filters.len(), groups);
            let hashes = ValueHasher::new(&FilterContext {
                writer: tail.writer,
                writer_version: tail.writer_version,
                software_version: tail.software_version.as_deref(),
                proleptic: tail.calendar == Calendar::ProlepticGregorian,
                is_unstable_pre_2_0: tail.has_decimal64(),
                writer_timezone: std::str::from_utf8(footer.writer_timezone()).unwrap(),
                stream: kind,
                bloom_encoding: footer.columns[id as usize].bloom_encoding,
                column: this,
            });
            let options = ReadOptions {
                columns: Columns::Ids(vec![id]),
                stripes: Some(vec![at]),
                batch_size: stride,
                threads: 1,
                ..ReadOptions::default()
            };
            let name = format!("{} {kind:?}", tail.schema.path(id));
            let index = all.iter().position(|found| found.name == name).unwrap_or(all.len());
            all.resize_with(all.len().max(index + 1), Found::default);
            let found = &mut all[index];
            found.name = name;
            let mut row = 0;
            for batch in file.read(options).unwrap() {
                let array = batch.unwrap().column(0).clone();
                for i in 0..array.len() {
                    let group = row / stride;
                    row += 1;
                    if array.is_null(i) {
                        continue;
                    }
                    let Some(hashes) = hashes_of_value(&hashes, &array, i) else {
                        found.unknown += 1;
                        continue;
                    };
                    assert!(filters.might_contain(group, &hashes), "{}: {} in row {row}", path.display(), found.name);
                    found.found += 1;
                    found.excluded += usize::from(!filters.might_contain(group, &[number((1 << 50) + row as i64)]));
                }
            }
        }
    }
    all
}

fn hashes_of_value(hashes: &ValueHasher, array: &ArrayRef, i: usize) -> Option<Vec<ValueHash>> {
    match array.data_type() {
        DataType::Int8 => hashes.hash_integer(array.as_primitive::<Int8Type>().value(i).into()),
        DataType::Int16 => hashes.hash_integer(array.as_primitive::<Int16Type>().value(i).into()),
        DataType::Int32 => hashes.hash_integer(array.as_primitive::<Int32Type>().value(i).into()),
        DataType::Int64 => hashes.hash_integer(array.as_primitive::<Int64Type>().value(i)),
        DataType::Float32 => hashes.hash_float(array.as_primitive::<Float32Type>().value(i).into()),
        DataType::Float64 => hashes.hash_float(array.as_primitive::<Float64Type>().value(i)),
        DataType::Utf8 => hashes.hash_bytes(array.as_string::<i32>().value(i).as_bytes()),
        DataType::Binary => hashes.hash_bytes(array.as_binary::<i32>().value(i)),
        DataType::Date32 => hashes.hash_date(array.as_primitive::<Date32Type>().value(i)),
        DataType::Timestamp(_, _) => {
            hashes.hash_timestamp(i128::from(array.as_primitive::<TimestampMicrosecondType>().value(i)) * 1000)
        }
        DataType::Decimal128(_, scale) => {
            hashes.hash_decimal(array.as_primitive::<Decimal128Type>().value(i), u32::from(scale.cast_unsigned()))
        }
        _ => None,
    }
}

/// Files with bloom filters on all columns of ORC Java in New York (both kinds of streams) and of pyarrow.
#[test]
fn values_of_files_are_found() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data");
    for (file, unknown_columns) in [
        ("bloom.java.orc", &["stamp Utf8", "money Original", "stamp Original", "string Original"][..]),
        ("bloom.pyarrow.orc", &["byte Utf8", "float Utf8"]),
    ] {
        let columns = check(&data.join(file));
        assert!(columns.len() >= 12, "{columns:?}");
        for column in &columns {
            let is_known = column.found > 30 && column.unknown < 2 && column.excluded > 0;
            let is_unknown = column.found == 0 && column.unknown > 30;
            assert!(is_known ^ is_unknown, "{file}: {column:?}");
        }
        for unknown_column in unknown_columns {
            assert!(
                columns.iter().any(|column| column.name == *unknown_column && column.found == 0),
                "{unknown_column}"
            );
        }
    }
}
