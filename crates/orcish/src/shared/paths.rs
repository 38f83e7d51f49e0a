//! Dotted names of fields within fields, and what is left of a field of which only some parts are wanted.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, FieldRef, Fields};

use crate::arrow::{item_of, with_item, with_type};
use crate::error::{Error, ErrorKind, Result};
use crate::projection::nearest;

/// Places of columns by name; names need not be unique.
#[derive(Debug, Default)]
pub(crate) struct Places {
    by_name: HashMap<String, Vec<usize>>,
    /// Bytes of the longest name.
    longest: usize,
}

impl Places {
    pub(crate) fn of(fields: &Fields) -> Self {
        let mut places = Places::default();
        for (place, field) in fields.iter().enumerate() {
            places.longest = places.longest.max(field.name().len());
            places.by_name.entry(field.name().clone()).or_default().push(place);
        }
        places
    }

    pub(crate) fn get(&self, name: &str) -> Option<&[usize]> {
        // A dotted name has as many beginnings as dots: hashing all of a long one takes the square of its length.
        let found = if name.len() > self.longest { None } else { self.by_name.get(name) };
        found.map(Vec::as_slice)
    }
}

/// Indexes from `fields`, of which `places` has the indexes by name, down to the field of a dotted name. An error
/// suggests those of `others` too.
///
/// # Errors
/// `UnknownColumn` where there is none.
pub(crate) fn path_of(fields: &Fields, places: &Places, name: &str, others: &Fields) -> Result<Vec<usize>> {
    walk(fields, places, name).ok_or_else(|| {
        let near = nearest(name, fields.iter().chain(others).map(|field| field.name().clone()));
        Error::new(ErrorKind::UnknownColumn, format!("no column of the table is named {name:?}; {near}"))
    })
}

/// The field at a path of indexes, of which each but the first is one of a struct.
pub(crate) fn field_at(fields: &Fields, path: &[usize]) -> Option<FieldRef> {
    let (first, rest) = path.split_first()?;
    let mut field = fields.get(*first)?;
    for &at in rest {
        let DataType::Struct(fields) = field.data_type() else { return None };
        field = fields.get(at)?;
    }
    Some(field.clone())
}

/// The error where a filter asks a name that is within a list or a map.
pub(crate) fn no_value(name: &str) -> Error {
    Error::invalid(format!("{name:?} is within a list or a map: a filter needs one value a row"))
}

/// Columns that are asked for, in the order in which they were first. Names may ask for several parts of one.
#[derive(Debug, Default)]
pub(crate) struct Choice {
    /// Places, with the paths that are asked for below each.
    chosen: Vec<(usize, Vec<Vec<usize>>)>,
    by_place: HashMap<usize, usize>,
}

impl Choice {
    /// Adds what is at a path; where its column is chosen by this, its index among the chosen ones.
    pub(crate) fn add(&mut self, path: &[usize]) -> Option<usize> {
        let (&top, below) = path.split_first()?;
        let next = self.chosen.len();
        let at = *self.by_place.entry(top).or_insert(next);
        if at == next {
            self.chosen.push((top, Vec::new()));
        }
        self.chosen.get_mut(at)?.1.push(below.to_vec());
        (at == next).then_some(at)
    }

    /// The columns, each with its place and the parts that are asked for.
    pub(crate) fn of(&self, fields: &Fields) -> Vec<(usize, FieldRef)> {
        let wanted = |(place, paths): &(usize, Vec<Vec<usize>>)| Some((*place, only(fields.get(*place)?, paths)));
        self.chosen.iter().filter_map(wanted).collect()
    }
}

/// The columns that dotted names ask for, each once, in the order in which they are first named: their places, and
/// their fields with those parts that are asked for.
///
/// # Errors
/// `UnknownColumn`.
pub fn choose(fields: &Fields, names: &[String]) -> Result<Vec<(usize, FieldRef)>> {
    let (places, mut choice) = (Places::of(fields), Choice::default());
    for name in names {
        choice.add(&path_of(fields, &places, name, &Fields::empty())?);
    }
    Ok(choice.of(fields))
}

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
fn walk(fields: &Fields, places: &Places, name: &str) -> Option<Vec<usize>> {
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
fn only(field: &FieldRef, paths: &[Vec<usize>]) -> FieldRef {
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
                DataType::Map(Arc::new(with_type(entries, DataType::Struct(parts))), *sorted)
            }
            _ => return field.clone(),
        },
        list => match item_of(list) {
            Some(item) => with_item(list, whole(0, item)),
            None => return field.clone(),
        },
    };
    Arc::new(with_type(field, kind))
}

#[cfg(test)]
mod tests {
    use arrow_schema::Field;

    use super::*;

    fn fields() -> Fields {
        let int = |name: &str| Field::new(name, DataType::Int32, true);
        let nest = Fields::from(vec![int("x"), int("y"), int("z")]);
        let items = Field::new_list("items", Field::new_struct("item", nest.clone(), true), true);
        Fields::from(vec![int("id"), Field::new_struct("nest", nest, true), items, int("a.b")])
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    /// All beginnings of a name of a million parts are a terabyte of text.
    #[test]
    fn names_that_are_longer_than_all() {
        let long = "x.".repeat(1_000_000);
        let error = choose(&fields(), &names(&[&long])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnknownColumn);
        assert!(choose(&fields(), &names(&["a.b", "nest.x"])).is_ok());
    }

    #[test]
    fn columns_come_in_order_of_their_first_names() {
        let chosen = choose(&fields(), &names(&["nest.z", "a.b", "id", "nest.x", "id"])).unwrap();
        assert_eq!(chosen.iter().map(|(place, _)| *place).collect::<Vec<_>>(), [1, 3, 0]);
        let DataType::Struct(parts) = chosen[0].1.data_type() else { panic!("{:?}", chosen[0]) };
        assert_eq!(parts.iter().map(|part| part.name().as_str()).collect::<Vec<_>>(), ["z", "x"]);
        assert!(choose(&fields(), &[]).unwrap().is_empty());
    }

    #[test]
    fn the_whole_stands_above_its_parts() {
        let all = fields();
        assert_eq!(choose(&all, &names(&["nest.x", "nest"])).unwrap(), [(1, all[1].clone())]);
        let chosen = choose(&all, &names(&["items.y"])).unwrap();
        let DataType::Struct(parts) = item_of(chosen[0].1.data_type()).unwrap().data_type() else { panic!() };
        assert_eq!(parts.len(), 1);
    }

    #[test]
    fn an_unknown_name_brings_near_ones() {
        let error = choose(&fields(), &names(&["nset"])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnknownColumn);
        assert!(error.to_string().contains("nearest: nest"), "{error}");
    }

    #[test]
    fn fields_are_found_within_structs_alone() {
        let all = fields();
        assert_eq!(field_at(&all, &[1, 2]).unwrap().name(), "z");
        assert!(field_at(&all, &[2, 0]).is_none() && field_at(&all, &[9]).is_none() && field_at(&all, &[]).is_none());
    }
}
