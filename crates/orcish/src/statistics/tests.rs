use bytes::Bytes;
use proptest::prelude::*;
use prost::Message;

use super::*;
use crate::proto::orc;
use crate::schema::Kind;
use crate::time::calendar;
use crate::writer::Writer;

/// A writer without faults.
fn sound() -> WriterContext {
    WriterContext::new(Writer::Java, 9)
        .with_software_version(Some("2.1.0"))
        .with_proleptic_calendar(true)
        .with_parents([Kind::Struct])
}

fn read(proto: &orc::ColumnStatistics, context: WriterContext) -> ColumnStatistics {
    from_proto(proto, context)
}

fn integers(minimum: i64, maximum: i64, sum: i64) -> orc::ColumnStatistics {
    let statistics = orc::IntegerStatistics { minimum: Some(minimum), maximum: Some(maximum), sum: Some(sum) };
    orc::ColumnStatistics { number_of_values: Some(10), int_statistics: Some(statistics), ..Default::default() }
}

fn doubles(minimum: f64, maximum: f64, sum: Option<f64>) -> orc::ColumnStatistics {
    let statistics = orc::DoubleStatistics { minimum: Some(minimum), maximum: Some(maximum), sum };
    orc::ColumnStatistics { double_statistics: Some(statistics), ..Default::default() }
}

fn strings(minimum: &'static str, maximum: &'static str) -> orc::ColumnStatistics {
    let statistics = orc::StringStatistics {
        minimum: Some(Bytes::from_static(minimum.as_bytes())),
        maximum: Some(Bytes::from_static(maximum.as_bytes())),
        sum: Some(7),
        ..Default::default()
    };
    orc::ColumnStatistics { string_statistics: Some(statistics), ..Default::default() }
}

fn decimals(minimum: &'static str, maximum: &'static str, sum: &'static str) -> orc::ColumnStatistics {
    let text = |text: &'static str| Some(Bytes::from_static(text.as_bytes()));
    let statistics = orc::DecimalStatistics { minimum: text(minimum), maximum: text(maximum), sum: text(sum) };
    orc::ColumnStatistics { decimal_statistics: Some(statistics), ..Default::default() }
}

fn dates(minimum: i32, maximum: i32) -> orc::ColumnStatistics {
    let statistics = orc::DateStatistics { minimum: Some(minimum), maximum: Some(maximum) };
    orc::ColumnStatistics { date_statistics: Some(statistics), ..Default::default() }
}

fn timestamps(statistics: orc::TimestampStatistics) -> orc::ColumnStatistics {
    orc::ColumnStatistics { timestamp_statistics: Some(statistics), ..Default::default() }
}

fn utc(minimum: i64, maximum: i64) -> orc::TimestampStatistics {
    orc::TimestampStatistics { minimum_utc: Some(minimum), maximum_utc: Some(maximum), ..Default::default() }
}

fn bound(value: &'static [u8], exact: bool) -> Option<Bound> {
    Some(Bound { value: Bytes::from_static(value), exact })
}

fn number(text: &str) -> Option<Decimal> {
    Decimal::parse(text.as_bytes())
}

/// (min, max, lower, upper) of timestamps, in nanoseconds.
fn times(statistics: &ColumnStatistics) -> [Option<i128>; 4] {
    let Detail::Timestamp { min, max, lower_bound, upper_bound } = statistics.detail else {
        panic!("not of timestamps: {statistics:?}")
    };
    [min, max, lower_bound, upper_bound]
}

const DAY: i64 = 86_400_000;
const HOUR_NANOS: i128 = 3_600_000_000_000;

#[test]
fn absent_statistics_are_unknown() {
    assert_eq!(read(&orc::ColumnStatistics::default(), sound()), ColumnStatistics::UNKNOWN);
    let proto = orc::ColumnStatistics {
        number_of_values: Some(3),
        has_null: Some(true),
        bytes_on_disk: Some(5),
        ..Default::default()
    };
    let expected =
        ColumnStatistics { values: Some(3), has_null: Some(true), bytes_on_disk: Some(5), detail: Detail::None };
    assert_eq!(read(&proto, sound()), expected);
}

#[test]
fn impossible_integer_statistics_are_unknown() {
    let detail = |proto, context| read(&proto, context).detail;
    assert_eq!(detail(integers(-5, 5, 20), sound()), Detail::Integer { min: Some(-5), max: Some(5), sum: Some(20) });
    assert_eq!(detail(integers(5, -5, 0), sound()), Detail::Integer { min: None, max: None, sum: Some(0) });
    // ORC-1008: ten values of at most 5 have no sum above 50.
    assert_eq!(detail(integers(-5, 5, 51), sound()), Detail::Integer { min: Some(-5), max: Some(5), sum: None });
    // ORC-1725.
    let byte = sound().with_column(Kind::Byte, None);
    assert_eq!(detail(integers(1, 255, 256), byte), Detail::Integer { min: None, max: None, sum: None });
    assert_eq!(detail(integers(-128, 127, 0), byte), Detail::Integer { min: Some(-128), max: Some(127), sum: Some(0) });
    let wide = integers(i64::MIN, i64::MAX, -1);
    assert_eq!(detail(wide, sound()), Detail::Integer { min: Some(i64::MIN), max: Some(i64::MAX), sum: Some(-1) });
}

