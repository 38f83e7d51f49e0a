//! The data files that index files name.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use orcish_core::Result;
use orcish_io::FileStatus;

use super::context::OpenContext;
use super::file_entry::{FileEntry, FileFormat};
use crate::metadata::file_names::{DATA_FILE_SUFFIX, base_name, file_name, parent};
use crate::metadata::index_file::{self, INDEX_SUFFIX, IndexedFile, MERGED_INDEX_SUFFIX};
use crate::metadata::locations::join;
use crate::metadata::schema::Column;
use crate::metadata::segment_file::SegmentFolder;

/// The data files that the indexes of a folder name.
#[derive(Default)]
pub(super) struct IndexedFiles {
    files: Vec<IndexedFile>,
    names: HashSet<String>,
}

impl IndexedFiles {
    /// Adds those that are not there yet: an index may be there twice, alone and merged.
    ///
    /// # Errors
    /// `LimitExceeded` where the indexes of the table have become too large.
    pub(super) fn add(&mut self, files: Vec<IndexedFile>, table: OpenContext<'_>) -> Result<()> {
        for mut file in files {
            if !self.names.insert(file.name.clone()) {
                continue;
            }
            // Thousands of files have the same columns.
            let columns = match self.files.last().filter(|last| last.columns == file.columns) {
                Some(last) => {
                    file.columns.clone_from(&last.columns);
                    0
                }
                None => file.columns.iter().flat_map(|columns| columns.iter()).map(Column::memory_size).sum(),
            };
            table.reserve(file.memory_size().saturating_add(columns), "indexes")?;
            self.files.push(file);
        }
        Ok(())
    }
}

impl OpenContext<'_> {
    /// What the index files say that a segment file names.
    pub(super) fn indexes_of(self, folder: &SegmentFolder) -> Result<Vec<IndexedFile>> {
        let mut found = IndexedFiles::default();
        let mut merged = false;
        // An index that is named again has nothing new.
        let mut read = HashSet::new();
        if let Some(name) = &folder.merged {
            let location = join(&folder.location, name);
            // Single files may be named still, and be what there is.
            if folder.files.is_empty() || self.exists(&location)? {
                self.merged(&location, &mut found)?;
                merged = true;
                read.insert(name);
            }
        }
        for name in &folder.files {
            self.cancellation.check()?;
            if !read.insert(name) {
                continue;
            }
            let location = join(&folder.location, name);
            // What was merged may be deleted.
            if merged && !self.exists(&location)? {
                continue;
            }
            if name.ends_with(MERGED_INDEX_SUFFIX) {
                self.merged(&location, &mut found)?;
            } else {
                self.index(&location, &mut found)?;
            }
        }
        Ok(found.files)
    }

    /// Adds the files of an index file.
    fn index(self, location: &str, found: &mut IndexedFiles) -> Result<()> {
        found.add(self.parse(location, |bytes| index_file::read_index(bytes, self.limits))?, self)
    }

    /// Adds the files of the index files that were merged into one; their names.
    fn merged(self, location: &str, found: &mut IndexedFiles) -> Result<Vec<String>> {
        let parts = self.parse(location, |bytes| index_file::read_merged_index(bytes, self.limits))?;
        let mut names = Vec::new();
        for (name, part) in parts {
            found.add(index_file::read_index(&part, self.limits).map_err(|error| error.in_file(location))?, self)?;
            names.push(name);
        }
        Ok(names)
    }

    /// A data file of a folder, as the index has it; `location` where it is known under another name.
    pub(super) fn indexed(self, file: IndexedFile, folder: &str, location: Option<&str>) -> FileEntry {
        FileEntry {
            location: location.map_or_else(|| join(folder, &file.name), str::to_owned),
            size: file.size,
            rows: Some(file.rows),
            blocklets: file.blocklets,
            file_min_max: file.min_max,
            index_columns: file.columns,
            version: Some(file.version),
            ..self.entry(String::new(), FileFormat::Columnar)
        }
    }

    pub(super) fn entry(self, location: String, format: FileFormat) -> FileEntry {
        FileEntry {
            location,
            segment: None,
            format,
            size: None,
            rows: None,
            blocklets: None,
            file_min_max: None,
            index_columns: None,
            version: None,
            deletes: Arc::default(),
            dictionaries: join(self.root, "Metadata"),
            partition: Vec::new(),
        }
    }

    /// The data files among those that were listed: those that an index names, and, where `with_all`, the others too.
    pub(super) fn listed(self, all: Vec<(String, FileStatus)>, with_all: bool) -> Result<Vec<FileEntry>> {
        let all = all.into_iter().map(|(location, status)| (location, status.size));
        self.files_by_indexes(&all.collect::<Vec<_>>(), with_all)
    }

    pub(super) fn files_by_indexes(self, all: &[(String, u64)], with_all: bool) -> Result<Vec<FileEntry>> {
        // Data files by folder and name, without what indexes may lack of it.
        let mut data: BTreeMap<(&str, String), (&str, u64)> = BTreeMap::new();
        for (location, size) in all.iter().filter(|(location, _)| location.ends_with(DATA_FILE_SUFFIX)) {
            data.insert((parent(location), base_name(file_name(location)).to_owned()), (location, *size));
        }
        let mut indexed: BTreeMap<&str, IndexedFiles> = BTreeMap::new();
        let mut merged: HashSet<(&str, String)> = HashSet::new();
        // Empty ones were never finished.
        let indexes = || all.iter().filter(|(_, size)| *size > 0).map(|(location, _)| location.as_str());
        for location in indexes().filter(|location| location.ends_with(MERGED_INDEX_SUFFIX)) {
            self.cancellation.check()?;
            let folder = parent(location);
            let names = self.merged(location, indexed.entry(folder).or_default())?;
            merged.extend(names.into_iter().map(|name| (folder, name)));
        }
        for location in indexes().filter(|location| location.ends_with(INDEX_SUFFIX)) {
            self.cancellation.check()?;
            let folder = parent(location);
            if !merged.contains(&(folder, file_name(location).to_owned())) {
                self.index(location, indexed.entry(folder).or_default())?;
            }
        }
        let mut files = Vec::new();
        for (folder, found) in indexed {
            for file in found.files {
                // A file that is named and not there was deleted together with all its rows.
                if let Some((location, size)) = data.remove(&(folder, base_name(&file.name).to_owned())) {
                    let fits = file.size.is_none_or(|known| known == size);
                    match fits || !with_all {
                        true => files.push(self.indexed(file, folder, Some(location))),
                        // Written again under its name: what the index says is of another file.
                        false => files.push(self.unindexed(location, size)),
                    }
                }
            }
        }
        if with_all {
            files.extend(data.into_values().map(|(location, size)| self.unindexed(location, size)));
        }
        files.sort_by(|one, other| one.location.cmp(&other.location));
        Ok(files)
    }

    pub(super) fn unindexed(self, location: &str, size: u64) -> FileEntry {
        FileEntry { size: Some(size), ..self.entry(location.to_owned(), FileFormat::Columnar) }
    }
}
