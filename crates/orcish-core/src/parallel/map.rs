//! Several parts at a time.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

use super::threads::Threads;
use crate::cancel::{CHECK_INTERVAL, CancelCheck, Cancellation};
use crate::error::{Error, ErrorKind, Result};

/// Calls `task` for each index below `count`, as many at a time as there are `threads`, of which the caller is one. The
/// results are in order, and an error is that of the first index which has one. What other threads are at when `check`
/// interrupts the caller is not waited for.
///
/// # Errors
/// Those of `task` and of `check`.
pub fn each<T: Send + 'static>(
    count: usize,
    threads: usize,
    check: Option<CancelCheck>,
    task: impl Fn(usize) -> Result<T> + Send + Sync + 'static,
) -> Result<Vec<T>> {
    let (next, task) = (Arc::new(AtomicUsize::new(0)), Arc::new(task));
    let worker = || {
        let (next, task) = (next.clone(), task.clone());
        move |look: &mut dyn FnMut() -> Result<()>| {
            let (mut done, mut failed) = (Vec::new(), None);
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                if at >= count {
                    return (done, failed);
                }
                match look().and_then(|()| task(at)) {
                    Ok(result) => done.push((at, result)),
                    Err(error) => {
                        // The others take up nothing more.
                        next.store(count, Ordering::Relaxed);
                        failed = Some((at, error));
                    }
                }
            }
        }
    };
    let (sender, receiver) = channel();
    let mut others = Threads::default();
    let mut working = 0;
    for _ in 1..threads.min(count) {
        let (sender, work) = (sender.clone(), worker());
        // Nobody receives it after an interruption.
        let work = move || _ = sender.send(catch_unwind(AssertUnwindSafe(|| work(&mut || Ok(())))));
        working += usize::from(others.start("orcish-scan", work));
    }
    let mut cancellation = Cancellation::new(check);
    let (mut all, mut failed) = worker()(&mut || cancellation.poll());
    let is_interruption = |(_, error): &(usize, Error)| error.kind() == ErrorKind::Interrupted;
    while working > 0 && !failed.as_ref().is_some_and(is_interruption) {
        match receiver.recv_timeout(CHECK_INTERVAL) {
            Err(_) => cancellation.poll()?,
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

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn results_are_in_order() {
        for threads in [0, 1, 3, 20] {
            assert_eq!(each(10, threads, None, |at| Ok(at * at)).unwrap()[9], 81);
        }
        assert!(each(0, 4, None, Ok).unwrap().is_empty());
    }

    #[test]
    fn the_first_error_counts() {
        // Both are begun before one has failed.
        let both = Barrier::new(2);
        let error = each(2, 2, None, move |at| -> Result<()> {
            both.wait();
            Err(Error::corrupt(format!("part {at}")))
        });
        assert_eq!(error.unwrap_err().message(), "part 0");
    }

    #[test]
    fn an_interruption_waits_for_nobody() {
        let check: CancelCheck = Arc::new(|| Err(Error::new(ErrorKind::Interrupted, "enough")));
        let (sender, receiver) = channel::<()>();
        let receiver = std::sync::Mutex::new(receiver);
        let caller = std::thread::current().id();
        let found = each(4, 2, Some(check), move |_| {
            // The other thread hangs until this test has ended.
            match std::thread::current().id() == caller {
                true => std::thread::sleep(CHECK_INTERVAL),
                false => _ = receiver.lock().unwrap().recv(),
            }
            Ok(())
        });
        assert_eq!(found.unwrap_err().kind(), ErrorKind::Interrupted);
        drop(sender);
    }

    #[test]
    fn a_panic_is_passed_on() {
        let caller = std::thread::current().id();
        let run = move || {
            let both = Barrier::new(2);
            each(2, 2, None, move |at| {
                both.wait();
                assert!(std::thread::current().id() == caller, "of another thread");
                Ok(at)
            })
        };
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    }
}
