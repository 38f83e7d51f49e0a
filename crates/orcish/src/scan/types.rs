//! Types of columns that all files of a table decide on.
//!
//! A column of a table has the narrowest type that holds the values of all files, whichever file is first: the union of the
//! types that the files have ([`orcish_core::unify`]). Writers choose the type `null` where they have seen no value, and choose
//! units of timestamps and widths of numbers file by file. The columns and their order are those of the first file.
//!
//! A file without an Arrow schema does not say that its numbers are numbers, or times: it has the types of the log of the table
//! where these are stored alike. Without a log, nothing says so, and its numbers are numbers.
//!
//! If there is no such type, the column has the type of the first file, and files with other values are errors where they are
//! read ([`super::matching`]).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_schema::{DataType, FieldRef, Fields, TimeUnit};
use orcish_core::error::{Error, OrInternal as _, Result};
use orcish_core::types::{
    decoded_type, entries_of, is_null_type, item_of, limited_text, typed_null, unlimited_text, value_type, with_type,
};
use orcish_core::unify::unify_fields;

use super::conflict::Conflict;
use super::matching::{Matcher, Path};
use super::replaced_fields::replaced_fields;
use super::table::{Table, normalized_field};
use super::table_file::Matching;
use crate::projection::{Projection, readable_columns};
use crate::read::{OrcFile, is_compatible};
use crate::schema::Kind;

/// A column of a file whose type is not that of the table.
#[derive(Debug, Clone)]
struct Other {
    /// The dotted name of the column in the table.
    name: String,
    of_table: FieldRef,
    of_file: FieldRef,
    /// Whether the file has an Arrow schema that counts.
    has_arrow_schema: bool,
}

type Others = BTreeMap<Path, Other>;

/// A file whose type of a column does not go with those of the files before.
struct Fault<'a> {
    path: &'a Path,
    /// The files with other types than the table.
    others: &'a [(usize, Other)],
    /// The index of the file.
    at: usize,
    error: Error,
}

impl Table {
    /// Gives columns the types that hold the values of all files, and returns the columns of which there is none. The tails of
    /// all files are read.
    pub(super) fn decide_types(&mut self) -> Result<Vec<Conflict>> {
        let Some((first_at, first)) = self.first_file() else { return Ok(Vec::new()) };
        let schema_file = self.schema_file.as_ref().map_or(&first, |schema| &schema.file);
        self.has_arrow_schema = self.options.arrow_schema && schema_file.stored().is_some();
        let others_of = move |table: &Self, at: usize, file: &OrcFile| {
            // Most files of a table have one schema.
            let is_same = at != first_at && file.has_schema_of(&first);
            if is_same { Ok(None) } else { table.others(file, false).map(Some) }
        };
        let mut columns: BTreeMap<Path, Vec<(usize, Other)>> = BTreeMap::new();
        let mut differs = false;
        for (at, others) in self.ask_each_file(others_of)?.into_iter().enumerate() {
            let Some(others) = others.flatten() else { continue };
            differs |= at != first_at;
            for (path, other) in others {
                columns.entry(path).or_default().push((at, other));
            }
        }
        let (mut unions, mut faults) = (BTreeMap::new(), Vec::new());
        for (path, others) in &columns {
            let Some((_, Other { of_table, of_file, .. })) = others.first() else { continue };
            match self.union(of_table, others) {
                Ok(union) => _ = unions.insert(path.clone(), union),
                Err((at, error)) => {
                    let at =
                        at.or_internal("the type of a table, which is the first, does not go with those before")?;
                    if is_null_type(of_table.data_type()) {
                        unions.insert(path.clone(), typed(of_table, of_file));
                    }
                    faults.push(Fault { path, others, at, error });
                }
            }
        }
        let conflicts = self.conflicts_of(faults)?;
        self.fields = replaced_fields(&self.fields, &|path, _| unions.get(path).cloned());
        if differs && self.options.timestamp_unit.is_none() && self.fields.iter().any(has_nanoseconds) {
            // Nanoseconds do not have the years of other units.
            self.decide_finest_units()?;
        }
        Ok(conflicts)
    }

    /// The field of the table with the union of its type and those of files. An error has the index of its file.
    fn union(&self, of_table: &FieldRef, others: &[(usize, Other)]) -> Result<FieldRef, (Option<usize>, Error)> {
        let files = others.iter().map(|(at, other)| (Some(*at), other));
        let table = Other {
            name: String::new(),
            of_table: of_table.clone(),
            of_file: of_table.clone(),
            has_arrow_schema: self.has_arrow_schema,
        };
        let table = (!is_null_type(of_table.data_type())).then_some((None, &table));
        let in_order: Vec<(Option<usize>, &Other)> = table.into_iter().chain(files).collect();
        // The common type of integers with and without sign is wider than some types that hold each of them. Files without
        // an Arrow schema have the types of the log.
        let mut by_kind = in_order.clone();
        by_kind.sort_by_key(|(_, other)| {
            let rank = match value_type(other.of_file.data_type()) {
                kind if kind.is_floating() => 0,
                kind if kind.is_decimal() => 1,
                _ => 2,
            };
            (!other.has_arrow_schema, rank)
        });
        // In their order, the error is that of the first file that does not go with those before.
        let all = self.folded(&by_kind).map_err(|error| self.folded(&in_order).err().unwrap_or(error))?;
        Ok(typed(of_table, &all.unwrap_or_else(|| of_table.clone())))
    }

