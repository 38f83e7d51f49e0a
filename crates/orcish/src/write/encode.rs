//! Encoding: rows that are queued go through the columns, side by side where there are threads.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, new_empty_array};
use arrow_schema::Schema;
use orcish_core::cancel::{CHECK_INTERVAL, CancelCheck};
use orcish_core::error::{Error, Result};

use super::blocks::Blocks;
use super::column::{Column, StripeColumn};
use super::compressors::Compressors;
use super::fault::{Fault, Outcome};
use super::watch::Watch;

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

/// A column below the root, and what it costs.
pub(super) struct Lane {
    pub(super) column: Column,
    /// Time that the last work took: long ones go first, so that threads end together.
    cost: Duration,
}

impl Lane {
    pub(super) fn new(column: Column) -> Self {
        Lane { column, cost: Duration::ZERO }
    }
}

/// The columns of a file, and the threads' own tools.
pub(super) struct Encoder {
    lanes: Vec<Lane>,
    compressors: Vec<Compressors>,
}

impl Encoder {
    pub(super) fn new(columns: Vec<Column>, threads: usize) -> Self {
        let threads = threads.clamp(1, columns.len().max(1));
        let watch = Watch::default();
        Encoder {
            lanes: columns.into_iter().map(Lane::new).collect(),
            compressors: (0..threads).map(|_| Compressors::new(watch.of_another_thread())).collect(),
        }
    }

    /// Has the thread that writes call `check` now and then.
    pub(super) fn set_cancel_check(&mut self, check: CancelCheck) {
        if let Some(first) = self.compressors.first_mut() {
            first.watch().ask(check);
        }
    }

    /// Tools for what is in no column.
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
        self.lanes.iter_mut().map(|lane| lane.column.size()).sum()
    }

    /// Bytes of memory that the stripe takes so far.
    pub(super) fn memory(&mut self) -> usize {
        self.lanes.iter_mut().map(|lane| lane.column.memory()).sum()
    }

    /// Takes rows.
    ///
    /// # Errors
    /// That of the first row that cannot be stored, with its number.
    pub(super) fn append(&mut self, pieces: &[Piece]) -> std::result::Result<(), (Fault, u64)> {
        let results = self.each(|at, column, compressors| {
            for piece in pieces {
                append(column, at, piece, compressors).map_err(|fault| (fault, piece.first_row))?;
            }
            Ok(())
        });
        let row = |fault: &(Fault, u64)| match fault {
            (Fault::Value { index, .. }, first) => first + *index as u64,
            (Fault::Error(_), first) => *first,
        };
        let fault = results.into_iter().filter_map(std::result::Result::err).min_by_key(row);
        fault.map_or(Ok(()), Err)
    }

    /// Ends the stripe.
    pub(super) fn end_stripe(&mut self) -> Result<Vec<StripeColumn>> {
        let results = self.each(|_, column, compressors| {
            let mut out = Vec::new();
            column.end_stripe(compressors, &mut out).map(|()| out)
        });
        let mut columns = Vec::new();
        for result in results {
            columns.extend(result?);
        }
        Ok(columns)
    }

    /// Does something with each column, on all threads; results are in the order of the columns.
    fn each<T: Send>(&mut self, work: impl Fn(usize, &mut Column, &mut Compressors) -> T + Sync) -> Vec<T> {
        let timed = |at: usize, lane: &mut Lane, compressors: &mut Compressors| {
            let start = Instant::now();
            let done = work(at, &mut lane.column, compressors);
            lane.cost = start.elapsed();
            done
        };
        let (first, others) = match self.compressors.split_first_mut() {
            Some((first, others)) if !others.is_empty() => (first, others),
            Some((first, _)) => {
                return self.lanes.iter_mut().enumerate().map(|(at, lane)| timed(at, lane, first)).collect();
            }
            None => return Vec::new(),
        };
        let mut lanes: Vec<_> = self.lanes.iter_mut().enumerate().collect();
        lanes.sort_by_key(|(_, lane)| lane.cost);
        let (lanes, done) = (Mutex::new(lanes), Mutex::new(Vec::new()));
        let run = &|compressors: &mut Compressors| {
            loop {
                let next = lanes.lock().unwrap_or_else(PoisonError::into_inner).pop();
                let Some((at, lane)) = next else { break };
                let result = timed(at, lane, compressors);
                done.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
            }
        };
        std::thread::scope(|scope| {
            // Nothing is sent: it is closed when the other threads have ended.
            let (working, ended) = channel::<()>();
            for compressors in others {
                // Where there is no thread to be had, there is less speed, and nothing else is lost.
                let thread = std::thread::Builder::new().name("orcish-write".to_owned());
                let working = working.clone();
                let work = move || {
                    run(compressors);
                    drop(working);
                };
                let _ = thread.spawn_scoped(scope, work);
            }
            drop(working);
            run(first);
            while ended.recv_timeout(CHECK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                // What it finds ends the other threads, and is their error.
                let _ = first.watch().look();
            }
        });
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|(at, _)| *at);
        done.into_iter().map(|(_, result)| result).collect()
    }
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
