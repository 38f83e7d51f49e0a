//! Encoding of queued rows. Columns are encoded in parallel.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, new_empty_array};
use arrow_schema::Schema;
use orcish_core::cancel::{CancelCheck, SharedCancellation};
use orcish_core::error::{Error, OrInternal as _, Result};
use orcish_core::parallel::map;

use super::append_error::{AppendError, AppendResult};
use super::blocks::{Blocks, FreeBlocks};
use super::column::{ColumnWriter, EncodedColumns};
use super::compressors::Compressors;

/// Consecutive rows of one row group.
pub(super) struct RowGroupSlice {
    pub(super) columns: Vec<ArrayRef>,
    /// Number of the first row in the file.
    pub(super) first_row: u64,
    pub(super) starts_row_group: bool,
    pub(super) ends_row_group: bool,
}

impl RowGroupSlice {
    /// A slice without rows that ends the row group of the previous slice.
    pub(super) fn end_of_row_group(schema: &Schema, first_row: u64) -> Self {
        let columns = schema.fields().iter().map(|field| new_empty_array(field.data_type())).collect();
        RowGroupSlice { columns, first_row, starts_row_group: false, ends_row_group: true }
    }
}

/// A column below the root.
struct TimedColumn {
    column: ColumnWriter,
    /// Time that the last work took. Columns that take long are begun first, so that the threads end together.
    time: Duration,
}

/// The columns of a file, and the compressors of each thread.
pub(super) struct Encoder {
    columns: Vec<TimedColumn>,
    num_columns: usize,
    /// The compressors of the caller, and of the other threads.
    compressors: Vec<Compressors>,
    /// The blocks of the written stripes, which all threads use again.
    free: FreeBlocks,
}

impl Encoder {
    pub(super) fn new(columns: Vec<ColumnWriter>, threads: usize) -> Self {
        let threads = threads.max(1);
        let (cancellation, free) = (SharedCancellation::default(), FreeBlocks::default());
        Encoder {
            num_columns: columns.len(),
            columns: columns.into_iter().map(|column| TimedColumn { column, time: Duration::ZERO }).collect(),
            compressors: (0..threads).map(|_| Compressors::new(cancellation.for_thread(), free.clone())).collect(),
            free,
        }
    }

    /// Replaces the columns, which have no rows, by others of the same types.
    pub(super) fn set_columns(&mut self, columns: Vec<ColumnWriter>) {
        self.columns = columns.into_iter().map(|column| TimedColumn { column, time: Duration::ZERO }).collect();
    }

    /// Sets the check that the calling thread polls.
    pub(super) fn set_cancel_check(&mut self, check: CancelCheck) {
        if let Some(caller) = self.compressors.first_mut() {
            caller.cancellation().set_cancel_check(check);
        }
    }

    /// The compressors of the caller.
    pub(super) fn compressors(&mut self) -> Result<&mut Compressors> {
        self.compressors.first_mut().or_internal("an encoder has no thread")
    }

    /// Keeps the blocks of a written stripe for the next one.
    pub(super) fn reuse(&mut self, sections: Vec<Blocks>) {
        sections.into_iter().for_each(|section| self.free.put(section));
    }

    /// Frees the compressors and blocks that are kept for the next stripe.
    pub(super) fn release(&mut self) {
        self.compressors.iter_mut().for_each(Compressors::release);
    }

    /// Estimated stored bytes of the stripe so far.
    pub(super) fn size(&self) -> usize {
        self.columns.iter().map(|this| this.column.size()).sum()
    }

    /// Bytes of memory of the stripe so far.
    pub(super) fn memory_size(&self) -> usize {
        self.columns.iter().map(|this| this.column.memory_size()).sum()
    }

    /// Frees memory that the stripe does not need, within a row group.
    pub(super) fn save_memory(&mut self) -> Result<()> {
        self.map_columns(|_, column, compressors| column.save_memory(compressors))?.into_iter().collect()
    }

    /// Encodes rows.
    ///
    /// # Errors
    /// The error of the first row that cannot be stored, with its number.
    pub(super) fn append(&mut self, slices: Vec<RowGroupSlice>) -> std::result::Result<(), (AppendError, u64)> {
        let first_row = slices.first().map_or(0, |slice| slice.first_row);
        if self.compressors.len() > 1 {
            self.compressors.iter_mut().for_each(Compressors::defer);
        }
        let results = self.map_columns(move |at, column, compressors| {
            for slice in &slices {
                append(column, at, slice, compressors).map_err(|error| (error, slice.first_row))?;
            }
            Ok(())
        });
        let results = self.compress_deferred().and(results);
        let results = results.map_err(|error| (AppendError::Other(error), first_row))?;
        let row = |error: &(AppendError, u64)| match error {
            (AppendError::Value { index, .. }, first) => first + *index as u64,
            (AppendError::Other(_), first) => *first,
        };
        let first_error = results.into_iter().filter_map(std::result::Result::err).min_by_key(row);
        first_error.map_or(Ok(()), Err)
    }

