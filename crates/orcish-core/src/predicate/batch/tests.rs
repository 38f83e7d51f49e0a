//! Tests of pruning and evaluation of filters on Arrow columns.

use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, Int64Array, StringArray, StructArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit, UnionMode};

use super::*;
use crate::error::{Error, ErrorKind, Result};
use crate::expression::{Comparison, Literal, Predicate};
use crate::predicate::Proof;

fn schema() -> Schema {
    let field = |name: &str, kind: DataType| Field::new(name, kind, true);
    let inner = Fields::from(vec![field("text", DataType::Utf8), field("n", DataType::Int64)]);
    Schema::new(vec![
        field("n", DataType::Int64),
        field("at", DataType::Timestamp(TimeUnit::Millisecond, None)),
        field("price", DataType::Decimal128(10, 2)),
        field("text", DataType::Utf8),
        field("number", DataType::Float64),
        field("flag", DataType::Boolean),
        field("day", DataType::Date32),
        Field::new_struct("nest", inner, true),
        Field::new_list("items", field("item", DataType::Int64), true),
        field("big", DataType::UInt64),
        field("nothing", DataType::Null),
        Field::new_union("either", [0], [field("n", DataType::Int64)], UnionMode::Dense),
    ])
}

fn filter(predicate: &Predicate) -> BatchFilter {
    BatchFilter::try_new(predicate, &schema()).unwrap()
}

fn compare(column: &str, op: Comparison, value: Literal) -> Predicate {
    Predicate::Compare { column: column.into(), op, value }
}

fn above(column: &str, value: Literal) -> Predicate {
    compare(column, Comparison::Greater, value)
}

fn is_null(column: &str) -> Predicate {
    Predicate::IsNull { column: column.into() }
}

fn between(min: Bound, max: Bound) -> ColumnBounds {
    ColumnBounds { min: Some(min), max: Some(max), nulls: Some(false), values: Some(true) }
}

fn prune(predicate: &Predicate, bounds: &ColumnBounds) -> Outcome {
    filter(predicate).prune(&mut |_| Ok(bounds.clone()), 10, Proof::new("blocklet index")).unwrap()
}

/// Checks bounds for which all rows match, some rows may match, and no row matches.
fn check(predicate: &Predicate, all: (Bound, Bound), some: (Bound, Bound), none: (Bound, Bound)) {
    let of = |(min, max)| prune(predicate, &between(min, max));
    assert_eq!(of(all.clone()), Outcome::AllMatch);
    assert_eq!(of(some), Outcome::Read);
    assert_eq!(of(none), Outcome::Skipped(vec![(predicate.to_string(), Proof::new("blocklet index"))]));
    let with_nulls = ColumnBounds { nulls: None, ..between(all.0, all.1) };
    assert_eq!(prune(predicate, &with_nulls), Outcome::Read);
}

#[test]
fn bounds_of_integers_prune() {
    use Bound::Integer as I;
    check(&above("n", Literal::Integer(5)), (I(6), I(9)), (I(5), I(6)), (I(-3), I(5)));
    let yes = compare("flag", Comparison::Equal, Literal::Boolean(true));
    check(&yes, (I(1), I(1)), (I(0), I(1)), (I(0), I(0)));
    check(&above("day", Literal::Date(100)), (I(101), I(102)), (I(0), I(200)), (I(0), I(100)));
}

#[test]
fn bounds_of_ticks_are_in_the_unit_of_the_column() {
    use Bound::Ticks as T;
    // 5 ms and a nanosecond: 5 ms are not above it.
    let nanos = Literal::Timestamp { nanoseconds: 5_000_001, is_instant: false };
    check(&above("at", nanos.clone()), (T(6), T(9)), (T(5), T(6)), (T(0), T(5)));
    check(&above("at", nanos.clone()), (T(6), T(i64::MAX)), (T(i64::MIN), T(i64::MAX)), (T(i64::MIN), T(0)));
    // An integer has no unit.
    assert_eq!(prune(&above("at", nanos), &between(Bound::Integer(0), Bound::Integer(1))), Outcome::Read);
}

#[test]
fn bounds_of_decimals_may_have_any_scale() {
    let d = |unscaled, scale| Bound::Decimal { unscaled, scale };
    let price = above("price", Literal::Decimal { unscaled: 15, scale: 1 });
    check(&price, (d(151, 2), d(2, 0)), (d(150, 2), d(151, 2)), (d(-1, 0), d(15, 1)));
}

#[test]
fn bounds_of_bytes_prune() {
    let b = |text: &str| Bound::Bytes(text.as_bytes().to_vec());
    let prefix = Predicate::StartsWith { column: "text".into(), prefix: Literal::String("ab".into()) };
    check(&prefix, (b("ab"), b("abz")), (b("a"), b("abz")), (b("b"), b("c")));
}

#[test]
fn bounds_of_numbers_come_in_pairs() {
    use Bound::Number as N;
    let number = above("number", Literal::Float(0.0));
    check(&number, (N(0.5), N(1.0)), (N(-0.0), N(1.0)), (N(-1.0), N(-0.0)));
    let one = ColumnBounds { max: Some(N(-1.0)), ..ColumnBounds::default() };
    assert_eq!(prune(&number, &one), Outcome::Read);
    assert_eq!(prune(&number, &between(N(f64::NAN), N(-1.0))), Outcome::Read);
}

#[test]
fn one_bound_can_prune() {
    let predicate = above("n", Literal::Integer(5));
    let bounds = ColumnBounds { max: Some(Bound::Integer(5)), ..ColumnBounds::default() };
    assert!(matches!(prune(&predicate, &bounds), Outcome::Skipped(_)));
    assert_eq!(prune(&predicate, &ColumnBounds::default()), Outcome::Read);
}

