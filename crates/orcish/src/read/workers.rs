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
use orcish_core::parallel::{Engine, Job, Reservation, Taken};

use super::column_group::{ColumnGroup, OpenStripe};
use super::decoded::{DecodedQueue, DecodedRows};
use super::plan::Plan;
use crate::tuning;

/// The columns of a batch.
pub(super) struct Batch {
    pub(super) columns: Vec<ArrayRef>,
    pub(super) rows: usize,
    /// Number of the first row in the file, which the other rows follow. `None` where rows are filtered.
    pub(super) first_row: Option<u64>,
}

/// Decodes the stripes of a plan.
pub(super) struct Workers {
    engine: Engine<Decoding>,
    is_started: bool,
    cancellation: Cancellation,
}

/// The stripes of a plan.
struct Decoding {
    plan: Arc<Plan>,
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
struct State {
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
    stripe: usize,
    /// Position among the stripes to be read.
    number: usize,
    /// Number of rows that have been taken.
    taken: u64,
    /// `None` while the stripe is opened.
    groups: Option<Vec<GroupState>>,
    error: Option<Error>,
    /// The stored bytes of the stripe.
    _stored: Reservation,
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
enum Task {
    Open { number: usize, stripe: usize },
    Decode { number: usize, stripe: usize, index: usize, group: Box<ColumnGroup>, rows_left: u64 },
}

/// The result of a task.
enum Done {
    Opened { number: usize, result: Result<OpenStripe> },
    Decoded { number: usize, index: usize, group: Box<ColumnGroup>, result: Result<(DecodedRows, Reservation)> },
}

impl Workers {
    pub(super) fn new(plan: Arc<Plan>) -> Self {
        let engine = Engine::new(Decoding { plan }, State::default());
        Workers { engine, is_started: false, cancellation: Cancellation::new(None) }
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
        let next = self.engine.next(Some(Role::Decode), &mut self.cancellation, |job, state| state.take(&job.plan));
        match next {
            Ok(batch) => batch,
            Err(error) => Some(Err(error)),
        }
    }

    fn start(&mut self) {
        let (threads, fetched_ahead) = (self.engine.job().plan.threads, self.engine.job().plan.fetched_ahead);
        (1..threads).for_each(|_| _ = self.engine.start("orcish", Role::Decode));
        let fetching = (0..fetched_ahead).filter(|_| self.engine.start("orcish-fetch", Role::Fetch)).count();
        self.engine.update(|state| state.is_fetched = fetching > 0);
    }

    /// The stored bytes that the next batch needs beyond the stripes in memory.
    pub(super) fn bytes_of_next(&self) -> u64 {
        let plan = &self.engine.job().plan;
        let next = self
            .engine
            .inspect(|state| if state.open_stripes.is_empty() { plan.stripes.get(state.begun) } else { None });
        next.map_or(0, |&stripe| plan.bytes_of(stripe))
    }

    /// Ends the reading.
    pub(super) fn stop(&mut self) {
        self.engine.stop();
    }
}

impl Job for Decoding {
    type State = State;
    type Task = Task;
    type Done = Done;
    type Role = Role;

    fn next_task(&self, state: &mut State, role: Role) -> Option<Task> {
        match role {
            Role::Fetch => state.next_stripe(&self.plan),
            Role::Decode => match state.next_group(&self.plan) {
                Some(task) => Some(task),
                None if state.is_fetched => None,
                None => state.next_stripe(&self.plan),
            },
        }
    }

    fn run(&self, task: Task) -> Done {
        match task {
            Task::Open { number, stripe } => Done::Opened { number, result: self.plan.open(stripe) },
            Task::Decode { number, stripe, index, mut group, rows_left } => {
                let result = group.decode(rows_left, &self.plan).map_err(|error| error.in_section("stripe", stripe));
                let result = result.map(|rows| {
                    let mut reservation = self.plan.scan_memory.reservation();
                    reservation.set(rows.bytes);
                    (rows, reservation)
                });
                Done::Decoded { number, index, group, result }
            }
        }
    }

    fn finish(&self, state: &mut State, done: Done) -> Result<()> {
        state.finish(done)
    }

