//! The union of the schemas of the files of a table.

use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};
use orcish_core::error::{Error, Result};
use orcish_core::unify::{extend_schema, extended_schema};

use super::conflict::Conflict;
use super::table::{Table, without};
use super::table_file::{SchemaFile, SchemaSource, TableFile};
use super::table_scan::Scan;
use crate::options::Columns;
use crate::projection::readable_columns;
use crate::read::OrcFile;
use crate::tuning;

/// The union of the schemas of the files of a table.
#[derive(Debug)]
pub struct UnifiedSchema {
    /// The columns of all files that can be read. A column that has no common type in all files has its first type.
    pub schema: SchemaRef,
    /// Whether the schemas of the files differ.
    pub differs: bool,
    /// The error of the first column that cannot be read.
    pub fault: Option<Error>,
    /// Columns that have no common type: their dotted names and errors of kind `Unsupported`, which name both files.
    pub conflicts: Vec<(String, Error)>,
}

impl Scan {
    /// The union of the schemas of all files, without partition columns; see [`unify_schemas`]. A file that has the schema of
    /// the table is the first of them. All files decide on units of timestamps under
    /// [`TimestampUnit::Auto`](crate::options::TimestampUnit::Auto) and
    /// [`TimestampUnit::Exact`](crate::options::TimestampUnit::Exact). The tails of the files are read, several at a time.
    /// Files of zero bytes have no schema.
    ///
    /// # Errors
    /// `InvalidArgument` if names of columns are ambiguous. `Corrupt` if all files have zero bytes. As opening the files.
    ///
    /// [`unify_schemas`]: orcish_core::unify::unify_schemas
    pub fn unified_schema(&self, case_sensitive: bool) -> Result<UnifiedSchema> {
        let table = self.table();
        let mut unified = None;
        if let Some(SchemaFile { file, partition, .. }) = &table.schema_file {
            let (schema, fault) = schema_of(table, file)?;
            unified = Some((Arc::new(without(&schema, partition)), fault));
        }
        let mut differs = false;
        // Files are asked for their types again.
        let stay_open = table.files.len() <= tuning::FILES_KEPT_OPEN.get();
        let schemas = if stay_open { table.map_open_files(readable_schema) } else { table.map_files(readable_schema) };
        for (at, schema) in schemas?.into_iter().enumerate() {
            let Some((schema, fault)) = schema else { continue };
            let Some((all, first_fault)) = &mut unified else {
                unified = Some((schema, fault));
                continue;
            };
            *first_fault = first_fault.take().or(fault);
            if *all != schema {
                differs = true;
                let extended = extend_schema(all, &schema, case_sensitive);
                *all = Arc::new(extended.map_err(|error| error.in_file(&table.name(at)))?);
            }
        }
        let no_schema = || Error::corrupt("no file has a schema").in_file(&table.name(0));
        let (schema, fault) = unified.ok_or_else(no_schema)?;
        let mut table = table.with_columns(&schema, case_sensitive);
        let conflicts = if differs { table.decide_types()? } else { Vec::new() };
        table.decide_units()?;
        let decided = Schema::new_with_metadata(table.fields.clone(), schema.metadata().clone());
        let differs = differs || decided != *schema;
        let conflicts = conflicts.into_iter().map(|Conflict { column, error }| (column, error)).collect();
        Ok(UnifiedSchema { schema: Arc::new(decided), differs, fault, conflicts })
    }

    /// The columns of the table, and after them those that only its files have, with types that hold the values of all files.
    /// Columns of a schema that is none of the files, such as that of a log, have its types. Partition columns are left out.
    ///
    /// Readers see the columns of the log, or of the first file. Whoever writes the rows anew would lose the others.
    ///
    /// `is_whole` is whether all columns are wanted: columns that cannot be read, and those without a common type, are errors then.
    ///
    /// # Errors
    /// `Unsupported` if the types of a column in two files have no common type. As [`unified_schema`](Self::unified_schema).
    pub fn all_columns(&self, is_whole: bool) -> Result<SchemaRef> {
        let table = self.table();
        let own = Schema::new_with_metadata(table.fields.clone(), table.metadata.clone());
        let is_logged = table.schema_file.is_some();
        if is_logged && table.files.is_empty() {
            return Ok(Arc::new(own));
        }
        let union = if is_logged {
            // The schema of a log is no file, and columns that partition columns hide are no columns of the rows.
            let files = table.files.iter().map(|file| TableFile { partition: Vec::new(), ..file.clone() }).collect();
            let options = table.schema_options(Columns::Names(Vec::new()));
            let storage = table.storage.clone();
            Scan::try_new(files, SchemaSource::FirstFile, options, table.matching.clone(), storage)?
                .unified_schema(true)?
        } else {
            self.unified_schema(true)?
        };
        if is_whole {
            if let Some(fault) = union.fault {
                return Err(fault);
            }
            let is_of_log = |column: &str| {
                let is_within = |own: &str| format!("{column}.").starts_with(&format!("{own}."));
                is_logged && table.fields.iter().any(|field| is_within(field.name()))
            };
            if let Some((_, error)) = union.conflicts.into_iter().find(|(column, _)| !is_of_log(column)) {
                let advice = "cast one of them, or choose columns that go together";
                let advised = Error::new(error.kind(), format!("{}: {advice}", error.message()));
                return Err(match &error.place().file {
                    Some(file) => advised.in_file(file),
                    None => advised,
                });
            }
        }
        Ok(if is_logged { Arc::new(extended_schema(&own, &union.schema)) } else { union.schema })
    }
}

/// The schema of the columns of a file that can be read, and the error of the others; `None` for a file of zero bytes.
fn readable_schema(table: &Table, at: usize) -> Result<Option<(Arc<Schema>, Option<Error>)>> {
    table.orc_file(at)?.map(|file| schema_of(table, &file)).transpose()
}

fn schema_of(table: &Table, file: &OrcFile) -> Result<(Arc<Schema>, Option<Error>)> {
    let types = &file.tail().schema;
    let fault = types.fault(0);
    let options = table.schema_options(readable_columns(types)?);
    Ok((file.schema(&options)?, fault.map(|fault| fault.in_file(file.name()))))
}
