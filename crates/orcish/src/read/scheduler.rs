//! Decoding of stripes by the caller and by threads.
//!
//! A task opens a stripe, or decodes some rows of one column group. A free thread takes the first task that is due in file
//! order. The caller decodes too while it waits, so that one thread means no other threads. Batches come in file order.
//! The number of decoded arrays, the number of stripes, and the memory that both hold bound how far ahead tasks are due.
//!
//! For remote sources, further threads open stripes ahead without decoding: they wait for several requests at a time, while
//! other threads decode.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::ArrayRef;
use orcish_core::cancel::{CancelCheck, Cancellation};
use orcish_core::error::{Error, ErrorKind, OrInternal as _, Result};
use orcish_core::limits::Limits;
use orcish_core::parallel::{Engine, Job, Reservation, ScanMemory, Taken, decoding_threads};

use super::column_group::{ColumnGroup, OpenStripe, open_stripe};
use super::decoded::{DecodedQueue, DecodedRows};
use super::opener::Opener;
use super::stripe_plan::PlannedStripe;
use crate::tuning;

/// What the readers of a scan share.
#[derive(Debug, Clone)]
pub struct ScanContext {
    /// Number of readers that run at a time. They share the maximum number of concurrent requests.
    pub readers: usize,
    /// Memory of all readers of the scan.
    pub memory: Arc<ScanMemory>,
}

impl ScanContext {
    /// The context of a reader that is not part of a scan.
    pub(crate) fn of_one_reader(limits: &Limits) -> Self {
        ScanContext { readers: 1, memory: ScanMemory::new(limits.memory) }
    }
}

/// The columns of a batch.
pub(super) struct Batch {
    pub(super) columns: Vec<ArrayRef>,
    pub(super) rows: usize,
    /// Number of the first row in the file, which the other rows follow. `None` where rows are filtered.
    pub(super) first_row: Option<u64>,
}

/// Decodes the stripes of a plan, in order.
pub(super) struct Scheduler {
    engine: Engine<Decoding>,
    is_started: bool,
    cancellation: Cancellation,
}

/// What is decoded, and by how many threads.
struct Decoding {
    opener: Arc<Opener>,
    /// The stripes that are read.
    stripes: Vec<PlannedStripe>,
    threads: usize,
    /// Number of stripes that are opened ahead by threads that decode nothing.
    fetched_ahead: usize,
    /// Approximate limit of their stored bytes.
    bytes_ahead: u64,
    /// Memory of all readers of the scan.
    scan_memory: Arc<ScanMemory>,
}

/// The kinds of threads.
#[derive(Debug, Clone, Copy)]
enum Role {
    /// Opens stripes and decodes.
    Decode,
    /// Opens stripes.
    Fetch,
}

/// The state that threads share under the lock of the engine.
#[derive(Default)]
struct DecodingState {
    /// Stripes that are opened or decoded, in file order.
    open_stripes: VecDeque<StripeState>,
    /// Number of stripes that have been begun.
    begun: usize,
    /// Bytes of decoded rows that the caller has not taken.
    decoded_bytes: u64,
    /// Whether threads fetch, so that others do not open stripes.
    is_fetched: bool,
}

/// A stripe that is opened or decoded.
struct StripeState {
    /// Position among the stripes that are read.
    number: usize,
    /// Stored bytes of all columns.
    stored_bytes: u64,
    /// Number of rows that have been taken.
    taken: u64,
    /// `None` while the stripe is opened.
    groups: Option<Vec<GroupState>>,
    error: Option<Error>,
    /// Memory of the stored bytes of the stripe.
    _reservation: Reservation,
}

/// A column group of a stripe.
struct GroupState {
    /// `None` while it is decoded, and at the end.
    group: Option<Box<ColumnGroup>>,
    columns: Vec<usize>,
    rows_left: u64,
    decoded: DecodedQueue,
}

/// What a thread does without the lock.
enum StripeTask {
    Open { number: usize },
    Decode { number: usize, index: usize, group: Box<ColumnGroup>, rows_left: u64 },
}

