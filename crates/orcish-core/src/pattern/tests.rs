use proptest::prelude::*;

use super::*;

/// Whether a pattern, as its characters, matches the characters of a value: by all ways to divide the value.
fn slow_match(pattern: &[char], value: &[char]) -> bool {
    match pattern {
        [] => value.is_empty(),
        ['%', rest @ ..] => (0..=value.len()).any(|at| slow_match(rest, &value[at..])),
        ['_', rest @ ..] => !value.is_empty() && slow_match(rest, &value[1..]),
        ['\\', c, rest @ ..] | [c, rest @ ..] => value.first() == Some(c) && slow_match(rest, &value[1..]),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn matches_are_those_of_the_definition(pattern in r"([abé%_%]|\\[%_\\]){0,8}", value in r"[abé😀%_\\]{0,8}") {
        let found = pattern.parse::<Pattern>().unwrap();
        let of = |text: &str| text.chars().collect::<Vec<_>>();
        prop_assert_eq!(found.is_match(value.as_bytes()), slow_match(&of(&pattern), &of(&value)));
        if found.is_match(value.as_bytes()) {
            prop_assert!(value.starts_with(found.prefix()));
        }
        if let Some(text) = found.as_text() {
            prop_assert_eq!(found.is_match(value.as_bytes()), value == text);
        }
        if let Some(prefix) = found.as_prefix() {
            prop_assert_eq!(found.is_match(value.as_bytes()), value.starts_with(prefix));
        }
    }

    #[test]
    fn patterns_of_texts(text in r"[ab%_\\]{0,3}", value in r"[ab%_\\]{0,8}", bytes in any::<Vec<u8>>()) {
        for (pattern, want) in [
            (Pattern::containing(&text), value.contains(&text)),
            (Pattern::ending_with(&text), value.ends_with(&text)),
        ] {
            prop_assert_eq!(pattern.is_match(value.as_bytes()), want);
            let again: Pattern = pattern.to_string().parse().unwrap();
            prop_assert_eq!(again.is_match(value.as_bytes()), want);
            prop_assert_eq!(&again, &pattern);
            // Bytes that are not UTF-8.
            pattern.is_match(&bytes);
        }
    }

    #[test]
    fn any_bytes_have_an_answer(pattern in "[é_%]{0,6}", bytes in any::<Vec<u8>>()) {
        pattern.parse::<Pattern>().unwrap().is_match(&bytes);
    }
}

#[test]
fn backslashes_are_before_something() {
    for text in [r"a\", r"\a", r"\\\"] {
        assert!(text.parse::<Pattern>().unwrap_err().to_string().contains("with a backslash"));
    }
}
