//! The thread that carries requests out, and what of it a forked process must not touch.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use orcish_core::cancel::{Check, PATIENCE};
use orcish_core::{Error, ErrorKind, Result};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// A value that each process makes for itself. A child of a fork has the memory of its parent but none of its
/// threads: connections and locks that they held are dead there, and what holds them is neither used nor dropped.
#[derive(Debug)]
pub(super) struct PerProcess<T> {
    process: u32,
    value: Arc<T>,
    /// That of a child of the process.
    next: OnceLock<Box<PerProcess<T>>>,
}

impl<T> PerProcess<T> {
    pub(super) fn new(value: T) -> Self {
        PerProcess { process: std::process::id(), value: Arc::new(value), next: OnceLock::new() }
    }

    /// The value of this process.
    pub(super) fn get(&self, make: &dyn Fn() -> T) -> &T {
        let process = std::process::id();
        let mut this = self;
        while this.process != process {
            this = this.next.get_or_init(|| Box::new(Self::new(make())));
        }
        &this.value
    }
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // Counted once more, it is never dropped.
            let _ = Arc::into_raw(self.value.clone());
        }
    }
}

/// One thread for all requests of the process: it moves bytes and waits, others decode them.
fn runtime() -> Result<&'static Runtime> {
    static RUNTIME: OnceLock<PerProcess<std::io::Result<Runtime>>> = OnceLock::new();
    let make = || Builder::new_multi_thread().worker_threads(1).thread_name("orcish-io").enable_all().build();
    let runtime = RUNTIME.get_or_init(|| PerProcess::new(make())).get(&make);
    runtime
        .as_ref()
        .map_err(|error| Error::new(ErrorKind::Io, format!("the thread for requests cannot be made: {error}")))
}

/// How long it is waited for what tidies up. A store that does not answer may take minutes, and nobody needs the result.
const TIDY_PATIENCE: Duration = Duration::from_secs(2);

/// Something that is being carried out.
struct Task<T> {
    result: Receiver<Result<T>>,
    handle: JoinHandle<()>,
}

impl<T: Send + 'static> Task<T> {
    fn begin(future: impl Future<Output = Result<T>> + Send + 'static) -> Result<Self> {
        let (sender, result) = sync_channel(1);
        let handle = runtime()?.spawn(async move {
            // Nobody receives it where the wait was given up.
            let _ = sender.send(future.await);
        });
        Ok(Task { result, handle })
    }

    /// Waits for its result, with an eye on `check`, whose error ends the wait.
    fn wait(&self, check: Option<&Check>) -> Result<Result<T>> {
        loop {
            match self.result.recv_timeout(PATIENCE) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Timeout) => check.map_or(Ok(()), |check| check())?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Ok(Err(Error::new(ErrorKind::Io, "the request ended without a result")));
                }
            }
        }
    }
}

/// Carries `future` out and waits for it, with an eye on `check`: an error of that ends it.
pub(super) fn wait<T, F>(future: F, check: Option<&Check>) -> Result<T>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    let task = Task::begin(future)?;
    match task.wait(check) {
        Ok(result) => result,
        Err(error) => {
            task.handle.abort();
            Err(error)
        }
    }
}

/// As [`wait`], of what leaves something behind that only its result tells: where the wait ends before, `future` goes on,
/// and `undo` has its result.
pub(super) fn wait_or_undo<T, F, U>(
    future: F,
    check: Option<&Check>,
    undo: impl FnOnce(T) -> U + Send + 'static,
) -> Result<T>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
    U: Future<Output = ()> + Send,
{
    // The first of the two to end.
    let is_over = Arc::new(AtomicBool::new(false));
    let is_left = is_over.clone();
    let task = Task::begin(async move {
        match (future.await, is_left.swap(true, Ordering::AcqRel)) {
            (Ok(done), true) => {
                undo(done).await;
                Err(Error::new(ErrorKind::Interrupted, "nobody waits for it"))
            }
            (result, _) => result,
        }
    })?;
    match task.wait(check) {
        Ok(result) => result,
        // It has ended meanwhile: what it was interrupted by is said when it is next looked for.
        Err(_) if is_over.swap(true, Ordering::AcqRel) => task.wait(None)?,
        Err(error) => Err(error),
    }
}

