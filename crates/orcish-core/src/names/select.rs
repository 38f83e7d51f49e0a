//! Selection of columns, and of parts of columns, of an Arrow schema by dotted names.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, FieldRef, Fields};

use super::nearest::nearest;
use super::resolve::{NameResolver, TypeTree};
use crate::error::{Error, ErrorKind, Result};
use crate::types::{item_of, with_item, with_type};

/// The types of Arrow as a tree of names. The root is a struct of the columns.
#[derive(Debug)]
struct ArrowTypes;

impl ArrowTypes {
    fn children(kind: &DataType) -> &[FieldRef] {
        match kind {
            DataType::Struct(fields) => fields,
            DataType::Map(entries, _) => match entries.data_type() {
                DataType::Struct(fields) => fields.get(..2).unwrap_or_default(),
                _ => &[],
            },
            list => item_of(list).map(std::slice::from_ref).unwrap_or_default(),
        }
    }
}

impl TypeTree for ArrowTypes {
    type Node = DataType;

    fn child_count(&self, node: &DataType) -> usize {
        Self::children(node).len()
    }

    fn child(&self, node: &DataType, index: usize) -> Option<DataType> {
        Some(Self::children(node).get(index)?.data_type().clone())
    }

    fn child_names(&self, node: &DataType, index: usize, add: &mut dyn FnMut(&str)) {
        match node {
            DataType::Map(_, _) => add(if index == 0 { "key" } else { "value" }),
            node if item_of(node).is_some() => ["element", "item"].into_iter().for_each(add),
            node => _ = Self::children(node).get(index).map(|field| add(field.name())),
        }
    }

    fn optional_child(&self, node: &DataType) -> Option<usize> {
        let is_collection = matches!(node, DataType::Map(_, _)) || item_of(node).is_some();
        Self::children(node).len().checked_sub(1).filter(|_| is_collection)
    }
}

/// Resolves dotted names of the columns of an Arrow schema, see [`NameResolver`].
#[derive(Debug)]
pub struct ArrowNames {
    fields: Fields,
    resolver: NameResolver<ArrowTypes>,
}

impl ArrowNames {
    /// A resolver of the names of `fields`.
    pub fn new(fields: &Fields) -> Self {
        let resolver = NameResolver::new(ArrowTypes, DataType::Struct(fields.clone()));
        ArrowNames { fields: fields.clone(), resolver }
    }

    /// The index of a field at each level down to the field that `name` stands for. An error suggests the names of the
    /// columns, and of `others`.
    ///
    /// # Errors
    /// `UnknownColumn` where there is no such field.
    pub fn path(&mut self, name: &str, others: &Fields) -> Result<Vec<usize>> {
        self.resolver.resolve(name).ok_or_else(|| {
            let near = nearest(name, self.fields.iter().chain(others).map(|field| field.name().clone()));
            Error::new(ErrorKind::UnknownColumn, format!("no column of the table is named {name:?}; {near}"))
        })
    }
}

/// The field at a path of indexes, of which each but the first is one of a struct.
pub fn field_at(fields: &Fields, path: &[usize]) -> Option<FieldRef> {
    let (first, rest) = path.split_first()?;
    let mut field = fields.get(*first)?;
    for &at in rest {
        let DataType::Struct(fields) = field.data_type() else { return None };
        field = fields.get(at)?;
    }
    Some(field.clone())
}

/// The error where a filter asks a name that is within a list or a map.
pub fn no_value(name: &str) -> Error {
    Error::invalid(format!("{name:?} is within a list or a map: a filter needs one value a row"))
}

/// Columns that are asked for, in the order in which they were first. Names may ask for several parts of one.
#[derive(Debug, Default)]
pub struct Choice {
    /// Places, with the paths that are asked for below each.
    chosen: Vec<(usize, Vec<Vec<usize>>)>,
    by_place: HashMap<usize, usize>,
}

impl Choice {
    /// Adds what is at a path; where its column is chosen by this, its index among the chosen ones.
    pub fn add(&mut self, path: &[usize]) -> Option<usize> {
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
    pub fn of(&self, fields: &Fields) -> Vec<(usize, FieldRef)> {
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
    let (mut resolver, mut choice) = (ArrowNames::new(fields), Choice::default());
    for name in names {
        choice.add(&resolver.path(name, &Fields::empty())?);
    }
    Ok(choice.of(fields))
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
