//! The record batch reader of a task.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;
use orcish_core::cancel::{CancelCheck, Cancellation};
use orcish_core::parallel::ScanMemory;
use orcish_core::{Error, Result};
use orcish_io::display_name;

use super::batch::make_batch;
use super::columnar::ColumnarReader;
use super::config::ScanConfig;
use super::open_files::OpenFiles;
use super::orc::{self, OrcRows};
use super::snapshot::TableSnapshot;
use super::stream_rows::StreamReader;
use super::task::ScanTask;
use crate::table::FileFormat;
use crate::tuning;

/// Reads the record batches of a task.
pub(super) struct TaskReader {
    snapshot: Arc<TableSnapshot>,
    config: Arc<ScanConfig>,
    name: String,
    reader: FormatReader,
    /// Small batches that are concatenated.
    small_batches: Vec<RecordBatch>,
    ready: VecDeque<RecordBatch>,
    cancellation: Cancellation,
    is_done: bool,
}

/// The reader of the file format.
enum FormatReader {
    Columnar(ColumnarReader),
    Stream(StreamReader),
    Orc(OrcRows),
}

impl TaskReader {
    pub(super) fn open(
        snapshot: &Arc<TableSnapshot>,
        config: &Arc<ScanConfig>,
        open_files: &OpenFiles,
        task: &ScanTask,
        threads: usize,
        open_inputs: usize,
        memory: &Arc<ScanMemory>,
    ) -> Result<Self> {
        let entry = snapshot.file(task.file)?;
        let reader = match &entry.format {
            FileFormat::Stream => {
                let dictionaries = open_files.dictionaries(snapshot, entry);
                FormatReader::Stream(StreamReader::open(snapshot, config, entry, dictionaries)?)
            }
            FileFormat::Orc => FormatReader::Orc(orc::open(snapshot, config, entry, threads, open_inputs, memory)?),
            _ => FormatReader::Columnar(ColumnarReader::new(
                open_files.get(snapshot, task.file)?,
                config,
                task.blocklets.clone(),
                memory,
            )),
        };
        Ok(TaskReader {
            snapshot: snapshot.clone(),
            config: config.clone(),
            name: display_name(&entry.location),
            reader,
            small_batches: Vec::new(),
            ready: VecDeque::new(),
            cancellation: Cancellation::new(None),
            is_done: false,
        })
    }

    pub(super) fn set_cancel_check(&mut self, check: CancelCheck) {
        if let FormatReader::Orc(rows) = &mut self.reader {
            rows.set_cancel_check(check.clone());
        }
        self.cancellation = Cancellation::new(Some(check));
    }

    /// The stored bytes that the next batch needs beyond those that the reader holds.
    pub(super) fn bytes_of_next(&self) -> u64 {
        match &self.reader {
            _ if !self.ready.is_empty() || self.is_done => 0,
            FormatReader::Columnar(columnar) => columnar.bytes_of_next(),
            FormatReader::Orc(rows) => rows.bytes_of_next(),
            FormatReader::Stream(_) => 0,
        }
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Ok(Some(batch));
            }
            if self.is_done {
                return Ok(None);
            }
            self.cancellation.poll()?;
            let batch = match &mut self.reader {
                FormatReader::Columnar(columnar) => columnar.next(&self.snapshot, &self.config)?,
                FormatReader::Stream(stream) => stream.next(&self.snapshot, &self.config)?,
                FormatReader::Orc(rows) => rows.next(&self.snapshot, &self.config)?,
            };
            match batch {
                Some(batch) if batch.num_rows() == 0 => {}
                Some(batch) => self.push(batch)?,
                None => {
                    self.is_done = true;
                    self.concat_small_batches()?;
                }
            }
        }
    }

    /// Slices a batch to the batch size, or keeps it for concatenation if it is small.
    fn push(&mut self, batch: RecordBatch) -> Result<()> {
        let batch_size = self.config.options.batch_size.max(1);
        // Batches below this number of rows are concatenated.
        let min_rows = tuning::MIN_BATCH_ROWS.get().min(batch_size);
        if batch.num_rows() < min_rows {
            self.small_batches.push(batch);
            let rows: usize = self.small_batches.iter().map(RecordBatch::num_rows).sum();
            return if rows >= min_rows { self.concat_small_batches() } else { Ok(()) };
        }
        self.concat_small_batches()?;
        self.push_slices(&batch, batch_size);
        Ok(())
    }

    fn concat_small_batches(&mut self) -> Result<()> {
        let batch_size = self.config.options.batch_size.max(1);
        match &self.small_batches[..] {
            [] => return Ok(()),
            [one] => self.push_slices(&one.clone(), batch_size),
            several => {
                let too_large = |error| Error::limit("rows of a batch").with_source(error);
                let rows = several.iter().map(RecordBatch::num_rows).sum();
                let batch = if self.config.projection.is_empty() {
                    make_batch(&self.config, Vec::new(), rows)?
                } else {
                    concat_batches(&self.config.output_schema, several).map_err(too_large)?
                };
                self.push_slices(&batch, batch_size);
            }
        }
        self.small_batches.clear();
        Ok(())
    }

    fn push_slices(&mut self, batch: &RecordBatch, batch_size: usize) {
        for start in (0..batch.num_rows()).step_by(batch_size) {
            self.ready.push_back(batch.slice(start, batch_size.min(batch.num_rows() - start)));
        }
    }
}

impl Iterator for TaskReader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_batch().map_err(|error| error.in_file(&self.name)).transpose();
        if matches!(next, Some(Err(_))) {
            self.is_done = true;
            self.ready.clear();
            self.small_batches.clear();
        }
        next
    }
}
