//! Threads that hang, panic, or belong to another process.

use std::sync::mpsc::{Receiver, Sender, channel};

use super::*;
use crate::error::ErrorKind;

/// Counts down. Tasks of the role `true` hang until the test sends a message.
struct Countdown {
    hang: Mutex<Receiver<()>>,
    discarded: Mutex<Sender<u32>>,
}

impl Job for Countdown {
    /// Numbers that are left, and numbers that are done.
    type State = (u32, Vec<u32>);
    type Task = (u32, bool);
    type Done = u32;
    type Role = bool;

    fn next_task(&self, (left, _): &mut Self::State, hangs: bool) -> Option<Self::Task> {
        *left = left.checked_sub(1)?;
        Some((*left, hangs))
    }

    fn run(&self, (number, hangs): Self::Task) -> u32 {
        assert!(!(hangs && number == 7), "seven");
        if hangs {
            let _ = self.hang.lock().unwrap().recv();
        }
        number
    }

    fn finish(&self, (_, done): &mut Self::State, number: u32) -> Result<()> {
        done.push(number);
        Ok(())
    }

    fn discard_done(&self, number: u32) {
        let _ = self.discarded.lock().unwrap().send(number);
    }
}

fn countdown(from: u32) -> (Engine<Countdown>, Sender<()>, Receiver<u32>) {
    let ((sender, hang), (discarded, receiver)) = (channel(), channel());
    let job = Countdown { hang: Mutex::new(hang), discarded: Mutex::new(discarded) };
    (Engine::new(job, (from, Vec::new())), sender, receiver)
}

fn next(engine: &mut Engine<Countdown>, helps: bool) -> Result<Option<u32>> {
    engine.next(helps.then_some(false), &mut Cancellation::new(None), |_, (left, done)| match done.pop() {
        Some(number) => Taken::Item(number),
        None if *left == 0 => Taken::End,
        None => Taken::Pending,
    })
}

#[test]
fn the_caller_alone_does_all() {
    let (mut engine, _hang, _) = countdown(3);
    assert_eq!([2, 1, 0].map(Some), [(); 3].map(|()| next(&mut engine, true).unwrap()));
    assert_eq!(next(&mut engine, true).unwrap(), None);
    engine.stop();
    assert_eq!(next(&mut engine, true).unwrap(), None);
}

#[test]
fn a_hanging_thread_is_left() {
    let (mut engine, hang, discarded) = countdown(1);
    assert!(engine.start("hanging", true));
    while engine.shared.lock().state.0 > 0 {
        std::thread::yield_now();
    }
    let start = Instant::now();
    engine.stop();
    assert!(start.elapsed() >= STOP_TIMEOUT && start.elapsed() < 20 * STOP_TIMEOUT);
    assert!(engine.threads.is_empty());
    hang.send(()).unwrap();
    // The result of the task comes too late.
    assert_eq!(discarded.recv().unwrap(), 0);
}

#[test]
fn a_panic_of_a_thread_reaches_the_caller() {
    let (mut engine, _hang, _) = countdown(8);
    assert!(engine.start("panicking", true));
    let panic = catch_unwind(AssertUnwindSafe(|| next(&mut engine, false))).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"seven"));
    assert_eq!(next(&mut engine, false).unwrap(), None);
}

#[test]
fn a_child_of_a_fork_has_no_threads() {
    let (mut engine, _hang, _) = countdown(1);
    engine.process = 0;
    assert_eq!(next(&mut engine, true).unwrap(), Some(0), "no thread was started");
    let (mut engine, _hang, _) = countdown(1);
    assert!(engine.start("of the parent", true));
    engine.process = 0;
    assert_eq!(next(&mut engine, true).unwrap_err().kind(), ErrorKind::InvalidArgument);
    engine.stop();
    assert!(!engine.shared.lock().is_stopped);
    engine.process = std::process::id();
}

/// Where a job panics.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    NextTask,
    Run,
    Interruption,
    Finish,
    DiscardDone,
}

/// A job that panics at one place, once the test lets its first task go on.
struct Panicking(Place, Mutex<Receiver<()>>);

impl Panicking {
    fn pass(&self, place: Place) {
        assert!(self.0 != place, "{place:?}");
    }
}

impl Job for Panicking {
    type State = (u32, Vec<u32>);
    type Task = u32;
    type Done = u32;
    type Role = ();

    fn next_task(&self, (left, _): &mut Self::State, (): ()) -> Option<u32> {
        self.pass(Place::NextTask);
        *left = left.checked_sub(1)?;
        Some(*left)
    }

    fn run(&self, number: u32) -> u32 {
        let _ = self.1.lock().unwrap().recv();
        self.pass(Place::Run);
        number
    }

    fn interruption(&self, _: &u32) -> Option<Error> {
        self.pass(Place::Interruption);
        None
    }

    fn finish(&self, (_, done): &mut Self::State, number: u32) -> Result<()> {
        self.pass(Place::Finish);
        done.push(number);
        Ok(())
    }

