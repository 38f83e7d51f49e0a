//! Batches of a scan, in order of the files, which several threads read ahead.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::each::Openers;
use super::file::{FileReader, FileScan};
use super::table::Table;
use crate::error::{ErrorKind, Result};
use crate::patience::{Check, PATIENCE, Patience};
use crate::threads::Threads;

/// Batches of a file that may wait to be taken.
const BATCHES_AHEAD: usize = 4;

/// Batches of a scan, in order. An error ends it.
pub struct ScanReader {
    table: Arc<Table>,
    way: Way,
    begun: bool,
    openers: Option<Arc<Openers>>,
    /// Rows that may still be given.
    left: u64,
    check: Option<Check>,
    patience: Patience,
}

enum Way {
    /// One file after the other, by the caller.
    Alone {
        next: usize,
        current: Option<Box<FileReader>>,
    },
    /// Several files at a time, by threads, once there are some.
    Ahead(Arc<Shared>, Threads),
    Done,
}

/// What the threads share.
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Whether threads have been started.
    begun: bool,
    /// The next file to be taken up.
    next: usize,
    /// Files that are being read, in order.
    lanes: VecDeque<Lane>,
    stopped: bool,
    panic: Option<Box<dyn std::any::Any + Send>>,
}

struct Lane {
    file: usize,
    ready: VecDeque<Result<RecordBatch>>,
    done: bool,
}

impl std::fmt::Debug for ScanReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScanReader").field("schema", &self.table.output).finish_non_exhaustive()
    }
}

impl ScanReader {
    pub(super) fn new(table: Arc<Table>) -> Self {
        // Under a limit that no filter puts off, the first files are enough.
        let is_short = table.options.limit.is_some() && table.options.filter.is_none();
        let alone = table.files.len() < 2 || table.threads() == 1 || is_short;
        let way = match alone {
            true => Way::Alone { next: 0, current: None },
            false => {
                Way::Ahead(Arc::new(Shared { state: Mutex::default(), changed: Condvar::new() }), Threads::default())
            }
        };
        let left = table.options.limit.unwrap_or(u64::MAX);
        let patience = Patience::new(None);
        ScanReader { table, way, begun: false, openers: None, left, check: None, patience }
    }

    /// Schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.table.output.clone()
    }

    /// Has `check` called now and then while the caller decodes or waits for other threads; its error ends the reading.
    pub fn while_waiting(&mut self, check: Check) {
        self.patience = Patience::new(Some(check.clone()));
        self.check = Some(check);
    }

    fn next_batch(&mut self) -> Option<Result<RecordBatch>> {
        if !std::mem::replace(&mut self.begun, true) {
            self.openers = Openers::start(&self.table).map(Arc::new);
        }
        match &mut self.way {
            Way::Done => None,
            Way::Alone { next, current } => loop {
                if let Some(reader) = current {
                    match reader.next() {
                        Some(batch) => return Some(batch),
                        None => *current = None,
                    }
                }
                if *next >= self.table.files.len() {
                    return None;
                }
                let at = *next;
                *next += 1;
                if at > 0 {
                    self.table.close(at - 1);
                }
                self.openers.iter().for_each(|openers| openers.reached(at));
                let begin = |file: Option<FileScan>| file.map(|file| file.read(self.table.threads(), 1)).transpose();
                match self.table.open_file(at).and_then(begin) {
                    Ok(None) => {}
                    Err(error) => return Some(Err(error)),
                    Ok(Some(mut reader)) => {
                        if let Some(check) = self.check.clone() {
                            reader.while_waiting(check);
                        }
                        *current = Some(Box::new(reader));
                    }
                }
            },
            Way::Ahead(shared, threads) => {
                if threads.are_of_another_process() {
                    return Some(Err(Threads::missing()));
                }
                if !shared.lock().begun {
                    shared.lock().begun = true;
                    let count = self.table.threads().min(self.table.files.len());
                    // With fewer files than threads each file has several.
                    let each = (self.table.threads() / count).max(1);
                    let mut started = false;
                    for _ in 0..count {
                        let (shared, table, openers) = (shared.clone(), self.table.clone(), self.openers.clone());
                        let work = move || shared.work(&table, openers.as_deref(), count + 1, each);
                        started |= threads.start("orcish-scan", work);
                    }
                    if !started {
                        // No thread can be made.
                        self.way = Way::Alone { next: 0, current: None };
                        return self.next_batch();
                    }
                }
                shared.take(&self.table, &mut self.patience)
            }
        }
    }

    /// Ends the reading. Threads that are at a slow read are not waited for, and none is after an interruption.
    fn stop(&mut self, is_interrupted: bool) {
        self.openers = None;
        let Way::Ahead(shared, mut threads) = std::mem::replace(&mut self.way, Way::Done) else { return };
        if threads.are_of_another_process() {
            return;
        }
        shared.lock().stopped = true;
        shared.changed.notify_all();
        if is_interrupted {
            threads.leave();
        } else {
            threads.end();
        }
    }
}

