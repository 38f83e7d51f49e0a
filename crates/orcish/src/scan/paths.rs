//! Dotted names of fields within fields, and what is left of a field of which only some parts are wanted.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, FieldRef, Fields};

use crate::arrow::{item_of, with_item};

/// The fields below a type, with the names that lead to them.
fn below(kind: &DataType) -> Vec<(Vec<&str>, &FieldRef)> {
    match kind {
        DataType::Struct(fields) => fields.iter().map(|field| (vec![field.name().as_str()], field)).collect(),
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(fields) => {
                ["key", "value"].into_iter().zip(fields).map(|(name, field)| (vec![name], field)).collect()
            }
            _ => Vec::new(),
        },
        list => item_of(list).map(|item| (vec!["element", "item"], item)).into_iter().collect(),
    }
}

/// Follows a dotted name down from `fields`, of which `places` has the indexes by name. Names may hold dots themselves:
/// the longest that fits goes first. The word for the element of a list or the value of a map may be left out where
/// what follows is a field of it. Of fields of one name it is the first.
pub(super) fn walk(fields: &Fields, places: &HashMap<String, Vec<usize>>, name: &str) -> Option<Vec<usize>> {
    let place = |name: &str| places.get(name)?.first().copied();
    if let Some(at) = place(name) {
        return Some(vec![at]);
    }
    name.rmatch_indices('.').find_map(|(dot, _)| {
        let at = place(name.get(..dot)?)?;
        let way = walk_type(fields.get(at)?.data_type(), name.get(dot + 1..)?)?;
        Some([vec![at], way].concat())
    })
}

fn walk_parts(parts: &[(Vec<&str>, &FieldRef)], name: &str) -> Option<Vec<usize>> {
    let mut steps: Vec<(usize, usize, &FieldRef)> = Vec::new();
    for (at, (names, field)) in parts.iter().enumerate() {
        for step in names {
            let rest = name.strip_prefix(step);
            if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) {
                steps.push((step.len(), at, field));
            }
        }
    }
    steps.sort_by_key(|&(length, _, _)| std::cmp::Reverse(length));
    for (length, at, field) in steps {
        match name.get(length..).and_then(|rest| rest.strip_prefix('.')) {
            None => return Some(vec![at]),
            Some(rest) => {
                if let Some(way) = walk_type(field.data_type(), rest) {
                    return Some([vec![at], way].concat());
                }
            }
        }
    }
    None
}

fn walk_type(kind: &DataType, name: &str) -> Option<Vec<usize>> {
    let parts = below(kind);
    if let Some(way) = walk_parts(&parts, name) {
        return Some(way);
    }
    let may_be_left_out = matches!(kind, DataType::Map(_, _)) || item_of(kind).is_some();
    let (true, Some((_, inner))) = (may_be_left_out, parts.last()) else { return None };
    Some([vec![parts.len() - 1], walk_type(inner.data_type(), name)?].concat())
}

/// A field with those of its parts that are asked for, by their paths; an empty path is all of it. Lists and maps
/// have all their parts, of which less may be read.
pub(super) fn only(field: &FieldRef, paths: &[Vec<usize>]) -> FieldRef {
    if paths.iter().any(Vec::is_empty) {
        return field.clone();
    }
    let mut chosen: Vec<(usize, Vec<Vec<usize>>)> = Vec::new();
    for path in paths {
        let Some((&at, below)) = path.split_first() else { continue };
        match chosen.iter_mut().find(|(place, _)| *place == at) {
            Some((_, paths)) => paths.push(below.to_vec()),
            None => chosen.push((at, vec![below.to_vec()])),
        }
    }
    let whole = |at: usize, part: &FieldRef| match chosen.iter().find(|(place, _)| *place == at) {
        Some((_, paths)) => only(part, paths),
        None => part.clone(),
    };
    let kind = match field.data_type() {
        DataType::Struct(fields) => {
            let part = |(at, paths): &(usize, Vec<Vec<usize>>)| Some(only(fields.get(*at)?, paths));
            DataType::Struct(chosen.iter().filter_map(part).collect())
        }
        DataType::Map(entries, sorted) => match entries.data_type() {
            DataType::Struct(fields) => {
                let parts: Fields = fields.iter().enumerate().map(|(at, part)| whole(at, part)).collect();
                let entries = entries.as_ref().clone().with_data_type(DataType::Struct(parts));
                DataType::Map(Arc::new(entries), *sorted)
            }
            _ => return field.clone(),
        },
        list => match item_of(list) {
            Some(item) => with_item(list, whole(0, item)),
            None => return field.clone(),
        },
    };
    Arc::new(field.as_ref().clone().with_data_type(kind))
}
