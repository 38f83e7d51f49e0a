//! The engine of all parallel work: a caller, threads beside it, and state behind one lock.
//!
//! A thread takes the next task that is due, runs it without the lock, and records its result. The caller takes finished
//! items from the state. While no item is ready, the caller runs tasks too, or waits. Panics, forks, cancellation and
//! threads that cannot be started are handled here, and so the same way for each kind of work.

use std::any::Any;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::calls::Calls;
use crate::cancel::{CHECK_INTERVAL, Cancellation};
use crate::error::{Error, Result};

/// The time that [`Engine::stop`] waits for running tasks. A task may be a read that takes long, whose result is not needed
/// any more.
const STOP_TIMEOUT: Duration = Duration::from_millis(100);

/// A kind of work that is split into tasks. A [`Job`] has what all threads read; its `State` is behind the lock of the
/// [`Engine`].
pub trait Job: Send + Sync + 'static {
    /// Tasks that are due, running and finished.
    type State: Default + Send;
    /// A piece of work.
    type Task: Send;
    /// The result of a task.
    type Done: Send;
    /// The kinds of tasks that a thread runs.
    type Role: Copy + Send + 'static;

    /// Takes the next task that is due for a role. `None` means that no task is due before the state changes.
    fn next_task(&self, state: &mut Self::State, role: Self::Role) -> Option<Self::Task>;

    /// Runs a task, without the lock.
    fn run(&self, task: Self::Task) -> Self::Done;

    /// Records the result of a task.
    ///
    /// # Errors
    /// `Internal` where the state has no such task. The error ends the work, and [`Engine::next`] returns it.
    fn finish(&self, state: &mut Self::State, done: Self::Done) -> Result<()>;

    /// The error of a task that ran on the thread of the caller and was cancelled. The error is returned before items that are
    /// ready.
    fn interruption(&self, _done: &Self::Done) -> Option<Error> {
        None
    }

    /// Disposes of the state when the engine stops, without the lock.
    fn discard(&self, state: Self::State) {
        drop(state);
    }

    /// Disposes of the result of a task that finished after the engine stopped, without the lock.
    fn discard_done(&self, done: Self::Done) {
        drop(done);
    }
}

/// The result of taking an item from the state.
#[derive(Debug)]
pub enum Taken<T> {
    /// An item.
    Item(T),
    /// The state changed, so that other tasks may be due, and an item may be ready now.
    Progress,
    /// No item is ready.
    Pending,
    /// There are no more items.
    End,
}

/// Runs the tasks of a [`Job`] on threads and on the caller.
pub struct Engine<J: Job> {
    shared: Arc<Shared<J>>,
    threads: Vec<JoinHandle<()>>,
    /// The process that started the threads. A child of a fork has the handles but not the threads, and locks that they
    /// held stay locked.
    process: u32,
    is_stopped: bool,
}

struct Shared<J: Job> {
    job: J,
    locked: Mutex<Locked<J::State>>,
    changed: Condvar,
}

#[derive(Default)]
struct Locked<S> {
    state: S,
    is_stopped: bool,
    /// Number of threads that have not ended.
    running: usize,
    /// Number of threads that wait for a change, the caller included.
    waiting: usize,
    /// The payload of a thread that panicked.
    panic: Option<Box<dyn Any + Send>>,
    /// The error of a result that could not be recorded.
    error: Option<Error>,
}

impl<J: Job> Engine<J> {
    /// An engine without threads.
    pub fn new(job: J, state: J::State) -> Self {
        let locked = Locked { state, is_stopped: false, running: 0, waiting: 0, panic: None, error: None };
        let shared = Shared { job, locked: Mutex::new(locked), changed: Condvar::new() };
        Engine { shared: Arc::new(shared), threads: Vec::new(), process: std::process::id(), is_stopped: false }
    }

    /// The job.
    pub fn job(&self) -> &J {
        &self.shared.job
    }

    /// Starts a thread. Returns whether the system had one: without it the work is slower, and its result the same.
    pub fn start(&mut self, name: &str, role: J::Role) -> bool {
        self.process = std::process::id();
        self.shared.lock().running += 1;
        let (shared, calls) = (self.shared.clone(), Calls::of_this_thread());
        let work = move || {
            calls.go_on();
            shared.work(role);
        };
        match Builder::new().name(name.to_owned()).spawn(work) {
            Ok(thread) => self.threads.push(thread),
            Err(_) => {
                self.shared.lock().running -= 1;
                return false;
            }
        }
        true
    }

    /// Changes the state before the first item is taken.
    pub fn update(&mut self, change: impl FnOnce(&mut J::State)) {
        change(&mut self.shared.lock().state);
        self.shared.changed.notify_all();
    }

    /// Looks at the state.
    pub fn inspect<T>(&self, look: impl FnOnce(&J::State) -> T) -> T {
        look(&self.shared.lock().state)
    }

    /// The next item, or `None` at the end and after [`stop`](Self::stop).
    ///
    /// The caller runs tasks of the role `helps` while no item is ready; without a role it waits. `cancellation` is polled
    /// while it does either. The threads are not waited for after a cancellation.
    ///
    /// # Errors
    /// The error of `cancellation`, [`Job::interruption`] or [`Job::finish`]; `InvalidArgument` in a child of the process
    /// that started the threads.
    ///
    /// # Panics
    /// With the payload of a thread that panicked, the caller included. The work has ended then.
    pub fn next<T>(
        &mut self,
        helps: Option<J::Role>,
        cancellation: &mut Cancellation,
        take: impl FnMut(&J, &mut J::State) -> Taken<T>,
    ) -> Result<Option<T>> {
        if self.is_of_another_process() {
            return Err(Error::invalid(
                "the threads that read are those of another process: begin to read after the fork",
            ));
        }
        // The state has no result of a task that panicked, which would be waited for in the next call.
        catch_unwind(AssertUnwindSafe(|| self.next_item(helps, cancellation, take))).unwrap_or_else(|panic| {
            self.leave();
            resume_unwind(panic)
        })
    }

