//! Tests of the grammar, of messages, and of the limits. The tests of the Python package compare with what it prints.

use proptest::prelude::*;

use crate::names::ColumnName;
use crate::{Comparison, Literal, Pattern, Predicate};

fn parsed(text: &str) -> Predicate {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn literal(text: &str) -> Literal {
    match parsed(&format!("a = {text}")) {
        Predicate::Compare { column, op: Comparison::Equal, value } if column == "a" => value,
        other => panic!("{text}: {other:?}"),
    }
}

fn message(text: &str) -> String {
    text.parse::<Predicate>().map_or_else(|error| error.to_string(), |predicate| panic!("{text}: {predicate:?}"))
}

#[test]
fn grammar() {
    let a = |value: i64| Predicate::compare("a", Comparison::Equal, value);
    let b = || Predicate::compare("b", Comparison::Equal, true);
    for (text, expected) in [
        ("a = 1 and b", Predicate::And(vec![a(1), b()])),
        ("1 == a OR b", Predicate::Or(vec![a(1), b()])),
        ("a = 1 and (b and a=2)", Predicate::And(vec![a(1), b(), a(2)])),
        ("(a = 1 or b) and a = 2", Predicate::And(vec![Predicate::Or(vec![a(1), b()]), a(2)])),
        ("a = 1 or b and a = 2", Predicate::Or(vec![a(1), Predicate::And(vec![b(), a(2)])])),
        ("not not b", !!b()),
        ("not (a = 1 and b)", !Predicate::And(vec![a(1), b()])),
        ("a not in (1)", !Predicate::is_in("a", [1])),
        ("`x``y`.\"it''s\" is not null", !Predicate::is_null(ColumnName::of_steps(["x`y", "it''s"]))),
        ("a.b is null", Predicate::is_null(ColumnName::of_steps(["a", "b"]))),
        ("`a.b`.c is null", Predicate::is_null(ColumnName::of_steps(["a.b", "c"]))),
        ("\"a.b\" is null", Predicate::is_null("a.b")),
        ("5 < a", Predicate::compare("a", Comparison::Greater, 5)),
        ("a like 'x\\\\\\\\%%'", Predicate::StartsWith { column: "a".into(), prefix: "x\\".into() }),
        ("a not like '%x_'", !Predicate::Like { column: "a".into(), pattern: "%x_".parse().unwrap() }),
        (
            "contains(a, '5%') or endswith(a, 'z')",
            Predicate::Or(vec![
                Predicate::Like { column: "a".into(), pattern: Pattern::containing("5%") },
                Predicate::Like { column: "a".into(), pattern: Pattern::ending_with("z") },
            ]),
        ),
        ("a <=> 1", Predicate::And(vec![!Predicate::is_null("a"), a(1)])),
        ("not 1<=>a", !Predicate::And(vec![!Predicate::is_null("a"), a(1)])),
        ("null <=> a", Predicate::is_null("a")),
        ("-- all\na = 1 /* or /* b */ so */-- end", a(1)),
        ("a = -\t1", a(-1)),
        ("null or false", Predicate::Or(vec![Predicate::Constant(None), Predicate::Constant(Some(false))])),
        (
            "not a between 1 and 2",
            !Predicate::And(vec![
                Predicate::compare("a", Comparison::GreaterOrEqual, 1),
                Predicate::compare("a", Comparison::LessOrEqual, 2),
            ]),
        ),
    ] {
        assert_eq!(parsed(text), expected, "{text}");
    }
}

#[test]
fn literals() {
    let decimal = |unscaled: i128, scale: u32| Literal::Decimal { unscaled, scale };
    let instant = |nanoseconds| Literal::Timestamp { nanoseconds, is_instant: true };
    for (text, expected) in [
        ("+5L", Literal::Integer(5)),
        ("-170141183460469231731687303715884105728", Literal::Integer(i128::MIN)),
        ("170141183460469231731687303715884105728", Literal::Float(2f64.powi(127))),
        ("1.50", decimal(150, 2)),
        (".5", decimal(5, 1)),
        ("-5.", decimal(-5, 0)),
        ("12.5e2bd", decimal(1250, 0)),
        ("12.5e-3bd", decimal(125, 4)),
        ("0e-900bd", decimal(0, 900)),
        ("1e3", Literal::Float(1000.0)),
        ("5d", Literal::Float(5.0)),
        ("0.1F", Literal::Float(f64::from(0.1f32))),
        ("float '-Infinity'", Literal::Float(f64::NEG_INFINITY)),
        ("double( ' 1.5e0 ')", Literal::Float(1.5)),
        ("'it''s \\'\\t\\101\\u00e9\\U0001F600\\ud83d\\ude00\\%'", Literal::from("it's '\tAé😀😀\\%")),
        ("x'00fF'", Literal::Binary(vec![0, 255])),
        ("date '1970-1-2'", Literal::Date(1)),
        ("date '-999999999999999999-01-01'", Literal::Date(i64::MIN)),
        ("date '+999999999999999999-12-31'", Literal::Date(i64::MAX)),
        ("timestamp '1970-01-01'", Literal::Timestamp { nanoseconds: 0, is_instant: false }),
        ("timestamp '1970-01-01T00:00:01.5'", Literal::Timestamp { nanoseconds: 1_500_000_000, is_instant: false }),
        ("timestamp '1970-01-01 01:00+01'", instant(0)),
        ("timestamp '1969-12-31 18:30:00.000000001 -0530'", instant(1)),
        ("timestamp_ltz '1970-01-01 00:00 utc'", instant(0)),
    ] {
        assert_eq!(literal(text), expected, "{text}");
    }
    let Literal::LongDecimal { floor, scale, text, .. } = literal("-1.00000000000000000000000000000000000000001")
    else {
        panic!("41 digits behind the point");
    };
    assert_eq!((floor, scale), (-10i128.pow(37) - 1, 37));
    assert_eq!(&*text, "-1.00000000000000000000000000000000000000001");
}

#[test]
fn messages_have_positions_in_characters() {
    for (text, expected) in [
        ("", "the text is empty, and a predicate should be there (character 1)"),
        ("é >", "\"é >\" ends where a value should be (character 4)"),
        ("é = 'ü' b", "\"b\" is where \"and\" or \"or\" should be (character 9)"),
        ("a = '\\d'", "\"\\d\" is no escape: a backslash itself is written \\\\ (character 6)"),
        ("a = '\\ud800'", "\"\\ud800\" is half of a pair of surrogates (character 6)"),
        ("a = 1 /* so /* or */", "\"/* so /* or */\" is a comment that has no end (character 7)"),
        ("a = \u{1b}", "\"\\u{1b}\" is not allowed in a predicate (character 5)"),
        (
            "[[\"id\", \">\", 5]]",
            "\"[\" is not allowed in a predicate: lists of (column, operator, value) are passed as lists, not as text \
             (character 1)",
        ),
    ] {
        assert_eq!(message(text), expected);
    }
    let error = "a = 5 or".parse::<Predicate>().unwrap_err();
    assert_eq!(error.position(), Some(8));
}

#[test]
fn depth_is_limited() {
    assert_eq!(parsed(&format!("{}a{}", "(".repeat(256), ")".repeat(256))), parsed("a"));
    assert_eq!(message(&"(".repeat(100_000)), "\"(\" is more than 256 levels deep (character 257)");
    assert_eq!(message(&"not ".repeat(100_000)), "\"not\" is more than 256 levels deep (character 1025)");
    assert!(format!("{}a", "not ".repeat(255)).parse::<Predicate>().is_ok());
    let deep = format!("{}c{}", "(not a or b and ".repeat(200), ")".repeat(200));
    assert!(message(&deep).ends_with("is a predicate of more than 256 levels"));
    let flat = (0..100_000).map(|value| format!("a = {value}")).collect::<Vec<_>>().join(" or ");
    assert!(matches!(parsed(&flat), Predicate::Or(operands) if operands.len() == 100_000));
}

/// Pieces of predicates, and what is none.
fn pieces() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "and",
        "or",
        "not",
        "between",
        "in",
        "is",
        "like",
        "null",
        "true",
        "nan",
        "<=>",
        "-- a\n",
        "/*",
        "*/",
        "contains",
        "a",
        "`a`",
        "\"a\"",
        "a.b",
        "'x'",
        "x'00'",
        "date '2020-01-01'",
        "timestamp '2020-01-01 00:00+01:00'",
        "double",
        "starts_with",
        "isnull",
        "5",
        "-5",
        "1.5",
        "1e3",
        "5.",
        "=",
        "<>",
        "<=",
        "(",
        ")",
        ",",
        ".",
        "-",
        "'",
        "\"",
        "`",
        "\\",
        "[",
        "%",
        "é",
        "\u{0}",
        "\\u",
        "e",
        "1e-9bd",
        " ",
    ])
}