/// Carries `future` out, which tidies up, and waits for it, but not for long; it goes on then. As long as another one goes
/// on so, this one is not waited for.
pub(super) fn tidy_up(future: impl Future<Output = ()> + Send + 'static) {
    static LEFT: OnceLock<PerProcess<AtomicUsize>> = OnceLock::new();
    let left = LEFT.get_or_init(|| PerProcess::new(AtomicUsize::default())).get(&AtomicUsize::default);
    wait_a_while(future, if left.load(Ordering::Acquire) > 0 { Duration::ZERO } else { TIDY_PATIENCE }, left);
}

/// Carries `future` out, and waits for it so long; it counts as `left` from then to its end. Says whether it has ended.
fn wait_a_while(
    future: impl Future<Output = ()> + Send + 'static,
    patience: Duration,
    left: &'static AtomicUsize,
) -> bool {
    let (sender, receiver) = sync_channel(1);
    // The first of the two to end.
    let is_over = Arc::new(AtomicBool::new(false));
    let is_left = is_over.clone();
    let Ok(runtime) = runtime() else { return false };
    runtime.spawn(async move {
        future.await;
        if is_left.swap(true, Ordering::AcqRel) {
            left.fetch_sub(1, Ordering::AcqRel);
        }
        let _ = sender.send(());
    });
    if receiver.recv_timeout(patience).is_ok() {
        return true;
    }
    left.fetch_add(1, Ordering::AcqRel);
    let has_ended = is_over.swap(true, Ordering::AcqRel);
    if has_ended {
        left.fetch_sub(1, Ordering::AcqRel);
    }
    has_ended
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_made_once_a_process() {
        let here = PerProcess::new(1);
        assert_eq!(*here.get(&|| 2), 1);
        // As in a child: the number of the process is another one.
        let parent = PerProcess { process: 0, value: Arc::new(1), next: OnceLock::new() };
        assert_eq!((*parent.get(&|| 2), *parent.get(&|| 3)), (2, 2));
    }

    #[test]
    fn what_is_of_another_process_is_not_dropped() {
        let value = Arc::new(());
        drop(PerProcess::new(value.clone()));
        assert_eq!(Arc::strong_count(&value), 1);
        drop(PerProcess { process: 0, value: Arc::new(value.clone()), next: OnceLock::new() });
        assert_eq!(Arc::strong_count(&value), 2);
    }

    #[test]
    fn what_tidies_up_is_not_waited_for_long() {
        static LEFT: AtomicUsize = AtomicUsize::new(0);
        let (sender, receiver) = tokio::sync::oneshot::channel::<()>();
        let start = std::time::Instant::now();
        assert!(wait_a_while(async {}, TIDY_PATIENCE, &LEFT));
        assert_eq!(LEFT.load(Ordering::Acquire), 0);
        assert!(!wait_a_while(async { _ = receiver.await }, PATIENCE, &LEFT));
        assert_eq!(LEFT.load(Ordering::Acquire), 1);
        assert!(start.elapsed() < TIDY_PATIENCE);
        sender.send(()).unwrap();
        while LEFT.load(Ordering::Acquire) > 0 {
            std::thread::yield_now();
        }
    }

    #[test]
    fn what_nobody_waits_for_is_undone() {
        let check: Check = Arc::new(|| Err(Error::new(ErrorKind::Interrupted, "enough")));
        let (answer, answered) = tokio::sync::oneshot::channel::<()>();
        let (undone, is_undone) = sync_channel(1);
        let begin = async {
            _ = answered.await;
            Ok(7)
        };
        let undo = move |number: u8| async move { undone.send(number).unwrap() };
        let error = wait_or_undo(begin, Some(&check), undo).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
        answer.send(()).unwrap();
        assert_eq!(is_undone.recv().unwrap(), 7);
        let never = |_: u8| std::future::pending::<()>();
        assert_eq!(wait_or_undo(async { Ok(7) }, Some(&check), never).unwrap(), 7);
    }

    #[test]
    fn a_wait_ends_when_the_check_fails() {
        let check: Check = Arc::new(|| Err(Error::new(ErrorKind::Interrupted, "enough")));
        let error = wait(std::future::pending::<Result<()>>(), Some(&check)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
        assert_eq!(wait(async { Ok(7) }, Some(&check)).unwrap(), 7);
    }
}
