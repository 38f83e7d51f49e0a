//! The files of a table.

use std::collections::BTreeSet;

use arrow_schema::{Field, Fields};
use orcish_core::error::{Error, ErrorKind, Result};
use orcish_core::limits::Limits;
use orcish_io::{StorageOptions, hive_partitions_below, open, stat};

use crate::options::{Columns, ReadOptions};
use crate::partition::{Flavor, infer_type};
use crate::read::OrcFile;
use crate::scan::{Matching, Scan, SchemaSource, TableFile};

/// The folder of a table, and its files.
#[derive(Debug, Clone)]
pub struct TableFolder {
    /// Path or URL of the folder.
    pub location: String,
    /// The files that stay, by their paths in the folder.
    pub files: Vec<String>,
    /// All files, by their paths in the folder. The names of their folders have the values of partition columns.
    pub visible: Vec<String>,
    /// Options of the store.
    pub storage: StorageOptions,
}

impl TableFolder {
    /// The paths or URLs of the files that stay.
    pub(super) fn locations(&self) -> Vec<String> {
        self.files.iter().map(|name| format!("{}/{name}", self.location)).collect()
    }

    /// The partition columns that have values, with the types that readers infer without a log.
    pub(super) fn inferred_fields(&self) -> Fields {
        let columns = partition_texts(&self.location, self.visible.iter().map(String::as_str));
        let field = |(name, texts): (String, BTreeSet<String>)| {
            Field::new(name, infer_type(texts.iter().map(String::as_str), Flavor::Hive), true)
        };
        columns.into_iter().map(field).collect()
    }

    /// Opens a file; `None` for one without columns, such as the files of no bytes of Hive, and for one that is no ORC file, or
    /// was just removed.
    pub(super) fn open(&self, location: &str) -> Result<Option<OrcFile>> {
        let opened = open(location, &self.storage).and_then(|source| OrcFile::try_new(source, &Limits::default()));
        match opened {
            Ok(file) if file.tail().schema.types().len() > 1 => Ok(Some(match self.storage.cancel_check() {
                Some(check) => file.with_cancel_check(check.clone()),
                None => file,
            })),
            Err(error) if !is_other_or_gone(&error) => Err(error),
            Ok(_) | Err(_) => Ok(None),
        }
    }

    /// A scan of files, without partition columns.
    pub(super) fn scan(&self, locations: &[String], options: ReadOptions) -> Result<Scan> {
        let files = locations.iter().map(TableFile::new).collect();
        let options = options.with_columns(Columns::Names(Vec::new()));
        Scan::try_new(files, SchemaSource::FirstFile, options, Matching::Name, self.storage.clone())
    }

    /// Checks that there are only files of no bytes where no file has columns.
    ///
    /// # Errors
    /// `InvalidArgument` for another file.
    pub(super) fn check_empty(&self) -> Result<()> {
        for location in self.locations() {
            if stat(&location, &self.storage)?.is_some_and(|status| status.size > 0) {
                let text = "is no ORC file: rows are not added to a folder of other files";
                return Err(Error::invalid(format!("{location} {text}")));
            }
        }
        Ok(())
    }
}

/// Whether a file is no ORC file, or is not there.
pub(super) fn is_other_or_gone(error: &Error) -> bool {
    error.kind() == ErrorKind::Corrupt || error.io_kind() == Some(std::io::ErrorKind::NotFound)
}

/// The partition columns of files that have values, with their different texts. `files` are paths below `location`.
pub(super) fn partition_texts<'a>(
    location: &str,
    files: impl IntoIterator<Item = &'a str>,
) -> Vec<(String, BTreeSet<String>)> {
    let folder = |file: &'a str| file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let folders: BTreeSet<&str> = files.into_iter().map(folder).collect();
    let mut columns: Vec<(String, BTreeSet<String>)> = Vec::new();
    for folder in folders {
        for (name, text) in hive_partitions_below(location, &format!("{location}/{folder}/-")) {
            let Some(text) = text else { continue };
            match columns.iter_mut().find(|(other, _)| *other == name) {
                Some((_, texts)) => _ = texts.insert(text),
                None => columns.push((name, BTreeSet::from([text]))),
            }
        }
    }
    columns
}