/// The result of a task.
enum StripeResult {
    Opened { number: usize, result: Result<OpenStripe> },
    Decoded { number: usize, index: usize, group: Box<ColumnGroup>, result: Result<(DecodedRows, Reservation)> },
}

impl Scheduler {
    /// Nothing is read yet.
    pub(super) fn new(opener: Arc<Opener>, stripes: Vec<PlannedStripe>, scan: &ScanContext) -> Self {
        let engine = Engine::new(Decoding::new(opener, stripes, scan), DecodingState::default());
        Scheduler { engine, is_started: false, cancellation: Cancellation::new(None) }
    }

    /// Has `check` called now and then while the caller decodes or waits for threads.
    pub(super) fn set_cancel_check(&mut self, check: CancelCheck) {
        self.cancellation = Cancellation::new(Some(check));
    }

    /// Columns of the next batch; `None` at the end and after [`stop`](Self::stop). A cancellation is returned before
    /// batches and errors that are due, and running tasks are not waited for then.
    pub(super) fn next(&mut self) -> Option<Result<Batch>> {
        if !std::mem::replace(&mut self.is_started, true) {
            self.start();
        }
        let next = self.engine.next(Some(Role::Decode), &mut self.cancellation, |job, state| state.take(job));
        match next {
            Ok(batch) => batch,
            Err(error) => Some(Err(error)),
        }
    }

    fn start(&mut self) {
        let Decoding { threads, fetched_ahead, .. } = *self.engine.job();
        (1..threads).for_each(|_| _ = self.engine.start("orcish", Role::Decode));
        let fetching = (0..fetched_ahead).filter(|_| self.engine.start("orcish-fetch", Role::Fetch)).count();
        self.engine.update(|state| state.is_fetched = fetching > 0);
    }

    /// The stored bytes that the next batch needs beyond the stripes in memory.
    pub(super) fn bytes_of_next(&self) -> u64 {
        let stripes = &self.engine.job().stripes;
        let next =
            self.engine.inspect(|state| if state.open_stripes.is_empty() { stripes.get(state.begun) } else { None });
        next.map_or(0, |stripe| stripe.stored_bytes)
    }

    /// Ends the reading.
    pub(super) fn stop(&mut self) {
        self.engine.stop();
    }
}

impl Decoding {
    fn new(opener: Arc<Opener>, stripes: Vec<PlannedStripe>, scan: &ScanContext) -> Self {
        let (request, sharers) = (&opener.request, scan.readers.max(1));
        let bytes = stripes.iter().map(|stripe| stripe.stored_bytes).fold(0, u64::saturating_add);
        let is_small = bytes < tuning::BYTES_WORTH_A_THREAD.wide();
        // With a limit, the number of stripes that a filter needs is unknown.
        let is_known = !request.is_filtered() || request.options.limit.is_none();
        let requests = if is_known { opener.source().concurrency().div_ceil(sharers) } else { 1 };
        Decoding {
            threads: if is_small { 1 } else { decoding_threads(request.options.threads, request.limits()) },
            fetched_ahead: if requests > 1 && stripes.len() > 1 { requests.min(stripes.len()) } else { 0 },
            bytes_ahead: tuning::BYTES_AHEAD.wide() / sharers as u64,
            scan_memory: scan.memory.clone(),
            opener,
            stripes,
        }
    }

    fn planned(&self, number: usize) -> Result<&PlannedStripe> {
        self.stripes.get(number).or_internal("a task is of no stripe of the plan")
    }

    fn open(&self, number: usize) -> Result<OpenStripe> {
        open_stripe(&self.opener, self.planned(number)?, self.threads)
    }

    fn decode(&self, number: usize, group: &mut ColumnGroup, rows_left: u64) -> Result<(DecodedRows, Reservation)> {
        let stripe = self.planned(number)?.index;
        let rows = group.decode(rows_left, &self.opener).map_err(|error| error.in_section("stripe", stripe))?;
        let mut reservation = self.scan_memory.reservation();
        reservation.set(rows.bytes);
        Ok((rows, reservation))
    }
}

