//! Several files at a time.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::file::is_ruled_out;
use super::table::Table;
use crate::error::{Error, ErrorKind, Result};
use crate::patience::PATIENCE;
use crate::threads::Threads;

impl Table {
    /// Calls `task` for each file, several at a time; the results are in order of the files, and an error is that of
    /// the first file which has one. What other threads are at when the caller is interrupted is not waited for.
    pub(super) fn each_file<T: Send + 'static>(
        self: &Arc<Self>,
        task: impl Fn(&Self, usize) -> Result<T> + Send + Sync + 'static,
    ) -> Result<Vec<T>> {
        let (count, next, task) = (self.files.len(), Arc::new(AtomicUsize::new(0)), Arc::new(task));
        let worker = || {
            let (table, next, task) = (self.clone(), next.clone(), task.clone());
            move |look: &mut dyn FnMut() -> Result<()>| {
                let (mut done, mut failed) = (Vec::new(), None);
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        return (done, failed);
                    }
                    match look().and_then(|()| task(&table, at)) {
                        Ok(result) => done.push((at, result)),
                        Err(error) => {
                            // The others take up nothing more.
                            next.store(count, Ordering::Relaxed);
                            failed = Some((at, error));
                        }
                    }
                    table.close(at);
                }
            }
        };
        let (sender, receiver) = channel();
        let mut threads = Threads::default();
        let mut working = 0;
        for _ in 1..self.threads().max(self.requests()).min(count) {
            let (sender, work) = (sender.clone(), worker());
            // Nobody receives it after an interruption.
            let work = move || _ = sender.send(catch_unwind(AssertUnwindSafe(|| work(&mut || Ok(())))));
            working += usize::from(threads.start("orcish-scan", work));
        }
        let mut patience = self.storage.patience();
        let (mut all, mut failed) = worker()(&mut || patience.look());
        let is_interruption = |(_, error): &(usize, Error)| error.kind() == ErrorKind::Interrupted;
        while working > 0 && !failed.as_ref().is_some_and(is_interruption) {
            match receiver.recv_timeout(PATIENCE) {
                Err(_) => patience.look()?,
                Ok(Err(panic)) => resume_unwind(panic),
                Ok(Ok((done, error))) => {
                    working -= 1;
                    all.extend(done);
                    failed = failed.into_iter().chain(error).min_by_key(|&(at, _)| at);
                }
            }
        }
        if let Some((_, error)) = failed {
            return Err(error);
        }
        all.sort_by_key(|&(at, _)| at);
        Ok(all.into_iter().map(|(_, result)| result).collect())
    }
}

/// Threads that open files of a far source before they are read, several at a time: what that takes is waiting. They
/// end when this is dropped.
pub(super) struct Openers {
    ahead: Arc<Ahead>,
    /// They end by themselves, and nobody waits for that.
    threads: Threads,
}

struct Ahead {
    window: Mutex<Window>,
    changed: Condvar,
    most: usize,
}

struct Window {
    /// The next file to be opened.
    next: usize,
    /// From which file on it is too early.
    end: usize,
    stopped: bool,
}

impl Openers {
    /// None where files are not worth opening ahead: where they are near, or a limit may be reached before.
    pub(super) fn start(table: &Arc<Table>) -> Option<Self> {
        let most = table.requests().min(table.files.len());
        if most < 2 || table.options.limit.is_some() {
            return None;
        }
        let ahead = Arc::new(Ahead {
            window: Mutex::new(Window { next: 0, end: most, stopped: false }),
            changed: Condvar::new(),
            most,
        });
        let mut threads = Threads::default();
        for _ in 0..most {
            let (ahead, table) = (ahead.clone(), table.clone());
            threads.start("orcish-open", move || ahead.work(&table));
        }
        Some(Openers { ahead, threads })
    }

    /// Says that a file is about to be opened and read.
    pub(super) fn reached(&self, file: usize) {
        let mut window = self.ahead.lock();
        window.next = window.next.max(file + 1);
        window.end = window.end.max(file + 1 + self.ahead.most);
        drop(window);
        self.ahead.changed.notify_all();
    }
}

impl Drop for Openers {
    fn drop(&mut self) {
        if !self.threads.are_of_another_process() {
            self.ahead.lock().stopped = true;
            self.ahead.changed.notify_all();
        }
    }
}

impl Ahead {
    fn lock(&self) -> MutexGuard<'_, Window> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, table: &Table) {
        let is_early = |window: &mut Window| !window.stopped && window.next >= window.end;
        loop {
            let mut window = self.changed.wait_while(self.lock(), is_early).unwrap_or_else(PoisonError::into_inner);
            let at = window.next;
            let Some(file) = table.files.get(at).filter(|_| !window.stopped) else { return };
            window.next += 1;
            drop(window);
            if matches!(is_ruled_out(table, file), Ok(false)) {
                table.open_ahead(at);
            }
            if self.lock().stopped {
                table.close(at);
            }
        }
    }
}
