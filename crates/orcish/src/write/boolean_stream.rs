//! Present streams and boolean data (ORCv1, Boolean Run Length Encoding).
//!
//! The bits of a stripe stay in memory until its end, because a present stream is written only if the stripe has a
//! null.

use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use orcish_core::error::Result;

use super::blocks::Blocks;
use super::compressors::Compressors;
use super::stream_options::StreamOptions;
use crate::encoding::encode::byte_rle;

/// The bits of a stripe.
#[derive(Debug)]
pub(super) struct BooleanStream {
    bits: BooleanBufferBuilder,
    /// Number of bits before each row group.
    row_group_starts: Vec<usize>,
}

impl BooleanStream {
    pub(super) fn new() -> Self {
        BooleanStream { bits: BooleanBufferBuilder::new(0), row_group_starts: Vec::new() }
    }

    pub(super) fn begin_row_group(&mut self) {
        self.row_group_starts.push(self.bits.len());
    }

    pub(super) fn append(&mut self, bits: &BooleanBuffer) {
        self.bits.append_buffer(bits);
    }

    pub(super) fn append_n(&mut self, count: usize, bit: bool) {
        self.bits.append_n(count, bit);
    }

    /// Bytes of the bits before run length encoding.
    pub(super) fn size(&self) -> usize {
        self.bits.len() / 8
    }

    /// Removes all bits and row groups.
    pub(super) fn clear(&mut self) {
        self.bits.truncate(0);
        self.row_group_starts.clear();
    }

    /// The stored bytes of the stream, and its position at the start of each row group. The stream is empty afterwards.
    ///
    /// Byte runs end with row groups. A byte with bits of two row groups belongs to the run of the second.
    pub(super) fn finish(
        &mut self,
        options: StreamOptions,
        compressors: &mut Compressors,
    ) -> Result<(Blocks, Vec<Vec<u64>>)> {
        let bytes: Vec<u8> = self.bits.as_slice().iter().map(|byte| byte.reverse_bits()).collect();
        let mut out = options.new_stream();
        let mut positions = Vec::with_capacity(self.row_group_starts.len());
        let mut encoded = 0;
        for start in &self.row_group_starts {
            let first_byte = start / 8;
            byte_rle::encode(bytes.get(encoded..first_byte).unwrap_or_default(), out.buffer());
            out.compress_full_chunks(compressors)?;
            encoded = first_byte;
            let mut position = Vec::with_capacity(4);
            out.record_position(&mut position);
            // Bytes to skip in the run, and bits to skip in the byte.
            position.extend([0, (start % 8) as u64]);
            positions.push(position);
        }
        byte_rle::encode(bytes.get(encoded..).unwrap_or_default(), out.buffer());
        self.clear();
        Ok((out.finish(compressors)?, positions))
    }
}
