//! The union of the schemas of the files of a table.

use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};
use orcish_core::error::{Error, Result};
use orcish_core::unify::extend_schema;

use super::conflict::Conflict;
use super::table::{Table, without};
use super::table_file::SchemaFile;
use super::table_scan::Scan;
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