    fn next_item<T>(
        &mut self,
        helps: Option<J::Role>,
        cancellation: &mut Cancellation,
        mut take: impl FnMut(&J, &mut J::State) -> Taken<T>,
    ) -> Result<Option<T>> {
        let shared = self.shared.clone();
        let mut locked = shared.lock();
        loop {
            // Several threads may have panicked: the first panic has ended the work.
            if locked.is_stopped {
                return Ok(None);
            }
            if let Some(panic) = locked.panic.take() {
                drop(locked);
                resume_unwind(panic);
            }
            if let Some(error) = locked.error.take() {
                drop(locked);
                self.leave();
                return Err(error);
            }
            match take(&shared.job, &mut locked.state) {
                Taken::Item(item) => {
                    shared.notify(&locked);
                    return Ok(Some(item));
                }
                Taken::Progress => {
                    shared.notify(&locked);
                    continue;
                }
                Taken::End => return Ok(None),
                Taken::Pending => {}
            }
            let task = helps.and_then(|role| shared.job.next_task(&mut locked.state, role));
            let polled = match task {
                Some(task) => {
                    drop(locked);
                    let done = shared.job.run(task);
                    let interruption = shared.job.interruption(&done);
                    shared.record(&mut shared.lock(), done);
                    interruption.map_or_else(|| cancellation.poll(), Err)
                }
                None => {
                    locked.waiting += 1;
                    let wait = shared.changed.wait_timeout(locked, CHECK_INTERVAL);
                    wait.unwrap_or_else(PoisonError::into_inner).0.waiting -= 1;
                    cancellation.poll()
                }
            };
            if let Err(error) = polled {
                self.leave();
                return Err(error);
            }
            locked = shared.lock();
        }
    }

    /// Ends the work. Threads that run a long task are waited for no longer than a moment.
    pub fn stop(&mut self) {
        self.end(STOP_TIMEOUT);
    }

    /// Ends the work, and waits for no thread.
    pub fn leave(&mut self) {
        self.end(Duration::ZERO);
    }

    fn end(&mut self, timeout: Duration) {
        if self.is_of_another_process() || std::mem::replace(&mut self.is_stopped, true) {
            return;
        }
        let mut locked = self.shared.lock();
        locked.is_stopped = true;
        let state = std::mem::take(&mut locked.state);
        self.shared.changed.notify_all();
        drop(locked);
        self.shared.job.discard(state);
        let deadline = Instant::now() + timeout;
        let mut locked = self.shared.lock();
        while locked.running > 0 {
            let remaining = deadline.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                self.threads.clear();
                return;
            }
            locked = self.shared.changed.wait_timeout(locked, remaining).unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(locked);
        // Panics of the threads are caught within them.
        self.threads.drain(..).for_each(|thread| _ = thread.join());
    }

    /// Whether this is a child of the process that started the threads.
    fn is_of_another_process(&self) -> bool {
        !self.threads.is_empty() && self.process != std::process::id()
    }
}

impl<J: Job> Drop for Engine<J> {
    fn drop(&mut self) {
        self.stop();
        if self.is_of_another_process() {
            // Dropping a handle asks the system about a thread that does not exist in this process.
            let _ = ManuallyDrop::new(std::mem::take(&mut self.threads));
        }
    }
}

impl<J: Job> Shared<J> {
    fn lock(&self) -> MutexGuard<'_, Locked<J::State>> {
        self.locked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs tasks on a thread until the engine stops. A panic, of a task or of the bookkeeping, ends the thread, and is kept
    /// for the caller.
    fn work(&self, role: J::Role) {
        let result = catch_unwind(AssertUnwindSafe(|| self.run_tasks(role)));
        let mut locked = self.lock();
        if let Err(panic) = result {
            locked.panic.get_or_insert(panic);
        }
        locked.running -= 1;
        drop(locked);
        self.changed.notify_all();
    }

    fn run_tasks(&self, role: J::Role) {
        let mut locked = self.lock();
        while !locked.is_stopped {
            let Some(task) = self.job.next_task(&mut locked.state, role) else {
                locked.waiting += 1;
                locked = self.changed.wait(locked).unwrap_or_else(PoisonError::into_inner);
                locked.waiting -= 1;
                continue;
            };
            drop(locked);
            let done = self.job.run(task);
            locked = self.lock();
            if locked.is_stopped {
                drop(locked);
                self.job.discard_done(done);
                locked = self.lock();
            } else {
                self.record(&mut locked, done);
            }
        }
    }

    fn record(&self, locked: &mut Locked<J::State>, done: J::Done) {
        if let Err(error) = self.job.finish(&mut locked.state, done) {
            locked.error.get_or_insert(error);
        }
        self.notify(locked);
    }

    /// Wakes the threads that wait. A system call is made only if there are some.
    fn notify(&self, locked: &Locked<J::State>) {
        if locked.waiting > 0 {
            self.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests;