impl Iterator for ScanReader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let batch = match self.patience.look() {
                Err(error) => Some(Err(error)),
                Ok(()) if self.left == 0 => None,
                Ok(()) => self.next_batch(),
            };
            let Some(Ok(batch)) = batch else {
                let error = batch.as_ref().and_then(|batch| batch.as_ref().err());
                self.stop(error.is_some_and(|error| error.kind() == ErrorKind::Interrupted));
                self.way = Way::Done;
                return batch;
            };
            let rows = batch.num_rows();
            let wanted = usize::try_from(self.left).unwrap_or(usize::MAX).min(rows);
            self.left -= wanted as u64;
            if wanted > 0 {
                return Some(Ok(if wanted < rows { batch.slice(0, wanted) } else { batch }));
            }
        }
    }
}

impl Drop for ScanReader {
    fn drop(&mut self) {
        self.stop(false);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What each thread does: takes up one file after the other, no more than `most` of which may be begun.
    fn work(&self, table: &Arc<Table>, openers: Option<&Openers>, most: usize, threads: usize) {
        loop {
            let mut state = self.lock();
            let file = loop {
                if state.stopped || state.next >= table.files.len() {
                    return;
                }
                if state.lanes.len() < most {
                    break state.next;
                }
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            };
            state.next += 1;
            state.lanes.push_back(Lane { file, ready: VecDeque::new(), done: false });
            drop(state);
            openers.iter().for_each(|openers| openers.reached(file));
            let read =
                || match table.open_file(file).and_then(|file| file.map(|file| file.read(threads, most)).transpose()) {
                    Ok(None) => {}
                    Err(error) => _ = self.give(file, Err(error)),
                    Ok(Some(reader)) => _ = reader.into_iter().try_for_each(|batch| self.give(file, batch)),
                };
            let result = catch_unwind(AssertUnwindSafe(read));
            table.close(file);
            let mut state = self.lock();
            if let Err(panic) = result {
                state.panic = Some(panic);
            }
            state.lanes.iter_mut().filter(|lane| lane.file == file).for_each(|lane| lane.done = true);
            drop(state);
            self.changed.notify_all();
        }
    }

    /// Hands a batch over, once there is room; none where nobody wants it any more.
    fn give(&self, file: usize, batch: Result<RecordBatch>) -> Option<()> {
        let mut state = self.lock();
        loop {
            if state.stopped {
                return None;
            }
            let lane = state.lanes.iter_mut().find(|lane| lane.file == file)?;
            if lane.ready.len() < BATCHES_AHEAD {
                lane.ready.push_back(batch);
                drop(state);
                self.changed.notify_all();
                return Some(());
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The next batch in order of the files.
    fn take(&self, table: &Table, patience: &mut Patience) -> Option<Result<RecordBatch>> {
        let mut state = self.lock();
        loop {
            if let Some(panic) = state.panic.take() {
                state.stopped = true;
                drop(state);
                self.changed.notify_all();
                resume_unwind(panic);
            }
            let is_last = state.next >= table.files.len();
            match state.lanes.front_mut() {
                Some(lane) => {
                    if let Some(batch) = lane.ready.pop_front() {
                        drop(state);
                        self.changed.notify_all();
                        return Some(batch);
                    }
                    if lane.done {
                        state.lanes.pop_front();
                        self.changed.notify_all();
                        continue;
                    }
                }
                None if is_last => return None,
                None => {}
            }
            drop(self.changed.wait_timeout(state, PATIENCE).unwrap_or_else(PoisonError::into_inner));
            if let Err(error) = patience.look() {
                return Some(Err(error));
            }
            state = self.lock();
        }
    }
}