impl Job for Decoding {
    type State = DecodingState;
    type Task = StripeTask;
    type Done = StripeResult;
    type Role = Role;

    fn next_task(&self, state: &mut DecodingState, role: Role) -> Option<StripeTask> {
        match role {
            Role::Fetch => state.next_stripe(self),
            Role::Decode => match state.next_group(self) {
                Some(task) => Some(task),
                None if state.is_fetched => None,
                None => state.next_stripe(self),
            },
        }
    }

    fn run(&self, task: StripeTask) -> StripeResult {
        match task {
            StripeTask::Open { number } => StripeResult::Opened { number, result: self.open(number) },
            StripeTask::Decode { number, index, mut group, rows_left } => {
                let result = self.decode(number, &mut group, rows_left);
                StripeResult::Decoded { number, index, group, result }
            }
        }
    }

    fn finish(&self, state: &mut DecodingState, done: StripeResult) -> Result<()> {
        state.finish(done)
    }

    fn interruption(&self, done: &StripeResult) -> Option<Error> {
        let error = match done {
            StripeResult::Opened { result, .. } => result.as_ref().err(),
            StripeResult::Decoded { result, .. } => result.as_ref().err(),
        };
        error.filter(|error| error.kind() == ErrorKind::Interrupted).cloned()
    }
}

impl DecodingState {
    fn open_stripe(&mut self, number: usize) -> Result<&mut StripeState> {
        let mut open_stripes = self.open_stripes.iter_mut();
        open_stripes.find(|open_stripe| open_stripe.number == number).or_internal("a task belongs to no open stripe")
    }

    /// Whether the memory limit allows only rows that the caller waits for.
    fn is_full(&self, job: &Decoding) -> bool {
        let ahead = (job.opener.limits().memory / 2).min(tuning::BATCHES_BYTES_AHEAD.wide());
        self.decoded_bytes > ahead || !job.scan_memory.has_room_for(0)
    }

    /// The first column group that is due in file order.
    fn next_group(&mut self, job: &Decoding) -> Option<StripeTask> {
        let full = self.is_full(job);
        let ahead = if job.threads == 1 { 1 } else { tuning::DECODED_AHEAD.get() };
        for (at, open_stripe) in self.open_stripes.iter_mut().enumerate() {
            let Some(groups) = &mut open_stripe.groups else { continue };
            if open_stripe.error.is_some() {
                break;
            }
            // Rows that the caller waits for are due regardless of memory.
            let due = |group_state: &GroupState| {
                let limit = if full { usize::from(at == 0) } else { ahead };
                group_state.group.is_some() && group_state.rows_left > 0 && group_state.decoded.len() < limit
            };
            let next = groups.iter_mut().enumerate().filter(|(_, group_state)| due(group_state));
            let Some((index, group_state)) = next.max_by_key(|(_, group_state)| group_state.rows_left) else {
                continue;
            };
            let (number, rows_left) = (open_stripe.number, group_state.rows_left);
            let group = group_state.group.take()?;
            return Some(StripeTask::Decode { number, index, group, rows_left });
        }
        None
    }

    /// The next stripe, if it is due to be opened.
    fn next_stripe(&mut self, job: &Decoding) -> Option<StripeTask> {
        let request = &job.opener.request;
        let max_open = match job.threads {
            1 => 1,
            // The columns of a filtered stripe are one group.
            threads if request.is_filtered() => threads,
            _ => tuning::OPEN_STRIPES.get(),
        };
        let stored_bytes = job.stripes.get(self.begun)?.stored_bytes;
        let open_bytes = self.open_stripes.iter().map(|open_stripe| open_stripe.stored_bytes);
        let all_bytes = open_bytes.fold(stored_bytes, u64::saturating_add);
        let is_ahead = self.open_stripes.len() < job.fetched_ahead && request.share_of(all_bytes) <= job.bytes_ahead;
        let fits = all_bytes <= request.limits().memory / 2 && job.scan_memory.has_room_for(stored_bytes);
        if !(self.open_stripes.len() < max_open || is_ahead)
            || (!self.open_stripes.is_empty() && (self.is_full(job) || !fits))
        {
            return None;
        }
        let mut reservation = job.scan_memory.reservation();
        reservation.set(stored_bytes);
        let number = self.begun;
        self.begun += 1;
        self.open_stripes.push_back(StripeState {
            number,
            stored_bytes,
            taken: 0,
            groups: None,
            error: None,
            _reservation: reservation,
        });
        Some(StripeTask::Open { number })
    }

