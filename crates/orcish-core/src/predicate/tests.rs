//! Conditions, compared with a direct evaluation of predicates: on single values, with three-valued logic, and numbers compared
//! digit by digit.

#![allow(clippy::cast_possible_truncation, reason = "saturating casts only select test cases")]

mod prune;

use std::cmp::Ordering;
use std::sync::Arc;

use proptest::prelude::*;

use super::condition::Node;
use super::*;
use crate::expression::{Comparison, Literal, Predicate};
use crate::names::ColumnName;

/// A value of a column, as it is read.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Null,
    /// Integers, booleans and days.
    Integer(i64),
    Float(f64),
    Decimal(i128),
    Bytes(Vec<u8>),
    Ticks(i64),
}

/// A finite number: whether it is negative, the integer digits without leading zeros, and the fraction digits without trailing
/// zeros.
#[derive(Debug, PartialEq)]
struct Digits(bool, String, String);

impl Digits {
    fn parse(text: &str) -> Self {
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
        let is_zero = whole.is_empty() && fraction.is_empty();
        Digits(negative && !is_zero, whole.to_owned(), fraction.to_owned())
    }

    fn decimal(unscaled: i128, scale: u32) -> Self {
        let scale = scale as usize;
        let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        Self::parse(&format!("{}{whole}.{fraction}", if unscaled < 0 { "-" } else { "" }))
    }

    /// All digits of a finite number, or the digits of the shortest notation of a number that is not an integer.
    fn float(value: f64, shortest: bool) -> Self {
        Self::parse(&if shortest && value.fract() != 0.0 { format!("{value}") } else { format!("{value:.1074}") })
    }

    fn compare(&self, other: &Self) -> Ordering {
        let size = |a: &Self, b: &Self| a.1.len().cmp(&b.1.len()).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2));
        match (self.0, other.0) {
            (false, false) => size(self, other),
            (true, true) => size(other, self),
            (negative, _) => {
                if negative {
                    Ordering::Less
                } else {
                    Ordering::Greater
                }
            }
        }
    }
}

/// Compares a non-null value with a non-null literal; `None` where one is NaN.
fn compare(domain: Domain, value: &Value, literal: &Literal) -> Option<Ordering> {
    let with_float = |digits: Digits, float: f64, shortest: bool| match float {
        _ if float.is_nan() => None,
        f64::INFINITY => Some(Ordering::Less),
        f64::NEG_INFINITY => Some(Ordering::Greater),
        _ => Some(digits.compare(&Digits::float(float, shortest))),
    };
    match (domain, value, literal) {
        (Domain::Float, Value::Float(value), Literal::Float(other)) => value.partial_cmp(other),
        (Domain::Float, Value::Float(value), Literal::Integer(other)) => {
            with_float(Digits::decimal(*other, 0), *value, false).map(Ordering::reverse)
        }
        (Domain::Float, Value::Float(value), Literal::Decimal { unscaled, scale }) => {
            let Digits(negative, whole, fraction) = Digits::decimal(*unscaled, *scale);
            let nearest: f64 = format!("{}0{whole}.{fraction}0", if negative { "-" } else { "" }).parse().unwrap();
            value.partial_cmp(&nearest)
        }
        (Domain::Float, Value::Float(value), Literal::LongDecimal { nearest, .. }) => value.partial_cmp(nearest),
        (
            _,
            Value::Integer(_) | Value::Decimal(_),
            Literal::Integer(_) | Literal::Float(_) | Literal::Decimal { .. } | Literal::LongDecimal { .. },
        ) => {
            let (digits, is_decimal) = match (domain, value) {
                (Domain::Decimal { scale }, Value::Decimal(unscaled)) => (Digits::decimal(*unscaled, scale), true),
                (_, Value::Integer(value)) => (Digits::decimal((*value).into(), 0), false),
                _ => panic!("{value:?} in {domain:?}"),
            };
            match literal {
                Literal::Integer(other) => Some(digits.compare(&Digits::decimal(*other, 0))),
                Literal::Decimal { unscaled, scale } => Some(digits.compare(&Digits::decimal(*unscaled, *scale))),
                Literal::LongDecimal { floor, scale, .. } => {
                    Some(digits.compare(&Digits::parse(&above(*floor, *scale))))
                }
                Literal::Float(other) => with_float(digits, *other, is_decimal),
                _ => None,
            }
        }
        (_, Value::Integer(value), Literal::Boolean(other)) => Some((*value == 1).cmp(other)),
        (_, Value::Integer(value), Literal::Date(days)) => Some(value.cmp(days)),
        (Domain::Date, Value::Integer(value), Literal::Timestamp { nanoseconds, .. }) => {
            Some((i128::from(*value) * 86_400_000_000_000).cmp(nanoseconds))
        }
        (_, Value::Bytes(value), Literal::String(other)) => Some(value.as_slice().cmp(other.as_bytes())),
        (_, Value::Bytes(value), Literal::Binary(other)) => Some(value.cmp(other)),
        (Domain::Timestamp { nanoseconds, .. }, Value::Ticks(value), literal) => {
            let value = i128::from(*value) * i128::from(nanoseconds);
            match literal {
                Literal::Timestamp { nanoseconds, .. } => Some(value.cmp(nanoseconds)),
                Literal::Date(days) => Some(value.cmp(&(i128::from(*days) * 86_400_000_000_000))),
                _ => panic!("{literal:?}"),
            }
        }
        _ => panic!("{value:?} of {domain:?} with {literal:?}"),
    }
}

