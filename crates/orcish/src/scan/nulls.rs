//! Types of columns that are `null` in the first file of a table.
//!
//! Writers choose the type `null` where they have seen no value, such as pandas for columns of `None`. A column of this type,
//! nested ones included, has the type of the first file that has another one. Variants of unions keep their types.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_schema::{DataType, FieldRef, Fields};
use orcish_core::error::Result;
use orcish_core::types::{entries_of, item_of, typed_null, value_type};

use super::matching::{Matcher, Path};
use super::replaced_fields::replaced_fields;
use super::table::{Table, normalized_field};
use crate::projection::{Projection, readable_columns};
use crate::read::OrcFile;
use crate::schema::Kind;

/// Fields of other types, by the paths of the columns of type `null`.
type Found = BTreeMap<Path, FieldRef>;

impl Table {
    /// Gives columns of type `null` the types that they have in other files. The tails of all files are read if there are such
    /// columns.
    pub(super) fn decide_nulls(&mut self) -> Result<()> {
        // A type that is found can have further nulls in it.
        while self.schema_file.is_none() && self.files.len() > 1 && self.fields.iter().any(has_null) {
            let mut found = Found::new();
            for of_file in self.ask_each_file(|table, file| table.types_of_nulls(file))?.into_iter().flatten() {
                of_file.into_iter().for_each(|(path, field)| _ = found.entry(path).or_insert(field));
            }
            if found.is_empty() {
                break;
            }
            // All fields of a table of several files are nullable.
            self.fields = replaced_fields(&self.fields, &|path, field| {
                let typed = typed_null(field, &normalized_field(found.get(path)?, true));
                Some(Arc::new(typed.with_nullable(field.is_nullable())))
            });
        }
        Ok(())
    }

    /// The types that a file has for columns of type `null`.
    fn types_of_nulls(&self, file: &OrcFile) -> Result<Found> {
        let types = &file.tail().schema;
        let columns = readable_columns(types)?;
        let ids = match types.get(0)?.kind {
            Kind::Struct => Projection::new(types, &columns)?.root.children.iter().map(|column| column.id).collect(),
            _ => vec![0],
        };
        let schema = file.schema(&self.schema_options(columns))?;
        let mut search = Search { matcher: &Matcher::new(self, file, &self.options), found: Found::new() };
        search.fields(0, &self.fields, &ids, schema.fields(), &mut Vec::new())?;
        Ok(search.found)
    }
}

/// The search for types of columns in a file.
struct Search<'a> {
    matcher: &'a Matcher<'a>,
    found: Found,
}

impl Search<'_> {
    /// Searches `fields` of the table, children of column `parent`, among the children `ids` of the column, whose fields in
    /// the schema of the file are `own`.
    fn fields(&mut self, parent: u32, fields: &Fields, ids: &[u32], own: &Fields, path: &mut Path) -> Result<()> {
        let places = self.matcher.places(parent, fields);
        for (place, field) in fields.iter().enumerate().filter(|(_, field)| has_null(field)) {
            // Ambiguous columns are errors when the file is read.
            let Ok(Some(id)) = self.matcher.find(parent, place, field, &places) else { continue };
            if let Some((_, own)) = ids.iter().zip(own).find(|(other, _)| **other == id) {
                self.field(place, id, field, own, path)?;
            }
        }
        Ok(())
    }

    /// Searches one field, column `id` of the file.
    fn field(&mut self, place: usize, id: u32, field: &FieldRef, own: &FieldRef, path: &mut Path) -> Result<()> {
        path.push(place);
        let this = self.matcher.schema().get(id)?;
        match (value_type(field.data_type()), value_type(own.data_type()), &this.children[..]) {
            (DataType::Null, DataType::Null, _) => {}
            (DataType::Null, _, _) => _ = self.found.insert(path.clone(), own.clone()),
            (DataType::Struct(fields), DataType::Struct(own), children) if this.kind == Kind::Struct => {
                self.fields(id, fields, children, own, path)?;
            }
            (map, own_map, &[key, value]) if let (Some(pair), Some(own)) = (entries_of(map), entries_of(own_map)) => {
                self.field(0, key, pair.0, own.0, path)?;
                self.field(1, value, pair.1, own.1, path)?;
            }
            (list, own_list, &[element]) if let (Some(item), Some(own)) = (item_of(list), item_of(own_list)) => {
                self.field(0, element, item, own, path)?;
            }
            _ => {}
        }
        path.pop();
        Ok(())
    }
}

/// Whether a field has the type `null` in it, outside of unions.
fn has_null(field: &FieldRef) -> bool {
    match value_type(field.data_type()) {
        DataType::Null => true,
        DataType::Struct(fields) => fields.iter().any(has_null),
        DataType::Map(entries, _) => has_null(entries),
        list => item_of(list).is_some_and(has_null),
    }
}