    /// Ends the stripe.
    pub(super) fn end_stripe(&mut self) -> Result<EncodedColumns> {
        let results = self.map_columns(|_, column, compressors| {
            let mut out = EncodedColumns::default();
            column.end_stripe(compressors, &mut out).map(|()| out)
        })?;
        let mut columns = EncodedColumns::default();
        for result in results {
            let EncodedColumns { clear, variants } = result?;
            columns.clear.extend(clear);
            columns.variants.extend(variants);
        }
        columns.variants.sort_by_key(|&(number, _)| number);
        Ok(columns)
    }

    /// Compresses the deferred chunks, on all threads.
    fn compress_deferred(&mut self) -> Result<()> {
        let chunks: Vec<_> = self.compressors.iter_mut().flat_map(Compressors::take_deferred).collect();
        self.map(chunks, |chunk, compressors| compressors.compress_deferred(&chunk)).map(|_| ())
    }

    /// Calls `task` for each item, on all threads. The results are in order of the items.
    fn map<I: Send + 'static, T: Send + 'static>(
        &mut self,
        items: Vec<I>,
        task: impl Fn(I, &mut Compressors) -> Result<T> + Send + Sync + 'static,
    ) -> Result<Vec<T>> {
        if let [caller] = &mut *self.compressors {
            return items.into_iter().map(|item| task(item, caller)).collect();
        }
        let check = self.compressors.first_mut().and_then(|caller| caller.cancellation().check_of_waiting_caller());
        let threads = self.compressors.len();
        let pool = Arc::new(Pool::new(std::mem::take(&mut self.compressors)));
        let shared = pool.clone();
        let results = map(items, threads, check, move |_, item| {
            shared.with_compressors(|compressors| task(item, compressors))?
        });
        self.compressors = pool.take();
        results
    }

    /// Calls `task` for each column, on all threads. The results are in order of the columns.
    fn map_columns<T: Send + 'static>(
        &mut self,
        task: impl Fn(usize, &mut ColumnWriter, &mut Compressors) -> T + Send + Sync + 'static,
    ) -> Result<Vec<T>> {
        if self.columns.len() != self.num_columns {
            return Err(Error::invalid("the file cannot be continued: a thread of its writer panicked"));
        }
        let mut columns: Vec<_> = std::mem::take(&mut self.columns).into_iter().enumerate().collect();
        if self.compressors.len() > 1 {
            columns.sort_by_key(|(_, this)| std::cmp::Reverse(this.time));
        }
        let mut results = self.map(columns, move |(at, mut this), compressors| {
            let start = Instant::now();
            let result = task(at, &mut this.column, compressors);
            this.time = start.elapsed();
            Ok((at, this, result))
        })?;
        results.sort_unstable_by_key(|&(at, ..)| at);
        let (columns, results) = results.into_iter().map(|(_, this, result)| (this, result)).unzip();
        self.columns = columns;
        Ok(results)
    }
}

/// Compressors that threads take and give back. The compressors of the caller, which poll for cancellation, stay with
/// it.
struct Pool {
    caller: ThreadId,
    /// The compressors of the caller, unless they are used.
    of_caller: Mutex<Vec<Compressors>>,
    of_threads: Mutex<Vec<Compressors>>,
}

impl Pool {
    /// The caller has the first compressors.
    fn new(mut of_caller: Vec<Compressors>) -> Self {
        let of_threads = of_caller.split_off(1.min(of_caller.len()));
        let (of_caller, of_threads) = (Mutex::new(of_caller), Mutex::new(of_threads));
        Pool { caller: std::thread::current().id(), of_caller, of_threads }
    }

    fn with_compressors<T>(&self, work: impl FnOnce(&mut Compressors) -> T) -> Result<T> {
        let is_caller = std::thread::current().id() == self.caller;
        let pool = if is_caller { &self.of_caller } else { &self.of_threads };
        let mut compressors = lock(pool).pop().or_internal("there are more threads than compressors")?;
        let result = work(&mut compressors);
        lock(pool).push(compressors);
        Ok(result)
    }

    fn take(&self) -> Vec<Compressors> {
        let mut all = std::mem::take(&mut *lock(&self.of_caller));
        all.append(&mut lock(&self.of_threads));
        all
    }
}

fn lock(pool: &Mutex<Vec<Compressors>>) -> MutexGuard<'_, Vec<Compressors>> {
    pool.lock().unwrap_or_else(PoisonError::into_inner)
}

fn append(column: &mut ColumnWriter, at: usize, slice: &RowGroupSlice, compressors: &mut Compressors) -> AppendResult {
    if slice.starts_row_group {
        column.begin_row_group();
    }
    let array = slice.columns.get(at).or_internal("a batch has fewer columns than the file")?;
    column.append(array, compressors)?;
    if slice.ends_row_group {
        column.end_row_group(compressors)?;
    }
    Ok(())
}