/// The number in the middle between `floor / 10^scale` and `(floor + 1) / 10^scale`, as text.
fn above(floor: i128, scale: u32) -> String {
    // A negative number has the digits of `floor + 1`.
    let digits = if floor < 0 { floor.unsigned_abs() - 1 } else { floor.unsigned_abs() };
    let digits = format!("{digits:0>width$}5", width = scale as usize + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale as usize - 1);
    format!("{}{whole}.{fraction}", if floor < 0 { "-" } else { "" })
}

fn is(op: Comparison, domain: Domain, value: &Value, literal: &Literal) -> Option<bool> {
    if *value == Value::Null || *literal == Literal::Null {
        return None;
    }
    let found = compare(domain, value, literal);
    Some(match op {
        Comparison::Equal => found == Some(Ordering::Equal),
        Comparison::NotEqual => found != Some(Ordering::Equal),
        Comparison::Less => found == Some(Ordering::Less),
        Comparison::LessOrEqual => matches!(found, Some(Ordering::Less | Ordering::Equal)),
        Comparison::Greater => found == Some(Ordering::Greater),
        Comparison::GreaterOrEqual => matches!(found, Some(Ordering::Greater | Ordering::Equal)),
    })
}

/// The value of a predicate for a value of the column: true, false, or unknown.
fn evaluate(predicate: &Predicate, domain: Domain, value: &Value) -> Option<bool> {
    match predicate {
        Predicate::Constant(value) => *value,
        Predicate::Compare { op, value: literal, .. } => is(*op, domain, value, literal),
        Predicate::In { values, .. } => {
            let found = values.iter().map(|literal| is(Comparison::Equal, domain, value, literal));
            one_of(found)
        }
        Predicate::StartsWith { prefix, .. } => match (value, prefix) {
            (Value::Null, _) | (_, Literal::Null) => None,
            (Value::Bytes(value), Literal::String(prefix)) => Some(value.starts_with(prefix.as_bytes())),
            (Value::Bytes(value), Literal::Binary(prefix)) => Some(value.starts_with(prefix)),
            _ => panic!("{value:?} {prefix:?}"),
        },
        Predicate::Like { pattern, .. } => match value {
            Value::Null => None,
            Value::Bytes(value) => Some(pattern.is_match(value)),
            _ => panic!("{value:?} {pattern:?}"),
        },
        Predicate::IsNull { .. } => Some(*value == Value::Null),
        Predicate::IsNan { .. } => match value {
            Value::Float(value) => Some(value.is_nan()),
            _ => None,
        },
        Predicate::Not(inner) => evaluate(inner, domain, value).map(|holds| !holds),
        Predicate::Or(parts) => one_of(parts.iter().map(|part| evaluate(part, domain, value))),
        Predicate::And(parts) => {
            one_of(parts.iter().map(|part| evaluate(part, domain, value).map(|holds| !holds))).map(|holds| !holds)
        }
    }
}

