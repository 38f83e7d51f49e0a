//! Present streams and boolean data (ORCv1, Boolean Run Length Encoding).
//!
//! The bits of a stripe stay in memory until its end, because a present stream is written only if the stripe has a
//! null.

use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use orcish_core::error::{OrInternal as _, Result};

use super::compressors::Compressors;
use super::out_stream::FinishedStream;
use super::stream_options::StreamOptions;
use crate::encoding::encode::byte_rle;
use crate::layout::Coding;

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

    /// The complete stream. This stream is empty afterwards.
    ///
    /// Byte runs end with row groups. A byte with bits of two row groups belongs to the run of the second.
    pub(super) fn finish(&mut self, options: StreamOptions, compressors: &mut Compressors) -> Result<FinishedStream> {
        let bytes: Vec<u8> = self.bits.as_slice().iter().map(|byte| byte.reverse_bits()).collect();
        let mut out = options.new_stream(Coding::Booleans);
        let mut rest = &bytes[..];
        for start in &self.row_group_starts {
            let length = start / 8 - (bytes.len() - rest.len());
            let before = rest.split_off(..length).or_internal("a row group begins behind the bits of its stripe")?;
            byte_rle::encode(before, out.buffer());
            out.compress_full_chunks(compressors)?;
            // Bytes to skip in the run, and bits to skip in the byte.
            out.begin_row_group(&[0, (start % 8) as u64]);
        }
        byte_rle::encode(rest, out.buffer());
        self.clear();
        out.finish(compressors)
    }
}
