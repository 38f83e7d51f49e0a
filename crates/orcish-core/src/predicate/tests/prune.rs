//! Results of pruning are sound for the values that the statistics were computed from.

#![allow(clippy::cast_possible_truncation, reason = "values are rounded as they are when they are read")]

use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::statistics::{Bound, ColumnStatistics, Decimal, Detail};

/// Read values of a column with their statistics.
#[derive(Debug)]
struct Rows {
    domain: Domain,
    may_become_null: bool,
    values: Vec<Value>,
    statistics: ColumnStatistics,
    is_root_column: bool,
}

/// A stored value: an integer, a floating point number, or bytes, by the type of the column.
type Stored = (i128, f64, Vec<u8>);
/// Converts a stored value to the value that is read.
type Reading = Box<dyn Fn(&Stored) -> Value>;

/// Degradation of statistics: how much bounds are widened, and the numbers that are missing.
#[derive(Debug, Clone, Copy)]
struct Degradation {
    wider: (u8, u8),
    has_min: bool,
    has_max: bool,
    has_detail: bool,
    has_values: bool,
    has_null: bool,
    is_root_column: bool,
}

fn degradations() -> impl Strategy<Value = Degradation> {
    let often = || prop::bool::weighted(0.85);
    let wider = || prop_oneof![3 => Just(0u8), 1 => 1..4u8];
    ((wider(), wider()), often(), often(), often(), often(), often(), any::<bool>()).prop_map(
        |(wider, has_min, has_max, has_detail, has_values, has_null, is_root_column)| Degradation {
            wider,
            has_min,
            has_max,
            has_detail,
            has_values,
            has_null,
            is_root_column,
        },
    )
}

impl Degradation {
    fn bounds<T: Clone>(&self, least: T, greatest: T, wider: impl Fn(T, i64) -> T) -> (Option<T>, Option<T>) {
        let (below, above) = (wider(least, -i64::from(self.wider.0)), wider(greatest, self.wider.1.into()));
        (self.has_min.then_some(below), self.has_max.then_some(above))
    }

    /// Statistics of `values` present ones among `rows`. Below another column, nulls of that one are not counted.
    fn statistics(&self, values: usize, rows: usize, is_all_below: bool, detail: Detail) -> ColumnStatistics {
        let has_null = values < rows && (self.is_root_column || !is_all_below);
        ColumnStatistics {
            values: self.has_values.then_some(values as u64),
            has_null: self.has_null.then_some(has_null),
            bytes_on_disk: None,
            detail: if self.has_detail && values > 0 { detail } else { Detail::None },
        }
    }
}

