//! An ordered prefetch: batches of inputs, such as the files of a table, which threads read ahead.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use arrow_array::{Array as _, RecordBatch};

use super::engine::{Engine, Job, Taken};
use super::memory::{Reservation, ScanMemory};
use crate::cancel::{CancelCheck, Cancellation};
use crate::error::{Error, ErrorKind, OrInternal as _, Result};
use crate::tuning;

/// Ordered inputs, such as files.
pub trait PrefetchSource: Send + Sync + 'static {
    /// Reads the batches of an input.
    type Reader: Iterator<Item = Result<RecordBatch>> + Send;

    /// The number of inputs.
    fn num_inputs(&self) -> usize;

    /// Begins to read an input with a number of threads, while up to `open_inputs` inputs are read at a time. `None` means
    /// that no row of the input is selected.
    ///
    /// # Errors
    /// The error is returned in place of the batches of the input, and ends the prefetch.
    fn open(&self, input: usize, threads: usize, open_inputs: usize) -> Result<Option<Self::Reader>>;

    /// Frees what an input holds, once the input has been read or is not needed any more. It may be called more than once: the
    /// last call follows all other calls for the input. It must not wait, because other threads may wait for it.
    fn close(&self, _input: usize) {}

    /// The number of inputs that are worth preparing at a time. Threads of their own do that.
    fn num_prepared(&self) -> usize {
        0
    }

    /// Does what waits for a remote store before an input is opened. Errors occur again when it is opened.
    fn prepare(&self, _input: usize) {}

    /// The bytes that the reader will hold once its next batch is read, beyond those that it holds already.
    fn bytes_of_next(_reader: &Self::Reader) -> u64 {
        0
    }

    /// Has a reader that runs on the thread of the caller call `check`.
    fn set_cancel_check(_reader: &mut Self::Reader, _check: CancelCheck) {}
}

/// Batches of inputs, in order of the inputs. Nothing follows an error.
///
/// Inputs are read ahead while the scan holds no more than its [`ScanMemory`].
pub struct Prefetch<S: PrefetchSource> {
    engine: Engine<Inputs<S>>,
    /// Number of threads that read several inputs at a time; 0 if the caller reads the inputs one after the other.
    threads: usize,
    is_started: bool,
    /// The role of the caller if it reads by itself.
    caller_role: Option<Role>,
    /// Number of rows that may still be returned.
    limit: u64,
    cancellation: Cancellation,
}

/// The kinds of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Opens and reads inputs.
    Read { thread: usize },
    /// Prepares inputs that will be opened.
    Prepare,
}

/// The inputs, as a job of the engine.
struct Inputs<S> {
    source: Arc<S>,
    memory: Arc<ScanMemory>,
    /// The check of the caller, where the caller alone reads.
    check: OnceLock<CancelCheck>,
    /// Whether batches of several inputs wait for the caller.
    is_read_ahead: bool,
}

/// The inputs that are read, and those that are due: the state behind the lock of the engine.
struct Schedule<R> {
    /// Inputs that are read, in order.
    inputs: VecDeque<InputState<R>>,
    /// The next input to be opened.
    next: usize,
    /// The next input to be prepared.
    next_prepared: usize,
    /// Number of inputs that are read at a time.
    max_open: usize,
    /// Threads for each input.
    threads_per_input: usize,
    /// Number of inputs that are prepared at a time.
    num_prepared: usize,
    /// Bytes that running tasks will hold.
    expected: u64,
}

impl<R> Default for Schedule<R> {
    fn default() -> Self {
        Schedule {
            inputs: VecDeque::new(),
            next: 0,
            next_prepared: 0,
            max_open: 1,
            threads_per_input: 1,
            num_prepared: 0,
            expected: 0,
        }
    }
}

/// An input that is read.
struct InputState<R> {
    input: usize,
    /// The thread that read the input last, whose cache may have the buffers of the reader.
    thread: usize,
    reader: ReaderState<R>,
    /// Batches that wait for the caller, with their bytes.
    ready: VecDeque<(Result<RecordBatch>, Reservation)>,
}

