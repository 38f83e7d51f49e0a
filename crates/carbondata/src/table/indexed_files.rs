//! Data files of index files.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use orcish_core::Result;
use orcish_io::FileStatus;

use super::context::{INDEXES, OpenContext};
use super::file_entry::{FileEntry, FileFormat};
use crate::metadata::file_names::{DATA_FILE_SUFFIX, base_name, file_name, parent};
use crate::metadata::index_file::{self, INDEX_SUFFIX, IndexedFile, MERGED_INDEX_SUFFIX};
use crate::metadata::locations::join;
use crate::metadata::segment_file::SegmentFolder;

/// Data files of the index files of a folder.
#[derive(Default)]
pub(super) struct IndexedFiles {
    files: Vec<IndexedFile>,
    names: HashSet<String>,
}

impl IndexedFiles {
    /// Adds files that were not added before. A file can be in an index file and in a merged index file.
    ///
    /// # Errors
    /// `LimitExceeded` where the index files of the table take too much memory.
    pub(super) fn add(&mut self, files: Vec<IndexedFile>, context: &OpenContext) -> Result<()> {
        for mut file in files {
            if !self.names.insert(file.name.clone()) {
                continue;
            }
            file.columns = file.columns.map(|columns| context.shared_columns(columns)).transpose()?;
            context.reserve(file.memory_size(), INDEXES)?;
            self.files.push(file);
        }
        Ok(())
    }
}

impl OpenContext {
    /// Reads the index files of a folder of a segment file.
    pub(super) fn read_index_files(&self, folder: &SegmentFolder) -> Result<Vec<IndexedFile>> {
        let mut indexed_files = IndexedFiles::default();
        let mut merged = false;
        // An index file may be named more than once.
        let mut names_read = HashSet::new();
        if let Some(name) = &folder.merged {
            let location = join(&folder.location, name);
            // The segment file may still name the single index files after a merge that did not finish.
            if folder.files.is_empty() || self.exists(&location)? {
                self.read_merged_index(&location, &mut indexed_files)?;
                merged = true;
                names_read.insert(name);
            }
        }
        for name in &folder.files {
            self.cancellation.poll()?;
            if !names_read.insert(name) {
                continue;
            }
            let location = join(&folder.location, name);
            // Merged index files may be deleted.
            if merged && !self.exists(&location)? {
                continue;
            }
            if name.ends_with(MERGED_INDEX_SUFFIX) {
                self.read_merged_index(&location, &mut indexed_files)?;
            } else {
                self.read_index(&location, &mut indexed_files)?;
            }
        }
        Ok(indexed_files.files)
    }

    /// Reads an index file.
    fn read_index(&self, location: &str, indexed_files: &mut IndexedFiles) -> Result<()> {
        indexed_files.add(self.parse(location, |bytes| index_file::read_index(bytes, &self.limits))?, self)
    }

    /// Reads a merged index file; returns the names of its index files.
    fn read_merged_index(&self, location: &str, indexed_files: &mut IndexedFiles) -> Result<Vec<String>> {
        let parts = self.parse(location, |bytes| index_file::read_merged_index(bytes, &self.limits))?;
        let mut names = Vec::new();
        for (name, part) in parts {
            indexed_files
                .add(index_file::read_index(&part, &self.limits).map_err(|error| error.in_file(location))?, self)?;
            names.push(name);
        }
        Ok(names)
    }

    /// The entry of a data file of an index file; `location` where the name of the file differs.
    pub(super) fn indexed_entry(&self, file: IndexedFile, folder: &str, location: Option<&str>) -> FileEntry {
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

    pub(super) fn entry(&self, location: String, format: FileFormat) -> FileEntry {
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
            split_version: None,
            deletes: Arc::default(),
            dictionaries: join(&self.root, "Metadata"),
            partition: Vec::new(),
        }
    }

    /// The data files in a listing that index files name; `with_all` adds the others.
    pub(super) fn listed_files(&self, all: Vec<(String, FileStatus)>, with_all: bool) -> Result<Vec<FileEntry>> {
        let all = all.into_iter().map(|(location, status)| (location, status.size));
        self.files_by_indexes(&all.collect::<Vec<_>>(), with_all)
    }

    pub(super) fn files_by_indexes(&self, all: &[(String, u64)], with_all: bool) -> Result<Vec<FileEntry>> {
        // By folder and base name, as index files may leave out the suffix.
        let mut data: BTreeMap<(&str, String), (&str, u64)> = BTreeMap::new();
        for (location, size) in all.iter().filter(|(location, _)| location.ends_with(DATA_FILE_SUFFIX)) {
            data.insert((parent(location), base_name(file_name(location)).to_owned()), (location, *size));
        }
        let mut indexed: BTreeMap<&str, IndexedFiles> = BTreeMap::new();
        let mut merged: HashSet<(&str, String)> = HashSet::new();
        // Empty index files belong to failed loads.
        let indexes = || all.iter().filter(|(_, size)| *size > 0).map(|(location, _)| location.as_str());
        for location in indexes().filter(|location| location.ends_with(MERGED_INDEX_SUFFIX)) {
            self.cancellation.poll()?;
            let folder = parent(location);
            let names = self.read_merged_index(location, indexed.entry(folder).or_default())?;
            merged.extend(names.into_iter().map(|name| (folder, name)));
        }
        for location in indexes().filter(|location| location.ends_with(INDEX_SUFFIX)) {
            self.cancellation.poll()?;
            let folder = parent(location);
            if !merged.contains(&(folder, file_name(location).to_owned())) {
                self.read_index(location, indexed.entry(folder).or_default())?;
            }
        }
        let mut files = Vec::new();
        for (folder, indexed_files) in indexed {
            for file in indexed_files.files {
                // A file that does not exist was deleted because all of its rows were deleted.
                if let Some((location, size)) = data.remove(&(folder, base_name(&file.name).to_owned())) {
                    let fits = file.size.is_none_or(|known| known == size);
                    // A file that was replaced under its name does not match its index file.
                    files.push(if fits || !with_all {
                        self.indexed_entry(file, folder, Some(location))
                    } else {
                        self.unindexed_entry(location, size)
                    });
                }
            }
        }
        if with_all {
            files.extend(data.into_values().map(|(location, size)| self.unindexed_entry(location, size)));
        }
        files.sort_by(|one, other| one.location.cmp(&other.location));
        Ok(files)
    }

    pub(super) fn unindexed_entry(&self, location: &str, size: u64) -> FileEntry {
        FileEntry { size: Some(size), ..self.entry(location.to_owned(), FileFormat::Columnar) }
    }
}
