//! Batches of ordered parts, such as the files of a table, which several threads read ahead.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use arrow_array::RecordBatch;

use super::threads::Threads;
use crate::cancel::{CHECK_INTERVAL, CancelCheck, Cancellation};
use crate::error::{ErrorKind, Result};
use crate::tuning;

/// Parts that are read one after the other, or several at a time.
pub trait Parts: Send + Sync + 'static {
    /// Batches of a part.
    type Reader: Iterator<Item = Result<RecordBatch>>;

    /// How many parts there are.
    fn count(&self) -> usize;

    /// Begins to read a part with some threads, beside so many parts in all that are read at a time; none where it has no
    /// wanted row.
    ///
    /// # Errors
    /// They are given in place of the batches of the part, and end the reading.
    fn open(&self, at: usize, threads: usize, beside: usize) -> Result<Option<Self::Reader>>;

    /// Says that a part is about to be opened.
    fn reached(&self, _at: usize) {}

    /// Says that a part has been read. Of the last one that need not be said.
    fn close(&self, _at: usize) {}

    /// Says that no further part will be opened, but for those that threads are at. May be said again, and is not in a
    /// child of a fork whose parent has the threads.
    fn ended(&self) {}

    /// Has `check` called now and then by a reader that the caller reads with.
    fn set_cancel_check(_reader: &mut Self::Reader, _check: CancelCheck) {}
}

/// Batches of parts, in order. An error ends it.
pub struct Ahead<P: Parts> {
    parts: Arc<P>,
    threads: usize,
    way: Way<P::Reader>,
    /// Rows that may still be given.
    left: u64,
    check: Option<CancelCheck>,
    cancellation: Cancellation,
}

enum Way<R> {
    /// One part after the other, by the caller.
    Alone {
        next: usize,
        current: Option<Box<R>>,
    },
    /// Several parts at a time, by threads, once there are some.
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
    /// The next part to be taken up.
    next: usize,
    /// Parts that are being read, in order.
    lanes: VecDeque<Lane>,
    stopped: bool,
    panic: Option<Box<dyn std::any::Any + Send>>,
}

struct Lane {
    part: usize,
    ready: VecDeque<Result<RecordBatch>>,
    done: bool,
}

impl<P: Parts> std::fmt::Debug for Ahead<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ahead").field("threads", &self.threads).field("left", &self.left).finish_non_exhaustive()
    }
}

impl<P: Parts> Ahead<P> {
    /// Reads with so many threads, but `alone` one part after the other, and gives no more rows than the `limit`.
    pub fn new(parts: Arc<P>, threads: usize, alone: bool, limit: Option<u64>) -> Self {
        let way = match alone || threads < 2 || parts.count() < 2 {
            true => Way::Alone { next: 0, current: None },
            false => {
                Way::Ahead(Arc::new(Shared { state: Mutex::default(), changed: Condvar::new() }), Threads::default())
            }
        };
        let left = limit.unwrap_or(u64::MAX);
        Ahead { parts, threads, way, left, check: None, cancellation: Cancellation::new(None) }
    }

    /// Has `check` called now and then while the caller decodes or waits for other threads; its error ends the reading.
    pub fn set_cancel_check(&mut self, check: CancelCheck) {
        self.cancellation = Cancellation::new(Some(check.clone()));
        self.check = Some(check);
    }

