//! Tables without metadata: folders of data files.

use std::collections::HashMap;
use std::sync::Arc;

use orcish_core::{Error, ErrorKind, Result};
use orcish_io::{list_folder, open};

use super::context::OpenContext;
use super::state::TableState;
use super::transactional::SCHEMA;
use super::updates::DELETE_DELTAS;
use crate::file::DataFile;
use crate::metadata::delete_delta::DELETE_DELTA_SUFFIX;
use crate::metadata::file_names::{file_name, parent};

impl OpenContext {
    /// Opens a folder of data files, or a single file.
    pub(super) fn open_folder(&self, is_file: bool) -> Result<TableState> {
        let all = list_folder(&self.root, self.storage.of_table())?;
        // A folder above a table is refused, as the table's metadata determines its live files.
        let table_of = |location: &str| Some(location.strip_suffix(SCHEMA)?.strip_suffix('/')?.to_owned());
        if let Some(table) = all.iter().find_map(|(location, _)| table_of(location)) {
            let message = format!("a table of CarbonData is in the folder, and is read alone: {table:?}");
            return Err(Error::new(ErrorKind::Unsupported, message).in_file(&self.root));
        }
        let mut files = if is_file {
            all.iter().map(|(location, size)| self.unindexed_entry(location, *size)).collect()
        } else {
            self.files_by_indexes(&all, true)?
        };
        let folder = if is_file { parent(&self.root) } else { &self.root };
        for file in &mut files {
            folder.clone_into(&mut file.dictionaries);
        }
        // A delete delta belongs to the data files with the same prefix in their name.
        let deltas: Vec<_> = if !is_file {
            all
        } else if folder.starts_with("http://") || folder.starts_with("https://") {
            // HTTP servers cannot list the folder of a file.
            Vec::new()
        } else {
            list_folder(if folder.is_empty() { "." } else { folder }, self.storage.of_table())?
        };
        let prefix = |location: &str| file_name(location).split_once('_').map(|(prefix, _)| prefix.to_owned());
        let mut by_prefix: HashMap<String, Vec<String>> = HashMap::new();
        for (delta, _) in
            deltas.into_iter().filter(|(location, size)| location.ends_with(DELETE_DELTA_SUFFIX) && *size > 0)
        {
            self.cancellation.poll()?;
            if let Some(prefix) = prefix(&delta) {
                self.reserve(size_of::<String>() + delta.len(), DELETE_DELTAS)?;
                by_prefix.entry(prefix).or_default().push(delta);
            }
        }
        let by_prefix: HashMap<String, Arc<[String]>> =
            by_prefix.into_iter().map(|(prefix, deltas)| (prefix, deltas.into())).collect();
        for file in &mut files {
            self.cancellation.poll()?;
            if let Some(deltas) = prefix(&file.location).and_then(|prefix| by_prefix.get(&prefix)) {
                file.deletes = deltas.clone();
            }
        }
        let Some(first) = files.first() else {
            let message = "there is no table: neither Metadata/schema nor files of CarbonData";
            return Err(Error::invalid(message).in_file(&self.root));
        };
        // All files are expected to have the same schema.
        let columns = DataFile::open(open(&first.location, self.storage.of_table())?, &self.limits)?.columns().to_vec();
        let sorted = columns.iter().filter(|column| column.is_sorted_by);
        let sort_columns = sorted.map(|column| column.name.clone()).collect();
        let mut state = self.state(columns, Vec::new(), false)?;
        state.sort_columns = sort_columns;
        state.files = files.into_iter().map(Arc::new).collect();
        Ok(state)
    }
}
