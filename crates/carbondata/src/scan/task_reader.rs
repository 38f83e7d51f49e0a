//! The record batch reader of a task.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;
use orcish_core::cancel::{Check, Patience};
use orcish_core::{Error, Result};
use orcish_io::display_name;

use super::batch::batch;
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
    rows: Rows,
    /// Small batches that are concatenated.
    waiting: Vec<RecordBatch>,
    ready: VecDeque<RecordBatch>,
    patience: Patience,
    is_done: bool,
}

/// The reader of the file format.
enum Rows {
    Columnar(ColumnarReader),
    Stream(StreamReader),
    Orc(OrcRows),
}

impl TaskReader {
    pub(super) fn open(
        snapshot: &Arc<TableSnapshot>,
        config: &Arc<ScanConfig>,
        open_files: &OpenFiles,
        part: &ScanTask,
        threads: usize,
    ) -> Result<Self> {
        let entry = snapshot.file(part.file)?;
        let rows = match &entry.format {
            FileFormat::Stream => {
                let dictionaries = open_files.dictionaries(snapshot, entry);
                Rows::Stream(StreamReader::open(snapshot, config, entry, dictionaries)?)
            }
            FileFormat::Orc => Rows::Orc(orc::open(snapshot, config, entry, threads)?),
            _ => Rows::Columnar(ColumnarReader::new(open_files.get(snapshot, part.file)?, part.blocklets.clone())),
        };
        Ok(TaskReader {
            snapshot: snapshot.clone(),
            config: config.clone(),
            name: display_name(&entry.location),
            rows,
            waiting: Vec::new(),
            ready: VecDeque::new(),
            patience: Patience::new(None),
            is_done: false,
        })
    }

    pub(super) fn while_waiting(&mut self, check: Check) {
        self.patience = Patience::new(Some(check));
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Ok(Some(batch));
            }
            if self.is_done {
                return Ok(None);
            }
            self.patience.look()?;
            let found = match &mut self.rows {
                Rows::Columnar(columnar) => columnar.next(&self.snapshot, &self.config)?,
                Rows::Stream(stream) => stream.next(&self.snapshot, &self.config)?,
                Rows::Orc(rows) => rows.next(&self.snapshot, &self.config)?,
            };
            match found {
                Some(batch) if batch.num_rows() == 0 => {}
                Some(batch) => self.add(batch)?,
                None => {
                    self.is_done = true;
                    self.put_together()?;
                }
            }
        }
    }

    /// Slices a batch to the batch size, or keeps it for concatenation if it is small.
    fn add(&mut self, batch: RecordBatch) -> Result<()> {
        let most = self.config.options.batch_size.max(1);
        // Batches below this number of rows are concatenated.
        let few = tuning::FEW_ROWS_OF_PAGE.get().min(most);
        if batch.num_rows() < few {
            self.waiting.push(batch);
            let rows: usize = self.waiting.iter().map(RecordBatch::num_rows).sum();
            return if rows >= few { self.put_together() } else { Ok(()) };
        }
        self.put_together()?;
        self.give(&batch, most);
        Ok(())
    }

    fn put_together(&mut self) -> Result<()> {
        let most = self.config.options.batch_size.max(1);
        match &self.waiting[..] {
            [] => return Ok(()),
            [one] => self.give(&one.clone(), most),
            several => {
                let misfit = |error| Error::limit("rows of a batch").with_source(error);
                let rows = several.iter().map(RecordBatch::num_rows).sum();
                let batch = match self.config.projection.is_empty() {
                    true => batch(&self.config, Vec::new(), rows)?,
                    false => concat_batches(&self.config.output, several).map_err(misfit)?,
                };
                self.give(&batch, most);
            }
        }
        self.waiting.clear();
        Ok(())
    }

    fn give(&mut self, batch: &RecordBatch, most: usize) {
        for start in (0..batch.num_rows()).step_by(most) {
            self.ready.push_back(batch.slice(start, most.min(batch.num_rows() - start)));
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
            self.waiting.clear();
        }
        next
    }
}
