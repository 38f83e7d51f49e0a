//! Threads that work for one caller: an ordered prefetch and a parallel map.

mod map;
mod prefetch;
mod threads;

pub use map::each;
pub use prefetch::{Ahead, Parts};
pub use threads::{Threads, threads_or_cores};
