//! Encoding: rows that are queued go through the columns, side by side where there are threads.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, new_empty_array};
use arrow_schema::Schema;
use orcish_core::cancel::{CancelCheck, SharedCancellation};
use orcish_core::error::{Error, Result};
use orcish_core::parallel::map;

use super::blocks::Blocks;
use super::column::{Column, StripeColumn};
use super::compressors::Compressors;
use super::fault::{Fault, Outcome};

/// Some rows of a row group.
pub(super) struct Piece {
    pub(super) columns: Vec<ArrayRef>,
    /// Number of the first in the file.
    pub(super) first_row: u64,
    pub(super) starts_group: bool,
    pub(super) ends_group: bool,
}

impl Piece {
    /// No rows, but the end of the row group of the rows before.
    pub(super) fn end_of_group(schema: &Schema, first_row: u64) -> Self {
        let columns = schema.fields().iter().map(|field| new_empty_array(field.data_type())).collect();
        Piece { columns, first_row, starts_group: false, ends_group: true }
    }
}

/// A column below the root.
struct TimedColumn {
    column: Column,
    /// Time that the last work took. Columns that take long are begun first, so that the threads end together.
    time: Duration,
}

/// The columns of a file, and the compressors of each thread.
pub(super) struct Encoder {
    columns: Vec<TimedColumn>,
    num_columns: usize,
    /// The compressors of the caller, and of the other threads.
    compressors: Vec<Compressors>,
}

impl Encoder {
    pub(super) fn new(columns: Vec<Column>, threads: usize) -> Self {
        let threads = threads.clamp(1, columns.len().max(1));
        let cancellation = SharedCancellation::default();
        Encoder {
            num_columns: columns.len(),
            columns: columns.into_iter().map(|column| TimedColumn { column, time: Duration::ZERO }).collect(),
            compressors: (0..threads).map(|_| Compressors::new(cancellation.for_thread())).collect(),
        }
    }

    /// Has the thread that writes call `check` now and then.
    pub(super) fn set_cancel_check(&mut self, check: CancelCheck) {
        if let Some(caller) = self.compressors.first_mut() {
            caller.cancellation().set_cancel_check(check);
        }
    }

    /// The compressors of the caller.
    pub(super) fn compressors(&mut self) -> Result<&mut Compressors> {
        self.compressors.first_mut().ok_or_else(|| Error::invalid("no thread"))
    }

    /// Has the blocks of a stripe that is written used again, by all threads.
    pub(super) fn reuse(&mut self, parts: Vec<Blocks>) {
        let threads = self.compressors.len().max(1);
        for (at, part) in parts.into_iter().enumerate() {
            if let Some(tools) = self.compressors.get_mut(at % threads) {
                tools.reuse(part);
            }
        }
    }

    /// Keeps no blocks for the next stripe.
    pub(super) fn release(&mut self) {
        self.compressors.iter_mut().for_each(Compressors::release);
    }

    /// Bytes that the stripe has so far.
    pub(super) fn size(&mut self) -> usize {
        self.columns.iter_mut().map(|this| this.column.size()).sum()
    }

    /// Bytes of memory that the stripe takes so far.
    pub(super) fn memory(&mut self) -> usize {
        self.columns.iter_mut().map(|this| this.column.memory()).sum()
    }

    /// Encodes rows.
    ///
    /// # Errors
    /// The error of the first row that cannot be stored, with its number.
    pub(super) fn append(&mut self, pieces: Vec<Piece>) -> std::result::Result<(), (Fault, u64)> {
        let first_row = pieces.first().map_or(0, |piece| piece.first_row);
        let results = self.map_columns(move |at, column, compressors| {
            for piece in &pieces {
                append(column, at, piece, compressors).map_err(|fault| (fault, piece.first_row))?;
            }
            Ok(())
        });
        let results = results.map_err(|error| (Fault::Error(error), first_row))?;
        let row = |fault: &(Fault, u64)| match fault {
            (Fault::Value { index, .. }, first) => first + *index as u64,
            (Fault::Error(_), first) => *first,
        };
        let fault = results.into_iter().filter_map(std::result::Result::err).min_by_key(row);
        fault.map_or(Ok(()), Err)
    }

    /// Ends the stripe.
    pub(super) fn end_stripe(&mut self) -> Result<Vec<StripeColumn>> {
        let results = self.map_columns(|_, column, compressors| {
            let mut out = Vec::new();
            column.end_stripe(compressors, &mut out).map(|()| out)
        })?;
        let mut columns = Vec::new();
        for result in results {
            columns.extend(result?);
        }
        Ok(columns)
    }

    /// Calls `task` for each column, on all threads. The results are in order of the columns.
    fn map_columns<T: Send + 'static>(
        &mut self,
        task: impl Fn(usize, &mut Column, &mut Compressors) -> T + Send + Sync + 'static,
    ) -> Result<Vec<T>> {
        if self.columns.len() != self.num_columns {
            return Err(Error::invalid("the file cannot be continued: a thread of its writer panicked"));
        }
        let timed = move |at: usize, this: &mut TimedColumn, compressors: &mut Compressors| {
            let start = Instant::now();
            let result = task(at, &mut this.column, compressors);
            this.time = start.elapsed();
            result
        };
        if let [caller] = &mut *self.compressors {
            return Ok(self.columns.iter_mut().enumerate().map(|(at, this)| timed(at, this, caller)).collect());
        }
        let check = self.compressors.first_mut().and_then(|caller| caller.cancellation().check_of_waiting_caller());
        let threads = self.compressors.len();
        let pool = Arc::new(Pool::new(std::mem::take(&mut self.compressors)));
        let mut columns: Vec<_> = std::mem::take(&mut self.columns).into_iter().enumerate().collect();
        columns.sort_by_key(|(_, this)| std::cmp::Reverse(this.time));
        let shared = pool.clone();
        let results = map(columns, threads, check, move |_, (at, mut this)| {
            let result = shared.with_compressors(|compressors| timed(at, &mut this, compressors))?;
            Ok((at, this, result))
        });
        self.compressors = pool.take();
        let mut results = results?;
        results.sort_unstable_by_key(|&(at, ..)| at);
        let (columns, results) = results.into_iter().map(|(_, this, result)| (this, result)).unzip();
        self.columns = columns;
        Ok(results)
    }
}

/// Compressors that threads take and give back. The compressors of the caller, which poll for cancellation, stay with it.
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
        let mut compressors = lock(pool).pop().ok_or_else(|| Error::invalid("more threads than compressors"))?;
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

fn append(column: &mut Column, at: usize, piece: &Piece, compressors: &mut Compressors) -> Outcome {
    if piece.starts_group {
        column.begin_group();
    }
    let array = piece.columns.get(at).ok_or_else(|| Error::invalid("a batch with too few columns"))?;
    column.append(array, compressors)?;
    if piece.ends_group {
        column.end_group(compressors)?;
    }
    Ok(())
}
