//! Several files at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::file::is_ruled_out;
use super::table::Table;
use crate::error::{ErrorKind, Result};

/// How long the caller waits for other threads before it looks whether to go on.
const PATIENCE: Duration = Duration::from_millis(5);

impl Table {
    /// Calls `task` for each file, several at a time; the results are in order of the files, and an error is that of
    /// the first file which has one. What other threads are at when the caller is interrupted is not waited for.
    pub(super) fn each_file<T: Send + 'static>(
        self: &Arc<Self>,
        task: impl Fn(&Self, usize) -> Result<T> + Send + Sync + 'static,
    ) -> Result<Vec<T>> {
        let count = self.files.len();
        let (next, task) = (Arc::new(AtomicUsize::new(0)), Arc::new(task));
        let worker = || {
            let (table, next, task) = (self.clone(), next.clone(), task.clone());
            move || {
                let (mut done, mut failed) = (Vec::new(), None);
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        break;
                    }
                    match task(&table, at) {
                        Ok(result) => done.push((at, result)),
                        Err(error) => {
                            // The others take up nothing more.
                            next.store(count, Ordering::Relaxed);
                            failed = Some((at, error));
                        }
                    }
                    table.close(at);
                }
                (done, failed)
            }
        };
        let threads = self.threads().max(self.requests()).min(count).max(1);
        let spawn = |_| std::thread::Builder::new().name("orcish-scan".to_owned()).spawn(worker());
        // Without a thread there is less speed, and nothing else is lost.
        let others: Vec<_> = (1..threads).filter_map(|at| spawn(at).ok()).collect();
        let (mut all, mut failed) = worker()();
        if failed.as_ref().is_some_and(|(_, error)| error.kind() == ErrorKind::Interrupted) {
            return failed.map_or_else(|| Ok(Vec::new()), |(_, error)| Err(error));
        }
        for other in others {
            while !other.is_finished() {
                std::thread::sleep(PATIENCE);
                self.storage.check_now()?;
            }
            match other.join() {
                Ok((done, error)) => {
                    all.extend(done);
                    failed = failed.into_iter().chain(error).min_by_key(|&(at, _)| at);
                }
                Err(panic) => std::panic::resume_unwind(panic),
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
pub(super) struct Openers(Arc<Ahead>);

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
}

impl Openers {
    /// None where files are not worth opening ahead: where they are near, or a limit may be reached before.
    pub(super) fn start(table: &Arc<Table>) -> Option<Self> {
        let most = table.requests().min(table.files.len());
        if most < 2 || table.options.limit.is_some() {
            return None;
        }
        let ahead =
            Arc::new(Ahead { window: Mutex::new(Window { next: 0, end: most }), changed: Condvar::new(), most });
        for _ in 0..most {
            let (ahead, table) = (ahead.clone(), table.clone());
            // Without the thread there is less speed, and nothing else is lost.
            let _ = std::thread::Builder::new().name("orcish-open".to_owned()).spawn(move || ahead.work(&table));
        }
        Some(Openers(ahead))
    }

    /// Says that a file is about to be read.
    pub(super) fn reached(&self, file: usize) {
        let mut window = self.0.lock();
        window.next = window.next.max(file);
        window.end = window.end.max(file.saturating_add(self.0.most));
        drop(window);
        self.0.changed.notify_all();
    }
}

impl Drop for Openers {
    fn drop(&mut self) {
        self.reached(usize::MAX);
    }
}

impl Ahead {
    fn lock(&self) -> MutexGuard<'_, Window> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, table: &Table) {
        let is_early = |window: &mut Window| window.next >= window.end && window.next < table.files.len();
        loop {
            let mut window = self.changed.wait_while(self.lock(), is_early).unwrap_or_else(PoisonError::into_inner);
            let at = window.next;
            let Some(file) = table.files.get(at) else { return };
            window.next += 1;
            drop(window);
            // Errors come again where the file is read.
            if matches!(is_ruled_out(table, file), Ok(false)) {
                let _ = table.orc_file(at);
            }
        }
    }
}
