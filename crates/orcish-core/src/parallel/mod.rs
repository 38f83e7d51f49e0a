//! Parallel work of one caller: an ordered prefetch, a parallel map, and the engine that both run on.
//!
//! ```text
//! map        one task for each item; results in order of the items
//! Prefetch   batches of ordered inputs, such as the files of a table, which threads read ahead
//! Engine     tasks that a caller and its threads share: panics, forks, cancellation, threads that cannot be started
//! ScanMemory bytes that all readers of a scan hold together
//! ```

mod engine;
mod map;
mod memory;
mod prefetch;

pub use engine::{Engine, Job, Taken};
pub use map::map;
pub use memory::{Reservation, ScanMemory};
pub use prefetch::{Prefetch, PrefetchSource};

use crate::limits::Limits;
use crate::tuning;

/// The number of threads that an option asks for; 0 stands for the number of cores.
pub fn threads_or_cores(threads: usize) -> usize {
    match threads {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        threads => threads,
    }
}

/// The number of threads that decode, where an option asks for `threads`: at most one for each 32 MiB of the memory limit.
pub fn decoding_threads(threads: usize, limits: &Limits) -> usize {
    let most = usize::try_from(limits.memory / tuning::MEMORY_OF_A_THREAD.wide()).unwrap_or(usize::MAX);
    threads_or_cores(threads).min(most.max(1))
}
