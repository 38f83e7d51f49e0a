//! The union of the schemas of the files of a table.

use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};
use orcish_core::error::{Error, Result};
use orcish_core::unify::{unify_schemas, unify_schemas_with_units};

use super::table::{Table, without};
use super::table_file::SchemaFile;
use super::table_scan::Scan;
use crate::projection::readable_columns;
use crate::read::OrcFile;
use crate::tuning;

/// The union of the schemas of the files of a table.
#[derive(Debug)]
pub struct UnifiedSchema {
    /// The columns of all files that can be read.
    pub schema: SchemaRef,
    /// Whether the schemas of the files differ.
    pub differs: bool,
    /// The error of the first column that cannot be read.
    pub fault: Option<Error>,
}

impl Scan {
    /// The union of the schemas of all files, without partition columns; see [`unify_schemas`]. A file that has the schema of
    /// the table is the first of them. All files decide on units of timestamps under
    /// [`TimestampUnit::Auto`](crate::options::TimestampUnit::Auto) and
    /// [`TimestampUnit::Exact`](crate::options::TimestampUnit::Exact). The tails of the files are read, several at a time.
    /// Files of zero bytes have no schema.
    ///
    /// With `keeps_units`, timestamps have the unit of the first file that has the column, with which readers of all files see
    /// them.
    ///
    /// # Errors
    /// `Unsupported` if the schemas have no union; the place of the error is the first file that differs. `Corrupt` if all
    /// files have zero bytes. As opening the files.
    pub fn unified_schema(&self, case_sensitive: bool, keeps_units: bool) -> Result<UnifiedSchema> {
        let table = self.table();
        let unify = if keeps_units { unify_schemas_with_units } else { unify_schemas };
        let mut unified = None;
        if let Some(SchemaFile { file, partition, .. }) = &table.schema_file {
            let (schema, fault) = schema_of(table, file)?;
            unified = Some(UnifiedSchema { schema: Arc::new(without(&schema, partition)), differs: false, fault });
        }
        // Files that decide on units are asked again.
        let stay_open = table.asks_for_units() && table.files.len() <= tuning::FILES_KEPT_OPEN.get();
        let schemas = if stay_open { table.map_open_files(readable_schema) } else { table.map_files(readable_schema) };
        for (at, schema) in schemas?.into_iter().enumerate() {
            let Some((schema, fault)) = schema else { continue };
            let Some(unified) = &mut unified else {
                unified = Some(UnifiedSchema { schema, differs: false, fault });
                continue;
            };
            unified.fault = unified.fault.take().or(fault);
            if unified.schema == schema {
                continue;
            }
            let union = unify(&unified.schema, &schema, case_sensitive).map_err(|error| {
                let message = format!("its columns do not go with those of the files before: {}", error.message());
                Error::new(error.kind(), message).in_file(&self.table().name(at))
            })?;
            unified.schema = Arc::new(union);
            unified.differs = true;
        }
        let mut unified =
            unified.ok_or_else(|| Error::corrupt("no file has a schema").in_file(&self.table().name(0)))?;
        let mut table = self.table().with_columns(&unified.schema, case_sensitive);
        table.decide_units()?;
        let schema = Schema::new_with_metadata(table.fields.clone(), unified.schema.metadata().clone());
        unified.differs |= schema != *unified.schema;
        unified.schema = Arc::new(schema);
        Ok(unified)
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
