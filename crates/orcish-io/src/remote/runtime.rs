//! The asynchronous runtime of requests, and blocking calls of futures.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::task::{Context, Poll};
use std::time::Duration;

use orcish_core::cancel::{CHECK_INTERVAL, CancelCheck};
use orcish_core::process::PerProcess;
use orcish_core::{Error, ErrorKind, Result};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// Maximum time that [`run_cleanup`] waits. A store that does not respond may take minutes.
const CLEANUP_TIMEOUT: Duration = Duration::from_secs(2);

/// The runtime of this process. It has one thread, because it transfers bytes only; other threads decode them.
fn runtime() -> Result<&'static Runtime> {
    static RUNTIME: PerProcess<std::io::Result<Runtime>> = PerProcess::new();
    let build = || Builder::new_multi_thread().worker_threads(1).thread_name("orcish-io").enable_all().build();
    let runtime = RUNTIME.get_or_init(build);
    runtime
        .as_ref()
        .map_err(|error| Error::new(ErrorKind::Io, format!("the thread for requests cannot be made: {error}")))
}

/// The runtime of this process, for clients that start tasks of their own.
#[cfg(feature = "hdfs")]
pub(super) fn handle() -> Result<tokio::runtime::Handle> {
    Ok(runtime()?.handle().clone())
}

/// A spawned future and the receiver of its result.
struct RequestTask<T> {
    result: Receiver<Result<T>>,
    handle: JoinHandle<()>,
}

impl<T: Send + 'static> RequestTask<T> {
    fn spawn(future: impl Future<Output = Result<T>> + Send + 'static) -> Result<Self> {
        let (sender, result) = sync_channel(1);
        let handle = runtime()?.spawn(async move {
            // Sending fails if the caller has stopped to wait.
            let _ = sender.send(future.await);
        });
        Ok(RequestTask { result, handle })
    }

    /// Waits for the result. The outer error is that of `check`, which is called regularly.
    fn join(&self, check: Option<&CancelCheck>) -> Result<Result<T>> {
        loop {
            match self.result.recv_timeout(CHECK_INTERVAL) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Timeout) => check.map_or(Ok(()), |check| check())?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Ok(Err(Error::new(ErrorKind::Io, "the request ended without a result")));
                }
            }
        }
    }
}

/// The result of a call on another thread, as a future for any executor. Dropping it does not end the call.
#[derive(Debug)]
pub struct Blocking<T>(JoinHandle<T>);

impl<T> Future for Blocking<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(|result| {
            result.map_err(|error| match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Error::new(ErrorKind::Interrupted, "the process ends"),
            })
        })
    }
}

/// Calls `work` on a thread that may block.
///
/// # Errors
/// `Io` if no thread can be made.
pub fn spawn_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<Blocking<T>> {
    Ok(Blocking(runtime()?.spawn_blocking(work)))
}

/// Runs `future` and waits for its result. An error of `check`, which is called regularly, cancels the future.
pub(super) fn block_on<T, F>(future: F, check: Option<&CancelCheck>) -> Result<T>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    let task = RequestTask::spawn(future)?;
    match task.join(check) {
        Ok(result) => result,
        Err(error) => {
            task.handle.abort();
            Err(error)
        }
    }
}

/// As [`block_on`], for a future that creates a resource. An error of `check` does not cancel the future, because the
/// resource would be leaked. The future continues in the background, and `undo` receives its result.
pub(super) fn block_on_or_undo<T, F, U>(
    future: F,
    check: Option<&CancelCheck>,
    undo: impl FnOnce(T) -> U + Send + 'static,
) -> Result<T>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
    U: Future<Output = ()> + Send,
{
    // Set by the first of the two ends: that of the future, or that of the wait.
    let is_decided = Arc::new(AtomicBool::new(false));
    let is_canceled = is_decided.clone();
    let task = RequestTask::spawn(async move {
        match (future.await, is_canceled.swap(true, Ordering::AcqRel)) {
            (Ok(resource), true) => {
                undo(resource).await;
                Err(Error::new(ErrorKind::Interrupted, "nobody waits for it"))
            }
            (result, _) => result,
        }
    })?;
    match task.join(check) {
        Ok(result) => result,
        // The future has completed concurrently. The next call of the check reports the error.
        Err(_) if is_decided.swap(true, Ordering::AcqRel) => task.join(None)?,
        Err(error) => Err(error),
    }
}

