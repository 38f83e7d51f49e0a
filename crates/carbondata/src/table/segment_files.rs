//! Data files of a segment.

use std::sync::Arc;

use orcish_core::Result;
use orcish_io::{hive_partitions, list_all, list_folder};

use super::context::OpenContext;
use super::file_entry::{FileEntry, FileFormat};
use crate::metadata::file_names::{check_name, file_name};
use crate::metadata::index_file;
use crate::metadata::locations::{absolute, join};
use crate::metadata::segment_file::{self, SegmentFolder};
use crate::metadata::table_status::{COLUMNAR_V3, LoadDetails, ROW_V1};

/// Name of the index file of a streaming segment.
const STREAM_INDEX: &str = "0_batchno0-0-0-0.carbonindex";

impl OpenContext {
    /// The data files of a segment.
    pub(super) fn segment_files(
        self: &Arc<Self>,
        load: &LoadDetails,
        segment: usize,
        partition_columns: &[String],
    ) -> Result<Vec<FileEntry>> {
        let folder = match &load.path {
            Some(path) => absolute(&self.root, path),
            None => join(&self.root, &format!("Fact/Part0/Segment_{}", load.id)),
        };
        if load.format == ROW_V1 {
            return self.stream_files(&folder, segment);
        }
        let folders = match &load.segment_file {
            Some(name) => {
                let location = self.metadata(&format!("segments/{name}"));
                check_name(name).map_err(|error| error.in_file(&location))?;
                Some(self.parse(&location, |bytes| segment_file::read_segment_file(bytes, &self.root, &self.limits))?)
            }
            None => None,
        };
        if load.format != COLUMNAR_V3 {
            return self.files_of_other_format(load, segment, &folder, folders, partition_columns);
        }
        let mut files = Vec::new();
        match folders {
            Some(folders) => {
                let indexes = self.map(folders, |context, folder| {
                    let indexed = context.read_index_files(&folder)?;
                    Ok((folder.location, indexed))
                })?;
                for (location, indexed) in indexes {
                    files.extend(indexed.into_iter().map(|file| self.indexed_entry(file, &location, None)));
                }
            }
            None => files = self.listed_files(list_all(&folder, self.storage_of(&folder)?.as_ref())?, false)?,
        }
        for file in &mut files {
            file.segment = Some(segment);
        }
        Ok(files)
    }

    /// The files of a streaming segment, with their committed sizes.
    fn stream_files(&self, folder: &str, segment: usize) -> Result<Vec<FileEntry>> {
        let location = join(folder, STREAM_INDEX);
        if !self.exists(&location)? {
            return Ok(Vec::new());
        }
        let files = self.parse(&location, |bytes| index_file::read_stream_index(bytes, &self.limits))?;
        let entry = |(name, size): (String, u64)| FileEntry {
            segment: Some(segment),
            size: Some(size),
            ..self.entry(join(folder, &name), FileFormat::Stream)
        };
        Ok(files.into_iter().filter(|(_, size)| *size > 0).map(entry).collect())
    }

    /// The files of a segment of another format.
    fn files_of_other_format(
        &self,
        load: &LoadDetails,
        segment: usize,
        folder: &str,
        folders: Option<Vec<SegmentFolder>>,
        partition_columns: &[String],
    ) -> Result<Vec<FileEntry>> {
        if load.format != "orc" {
            let entry = self.entry(folder.to_owned(), FileFormat::Other(load.format.clone()));
            return Ok(vec![FileEntry { segment: Some(segment), ..entry }]);
        }
        let is_data =
            |name: &str| !name.starts_with(['_', '.']) && !name.contains(".carbon") && !name.ends_with(".crc");
        let named = folders.iter().flatten().flat_map(|folder| {
            folder.files.iter().filter(|name| is_data(name)).map(|name| (join(&folder.location, name), None))
        });
        let mut files: Vec<(String, Option<u64>)> = named.collect();
        if files.is_empty() {
            let listed = list_folder(folder, self.storage_of(folder)?.as_ref())?.into_iter();
            files =
                listed.filter(|(file, _)| is_data(file_name(file))).map(|(file, size)| (file, Some(size))).collect();
        }
        let is_partition = |name: &str| partition_columns.iter().any(|column| column.eq_ignore_ascii_case(name));
        let entry = |(location, size): (String, Option<u64>)| FileEntry {
            segment: Some(segment),
            size,
            partition: hive_partitions(&location).into_iter().filter(|(name, _)| is_partition(name)).collect(),
            ..self.entry(location, FileFormat::Orc)
        };
        Ok(files.into_iter().map(entry).collect())
    }
}