    fn next_batch(&mut self) -> Option<Result<RecordBatch>> {
        match &mut self.way {
            Way::Done => None,
            Way::Alone { next, current } => loop {
                if let Some(reader) = current {
                    match reader.next() {
                        Some(batch) => return Some(batch),
                        None => *current = None,
                    }
                }
                if *next >= self.parts.count() {
                    return None;
                }
                let at = *next;
                *next += 1;
                if at > 0 {
                    self.parts.close(at - 1);
                }
                self.parts.reached(at);
                match self.parts.open(at, self.threads, 1) {
                    Ok(None) => {}
                    Err(error) => return Some(Err(error)),
                    Ok(Some(mut reader)) => {
                        if let Some(check) = self.check.clone() {
                            P::set_cancel_check(&mut reader, check);
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
                    let count = self.threads.min(self.parts.count());
                    // With fewer parts than threads each part has several.
                    let each = (self.threads / count).max(1);
                    let mut started = false;
                    for _ in 0..count {
                        let (shared, parts) = (shared.clone(), self.parts.clone());
                        started |= threads.start("orcish-scan", move || shared.work(&*parts, count + 1, each));
                    }
                    if !started {
                        // No thread can be made.
                        self.way = Way::Alone { next: 0, current: None };
                        return self.next_batch();
                    }
                }
                shared.take(self.parts.count(), &mut self.cancellation)
            }
        }
    }

    /// Ends the reading. Threads that are at a slow read are not waited for, and none is after an interruption.
    fn stop(&mut self, is_interrupted: bool) {
        let way = std::mem::replace(&mut self.way, Way::Done);
        if matches!(&way, Way::Ahead(_, threads) if threads.are_of_another_process()) {
            return;
        }
        self.parts.ended();
        let Way::Ahead(shared, mut threads) = way else { return };
        shared.lock().stopped = true;
        shared.changed.notify_all();
        if is_interrupted {
            threads.leave();
        } else {
            threads.end();
        }
    }
}

impl<P: Parts> Iterator for Ahead<P> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let batch = match self.cancellation.poll() {
                Err(error) => Some(Err(error)),
                Ok(()) if self.left == 0 => None,
                Ok(()) => self.next_batch(),
            };
            let Some(Ok(batch)) = batch else {
                let error = batch.as_ref().and_then(|batch| batch.as_ref().err());
                self.stop(error.is_some_and(|error| error.kind() == ErrorKind::Interrupted));
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

impl<P: Parts> Drop for Ahead<P> {
    fn drop(&mut self) {
        self.stop(false);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What each thread does: takes up one part after the other, no more than `most` of which may be begun.
    fn work<P: Parts>(&self, parts: &P, most: usize, threads: usize) {
        loop {
            let mut state = self.lock();
            let part = loop {
                if state.stopped || state.next >= parts.count() {
                    return;
                }
                if state.lanes.len() < most {
                    break state.next;
                }
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            };
            state.next += 1;
            state.lanes.push_back(Lane { part, ready: VecDeque::new(), done: false });
            drop(state);
            let read = || {
                parts.reached(part);
                match parts.open(part, threads, most) {
                    Ok(None) => {}
                    Err(error) => _ = self.give(part, Err(error)),
                    Ok(Some(mut reader)) => _ = reader.try_for_each(|batch| self.give(part, batch)),
                }
            };
            let result = catch_unwind(AssertUnwindSafe(read));
            parts.close(part);
            let mut state = self.lock();
            if let Err(panic) = result {
                state.panic = Some(panic);
            }
            state.lanes.iter_mut().filter(|lane| lane.part == part).for_each(|lane| lane.done = true);
            drop(state);
            self.changed.notify_all();
        }
    }

    /// Hands a batch over, once there is room; none where nobody wants it any more.
    fn give(&self, part: usize, batch: Result<RecordBatch>) -> Option<()> {
        let mut state = self.lock();
        loop {
            if state.stopped {
                return None;
            }
            let lane = state.lanes.iter_mut().find(|lane| lane.part == part)?;
            if lane.ready.len() < tuning::BATCHES_AHEAD.get() {
                lane.ready.push_back(batch);
                drop(state);
                self.changed.notify_all();
                return Some(());
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The next batch in order of the parts, of which there are `count`.
    fn take(&self, count: usize, cancellation: &mut Cancellation) -> Option<Result<RecordBatch>> {
        let mut state = self.lock();
        loop {
            if let Some(panic) = state.panic.take() {
                state.stopped = true;
                drop(state);
                self.changed.notify_all();
                resume_unwind(panic);
            }
            let is_last = state.next >= count;
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
            drop(self.changed.wait_timeout(state, CHECK_INTERVAL).unwrap_or_else(PoisonError::into_inner));
            if let Err(error) = cancellation.poll() {
                return Some(Err(error));
            }
            state = self.lock();
        }
    }
}

#[cfg(test)]
mod tests;
