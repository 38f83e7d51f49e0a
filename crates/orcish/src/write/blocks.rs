//! Bytes in blocks: they grow without being copied, and blocks are used again for the next stripe. Memory that comes new
//! from the system is cleared first, which takes as long as filling it.

use crate::tuning;

/// Bytes one behind the other.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    blocks: Vec<Vec<u8>>,
    length: usize,
}

/// Blocks that nobody uses.
#[derive(Debug, Default)]
pub(crate) struct Spare(Vec<Vec<u8>>);

impl Spare {
    /// A block with room for `length` bytes, if that is that of all of them.
    fn take(&mut self, length: usize) -> Vec<u8> {
        let spare = if length == tuning::BLOCK_BYTES.get() { self.0.pop() } else { None };
        spare.unwrap_or_else(|| Vec::with_capacity(length))
    }

    /// Has the blocks of what is done used again.
    pub(crate) fn put(&mut self, blocks: Blocks) {
        for mut block in blocks.blocks {
            if block.capacity() == tuning::BLOCK_BYTES.get() {
                block.clear();
                self.0.push(block);
            }
        }
    }
}

impl Blocks {
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Appends bytes.
    pub(crate) fn append(&mut self, mut bytes: &[u8], spare: &mut Spare) {
        while !bytes.is_empty() {
            match self.blocks.last_mut().filter(|block| block.len() < block.capacity()) {
                Some(block) => {
                    let (now, later) = bytes.split_at(bytes.len().min(block.capacity() - block.len()));
                    block.extend_from_slice(now);
                    self.length += now.len();
                    bytes = later;
                }
                None => {
                    let wanted = self.length.max(bytes.len()).next_power_of_two();
                    let least = tuning::MIN_BLOCK_BYTES.get();
                    self.blocks.push(spare.take(wanted.max(least).min(tuning::BLOCK_BYTES.get())));
                }
            }
        }
    }

    /// The bytes, part by part.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &[u8]> {
        self.blocks.iter().map(Vec::as_slice)
    }

    /// The bytes as a whole.
    #[cfg(test)]
    pub(crate) fn concat(&self) -> Vec<u8> {
        self.blocks.concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_stay_in_order_and_blocks_are_used_again() {
        let mut spare = Spare::default();
        let all: Vec<u8> = (0..1_000_000u32).map(|i| (i % 251) as u8).collect();
        for step in [1_000, 77_777, 1_000_000] {
            let mut blocks = Blocks::default();
            all.chunks(step).for_each(|part| blocks.append(part, &mut spare));
            assert_eq!(blocks.len(), all.len());
            assert_eq!(blocks.concat(), all);
            assert!(blocks.parts().all(|part| !part.is_empty() && part.len() <= tuning::BLOCK_BYTES.get()));
            spare.put(blocks);
            assert!(
                spare.0.len() >= 3
                    && spare.0.iter().all(|block| block.is_empty() && block.capacity() == tuning::BLOCK_BYTES.get())
            );
        }
        let mut small = Blocks::default();
        small.append(b"few", &mut spare);
        assert_eq!(small.blocks.first().unwrap().capacity(), tuning::MIN_BLOCK_BYTES.get());
    }
}