#[test]
fn nulls_prune() {
    let all_null = ColumnBounds { values: Some(false), ..ColumnBounds::default() };
    let none_null = ColumnBounds { nulls: Some(false), ..ColumnBounds::default() };
    let not_null = Predicate::Not(Box::new(is_null("n")));
    assert_eq!(prune(&is_null("n"), &all_null), Outcome::AllMatch);
    assert!(matches!(prune(&is_null("n"), &none_null), Outcome::Skipped(_)));
    assert!(matches!(prune(&not_null, &all_null), Outcome::Skipped(_)));
    assert_eq!(prune(&not_null, &none_null), Outcome::AllMatch);
    assert!(matches!(prune(&above("n", Literal::Integer(1)), &all_null), Outcome::Skipped(_)));
    let neither = ColumnBounds { nulls: Some(false), values: Some(false), ..ColumnBounds::default() };
    for predicate in [is_null("n"), not_null] {
        assert_eq!(prune(&predicate, &neither), Outcome::Read);
    }
}

#[test]
fn nulls_of_struct_fields_do_not_prune() {
    let none_null = ColumnBounds { nulls: Some(false), ..ColumnBounds::default() };
    assert_eq!(prune(&is_null("nest.n"), &none_null), Outcome::Read);
    let bounds = between(Bound::Integer(1), Bound::Integer(2));
    assert_eq!(prune(&above("nest.n", Literal::Integer(0)), &bounds), Outcome::Read);
    assert!(matches!(prune(&above("nest.n", Literal::Integer(2)), &bounds), Outcome::Skipped(_)));
}

#[test]
fn bounds_are_requested_once_and_the_proof_has_false_leaves_only() {
    let n = |value| above("n", Literal::Integer(value));
    let both = filter(&Predicate::And(vec![n(0), n(10), is_null("nest.text")]));
    let mut paths = Vec::new();
    let outcome = both.prune(
        &mut |path| {
            paths.push(path.to_vec());
            Ok(between(Bound::Integer(1), Bound::Integer(9)))
        },
        3,
        Proof::new("page statistics"),
    );
    assert_eq!(outcome.unwrap(), Outcome::Skipped(vec![(n(10).to_string(), Proof::new("page statistics"))]));
    assert_eq!(paths, [vec![0], vec![7, 0]]);
    assert_eq!(both.root_columns(), [0, 7]);
    let failing = both.prune(&mut |_| Err(Error::corrupt("no index")), 3, Proof::new("blocklet index"));
    assert_eq!(failing.unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn constant_predicates_need_no_bounds() {
    let never = filter(&compare("n", Comparison::Equal, Literal::Null));
    assert_eq!((never.condition().constant(), never.root_columns()), (Some(false), Vec::new()));
    let always = filter(&Predicate::Constant(Some(true)));
    assert_eq!(always.condition().constant(), Some(true));
    let mut unused = |_: &[usize]| -> Result<ColumnBounds> { Err(Error::invalid("asked")) };
    assert_eq!(never.prune(&mut unused, 1, Proof::new("blocklet index")).unwrap(), Outcome::Skipped(Vec::new()));
    assert_eq!(always.prune(&mut unused, 1, Proof::new("blocklet index")).unwrap(), Outcome::AllMatch);
}

#[test]
fn names_and_types_are_checked() {
    let error = |predicate: &Predicate| BatchFilter::try_new(predicate, &schema()).unwrap_err();
    let unknown = error(&is_null("prise"));
    assert_eq!(unknown.kind(), ErrorKind::UnknownColumn);
    assert!(unknown.to_string().contains("nearest: price"), "{unknown}");
    let mismatches = [
        above("n", Literal::String("x".into())),
        above("items.item", Literal::Integer(1)),
        above("nest", Literal::Integer(1)),
        is_null("either"),
    ];
    for mismatch in mismatches {
        assert_eq!(error(&mismatch).kind(), ErrorKind::InvalidArgument, "{mismatch}");
    }
    filter(&is_null("items"));
    filter(&above("big", Literal::Integer(1)));
    filter(&is_null("nothing"));
}

#[test]
fn masks_have_the_rows_for_which_the_predicate_is_true() {
    let n: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(3), Some(4)]));
    let text: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), Some("b"), None, Some("d")]));
    let (DataType::Struct(fields), valid) = (schema().field(7).data_type().clone(), vec![true, false, true, true])
    else {
        panic!("a struct")
    };
    let nest: ArrayRef = Arc::new(StructArray::new(fields, vec![text, n.clone()], Some(NullBuffer::from(valid))));
    let column = |at: usize| match at {
        0 => Ok(n.clone()),
        7 => Ok(nest.clone()),
        _ => Err(Error::invalid(format!("column {at}"))),
    };
    let rows = |predicate: &Predicate| {
        let kept = filter(predicate).evaluate(&column, 4).unwrap();
        assert_eq!(kept.null_count(), 0);
        (0..4).filter(|&at| kept.value(at)).collect::<Vec<_>>()
    };
    assert_eq!(rows(&above("n", Literal::Integer(1))), [2, 3]);
    assert_eq!(rows(&is_null("nest.text")), [1, 2]);
    let either =
        Predicate::Or(vec![is_null("n"), compare("nest.text", Comparison::Equal, Literal::String("d".into()))]);
    assert_eq!(rows(&either), [1, 3]);
    // Columns of leaves that are not needed are not requested.
    let nothing = Predicate::And(vec![above("n", Literal::Integer(9)), is_null("day")]);
    assert_eq!(rows(&nothing), [0usize; 0]);
    assert!(filter(&is_null("day")).evaluate(&column, 4).is_err());
    assert!(filter(&is_null("n")).evaluate(&column, 5).is_err());
}