/// The reader of an input.
enum ReaderState<R> {
    /// A task opens the input or reads a batch.
    Busy,
    Idle(Box<R>),
    Finished,
}

/// What a thread does without the lock.
enum InputTask<R> {
    Prepare(usize),
    Open { input: usize, threads: usize, open_inputs: usize },
    Read { input: usize, reader: Box<R>, expected: u64 },
}

/// The result of a task.
enum InputTaskResult<R> {
    Prepared(usize),
    Opened {
        input: usize,
        reader: Result<Option<R>>,
    },
    /// The batch of a reader, and the reader unless it has ended.
    Read {
        input: usize,
        reader: Option<Box<R>>,
        batch: Option<(Result<RecordBatch>, Reservation)>,
        expected: u64,
    },
}

impl<S: PrefetchSource> std::fmt::Debug for Prefetch<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prefetch").field("threads", &self.threads).field("limit", &self.limit).finish_non_exhaustive()
    }
}

impl<S: PrefetchSource> Prefetch<S> {
    /// Reads with a number of threads, several inputs at a time unless `is_sequential`, and returns no more rows than
    /// `limit`.
    pub fn new(
        source: Arc<S>,
        threads: usize,
        is_sequential: bool,
        limit: Option<u64>,
        memory: Arc<ScanMemory>,
    ) -> Self {
        let threads = threads.max(1);
        let num_inputs = source.num_inputs();
        let is_sequential = is_sequential || threads < 2 || num_inputs < 2;
        let schedule = if is_sequential {
            Schedule { threads_per_input: threads, ..Schedule::default() }
        } else {
            let readers = threads.min(num_inputs);
            // One more input than threads that read is open, whose batches wait for the caller.
            Schedule { max_open: readers + 1, threads_per_input: (threads / readers).max(1), ..Schedule::default() }
        };
        Prefetch {
            engine: Engine::new(
                Inputs { source, memory, check: OnceLock::new(), is_read_ahead: !is_sequential },
                schedule,
            ),
            threads: if is_sequential { 0 } else { threads.min(num_inputs) },
            is_started: false,
            caller_role: None,
            limit: limit.unwrap_or(u64::MAX),
            cancellation: Cancellation::new(None),
        }
    }

    /// Has `check` called now and then while the caller reads or waits for threads; its error ends the prefetch.
    pub fn set_cancel_check(&mut self, check: CancelCheck) {
        self.cancellation = Cancellation::new(Some(check));
    }

    /// The memory of the scan.
    pub fn memory(&self) -> &ScanMemory {
        &self.engine.job().memory
    }

    fn start(&mut self) {
        let started =
            (0..self.threads).filter(|&thread| self.engine.start("orcish-scan", Role::Read { thread })).count();
        if started == 0 {
            // The caller reads the inputs one after the other, each with all threads.
            self.caller_role = Some(Role::Read { thread: 0 });
            let inputs_at_a_time = self.threads.max(1);
            self.engine.update(|state| {
                state.threads_per_input *= inputs_at_a_time;
                state.max_open = 1;
            });
            if let Some(check) = self.cancellation.check() {
                let _ = self.engine.job().check.set(check.clone());
            }
        }
        let num_prepared = self.engine.job().source.num_prepared();
        self.engine.update(|state| state.num_prepared = num_prepared);
        (0..num_prepared).for_each(|_| _ = self.engine.start("orcish-open", Role::Prepare));
    }

    fn next_batch(&mut self) -> Option<Result<RecordBatch>> {
        if !std::mem::replace(&mut self.is_started, true) {
            self.start();
        }
        let next = self.engine.next(self.caller_role, &mut self.cancellation, |inputs, state| {
            let Some(input_state) = state.inputs.front_mut() else {
                return if state.next >= inputs.source.num_inputs() { Taken::End } else { Taken::Pending };
            };
            if let Some((batch, _)) = input_state.ready.pop_front() {
                return Taken::Item(batch);
            }
            match input_state.reader {
                ReaderState::Finished => {
                    state.inputs.pop_front();
                    Taken::Progress
                }
                _ => Taken::Pending,
            }
        });
        match next {
            Ok(batch) => batch,
            Err(error) => Some(Err(error)),
        }
    }
}