    /// The union of types, in an order. An error has the index of its file; the type of the table has none.
    fn folded(&self, others: &[(Option<usize>, &Other)]) -> Result<Option<FieldRef>, (Option<usize>, Error)> {
        let case_sensitive = self.matching != Matching::NameIgnoringCase;
        let mut others = others.iter();
        let Some((_, first)) = others.next() else { return Ok(None) };
        let (mut all, mut is_stated) = (first.of_file.clone(), first.has_arrow_schema);
        for (at, other) in others {
            let (kind, file_kind) = (all.data_type(), other.of_file.data_type());
            let is_of_log = self.is_declared && is_stated && !other.has_arrow_schema;
            if is_of_log && is_stored_alike(file_kind, kind) {
                continue;
            }
            is_stated |= other.has_arrow_schema;
            let union = unify_fields(&all, &other.of_file, &other.name, case_sensitive);
            all = union.map_err(|error| (*at, error))?;
        }
        Ok(Some(all))
    }

    /// The first file that is not empty, and its index. Errors are returned when the file is read.
    fn first_file(&self) -> Option<(usize, OrcFile)> {
        (0..self.files.len()).find_map(|at| self.orc_file(at).ok().flatten().map(|file| (at, file)))
    }

    /// The conflicts of columns, with the names of both files.
    fn conflicts_of(&mut self, faults: Vec<Fault<'_>>) -> Result<Vec<Conflict>> {
        if faults.is_empty() {
            return Ok(Vec::new());
        }
        let paths: BTreeSet<Path> = faults.iter().map(|fault| fault.path.clone()).collect();
        let columns = self.ask_each_file(move |table, _, file| {
            let others = table.others(file, true)?;
            Ok(others.into_keys().filter(|path| paths.contains(path)).collect::<BTreeSet<_>>())
        })?;
        let mut conflicts = Vec::new();
        for Fault { path, others, at, error } in faults {
            let of_file = others.iter().find(|(file, _)| *file == at).map(|(_, of_file)| of_file);
            let of_file = of_file.or_internal("a file has no type that does not go with others")?;
            let mut before = others.iter().take_while(|(file, _)| *file != at);
            let other = before.find(|(_, other)| self.union(&other.of_file, &[(at, of_file.clone())]).is_err());
            let has_type_of_table = |(file, columns): &(usize, &Option<BTreeSet<Path>>)| {
                columns.as_ref().is_some_and(|columns| columns.contains(path))
                    && others.iter().all(|(other, _)| other != file)
            };
            let other = other.map(|(file, _)| *file);
            let first = other.or_else(|| columns.iter().enumerate().find(has_type_of_table).map(|(file, _)| file));
            let first = match first {
                Some(first) => self.name(first),
                None if self.schema_file.is_some() => "the log of the table".to_owned(),
                None => "the files before".to_owned(),
            };
            let text = format!("its columns do not go with those of {first}: {}", error.message());
            let error = Error::new(error.kind(), text).in_file(&self.name(at));
            conflicts.push(Conflict { column: of_file.name.clone(), error });
        }
        Ok(conflicts)
    }

    /// The columns of a file whose types have other unions with those of the table than these; or all columns, if `all`.
    fn others(&self, file: &OrcFile, all: bool) -> Result<Others> {
        let types = &file.tail().schema;
        let columns = readable_columns(types)?;
        let ids = match types.get(0)?.kind {
            Kind::Struct => {
                Projection::try_new(types, &columns)?.root.children.iter().map(|column| column.id).collect()
            }
            _ => vec![0],
        };
        let schema = file.schema(&self.schema_options(columns))?;
        let matcher = Matcher::new(self, file, &self.options);
        let has_arrow_schema = self.options.arrow_schema && file.stored().is_some();
        let states_types = has_arrow_schema && !self.has_arrow_schema;
        let mut search =
            Search { matcher: &matcher, all, has_arrow_schema, states_types, path: Vec::new(), others: Others::new() };
        search.fields(0, &self.fields, &ids, schema.fields(), "")?;
        Ok(search.others)
    }
}

/// The field of the table with the type of another field. Fields of tables of several files are nullable.
fn typed(of_table: &FieldRef, typed: &FieldRef) -> FieldRef {
    let typed = normalized_field(typed, true);
    Arc::new(if is_null_type(of_table.data_type()) {
        typed_null(of_table, &typed).with_nullable(of_table.is_nullable())
    } else {
        let field = with_type(of_table, typed.data_type().clone());
        if limited_text(&typed).is_some() { field } else { unlimited_text(field) }
    })
}

