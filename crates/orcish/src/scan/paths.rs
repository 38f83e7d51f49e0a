//! Dotted names of fields within fields, and what is left of a field of which only some parts are wanted.

use std::sync::Arc;

use arrow_schema::{DataType, FieldRef, Fields};

/// The fields below a type, with the names that lead to them.
fn below(kind: &DataType) -> Vec<(Vec<String>, &FieldRef)> {
    match kind {
        DataType::Struct(fields) => fields.iter().map(|field| (vec![field.name().clone()], field)).collect(),
        DataType::List(item) => vec![(vec!["element".to_owned(), "item".to_owned()], item)],
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(fields) => {
                ["key", "value"].iter().zip(fields).map(|(name, field)| (vec![(*name).to_owned()], field)).collect()
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Follows a dotted name down. Names may hold dots themselves: the longest that fits goes first. The word for the
/// element of a list or the value of a map may be left out where what follows is a field of it.
pub(super) fn walk(fields: &[(Vec<String>, &FieldRef)], name: &str) -> Option<Vec<usize>> {
    let mut steps: Vec<(usize, usize, &FieldRef)> = Vec::new();
    for (at, (names, field)) in fields.iter().enumerate() {
        for step in names {
            let rest = name.strip_prefix(step.as_str());
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
    if let Some(way) = walk(&parts, name) {
        return Some(way);
    }
    let (DataType::List(_) | DataType::Map(_, _), Some((_, inner))) = (kind, parts.last()) else { return None };
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
        DataType::List(item) => DataType::List(whole(0, item)),
        DataType::Map(entries, sorted) => match entries.data_type() {
            DataType::Struct(fields) => {
                let parts: Fields = fields.iter().enumerate().map(|(at, part)| whole(at, part)).collect();
                let entries = entries.as_ref().clone().with_data_type(DataType::Struct(parts));
                DataType::Map(Arc::new(entries), *sorted)
            }
            _ => return field.clone(),
        },
        _ => return field.clone(),
    };
    Arc::new(field.as_ref().clone().with_data_type(kind))
}
