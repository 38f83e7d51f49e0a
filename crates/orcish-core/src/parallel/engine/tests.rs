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

    fn finish(&self, (_, done): &mut Self::State, number: u32) {
        done.push(number);
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