/// Converts stored values to read values, and computes the statistics of the writer.
fn rows(
    (domain, may_become_null): (Domain, bool),
    is_spark: bool,
    stored: Vec<Option<Stored>>,
    degradation: Degradation,
    is_all_below: bool,
) -> Rows {
    let present: Vec<_> = stored.iter().flatten().collect();
    let long = |n: i128| i64::try_from(n.rem_euclid(1 << 64) - (1 << 63)).unwrap();
    let least = |f: &dyn Fn(i128) -> i128| present.iter().map(|v| f(v.0)).min().unwrap_or(0);
    let greatest = |f: &dyn Fn(i128) -> i128| present.iter().map(|v| f(v.0)).max().unwrap_or(0);
    let add = |n: i128, d: i64| n.saturating_add(d.into());
    let near = move |n: i128| if n.unsigned_abs() < 1 << 40 { n } else { i128::from(long(n)) };
    let (value, detail): (Reading, Detail) = match domain {
        Domain::Boolean => {
            let trues = present.iter().filter(|v| v.0 & 1 == 1).count() as u64;
            let true_count = degradation.has_min.then_some(trues);
            (Box::new(|v| Value::Integer(i64::from(v.0 & 1 == 1))), Detail::Boolean { true_count })
        }
        Domain::Integer => {
            let (min, max) = degradation.bounds(least(&near), greatest(&near), add);
            let cut = |n: i128| i64::try_from(n.clamp(i64::MIN.into(), i64::MAX.into())).unwrap();
            let detail = Detail::Integer { min: min.map(cut), max: max.map(cut), sum: None };
            (Box::new(move |v| Value::Integer(long(near(v.0) + (1 << 63)))), detail)
        }
        Domain::Date => {
            let day = |n: i128| n.rem_euclid(1 << 20) - (1 << 19);
            let (min, max) = degradation.bounds(least(&day), greatest(&day), add);
            let cut = |n: i128| i32::try_from(n).unwrap();
            let value = move |v: &Stored| Value::Integer(i64::try_from(day(v.0)).unwrap());
            (Box::new(value), Detail::Date { min: min.map(cut), max: max.map(cut) })
        }
        Domain::Float => {
            // If the flag is set, values and bounds are rounded to 32 bits.
            let read = move |f: f64| if is_spark { f64::from(f as f32) } else { f };
            let numbers: Vec<f64> = present.iter().map(|v| v.1).collect();
            let min = numbers.iter().copied().fold(f64::INFINITY, f64::min);
            let max = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let has_nan = numbers.iter().any(|f| f.is_nan());
            let wider = |f: f64, d: i64| {
                if d < 0 {
                    f.next_down()
                } else if d > 0 {
                    f.next_up()
                } else {
                    f
                }
            };
            let (min, max) = degradation.bounds(min, max, wider);
            let bound = |f: Option<f64>| f.filter(|_| !has_nan).map(read);
            (Box::new(move |v| Value::Float(read(v.1))), Detail::Double { min: bound(min), max: bound(max), sum: None })
        }
        Domain::Decimal { scale } => {
            // If the flag is set, values are stored with a greater scale than the scale of the column.
            let (scale, more) = (scale.min(20), if is_spark { 3 } else { 0 });
            let (min, max) = degradation.bounds(least(&near), greatest(&near), add);
            let number = |n: i128| Decimal::new(n, scale + more).unwrap();
            let rounded = move |n: i128| {
                let power = 10i128.pow(more);
                let half = if more == 0 { 0 } else { power / 2 };
                Value::Decimal((n.abs() + half) / power * n.signum())
            };
            let detail = Detail::Decimal { min: min.map(number), max: max.map(number), sum: None };
            (Box::new(move |v| rounded(near(v.0))), detail)
        }
        Domain::Text { .. } | Domain::Binary => {
            let trimmed = domain == Domain::Text { trimmed: true };
            let stored = move |v: &Stored| {
                let mut bytes = v.2.clone();
                let length = bytes.len().max(if trimmed { 4 } else { 0 });
                bytes.resize(length, b' ');
                bytes
            };
            let all: Vec<Vec<u8>> = present.iter().map(|v| stored(v)).collect();
            let (min, max) =
                (all.iter().min().cloned().unwrap_or_default(), all.iter().max().cloned().unwrap_or_default());
            // Bounds are truncated. The upper bound is incremented if possible.
            let cut = |bytes: Vec<u8>, d: i64| {
                let kept = bytes.len().saturating_sub(usize::try_from(d.abs()).unwrap());
                let mut cut = bytes[..kept].to_vec();
                match cut.last_mut() {
                    _ if d <= 0 => return cut,
                    Some(last) if *last < 0xff => *last += 1,
                    _ => return bytes,
                }
                cut
            };
            let (min, max) = degradation.bounds(min, max, cut);
            let bound = |value: Vec<u8>| Bound { value: Bytes::from(value), exact: false };
            let value = move |v: &Stored| {
                let mut bytes = stored(v);
                while trimmed && bytes.last() == Some(&b' ') {
                    bytes.pop();
                }
                Value::Bytes(bytes)
            };
            (Box::new(value), Detail::String { min: min.map(bound), max: max.map(bound), total_length: None })
        }
        Domain::Timestamp { nanoseconds, .. } => {
            let per = if is_spark { 1000 } else { 1 };
            let stamp = move |n: i128| if is_spark { near(n) } else { n >> 20 };
            let (min, max) = degradation.bounds(least(&stamp), greatest(&stamp), add);
            let cut = |n: i128| i64::try_from(n.clamp(i64::MIN.into(), i64::MAX.into())).unwrap();
            let detail = if is_spark {
                Detail::Integer { min: min.map(cut), max: max.map(cut), sum: None }
            } else {
                Detail::Timestamp { min, max, lower_bound: min, upper_bound: max }
            };
            let value = move |v: &Stored| {
                let ticks = (stamp(v.0) * per).div_euclid(nanoseconds.into());
                match i64::try_from(ticks) {
                    Ok(ticks) => Value::Ticks(ticks),
                    Err(_) if may_become_null => Value::Null,
                    // Reading such a value is an error.
                    Err(_) => Value::Ticks(if ticks < 0 { i64::MIN } else { i64::MAX }),
                }
            };
            (Box::new(value), detail)
        }
        Domain::Opaque | Domain::Null => (Box::new(|_| Value::Null), Detail::None),
    };
    let values = stored.iter().map(|v| v.as_ref().map_or(Value::Null, &value)).collect();
    let statistics = degradation.statistics(present.len(), stored.len(), is_all_below, detail);
    let domain = match domain {
        Domain::Decimal { scale } => Domain::Decimal { scale: scale.min(20) },
        other => other,
    };
    Rows { domain, may_become_null, values, statistics, is_root_column: degradation.is_root_column }
}