/// ORC-1008: a sum that wrapped around can be in the range of possible sums.
#[test]
fn sums_that_may_have_wrapped_are_not_trusted() {
    let sum = |count: u64, bounds: (i64, i64), writer, release| {
        let proto = orc::ColumnStatistics { number_of_values: Some(count), ..integers(bounds.0, bounds.1, 7) };
        let context = WriterContext::new(writer, 9).with_software_version(release).with_parents([Kind::Struct]);
        match read(&proto, context).detail {
            Detail::Integer { sum, .. } => sum,
            detail => panic!("{detail:?}"),
        }
    };
    let wide = [(3, (-(1 << 61), 1 << 62)), (4, (-(1 << 61), 3)), (1 << 62, (-3, 3)), (1, (i64::MIN, 7))];
    for (count, bounds) in wide {
        for release in [None, Some("1.6.11"), Some("1.7.0")] {
            assert_eq!(sum(count, bounds, Writer::Java, release), None, "{count} {bounds:?} {release:?}");
            assert_eq!(sum(count, bounds, Writer::Cpp, release), None, "{count} {bounds:?} {release:?}");
            // It is unknown whether sums of these writers wrap around.
            for writer in [Writer::Presto, Writer::Trino, Writer::Go, Writer::Cudf, Writer::Unknown(9)] {
                assert_eq!(sum(count, bounds, writer, release), None, "{writer:?} {count} {bounds:?}");
            }
            assert_eq!(sum(count, bounds, Writer::Orcish, release), Some(7));
        }
        for release in ["1.6.12", "1.7.1", "2.0.0-SNAPSHOT"] {
            assert_eq!(sum(count, bounds, Writer::Java, Some(release)), Some(7), "{count} {bounds:?} {release:?}");
            assert_eq!(sum(count, bounds, Writer::Cpp, Some(release)), Some(7), "{count} {bounds:?} {release:?}");
        }
    }
    assert_eq!(sum(1, (-(1 << 61), 1 << 62), Writer::Java, None), Some(7));
    assert_eq!(sum(3, (-(1 << 61), 1 << 61), Writer::Java, None), Some(7));
}

#[test]
fn bounds_without_values_make_the_number_of_values_unknown() {
    let proto = orc::ColumnStatistics { number_of_values: Some(0), ..integers(1, 2, 3) };
    assert_eq!(read(&proto, sound()).values, None);
    let proto = orc::ColumnStatistics {
        number_of_values: Some(0),
        int_statistics: Some(orc::IntegerStatistics { sum: Some(0), ..Default::default() }),
        ..Default::default()
    };
    assert_eq!(read(&proto, sound()).values, Some(0));
}

#[test]
fn nan_makes_statistics_of_doubles_unknown() {
    let nothing = Detail::Double { min: None, max: None, sum: None };
    for proto in
        [doubles(1.0, 2.0, Some(f64::NAN)), doubles(f64::NAN, f64::NAN, Some(1.0)), doubles(1.0, f64::NAN, None)]
    {
        assert_eq!(read(&proto, sound()).detail, nothing);
    }
    let infinite = read(&doubles(1.0, f64::INFINITY, Some(f64::INFINITY)), sound()).detail;
    assert_eq!(infinite, Detail::Double { min: Some(1.0), max: Some(f64::INFINITY), sum: None });
    assert_eq!(read(&doubles(1.0, 2.0, None), sound()).detail, nothing);
}

#[test]
fn nan_is_excluded_by_some_writers_only() {
    let detail = |writer, sum| read(&doubles(1.0, 2.0, sum), WriterContext::new(writer, 9)).detail;
    let known = |sum| Detail::Double { min: Some(1.0), max: Some(2.0), sum };
    let nothing = Detail::Double { min: None, max: None, sum: None };
    for writer in [Writer::Java, Writer::Cpp] {
        assert_eq!([detail(writer, Some(3.0)), detail(writer, None)], [known(None), nothing.clone()], "{writer}");
    }
    for writer in [Writer::Presto, Writer::Trino] {
        assert_eq!(detail(writer, None), known(None), "{writer}");
    }
    // cuDF leaves NaN out of all three.
    for writer in [Writer::Cudf, Writer::Go, Writer::Unknown(6)] {
        assert_eq!(detail(writer, Some(3.0)), nothing, "{writer}");
    }
}

#[test]
fn strings_of_hive_before_8732_have_no_bounds() {
    let detail = |version| read(&strings("a", "z"), WriterContext::new(Writer::Java, version)).detail;
    assert_eq!(detail(0), Detail::String { min: None, max: None, total_length: Some(7) });
    assert_eq!(detail(1), Detail::String { min: bound(b"a", true), max: bound(b"z", true), total_length: Some(7) });
    // Version 0 of other writers has no such fault.
    let presto = read(&strings("a", "z"), WriterContext::new(Writer::Presto, 0)).detail;
    assert_eq!(presto, Detail::String { min: bound(b"a", true), max: bound(b"z", true), total_length: Some(7) });
}

#[test]
fn truncated_strings_are_inexact_bounds() {
    let statistics = orc::StringStatistics {
        lower_bound: Some(Bytes::from_static(b"aa")),
        upper_bound: Some(Bytes::from_static(b"zz")),
        ..Default::default()
    };
    let proto = orc::ColumnStatistics { string_statistics: Some(statistics.clone()), ..Default::default() };
    let expected = Detail::String { min: bound(b"aa", false), max: bound(b"zz", false), total_length: None };
    assert_eq!(read(&proto, sound()).detail, expected);

    let both = orc::StringStatistics { minimum: Some(Bytes::from_static(b"aaa")), sum: Some(-1), ..statistics };
    let proto = orc::ColumnStatistics { string_statistics: Some(both), ..Default::default() };
    let expected = Detail::String { min: bound(b"aaa", true), max: bound(b"zz", false), total_length: None };
    assert_eq!(read(&proto, sound()).detail, expected);
}

#[test]
fn bounds_end_before_replacement_characters() {
    // The true strings may have been b"a\x80", below b"a\xEF…", and b"b\xFF\xFF", above b"b\xEF…".
    let detail = read(&strings("a\u{FFFD}c", "b\u{FFFD}"), sound()).detail;
    assert_eq!(detail, Detail::String { min: bound(b"a", false), max: bound(b"c", false), total_length: Some(7) });
    let detail = read(&strings("\u{FFFD}", "\u{FFFD}"), sound()).detail;
    assert_eq!(detail, Detail::String { min: bound(b"", false), max: None, total_length: Some(7) });
    let detail = read(&strings("b", "a"), sound()).detail;
    assert_eq!(detail, Detail::String { min: None, max: None, total_length: Some(7) });
    // orcish writes no text that is not UTF-8.
    let detail = read(&strings("a\u{FFFD}c", "\u{FFFD}"), WriterContext::new(Writer::Orcish, 9)).detail;
    let (min, max) = (bound("a\u{FFFD}c".as_bytes(), true), bound("\u{FFFD}".as_bytes(), true));
    assert_eq!(detail, Detail::String { min, max, total_length: Some(7) });
}

