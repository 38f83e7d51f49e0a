//! The types of files that are written again: those with which readers of the table have read the files.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_schema::{DataType, FieldRef, Metadata, Schema, SchemaRef};
use orcish_core::error::Result;
use orcish_core::types::{SPARK_TYPE, is_extension_key, map_fields, value_type, with_type};
use orcish_io::StorageOptions;

use super::log_schema::{LoggedSchema, has_arrow_schema, is_text_type};
use super::source_file::{SourceFile, fields_by_path};
use super::timestamps::TimestampTypes;
use super::twins::{check_twins, without_twins};
use crate::options::{Columns, ReadOptions, TimestampUnit, Timestamps};
use crate::read::TYPE_KEY;
use crate::scan::{Matching, Scan, SchemaSource};
use crate::write::are_inferred;

/// How files are read, and what the new file has.
#[derive(Debug, Clone)]
pub(super) struct RewrittenTypes {
    /// The schema with which the rows are read and written. Its metadata decide the ORC types.
    pub(super) read: SchemaRef,
    /// The Arrow schema of the new file: the types of the table.
    pub(super) recorded: SchemaRef,
    /// Whether the new file has it.
    pub(super) has_arrow_schema: bool,
    /// Whether the rows have the types of ORC, whatever Arrow types files were written with.
    pub(super) ignores_arrow_types: bool,
}

impl RewrittenTypes {
    /// The types of the table, and after them the columns that only the files have. Without a log, the first file decides, unless its
    /// types do not hold the values of the others.
    ///
    /// With `keeps_instants`, columns of type `timestamp` are read as the instants that are stored, whatever their type is in the
    /// table. `arrow_schema` is whether the new file has an Arrow schema; by default if readers take the types from one, or if they do
    /// not infer the types of all columns.
    ///
    /// # Errors
    /// `Unsupported` if the files have columns that are one column to some readers; as reading the schemas of the files.
    pub(super) fn try_new(
        files: &[SourceFile],
        logged: Option<&LoggedSchema>,
        storage: &StorageOptions,
        keeps_instants: bool,
        arrow_schema: Option<bool>,
    ) -> Result<Self> {
        check_twins(files)?;
        let types = Types { files, logged, storage };
        let stored = types.timestamp_types()?;
        let reads_arrow_schema = types.reads_arrow_schema();
        let has_arrow_schema = match arrow_schema {
            Some(given) => given,
            // Columns of later files may have types that only an Arrow schema keeps.
            None if logged.is_none() && !reads_arrow_schema && files.len() > 1 => {
                let seen = stored.applied_to(&types.of_table(ReadOptions::default())?);
                !are_inferred(seen.fields())?
            }
            None => reads_arrow_schema,
        };
        // Without a log, readers take units from the new file, which has those that they saw before.
        let options = match logged {
            None if has_arrow_schema => ReadOptions::default(),
            _ => ReadOptions::default().with_timestamp_unit(TimestampUnit::Exact),
        };
        let table = types.of_table(options.clone())?;
        let recorded = Arc::new(stored.applied_to(&table));
        let read = if keeps_instants {
            let instants = types.of_table(options.with_timestamps(Timestamps::Instant))?;
            Arc::new(stored.applied_to(&types.with_clocks(&instants, &table)))
        } else {
            recorded.clone()
        };
        let ignores_arrow_types = logged.is_some() && !reads_arrow_schema;
        Ok(RewrittenTypes { read, recorded, has_arrow_schema, ignores_arrow_types })
    }
}

/// The types of a table and of some of its files.
struct Types<'a> {
    files: &'a [SourceFile],
    logged: Option<&'a LoggedSchema>,
    storage: &'a StorageOptions,
}