fn one_of(found: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let found: Vec<_> = found.collect();
    let has = |truth| found.contains(&truth);
    if has(Some(true)) {
        Some(true)
    } else if has(None) {
        None
    } else {
        Some(false)
    }
}

/// Whether a leaf is true for a value. All ranges are tested.
fn test(test: &Test, value: &Value) -> bool {
    fn within<T: super::ranges::Ordered>(ranges: &Ranges<T>, value: &T) -> bool {
        ranges.as_slice().iter().any(|(start, end)| start <= value && end.as_ref().is_none_or(|end| value < end))
    }
    let set = match test {
        Test::IsNull => return *value == Value::Null,
        Test::NotNull => return *value != Value::Null,
        Test::In(set) => &**set,
    };
    match (set, value) {
        (_, Value::Null) => false,
        (ValueSet::Integers(ranges), Value::Integer(value)) => within(ranges, value),
        (ValueSet::Ticks { ranges, .. }, Value::Ticks(value)) => within(ranges, value),
        (ValueSet::Floats { ranges, nan }, Value::Float(value)) => {
            NonNan::new(*value).map_or(*nan, |number| within(ranges, &number))
        }
        (ValueSet::Decimals { ranges, .. }, Value::Decimal(value)) => within(ranges, value),
        (ValueSet::Bytes { ranges, .. }, Value::Bytes(value)) => within(ranges, value),
        (ValueSet::Matching { pattern, positive, .. }, Value::Bytes(value)) => pattern.is_match(value) == *positive,
        other => panic!("{other:?}"),
    }
}

fn node(this: &Node, condition: &Condition, value: &Value) -> bool {
    match this {
        Node::Constant(value) => *value,
        Node::Leaf(leaf) => test(&condition.leaves[*leaf].test, value),
        Node::All(parts) => parts.iter().all(|part| node(part, condition, value)),
        Node::Any(parts) => parts.iter().any(|part| node(part, condition, value)),
    }
}

/// Binds a predicate on the column `a`.
fn condition(predicate: &Predicate, domain: Domain) -> crate::Result<Condition> {
    condition_on(predicate, &FilterColumn::new(domain, "any".to_owned()))
}

fn condition_on(predicate: &Predicate, column: &FilterColumn) -> crate::Result<Condition> {
    bind_names(predicate, &mut |name| match name.as_str() {
        "a" => Ok((column.clone(), ValueSource::Column(1))),
        name => Err(crate::Error::invalid(format!("no column {name}"))),
    })
}

/// Binds a predicate on integers, whose columns have the ids 0 to 25 by their letters.
fn condition_on_letters(text: &str) -> Condition {
    let column = FilterColumn::new(Domain::Integer, "bigint".to_owned());
    let id = |name: &ColumnName| u32::from(name.as_str().as_bytes()[0] - b'a');
    bind_names(&text.parse().unwrap(), &mut |name| Ok((column.clone(), ValueSource::Column(id(name))))).unwrap()
}

#[test]
fn columns_that_do_not_matter_are_not_those_of_a_condition() {
    for (text, columns) in [
        ("a > 1 and (b > 2 or true)", vec![0]),
        ("a > 1 and (b > 2 or c > 3 and false)", vec![0, 1]),
        ("a > 1 or (b > 2 and c = null) or d > 4", vec![0, 3]),
        ("a > 1 and false", vec![]),
    ] {
        assert_eq!(condition_on_letters(text).columns(), columns, "{text}");
    }
}