#[test]
fn bounds_of_cpp_end_before_a_nul() {
    let cpp = WriterContext::new(Writer::Cpp, 6);
    let bounds = |min, max, context| match read(&strings(min, max), context).detail {
        Detail::String { min, max, .. } => (min, max),
        detail => panic!("not of strings: {detail:?}"),
    };
    // The first of a\0b, a\0m and a\0z is both minimum and maximum.
    assert_eq!(bounds("a\0m", "a\0m", cpp), (bound(b"a", false), bound(b"a\x01", false)));
    assert_eq!(bounds("a", "b\0", cpp), (bound(b"a", true), bound(b"b\x01", false)));
    assert_eq!(bounds("\0", "z", cpp), (bound(b"", false), bound(b"z", true)));
    assert_eq!(bounds("a\u{FFFD}\0", "b\u{FFFD}\0", cpp), (bound(b"a", false), bound(b"c", false)));
    assert_eq!(bounds("a\0m", "a\0m", sound()), (bound(b"a\0m", true), bound(b"a\0m", true)));
}

#[test]
fn true_counts_above_the_number_of_values_are_unknown() {
    let count = |values, count: Vec<u64>| {
        let bucket_statistics = Some(orc::BucketStatistics { count });
        let proto = orc::ColumnStatistics { number_of_values: values, bucket_statistics, ..Default::default() };
        read(&proto, sound()).detail
    };
    assert_eq!(count(Some(3), vec![2]), Detail::Boolean { true_count: Some(2) });
    assert_eq!(count(Some(1), vec![2]), Detail::Boolean { true_count: None });
    assert_eq!(count(None, vec![]), Detail::Boolean { true_count: None });
}

#[test]
fn numbers_of_elements_of_java_and_cpp_are_not_trusted() {
    let counts = orc::CollectionStatistics { min_children: Some(1), max_children: Some(4), total_children: Some(9) };
    let proto = orc::ColumnStatistics { collection_statistics: Some(counts), ..Default::default() };
    let detail = |writer| read(&proto, WriterContext::new(writer, 9)).detail;
    let known = Detail::Collection { min_children: Some(1), max_children: Some(4), total_children: Some(9) };
    let unknown = Detail::Collection { min_children: None, max_children: None, total_children: None };
    let details = [Writer::Java, Writer::Cpp, Writer::Unknown(6)].map(detail);
    assert_eq!(details, [unknown.clone(), unknown, known]);
}

#[test]
fn short_decimals_of_orc_1_5_have_no_bounds() {
    let detail = |context| read(&decimals("-1.50", "2", "0.5"), context).detail;
    let all = Detail::Decimal { min: number("-1.5"), max: number("2"), sum: None };
    let no_bounds = Detail::Decimal { min: None, max: None, sum: None };
    let java = |version| WriterContext::new(Writer::Java, version);
    assert_eq!(detail(java(0)), no_bounds);
    assert_eq!(detail(java(5)), all);
    assert_eq!(detail(java(6)), no_bounds);
    assert_eq!(detail(java(6).with_column(Kind::Decimal, Some(18))), no_bounds);
    assert_eq!(detail(java(6).with_column(Kind::Decimal, Some(19))), all);
    assert_eq!(detail(java(7)), all);
    let with_sum = Detail::Decimal { min: number("-1.5"), max: number("2"), sum: number("0.5") };
    assert_eq!(detail(WriterContext::new(Writer::Cpp, 6)), with_sum);
}

#[test]
fn decimals_that_do_not_parse_are_unknown() {
    let detail = read(&decimals("x", "1", ""), sound()).detail;
    assert_eq!(detail, Detail::Decimal { min: None, max: number("1"), sum: None });
    for text in ["", "-", ".", "+-1", "1.2.3", "1e", "1e1e1", "é", " 1", "1e99999999999", "1e39", "1e-39", "0x1"] {
        assert_eq!(number(text), None, "{text}");
    }
    assert_eq!(number(&"9".repeat(39)), None);
    assert_eq!(number("1e2147483647"), None);
    assert_eq!(number("1e-2147483648"), None);
}

#[test]
fn decimals_parse_and_print() {
    for (text, printed) in [
        ("0", "0"),
        ("-0.00", "0"),
        ("+1.50", "1.5"),
        (".5", "0.5"),
        ("5.", "5"),
        ("-0.05", "-0.05"),
        ("0E-10", "0"),
        ("0e2147483647", "0"),
        ("12e-1", "1.2"),
        ("1.2E+3", "1200"),
        ("99999999999999999999999999999999999999", "99999999999999999999999999999999999999"),
        ("0.00000000000000000000000000000000000001", "0.00000000000000000000000000000000000001"),
        ("1.00000000000000000000000000000000000000000000000000", "1"),
    ] {
        assert_eq!(number(text).expect(text).to_string(), printed, "{text}");
    }
}

#[test]
fn dates_are_converted_to_the_proleptic_calendar() {
    let julian = calendar::GREGORIAN_START_DAY - 1;
    let gregorian = calendar::days_to_proleptic(julian);
    assert_ne!(julian, gregorian);
    let context = WriterContext::new(Writer::Java, 9);
    let detail = |context| read(&dates(julian, 5), context).detail;
    assert_eq!(detail(context.with_proleptic_calendar(true)), Detail::Date { min: Some(julian), max: Some(5) });
    assert_eq!(detail(context.with_proleptic_calendar(false)), Detail::Date { min: Some(gregorian), max: Some(5) });
    assert_eq!(detail(context), Detail::Date { min: None, max: Some(5) });
    assert_eq!(detail(WriterContext::new(Writer::Java, 0)), Detail::Date { min: None, max: None });
}

