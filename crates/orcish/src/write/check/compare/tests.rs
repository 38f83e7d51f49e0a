use orcish_core::statistics::{Bound, Decimal};

use super::*;

/// A file of orcish.
const ORCISH: CompareOptions =
    CompareOptions { is_orcish: true, exact_bounds: true, timestamp_unit_nanos: 1, scale: 2 };
/// A file of another writer, whose bounds are values of the column.
const EXACT: CompareOptions = CompareOptions { is_orcish: false, ..ORCISH };
/// A file of another writer, whose bounds may be wider.
const WIDE: CompareOptions = CompareOptions { exact_bounds: false, ..EXACT };

fn statistics(detail: Detail) -> ColumnStatistics {
    ColumnStatistics { values: Some(3), has_null: Some(true), bytes_on_disk: None, detail }
}

/// The number of messages for a file of orcish, for exact bounds, and for wide bounds.
fn num_messages(recorded: &ColumnStatistics, computed: &ColumnStatistics) -> [usize; 3] {
    [ORCISH, EXACT, WIDE].map(|options| compare_statistics(recorded, computed, &options).len())
}

fn truncated(value: &str) -> Bound {
    Bound { value: value.as_bytes().to_vec().into(), exact: false }
}

fn exact(value: &str) -> Bound {
    Bound { value: value.as_bytes().to_vec().into(), exact: true }
}

fn decimal(unscaled: i128) -> Decimal {
    Decimal::new(unscaled, 2).unwrap()
}