impl Types<'_> {
    /// Whether readers take the types from an Arrow schema: that of the log, or of the first file.
    fn reads_arrow_schema(&self) -> bool {
        match self.logged {
            Some(logged) => logged.has_arrow_schema(),
            None => self.files.first().is_some_and(|first| has_arrow_schema(&first.file)),
        }
    }

    /// The ORC types of the timestamp columns of all files; those of the log for columns that no file has as timestamps.
    fn timestamp_types(&self) -> Result<TimestampTypes> {
        let mut all: TimestampTypes = self.files.iter().flat_map(|file| file.timestamps.iter()).collect();
        if let Some(logged) = self.logged {
            for (path, stored) in TimestampTypes::of_file(&logged.file)?.iter() {
                if !self.has_timestamps(path) {
                    all.add(path, stored);
                }
            }
        }
        Ok(all)
    }

    /// Whether a column is one of timestamps in a file.
    fn has_timestamps(&self, path: &str) -> bool {
        self.files.iter().any(|file| file.timestamps.get(path).is_some())
    }

    /// The schema with the types of the table for timestamps that no file has as timestamps: there are no instants of them, but dates,
    /// wall clocks of Spark, or nulls.
    fn with_clocks(&self, read: &Schema, table: &Schema) -> Schema {
        let types = fields_by_path(table);
        let fields = map_fields(read.fields(), &mut |field, path| {
            let is_timestamp = matches!(value_type(field.data_type()), DataType::Timestamp(_, _));
            match types.get(path).filter(|_| is_timestamp && !self.has_timestamps(path)) {
                Some(of_table) => Arc::new(with_type(&field, of_table.data_type().clone())),
                None => field,
            }
        });
        Schema::new_with_metadata(fields, read.metadata().clone())
    }

    /// The types of the table under options of reading.
    fn of_table(&self, options: ReadOptions) -> Result<Schema> {
        let files = self.files.iter().map(|file| file.table_file(None)).collect();
        let schema = match self.logged {
            Some(logged) => SchemaSource::OtherFile(logged.clone().into_schema_file(Vec::new())),
            None => SchemaSource::FirstFile,
        };
        let options = options.with_columns(Columns::Names(Vec::new()));
        let scan = Scan::try_new(files, schema, options, Matching::Name, self.storage.clone())?;
        let schema = scan.all_columns(true)?;
        let fields = map_fields(schema.fields(), &mut |field, path| self.with_attributes(field, path));
        // A file that is written again does not get a column of the table that is one of its own to some readers.
        let stored: HashSet<String> = self.files.iter().flat_map(|file| file.columns.keys().cloned()).collect();
        Ok(without_twins(&Schema::new_with_metadata(fields, schema.metadata().clone()), &stored))
    }

    /// The field with the attributes that it has in the first file, and its ORC type, if all files have the same. Columns of type `null`
    /// have no ORC type: that of the table stays.
    fn with_attributes(&self, field: FieldRef, path: &str) -> FieldRef {
        let there = || self.files.iter().filter_map(|file| file.columns.get(path));
        let mut metadata = Metadata::default();
        let Some(first) = there().find(|column| !column.is_null) else {
            let own = there().next().into_iter().flat_map(|column| column.attributes.iter());
            let own = own.filter(|(key, _)| ![TYPE_KEY, SPARK_TYPE].contains(&key.as_str()));
            for (key, value) in own.chain(field.metadata()) {
                metadata.insert(key.clone(), value.clone());
            }
            return Arc::new(field.as_ref().clone().with_metadata(metadata));
        };
        for (key, value) in field.metadata().iter().filter(|(key, _)| is_extension_key(key)) {
            metadata.insert(key.clone(), value.clone());
        }
        let is_same = there().filter(|column| !column.is_null).all(|column| column.types() == first.types());
        for (key, value) in &first.attributes {
            let is_kept = match key.as_str() {
                // ORC C++ writes attributes of the columns that it has read, whatever types it gives them.
                TYPE_KEY => {
                    let is_of_column = first.kind.starts_with(value.as_str());
                    is_same && is_of_column && is_text_type(field.data_type()) == first.is_limited_text()
                }
                SPARK_TYPE => is_same,
                _ => true,
            };
            if is_kept {
                metadata.insert(key.clone(), value.clone());
            }
        }
        Arc::new(field.as_ref().clone().with_metadata(metadata))
    }
}
