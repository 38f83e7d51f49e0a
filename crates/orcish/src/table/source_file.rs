//! Files of a table that become one other file.

use std::collections::BTreeMap;

use arrow_schema::{FieldRef, Metadata, Schema};
use orcish_core::error::Result;
use orcish_core::limits::Limits;
use orcish_core::types::{SPARK_TYPE, is_null_type, map_fields};
use orcish_io::{StorageOptions, display_name, open};

use super::timestamps::TimestampTypes;
use crate::options::ReadOptions;
use crate::read::OrcFile;
use crate::scan::TableFile;

/// A column of a file.
#[derive(Debug, Clone)]
pub(super) struct Column {
    /// Its ORC type in Hive's syntax.
    pub(super) kind: String,
    pub(super) attributes: Metadata,
    /// Whether its Arrow type is `null`, and its ORC type thus that of no value.
    pub(super) is_null: bool,
}

impl Column {
    /// The ORC type, and the type of Spark that ORC does not have.
    pub(super) fn types(&self) -> (&str, Option<&String>) {
        (&self.kind, self.attributes.get(SPARK_TYPE))
    }

    /// Whether it has texts of limited length.
    pub(super) fn is_limited_text(&self) -> bool {
        self.kind.starts_with("char") || self.kind.starts_with("varchar")
    }
}

/// A file that becomes a part of another one.
#[derive(Debug, Clone)]
pub(super) struct SourceFile {
    pub(super) location: String,
    pub(super) file: OrcFile,
    /// The columns by their dotted names.
    pub(super) columns: BTreeMap<String, Column>,
    pub(super) timestamps: TimestampTypes,
}

impl SourceFile {
    /// Opens the file at a path or URL.
    pub(super) fn open(location: &str, storage: &StorageOptions) -> Result<Self> {
        let mut file = OrcFile::try_new(open(location, storage)?, &Limits::default())?;
        if let Some(check) = storage.cancel_check() {
            file = file.with_cancel_check(check.clone());
        }
        let columns = columns_of(&file)?;
        let timestamps = TimestampTypes::of_file(&file)?;
        Ok(SourceFile { location: location.to_owned(), file, columns, timestamps })
    }

    /// What messages call the file.
    pub(super) fn name(&self) -> String {
        display_name(&self.location)
    }

    /// Whether a column has timestamps.
    pub(super) fn has_timestamps(&self) -> bool {
        self.timestamps.iter().next().is_some()
    }

    /// Some stripes of the file, or all, for a scan.
    pub(super) fn table_file(&self, stripes: Option<Vec<usize>>) -> TableFile {
        let tail = bytes::Bytes::from(self.file.tail().to_bytes());
        TableFile::new(self.location.as_str()).with_tail(tail).with_stripes(stripes)
    }
}

/// The columns of a file by their dotted names.
fn columns_of(file: &OrcFile) -> Result<BTreeMap<String, Column>> {
    let schema = &file.tail().schema;
    let texts = || Ok((schema.paths(&Limits::default())?, schema.type_strings(&Limits::default())?));
    let (paths, kinds) = texts().map_err(|error: orcish_core::Error| error.in_file(file.name()))?;
    let kinds: BTreeMap<String, String> = paths.into_iter().zip(kinds).collect();
    let types = fields_by_path(&*file.schema(&ReadOptions::default())?);
    let stored = fields_by_path(&*file.schema(&ReadOptions::default().with_arrow_schema(false))?);
    let column = |(path, field): (String, FieldRef)| {
        let kind = kinds.get(&path)?.clone();
        let is_null = types.get(&path).is_some_and(|field| is_null_type(field.data_type()));
        Some((path, Column { kind, attributes: field.metadata().clone(), is_null }))
    };
    Ok(stored.into_iter().filter_map(column).collect())
}

/// The fields of a schema, nested ones included, by their dotted names.
pub(super) fn fields_by_path(schema: &Schema) -> BTreeMap<String, FieldRef> {
    let mut found = BTreeMap::new();
    map_fields(schema.fields(), &mut |field, path| {
        found.insert(path.to_owned(), field.clone());
        field
    });
    found
}