#[test]
fn timestamps_have_nanoseconds_where_recorded() {
    let now = 1_700_000_000_123;
    let nanos = i128::from(now) * 1_000_000;
    let cut = read(&timestamps(utc(now, now)), sound());
    assert_eq!(times(&cut), [Some(nanos), Some(nanos), Some(nanos), Some(nanos + 999_999)]);

    let recorded = orc::TimestampStatistics { minimum_nanos: Some(2), maximum_nanos: Some(457), ..utc(now, now) };
    let (min, max) = (Some(nanos + 1), Some(nanos + 456));
    assert_eq!(times(&read(&timestamps(recorded), sound())), [min, max, min, max]);

    // Nanoseconds out of range are ignored.
    let absurd = orc::TimestampStatistics { minimum_nanos: Some(0), maximum_nanos: Some(1_000_001), ..utc(now, now) };
    assert_eq!(read(&timestamps(absurd), sound()), cut);

    let swapped = orc::TimestampStatistics { minimum_nanos: Some(458), maximum_nanos: Some(457), ..utc(now, now) };
    assert_eq!(times(&read(&timestamps(swapped), sound())), [None; 4]);
    assert_eq!(times(&read(&timestamps(utc(2, 1)), sound())), [None; 4]);
}

#[test]
fn timestamps_of_cpp_may_have_negative_nanoseconds() {
    // Statistics of pyarrow: 100 ns before -1.5 seconds and 1.2345 seconds before 1970, both minus two days.
    let (least, most) = (-2 * DAY - 1500, -2 * DAY - 1234);
    let cpp = WriterContext::new(Writer::Cpp, 6).with_software_version(Some("2.1.0")).with_proleptic_calendar(true);
    let cpp = cpp.with_column(Kind::TimestampInstant, None);
    let recorded =
        orc::TimestampStatistics { minimum_nanos: Some(-99), maximum_nanos: Some(-499_999), ..utc(least, most) };
    let nanos = |millis: i64| i128::from(millis) * 1_000_000;
    let (min, max) = (Some(nanos(least) - 100), Some(nanos(most) - 500_000));
    assert_eq!(times(&read(&timestamps(recorded), cpp)), [min, max, min, max]);
    // Absent nanoseconds may be negative.
    assert_eq!(times(&read(&timestamps(utc(least, most)), cpp))[2], Some(nanos(least) - 999_999));
    // Other writers have no negative nanoseconds.
    let sound = sound().with_column(Kind::TimestampInstant, None);
    assert_eq!(times(&read(&timestamps(recorded), sound))[2], Some(nanos(least)));
}

#[test]
fn counts_of_lists_of_cpp_without_row_index_are_not_trusted() {
    let proto = orc::ColumnStatistics { number_of_values: Some(0), has_null: Some(false), ..Default::default() };
    let cpp = WriterContext::new(Writer::Cpp, 6).with_software_version(Some("2.1.0")).with_column(Kind::List, None);
    let known = |context| {
        let statistics = read(&proto, context);
        (statistics.values, statistics.has_null)
    };
    assert_eq!(known(cpp), (None, None));
    assert_eq!(known(cpp.with_row_index(true)), (Some(0), Some(false)));
    assert_eq!(known(cpp.with_column(Kind::Struct, None)), (Some(0), Some(false)));
    assert_eq!(known(sound().with_column(Kind::List, None)), (Some(0), Some(false)));
}

#[test]
fn bounds_of_an_unknown_time_zone_are_a_day_wider() {
    let now = 400 * DAY;
    let nanos = i128::from(now) * 1_000_000;
    let wide = [None, None, Some(nanos - 25 * HOUR_NANOS), Some(nanos + 25 * HOUR_NANOS)];
    let local = orc::TimestampStatistics { minimum: Some(now), maximum: Some(now), ..Default::default() };
    assert_eq!(times(&read(&timestamps(local), WriterContext::new(Writer::Java, 5))), wide);
    assert_eq!(times(&read(&timestamps(local), WriterContext::new(Writer::Java, 0))), [None; 4]);
    assert_eq!(times(&read(&timestamps(local), sound())), wide);

    // ORC-1151.
    let cpp = WriterContext::new(Writer::Cpp, 6);
    let upper = Some(nanos + 999_999);
    let exact = [Some(nanos), Some(nanos), Some(nanos), upper];
    let at = |context| times(&read(&timestamps(utc(now, now)), context));
    assert_eq!(at(cpp), wide);
    assert_eq!(at(cpp.with_software_version(Some("1.7.4"))), wide);
    assert_eq!(at(cpp.with_software_version(Some("1.7.5"))), exact);
    assert_eq!(at(cpp.with_software_version(Some("1.8.0-SNAPSHOT"))), exact);
    assert_eq!(at(cpp.with_column(Kind::TimestampInstant, None)), exact);
}

#[test]
fn upper_bounds_near_1970_are_a_second_wider() {
    let statistics = read(&timestamps(utc(-500, -500)), sound().with_column(Kind::TimestampInstant, None));
    let nanos = -500_000_000;
    assert_eq!(times(&statistics), [Some(nanos), Some(nanos), Some(nanos), Some(nanos + 1_000_999_999)]);
}

#[test]
fn time_zone_rules_are_trusted_from_1970_to_2037() {
    let wall = sound().with_column(Kind::Timestamp, None);
    let instant = sound().with_column(Kind::TimestampInstant, None);
    let margin = |day: i64, context| {
        let nanos = i128::from(day * DAY) * 1_000_000;
        let [min, max, lower, upper] = times(&read(&timestamps(utc(day * DAY, day * DAY)), context));
        assert_eq!((min, max), (Some(nanos), Some(nanos)));
        ((nanos - lower.unwrap()) / HOUR_NANOS, (upper.unwrap() - nanos) / HOUR_NANOS)
    };
    let end_of_2037 = 68 * 365 + 17;
    for day in [-10_000, -1, 0, end_of_2037 - 1, end_of_2037, 50_000] {
        assert_eq!(margin(day, wall), (25, 25), "{day}");
        assert_eq!(margin(day, instant), (0, 0), "{day}");
    }
    for day in [3, 10_000, 20_000, end_of_2037 - 3] {
        assert_eq!(margin(day, wall), (0, 0), "{day}");
    }
}

#[test]
fn timestamps_of_cudf_have_no_bounds() {
    // The end of year 9999 after wrapping around.
    let wrapped = utc(-4_852_116_232_933, -4_852_116_232_933);
    assert_eq!(times(&read(&timestamps(wrapped), WriterContext::new(Writer::Cudf, 7))), [None; 4]);
}

