//! The snapshot of a table that a scan reads.

use std::sync::Arc;

use arrow_schema::SchemaRef;
use orcish_core::{Error, Limits, Result};

use crate::metadata::schema::Column;
use crate::metadata::table_storage::TableStorage;
use crate::table::{FileEntry, FileFormat};

/// A snapshot of a table, or of the part of it in a split.
#[derive(Debug)]
pub(super) struct TableSnapshot {
    pub(super) location: String,
    pub(super) columns: Vec<Column>,
    pub(super) schema: SchemaRef,
    /// Whether columns of files are matched by id only.
    pub(super) is_transactional: bool,
    pub(super) files: Vec<Arc<FileEntry>>,
    /// Ids of the segments, for errors.
    pub(super) segments: Vec<String>,
    pub(super) storage: TableStorage,
    pub(super) limits: Limits,
}

impl TableSnapshot {
    pub(super) fn file(&self, at: usize) -> Result<&Arc<FileEntry>> {
        self.files.get(at).ok_or_else(|| Error::invalid(format!("no file {at}")))
    }

    /// Checks that the format of a file is supported.
    ///
    /// # Errors
    /// `Unsupported` for segments of other formats.
    pub(super) fn check_format(&self, entry: &FileEntry) -> Result<()> {
        let FileFormat::Other(format) = &entry.format else { return Ok(()) };
        let segment = entry.segment.and_then(|at| self.segments.get(at)).map_or("", String::as_str);
        let text = format!("segment {segment} is of files of {format}, which are not read");
        Err(Error::unsupported(text).in_file(&orcish_io::display_name(&self.location)))
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }
}