    fn interruption(&self, done: &Done) -> Option<Error> {
        let error = match done {
            Done::Opened { result, .. } => result.as_ref().err(),
            Done::Decoded { result, .. } => result.as_ref().err(),
        };
        error.filter(|error| error.kind() == ErrorKind::Interrupted).cloned()
    }
}

impl State {
    fn open_stripe(&mut self, number: usize) -> Result<&mut StripeState> {
        let mut open_stripes = self.open_stripes.iter_mut();
        open_stripes.find(|open_stripe| open_stripe.number == number).or_internal("a task belongs to an open stripe")
    }

    /// Whether the memory limit allows only rows that the caller waits for.
    fn is_full(&self, plan: &Plan) -> bool {
        let ahead = (plan.limits().memory / 2).min(tuning::BATCHES_BYTES_AHEAD.wide());
        self.decoded_bytes > ahead || !plan.scan_memory.has_room_for(0)
    }

    /// The first column group that is due in file order.
    fn next_group(&mut self, plan: &Plan) -> Option<Task> {
        let full = self.is_full(plan);
        let ahead = if plan.threads == 1 { 1 } else { tuning::DECODED_AHEAD.get() };
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
            let (number, stripe, rows_left) = (open_stripe.number, open_stripe.stripe, group_state.rows_left);
            let group = group_state.group.take()?;
            return Some(Task::Decode { number, stripe, index, group, rows_left });
        }
        None
    }

    /// The next stripe, if it is due to be opened.
    fn next_stripe(&mut self, plan: &Plan) -> Option<Task> {
        let max_open = match plan.threads {
            1 => 1,
            // The columns of a filtered stripe are one group.
            threads if plan.is_filtered() => threads,
            _ => tuning::OPEN_STRIPES.get(),
        };
        let stripe = *plan.stripes.get(self.begun)?;
        let sum = |bytes_of: fn(&Plan, usize) -> u64| {
            let open: u64 = self.open_stripes.iter().map(|open_stripe| bytes_of(plan, open_stripe.stripe)).sum();
            open.saturating_add(bytes_of(plan, stripe))
        };
        let is_ahead = self.open_stripes.len() < plan.fetched_ahead && sum(Plan::share_of) <= plan.bytes_ahead;
        let stored_bytes = plan.bytes_of(stripe);
        let fits = sum(Plan::bytes_of) <= plan.limits().memory / 2 && plan.scan_memory.has_room_for(stored_bytes);
        if !(self.open_stripes.len() < max_open || is_ahead)
            || (!self.open_stripes.is_empty() && (self.is_full(plan) || !fits))
        {
            return None;
        }
        let mut stored = plan.scan_memory.reservation();
        stored.set(stored_bytes);
        let number = self.begun;
        self.begun += 1;
        self.open_stripes.push_back(StripeState {
            stripe,
            number,
            taken: 0,
            groups: None,
            error: None,
            _stored: stored,
        });
        Some(Task::Open { number, stripe })
    }

    fn finish(&mut self, done: Done) -> Result<()> {
        match done {
            Done::Opened { number, result } => {
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
            Done::Decoded { number, index, group, result } => {
                let mut bytes = 0;
                let open_stripe = self.open_stripe(number)?;
                let group_state = open_stripe.groups.as_mut().and_then(|groups| groups.get_mut(index));
                let group_state = group_state.or_internal("a task belongs to a column group of its stripe")?;
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
    fn take(&mut self, plan: &Plan) -> Taken<Result<Batch>> {
        let Some(open_stripe) = self.open_stripes.front_mut() else {
            return if self.begun == plan.stripes.len() { Taken::End } else { Taken::Pending };
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
        let mut columns: Vec<Option<ArrayRef>> = Vec::new();
        for group_state in groups {
            let (arrays, bytes) = group_state.decoded.take(rows);
            self.decoded_bytes -= bytes;
            for (&column, array) in group_state.columns.iter().zip(arrays) {
                columns.resize(columns.len().max(column + 1), None);
                if let Some(place) = columns.get_mut(column) {
                    *place = Some(array);
                }
            }
        }
        let first_row = (!plan.is_filtered()).then(|| plan.first_row_of(open_stripe.stripe) + open_stripe.taken);
        open_stripe.taken += rows as u64;
        Taken::Item(Ok(Batch { columns: columns.into_iter().flatten().collect(), rows, first_row }))
    }
}

impl GroupState {
    /// Whether all rows have been taken.
    fn is_finished(&self) -> bool {
        self.rows_left == 0 && self.decoded.len() == 0
    }
}
