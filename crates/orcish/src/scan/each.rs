//! Several files at a time.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use orcish_core::error::Result;
use orcish_core::parallel::{Threads, each};

use super::file::is_ruled_out;
use super::table::Table;

impl Table {
    /// Calls `task` for each file, several at a time; the results are in order of the files, and an error is that of
    /// the first file which has one. What other threads are at when the caller is interrupted is not waited for.
    pub(super) fn each_file<T: Send + 'static>(
        self: &Arc<Self>,
        task: impl Fn(&Self, usize) -> Result<T> + Send + Sync + 'static,
    ) -> Result<Vec<T>> {
        self.each(move |table, at| {
            let result = task(table, at);
            table.close(at);
            result
        })
    }

    /// As [`each_file`](Self::each_file), with files that stay open.
    pub(super) fn each<T: Send + 'static>(
        self: &Arc<Self>,
        task: impl Fn(&Self, usize) -> Result<T> + Send + Sync + 'static,
    ) -> Result<Vec<T>> {
        let (table, threads) = (self.clone(), self.threads().max(self.requests()));
        each(self.files.len(), threads, self.storage.cancel_check().cloned(), move |at| task(&table, at))
    }
}

/// Threads that open files of a far source before they are read, several at a time: what that takes is waiting. They
/// end when they are stopped, or this is dropped.
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

    /// Has them take up nothing more.
    pub(super) fn stop(&self) {
        if !self.threads.are_of_another_process() {
            self.ahead.lock().stopped = true;
            self.ahead.changed.notify_all();
        }
    }
}

impl Drop for Openers {
    fn drop(&mut self) {
        self.stop();
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