    fn finish(&mut self, done: StripeResult) -> Result<()> {
        match done {
            StripeResult::Opened { number, result } => {
                let open_stripe = self.open_stripe(number)?;
                match result {
                    Ok(stripe) => {
                        let group_state = |group: ColumnGroup| GroupState {
                            columns: group.columns.clone(),
                            group: Some(Box::new(group)),
                            rows_left: stripe.rows,
                            decoded: DecodedQueue::default(),
                        };
                        open_stripe.groups = Some(stripe.groups.into_iter().map(group_state).collect());
                    }
                    Err(error) => open_stripe.error = Some(error),
                }
            }
            StripeResult::Decoded { number, index, group, result } => {
                let mut bytes = 0;
                let open_stripe = self.open_stripe(number)?;
                let group_state = open_stripe.groups.as_mut().and_then(|groups| groups.get_mut(index));
                let group_state = group_state.or_internal("a task belongs to no column group of its stripe")?;
                match result {
                    Ok((decoded, reservation)) => {
                        bytes = decoded.bytes;
                        group_state.rows_left = group_state.rows_left.saturating_sub(decoded.passed);
                        if decoded.rows > 0 {
                            group_state.decoded.push(decoded, reservation);
                        }
                        // A group that has ended is dropped, with its memory.
                        group_state.group = (group_state.rows_left > 0).then_some(group);
                    }
                    Err(error) => open_stripe.error = Some(error),
                }
                self.decoded_bytes += bytes;
            }
        }
        Ok(())
    }

    /// Takes a batch of the first stripe, if all of its groups have decoded rows, or the error of the stripe.
    fn take(&mut self, job: &Decoding) -> Taken<Result<Batch>> {
        let Some(open_stripe) = self.open_stripes.front_mut() else {
            return if self.begun == job.stripes.len() { Taken::End } else { Taken::Pending };
        };
        let rows = match &open_stripe.groups {
            Some(groups) if groups.iter().all(GroupState::is_finished) => {
                self.open_stripes.pop_front();
                return Taken::Progress;
            }
            Some(groups) => groups.iter().map(|group_state| group_state.decoded.front_rows()).min().flatten(),
            None => None,
        };
        let (Some(groups), Some(rows)) = (&mut open_stripe.groups, rows) else {
            return open_stripe.error.take().map_or(Taken::Pending, |error| Taken::Item(Err(error)));
        };
        let mut columns: Vec<(usize, ArrayRef)> = Vec::new();
        for group_state in groups {
            let (arrays, bytes) = match group_state.decoded.take(rows) {
                Ok(taken) => taken,
                Err(error) => return Taken::Item(Err(error)),
            };
            self.decoded_bytes -= bytes;
            columns.extend(group_state.columns.iter().copied().zip(arrays));
        }
        columns.sort_by_key(|(column, _)| *column);
        let columns = columns.into_iter().map(|(_, array)| array).collect();
        let first_row = if job.opener.request.is_filtered() {
            None
        } else {
            match job.planned(open_stripe.number) {
                Ok(planned) => Some(planned.first_row + open_stripe.taken),
                Err(error) => return Taken::Item(Err(error)),
            }
        };
        open_stripe.taken += rows as u64;
        Taken::Item(Ok(Batch { columns, rows, first_row }))
    }
}

impl GroupState {
    /// Whether all rows have been taken.
    fn is_finished(&self) -> bool {
        self.rows_left == 0 && self.decoded.len() == 0
    }
}