#[test]
fn counts_of_lists_and_structs_of_cudf_are_not_trusted() {
    let known = |kind, has_null| {
        let proto = orc::ColumnStatistics { number_of_values: Some(1), has_null, ..Default::default() };
        let statistics = read(&proto, WriterContext::new(Writer::Cudf, 7).with_column(kind, None));
        (statistics.values, statistics.has_null)
    };
    for kind in [Kind::List, Kind::Map, Kind::Struct, Kind::Union] {
        assert_eq!(known(kind, Some(false)), (None, None), "{kind:?}");
        assert_eq!(known(kind, Some(true)), (None, Some(true)), "{kind:?}");
    }
    assert_eq!(known(Kind::Int, Some(false)), (Some(1), Some(false)));
}

#[test]
fn integer_statistics_of_dates_are_accepted() {
    let date = |context: WriterContext| context.with_column(Kind::Date, None);
    let detail = |min, max, context| read(&integers(min, max, 0), date(context)).detail;
    assert_eq!(detail(-5, 7, sound()), Detail::Date { min: Some(-5), max: Some(7) });
    assert_eq!(detail(i64::MIN, 7, sound()), Detail::Date { min: None, max: Some(7) });
    let julian = WriterContext::new(Writer::Cudf, 7);
    let stated = julian.with_proleptic_calendar(false);
    let converted = calendar::days_to_proleptic(-200_000);
    assert_eq!(detail(-200_000, 7, julian), Detail::Date { min: None, max: Some(7) });
    assert_eq!(detail(-200_000, 7, stated), Detail::Date { min: Some(converted), max: Some(7) });
}

#[test]
fn statistics_of_another_type_are_not_trusted() {
    let detail = |proto: &orc::ColumnStatistics, kind| read(proto, sound().with_column(kind, None)).detail;
    for kind in [Kind::Boolean, Kind::Float, Kind::String, Kind::Timestamp, Kind::Decimal, Kind::List, Kind::Struct] {
        assert_eq!(detail(&integers(1, 2, 15), kind), Detail::None, "{kind:?}");
    }
    for kind in [Kind::Byte, Kind::Short, Kind::Int, Kind::Long] {
        assert_ne!(detail(&integers(1, 2, 15), kind), Detail::None, "{kind:?}");
    }
    assert_eq!(detail(&dates(1, 2), Kind::Int), Detail::None);
    assert_eq!(detail(&strings("a", "b"), Kind::Binary), Detail::None);
    assert_eq!(detail(&doubles(1.0, 2.0, Some(3.0)), Kind::Long), Detail::None);
}

#[test]
fn julian_timestamps_are_converted() {
    let julian = (calendar::GREGORIAN_START_SECOND - 86_400) * 1000;
    let proto = timestamps(utc(julian, 400 * DAY));
    let converted = i128::from(calendar::seconds_to_proleptic(julian / 1000)) * 1_000_000_000;
    let context = WriterContext::new(Writer::Java, 9).with_column(Kind::TimestampInstant, None);
    let [min, _, lower, upper] = times(&read(&proto, context.with_proleptic_calendar(false)));
    assert_eq!((min, lower), (Some(converted), Some(converted - 24 * HOUR_NANOS)));
    assert!(upper.is_some());
    let [min, _, lower, upper] = times(&read(&proto, context));
    assert_eq!((min, lower), (None, None));
    assert!(upper.is_some());
}

#[test]
fn has_null_of_old_cpp_is_trusted_when_true() {
    let has_null = |has_null, context| {
        let proto = orc::ColumnStatistics { has_null, ..Default::default() };
        read(&proto, context).has_null
    };
    let cpp = WriterContext::new(Writer::Cpp, 6).with_parents([Kind::Struct]);
    assert_eq!(has_null(Some(false), cpp), None);
    assert_eq!(has_null(Some(true), cpp), Some(true));
    assert_eq!(has_null(Some(false), cpp.with_software_version(Some("1.7.11"))), None);
    assert_eq!(has_null(Some(false), cpp.with_software_version(Some("1.8.0"))), Some(false));
    assert_eq!(has_null(Some(false), sound()), Some(false));
    assert_eq!(has_null(None, sound()), None);
}

/// Ancestors of a column from the parent to the root, whether it is a field of a nullable struct, and whether it is below a
/// list or map.
const NESTINGS: [(&[Kind], bool, bool); 6] = [
    (&[Kind::Struct], false, false),
    (&[Kind::Struct, Kind::Struct], true, false),
    (&[Kind::List, Kind::Struct], false, true),
    (&[Kind::List, Kind::Struct, Kind::Struct], false, true),
    (&[Kind::Struct, Kind::Map, Kind::Struct], true, true),
    (&[Kind::Union, Kind::Struct, Kind::Struct], false, false),
];

#[test]
fn nulls_of_struct_fields_are_not_trusted_where_nulls_of_structs_count() {
    let has_null_of = |writer, software, has_null, parents: &[Kind]| {
        let proto = orc::ColumnStatistics { has_null: Some(has_null), ..Default::default() };
        let context = WriterContext::new(writer, 9).with_software_version(Some(software));
        read(&proto, context.with_parents(parents.iter().copied())).has_null
    };
    let has_null = |writer, has_null, parents: &[Kind]| has_null_of(writer, "2.3.1", has_null, parents);
    for (parents, is_struct_field, _) in NESTINGS {
        assert_eq!(has_null(Writer::Cpp, true, parents), (!is_struct_field).then_some(true), "{parents:?}");
        assert_eq!(has_null(Writer::Cpp, false, parents), Some(false), "{parents:?}");
        assert_eq!(has_null(Writer::Java, true, parents), Some(true), "{parents:?}");
        assert_eq!(has_null_of(Writer::Orcish, "orcish 0.1.0", true, parents), Some(true), "{parents:?}");
        let of_orcish = has_null_of(Writer::Orcish, Writer::ORCISH_SOFTWARE, true, parents);
        assert_eq!(of_orcish, (!is_struct_field).then_some(true), "{parents:?}");
        assert_eq!(has_null_of(Writer::Orcish, Writer::ORCISH_SOFTWARE, false, parents), Some(false), "{parents:?}");
    }
}

