//! Memory that the parts of a reader take beside the batches that it makes: what was decompressed, dictionaries, indexes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use orcish_core::error::{Error, Result};
use orcish_core::parallel::{Reservation, ScanMemory};

/// What the parts of a reader may take together.
#[derive(Debug)]
pub(crate) struct Memory {
    most: u64,
    held: AtomicU64,
    was_short: AtomicBool,
    /// The memory of the scan that the reader belongs to.
    scan: Arc<ScanMemory>,
}

impl Memory {
    /// Room for so many bytes.
    #[cfg(test)]
    pub(crate) fn new(most: u64) -> Arc<Self> {
        Self::of_scan(most, ScanMemory::new(most))
    }

    /// Room for so many bytes, which count for the memory of a scan too.
    pub(crate) fn of_scan(most: u64, scan: Arc<ScanMemory>) -> Arc<Self> {
        Arc::new(Memory { most, held: AtomicU64::new(0), was_short: AtomicBool::new(false), scan })
    }

    /// What one part takes; nothing yet.
    pub(crate) fn part(self: &Arc<Self>) -> Charge {
        Charge { memory: self.clone(), reservation: self.scan.reservation() }
    }

    /// Bytes that are left.
    pub(crate) fn left(&self) -> u64 {
        self.most.saturating_sub(self.held.load(Ordering::Relaxed))
    }

    /// Whether a part has ever needed more than was left.
    pub(crate) fn was_short(&self) -> bool {
        self.was_short.load(Ordering::Relaxed)
    }
}

/// What one part of a reader takes, until it is dropped.
#[derive(Debug)]
pub(crate) struct Charge {
    memory: Arc<Memory>,
    reservation: Reservation,
}

impl Charge {
    /// Makes it `bytes` at least.
    ///
    /// # Errors
    /// `LimitExceeded` when there is no room for what is missing.
    #[inline]
    pub(crate) fn raise_to(&mut self, bytes: u64) -> Result<()> {
        if bytes <= self.reservation.bytes() { Ok(()) } else { self.raise(bytes) }
    }

    #[cold]
    fn raise(&mut self, bytes: u64) -> Result<()> {
        let more = bytes - self.reservation.bytes();
        let held = self.memory.held.fetch_add(more, Ordering::Relaxed).saturating_add(more);
        self.reservation.set(bytes);
        if held <= self.memory.most {
            return Ok(());
        }
        self.memory.was_short.store(true, Ordering::Relaxed);
        let most = self.memory.most;
        Err(Error::over(
            "memory",
            format!("what is decompressed, dictionaries and indexes need more than the {most} bytes allowed"),
        ))
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.memory.held.fetch_sub(self.reservation.bytes(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_share_the_room_and_give_it_back() {
        let memory = Memory::new(100);
        let (mut first, mut second) = (memory.part(), memory.part());
        first.raise_to(60).unwrap();
        first.raise_to(50).unwrap();
        second.raise_to(40).unwrap();
        assert!(memory.left() == 0 && !memory.was_short());
        assert_eq!(second.raise_to(41).unwrap_err().kind(), orcish_core::ErrorKind::LimitExceeded);
        drop(second);
        assert!(memory.left() == 40 && memory.was_short());
        first.raise_to(100).unwrap();
        drop(first);
        assert_eq!(memory.left(), 100);
    }
}