    fn discard_done(&self, _: u32) {
        self.pass(Place::DiscardDone);
    }
}

fn panicking(place: Place) -> (Engine<Panicking>, Sender<()>) {
    let (sender, receiver) = channel();
    (Engine::new(Panicking(place, Mutex::new(receiver)), (1, Vec::new())), sender)
}

fn next_of(engine: &mut Engine<Panicking>, helps: bool) -> Result<Option<u32>> {
    let start = Instant::now();
    let check: crate::cancel::CancelCheck = std::sync::Arc::new(move || match start.elapsed() {
        took if took > Duration::from_secs(20) => Err(Error::new(ErrorKind::Interrupted, "the caller waits for ever")),
        _ => Ok(()),
    });
    engine.next(helps.then_some(()), &mut Cancellation::new(Some(check)), |_, (_, done)| match done.pop() {
        Some(number) => Taken::Item(number),
        None => Taken::Pending,
    })
}

/// Waits until all threads have ended, which they do by themselves.
fn wait_for_threads<J: Job>(engine: &Engine<J>) {
    let start = Instant::now();
    while engine.shared.lock().running > 0 {
        assert!(start.elapsed() < Duration::from_secs(20), "a thread has not ended");
        std::thread::yield_now();
    }
}

/// The tasks of a job and its bookkeeping are code of the same kind: a panic of either ends the work.
#[test]
fn a_panic_anywhere_reaches_the_caller() {
    let cases = [Place::NextTask, Place::Run, Place::Finish].map(|place| (place, [false, true].as_slice()));
    // Threads of the engine do not ask whether they are interrupted.
    for (place, callers) in cases.into_iter().chain([(Place::Interruption, [true].as_slice())]) {
        for &helps in callers {
            let (mut engine, go_on) = panicking(place);
            drop(go_on);
            if !helps {
                // The second thread finds no task, and waits.
                assert!(engine.start("panicking", ()) && engine.start("waiting", ()));
            }
            let panic = catch_unwind(AssertUnwindSafe(|| next_of(&mut engine, helps)));
            let text = panic.expect_err("a panic").downcast_ref::<String>().cloned();
            assert_eq!(text, Some(format!("{place:?}")), "helps: {helps}");
            // The end, whatever of the state is missing.
            assert_eq!(next_of(&mut engine, helps).unwrap(), None, "{place:?}, helps: {helps}");
            wait_for_threads(&engine);
        }
    }
}

#[test]
fn a_result_that_cannot_be_recorded_ends_the_work() {
    struct Refusing;
    impl Job for Refusing {
        type State = u32;
        type Task = ();
        type Done = ();
        type Role = ();
        fn next_task(&self, left: &mut u32, (): ()) -> Option<()> {
            *left = left.checked_sub(1)?;
            Some(())
        }
        fn run(&self, (): ()) {}
        fn finish(&self, _: &mut u32, (): ()) -> Result<()> {
            Err(Error::internal("no such task"))
        }
    }
    for helps in [false, true] {
        let mut engine = Engine::new(Refusing, 1);
        if !helps {
            assert!(engine.start("refusing", ()) && engine.start("waiting", ()));
        }
        let mut next =
            || engine.next(helps.then_some(()), &mut Cancellation::new(None), |_, _| -> Taken<()> { Taken::Pending });
        assert_eq!(next().unwrap_err().kind(), ErrorKind::Internal, "helps: {helps}");
        assert_eq!(next().unwrap(), None, "helps: {helps}");
        wait_for_threads(&engine);
    }
}

#[test]
fn a_panic_after_the_end_ends_the_thread() {
    let (mut engine, go_on) = panicking(Place::DiscardDone);
    assert!(engine.start("panicking", ()));
    while engine.shared.lock().state.0 > 0 {
        std::thread::yield_now();
    }
    engine.leave();
    drop(go_on);
    wait_for_threads(&engine);
}

#[test]
fn threads_go_on_with_the_calls_of_the_thread_that_starts_them() {
    struct Asks(crate::calls::CallId);
    impl Job for Asks {
        type State = Vec<bool>;
        type Task = ();
        type Done = bool;
        type Role = ();
        fn next_task(&self, answers: &mut Vec<bool>, (): ()) -> Option<()> {
            answers.is_empty().then_some(())
        }
        fn run(&self, (): ()) -> bool {
            self.0.is_waited_for()
        }
        fn finish(&self, answers: &mut Vec<bool>, answer: bool) -> Result<()> {
            answers.push(answer);
            Ok(())
        }
    }
    let call = crate::calls::Call::begin();
    let other = std::thread::spawn(|| crate::calls::Call::begin().id()).join().unwrap();
    for (id, want) in [(call.id(), true), (other, false)] {
        let mut engine = Engine::new(Asks(id), Vec::new());
        assert!(engine.start("asking", ()));
        let take = |_: &Asks, answers: &mut Vec<bool>| answers.pop().map_or(Taken::Pending, Taken::Item);
        assert_eq!(engine.next(None, &mut Cancellation::new(None), take).unwrap(), Some(want));
    }
}