/// Observed with ORC Java 1.4.4, 1.5.13, 1.6.14 and 2.3.0, and with C++ 1.7.
#[test]
fn sums_of_repeating_vectors_are_not_trusted() {
    let at = |writer, release, kind, parents: &[Kind]| {
        let context = WriterContext::new(writer, 9).with_software_version(release).with_column(kind, Some(10));
        context.with_parents(parents.iter().copied())
    };
    let sum = |proto, context| match read(&proto, context).detail {
        Detail::Integer { sum, .. } => sum.map(|sum| sum.to_string()),
        Detail::Double { sum, .. } => sum.map(|sum| sum.to_string()),
        Detail::Decimal { sum, .. } => sum.map(|sum| sum.to_string()),
        detail => panic!("{detail:?}"),
    };
    let number = |text: &str| Some(text.to_owned());
    for (parents, _, is_repeated) in NESTINGS {
        for release in [None, Some("1.5.13"), Some("1.6.14"), Some("1.7.0"), Some("1.7.1"), Some("2.3.0")] {
            let java = |kind| at(Writer::Java, release, kind, parents);
            assert_eq!(sum(doubles(1.0, 2.0, Some(30.0)), java(Kind::Double)), None);
            assert_eq!(sum(doubles(1.0, 2.0, Some(30.0)), java(Kind::Float)), None);
            assert_eq!(sum(decimals("1", "2", "3"), java(Kind::Decimal)), None);
            let has_fault = is_repeated && !matches!(release, None | Some("1.5.13" | "1.7.0"));
            let expected = if has_fault { None } else { number("20") };
            assert_eq!(sum(integers(-5, 5, 20), java(Kind::Int)), expected, "{parents:?} {release:?}");
            for writer in [Writer::Cpp, Writer::Orcish] {
                let other = |kind| at(writer, release, kind, parents);
                assert_eq!(sum(doubles(1.0, 2.0, Some(30.0)), other(Kind::Double)), number("30"));
                let of_float = sum(doubles(1.0, 2.0, Some(30.0)), other(Kind::Float));
                assert_eq!(of_float, if writer == Writer::Cpp { None } else { number("30") });
                assert_eq!(sum(decimals("1", "2", "3"), other(Kind::Decimal)), number("3"));
                assert_eq!(sum(integers(-5, 5, 20), other(Kind::Int)), number("20"));
            }
        }
    }
    // The bounds are trusted.
    let known = Detail::Double { min: Some(1.0), max: Some(2.0), sum: None };
    assert_eq!(read(&doubles(1.0, 2.0, Some(30.0)), sound()).detail, known);
}

/// Old releases of cuDF record neither a writer nor a version.
#[test]
fn counts_of_lists_of_java_version_0_are_not_trusted() {
    let known = |version, kind, parents: &[Kind]| {
        let proto = orc::ColumnStatistics { number_of_values: Some(1), has_null: Some(false), ..Default::default() };
        let context = WriterContext::new(Writer::Java, version).with_column(kind, None);
        let found = read(&proto, context.with_parents(parents.iter().copied()));
        (found.values, found.has_null)
    };
    for kind in [Kind::List, Kind::Map, Kind::Struct, Kind::Union] {
        assert_eq!(known(0, kind, &[Kind::Struct]), (None, None));
        assert_eq!(known(1, kind, &[Kind::Struct]), (Some(1), Some(false)));
    }
    // The root has the number of rows as its number of values, or 0 where nothing was counted.
    assert_eq!(known(0, Kind::Struct, &[]), (Some(1), Some(false)));
    assert_eq!(known(0, Kind::Int, &[Kind::List, Kind::Struct]), (Some(1), Some(false)));
}

#[test]
fn incomplete_axes_of_bounding_boxes_are_unknown() {
    let bbox = orc::BoundingBox {
        xmin: Some(170.0),
        xmax: Some(-170.0),
        ymin: Some(2.0),
        ymax: Some(1.0),
        zmin: Some(0.0),
        zmax: Some(f64::NAN),
        mmin: Some(1.0),
        mmax: Some(2.0),
    };
    let statistics = orc::GeospatialStatistics { bbox: Some(bbox), geospatial_types: vec![3, 1, 3] };
    let proto = orc::ColumnStatistics { geospatial_statistics: Some(statistics), ..Default::default() };
    let bounding_box = BoundingBox { x: Some((170.0, -170.0)), y: None, z: None, m: Some((1.0, 2.0)) };
    let across = Detail::Geospatial { bounding_box, types: vec![1, 3] };
    let mut statistics = read(&proto, sound());
    assert_eq!(statistics.detail, across);
    let near = BoundingBox { x: Some((0.0, 1.0)), y: None, z: None, m: Some((-1.0, 1.0)) };
    statistics.merge(&ColumnStatistics {
        detail: Detail::Geospatial { bounding_box: near, types: vec![2] },
        ..ColumnStatistics::UNKNOWN
    });
    let bounding_box = BoundingBox { x: None, y: None, z: None, m: Some((-1.0, 2.0)) };
    assert_eq!(statistics.detail, Detail::Geospatial { bounding_box, types: vec![1, 2, 3] });
}

#[test]
fn merging_keeps_numbers_known_on_both_sides() {
    let full = |detail| ColumnStatistics { values: Some(1), has_null: Some(false), bytes_on_disk: Some(2), detail };
    let mut a = full(Detail::Integer { min: Some(1), max: Some(2), sum: Some(i64::MAX) });
    a.merge(&full(Detail::Integer { min: Some(0), max: None, sum: Some(1) }));
    let detail = Detail::Integer { min: Some(0), max: None, sum: None };
    assert_eq!(a, ColumnStatistics { values: Some(2), has_null: Some(false), bytes_on_disk: Some(4), detail });

    let mut a = full(Detail::String { min: bound(b"b", false), max: bound(b"y", false), total_length: Some(1) });
    a.merge(&full(Detail::String { min: bound(b"b", true), max: bound(b"x", true), total_length: Some(2) }));
    let detail = Detail::String { min: bound(b"b", true), max: bound(b"y", false), total_length: Some(3) };
    assert_eq!(a.detail, detail);

    a.merge(&full(Detail::Boolean { true_count: Some(1) }));
    assert_eq!(a.detail, Detail::None);
}

