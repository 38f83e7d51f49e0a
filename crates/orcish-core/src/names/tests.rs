//! Names lead to the fields that their steps, or the longest names that their text begins with, lead to.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields};
use proptest::prelude::*;

use super::{ArrowNames, ColumnName, select};
use crate::error::ErrorKind;

fn field(name: &str, kind: DataType) -> FieldRef {
    Arc::new(Field::new(name, kind, true))
}

fn map_of(kind: DataType) -> DataType {
    let entries = Fields::from(vec![field("key", DataType::Utf8), field("value", kind)]);
    DataType::Map(field("entries", DataType::Struct(entries)), false)
}

/// Fields of different names, many of which begin with others.
fn any_fields() -> impl Strategy<Value = Fields> {
    let name = prop::sample::select(vec!["a", "b", "a.b", "a.b.a", "b.a", "", ".", "a.", "element", "value", "é.a"]);
    let fields = move |kinds: BoxedStrategy<DataType>| {
        prop::collection::btree_map(name.clone(), kinds, 1..5)
            .prop_map(|fields| fields.into_iter().map(|(name, kind)| field(name, kind)).collect::<Fields>())
    };
    let kinds = Just(DataType::Int32).boxed().prop_recursive(3, 24, 4, {
        let fields = fields.clone();
        move |kinds| {
            prop_oneof![
                4 => fields(kinds.clone().boxed()).prop_map(DataType::Struct),
                1 => kinds.clone().prop_map(|kind| DataType::List(field("item", kind))),
                1 => kinds.prop_map(map_of),
            ]
        }
    });
    fields(kinds.boxed())
}

/// The fields below a type, with their names.
fn children(kind: &DataType) -> Vec<(String, FieldRef)> {
    match kind {
        DataType::Struct(fields) => fields.iter().map(|field| (field.name().clone(), field.clone())).collect(),
        DataType::List(item) => vec![("element".to_owned(), item.clone())],
        DataType::Map(entries, _) => children(entries.data_type()),
        _ => Vec::new(),
    }
}

/// The indexes and the steps of all paths.
fn paths(kind: &DataType) -> Vec<(Vec<usize>, Vec<String>)> {
    let mut found = Vec::new();
    for (at, (name, field)) in children(kind).into_iter().enumerate() {
        found.push((vec![at], vec![name.clone()]));
        for (mut indexes, mut steps) in paths(field.data_type()) {
            indexes.insert(0, at);
            steps.insert(0, name.clone());
            found.push((indexes, steps));
        }
    }
    found
}

/// The path of a text: at each field, the longest name that it begins with is tried first, then the element or value.
fn longest_first(kind: &DataType, text: &str) -> Option<Vec<usize>> {
    let mut near: Vec<(usize, String, FieldRef)> =
        children(kind).into_iter().enumerate().map(|(at, (name, field))| (at, name, field)).collect();
    if let DataType::List(item) = kind {
        near.push((0, "item".to_owned(), item.clone()));
    }
    near.sort_by_key(|(_, name, _)| std::cmp::Reverse(name.len()));
    for (at, name, field) in near {
        let rest = text.strip_prefix(&name);
        if rest == Some("") {
            return Some(vec![at]);
        }
        if let Some(path) = rest.and_then(|rest| longest_first(field.data_type(), rest.strip_prefix('.')?)) {
            return Some([vec![at], path].concat());
        }
    }
    let last =
        children(kind).len().checked_sub(1).filter(|_| matches!(kind, DataType::List(_) | DataType::Map(_, _)))?;
    let (_, field) = children(kind).swap_remove(last);
    Some([vec![last], longest_first(field.data_type(), text)?].concat())
}

