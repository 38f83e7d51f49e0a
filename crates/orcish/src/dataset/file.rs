//! Files of a dataset.

use arrow_array::{ArrayRef, RecordBatch};
use orcish_core::error::Result;
use orcish_io::{StagedFile, Staging};

use super::split::PartitionKey;
use crate::write::FileWriter;

/// A complete file of a dataset.
#[derive(Debug, Clone)]
pub struct DatasetFile {
    /// The path or URL of the file.
    pub location: String,
    /// The number of rows.
    pub rows: u64,
    /// The length in bytes.
    pub bytes: u64,
    /// Names and texts of its partition columns. Null is `None`. The empty text has the folder of null.
    pub partition: Vec<(String, Option<String>)>,
    /// Values of its partition columns, arrays of one row.
    pub values: Vec<ArrayRef>,
    /// The unpublished file, with [`Publication::Staged`](super::Publication::Staged).
    pub staged: Option<StagedFile>,
}

/// A file that is being written.
pub(super) struct OpenFile {
    writer: FileWriter,
    staging: Option<Staging>,
    pub(super) location: String,
    pub(super) values: Vec<ArrayRef>,
    /// Memory of the writer after the last call, in bytes.
    pub(super) memory: usize,
    /// Whether the current stripe has rows.
    pub(super) has_rows: bool,
    /// Number of the file: later files have greater numbers.
    pub(super) number: u64,
}

impl OpenFile {
    pub(super) fn new(
        writer: FileWriter,
        staging: Option<Staging>,
        location: String,
        values: Vec<ArrayRef>,
        number: u64,
    ) -> Self {
        OpenFile { writer, staging, location, values, memory: 0, has_rows: false, number }
    }

    pub(super) fn rows(&self) -> u64 {
        self.writer.rows()
    }

    pub(super) fn write(&mut self, rows: &RecordBatch) -> Result<()> {
        self.writer.write(rows)?;
        self.has_rows = true;
        self.memory = self.writer.memory();
        Ok(())
    }

    /// Ends the stripe, which frees memory.
    pub(super) fn end_stripe(&mut self) -> Result<()> {
        self.writer.end_stripe()?;
        self.has_rows = false;
        self.memory = self.writer.memory();
        Ok(())
    }

    /// Finishes the file.
    pub(super) fn finish(mut self, columns: &[String], key: PartitionKey) -> Result<DatasetFile> {
        let written = self.writer.finish()?;
        let staged = self.staging.and_then(|staging| written.take_staged(&staging));
        Ok(DatasetFile {
            location: self.location,
            rows: written.rows,
            bytes: written.bytes,
            partition: columns.iter().cloned().zip(key).collect(),
            values: self.values,
            staged,
        })
    }
}
