//! Threads that work beside a caller, and how it parts from them.

use std::mem::ManuallyDrop;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::error::Error;

/// How long the end of threads is waited for: they may be at a read that takes long, and that nobody wants any more.
const GRACE: Duration = Duration::from_millis(100);
/// How often it is looked whether they have ended.
const STEP: Duration = Duration::from_micros(200);

/// As many threads as are asked for; with 0, as many as the machine has cores.
pub fn threads_or_cores(asked: usize) -> usize {
    match asked {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        asked => asked,
    }
}

/// Threads that work for one reader.
#[derive(Debug, Default)]
pub struct Threads {
    handles: Vec<JoinHandle<()>>,
    /// The process that started them. A child of a fork has the handles, but not the threads, and whatever lock they held
    /// is locked for ever.
    process: Option<u32>,
}

impl Threads {
    /// Starts a thread. Says whether there is one: without it there is less speed, and nothing else is lost.
    pub fn start(&mut self, name: &str, work: impl FnOnce() + Send + 'static) -> bool {
        self.process = Some(std::process::id());
        let thread = Builder::new().name(name.to_owned()).spawn(work).ok();
        let is_there = thread.is_some();
        self.handles.extend(thread);
        is_there
    }

    /// Whether this is a child of the process that started them.
    pub fn are_of_another_process(&self) -> bool {
        self.process.is_some_and(|process| process != std::process::id())
    }

    /// The error where they are asked for something in a process that does not have them.
    pub fn missing() -> Error {
        Error::invalid("the threads that read are those of another process: begin to read after the fork")
    }

    /// Waits until all have ended, who have been told to, but not for long.
    pub fn end(&mut self) {
        let start = Instant::now();
        for thread in self.handles.drain(..) {
            while !thread.is_finished() && start.elapsed() < GRACE {
                std::thread::sleep(STEP);
            }
            if thread.is_finished() {
                // A panic has been caught before.
                let _ = thread.join();
            }
        }
    }

    /// Waits for none of them.
    pub fn leave(&mut self) {
        self.handles.clear();
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if self.are_of_another_process() {
            // Letting go of a handle asks the system about a thread that is not there.
            let _ = ManuallyDrop::new(std::mem::take(&mut self.handles));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn threads_that_hang_are_left() {
        let (sender, receiver) = channel::<()>();
        let mut threads = Threads::default();
        assert!(threads.start("hanging", move || _ = receiver.recv()));
        assert!(threads.start("ready", || ()));
        let start = Instant::now();
        threads.end();
        assert!(start.elapsed() < 20 * GRACE);
        assert!(threads.handles.is_empty());
        drop(sender);
    }

    #[test]
    fn those_of_a_parent_are_known() {
        let mut threads = Threads::default();
        assert!(!threads.are_of_another_process());
        assert!(threads.start("ready", || ()));
        assert!(!threads.are_of_another_process());
        threads.process = Some(0);
        assert!(threads.are_of_another_process());
    }
}
