//! Rows on disk, in the order of their partitions.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;
use bytes::Bytes;
use orcish_core::OrInternal as _;
use orcish_core::cancel::CancelCheck;
use orcish_core::cast::restore;
use orcish_core::error::{Error, ErrorKind, Result};
use orcish_core::limits::Limits;
use orcish_io::{MemorySink, MemorySource, TemporaryFile};

use crate::codec::Compression;
use crate::options::ReadOptions;
use crate::read::{BatchReader, OrcFile};
use crate::write::{FileWriter, WriteOptions};

/// Name of blocks in messages.
const NAME: &str = "temporary rows";

/// The temporary file of all runs of a dataset, which is created with the first block.
#[derive(Debug, Clone, Default)]
pub(super) struct RunFile(Arc<Mutex<Option<TemporaryFile>>>);

impl RunFile {
    fn file(&self) -> MutexGuard<'_, Option<TemporaryFile>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn append(&self, bytes: &[u8]) -> Result<Range<u64>> {
        let mut file = self.file();
        match &mut *file {
            Some(file) => file.append(bytes),
            None => file.insert(TemporaryFile::create()?).append(bytes),
        }
    }

    fn read(&self, block: Range<u64>) -> Result<Bytes> {
        let file = self.file();
        file.as_ref().or_internal("a block of rows is in no file")?.read(block)
    }
}

/// Rows on disk. They are a sequence of blocks, which are ORC files of a bounded number of rows.
#[derive(Debug)]
pub(super) struct Run {
    file: RunFile,
    schema: SchemaRef,
    blocks: VecDeque<Range<u64>>,
    /// Numbers of partitions and of their rows that follow each other.
    pieces: VecDeque<(usize, usize)>,
    /// Rows of a block.
    pub(super) block_rows: usize,
    /// How often the rows have been merged with those of other runs.
    pub(super) level: usize,
}

/// A run that is being written.
pub(super) struct RunWriter {
    run: Run,
    options: WriteOptions,
    check: Option<CancelCheck>,
    block: Option<(FileWriter<MemorySink>, MemorySink)>,
}

impl RunWriter {
    pub(super) fn new(
        file: RunFile,
        schema: SchemaRef,
        block_rows: usize,
        level: usize,
        check: Option<CancelCheck>,
    ) -> Self {
        let compression = if cfg!(feature = "lz4") { Compression::Lz4 } else { Compression::None };
        let mut options = WriteOptions::default().with_compression(compression).with_threads(1);
        options.row_index_stride = 0;
        let block_rows = block_rows.max(1);
        let run = Run { file, schema, blocks: VecDeque::new(), pieces: VecDeque::new(), block_rows, level };
        RunWriter { run, options, check, block: None }
    }

    /// Appends rows of a partition.
    pub(super) fn write(&mut self, partition: usize, rows: &RecordBatch) -> Result<()> {
        match self.run.pieces.back_mut() {
            Some((last, count)) if *last == partition => *count += rows.num_rows(),
            _ => self.run.pieces.push_back((partition, rows.num_rows())),
        }
        let mut at = 0;
        while at < rows.num_rows() {
            let (mut writer, sink) = match self.block.take() {
                Some(block) => block,
                None => self.new_block()?,
            };
            let filled = usize::try_from(writer.rows()).or_internal("a block has more rows than memory")?;
            let count = self.run.block_rows.saturating_sub(filled).min(rows.num_rows() - at);
            writer.write(&rows.slice(at, count))?;
            at += count;
            let is_full = filled + count >= self.run.block_rows;
            self.block = Some((writer, sink));
            if is_full {
                self.end_block()?;
            }
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Run> {
        self.end_block()?;
        Ok(self.run)
    }

    fn new_block(&self) -> Result<(FileWriter<MemorySink>, MemorySink)> {
        let sink = MemorySink::new();
        let mut writer = FileWriter::try_new(sink.clone(), self.run.schema.clone(), &self.options)?;
        if let Some(check) = &self.check {
            writer.set_cancel_check(check.clone());
        }
        Ok((writer, sink))
    }

    fn end_block(&mut self) -> Result<()> {
        let Some((mut writer, sink)) = self.block.take() else { return Ok(()) };
        writer.finish()?;
        let bytes = sink.take().or_internal("a finished block has no bytes")?;
        self.run.blocks.push_back(self.run.file.append(&bytes)?);
        Ok(())
    }
}

/// The rows of a run.
pub(super) struct RunReader {
    run: Run,
    check: Option<CancelCheck>,
    reader: Option<BatchReader>,
    /// Rows that have been read and not been given.
    batches: VecDeque<RecordBatch>,
}

impl RunReader {
    pub(super) fn new(run: Run, check: Option<CancelCheck>) -> Self {
        RunReader { run, check, reader: None, batches: VecDeque::new() }
    }

    /// The partition of the next rows.
    pub(super) fn partition(&self) -> Option<usize> {
        self.run.pieces.front().map(|(partition, _)| *partition)
    }

    /// The next rows, all of one partition.
    pub(super) fn next(&mut self) -> Result<Option<RecordBatch>> {
        let Some((partition, rows)) = self.run.pieces.pop_front() else { return Ok(None) };
        let batch = loop {
            match self.batches.pop_front() {
                Some(batch) => break batch,
                None => self.read()?,
            }
        };
        let count = rows.min(batch.num_rows());
        if count < batch.num_rows() {
            self.batches.push_front(batch.slice(count, batch.num_rows() - count));
        }
        if count < rows {
            self.run.pieces.push_front((partition, rows - count));
        }
        Ok(Some(batch.slice(0, count)))
    }

    /// Reads a batch of a block, or opens the next block.
    fn read(&mut self) -> Result<()> {
        if let Some(batch) = self.reader.as_mut().and_then(Iterator::next) {
            return self.restore(&batch?);
        }
        let block = self.run.blocks.pop_front().or_internal("a run has fewer blocks than rows")?;
        let source = MemorySource::new(self.run.file.read(block)?).named(NAME);
        let file = OrcFile::try_new(Arc::new(source), &Limits::UNLIMITED)?;
        let options = ReadOptions { threads: 1, limits: Limits::UNLIMITED, ..ReadOptions::default() };
        let mut reader = file.read(options)?;
        if let Some(check) = &self.check {
            reader.set_cancel_check(check.clone());
        }
        self.reader = Some(reader);
        Ok(())
    }

    /// Adds the rows of a batch with the types that they were written with. Readers widen narrow keys of dictionaries, which
    /// tell fewer values apart than a batch may have.
    fn restore(&mut self, batch: &RecordBatch) -> Result<()> {
        let rows = batch.num_rows();
        let columns = batch.columns().iter().zip(self.run.schema.fields());
        let restored = columns.map(|(array, field)| restore(array, field, u64::MAX)).collect::<Result<Vec<_>>>();
        match restored {
            Ok(columns) => {
                let options = RecordBatchOptions::new().with_row_count(Some(rows));
                let batch = RecordBatch::try_new_with_options(self.run.schema.clone(), columns, &options);
                let fault = |error| Error::corrupt("the columns do not fit together").with_source(error).in_file(NAME);
                self.batches.push_back(batch.map_err(fault)?);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::LimitExceeded && rows > 1 => {
                let half = rows / 2;
                self.restore(&batch.slice(0, half))?;
                self.restore(&batch.slice(half, rows - half))
            }
            Err(error) => Err(error),
        }
    }
}