#[test]
fn constants_are_pruned() {
    let two: arrow_array::ArrayRef = Arc::new(arrow_array::Int64Array::from(vec![2]));
    let constants = |id| match id {
        0 => Some(Constant::Value(two.clone())),
        1 => Some(Constant::Null),
        _ => None,
    };
    for (text, constant, columns) in [
        ("a > 1 and c > 3", None, vec![2]),
        ("a > 2 and c > 3", Some(false), vec![]),
        ("a > 1 or c > 3", Some(true), vec![]),
        ("b is null", Some(true), vec![]),
        ("not (b > 1) or c > 3", None, vec![2]),
        ("(a = 2 or d > 1) and (b is not null or c > 3)", None, vec![2]),
    ] {
        let pruned = condition_on_letters(text).prune_constants(&mut |leaf| Ok(leaf.column.and_then(constants)));
        let pruned = pruned.unwrap();
        assert_eq!((pruned.constant(), pruned.columns()), (constant, columns), "{text}");
    }
}

#[test]
fn deeply_nested_predicates_are_errors() {
    let of = |levels: usize| (0..levels).fold(Predicate::is_null("a"), |inner, _| Predicate::And(vec![!inner]));
    let deepest = !of((Predicate::MAX_LEVELS - 2) / 2);
    assert_eq!(deepest.levels(), Predicate::MAX_LEVELS);
    assert_eq!(condition(&deepest, Domain::Integer).unwrap().leaves.len(), 1);
    let error = condition(&!deepest, Domain::Integer).unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::InvalidArgument);
}

#[test]
fn conjuncts_have_the_lists_of_their_conjunction() {
    let parse = |text: &str| text.parse::<Predicate>().unwrap();
    let text = |predicate: &Predicate| conjuncts(predicate).iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(conjuncts(&parse("a > 1")), [parse("a > 1")]);
    assert_eq!(conjuncts(&parse("a > 1 and b = 2")), [parse("a > 1"), parse("b = 2")]);
    let many = (0..1000).map(|n| parse(&format!("a != {n}"))).chain([parse("b = 2")]);
    let many = Predicate::And(many.collect());
    assert_eq!(conjuncts(&many).len(), 2, "{:?}", text(&many));
    let disjunction = parse("a = 1 or b = 2");
    assert_eq!(conjuncts(&disjunction), [disjunction]);
}

#[test]
fn chains_of_equalities_are_lists() {
    let is = |op, value: i64| Predicate::compare("a", op, value);
    let (equal, different) = (Comparison::Equal, Comparison::NotEqual);
    let count = 50_000;
    let any = Predicate::Or((0..count).map(|value| is(equal, value)).collect());
    let none = Predicate::And((0..count).map(|value| is(different, value)).collect());
    for predicate in [any.clone(), !none.clone(), none, !any] {
        assert_eq!(condition(&predicate, Domain::Integer).unwrap().leaves.len(), 1);
    }
    // Others are tests of their own.
    let mixed = Predicate::Or(vec![is(equal, 1), is(different, 2), is(equal, 3), Predicate::is_null("a")]);
    let texts = |predicate: &Predicate| {
        condition(predicate, Domain::Integer).unwrap().leaves.into_iter().map(|leaf| leaf.text).collect::<Vec<_>>()
    };
    assert_eq!(texts(&mixed), ["a in (1, 3)", "a != 2", "a is null"]);
    assert_eq!(texts(&!mixed), ["not a in (1, 3)", "a = 2", "a is not null"]);
    assert_eq!(texts(&Predicate::And(vec![is(equal, 1), is(equal, 2)])), ["a = 1", "a = 2"]);
    let wrong = Predicate::Or(vec![is(equal, 1), Predicate::compare("a", equal, "x")]);
    assert_eq!(condition(&wrong, Domain::Integer).unwrap_err().kind(), crate::ErrorKind::InvalidArgument);
}