/// A sum of NaN means that a value is NaN. Both kinds of merging keep it, in any order.
#[test]
fn merging_keeps_a_sum_of_nan() {
    let full = |sum| ColumnStatistics {
        values: Some(1),
        detail: Detail::Double { min: Some(0.0), max: Some(1.0), sum },
        ..ColumnStatistics::EMPTY
    };
    let none = Detail::Double { min: None, max: None, sum: Some(f64::NAN) };
    let only_nan = ColumnStatistics { detail: none, ..full(None) };
    let nan = full(Some(f64::NAN));
    let others = [full(Some(1.0)), full(None), full(Some(f64::INFINITY)), only_nan, ColumnStatistics::EMPTY];
    let mut pairs: Vec<_> =
        others.into_iter().flat_map(|other| [(nan.clone(), other.clone()), (other, nan.clone())]).collect();
    // The sum of infinities of both signs is NaN, too.
    pairs.push((full(Some(f64::INFINITY)), full(Some(f64::NEG_INFINITY))));
    for (a, b) in pairs {
        let mut merged = a.clone();
        merged.merge(&b);
        assert!(matches!(merged.detail, Detail::Double { sum: Some(sum), .. } if sum.is_nan()), "{a:?} {b:?}");
        let mut merged = to_proto(&a);
        merge_proto(&mut merged, &to_proto(&b));
        assert!(merged.double_statistics.unwrap().sum().is_nan(), "{a:?} {b:?}");
    }
}

#[test]
fn sums_of_nan_are_kept_for_trusted_writers() {
    let nan = |writer| read(&doubles(1.0, 2.0, Some(f64::NAN)), WriterContext::new(writer, 9)).detail;
    for (writer, is_known) in [(Writer::Orcish, true), (Writer::Java, false)] {
        let Detail::Double { min: None, max: None, sum } = nan(writer) else { panic!("{writer}") };
        assert_eq!(sum.is_some_and(f64::is_nan), is_known, "{writer}");
    }
}

prop_compose! {
    fn any_decimal()(unscaled in any::<i128>(), scale in 0..=38u32) -> Decimal {
        Decimal::new(unscaled, scale).unwrap()
    }
}

prop_compose! {
    fn any_proto()(
        values in any::<Option<u64>>(),
        has_null in any::<Option<bool>>(),
        which in 0..11usize,
        a in any::<Option<i64>>(),
        b in any::<Option<i64>>(),
        c in any::<Option<i64>>(),
        nanos in any::<Option<i32>>(),
        text in any::<Option<(String, String)>>(),
    ) -> orc::ColumnStatistics {
        let mut proto = orc::ColumnStatistics { number_of_values: values, has_null, ..Default::default() };
        let (x, y) = text.map_or((None, None), |(x, y)| (Some(Bytes::from(x)), Some(Bytes::from(y))));
        let float = |bits: Option<i64>| bits.map(|bits| f64::from_bits(bits as u64));
        match which {
            0 => proto.int_statistics = Some(orc::IntegerStatistics { minimum: a, maximum: b, sum: c }),
            1 => proto.double_statistics = Some(orc::DoubleStatistics { minimum: float(a), maximum: float(b), sum: float(c) }),
            2 => proto.string_statistics = Some(orc::StringStatistics { minimum: x, upper_bound: y, sum: c, ..Default::default() }),
            3 => proto.bucket_statistics = Some(orc::BucketStatistics { count: a.into_iter().map(|a| a as u64).collect() }),
            4 => proto.decimal_statistics = Some(orc::DecimalStatistics {
                minimum: a.map(|a| a.to_string().into()), maximum: b.map(|b| format!("{b}E{}", c.unwrap_or(0) % 60).into()), sum: x,
            }),
            5 => proto.date_statistics = Some(orc::DateStatistics { minimum: a.and_then(|a| a.try_into().ok()), maximum: b.and_then(|b| b.try_into().ok()) }),
            6 => proto.binary_statistics = Some(orc::BinaryStatistics { sum: a }),
            7 => proto.timestamp_statistics = Some(orc::TimestampStatistics {
                minimum_utc: a, maximum_utc: b, minimum_nanos: nanos, maximum: c, ..Default::default()
            }),
            8 => proto.collection_statistics = Some(orc::CollectionStatistics {
                min_children: a.map(|a| a as u64), max_children: b.map(|b| b as u64), total_children: c.map(|c| c as u64),
            }),
            9 => proto.geospatial_statistics = Some(orc::GeospatialStatistics {
                bbox: Some(orc::BoundingBox { xmin: float(a), xmax: float(b), ymin: float(b), ymax: float(c), ..Default::default() }),
                geospatial_types: nanos.into_iter().collect(),
            }),
            _ => {}
        }
        proto
    }
}

prop_compose! {
    fn any_context()(
        writer in 0..7u32,
        version in 0..10u32,
        release in proptest::option::of("[0-9]{0,3}[.][0-9]{0,12}[.-][a-z0-9]{0,3}"),
        proleptic in any::<Option<bool>>(),
        kind in proptest::option::of(proptest::sample::select(&[
            Kind::Byte, Kind::Short, Kind::Int, Kind::Long, Kind::Decimal, Kind::Timestamp, Kind::TimestampInstant,
            Kind::Date, Kind::Double, Kind::String, Kind::List,
        ][..])),
    ) -> WriterContext {
        let mut context = WriterContext::new(Writer::from_code(Some(writer)), version).with_software_version(release.as_deref());
        if let Some(proleptic) = proleptic {
            context = context.with_proleptic_calendar(proleptic);
        }
        match kind {
            Some(kind) => context.with_column(kind, Some(18)),
            None => context,
        }
    }
}