fn any_rows() -> impl Strategy<Value = Rows> {
    let small = prop_oneof![3 => -9..9i128, 1 => integers()];
    let value = (small, floats(), bytes());
    let stored = prop::collection::vec(prop::option::weighted(0.8, value), 0..6);
    ((domains(), any::<bool>()), any::<bool>(), stored, degradations(), any::<bool>()).prop_map(
        |(column, is_spark, stored, degradation, is_all_below)| {
            rows(column, is_spark, stored, degradation, is_all_below)
        },
    )
}

/// A predicate whose literals are often among the values.
fn predicates_on(domain: Domain, values: &[Value]) -> BoxedStrategy<Predicate> {
    let literal = |value: &Value| match (domain, value) {
        (Domain::Boolean, Value::Integer(n)) => Some(Literal::Boolean(*n == 1)),
        (Domain::Date, Value::Integer(n)) => Some(Literal::Date(*n)),
        (_, Value::Integer(n)) => Some(Literal::Integer((*n).into())),
        (_, Value::Float(f)) => Some(Literal::Float(*f)),
        (Domain::Decimal { scale }, Value::Decimal(unscaled)) => Some(Literal::Decimal { unscaled: *unscaled, scale }),
        (_, Value::Bytes(bytes)) => Some(Literal::Binary(bytes.clone())),
        (Domain::Timestamp { nanoseconds, is_instant, .. }, Value::Ticks(ticks)) => {
            Some(Literal::Timestamp { nanoseconds: i128::from(*ticks) * i128::from(nanoseconds), is_instant })
        }
        _ => None,
    };
    let known: Vec<Literal> = values.iter().filter_map(literal).collect();
    if known.is_empty() {
        return predicates(domain);
    }
    let a = || ColumnName::from("a");
    let known = prop::sample::select(known);
    let compare = (ops(), known.clone()).prop_map(move |(op, value)| Predicate::Compare { column: a(), op, value });
    let is_in =
        prop::collection::vec(known, 1..4).prop_map(move |values| Predicate::In { column: a(), values: values.into() });
    let leaf = prop_oneof![4 => compare, 2 => is_in];
    prop_oneof![1 => predicates(domain), 2 => leaf.clone(), 1 => leaf.prop_map(|leaf| !leaf)].boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]
    #[test]
    fn pruning_is_sound(
        (rows, predicate) in any_rows().prop_flat_map(|rows| {
            let predicates = predicates_on(rows.domain, &rows.values);
            (Just(std::rc::Rc::new(rows)), predicates)
        }),
    ) {
        let column = FilterColumn::new(rows.domain, "any".to_owned());
        let column = FilterColumn { may_become_null: rows.may_become_null, ..column };
        let condition = condition_on(&predicate, &column).unwrap();
        let count = rows.values.len() as u64;
        for leaf in &condition.leaves {
            let truth = leaf.prune(&rows.statistics, count, rows.is_root_column);
            let found = rows.values.iter().filter(|value| test(&leaf.test, value)).count();
            match truth {
                Truth::Never => prop_assert_eq!(found, 0, "{:?} of {:?}", leaf, rows),
                Truth::Always => prop_assert_eq!(found, rows.values.len(), "{:?} of {:?}", leaf, rows),
                Truth::Maybe => {}
            }
        }
        let mut whole = Pruning::UNKNOWN;
        let prune = |_: usize, leaf: &Leaf| Ok(leaf.prune(&rows.statistics, count, rows.is_root_column));
        whole.refine(&condition, Proof::new("file statistics"), prune).unwrap();
        let found = rows.values.iter().filter(|value| node(&condition.root, &condition, value)).count();
        match whole.truth() {
            Truth::Never => prop_assert_eq!(found, 0),
            Truth::Always => prop_assert_eq!(found, rows.values.len()),
            Truth::Maybe => {}
        }
    }
}