/// Boundary values, their neighbours, and other integers.
fn integers() -> impl Strategy<Value = i128> + Clone {
    let special = [
        0,
        1,
        9_007_199_254_740_993,
        i64::MAX.into(),
        i64::MIN.into(),
        1 << 64,
        i128::MAX,
        i128::MIN,
        1 << 126,
        10i128.pow(38),
        -(10i128.pow(38)),
        1 << 53,
        128,
        32_768,
    ];
    let near = (prop::sample::select(special.to_vec()), -2..3i128).prop_map(|(n, d)| n.saturating_add(d));
    prop_oneof![4 => -40..40i128, 2 => near, 1 => any::<i128>(), 1 => any::<i64>().prop_map(i128::from)]
}

fn floats() -> impl Strategy<Value = f64> + Clone {
    let special = [
        0.0,
        -0.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        5e-324,
        -5e-324,
        1.5,
        -1.5,
        0.1,
        1e-38,
        -1e-38,
        1.234_567_890_123_456_7e-30,
        -1.234_567_890_123_456_7e-23,
        3.3e-39,
        1e38,
        1.8e38,
        1e300,
        2f64.powi(63),
        -(2f64.powi(63)),
        2f64.powi(127),
        -(2f64.powi(127)),
        1e23,
    ];
    prop_oneof![
        3 => prop::sample::select(special.to_vec()),
        3 => (-160..160i32).prop_map(|n| f64::from(n) / 4.0),
        2 => (any::<i32>(), -45..45i32).prop_map(|(n, e)| f64::from(n) * 10f64.powi(e)),
        2 => (any::<i64>(), -45..5i32).prop_map(|(n, e)| n as f64 * 10f64.powi(e)),
        1 => any::<f64>(),
    ]
}

fn bytes() -> impl Strategy<Value = Vec<u8>> + Clone {
    prop::collection::vec(prop::sample::select(vec![0u8, b' ', b'a', b'b', 0x1f, 0x7e, 0xff]), 0..4)
}

fn texts() -> impl Strategy<Value = String> + Clone {
    prop::collection::vec(prop::sample::select(vec!['\0', ' ', 'a', 'b', '\u{1f}', 'ü', '\u{10ffff}']), 0..4)
        .prop_map(|text| text.into_iter().collect())
}

fn domains() -> impl Strategy<Value = Domain> {
    let timestamp = (prop::sample::select(vec![1i64, 1_000, 1_000_000, 1_000_000_000]), any::<bool>());
    let timestamp = timestamp.prop_map(|(nanoseconds, is_instant)| Domain::Timestamp {
        nanoseconds,
        is_instant,
        compares_digits: false,
    });
    prop_oneof![
        1 => Just(Domain::Boolean),
        2 => Just(Domain::Integer),
        2 => Just(Domain::Float),
        2 => (0..39u32).prop_map(|scale| Domain::Decimal { scale }),
        2 => any::<bool>().prop_map(|trimmed| Domain::Text { trimmed }),
        1 => Just(Domain::Binary),
        1 => Just(Domain::Date),
        2 => timestamp,
    ]
}

fn decimals() -> impl Strategy<Value = Literal> + Clone {
    let digits = prop_oneof![8 => integers(), 1 => Just(0)];
    (digits, prop_oneof![0..5u32, 0..60u32]).prop_map(|(unscaled, scale)| Literal::Decimal { unscaled, scale })
}

/// Decimals with more than 38 digits. The scale is 38 minus the number of integer digits.
fn long_decimals() -> impl Strategy<Value = Literal> + Clone {
    let floors = prop_oneof![Just(0), Just(-1), -40..40i128, any::<i128>()];
    (floors, 0..39u32).prop_map(|(floor, before)| {
        let scale = 38 - before;
        // The first digit is not 0, unless there are no integer digits.
        let floor = match (floor % (10i128.pow(38) - 1), before) {
            (floor, 0) => floor,
            (floor, _) if floor < 0 => floor.min(-(10i128.pow(37)) - 1),
            (floor, _) => floor.max(10i128.pow(37)),
        };
        Literal::decimal(&above(floor, scale)).unwrap()
    })
}