/// Whether the bounds of `part` are within the bounds of `whole`.
fn is_within(part: &Detail, whole: &Detail) -> bool {
    fn le<T: PartialOrd>(a: &Option<T>, b: &Option<T>) -> bool {
        a.is_none() || b.is_none() || a <= b
    }
    match (part, whole) {
        (Detail::Integer { min: a, max: b, .. }, Detail::Integer { min: c, max: d, .. }) => le(c, a) && le(b, d),
        (Detail::Double { min: a, max: b, .. }, Detail::Double { min: c, max: d, .. }) => le(c, a) && le(b, d),
        (Detail::Decimal { min: a, max: b, .. }, Detail::Decimal { min: c, max: d, .. }) => le(c, a) && le(b, d),
        (Detail::Date { min: a, max: b }, Detail::Date { min: c, max: d }) => le(c, a) && le(b, d),
        (Detail::String { min: a, max: b, .. }, Detail::String { min: c, max: d, .. }) => {
            let value = |bound: &Option<Bound>| bound.as_ref().map(|bound| bound.value.clone());
            le(&value(c), &value(a)) && le(&value(b), &value(d))
        }
        (
            Detail::Timestamp { lower_bound: a, upper_bound: b, .. },
            Detail::Timestamp { lower_bound: c, upper_bound: d, .. },
        ) => le(c, a) && le(b, d),
        _ => true,
    }
}

proptest! {
    #[test]
    fn any_bytes_give_statistics(bytes in proptest::collection::vec(any::<u8>(), 0..64), context in any_context()) {
        if let Ok(proto) = orc::ColumnStatistics::decode(bytes.as_slice()) {
            read(&proto, context);
        }
    }

    #[test]
    fn bounds_are_in_order(proto in any_proto(), context in any_context()) {
        match read(&proto, context).detail {
            Detail::Integer { min: Some(min), max: Some(max), .. } => prop_assert!(min <= max),
            Detail::Double { min: Some(min), max: Some(max), .. } => prop_assert!(min <= max),
            Detail::String { min: Some(min), max: Some(max), .. } => prop_assert!(min.value <= max.value),
            Detail::Decimal { min: Some(min), max: Some(max), .. } => prop_assert!(min <= max),
            Detail::Date { min: Some(min), max: Some(max) } => prop_assert!(min <= max),
            Detail::Timestamp { min, max, lower_bound, upper_bound } => {
                prop_assert!(min.is_none() || lower_bound.is_some() && lower_bound <= min);
                prop_assert!(max.is_none() || upper_bound.is_some() && max <= upper_bound);
            }
            _ => {}
        }
    }

    #[test]
    fn merging_is_sound(a in any_proto(), b in any_proto(), context in any_context()) {
        let (a, b) = (read(&a, context), read(&b, context));
        let (mut ab, mut ba) = (a.clone(), b.clone());
        ab.merge(&b);
        ba.merge(&a);
        // NaN is not equal to itself.
        let text = |detail: &Detail| format!("{detail:?}");
        prop_assert_eq!((ab.values, ab.has_null, text(&ab.detail)), (ba.values, ba.has_null, text(&ba.detail)));
        if a.values != Some(0) && b.values != Some(0) {
            prop_assert!(is_within(&a.detail, &ab.detail) && is_within(&b.detail, &ab.detail));
        }
        let mut same = a.clone();
        same.merge(&ColumnStatistics::EMPTY);
        let mut other = ColumnStatistics::EMPTY;
        other.merge(&a);
        // An unknown size stays unknown, as sizes are added.
        prop_assert_eq!((same.values, same.has_null), (a.values, a.has_null));
        prop_assert_eq!((other.values, text(&other.detail)), (a.values, text(&a.detail)));
        if a.values != Some(0) {
            prop_assert_eq!(text(&same.detail), text(&a.detail));
        }
    }

    #[test]
    fn decimals_keep_their_value(decimal in any_decimal()) {
        prop_assume!(decimal.unscaled() > i128::MIN);
        prop_assert_eq!(Decimal::parse(decimal.to_string().as_bytes()), Some(decimal));
    }

    #[test]
    fn decimals_order_as_numbers(a in -10_000i64..10_000, b in -10_000i64..10_000, p in 0..3u32, q in 0..3u32) {
        let (x, y) = (Decimal::new(a.into(), p).unwrap(), Decimal::new(b.into(), q).unwrap());
        let (left, right) = (a * 10i64.pow(q), b * 10i64.pow(p));
        prop_assert_eq!(x.cmp(&y), left.cmp(&right));
        prop_assert_eq!(x == y, left == right);
        prop_assert_eq!(x.checked_add(y), Decimal::new((left + right).into(), p + q));
    }

    #[test]
    fn decimals_order_at_any_size(a in any_decimal(), b in any_decimal()) {
        prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        prop_assert_eq!(a.cmp(&b).is_eq(), a == b);
        let _ = a.checked_add(b);
    }
}

#[test]
fn merged_statistics_do_not_reference_footers() {
    let of_text = |minimum: &'static str, maximum: &'static str| orc::ColumnStatistics {
        number_of_values: Some(2),
        string_statistics: Some(orc::StringStatistics {
            minimum: Some(minimum.into()),
            upper_bound: Some(maximum.into()),
            ..Default::default()
        }),
        ..Default::default()
    };
    let of_decimals = orc::ColumnStatistics {
        decimal_statistics: Some(orc::DecimalStatistics { sum: Some("12.5".into()), ..Default::default() }),
        ..of_text("a", "z")
    };
    let none = orc::ColumnStatistics { number_of_values: Some(0), ..Default::default() };
    for (first, second) in [(of_text("b", "c"), of_text("a", "d")), (none, of_decimals)] {
        let footer = bytes::Bytes::from(second.encode_to_vec());
        let decoded = orc::ColumnStatistics::decode(footer.clone()).unwrap();
        let mut merged = first;
        merge_proto(&mut merged, &decoded);
        assert_eq!(merged.string_statistics, decoded.string_statistics);
        drop(decoded);
        assert!(footer.is_unique());
        let decimals = merged.decimal_statistics.as_ref().map_or(0, |_| 4);
        assert_eq!(heap_size(&merged), 2 + decimals);
    }
}