/// Pruning is effective, not only sound.
#[test]
fn statistics_prune() {
    let statistics = |values, has_null, min, max| ColumnStatistics {
        values,
        has_null,
        bytes_on_disk: None,
        detail: Detail::Integer { min, max, sum: None },
    };
    let prune = |predicate: &Predicate, of: &ColumnStatistics| {
        let condition = condition(predicate, Domain::Integer).unwrap();
        condition.leaves[0].prune(of, 10, true)
    };
    let full = statistics(Some(10), Some(false), Some(3), Some(7));
    let some = statistics(Some(4), Some(true), Some(3), Some(7));
    let none = statistics(Some(0), Some(true), None, None);
    let is_null = Predicate::IsNull { column: "a".into() };
    let greater = |n: i32| Predicate::compare("a", Comparison::Greater, n);
    assert_eq!(prune(&greater(7), &full), Truth::Never);
    assert_eq!(prune(&greater(2), &full), Truth::Always);
    assert_eq!(prune(&greater(5), &full), Truth::Maybe);
    assert_eq!(prune(&greater(2), &some), Truth::Maybe);
    assert_eq!(prune(&greater(2), &none), Truth::Never);
    assert_eq!(prune(&is_null, &full), Truth::Never);
    assert_eq!(prune(&is_null, &some), Truth::Maybe);
    assert_eq!(prune(&is_null, &none), Truth::Always);
    assert_eq!(prune(&!is_null, &full), Truth::Always);
}

#[test]
fn counts_of_true_values_prune() {
    let prune = |op, is_true: bool, trues, values| {
        let condition = condition(&Predicate::compare("a", op, is_true), Domain::Boolean).unwrap();
        let detail = Detail::Boolean { true_count: Some(trues) };
        let of = ColumnStatistics { values, has_null: Some(false), bytes_on_disk: None, detail };
        condition.leaves[0].prune(&of, 10, true)
    };
    use Comparison::Equal;
    // Rows with the value, of ten.
    for (trues, is_true, rows) in
        [(0, true, 0), (0, false, 10), (3, true, 3), (3, false, 7), (10, true, 10), (10, false, 0)]
    {
        let want = match rows {
            0 => Truth::Never,
            10 => Truth::Always,
            _ => Truth::Maybe,
        };
        assert_eq!(prune(Equal, is_true, trues, Some(10)), want, "{trues} {is_true}");
        let is_known = trues == 0 && is_true;
        assert_eq!(prune(Equal, is_true, trues, None), if is_known { want } else { Truth::Maybe }, "{trues} {is_true}");
    }
}

#[test]
fn upper_bounds_of_decimals_are_rounded_up_only_if_digits_are_removed() {
    let prune = |unscaled: i128, of: &str| {
        let literal = Literal::Decimal { unscaled, scale: 2 };
        let predicate = Predicate::compare("a", Comparison::Greater, literal);
        let detail = Detail::Decimal { min: Decimal::parse(b"0.5"), max: Decimal::parse(of.as_bytes()), sum: None };
        let statistics = ColumnStatistics { values: Some(10), has_null: Some(false), bytes_on_disk: None, detail };
        condition(&predicate, Domain::Decimal { scale: 2 }).unwrap().leaves[0].prune(&statistics, 10, true)
    };
    assert_eq!([prune(98, "0.99"), prune(99, "0.99"), prune(49, "0.99")], [Truth::Maybe, Truth::Never, Truth::Always]);
    assert_eq!([prune(99, "0.991"), prune(100, "0.991")], [Truth::Maybe, Truth::Never]);
    assert_eq!([prune(89, "0.9"), prune(90, "0.9")], [Truth::Maybe, Truth::Never]);
}

#[test]
fn proofs_are_combined() {
    let greater = |n: i32| Predicate::compare("a", Comparison::Greater, n);
    let any = Predicate::Or(vec![greater(1), greater(2), greater(3)]);
    let condition = condition(&any, Domain::Integer).unwrap();
    let mut result = Pruning::UNKNOWN;
    let refine = |result: &mut Pruning, proof, truths: [Truth; 3]| {
        result.refine(&condition, proof, |index, _| Ok(truths[index])).unwrap();
    };
    use Truth::{Always, Maybe, Never};
    refine(&mut result, Proof::new("file statistics"), [Maybe, Never, Maybe]);
    // Known results are kept.
    refine(&mut result, Proof::new("stripe statistics"), [Never, Always, Maybe]);
    assert_eq!(result.outcome(&condition), Outcome::Read);
    let mut other = result.clone();
    refine(&mut result, Proof::new("bloom filter"), [Maybe, Maybe, Never]);
    let proofs = [(1, "stripe statistics"), (2, "file statistics"), (3, "bloom filter")];
    let proofs = proofs.map(|(n, name)| (greater(n).to_string(), Proof::new(name)));
    assert_eq!(result.outcome(&condition), Outcome::Skipped(proofs.to_vec()));
    refine(&mut other, Proof::new("row group statistics"), [Maybe, Maybe, Always]);
    assert_eq!(other.outcome(&condition), Outcome::AllMatch);
}