/// Whether a field has timestamps in nanoseconds.
fn has_nanoseconds(field: &FieldRef) -> bool {
    match value_type(field.data_type()) {
        DataType::Timestamp(unit, _) => *unit == TimeUnit::Nanosecond,
        DataType::Struct(fields) => fields.iter().any(has_nanoseconds),
        DataType::Map(entries, _) => has_nanoseconds(entries),
        DataType::Union(fields, _) => fields.iter().any(|(_, field)| has_nanoseconds(field)),
        list => item_of(list).is_some_and(has_nanoseconds),
    }
}

/// The search for columns of the table in a file.
struct Search<'a> {
    matcher: &'a Matcher<'a>,
    /// Whether columns with the type of the table are found, too.
    all: bool,
    /// Whether the file has an Arrow schema that counts.
    has_arrow_schema: bool,
    /// Whether it has, and the first file has none, so that its types are those of the table.
    states_types: bool,
    /// The path of the column that is looked at.
    path: Path,
    others: Others,
}

impl Search<'_> {
    /// Searches `fields` of the table, children of column `parent`, whose dotted name with a point at its end is `prefix`. The
    /// children of the column in the file are `ids`, with the fields `file_fields` in its schema.
    fn fields(&mut self, parent: u32, fields: &Fields, ids: &[u32], file_fields: &Fields, prefix: &str) -> Result<()> {
        let places = self.matcher.places(parent, fields);
        for (place, field) in fields.iter().enumerate() {
            // Ambiguous columns are errors when the file is read.
            let Ok(Some(id)) = self.matcher.find(parent, place, field, &places) else { continue };
            if let Some((_, file_field)) = ids.iter().zip(file_fields).find(|(other, _)| **other == id) {
                self.field(place, id, field, file_field, format!("{prefix}{}", field.name()))?;
            }
        }
        Ok(())
    }

    /// Searches in one field, column `id` of the file.
    fn field(&mut self, place: usize, id: u32, field: &FieldRef, file_field: &FieldRef, name: String) -> Result<()> {
        self.path.push(place);
        let this = self.matcher.schema().get(id)?;
        let below = |step: &str| format!("{name}.{step}");
        if self.all {
            self.add(&name, field, file_field);
        }
        match (value_type(field.data_type()), value_type(file_field.data_type()), &this.children[..]) {
            (DataType::Struct(fields), DataType::Struct(file_fields), children) if this.kind == Kind::Struct => {
                self.fields(id, fields, children, file_fields, &below(""))?;
            }
            (map, file_map, &[key, value])
                if let (Some(pair), Some(file_pair)) = (entries_of(map), entries_of(file_map)) =>
            {
                self.field(0, key, pair.0, file_pair.0, below("key"))?;
                self.field(1, value, pair.1, file_pair.1, below("value"))?;
            }
            (list, file_list, &[element])
                if let (Some(item), Some(file_item)) = (item_of(list), item_of(file_list))
                    && has_lengths_of(list, file_list) =>
            {
                self.field(0, element, item, file_item, below("element"))?;
            }
            _ => {
                let (of_table, of_file) = (field.data_type(), file_field.data_type());
                let is_longer = limited_text(field).is_some_and(|limit| limited_text(file_field) != Some(limit));
                let is_of_table = of_table == of_file && !is_longer
                    || decoded_type(of_table).equals_datatype(&decoded_type(of_file)) && of_table.is_nested()
                    || is_null_type(of_file)
                    || !self.states_types
                        && unify_fields(field, file_field, "", true).is_ok_and(|union| {
                            union.data_type() == of_table && limited_text(&union) == limited_text(field)
                        })
                    || self.is_given(of_table, of_file);
                if !is_of_table {
                    self.add(&name, field, file_field);
                }
            }
        }
        self.path.pop();
        Ok(())
    }

    /// Adds the column at the path that is looked at.
    fn add(&mut self, name: &str, of_table: &FieldRef, of_file: &FieldRef) {
        let (of_table, of_file) = (of_table.clone(), of_file.clone());
        let other = Other { name: name.to_owned(), of_table, of_file, has_arrow_schema: self.has_arrow_schema };
        self.others.insert(self.path.clone(), other);
    }

    /// Whether an option decides whether timestamps are instants, so that one type does not become the other.
    fn is_given(&self, of_table: &DataType, of_file: &DataType) -> bool {
        match (of_table, of_file) {
            (DataType::Timestamp(_, zone), DataType::Timestamp(_, other)) => {
                zone.is_some() != other.is_some() && self.matcher.mapping.options.timestamps.is_some()
            }
            _ => false,
        }
    }
}

/// Whether a type of a file without an Arrow schema is that of values which other files have as `kind`. Units of timestamps are
/// no part of the stored type, and nulls are stored as booleans.
fn is_stored_alike(physical: &DataType, kind: &DataType) -> bool {
    !matches!(value_type(kind), DataType::Timestamp(_, _) | DataType::Null) && is_compatible(physical, kind)
}

/// Whether lists of a type have all lengths of lists of another type.
fn has_lengths_of(list: &DataType, other: &DataType) -> bool {
    match (list, other) {
        (DataType::FixedSizeList(_, length), DataType::FixedSizeList(_, other)) => length == other,
        (DataType::FixedSizeList(_, _), _) => false,
        _ => true,
    }
}
