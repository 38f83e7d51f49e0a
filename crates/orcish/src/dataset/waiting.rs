//! Rows of partitions that have no open file. They wait in memory, and on disk if they do not fit.

use std::collections::{HashMap, VecDeque};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Schema, SchemaRef};
use orcish_core::OrInternal as _;
use orcish_core::cancel::{CancelCheck, Cancellation};
use orcish_core::error::Result;

use super::runs::{Run, RunFile, RunReader, RunWriter};
use super::split::PartitionKey;
use crate::tuning;
use crate::write::array_size;

/// The rows of some partitions. The rows of each partition are given in the order in which they were added.
pub(super) struct WaitingRows {
    /// The schema of the rows.
    schema: SchemaRef,
    numbers: HashMap<PartitionKey, usize>,
    /// The partitions by their numbers, with the value of each partition column.
    partitions: Vec<(PartitionKey, Vec<ArrayRef>)>,
    held: HeldRows,
    /// The runs on disk. The rows of each are older than those of the next.
    runs: Vec<Run>,
    file: RunFile,
    /// The number of runs that were written.
    written: u64,
}

impl WaitingRows {
    pub(super) fn new(schema: &SchemaRef) -> Self {
        // Blocks on disk need no user metadata.
        let schema = SchemaRef::new(Schema::new(schema.fields().clone()));
        WaitingRows {
            schema,
            numbers: HashMap::new(),
            partitions: Vec::new(),
            held: HeldRows::default(),
            runs: Vec::new(),
            file: RunFile::default(),
            written: 0,
        }
    }

    /// Whether rows of a partition wait.
    pub(super) fn contains(&self, key: &PartitionKey) -> bool {
        self.numbers.contains_key(key)
    }

    /// Bytes of the rows in memory.
    pub(super) fn memory(&self) -> usize {
        self.held.bytes
    }

    /// The number of runs that were written.
    #[cfg(test)]
    pub(super) fn spilled(&self) -> u64 {
        self.written
    }

    /// Adds rows of several partitions, which follow each other. There is the number of rows for each partition, and the
    /// value of each partition column.
    pub(super) fn add(&mut self, rows: RecordBatch, partitions: Vec<(PartitionKey, Vec<ArrayRef>, usize)>) {
        let batch = self.held.batches.len();
        let mut start = 0;
        for (key, values, count) in partitions {
            let number = match self.numbers.get(&key) {
                Some(number) => *number,
                None => {
                    self.numbers.insert(key.clone(), self.partitions.len());
                    self.partitions.push((key, values));
                    self.partitions.len() - 1
                }
            };
            self.held.pieces.push_back(Piece { partition: number, batch, start, rows: count });
            start += count;
        }
        self.held.bytes += rows.columns().iter().map(array_size).sum::<usize>();
        self.held.rows += rows.num_rows();
        self.held.batches.push(rows);
    }

    /// Writes the rows in memory to disk. `budget` is the memory that rows are to take, in bytes.
    ///
    /// # Errors
    /// `Io` if they cannot be written. `InvalidArgument` for a value that cannot be stored.
    pub(super) fn spill(&mut self, budget: usize, check: Option<&CancelCheck>) -> Result<()> {
        if self.held.rows == 0 {
            return Ok(());
        }
        let held = std::mem::take(&mut self.held);
        let block_bytes = (budget / tuning::BLOCKS_OF_WAITING.get()).max(tuning::MIN_WAITING_BLOCK.get());
        let block_rows = block_bytes / (held.bytes / held.rows).max(1);
        let rows = OrderedRows::new(Vec::new(), held, check);
        self.write_run(rows, block_rows, 0, check)?;
        // Each run is read with a block in memory.
        while let Some(at) = self.last_level() {
            let runs = self.runs.split_off(at);
            let smallest = runs.iter().min_by_key(|run| run.block_rows).or_internal("no run is merged")?;
            let (block_rows, level) = (smallest.block_rows, smallest.level + 1);
            self.write_run(OrderedRows::new(runs, HeldRows::default(), check), block_rows, level, check)?;
        }
        Ok(())
    }

    /// Where the last runs of one level begin, if there are so many that they are merged.
    fn last_level(&self) -> Option<usize> {
        let level = self.runs.last()?.level;
        let count = self.runs.iter().rev().take_while(|run| run.level == level).count();
        (count >= tuning::RUNS_MERGED.get().max(2)).then(|| self.runs.len() - count)
    }

    fn write_run(
        &mut self,
        mut rows: OrderedRows,
        block_rows: usize,
        level: usize,
        check: Option<&CancelCheck>,
    ) -> Result<()> {
        let mut cancellation = Cancellation::new(check.cloned());
        let mut run = RunWriter::new(self.file.clone(), self.schema.clone(), block_rows, level, check.cloned());
        while let Some((partition, rows)) = rows.next()? {
            cancellation.poll()?;
            run.write(partition, &rows)?;
        }
        self.runs.push(run.finish()?);
        self.written += 1;
        Ok(())
    }

    /// Takes all rows in the order of the numbers of their partitions, and the partitions.
    pub(super) fn take(&mut self, check: Option<&CancelCheck>) -> (OrderedRows, Vec<(PartitionKey, Vec<ArrayRef>)>) {
        self.numbers.clear();
        self.file = RunFile::default();
        let rows = OrderedRows::new(std::mem::take(&mut self.runs), std::mem::take(&mut self.held), check);
        (rows, std::mem::take(&mut self.partitions))
    }

    /// Drops all rows.
    pub(super) fn clear(&mut self) {
        drop(self.take(None));
    }
}

/// Rows of one partition in a batch.
#[derive(Clone, Copy)]
struct Piece {
    partition: usize,
    batch: usize,
    start: usize,
    rows: usize,
}

/// Rows in memory.
#[derive(Default)]
struct HeldRows {
    batches: Vec<RecordBatch>,
    pieces: VecDeque<Piece>,
    bytes: usize,
    rows: usize,
}

/// Rows in the order of the numbers of their partitions.
pub(super) struct OrderedRows {
    /// Their rows are older than those in memory.
    runs: Vec<RunReader>,
    held: HeldRows,
}

impl OrderedRows {
    fn new(runs: Vec<Run>, mut held: HeldRows, check: Option<&CancelCheck>) -> Self {
        // The sort is stable.
        held.pieces.make_contiguous().sort_by_key(|piece| piece.partition);
        let runs = runs.into_iter().map(|run| RunReader::new(run, check.cloned())).collect();
        OrderedRows { runs, held }
    }

    /// The next rows, all of one partition, and its number.
    pub(super) fn next(&mut self) -> Result<Option<(usize, RecordBatch)>> {
        let first = self.runs.iter_mut().filter(|run| run.partition().is_some()).min_by_key(|run| run.partition());
        let held = self.held.pieces.front().copied();
        let of_run = first.and_then(|run| Some((run.partition()?, run)));
        match (of_run, held) {
            (Some((partition, run)), held) if held.is_none_or(|held| partition <= held.partition) => {
                Ok(run.next()?.map(|rows| (partition, rows)))
            }
            (_, Some(piece)) => {
                self.held.pieces.pop_front();
                let batch = self.held.batches.get(piece.batch);
                let batch = batch.or_internal("rows that wait are not in memory")?;
                Ok(Some((piece.partition, batch.slice(piece.start, piece.rows))))
            }
            _ => Ok(None),
        }
    }
}