fn numbers() -> impl Strategy<Value = Literal> + Clone {
    let (integers, floats) = (integers().prop_map(Literal::Integer), floats().prop_map(Literal::Float));
    prop_oneof![integers, floats, decimals(), long_decimals()]
}

fn nanos() -> impl Strategy<Value = i128> + Clone {
    let day = 86_400_000_000_000i128;
    prop_oneof![
        (-3..4i128, -2..3i128).prop_map(move |(days, n)| days * day + n),
        any::<i64>().prop_map(i128::from),
        (-5..5i128, -2..3i128).prop_map(|(n, d)| n * 1_000_000_000 + d),
        (any::<i64>(), -1..2i128).prop_map(|(n, d)| i128::from(n) * 1_000_000_000 + d),
        any::<i128>(),
    ]
}

/// Literals that a column of a domain can be compared with.
fn literals(domain: Domain) -> BoxedStrategy<Literal> {
    let days = || prop_oneof![-4..4i64, any::<i32>().prop_map(i64::from), any::<i64>()].prop_map(Literal::Date);
    let stamps = |is_instant| nanos().prop_map(move |nanoseconds| Literal::Timestamp { nanoseconds, is_instant });
    let fitting = match domain {
        Domain::Boolean => any::<bool>().prop_map(Literal::Boolean).boxed(),
        Domain::Integer | Domain::Float | Domain::Decimal { .. } => numbers().boxed(),
        Domain::Text { .. } | Domain::Binary => {
            prop_oneof![texts().prop_map(Literal::String), bytes().prop_map(Literal::Binary)].boxed()
        }
        Domain::Date => prop_oneof![days(), stamps(false)].boxed(),
        Domain::Timestamp { is_instant: true, .. } => stamps(true).boxed(),
        Domain::Timestamp { .. } => prop_oneof![days(), stamps(false)].boxed(),
        Domain::Opaque | Domain::Null => Just(Literal::Null).boxed(),
    };
    prop_oneof![9 => fitting, 1 => Just(Literal::Null)].boxed()
}

/// A value near a literal, or another value.
fn value(domain: Domain, near: Option<&Literal>, nudge: i64, other: (i128, f64, Vec<u8>)) -> Value {
    let shifted = |n: i128| n.saturating_add(nudge.into());
    let (number, float) = match near {
        Some(Literal::Integer(n)) => (*n, *n as f64),
        Some(Literal::Float(f)) => (*f as i128, *f),
        Some(Literal::Decimal { unscaled, scale }) => {
            let whole = 10i128.checked_pow(*scale).map_or(0, |power| unscaled / power);
            (whole, format!("{unscaled}e-{scale}").parse().unwrap())
        }
        Some(Literal::LongDecimal { floor, scale, nearest, .. }) => {
            (10i128.checked_pow(*scale).map_or(0, |power| floor / power), *nearest)
        }
        Some(Literal::Date(days)) => (i128::from(*days), 0.0),
        Some(Literal::Timestamp { nanoseconds, .. }) => (*nanoseconds, 0.0),
        _ => (other.0, other.1),
    };
    let long = |n: i128| i64::try_from(n.clamp(i64::MIN.into(), i64::MAX.into())).unwrap();
    match domain {
        Domain::Boolean => Value::Integer(nudge & 1),
        Domain::Integer => Value::Integer(long(shifted(number))),
        Domain::Float if nudge > 0 => Value::Float(float.next_up()),
        Domain::Float if nudge < 0 => Value::Float(float.next_down()),
        Domain::Float => Value::Float(float),
        Domain::Decimal { scale } => {
            let unscaled = match near {
                Some(Literal::Decimal { unscaled, scale: from }) if *from == scale => *unscaled,
                Some(Literal::LongDecimal { floor, scale: from, .. }) if *from == scale => *floor,
                Some(Literal::Float(f)) => (f * 10f64.powi(scale.cast_signed())) as i128,
                _ => number.saturating_mul(10i128.pow(scale.min(38))),
            };
            // The range of a decimal with 38 digits.
            Value::Decimal(shifted(unscaled).clamp(1 - 10i128.pow(38), 10i128.pow(38) - 1))
        }
        Domain::Text { .. } | Domain::Binary => {
            let mut bytes = match near {
                Some(Literal::String(text)) => text.as_bytes().to_vec(),
                Some(Literal::Binary(bytes)) => bytes.clone(),
                _ => other.2,
            };
            match nudge {
                -1 => _ = bytes.pop(),
                1 => bytes.push(0),
                2 => bytes.push(0xff),
                _ => {}
            }
            Value::Bytes(bytes)
        }
        Domain::Date => {
            let days = match near {
                Some(Literal::Timestamp { nanoseconds, .. }) => nanoseconds.div_euclid(86_400_000_000_000),
                _ => number,
            };
            Value::Integer(long(shifted(days).clamp(i32::MIN.into(), i32::MAX.into())))
        }
        Domain::Timestamp { nanoseconds, .. } => {
            let nanos = match near {
                Some(Literal::Date(days)) => i128::from(*days) * 86_400_000_000_000,
                _ => number,
            };
            Value::Ticks(long(shifted(nanos.div_euclid(nanoseconds.into()))))
        }
        Domain::Opaque | Domain::Null => Value::Null,
    }
}

