//! Processor time, which does not depend on other processes.

use std::time::{Duration, Instant};

/// Measures the processor time of a thread.
pub(crate) struct Clock {
    start: Instant,
    cpu_time: Option<Duration>,
}

impl Clock {
    /// Starts a measurement of the current thread.
    pub(crate) fn start() -> Self {
        Clock { start: Instant::now(), cpu_time: cpu_time() }
    }

    /// Processor time of the current thread since the start. Elapsed time on systems without such a clock.
    pub(crate) fn elapsed(&self) -> Duration {
        match (self.cpu_time, cpu_time()) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => self.start.elapsed(),
        }
    }
}

/// Processor time of the current thread: on Linux the first number of this file, in nanoseconds.
fn cpu_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}
