//! Columns that rows add to a table, and that files of other writers may have already, unknown to the log.

use std::collections::HashSet;

use arrow_schema::{DataType, FieldRef, Schema};
use orcish_core::error::{Error, ErrorKind, Result};
use orcish_core::types::{map_fields, with_type};
use orcish_core::unify::{CAST_ADVICE, appended_schema, extended_schema};
use orcish_io::display_name;

use super::files::{TableFolder, is_other_or_gone};
use crate::options::ReadOptions;

/// The schema with which rows are added to columns of a table. Without Arrow schemas, dates of milliseconds are those of days.
///
/// # Errors
/// As [`appended_schema`](orcish_core::unify::appended_schema).
pub(super) fn schema_beside(table: &Schema, rows: &Schema, has_arrow_schema: bool) -> Result<Schema> {
    if has_arrow_schema {
        return appended_schema(table, rows, true);
    }
    let fields = map_fields(rows.fields(), &mut |field, _| match field.data_type() {
        DataType::Date64 => with_type(&field, DataType::Date32).into(),
        _ => field,
    });
    appended_schema(table, &Schema::new_with_metadata(fields, rows.metadata().clone()), false)
}

/// The columns of a table, and those that rows add to them, with the types that its files have for these. Readers see the columns
/// of such files from then on. The tails of all files are read if rows add columns.
///
/// # Errors
/// `InvalidArgument` if neither the type of the files holds the values of the rows, nor the other way round.
pub(super) fn with_columns_of_files(
    table: &Schema,
    rows: &Schema,
    folder: &TableFolder,
    has_arrow_schema: bool,
) -> Result<Schema> {
    let own = |name: &str| table.fields().iter().rfind(|field| field.name() == name);
    let is_added = |field: &&FieldRef| own(field.name()).is_none_or(|own| own.data_type() != field.data_type());
    let extended = extended_schema(table, rows);
    let added: Vec<FieldRef> = extended.fields().iter().filter(is_added).cloned().collect();
    let files = folder.locations();
    if added.is_empty() || files.is_empty() {
        return Ok(table.clone());
    }
    let find = || {
        let known = extended_schema(table, &columns_of(folder, &files, &added)?);
        if schema_beside(&known, rows, has_arrow_schema).is_ok() {
            return Ok(known);
        }
        let added_schema = Schema::new(added.clone());
        for file in &files {
            let own = columns_of(folder, std::slice::from_ref(file), &added)?;
            if let Err(error) = schema_beside(&added_schema, &own, has_arrow_schema) {
                let message = error.message();
                let text = message.strip_suffix(CAST_ADVICE).unwrap_or(message);
                return Err(Error::unsupported(text).in_file(&display_name(file)));
            }
        }
        Ok(table.clone())
    };
    find().or_else(|error: Error| match error.kind() {
        _ if is_other_or_gone(&error) => Ok(table.clone()),
        ErrorKind::Unsupported => {
            let names = added.iter().map(|field| field.name().as_str()).collect::<Vec<_>>().join(", ");
            Err(Error::invalid(format!(
                "the rows add columns to the schema of the table, {names}, and a file has other values there: {error}: rename \
                 the columns of the rows, or cast them to the types of the file"
            )))
        }
        _ => Err(error),
    })
}

/// The columns of files that have the names of other columns, with types that hold the values of all files.
///
/// # Errors
/// `Unsupported` if there are no such types.
fn columns_of(folder: &TableFolder, files: &[String], added: &[FieldRef]) -> Result<Schema> {
    let names: HashSet<&str> = added.iter().map(|field| field.name().as_str()).collect();
    let unified = folder.scan(files, ReadOptions::default())?.unified_schema(true)?;
    let is_within = |column: &str| names.iter().any(|name| format!("{column}.").starts_with(&format!("{name}.")));
    if let Some((_, error)) = unified.conflicts.iter().find(|(column, _)| is_within(column)) {
        return Err(error.clone());
    }
    let is_wanted = |field: &&FieldRef| names.contains(field.name().as_str());
    Ok(Schema::new(unified.schema.fields().iter().filter(is_wanted).cloned().collect::<Vec<_>>()))
}
