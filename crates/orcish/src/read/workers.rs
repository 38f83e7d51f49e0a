//! Who decodes: the caller, and threads beside it where there are more.
//!
//! All state is behind one lock. A task opens a stripe or decodes one part of one group; whoever is
//! free takes the first task that is due in file order. The caller decodes too while it waits, so one
//! thread means no other threads. Results come in file order whoever made them. How far ahead tasks are due
//! is bounded by a number of parts, a number of stripes, and the memory that finished parts hold.
//!
//! Where a source is far away, further threads open stripes ahead and decode nothing: they wait for its answers, several
//! at a time, while others work.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use arrow_array::ArrayRef;
use orcish_core::cancel::{CHECK_INTERVAL, CancelCheck, Cancellation};
use orcish_core::error::{ErrorKind, Result};
use orcish_core::parallel::Threads;

use super::group::{Group, OpenStripe};
use super::part::{Part, Ready};
use super::plan::Plan;
use crate::tuning;

/// The columns of a batch.
pub(super) struct Batch {
    pub(super) columns: Vec<ArrayRef>,
    pub(super) rows: usize,
    /// Number of its first row in the file, of which the others follow; none where rows are left out.
    pub(super) first_row: Option<u64>,
}

pub(super) struct Workers {
    shared: Arc<Shared>,
    threads: Threads,
    started: bool,
    cancellation: Cancellation,
}

struct Shared {
    plan: Arc<Plan>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Stripes that are being opened or decoded, in file order.
    open: VecDeque<Lane>,
    /// How many stripes have been taken up.
    begun: usize,
    /// Bytes of parts that are ready.
    held: u64,
    stopped: bool,
    /// Whether there are threads that do nothing but open stripes.
    is_fetched: bool,
    /// What a thread panicked with.
    panic: Option<Box<dyn std::any::Any + Send>>,
}

/// A stripe on its way.
struct Lane {
    stripe: usize,
    /// Position among the stripes to be read.
    number: usize,
    /// Rows that have been taken.
    taken: u64,
    /// `None` while it is being opened.
    groups: Option<Vec<Slot>>,
    failed: Option<orcish_core::Error>,
}

struct Slot {
    /// `None` while it is being decoded.
    group: Option<Group>,
    columns: Vec<usize>,
    rows_left: u64,
    ready: Ready,
}

/// What a thread does next.
type NextTask = fn(&mut State, &Plan) -> Option<Task>;

enum Task {
    Open { number: usize, stripe: usize },
    Decode { number: usize, stripe: usize, slot: usize, group: Box<Group>, rows_left: u64 },
}

enum Done {
    Open { number: usize, result: Result<OpenStripe> },
    Decode { number: usize, slot: usize, group: Box<Group>, result: Result<Part> },
}

impl Done {
    /// The error of a task that the caller wanted to end.
    fn interruption(&self) -> Option<orcish_core::Error> {
        let error = match self {
            Done::Open { result, .. } => result.as_ref().err(),
            Done::Decode { result, .. } => result.as_ref().err(),
        };
        error.filter(|error| error.kind() == ErrorKind::Interrupted).cloned()
    }
}

impl Workers {
    pub(super) fn new(plan: Arc<Plan>) -> Self {
        let shared = Shared { plan, state: Mutex::default(), changed: Condvar::new() };
        Workers {
            shared: Arc::new(shared),
            threads: Threads::default(),
            started: false,
            cancellation: Cancellation::new(None),
        }
    }

    /// Has `check` called now and then while the caller decodes or waits for other threads.
    pub(super) fn set_cancel_check(&mut self, check: CancelCheck) {
        self.cancellation = Cancellation::new(Some(check));
    }