fn ops() -> impl Strategy<Value = Comparison> {
    use Comparison as C;
    prop::sample::select(vec![C::Equal, C::NotEqual, C::Less, C::LessOrEqual, C::Greater, C::GreaterOrEqual])
}

fn leaves(domain: Domain) -> BoxedStrategy<Predicate> {
    let a = || ColumnName::from("a");
    let compare = (ops(), literals(domain)).prop_map(move |(op, value)| Predicate::Compare { column: a(), op, value });
    let is_in = prop::collection::vec(literals(domain), 0..5);
    let is_in = is_in.prop_map(move |values| Predicate::In { column: a(), values: values.into() });
    let null = Just(Predicate::IsNull { column: a() });
    let more = match domain {
        Domain::Float => Just(Predicate::IsNan { column: a() }).boxed(),
        Domain::Text { .. } | Domain::Binary => {
            let starts_with = literals(domain).prop_map(move |prefix| Predicate::StartsWith { column: a(), prefix });
            let like = "[ab_%]{0,4}".prop_map(move |text| Predicate::like("a", text.parse().unwrap()));
            prop_oneof![starts_with, like].boxed()
        }
        _ => prop::sample::select(vec![None, Some(true), Some(false)]).prop_map(Predicate::Constant).boxed(),
    };
    prop_oneof![5 => compare, 2 => is_in, 1 => null, 2 => more].boxed()
}

fn predicates(domain: Domain) -> BoxedStrategy<Predicate> {
    leaves(domain)
        .prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                inner.clone().prop_map(|inner| !inner),
                prop::collection::vec(inner.clone(), 0..4).prop_map(Predicate::And),
                prop::collection::vec(inner, 0..4).prop_map(Predicate::Or),
            ]
        })
        .boxed()
}

