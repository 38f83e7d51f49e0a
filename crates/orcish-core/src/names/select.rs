//! Selection of columns and nested fields of an Arrow schema by dotted names.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, FieldRef, Fields};

use super::column_name::ColumnName;
use super::nearest::unknown_column;
use super::resolve::{NameResolver, TypeTree};
use crate::error::{Error, Result};
use crate::types::{item_of, with_item, with_type};

/// The types of Arrow as a tree of names. The root is a struct of the columns.
#[derive(Debug)]
struct ArrowTypes;

impl ArrowTypes {
    fn children(kind: &DataType) -> &[FieldRef] {
        match kind {
            DataType::Struct(fields) => fields,
            DataType::Map(entries, _) => match entries.data_type() {
                DataType::Struct(fields) if fields.len() == 2 => fields,
                _ => &[],
            },
            list => item_of(list).map_or(&[], std::slice::from_ref),
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

/// Resolves names of the columns of an Arrow schema, see [`NameResolver`].
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

    /// The path of field indexes to the field with a name. An error suggests names of the columns and of `others`.
    ///
    /// # Errors
    /// `UnknownColumn` where there is no such field, `InvalidArgument` where there are several.
    pub fn path(&mut self, name: &ColumnName, others: &Fields) -> Result<Vec<usize>> {
        self.resolver.resolve(name)?.ok_or_else(|| self.unknown(name, others))
    }

    /// As [`NameResolver::is_beside`].
    pub fn is_beside(&mut self, name: &ColumnName, other: &str) -> bool {
        self.resolver.is_beside(name, other)
    }

    fn unknown(&self, name: &ColumnName, others: &Fields) -> Error {
        unknown_column(name.as_str(), self.fields.iter().chain(others).map(|field| field.name().clone()))
    }
}

/// The field at a path of indexes through structs; `None` where there is no such field.
pub fn field_at(fields: &Fields, path: &[usize]) -> Option<FieldRef> {
    let (first, rest) = path.split_first()?;
    let mut field = fields.get(*first)?;
    for &at in rest {
        let DataType::Struct(fields) = field.data_type() else { return None };
        field = fields.get(at)?;
    }
    Some(field.clone())
}

/// The error for a filter on a field of a list or a map.
pub fn not_one_value_per_row(name: &str) -> Error {
    Error::invalid(format!("{name:?} is within a list or a map: a filter needs one value a row"))
}

/// Selected columns in the order of their first selection. Several nested fields of a column can be selected.
#[derive(Debug, Default)]
pub struct Selection {
    /// Indexes of columns, with the paths of the selected fields below each.
    columns: Vec<(usize, Vec<Vec<usize>>)>,
    /// For each selected column, its index in `columns`.
    positions: HashMap<usize, usize>,
}

impl Selection {
    /// Selects the field at a path. Returns the position of its column in the selection, if the column is new.
    pub fn add(&mut self, path: &[usize]) -> Option<usize> {
        let (&column, rest) = path.split_first()?;
        let next = self.columns.len();
        let position = *self.positions.entry(column).or_insert(next);
        if position == next {
            self.columns.push((column, Vec::new()));
        }
        self.columns.get_mut(position)?.1.push(rest.to_vec());
        (position == next).then_some(position)
    }

    /// The indexes of the selected columns, and their fields with the selected nested fields.
    pub fn fields(&self, fields: &Fields) -> Vec<(usize, FieldRef)> {
        let field = |(column, paths): &(usize, Vec<Vec<usize>>)| Some((*column, prune(fields.get(*column)?, paths)));
        self.columns.iter().filter_map(field).collect()
    }
}

/// Selects columns by names. Returns each column once, in the order of the names: its index, and its field with the
/// selected nested fields.
///
/// # Errors
/// `UnknownColumn` where there is no such column, `InvalidArgument` where several columns or fields have a name.
pub fn select(fields: &Fields, names: &[ColumnName]) -> Result<Vec<(usize, FieldRef)>> {
    let (mut resolver, mut selection) = (ArrowNames::new(fields), Selection::default());
    for name in names {
        selection.add(&resolver.path(name, &Fields::empty())?);
    }
    Ok(selection.fields(fields))
}

/// Removes the struct fields that are not selected by `paths`. An empty path selects the complete field. Lists and maps have
/// all their children, which may be pruned.
fn prune(field: &FieldRef, paths: &[Vec<usize>]) -> FieldRef {
    if paths.iter().any(Vec::is_empty) {
        return field.clone();
    }
    let mut selected: Vec<(usize, Vec<Vec<usize>>)> = Vec::new();
    for path in paths {
        let Some((&child, rest)) = path.split_first() else { continue };
        match selected.iter_mut().find(|(index, _)| *index == child) {
            Some((_, paths)) => paths.push(rest.to_vec()),
            None => selected.push((child, vec![rest.to_vec()])),
        }
    }
    let prune_child = |child: usize, field: &FieldRef| match selected.iter().find(|(index, _)| *index == child) {
        Some((_, paths)) => prune(field, paths),
        None => field.clone(),
    };
    let kind = match field.data_type() {
        DataType::Struct(fields) => {
            let field = |(child, paths): &(usize, Vec<Vec<usize>>)| Some(prune(fields.get(*child)?, paths));
            DataType::Struct(selected.iter().filter_map(field).collect())
        }
        DataType::Map(entries, sorted) => match entries.data_type() {
            DataType::Struct(fields) => {
                let fields: Fields =
                    fields.iter().enumerate().map(|(child, field)| prune_child(child, field)).collect();
                DataType::Map(Arc::new(with_type(entries, DataType::Struct(fields))), *sorted)
            }
            _ => return field.clone(),
        },
        list => match item_of(list) {
            Some(item) => with_item(list, prune_child(0, item)),
            None => return field.clone(),
        },
    };
    Arc::new(with_type(field, kind))
}

#[cfg(test)]
mod tests {
    use arrow_schema::Field;

    use super::*;
    use crate::error::ErrorKind;

    fn fields() -> Fields {
        let int = |name: &str| Field::new(name, DataType::Int32, true);
        let nest = Fields::from(vec![int("x"), int("y"), int("z")]);
        let items = Field::new_list("items", Field::new_struct("item", nest.clone(), true), true);
        Fields::from(vec![int("id"), Field::new_struct("nest", nest, true), items, int("a.b")])
    }

    fn names(names: &[&str]) -> Vec<ColumnName> {
        names.iter().map(|&name| name.into()).collect()
    }

    /// The prefixes of a name of a million parts have a terabyte together.
    #[test]
    fn long_names_are_rejected_fast() {
        let long = "x.".repeat(1_000_000);
        let error = select(&fields(), &names(&[&long])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnknownColumn);
        assert!(select(&fields(), &names(&["a.b", "nest.x"])).is_ok());
    }

    #[test]
    fn columns_are_in_the_order_of_the_names() {
        let selected = select(&fields(), &names(&["nest.z", "a.b", "id", "nest.x", "id"])).unwrap();
        assert_eq!(selected.iter().map(|(column, _)| *column).collect::<Vec<_>>(), [1, 3, 0]);
        let DataType::Struct(pruned) = selected[0].1.data_type() else { panic!("{:?}", selected[0]) };
        assert_eq!(pruned.iter().map(|field| field.name().as_str()).collect::<Vec<_>>(), ["z", "x"]);
        assert!(select(&fields(), &[]).unwrap().is_empty());
    }

    #[test]
    fn complete_columns_include_nested_fields() {
        let all = fields();
        assert_eq!(select(&all, &names(&["nest.x", "nest"])).unwrap(), [(1, all[1].clone())]);
        let selected = select(&all, &names(&["items.y"])).unwrap();
        let DataType::Struct(parts) = item_of(selected[0].1.data_type()).unwrap().data_type() else { panic!() };
        assert_eq!(parts.len(), 1);
    }

    #[test]
    fn unknown_names_suggest_similar_names() {
        let error = select(&fields(), &names(&["nset"])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnknownColumn);
        assert!(error.to_string().contains("nearest: nest"), "{error}");
    }

    #[test]
    fn a_name_of_several_columns_is_an_error() {
        let twice = |name: &str| vec![Field::new(name, DataType::Int32, true), Field::new(name, DataType::Utf8, true)];
        let mut all = twice("a");
        all.extend([Field::new_struct("s", twice("b"), true), Field::new_struct("c", twice("d"), true)]);
        let mut names = ArrowNames::new(&Fields::from(all));
        for name in ["a", "s.b", "c.d"] {
            let error = names.path(&name.into(), &Fields::empty()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{name}");
        }
        assert_eq!(names.path(&"s".into(), &Fields::empty()).unwrap(), [2]);
        assert_eq!(names.path(&"b".into(), &Fields::empty()).unwrap_err().kind(), ErrorKind::UnknownColumn);
    }

    #[test]
    fn paths_lead_through_structs_only() {
        let all = fields();
        assert_eq!(field_at(&all, &[1, 2]).unwrap().name(), "z");
        assert!(field_at(&all, &[2, 0]).is_none() && field_at(&all, &[9]).is_none() && field_at(&all, &[]).is_none());
    }
}
