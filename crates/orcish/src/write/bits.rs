//! Streams of bits: present streams and booleans (ORCv1, Boolean Run Length Encoding).
//!
//! Bits are few, so those of a stripe are kept until its end: only then is it known whether there is a null at all, and
//! so whether there is a present stream.

use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use orcish_core::error::Result;

use super::blocks::Blocks;
use super::compressors::Compressors;
use super::streams::Layout;
use crate::encoding::encode::byte_rle;

/// The bits of a stripe.
#[derive(Debug)]
pub(super) struct Bits {
    bits: BooleanBufferBuilder,
    /// How many there were when each row group began.
    starts: Vec<usize>,
}

impl Bits {
    pub(super) fn new() -> Self {
        Bits { bits: BooleanBufferBuilder::new(0), starts: Vec::new() }
    }

    pub(super) fn begin_group(&mut self) {
        self.starts.push(self.bits.len());
    }

    pub(super) fn append(&mut self, bits: &BooleanBuffer) {
        self.bits.append_buffer(bits);
    }

    pub(super) fn append_n(&mut self, count: usize, bit: bool) {
        self.bits.append_n(count, bit);
    }

    pub(super) fn size(&self) -> usize {
        self.bits.len() / 8
    }

    /// No bits, and no row groups.
    pub(super) fn clear(&mut self) {
        self.bits.truncate(0);
        self.starts.clear();
    }

    /// All of them as a stream, and its positions at the start of each row group; it is empty then.
    ///
    /// Runs of bytes end where row groups do. A byte that has bits of two belongs to the second.
    pub(super) fn take(&mut self, layout: Layout, compressors: &mut Compressors) -> Result<(Blocks, Vec<Vec<u64>>)> {
        let bytes: Vec<u8> = self.bits.as_slice().iter().map(|byte| byte.reverse_bits()).collect();
        let mut out = layout.stream();
        let mut positions = Vec::with_capacity(self.starts.len());
        let mut done = 0;
        for start in &self.starts {
            let whole = start / 8;
            byte_rle::encode(bytes.get(done..whole).unwrap_or_default(), out.raw());
            out.settle(compressors)?;
            done = whole;
            let mut position = Vec::with_capacity(4);
            out.position(&mut position);
            position.extend([0, (start % 8) as u64]);
            positions.push(position);
        }
        byte_rle::encode(bytes.get(done..).unwrap_or_default(), out.raw());
        self.clear();
        Ok((out.take(compressors)?, positions))
    }
}