    /// Columns of the next batch. An interruption comes out before the batches and errors that are due, and what
    /// the threads are at, such as a slow read, is not waited for. `None` at the end, and after [`stop`](Self::stop).
    pub(super) fn next(&mut self) -> Option<Result<Batch>> {
        if self.threads.are_of_another_process() {
            return Some(Err(Threads::missing()));
        }
        if !std::mem::replace(&mut self.started, true) {
            let mut start = |next_task: NextTask| {
                let shared = self.shared.clone();
                self.threads.start("orcish", move || shared.work(next_task))
            };
            let plan = &self.shared.plan;
            (1..plan.threads).for_each(|_| _ = start(State::next_task));
            let fetching = (0..plan.fetched_ahead).filter(|_| start(State::next_stripe)).count();
            self.shared.lock().is_fetched = fetching > 0;
        }
        let shared = &self.shared;
        let mut state = shared.lock();
        loop {
            if let Some(panic) = state.panic.take() {
                state.stopped = true;
                drop(state);
                resume_unwind(panic);
            }
            if state.stopped {
                return None;
            }
            let open = state.open.len();
            let batch = state.take(&shared.plan);
            // A stripe that is done has made room for another, even if there is no batch.
            if batch.is_some() || state.open.len() < open {
                shared.changed.notify_all();
            }
            if batch.is_some() {
                return batch;
            }
            state = match state.next_task(&shared.plan) {
                Some(task) => {
                    drop(state);
                    let done = shared.run(task);
                    if let Some(error) = done.interruption().or_else(|| self.cancellation.poll().err()) {
                        self.threads.leave();
                        return Some(Err(error));
                    }
                    let mut state = shared.lock();
                    state.finish(done);
                    shared.changed.notify_all();
                    state
                }
                None if state.is_idle(&shared.plan) => return None,
                None => {
                    let wait = shared.changed.wait_timeout(state, CHECK_INTERVAL);
                    drop(wait.unwrap_or_else(PoisonError::into_inner));
                    if let Err(error) = self.cancellation.poll() {
                        self.threads.leave();
                        return Some(Err(error));
                    }
                    shared.lock()
                }
            };
        }
    }

    /// Ends the reading: threads finish what they are at, and stop.
    pub(super) fn stop(&mut self) {
        if self.threads.are_of_another_process() {
            return;
        }
        let mut state = self.shared.lock();
        state.stopped = true;
        let open = std::mem::take(&mut state.open);
        drop(state);
        self.shared.changed.notify_all();
        drop(open);
        self.threads.end();
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What each thread does until it is stopped.
    fn work(&self, next_task: NextTask) {
        let mut state = self.lock();
        while !state.stopped {
            let Some(task) = next_task(&mut state, &self.plan) else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(state);
            let done = catch_unwind(AssertUnwindSafe(|| self.run(task)));
            state = self.lock();
            match done {
                Ok(done) => state.finish(done),
                Err(panic) => state.panic = Some(panic),
            }
            self.changed.notify_all();
        }
    }

    fn run(&self, task: Task) -> Done {
        match task {
            Task::Open { number, stripe } => Done::Open { number, result: self.plan.open(stripe) },
            Task::Decode { number, stripe, slot, mut group, rows_left } => {
                let result = group.decode(rows_left, &self.plan).map_err(|error| error.in_section("stripe", stripe));
                Done::Decode { number, slot, group, result }
            }
        }
    }
}

impl State {
    fn lane(&mut self, number: usize) -> Option<&mut Lane> {
        self.open.iter_mut().find(|lane| lane.number == number)
    }

    /// Whether everything has been read.
    fn is_idle(&self, plan: &Plan) -> bool {
        self.open.is_empty() && self.begun == plan.stripes.len()
    }

    /// Whether finished parts hold so much that only what the caller waits for is due.
    fn is_full(&self, plan: &Plan) -> bool {
        self.held > plan.limits().memory / 2
    }

    /// The first task that is due in file order.
    fn next_task(&mut self, plan: &Plan) -> Option<Task> {
        let full = self.is_full(plan);
        let ahead = if plan.threads == 1 { 1 } else { tuning::PARTS_AHEAD.get() };
        for (at, lane) in self.open.iter_mut().enumerate() {
            let Some(slots) = &mut lane.groups else { continue };
            if lane.failed.is_some() {
                break;
            }
            // What the caller waits for is due whatever is held.
            let due = |slot: &Slot| {
                let limit = if full { usize::from(at == 0) } else { ahead };
                slot.group.is_some() && slot.rows_left > 0 && slot.ready.len() < limit
            };
            let next = slots.iter_mut().enumerate().filter(|(_, slot)| due(slot));
            let Some((index, slot)) = next.max_by_key(|(_, slot)| slot.rows_left) else { continue };
            let (number, stripe, rows_left) = (lane.number, lane.stripe, slot.rows_left);
            let group = Box::new(slot.group.take()?);
            return Some(Task::Decode { number, stripe, slot: index, group, rows_left });
        }
        if self.is_fetched { None } else { self.next_stripe(plan) }
    }