/// Runs `future`, which releases resources, and waits at most [`CLEANUP_TIMEOUT`] for it. Then it continues in the
/// background. The call does not wait at all while another cleanup continues so.
pub(super) fn run_cleanup(future: impl Future<Output = ()> + Send + 'static) {
    static BACKGROUND: PerProcess<AtomicUsize> = PerProcess::new();
    let background = BACKGROUND.get_or_init(AtomicUsize::default);
    let timeout = if background.load(Ordering::Acquire) > 0 { Duration::ZERO } else { CLEANUP_TIMEOUT };
    run_with_timeout(future, timeout, background);
}

/// Runs `future` and waits at most `timeout`. `background` counts the futures that continue after the timeout. Returns
/// whether the future has completed.
fn run_with_timeout(
    future: impl Future<Output = ()> + Send + 'static,
    timeout: Duration,
    background: &'static AtomicUsize,
) -> bool {
    let (sender, receiver) = sync_channel(1);
    // Set by the first of the two ends: that of the future, or that of the wait.
    let is_decided = Arc::new(AtomicBool::new(false));
    let is_background = is_decided.clone();
    let Ok(runtime) = runtime() else { return false };
    runtime.spawn(async move {
        future.await;
        if is_background.swap(true, Ordering::AcqRel) {
            background.fetch_sub(1, Ordering::AcqRel);
        }
        let _ = sender.send(());
    });
    if receiver.recv_timeout(timeout).is_ok() {
        return true;
    }
    background.fetch_add(1, Ordering::AcqRel);
    let has_completed = is_decided.swap(true, Ordering::AcqRel);
    if has_completed {
        background.fetch_sub(1, Ordering::AcqRel);
    }
    has_completed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cleanup_is_not_waited_for_long() {
        static BACKGROUND: AtomicUsize = AtomicUsize::new(0);
        let (sender, receiver) = tokio::sync::oneshot::channel::<()>();
        let start = std::time::Instant::now();
        assert!(run_with_timeout(async {}, CLEANUP_TIMEOUT, &BACKGROUND));
        assert_eq!(BACKGROUND.load(Ordering::Acquire), 0);
        assert!(!run_with_timeout(async { _ = receiver.await }, CHECK_INTERVAL, &BACKGROUND));
        assert_eq!(BACKGROUND.load(Ordering::Acquire), 1);
        assert!(start.elapsed() < CLEANUP_TIMEOUT);
        sender.send(()).unwrap();
        while BACKGROUND.load(Ordering::Acquire) > 0 {
            std::thread::yield_now();
        }
    }

    #[test]
    fn resources_of_canceled_futures_are_released() {
        let check: CancelCheck = Arc::new(|| Err(Error::new(ErrorKind::Interrupted, "enough")));
        let (answer, answered) = tokio::sync::oneshot::channel::<()>();
        let (undone, is_undone) = sync_channel(1);
        let begin = async {
            _ = answered.await;
            Ok(7)
        };
        let undo = move |number: u8| async move { undone.send(number).unwrap() };
        let error = block_on_or_undo(begin, Some(&check), undo).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
        answer.send(()).unwrap();
        assert_eq!(is_undone.recv().unwrap(), 7);
        let never = |_: u8| std::future::pending::<()>();
        assert_eq!(block_on_or_undo(async { Ok(7) }, Some(&check), never).unwrap(), 7);
    }

    #[test]
    fn a_failed_check_cancels_the_future() {
        let check: CancelCheck = Arc::new(|| Err(Error::new(ErrorKind::Interrupted, "enough")));
        let error = block_on(std::future::pending::<Result<()>>(), Some(&check)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
        assert_eq!(block_on(async { Ok(7) }, Some(&check)).unwrap(), 7);
    }
}
