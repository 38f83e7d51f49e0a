//! A parallel map.

use std::collections::VecDeque;

use super::engine::{Engine, Job, Taken};
use crate::cancel::{CancelCheck, Cancellation};
use crate::error::{Error, ErrorKind, OrInternal as _, Result};

/// Calls `task` with the index and the value of each item, on `threads` threads of which the caller is one. The results are
/// in order of the items. After an error no further item is begun, and the error of the first item that failed is returned.
///
/// `check` is called by the caller now and then. Tasks that run when it fails are not waited for.
///
/// # Errors
/// The errors of `task` and of `check`.
///
/// # Panics
/// Where `task` panics.
pub fn map<I, T>(
    items: impl IntoIterator<Item = I>,
    threads: usize,
    check: Option<CancelCheck>,
    task: impl Fn(usize, I) -> Result<T> + Send + Sync + 'static,
) -> Result<Vec<T>>
where
    I: Send + 'static,
    T: Send + 'static,
{
    let items: VecDeque<_> = items.into_iter().enumerate().collect();
    let others = threads.min(items.len()).saturating_sub(1);
    let results = Vec::with_capacity(items.len());
    let job = Map { task, item: std::marker::PhantomData };
    let mut engine = Engine::new(job, Progress { items, running: 0, results, failed: None });
    let mut cancellation = Cancellation::new(check);
    for _ in 0..others {
        engine.start("orcish-map", ());
    }
    let finished = engine.next(Some(()), &mut cancellation, |_, state: &mut Progress<I, T>| {
        if state.items.is_empty() && state.running == 0 {
            Taken::Item((std::mem::take(&mut state.results), state.failed.take()))
        } else {
            Taken::Pending
        }
    });
    let (mut results, failed) = finished?.or_internal("a map that was not stopped has results")?;
    // The threads have nothing left to run, and end by themselves.
    engine.leave();
    if let Some((_, error)) = failed {
        return Err(error);
    }
    results.sort_unstable_by_key(|&(at, _)| at);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

struct Map<F, I> {
    task: F,
    item: std::marker::PhantomData<fn(I)>,
}

/// Items that are to be done, and results of those that are done.
struct Progress<I, T> {
    /// Items that have not been begun.
    items: VecDeque<(usize, I)>,
    running: usize,
    results: Vec<(usize, T)>,
    /// The first item that failed, and its error.
    failed: Option<(usize, Error)>,
}

impl<I, T> Default for Progress<I, T> {
    fn default() -> Self {
        Progress { items: VecDeque::new(), running: 0, results: Vec::new(), failed: None }
    }
}

impl<F, I, T> Job for Map<F, I>
where
    F: Fn(usize, I) -> Result<T> + Send + Sync + 'static,
    I: Send + 'static,
    T: Send + 'static,
{
    type State = Progress<I, T>;
    type Task = (usize, I);
    type Done = (usize, Result<T>);
    type Role = ();

    fn next_task(&self, state: &mut Self::State, (): ()) -> Option<Self::Task> {
        let item = state.items.pop_front()?;
        state.running += 1;
        Some(item)
    }

    fn run(&self, (at, item): Self::Task) -> Self::Done {
        (at, (self.task)(at, item))
    }

    fn finish(&self, state: &mut Self::State, (at, result): Self::Done) -> Result<()> {
        state.running -= 1;
        match result {
            Ok(result) => state.results.push((at, result)),
            Err(error) => {
                state.items.clear();
                if state.failed.as_ref().is_none_or(|&(first, _)| at < first) {
                    state.failed = Some((at, error));
                }
            }
        }
        Ok(())
    }

    fn interruption(&self, (_, result): &Self::Done) -> Option<Error> {
        result.as_ref().err().filter(|error| error.kind() == ErrorKind::Interrupted).cloned()
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::mpsc::channel;
    use std::sync::{Arc, Barrier, Mutex};

    use super::*;
    use crate::cancel::CHECK_INTERVAL;

    #[test]
    fn results_are_in_order() {
        for threads in [0, 1, 3, 20] {
            let squares = map(0..10, threads, None, |at, item: usize| Ok((at, item * item))).unwrap();
            assert_eq!(squares, (0..10).map(|at| (at, at * at)).collect::<Vec<_>>());
        }
        assert!(map(0..0, 4, None, |at, _: usize| Ok(at)).unwrap().is_empty());
    }

    #[test]
    fn the_error_of_the_first_item_is_returned() {
        // Both items are begun before one fails.
        let both = Barrier::new(2);
        let error = map(0..2, 2, None, move |at, _: usize| -> Result<()> {
            both.wait();
            Err(Error::corrupt(format!("item {at}")))
        });
        assert_eq!(error.unwrap_err().message(), "item 0");
    }

    #[test]
    fn a_cancelled_caller_waits_for_no_thread() {
        let check: CancelCheck = Arc::new(|| Err(Error::new(ErrorKind::Interrupted, "enough")));
        let (sender, receiver) = channel::<()>();
        let receiver = Mutex::new(receiver);
        let caller = std::thread::current().id();
        let results = map(0..4, 2, Some(check), move |_, _: usize| {
            // The other thread hangs until this test has ended.
            if std::thread::current().id() == caller {
                std::thread::sleep(CHECK_INTERVAL);
            } else {
                let _ = receiver.lock().unwrap().recv();
            }
            Ok(())
        });
        assert_eq!(results.unwrap_err().kind(), ErrorKind::Interrupted);
        drop(sender);
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        let caller = std::thread::current().id();
        let run = move || {
            let both = Barrier::new(2);
            map(0..2, 2, None, move |at, _: usize| {
                both.wait();
                assert!(std::thread::current().id() == caller, "a panic of another thread");
                Ok(at)
            })
        };
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    }
}