    /// The next stripe, if it is due to be opened.
    fn next_stripe(&mut self, plan: &Plan) -> Option<Task> {
        let most = match plan.threads {
            1 => 1,
            // The columns of a stripe that is filtered are not dealt out.
            threads if plan.is_filtered() => threads,
            _ => tuning::OPEN_STRIPES.get(),
        };
        let stripe = *plan.stripes.get(self.begun)?;
        let sum = |bytes_of: fn(&Plan, usize) -> u64| {
            let open: u64 = self.open.iter().map(|lane| bytes_of(plan, lane.stripe)).sum();
            open.saturating_add(bytes_of(plan, stripe))
        };
        let is_ahead = self.open.len() < plan.fetched_ahead && sum(Plan::share_of) <= plan.bytes_ahead;
        let fits = sum(Plan::bytes_of) <= plan.limits().memory / 2;
        if !(self.open.len() < most || is_ahead) || (!self.open.is_empty() && (self.is_full(plan) || !fits)) {
            return None;
        }
        let number = self.begun;
        self.begun += 1;
        self.open.push_back(Lane { stripe, number, taken: 0, groups: None, failed: None });
        Some(Task::Open { number, stripe })
    }

    fn finish(&mut self, done: Done) {
        match done {
            Done::Open { number, result } => {
                let Some(lane) = self.lane(number) else { return };
                match result {
                    Ok(stripe) => {
                        let slot = |group: Group| Slot {
                            columns: group.columns.clone(),
                            group: Some(group),
                            rows_left: stripe.rows,
                            ready: Ready::default(),
                        };
                        lane.groups = Some(stripe.groups.into_iter().map(slot).collect());
                    }
                    Err(error) => lane.failed = Some(error),
                }
            }
            Done::Decode { number, slot, group, result } => {
                let mut bytes = 0;
                let Some(lane) = self.lane(number) else { return };
                let Some(slot) = lane.groups.as_mut().and_then(|slots| slots.get_mut(slot)) else { return };
                match result {
                    Ok(part) => {
                        bytes = part.bytes;
                        slot.rows_left = slot.rows_left.saturating_sub(part.passed);
                        if part.rows > 0 {
                            slot.ready.push(part);
                        }
                        // A group that is done gives its memory back.
                        slot.group = (slot.rows_left > 0).then_some(*group);
                    }
                    Err(error) => lane.failed = Some(error),
                }
                self.held += bytes;
            }
        }
    }

    /// Takes a batch from the first stripe, if all of its groups have rows ready, or its error.
    fn take(&mut self, plan: &Plan) -> Option<Result<Batch>> {
        loop {
            let lane = self.open.front_mut()?;
            let slots = match &mut lane.groups {
                Some(slots) if slots.iter().all(Slot::is_done) => {
                    self.open.pop_front();
                    continue;
                }
                Some(slots) => slots,
                None => return lane.failed.take().map(Err),
            };
            let rows = slots.iter().map(|slot| slot.ready.front_rows()).min().flatten();
            let Some(rows) = rows else { return lane.failed.take().map(Err) };
            let mut columns: Vec<Option<ArrayRef>> = Vec::new();
            for slot in slots {
                let (arrays, bytes) = slot.ready.take(rows);
                self.held -= bytes;
                for (&column, array) in slot.columns.iter().zip(arrays) {
                    columns.resize(columns.len().max(column + 1), None);
                    if let Some(place) = columns.get_mut(column) {
                        *place = Some(array);
                    }
                }
            }
            let first_row = (!plan.is_filtered()).then(|| plan.first_row_of(lane.stripe) + lane.taken);
            lane.taken += rows as u64;
            let columns = columns.into_iter().flatten().collect();
            return Some(Ok(Batch { columns, rows, first_row }));
        }
    }
}

impl Slot {
    /// Whether all that it will give has been taken.
    fn is_done(&self) -> bool {
        self.rows_left == 0 && self.ready.len() == 0
    }
}
