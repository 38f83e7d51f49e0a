//! Memory of a reader outside of its batches: decompressed streams, dictionaries and indexes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use orcish_core::error::{Error, Result};
use orcish_core::parallel::{Reservation, ScanMemory};

/// The memory of a reader, and its limit.
#[derive(Debug)]
pub(crate) struct Memory {
    limit: u64,
    used: AtomicU64,
    was_exhausted: AtomicBool,
    /// The memory of the scan that the reader belongs to.
    scan: Arc<ScanMemory>,
}

impl Memory {
    /// A memory with a limit in bytes.
    #[cfg(test)]
    pub(crate) fn new(limit: u64) -> Arc<Self> {
        Self::with_scan(limit, ScanMemory::new(limit))
    }

    /// A memory with a limit in bytes. Its bytes are also charged to the memory of a scan.
    pub(crate) fn with_scan(limit: u64, scan: Arc<ScanMemory>) -> Arc<Self> {
        Arc::new(Memory { limit, used: AtomicU64::new(0), was_exhausted: AtomicBool::new(false), scan })
    }

    /// A charge of 0 bytes.
    pub(crate) fn charge(self: &Arc<Self>) -> Charge {
        Charge { memory: self.clone(), reservation: self.scan.reservation() }
    }

    /// Number of bytes that can be charged.
    pub(crate) fn available(&self) -> u64 {
        self.limit.saturating_sub(self.used.load(Ordering::Relaxed))
    }

    /// Whether a charge has ever exceeded the limit.
    pub(crate) fn was_exhausted(&self) -> bool {
        self.was_exhausted.load(Ordering::Relaxed)
    }
}

/// The memory of a stream, dictionary or index, which is released on drop.
#[derive(Debug)]
pub(crate) struct Charge {
    memory: Arc<Memory>,
    reservation: Reservation,
}

impl Charge {
    /// Raises the charge to `bytes`, if it is less.
    ///
    /// # Errors
    /// `LimitExceeded` where the limit of the memory is exceeded.
    #[inline]
    pub(crate) fn raise_to(&mut self, bytes: u64) -> Result<()> {
        if bytes <= self.reservation.bytes() { Ok(()) } else { self.raise(bytes) }
    }

    #[cold]
    fn raise(&mut self, bytes: u64) -> Result<()> {
        let more = bytes - self.reservation.bytes();
        let used = self.memory.used.fetch_add(more, Ordering::Relaxed).saturating_add(more);
        self.reservation.set(bytes);
        if used <= self.memory.limit {
            return Ok(());
        }
        self.memory.was_exhausted.store(true, Ordering::Relaxed);
        let limit = self.memory.limit;
        Err(Error::over(
            "memory",
            format!("what is decompressed, dictionaries and indexes need more than the {limit} bytes allowed"),
        ))
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.memory.used.fetch_sub(self.reservation.bytes(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charges_share_the_memory_and_release_it() {
        let memory = Memory::new(100);
        let (mut first, mut second) = (memory.charge(), memory.charge());
        first.raise_to(60).unwrap();
        first.raise_to(50).unwrap();
        second.raise_to(40).unwrap();
        assert!(memory.available() == 0 && !memory.was_exhausted());
        assert_eq!(second.raise_to(41).unwrap_err().kind(), orcish_core::ErrorKind::LimitExceeded);
        drop(second);
        assert!(memory.available() == 40 && memory.was_exhausted());
        first.raise_to(100).unwrap();
        drop(first);
        assert_eq!(memory.available(), 100);
    }
}