proptest! {
    #[test]
    fn the_steps_of_a_path_lead_to_its_field(fields in any_fields()) {
        let mut names = ArrowNames::new(&fields);
        for (indexes, steps) in paths(&DataType::Struct(fields.clone())) {
            let name = ColumnName::of_steps(&steps);
            prop_assert_eq!(names.path(&name, &Fields::empty()).unwrap(), indexes, "{:?}", name);
            prop_assert_eq!(name.steps().collect::<Vec<_>>(), steps.clone());
            prop_assert_eq!(name.as_str(), steps.join("."));
        }
    }

    #[test]
    fn the_longest_names_of_a_text_are_tried_first(
        fields in any_fields(),
        others in prop::collection::vec(prop::sample::select(vec!["a", "b", "", "item", "value", "é"]), 1..6),
    ) {
        let kind = DataType::Struct(fields.clone());
        let mut names = ArrowNames::new(&fields);
        let mut texts: Vec<String> = paths(&kind).into_iter().map(|(_, steps)| steps.join(".")).collect();
        texts.push(others.join("."));
        for text in texts {
            let want = longest_first(&kind, &text);
            prop_assert_eq!(names.path(&text.as_str().into(), &Fields::empty()).ok(), want.clone(), "{:?}", text);
            // Steps that lead nowhere are a text.
            let steps = ColumnName::of_steps(text.split('.'));
            prop_assert_eq!(names.path(&steps, &Fields::empty()).is_ok(), want.is_some(), "{:?}", text);
        }
    }
}

/// Columns `a` of `b` and of `b.c`, `a.b` of `c`, and `x.y`.
fn hidden() -> Fields {
    let int = |name: &str| field(name, DataType::Int32);
    let a = DataType::Struct(vec![int("b"), int("b.c")].into());
    vec![field("a", a), field("a.b", DataType::Struct(vec![int("c")].into())), int("x.y")].into()
}

#[test]
fn dots_between_steps_lead_into_columns() {
    let mut names = ArrowNames::new(&hidden());
    let mut path = |steps: &[&str]| names.path(&ColumnName::of_steps(steps), &Fields::empty()).unwrap();
    assert_eq!(path(&["a.b"]), [1]);
    assert_eq!(path(&["a", "b"]), [0, 0]);
    assert_eq!(path(&["a.b.c"]), [1, 0]);
    assert_eq!(path(&["a.b", "c"]), [1, 0]);
    assert_eq!(path(&["a", "b.c"]), [0, 1]);
    // There are no such fields: the text is that of a name.
    assert_eq!(path(&["a", "b", "c"]), [1, 0]);
    assert_eq!(path(&["x", "y"]), [2]);
    let unknown = names.path(&ColumnName::of_steps(["a", "z"]), &Fields::empty()).unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::UnknownColumn);
    assert!(unknown.to_string().contains("\"a.z\""), "{unknown}");
    let selected = select(&hidden(), &[ColumnName::of_steps(["a", "b"]), "a.b".into()]).unwrap();
    assert_eq!(selected.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn a_column_beside_others_has_a_text_of_its_own() {
    let mut names = ArrowNames::new(&hidden());
    for (steps, other, is_beside) in [
        (&["a.b"][..], "a.b", true),
        (&["a", "b"], "a.b", false),
        (&["a", "z"], "a.z", true),
        (&["a", "z"], "a.b", false),
        (&["z"], "z", true),
    ] {
        assert_eq!(names.is_beside(&ColumnName::of_steps(steps), other), is_beside, "{steps:?} {other}");
    }
}

#[test]
fn names_are_compared_by_their_steps() {
    assert_eq!(ColumnName::from("a.b"), "a.b");
    assert_eq!(ColumnName::of_steps(["a.b"]), ColumnName::from("a.b"));
    assert_ne!(ColumnName::of_steps(["a", "b"]), "a.b");
    assert_ne!(ColumnName::of_steps(["a", "b.c"]), ColumnName::of_steps(["a.b", "c"]));
    assert_eq!(ColumnName::of_steps(["a", "b"]).to_string(), "a.b");
    assert_eq!(ColumnName::of_steps(Vec::<String>::new()), "");
}