impl<S: PrefetchSource> Iterator for Prefetch<S> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let batch = match self.cancellation.poll() {
                Err(error) => Some(Err(error)),
                Ok(()) if self.limit == 0 => None,
                Ok(()) => self.next_batch(),
            };
            let Some(Ok(batch)) = batch else {
                match &batch {
                    Some(Err(error)) if error.kind() == ErrorKind::Interrupted => self.engine.leave(),
                    _ => self.engine.stop(),
                }
                self.limit = 0;
                return batch;
            };
            let num_rows = batch.num_rows();
            let wanted = usize::try_from(self.limit).unwrap_or(usize::MAX).min(num_rows);
            self.limit -= wanted as u64;
            if wanted > 0 {
                return Some(Ok(if wanted < num_rows { batch.slice(0, wanted) } else { batch }));
            }
        }
    }
}

impl<S: PrefetchSource> Job for Inputs<S> {
    type State = Schedule<S::Reader>;
    type Task = InputTask<S::Reader>;
    type Done = InputTaskResult<S::Reader>;
    type Role = Role;

    fn next_task(&self, state: &mut Self::State, role: Role) -> Option<Self::Task> {
        match role {
            Role::Read { thread } => self.next_read(state, thread).or_else(|| self.next_open(state, thread)),
            Role::Prepare => {
                let input = state.next_prepared.max(state.next);
                if input >= self.source.num_inputs().min(state.next + state.num_prepared) {
                    return None;
                }
                state.next_prepared = input + 1;
                Some(InputTask::Prepare(input))
            }
        }
    }

    fn run(&self, task: Self::Task) -> Self::Done {
        match task {
            InputTask::Prepare(input) => {
                self.source.prepare(input);
                InputTaskResult::Prepared(input)
            }
            InputTask::Open { input, threads, open_inputs } => {
                let mut reader = self.source.open(input, threads, open_inputs);
                match (&mut reader, self.check.get()) {
                    (Ok(Some(reader)), Some(check)) => S::set_cancel_check(reader, check.clone()),
                    (Ok(Some(_)), None) => {}
                    (Ok(None) | Err(_), _) => self.source.close(input),
                }
                InputTaskResult::Opened { input, reader }
            }
            InputTask::Read { input, mut reader, expected } => {
                let batch = reader.next().map(|batch| {
                    let mut reservation = self.memory.reservation();
                    if let (true, Ok(batch)) = (self.is_read_ahead, &batch) {
                        reservation.set(num_bytes(batch));
                    }
                    (batch, reservation)
                });
                let reader = Some(reader).filter(|_| matches!(batch, Some((Ok(_), _))));
                if reader.is_none() {
                    self.source.close(input);
                }
                InputTaskResult::Read { input, reader, batch, expected }
            }
        }
    }

    fn finish(&self, state: &mut Self::State, done: Self::Done) -> Result<()> {
        match done {
            InputTaskResult::Prepared(input) => {
                // The input may have been read to its end meanwhile.
                if input < state.next && !state.is_read(input) {
                    self.source.close(input);
                }
            }
            InputTaskResult::Opened { input, reader } => {
                let input_state = state.input_state(input)?;
                input_state.reader = match reader {
                    Ok(Some(reader)) => ReaderState::Idle(Box::new(reader)),
                    Ok(None) => ReaderState::Finished,
                    Err(error) => {
                        input_state.ready.push_back((Err(error), self.memory.reservation()));
                        ReaderState::Finished
                    }
                };
            }
            InputTaskResult::Read { input, reader, batch, expected } => {
                state.expected -= expected;
                let input_state = state.input_state(input)?;
                input_state.ready.extend(batch);
                input_state.reader = reader.map_or(ReaderState::Finished, ReaderState::Idle);
            }
        }
        Ok(())
    }