proptest! {
    #[test]
    fn any_text_is_a_predicate_or_an_error(text in prop_oneof![
        any::<String>(),
        prop::collection::vec(pieces(), 0..12).prop_map(|pieces| pieces.concat()),
        prop::collection::vec(pieces(), 0..12).prop_map(|pieces| pieces.join(" ")),
    ]) {
        if let Err(error) = text.parse::<Predicate>() {
            prop_assert!(error.position().is_none_or(|position| position <= text.chars().count()), "{error}");
            prop_assert!(!error.to_string().contains(char::is_control), "{error}");
        }
    }

    #[test]
    fn strings_are_read_back(value in any::<String>()) {
        let text = format!("'{}'", value.replace('\\', "\\\\").replace('\'', "''"));
        prop_assert_eq!(literal(&text), Literal::from(value));
    }

    #[test]
    fn integers_and_floats_are_read_back(integer in any::<i128>(), float in any::<f64>().prop_filter("finite", |f| f.is_finite())) {
        prop_assert_eq!(literal(&integer.to_string()), Literal::Integer(integer));
        prop_assert_eq!(literal(&format!("{float:e}")), Literal::Float(float));
    }

    #[test]
    fn dates_and_instants_are_read_back(days in -200_000_000_000i64..200_000_000_000, second in 0i128..86_400, nanos in 0i128..1_000_000_000) {
        let date = crate::calendar::date_text(days);
        let date = format!("date '{date}'");
        prop_assert_eq!(literal(&date), Literal::Date(days));
        let clock = format!("{:02}:{:02}:{:02}.{nanos:09}Z", second / 3600, second / 60 % 60, second % 60);
        let nanoseconds = (i128::from(days) * 86_400 + second) * 1_000_000_000 + nanos;
        let text = format!("timestamp '{} {clock}'", crate::calendar::date_text(days));
        prop_assert_eq!(literal(&text), Literal::Timestamp { nanoseconds, is_instant: true });
    }
}
