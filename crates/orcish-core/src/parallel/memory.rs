//! Memory of a scan.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The bytes that all readers of a scan hold together. Readers do not read ahead while the scan holds more than its limit.
/// The reader whose rows are next goes on whatever is held, so that a scan always ends.
#[derive(Debug)]
pub struct ScanMemory {
    limit: u64,
    held: AtomicU64,
}

impl ScanMemory {
    /// The memory of a scan that reads ahead while it holds at most `limit` bytes.
    pub fn new(limit: u64) -> Arc<Self> {
        Arc::new(ScanMemory { limit, held: AtomicU64::new(0) })
    }

    /// A reservation of no bytes.
    pub fn reservation(self: &Arc<Self>) -> Reservation {
        Reservation { memory: self.clone(), bytes: 0 }
    }

    /// Whether `bytes` more are within the limit.
    pub fn has_room_for(&self, bytes: u64) -> bool {
        self.held.load(Ordering::Relaxed).saturating_add(bytes) <= self.limit
    }

    /// The bytes that are held.
    pub fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }
}

/// Bytes that one part of a scan holds. They are given back on drop.
#[derive(Debug)]
pub struct Reservation {
    memory: Arc<ScanMemory>,
    bytes: u64,
}

impl Reservation {
    /// The bytes of this reservation.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Changes the number of bytes. It may exceed the limit.
    pub fn set(&mut self, bytes: u64) {
        if bytes >= self.bytes {
            self.memory.held.fetch_add(bytes - self.bytes, Ordering::Relaxed);
        } else {
            self.memory.held.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
        }
        self.bytes = bytes;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reservations_share_a_limit() {
        let memory = ScanMemory::new(100);
        let (mut first, mut second) = (memory.reservation(), memory.reservation());
        first.set(60);
        second.set(50);
        assert!(memory.held() == 110 && !memory.has_room_for(0));
        first.set(40);
        assert!(memory.has_room_for(10) && !memory.has_room_for(11) && !memory.has_room_for(u64::MAX));
        drop(second);
        assert_eq!((first.bytes(), memory.held()), (40, 40));
        drop(first);
        assert_eq!(memory.held(), 0);
    }
}
