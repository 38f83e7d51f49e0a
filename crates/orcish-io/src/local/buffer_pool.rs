//! Reuse of read buffers. The system has to zero the memory of a new buffer, unless the process has used the memory before.

use std::cmp::Reverse;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use orcish_core::process::OwnerProcess;

use super::positional::{append_exact_at, read_exact_at};
use crate::tuning;

/// The buffers of a process that are free for reuse.
#[derive(Debug)]
pub(super) struct BufferPool {
    owner: OwnerProcess,
    /// Sorted by decreasing size.
    free: Mutex<Vec<Vec<u8>>>,
}

/// A buffer that returns to its pool when it is dropped.
pub(super) struct PooledBuffer {
    /// Empty until it is filled, if it is new.
    buffer: Vec<u8>,
    /// The length of the used prefix of `buffer`.
    length: usize,
    pool: Weak<BufferPool>,
}

impl Default for BufferPool {
    fn default() -> Self {
        BufferPool { owner: OwnerProcess::current(), free: Mutex::default() }
    }
}

impl BufferPool {
    /// Takes the smallest sufficient buffer out of the pool, or allocates one.
    fn acquire(self: &Arc<Self>, length: usize) -> PooledBuffer {
        let mut free = self.lock();
        let fit = free.iter().rposition(|buffer| buffer.len() >= length);
        let buffer = fit.map(|index| free.swap_remove(index)).unwrap_or_else(|| Vec::with_capacity(length));
        PooledBuffer { buffer, length, pool: Arc::downgrade(self) }
    }

    /// A buffer with `length` bytes of a file, from byte `offset` on.
    ///
    /// # Errors
    /// Those of the system, and `UnexpectedEof` where the file ends before.
    #[expect(clippy::disallowed_types, reason = "the caller has opened the file")]
    pub(super) fn read(
        self: &Arc<Self>,
        file: &std::fs::File,
        offset: u64,
        length: usize,
    ) -> std::io::Result<PooledBuffer> {
        let mut pooled = self.acquire(length);
        match pooled.buffer.get_mut(..length) {
            Some(used) => read_exact_at(file, used, offset)?,
            None => append_exact_at(file, &mut pooled.buffer, offset, length)?,
        }
        Ok(pooled)
    }

    /// Returns a buffer to the pool. The smallest buffers are freed if the pool is full. A child of a fork frees buffers of
    /// its parent.
    fn release(&self, buffer: Vec<u8>) {
        if !self.owner.is_current() {
            return;
        }
        let mut free = self.lock();
        free.push(buffer);
        free.sort_unstable_by_key(|buffer| Reverse(buffer.len()));
        free.truncate(tuning::MAX_POOLED_BUFFERS.get());
    }

    /// The total size of the free buffers in bytes.
    #[cfg(test)]
    pub(super) fn size(&self) -> usize {
        self.lock().iter().map(Vec::len).sum()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsRef<[u8]> for PooledBuffer {
    fn as_ref(&self) -> &[u8] {
        self.buffer.split_at(self.length).0
    }
}

impl Drop for PooledBuffer {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        if buffer.len() <= tuning::MAX_POOLED_BUFFER_SIZE.get()
            && let Some(pool) = self.pool.upgrade()
        {
            pool.release(buffer);
        }
    }
}