fn literals_of(predicate: &Predicate) -> Vec<Literal> {
    match predicate {
        Predicate::Compare { value, .. } => vec![value.clone()],
        Predicate::In { values, .. } => values.to_vec(),
        Predicate::StartsWith { prefix, .. } => vec![prefix.clone()],
        Predicate::Like { pattern, .. } => vec![pattern.to_string().replace(['%', '_'], "b").into()],
        Predicate::And(parts) | Predicate::Or(parts) => parts.iter().flat_map(literals_of).collect(),
        Predicate::Not(inner) => literals_of(inner),
        _ => Vec::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]
    #[test]
    fn conditions_are_equivalent_to_predicates(
        (domain, predicate) in domains().prop_flat_map(|domain| (Just(domain), predicates(domain))),
        other in (integers(), floats(), bytes()),
    ) {
        let condition = condition(&predicate, domain).unwrap();
        let literals = literals_of(&predicate);
        let near = literals.iter().map(Some).chain([None]);
        let values = near.flat_map(|near| (-2..3).map(move |nudge| (near, nudge)));
        let values = values.map(|(near, nudge)| value(domain, near, nudge, other.clone()));
        for value in values.chain([Value::Null]) {
            let want = evaluate(&predicate, domain, &value) == Some(true);
            prop_assert_eq!(node(&condition.root, &condition, &value), want, "{} of {:?}, {:?}", predicate, value, domain);
        }
    }

    #[test]
    fn type_mismatches_are_errors(
        domain in prop_oneof![8 => domains(), 1 => Just(Domain::Opaque), 1 => Just(Domain::Null)],
        literal in domains().prop_flat_map(literals),
        op in ops(),
    ) {
        let column = || ColumnName::from("a");
        let predicate = Predicate::Compare { column: column(), op, value: literal.clone() };
        let fits = match (domain, &literal) {
            (Domain::Opaque, _) => false,
            (Domain::Null, _) | (_, Literal::Null) => true,
            (Domain::Boolean, Literal::Boolean(_)) | (Domain::Date, Literal::Date(_)) => true,
            (
                Domain::Integer | Domain::Float | Domain::Decimal { .. },
                Literal::Integer(_) | Literal::Float(_) | Literal::Decimal { .. } | Literal::LongDecimal { .. },
            ) => true,
            (Domain::Text { .. } | Domain::Binary, Literal::String(_) | Literal::Binary(_)) => true,
            (Domain::Date, Literal::Timestamp { is_instant, .. }) => !is_instant,
            (Domain::Timestamp { is_instant: of_column, .. }, Literal::Timestamp { is_instant, .. }) => {
                of_column == *is_instant
            }
            (Domain::Timestamp { is_instant, .. }, Literal::Date(_)) => !is_instant,
            _ => false,
        };
        prop_assert_eq!(condition(&predicate, domain).is_ok(), fits, "{} in {:?}", predicate, domain);
        let is_in = Predicate::In { column: column(), values: vec![literal].into() };
        prop_assert_eq!(condition(&is_in, domain).is_ok(), fits);
    }
}

#[test]
fn in_lists_are_bound_once_for_columns_of_a_type() {
    let list = Predicate::is_in("a", (0..2000).rev().map(|value| value * 3));
    let set_of = |predicate: &Predicate, domain| match condition(predicate, domain).unwrap().leaves.pop().unwrap().test
    {
        Test::In(set) => set,
        other => panic!("{other:?}"),
    };
    let first = set_of(&list, Domain::Integer);
    assert!(Arc::ptr_eq(&first, &set_of(&list.clone(), Domain::Integer)));
    let others = set_of(&!list.clone(), Domain::Integer);
    let decimals = set_of(&list, Domain::Decimal { scale: 2 });
    assert!(matches!(&*decimals, ValueSet::Decimals { scale: 2, .. }));
    assert!(Arc::ptr_eq(&first, &set_of(&list, Domain::Integer)));
    let (ValueSet::Integers(among), ValueSet::Integers(outside)) = (&*first, &*others) else { panic!("{first:?}") };
    assert_eq!((among.as_slice().len(), &among.complement()), (2000, outside));
}

#[test]
fn literals_of_any_scale_are_shown() {
    for scale in [0, 1, 38, 1000, 70_000, u32::MAX] {
        let literal = Literal::Decimal { unscaled: -12, scale };
        assert!(literal.to_string().len() < 2000, "{scale}");
        for domain in [Domain::Integer, Domain::Float, Domain::Decimal { scale: 3 }] {
            condition(&Predicate::Compare { column: "a".into(), op: Comparison::Less, value: literal.clone() }, domain)
                .unwrap();
        }
    }
}
