//! Sizes of windows that tests can change: units of read ahead, caches, queues and batches.
//!
//! Each crate declares its windows with [`tunings!`](crate::tunings). No window changes the rows that are read or written:
//! tests make the windows small, so that a few rows cross each of them.

use std::ops::RangeInclusive;
#[cfg(any(test, feature = "testing"))]
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The size of a window, which tests can change.
#[derive(Debug)]
pub struct Tuning {
    name: &'static str,
    value: AtomicUsize,
    standard: usize,
    min: usize,
    max: usize,
    /// Whether the environment was read, see [`testing`].
    #[cfg(any(test, feature = "testing"))]
    is_read: Once,
}

impl Tuning {
    /// A window of size `standard`, which tests set to sizes of the range `small`.
    pub const fn new(name: &'static str, standard: usize, small: &RangeInclusive<usize>) -> Self {
        Tuning {
            name,
            value: AtomicUsize::new(standard),
            standard,
            min: *small.start(),
            max: *small.end(),
            #[cfg(any(test, feature = "testing"))]
            is_read: Once::new(),
        }
    }

    /// Name of the window.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Size of the window.
    #[inline]
    pub fn get(&self) -> usize {
        #[cfg(any(test, feature = "testing"))]
        self.is_read.call_once(|| make_small(self));
        self.value.load(Ordering::Relaxed)
    }

    /// Size of the window as a `u64`.
    #[inline]
    pub fn wide(&self) -> u64 {
        self.get() as u64
    }

    /// Size of the window where no test has changed it.
    pub fn standard(&self) -> usize {
        self.standard
    }

    /// The sizes that tests set.
    pub fn small(&self) -> RangeInclusive<usize> {
        self.min..=self.max
    }

    /// Sets the size, for tests. The minimum is the start of [`small`](Self::small): some loops would not end with less. The
    /// change may have no effect on existing readers and writers.
    pub fn set(&self, value: usize) {
        self.value.store(value.max(self.min), Ordering::Relaxed);
    }
}

#[cfg(any(test, feature = "testing"))]
/// The environment variable that holds the seed of the sizes.
const SEED: &str = "ORCISH_TEST_TUNING";

#[cfg(any(test, feature = "testing"))]
/// Sets a window to a random small size, if the environment has a seed. The same seed gives the same size.
fn make_small(tuning: &Tuning) {
    let Some(seed) = std::env::var(SEED).ok().and_then(|seed| seed.parse::<u64>().ok()) else { return };
    let mut state = tuning.name().bytes().fold(seed, |state, byte| state.wrapping_mul(31).wrapping_add(byte.into()));
    let mut random = || {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ mixed >> 31) >> 1).unwrap_or(0)
    };
    let (kind, value) = (random() % 8, random());
    let count = tuning.max - tuning.min + 1;
    tuning.set(match kind {
        0 => tuning.standard,
        1 => tuning.min,
        // Rows cross more windows if they are smaller.
        2..5 => tuning.min + value % count.min(10),
        _ => tuning.min + value % count,
    });
}

/// Declares windows as statics, and `ALL`, the list of them.
///
/// ```
/// orcish_core::tunings! {
///     /// Rows that are read ahead.
///     ROWS_AHEAD = 1 << 20, 1..=3000;
/// }
///
/// assert_eq!(ROWS_AHEAD.get(), 1 << 20);
/// assert_eq!(ALL[0].name(), "ROWS_AHEAD");
/// ```
#[macro_export]
macro_rules! tunings {
    ($($(#[$doc:meta])* $name:ident = $standard:expr, $small:expr;)*) => {
        $(
            $(#[$doc])*
            pub static $name: $crate::tuning::Tuning =
                $crate::tuning::Tuning::new(stringify!($name), $standard, &$small);
        )*

        /// All windows of this module.
        pub static ALL: &[&$crate::tuning::Tuning] = &[$(&$name),*];
    };
}

tunings! {
    /// Decoded batches of a file or split that wait for the caller.
    BATCHES_AHEAD = 4, 1..=2;
    /// Memory of a reader from which on a further thread decodes: a thread has buffers of its own, and the allocator keeps
    /// freed memory for each thread.
    MEMORY_OF_A_THREAD = 32 << 20, 1..=5000;
}

#[cfg(any(test, feature = "testing"))]
pub mod testing;