    fn interruption(&self, done: &Self::Done) -> Option<Error> {
        let error = match done {
            InputTaskResult::Opened { reader: Err(error), .. }
            | InputTaskResult::Read { batch: Some((Err(error), _)), .. } => error,
            _ => return None,
        };
        Some(error).filter(|error| error.kind() == ErrorKind::Interrupted).cloned()
    }

    fn discard(&self, state: Self::State) {
        for input_state in state.inputs {
            if let ReaderState::Idle(reader) = input_state.reader {
                drop(reader);
                self.source.close(input_state.input);
            }
        }
        (state.next..state.next_prepared).for_each(|input| self.source.close(input));
    }

    fn discard_done(&self, done: Self::Done) {
        match done {
            InputTaskResult::Prepared(input)
            | InputTaskResult::Opened { input, reader: Ok(Some(_)) }
            | InputTaskResult::Read { input, reader: Some(_), .. } => self.source.close(input),
            InputTaskResult::Opened { .. } | InputTaskResult::Read { .. } => {}
        }
    }
}

impl<S: PrefetchSource> Inputs<S> {
    /// The next batch that is due. A batch that the caller waits for is due whatever the scan holds. Other batches are read
    /// by the thread that read the input before, where it is free.
    fn next_read(&self, state: &mut Schedule<S::Reader>, thread: usize) -> Option<InputTask<S::Reader>> {
        let Schedule { inputs, expected: already_expected, .. } = state;
        let mut next = None;
        for (at, input_state) in inputs.iter_mut().enumerate() {
            let ReaderState::Idle(reader) = &input_state.reader else { continue };
            if input_state.ready.len() >= tuning::BATCHES_AHEAD.get() {
                continue;
            }
            let expected = S::bytes_of_next(reader);
            let is_waited_for = at == 0 && input_state.ready.is_empty();
            if !is_waited_for && !self.memory.has_room_for(already_expected.saturating_add(expected)) {
                continue;
            }
            if is_waited_for || input_state.thread == thread {
                next = Some((input_state, expected));
                break;
            }
            next = next.or(Some((input_state, expected)));
        }
        let (input_state, expected) = next?;
        let ReaderState::Idle(reader) = std::mem::replace(&mut input_state.reader, ReaderState::Busy) else {
            return None;
        };
        input_state.thread = thread;
        *already_expected = already_expected.saturating_add(expected);
        Some(InputTask::Read { input: input_state.input, reader, expected })
    }

    fn next_open(&self, state: &mut Schedule<S::Reader>, thread: usize) -> Option<InputTask<S::Reader>> {
        let input = state.next;
        let has_room = state.inputs.is_empty() || self.memory.has_room_for(state.expected);
        if input >= self.source.num_inputs() || state.inputs.len() >= state.max_open || !has_room {
            return None;
        }
        state.next += 1;
        state.inputs.push_back(InputState { input, thread, reader: ReaderState::Busy, ready: VecDeque::new() });
        Some(InputTask::Open { input, threads: state.threads_per_input, open_inputs: state.max_open })
    }
}

impl<R> Schedule<R> {
    /// Whether an input is opened or read, or will be read further.
    fn is_read(&self, input: usize) -> bool {
        self.inputs.iter().any(|state| state.input == input && !matches!(state.reader, ReaderState::Finished))
    }

    /// The state of an input that a task opens or reads.
    ///
    /// # Errors
    /// `Internal` where the input is not read.
    fn input_state(&mut self, input: usize) -> Result<&mut InputState<R>> {
        let mut states = self.inputs.iter_mut();
        states.find(|input_state| input_state.input == input).or_internal("a task belongs to no input that is read")
    }
}

/// The bytes that a batch holds. A slice counts as the rows that it has.
fn num_bytes(batch: &RecordBatch) -> u64 {
    let bytes = |column: &arrow_array::ArrayRef| {
        let data = column.to_data();
        data.get_slice_memory_size().unwrap_or_else(|_| column.get_buffer_memory_size()) as u64
    };
    batch.columns().iter().map(bytes).sum()
}

#[cfg(test)]
mod tests;
