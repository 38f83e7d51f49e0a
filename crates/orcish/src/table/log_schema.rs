//! The schema in the log of a table: an ORC file without rows. Whoever writes to the table may have made it.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use arrow_array::StringArray;
use arrow_schema::{DataType, Fields, Schema, SchemaRef};
use bytes::Bytes;
use orcish_core::error::{Error, Result};
use orcish_core::limits::Limits;
use orcish_core::type_names::TypeName;
use orcish_core::types::{is_null_type, is_text, value_type};
use orcish_io::{MemorySource, StorageOptions};

use super::files::partition_texts;
use crate::options::{Columns, ReadOptions};
use crate::partition::{Flavor, TextZone, equal_folders, parse_values};
use crate::read::{ARROW_SCHEMA_KEY, OrcFile};
use crate::scan::{Matching, Scan, SchemaFile, SchemaSource};

/// Maximum bytes of the footer of the schema of a table, also once it is decoded, which is enough for about 25,000 columns.
pub const MAX_SCHEMA_TAIL: u64 = 16 << 20;

/// The schema in the log of a table.
#[derive(Debug, Clone)]
pub struct LoggedSchema {
    pub(super) file: OrcFile,
    /// Names of the partition columns, the outermost first.
    pub(super) partition: Vec<String>,
}

impl LoggedSchema {
    /// Opens the file of a schema.
    ///
    /// `name` is the name of the file in messages. `partition` are the names of the partition columns, the outermost first. `limits`
    /// are those of the files of the table; a tail has at most [`MAX_SCHEMA_TAIL`] bytes.
    ///
    /// # Errors
    /// `Corrupt` if it is no ORC file, `LimitExceeded` if it takes more memory than the schema of a table.
    pub fn open(file: Bytes, name: &str, partition: Vec<String>, limits: &Limits) -> Result<Self> {
        let mut limits = limits.clone();
        limits.tail = limits.tail.min(MAX_SCHEMA_TAIL);
        let source = MemorySource::new(file).named(name);
        Ok(LoggedSchema { file: OrcFile::try_new(Arc::new(source), &limits)?, partition })
    }

    /// The file, and the names of the partition columns that a scan without files has.
    pub fn into_schema_file(self, shown: Vec<String>) -> SchemaFile {
        SchemaFile { file: self.file, partition: self.partition, shown }
    }

    /// Whether readers take types from an Arrow schema.
    pub(super) fn has_arrow_schema(&self) -> bool {
        has_arrow_schema(&self.file)
    }

    /// The columns that readers see, and the partition columns behind them, with the types that they have for readers.
    pub(super) fn read_schema(&self) -> Result<(SchemaRef, Fields)> {
        let source = SchemaSource::OtherFile(self.clone().into_schema_file(self.partition.clone()));
        let options = ReadOptions::default().with_columns(Columns::Names(Vec::new()));
        let scan = Scan::try_new(Vec::new(), source, options, Matching::Name, StorageOptions::default())?;
        let all = scan.table_schema();
        let own = all.fields().len().saturating_sub(self.partition.len());
        let (columns, partition) = all
            .fields()
            .split_at_checked(own)
            .ok_or_else(|| Error::internal("a table has fewer columns than partition columns"))?;
        let columns = arrow_schema::Schema::new_with_metadata(columns.to_vec(), all.metadata().clone());
        Ok((Arc::new(columns), partition.into()))
    }

    /// The partition columns with the types that they have for readers.
    ///
    /// # Errors
    /// As reading the file.
    pub fn partition_fields(&self) -> Result<Fields> {
        Ok(self.read_schema()?.1)
    }

    /// The partition columns that have no type in the log yet, as they had no values. Readers infer the types.
    ///
    /// # Errors
    /// As reading the file.
    pub fn untyped_columns(&self) -> Result<Vec<String>> {
        let fields = self.file.schema(&ReadOptions::default())?;
        let is_typed =
            |name: &&String| fields.field_with_name(name).is_ok_and(|field| !is_null_type(field.data_type()));
        Ok(self.partition.iter().filter(|name| !is_typed(name)).cloned().collect())
    }

    /// Checks that values of partition columns in names of folders have the types of the table. `files` are paths below `location`.
    ///
    /// # Errors
    /// `InvalidArgument` if a value does not, so that the table could not be read any more.
    pub fn check_partition_values<'a>(&self, location: &str, files: impl IntoIterator<Item = &'a str>) -> Result<()> {
        if self.partition.is_empty() {
            return Ok(());
        }
        let texts = partition_texts(location, files);
        for field in self.partition_fields()?.iter().filter(|field| !is_text(value_type(field.data_type()))) {
            let Some((_, texts)) = texts.iter().find(|(name, _)| name == field.name()) else { continue };
            let texts = StringArray::from_iter_values(texts);
            if let Err(error) = parse_values(&texts, field.data_type(), Flavor::Hive) {
                let (name, kind) = (field.name(), TypeName(field.data_type()));
                return Err(Error::invalid(format!("{location}: column {name} is {kind} in the table: {error}")));
            }
        }
        Ok(())
    }

    /// The folders of `files` whose partition columns have the same values as those of the files `new`, and the folders of `new`,
    /// whatever the spelling of the values. Files and folders are paths below `location`.
    ///
    /// Values are compared in the types of the table. Texts of a table that has text are compared as values of `rows`; `zone` is that of
    /// instants whose texts have no offset.
    ///
    /// # Errors
    /// As reading the file.
    pub fn equal_folders<'a>(
        &self,
        location: &str,
        files: impl IntoIterator<Item = &'a str>,
        new: impl IntoIterator<Item = &'a str>,
        rows: &Schema,
        zone: &TextZone,
    ) -> Result<BTreeSet<String>> {
        let mut types = HashMap::new();
        for field in &self.partition_fields()? {
            let is_text = is_text_type(field.data_type());
            let own = rows.fields().iter().find(|own| own.name() == field.name()).filter(|_| is_text);
            let (kind, zone) = match own {
                Some(own) => (own.data_type(), zone.clone()),
                None => (field.data_type(), TextZone::OfType),
            };
            if !is_text_type(kind) {
                types.insert(field.name().clone(), (kind.clone(), zone));
            }
        }
        Ok(equal_folders(location, files, new, &types))
    }
}

/// Whether a file has an Arrow schema.
pub(super) fn has_arrow_schema(file: &OrcFile) -> bool {
    file.tail().metadata.iter().any(|(key, _)| key == ARROW_SCHEMA_KEY)
}

/// Whether values of a type are texts, plain or encoded.
pub(super) fn is_text_type(kind: &DataType) -> bool {
    is_text(value_type(kind))
}
