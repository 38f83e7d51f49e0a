//! Buffers that grow block by block without being copied. The blocks of a written stripe are used again for the next
//! one: the system clears new memory, which takes as long as filling it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::tuning;

/// Bytes in a list of blocks.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    blocks: Vec<Vec<u8>>,
    length: usize,
}

/// Empty blocks that can be used again, by all threads of a writer: what one thread writes in a stripe, another one may write in
/// the next. All of them have the capacity `tuning::BLOCK_BYTES`.
#[derive(Debug, Clone, Default)]
pub(crate) struct FreeBlocks(Arc<Mutex<Vec<Vec<u8>>>>);

impl FreeBlocks {
    /// An empty block with room for `capacity` bytes.
    fn take(&self, capacity: usize) -> Vec<u8> {
        let free = if capacity == tuning::BLOCK_BYTES.get() { self.lock().pop() } else { None };
        free.unwrap_or_else(|| Vec::with_capacity(capacity))
    }

    /// Takes blocks whose bytes are no longer needed. Blocks of other capacities are freed.
    pub(crate) fn put(&self, blocks: Blocks) {
        for mut block in blocks.blocks {
            if block.capacity() == tuning::BLOCK_BYTES.get() {
                block.clear();
                self.lock().push(block);
            }
        }
    }

    /// Frees all blocks.
    pub(super) fn release(&self) {
        *self.lock() = Vec::new();
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Blocks {
    /// Number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    pub(crate) fn append(&mut self, mut bytes: &[u8], free: &FreeBlocks) {
        while !bytes.is_empty() {
            match self.blocks.last_mut().filter(|block| block.len() < block.capacity()) {
                Some(block) => {
                    let (head, tail) = bytes.split_at(bytes.len().min(block.capacity() - block.len()));
                    block.extend_from_slice(head);
                    self.length += head.len();
                    bytes = tail;
                }
                None => {
                    // Blocks double, from the smallest to the largest size.
                    let capacity = self.length.max(bytes.len()).next_power_of_two();
                    let min = tuning::MIN_BLOCK_BYTES.get();
                    self.blocks.push(free.take(capacity.max(min).min(tuning::BLOCK_BYTES.get())));
                }
            }
        }
    }

    /// The bytes of each block.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.blocks.iter().map(Vec::as_slice)
    }

    /// The bytes of each block, to be changed in place, with the position of the first one.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (u64, &mut [u8])> {
        self.blocks.iter_mut().scan(0u64, |at, block| {
            let start = *at;
            *at += block.len() as u64;
            Some((start, block.as_mut_slice()))
        })
    }

    /// All bytes in one vector.
    pub(crate) fn concat(&self) -> Vec<u8> {
        self.blocks.concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_keep_their_order_and_blocks_are_reused() {
        let free = FreeBlocks::default();
        let all: Vec<u8> = (0..1_000_000u32).map(|i| (i % 251) as u8).collect();
        for step in [1_000, 77_777, 1_000_000] {
            let mut blocks = Blocks::default();
            all.chunks(step).for_each(|bytes| blocks.append(bytes, &free));
            assert_eq!(blocks.len(), all.len());
            assert_eq!(blocks.concat(), all);
            assert!(blocks.iter().all(|block| !block.is_empty() && block.len() <= tuning::BLOCK_BYTES.get()));
            free.put(blocks);
            let free = free.lock();
            let is_empty = |block: &Vec<u8>| block.is_empty() && block.capacity() == tuning::BLOCK_BYTES.get();
            assert!(free.len() >= 3 && free.iter().all(is_empty));
        }
        let mut small = Blocks::default();
        small.append(b"few", &free);
        assert_eq!(small.blocks.first().unwrap().capacity(), tuning::MIN_BLOCK_BYTES.get());
    }
}
