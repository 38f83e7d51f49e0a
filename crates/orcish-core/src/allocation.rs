//! Allocation of memory whose size follows from what a file states. It is an error where the system has none; Rust ends the
//! process where another allocation fails.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

/// Bytes of results after which [`Room`] looks for memory again.
const STEP: u64 = 16 << 20;
/// Bytes that are left for allocations that are not checked.
const SPARE: usize = 32 << 20;

fn no_memory(bytes: usize) -> Error {
    Error::limit(format!("the system has no memory for {bytes} bytes more"))
}

/// Reserves memory for `additional` items of a vector, which doubles where it grows again and again.
///
/// # Errors
/// `LimitExceeded` where the system has no memory.
pub fn reserve<T>(vector: &mut Vec<T>, additional: usize) -> Result<()> {
    let bytes = additional.saturating_mul(size_of::<T>());
    vector.try_reserve(additional).map_err(|_| no_memory(bytes))
}

/// Checks that so many bytes can be allocated.
///
/// # Errors
/// `LimitExceeded` where the system has no memory.
pub fn check(bytes: usize) -> Result<()> {
    let mut memory: Vec<u8> = Vec::new();
    reserve(&mut memory, bytes)?;
    // The compiler must not remove the allocation.
    black_box(memory.as_mut_ptr());
    Ok(())
}

/// The memory that the process has left for results of unknown number, which their consumer may keep. It is looked for now
/// and then: an allocation of Arrow that fails ends the process.
#[derive(Debug)]
pub struct Room(AtomicU64);

/// The memory that the process has left.
pub static ROOM: Room = Room::new();

impl Room {
    /// Memory that is looked for before the first result.
    const fn new() -> Self {
        Room(AtomicU64::new(STEP))
    }

    /// Checks that there is memory for the next result, of `bytes` bytes at most.
    ///
    /// # Errors
    /// `LimitExceeded` where the system has no memory.
    pub fn check(&self, bytes: usize) -> Result<()> {
        if self.0.load(Ordering::Relaxed) < STEP {
            return Ok(());
        }
        check(bytes.saturating_add(SPARE))?;
        self.0.store(0, Ordering::Relaxed);
        Ok(())
    }

    /// Notes the bytes of a result.
    pub fn fill(&self, bytes: u64) {
        self.0.fetch_add(bytes.min(STEP), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    /// More than any system has.
    const TOO_MUCH: usize = usize::MAX / 2;

    #[test]
    fn what_the_system_has_not_is_an_error() {
        let mut vector: Vec<u64> = Vec::new();
        reserve(&mut vector, 10).unwrap();
        assert!(vector.capacity() >= 10);
        for error in [reserve(&mut vector, TOO_MUCH).unwrap_err(), check(TOO_MUCH).unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        }
        check(1000).unwrap();
    }

    #[test]
    fn room_is_looked_for_after_some_bytes() {
        let room = Room::new();
        assert!(room.check(TOO_MUCH).is_err());
        room.check(10).unwrap();
        room.check(TOO_MUCH).unwrap();
        room.fill(STEP - 1);
        room.check(TOO_MUCH).unwrap();
        room.fill(1);
        assert!(room.check(TOO_MUCH).is_err());
    }
}
