//! Time that does not depend on what else the machine does.

use std::time::{Duration, Instant};

/// The time that a thread takes.
pub(crate) struct Clock {
    start: Instant,
    busy: Option<Duration>,
}

impl Clock {
    /// Begins to count, of this thread.
    pub(crate) fn start() -> Self {
        Clock { start: Instant::now(), busy: busy() }
    }

    /// What this thread has taken of a processor; where the system does not say, the time that has passed.
    pub(crate) fn took(&self) -> Duration {
        match (self.busy, busy()) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => self.start.elapsed(),
        }
    }
}

/// Linux tells it in the first number of this file, in nanoseconds.
fn busy() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}
