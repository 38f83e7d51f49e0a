//! The files of a segment.

use orcish_core::Result;
use orcish_io::{hive_partitions, list_all, list_folder};

use super::context::Place;
use super::file_entry::{FileEntry, FileFormat};
use crate::metadata::file_names::{check_name, name_of};
use crate::metadata::index_file as index;
use crate::metadata::locations::{absolute, join};
use crate::metadata::segment_file::{self as segments, Folder};
use crate::metadata::table_status::{COLUMNAR, Load, STREAM};

/// Name of the index file of a streaming segment.
const STREAM_INDEX: &str = "0_batchno0-0-0-0.carbonindex";

impl Place<'_> {
    /// The files of a segment, as its index has them.
    pub(super) fn segment(self, load: &Load, at: usize, partition_columns: &[String]) -> Result<Vec<FileEntry>> {
        let folder = match &load.path {
            Some(path) => absolute(self.root, path),
            None => join(self.root, &format!("Fact/Part0/Segment_{}", load.id)),
        };
        if load.format == STREAM {
            return self.stream(&folder, at);
        }
        let folders = match &load.segment_file {
            Some(name) => {
                let location = self.metadata(&format!("segments/{name}"));
                check_name(name).map_err(|error| error.in_file(&location))?;
                Some(self.parse(&location, |bytes| segments::folders(bytes, self.root, self.limits))?)
            }
            None => None,
        };
        if load.format != COLUMNAR {
            return self.foreign(load, at, &folder, folders, partition_columns);
        }
        let mut files = Vec::new();
        match folders {
            Some(folders) => {
                let indexes = self.each(&folders, |folder| self.indexes_of(folder))?;
                for (folder, indexed) in folders.iter().zip(indexes) {
                    files.extend(indexed.into_iter().map(|file| self.indexed(file, &folder.location, None)));
                }
            }
            None => files = self.listed(list_all(&folder, self.storage_of(&folder)?.as_ref())?, false)?,
        }
        for file in &mut files {
            file.segment = Some(at);
        }
        Ok(files)
    }

    /// The files of a stream: those that its index names, as far as they are committed.
    fn stream(self, folder: &str, at: usize) -> Result<Vec<FileEntry>> {
        let location = join(folder, STREAM_INDEX);
        if !self.is_there(&location)? {
            return Ok(Vec::new());
        }
        let files = self.parse(&location, |bytes| index::streams(bytes, self.limits))?;
        let entry = |(name, size): (String, u64)| FileEntry {
            segment: Some(at),
            size: Some(size),
            ..self.entry(join(folder, &name), FileFormat::Stream)
        };
        Ok(files.into_iter().filter(|(_, size)| *size > 0).map(entry).collect())
    }

    /// The files of a segment that is of another format.
    fn foreign(
        self,
        load: &Load,
        at: usize,
        folder: &str,
        folders: Option<Vec<Folder>>,
        partition_columns: &[String],
    ) -> Result<Vec<FileEntry>> {
        if load.format != "orc" {
            let entry = self.entry(folder.to_owned(), FileFormat::Foreign(load.format.clone()));
            return Ok(vec![FileEntry { segment: Some(at), ..entry }]);
        }
        let is_data =
            |name: &str| !name.starts_with(['_', '.']) && !name.contains(".carbon") && !name.ends_with(".crc");
        let named = folders.iter().flatten().flat_map(|folder| {
            folder.files.iter().filter(|name| is_data(name)).map(|name| (join(&folder.location, name), None))
        });
        let mut files: Vec<(String, Option<u64>)> = named.collect();
        if files.is_empty() {
            let listed = list_folder(folder, self.storage_of(folder)?.as_ref())?.into_iter();
            files = listed.filter(|(file, _)| is_data(name_of(file))).map(|(file, size)| (file, Some(size))).collect();
        }
        let is_partition = |name: &str| partition_columns.iter().any(|column| column.eq_ignore_ascii_case(name));
        let entry = |(location, size): (String, Option<u64>)| FileEntry {
            segment: Some(at),
            size,
            partition: hive_partitions(&location).into_iter().filter(|(name, _)| is_partition(name)).collect(),
            ..self.entry(location, FileFormat::Orc)
        };
        Ok(files.into_iter().map(entry).collect())
    }
}