/// Recorded statistics, with their name and the number of messages.
type Recorded = (&'static str, Detail, [usize; 3]);

/// Computed statistics of each type, with recorded statistics that differ.
fn details_of_all_types() -> Vec<(Detail, Vec<Recorded>)> {
    use Detail as D;
    let integer = |min, max, sum| D::Integer { min, max, sum };
    let double = |min, max, sum| D::Double { min, max, sum };
    let string = |min, max, total_length| D::String { min, max, total_length };
    let digits = |min: Option<i128>, max: Option<i128>, sum: Option<i128>| D::Decimal {
        min: min.map(decimal),
        max: max.map(decimal),
        sum: sum.map(decimal),
    };
    let stamp = |min, max, lower_bound, upper_bound| D::Timestamp { min, max, lower_bound, upper_bound };
    let collection =
        |min_children, max_children, total_children| D::Collection { min_children, max_children, total_children };
    let text = |min, max, length| string(Some(exact(min)), Some(exact(max)), Some(length));
    vec![
        (
            integer(Some(2), Some(9), Some(15)),
            vec![
                ("narrower", integer(Some(3), Some(8), Some(15)), [2, 2, 2]),
                ("wider", integer(Some(1), Some(10), Some(15)), [2, 2, 0]),
                ("sum", integer(Some(2), Some(9), Some(16)), [1, 1, 1]),
                ("no sum", integer(Some(2), Some(9), None), [1, 0, 0]),
                ("no least", integer(None, Some(9), Some(15)), [1, 0, 0]),
                ("no greatest", integer(Some(2), None, Some(15)), [1, 0, 0]),
                ("nothing", D::None, [1, 0, 0]),
            ],
        ),
        (
            double(Some(2.0), Some(9.0), Some(15.0)),
            vec![
                ("narrower", double(Some(3.0), Some(8.0), Some(15.0)), [2, 2, 2]),
                ("wider", double(Some(1.0), Some(10.0), Some(15.0)), [2, 2, 0]),
                ("sum", double(Some(2.0), Some(9.0), Some(15.5)), [1, 1, 1]),
                ("rounded", double(Some(2.0), Some(9.0), Some(15.000_000_000_000_002)), [0, 0, 0]),
                ("no least", double(None, Some(9.0), Some(15.0)), [1, 0, 0]),
                ("no greatest", double(Some(2.0), None, Some(15.0)), [1, 0, 0]),
            ],
        ),
        (
            // Rows with a NaN have no bounds.
            double(None, None, Some(f64::NAN)),
            vec![
                ("bounds", double(Some(1.0), Some(2.0), Some(3.0)), [1, 1, 1]),
                ("a bound", double(None, Some(2.0), None), [1, 1, 1]),
                ("no mark", double(None, None, None), [1, 0, 0]),
            ],
        ),
        (
            text("b", "y", 10),
            vec![
                ("narrower", text("c", "x", 10), [2, 2, 2]),
                ("wider", text("a", "z", 10), [2, 2, 0]),
                ("length", text("b", "y", 11), [1, 1, 1]),
                ("no length", string(Some(exact("b")), Some(exact("y")), None), [1, 0, 0]),
                ("no least", string(None, Some(exact("y")), Some(10)), [1, 0, 0]),
                ("no greatest", string(Some(exact("b")), None, Some(10)), [1, 0, 0]),
                ("truncated", string(Some(truncated("a")), Some(truncated("z")), Some(10)), [0, 0, 0]),
                ("truncated to the value", string(Some(truncated("b")), Some(truncated("y")), Some(10)), [0, 0, 0]),
                (
                    "truncated to narrower bounds",
                    string(Some(truncated("c")), Some(truncated("x")), Some(10)),
                    [2, 2, 2],
                ),
            ],
        ),
        (
            // The computed bounds are truncated.
            string(Some(truncated("b")), Some(truncated("y")), Some(5000)),
            vec![
                ("narrower", string(Some(truncated("c")), Some(truncated("x")), Some(5000)), [2, 0, 0]),
                ("wider", string(Some(truncated("a")), Some(truncated("z")), Some(5000)), [0, 0, 0]),
                ("longer", string(Some(exact("ba")), Some(exact("xz")), Some(5000)), [0, 0, 0]),
                ("beyond", string(Some(exact("a")), Some(exact("z")), Some(5000)), [2, 2, 0]),
            ],
        ),
        (
            D::Boolean { true_count: Some(2) },
            vec![
                ("count", D::Boolean { true_count: Some(1) }, [1, 1, 1]),
                ("no count", D::Boolean { true_count: None }, [1, 0, 0]),
            ],
        ),
        (
            digits(Some(2), Some(9), Some(15)),
            vec![
                ("narrower", digits(Some(3), Some(8), Some(15)), [2, 2, 2]),
                ("wider", digits(Some(1), Some(10), Some(15)), [2, 2, 0]),
                ("sum", digits(Some(2), Some(9), Some(16)), [1, 1, 1]),
                ("no least", digits(None, Some(9), Some(15)), [1, 0, 0]),
                ("no greatest", digits(Some(2), None, Some(15)), [1, 0, 0]),
                (
                    "more digits than are read",
                    D::Decimal { min: Decimal::new(15, 3), max: Some(decimal(9)), sum: None },
                    [0, 0, 0],
                ),
            ],
        ),
        (
            D::Date { min: Some(2), max: Some(9) },
            vec![
                ("narrower", D::Date { min: Some(3), max: Some(8) }, [2, 2, 2]),
                ("wider", D::Date { min: Some(1), max: Some(10) }, [2, 2, 0]),
                ("no least", D::Date { min: None, max: Some(9) }, [1, 0, 0]),
                ("no greatest", D::Date { min: Some(2), max: None }, [1, 0, 0]),
            ],
        ),
        (
            stamp(Some(2), Some(9), Some(2), Some(9)),
            vec![
                ("narrower bounds", stamp(Some(2), Some(9), Some(3), Some(8)), [2, 2, 2]),
                ("wider bounds", stamp(Some(2), Some(9), Some(1), Some(10)), [0, 0, 0]),
                ("other values", stamp(Some(3), Some(8), Some(2), Some(9)), [2, 0, 0]),
                ("no lower bound", stamp(Some(2), Some(9), None, Some(9)), [1, 0, 0]),
                ("no upper bound", stamp(Some(2), Some(9), Some(2), None), [1, 0, 0]),
            ],
        ),
        (
            // Bounds of more than 64 bits of milliseconds cannot be recorded.
            stamp(None, None, Some(0), Some(i128::from(i64::MAX) * NANOS_PER_MILLI + NANOS_PER_MILLI)),
            vec![("nothing", stamp(None, None, None, None), [0, 0, 0])],
        ),
        (
            // The maximum of 64 bits of milliseconds can be recorded.
            stamp(None, None, Some(0), Some(i128::from(i64::MAX) * NANOS_PER_MILLI + NANOS_PER_MILLI - 1)),
            vec![("nothing", stamp(None, None, None, None), [1, 0, 0])],
        ),
        (
            D::Binary { total_length: Some(4) },
            vec![
                ("length", D::Binary { total_length: Some(5) }, [1, 1, 1]),
                ("no length", D::Binary { total_length: None }, [1, 0, 0]),
            ],
        ),
        (
            collection(Some(2), Some(9), Some(15)),
            vec![
                ("narrower", collection(Some(3), Some(8), Some(15)), [2, 2, 2]),
                ("wider", collection(Some(1), Some(10), Some(15)), [2, 2, 0]),
                ("total", collection(Some(2), Some(9), Some(16)), [1, 1, 1]),
                ("no least", collection(None, Some(9), Some(15)), [1, 0, 0]),
                ("no greatest", collection(Some(2), None, Some(15)), [1, 0, 0]),
            ],
        ),
    ]
}

#[test]
fn different_details_are_found() {
    for (computed, cases) in details_of_all_types() {
        let own = statistics(computed.clone());
        assert_eq!(num_messages(&own, &own), [0, 0, 0], "{computed:?}");
        for (name, recorded, expected) in cases {
            assert_eq!(num_messages(&statistics(recorded), &own), expected, "{name} of {computed:?}");
        }
    }
}

#[test]
fn counts_of_values_are_compared() {
    let computed = statistics(Detail::None);
    let values = |values| ColumnStatistics { values, ..computed.clone() };
    assert_eq!(num_messages(&values(Some(4)), &computed), [1, 1, 1]);
    assert_eq!(num_messages(&values(None), &computed), [1, 0, 0]);
    let has_null = |has_null| ColumnStatistics { has_null, ..computed.clone() };
    assert_eq!(num_messages(&has_null(Some(false)), &computed), [1, 1, 1]);
    assert_eq!(num_messages(&has_null(None), &computed), [0, 0, 0]);
    // The computed statistics of columns that cannot be read are unknown.
    assert_eq!(num_messages(&computed, &ColumnStatistics::UNKNOWN), [0, 0, 0]);
}

#[test]
fn sums_that_may_have_overflowed_may_be_missing() {
    let integers = |max: i64, sum| statistics(Detail::Integer { min: Some(0), max: Some(max), sum });
    // Three values of at most a third of the largest integer cannot overflow.
    for (max, expected) in [(i64::MAX / 3, 1), (i64::MAX / 3 + 1, 0)] {
        assert_eq!(num_messages(&integers(max, None), &integers(max, Some(max)))[0], expected, "{max}");
    }
}

#[test]
fn sums_of_infinite_numbers_are_compared() {
    let doubles = |min, max, sum| statistics(Detail::Double { min: Some(min), max: Some(max), sum: Some(sum) });
    let infinite = |sum| doubles(1.0, f64::INFINITY, sum);
    assert_eq!(num_messages(&infinite(f64::INFINITY), &infinite(f64::INFINITY)), [0, 0, 0]);
    assert_eq!(num_messages(&infinite(1.0), &infinite(f64::INFINITY)), [1, 1, 1]);
    // Whether a sum of finite numbers becomes infinite depends on the order of additions.
    let finite = |sum| doubles(f64::MIN, f64::MAX, sum);
    assert_eq!(num_messages(&finite(f64::INFINITY), &finite(f64::MAX)), [0, 0, 0]);
}

#[test]
fn timestamps_are_compared_in_their_unit() {
    let stamps = |lower, upper| {
        statistics(Detail::Timestamp { min: None, max: None, lower_bound: Some(lower), upper_bound: Some(upper) })
    };
    let messages = |recorded: &ColumnStatistics, timestamp_unit_nanos| {
        let options = CompareOptions { timestamp_unit_nanos, ..WIDE };
        compare_statistics(recorded, &stamps(1_000, 9_000), &options).len()
    };
    assert_eq!(messages(&stamps(1_999, 9_000), 1), 1);
    assert_eq!(messages(&stamps(1_999, 9_000), 1_000), 0);
    assert_eq!(messages(&stamps(2_000, 9_000), 1_000), 1);
    assert_eq!(messages(&stamps(1_000, 8_999), 1_000), 1);
}
