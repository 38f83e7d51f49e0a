//! Run length encoded streams: values are buffered, encoded as runs at the end of a row group, and compressed.

use orcish_core::error::Result;

use super::compressors::Compressors;
use super::options::Version;
use super::out_stream::{FinishedStream, OutStream};
use super::stream_options::StreamOptions;
use crate::encoding::encode::{byte_rle, int_rle_v1, int_rle_v2};
use crate::layout::Coding;
use crate::tuning;

/// A run length encoding.
pub(super) trait RunLengthEncoding {
    type Value;

    /// The coding of the stream.
    fn coding(&self) -> Coding;

    /// Appends the runs of all `values`.
    fn encode(&self, values: &[Self::Value], out: &mut Vec<u8>);

    /// Appends the runs that further values cannot change. Returns the number of values in these runs.
    fn encode_complete_runs(&self, values: &[Self::Value], out: &mut Vec<u8>) -> usize;
}

/// Integer run length encoding (ORCv1, Integer Run Length Encoding), version 1 in files of version 0.11 and version 2
/// in later ones.
#[derive(Debug)]
pub(super) struct IntegerRle {
    version: Version,
    signed: bool,
}

impl RunLengthEncoding for IntegerRle {
    type Value = i64;

    fn coding(&self) -> Coding {
        Coding::Integers { signed: self.signed, version: None }
    }

    fn encode(&self, values: &[i64], out: &mut Vec<u8>) {
        match self.version {
            Version::V0_11 => int_rle_v1::encode(values, self.signed, out),
            Version::V0_12 => int_rle_v2::encode(values, self.signed, out),
        }
    }

    fn encode_complete_runs(&self, values: &[i64], out: &mut Vec<u8>) -> usize {
        match self.version {
            Version::V0_11 => int_rle_v1::encode_complete_runs(values, self.signed, out),
            Version::V0_12 => int_rle_v2::encode_complete_runs(values, self.signed, out),
        }
    }
}

/// Byte run length encoding (ORCv1, Byte Run Length Encoding).
#[derive(Debug)]
pub(super) struct ByteRle;

impl RunLengthEncoding for ByteRle {
    type Value = u8;

    fn coding(&self) -> Coding {
        Coding::ByteRuns
    }

    fn encode(&self, values: &[u8], out: &mut Vec<u8>) {
        byte_rle::encode(values, out);
    }

    fn encode_complete_runs(&self, values: &[u8], out: &mut Vec<u8>) -> usize {
        byte_rle::encode_complete_runs(values, out)
    }
}

/// A run length encoded stream.
#[derive(Debug)]
pub(super) struct RleStream<R: RunLengthEncoding> {
    out: OutStream,
    encoding: R,
    /// Values that are not encoded yet.
    buffer: Vec<R::Value>,
    /// Number of buffered values from which on complete runs are encoded.
    max_buffered: usize,
}

pub(super) type IntegerStream = RleStream<IntegerRle>;
pub(super) type ByteStream = RleStream<ByteRle>;

impl IntegerStream {
    pub(super) fn signed(options: StreamOptions) -> Self {
        Self::new(options, IntegerRle { version: options.version, signed: true })
    }

    pub(super) fn unsigned(options: StreamOptions) -> Self {
        Self::new(options, IntegerRle { version: options.version, signed: false })
    }
}

impl ByteStream {
    pub(super) fn bytes(options: StreamOptions) -> Self {
        Self::new(options, ByteRle)
    }
}

impl<R: RunLengthEncoding> RleStream<R> {
    fn new(options: StreamOptions, encoding: R) -> Self {
        let max_buffered = tuning::VALUES_BUFFERED.get();
        RleStream { out: options.new_stream(encoding.coding()), encoding, buffer: Vec::new(), max_buffered }
    }

    /// Values that are not encoded yet. Column writers append to them.
    pub(super) fn buffer(&mut self) -> &mut Vec<R::Value> {
        &mut self.buffer
    }

    /// Encodes the complete runs once many values are buffered.
    pub(super) fn encode_if_large(&mut self, compressors: &mut Compressors) -> Result<()> {
        if self.buffer.len() < self.max_buffered {
            return Ok(());
        }
        let encoded = self.encoding.encode_complete_runs(&self.buffer, self.out.buffer());
        self.buffer.drain(..encoded);
        self.out.compress_full_chunks(compressors)
    }

    /// Encodes all values. The next value begins a new run.
    pub(super) fn end_run(&mut self, compressors: &mut Compressors) -> Result<()> {
        self.encoding.encode(&self.buffer, self.out.buffer());
        self.buffer.clear();
        self.out.compress_full_chunks(compressors)
    }

    /// Begins a row group with the next value, which begins a run.
    pub(super) fn begin_row_group(&mut self) {
        // Values to skip in the run.
        self.out.begin_row_group(&[0]);
    }

    /// Bytes of the stream so far. A buffered value is estimated as one byte.
    pub(super) fn size(&self) -> usize {
        self.out.size() + self.buffer.len()
    }

    /// Bytes of memory of the stream so far.
    pub(super) fn memory_size(&self) -> usize {
        self.out.size() + size_of_val(self.buffer.as_slice())
    }

    /// The complete stream. This stream is empty afterwards.
    pub(super) fn finish(&mut self, compressors: &mut Compressors) -> Result<FinishedStream> {
        self.end_run(compressors)?;
        self.buffer = Vec::new();
        self.out.finish(compressors)
    }
}
