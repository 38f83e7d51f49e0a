//! Streams of each encoding on their way out: values gather, become runs at the end of a row group, then chunks.

use orcish_core::error::Result;

use super::blocks::Blocks;
use super::compressors::{Choice, Compressors};
use super::options::Version;
use super::stream::OutStream;
use crate::codec::Framing;
use crate::encoding::encode::{byte_rle, int_rle_v1, int_rle_v2};
use crate::proto::orc::stream::Kind;
use crate::tuning;

/// How the streams of a column are cut, compressed and encoded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) framing: Framing,
    pub(super) choice: Choice,
    pub(super) version: Version,
}

impl Layout {
    /// A stream of bytes.
    pub(super) fn stream(self) -> OutStream {
        OutStream::new(self.framing, self.choice)
    }

    /// A stream of the bytes of text.
    pub(super) fn text_stream(self) -> OutStream {
        OutStream::new(self.framing, self.choice.of_text())
    }

    /// A section of the file, such as an index or a footer, as it is stored.
    pub(super) fn section(self, message: &[u8], compressors: &mut Compressors) -> Result<Blocks> {
        let mut out = self.stream();
        out.raw().extend_from_slice(message);
        out.take(compressors)
    }
}

/// A stream that is done.
pub(super) struct Finished {
    pub(super) column: u32,
    pub(super) kind: Kind,
    pub(super) bytes: Blocks,
}

/// A run length encoding.
pub(super) trait Runs {
    type Value;

    /// Appends all of `values`.
    fn encode(&self, values: &[Self::Value], out: &mut Vec<u8>);

    /// Appends the runs that more values could not change; gives how many values they hold.
    fn encode_settled(&self, values: &[Self::Value], out: &mut Vec<u8>) -> usize;
}

/// That of integers, in either version.
#[derive(Debug)]
pub(super) struct IntRuns {
    version: Version,
    signed: bool,
}

impl Runs for IntRuns {
    type Value = i64;

    fn encode(&self, values: &[i64], out: &mut Vec<u8>) {
        match self.version {
            Version::V0_11 => int_rle_v1::encode(values, self.signed, out),
            Version::V0_12 => int_rle_v2::encode(values, self.signed, out),
        }
    }

    fn encode_settled(&self, values: &[i64], out: &mut Vec<u8>) -> usize {
        match self.version {
            Version::V0_11 => int_rle_v1::encode_settled(values, self.signed, out),
            Version::V0_12 => int_rle_v2::encode_settled(values, self.signed, out),
        }
    }
}

/// That of bytes.
#[derive(Debug)]
pub(super) struct ByteRuns;

impl Runs for ByteRuns {
    type Value = u8;

    fn encode(&self, values: &[u8], out: &mut Vec<u8>) {
        byte_rle::encode(values, out);
    }

    fn encode_settled(&self, values: &[u8], out: &mut Vec<u8>) -> usize {
        byte_rle::encode_settled(values, out)
    }
}

/// Values in runs.
#[derive(Debug)]
pub(super) struct RunStream<R: Runs> {
    out: OutStream,
    runs: R,
    /// Values that are in no run yet.
    held: Vec<R::Value>,
    /// How many of them are enough to be encoded.
    most_held: usize,
}

pub(super) type IntStream = RunStream<IntRuns>;
pub(super) type ByteStream = RunStream<ByteRuns>;

impl IntStream {
    pub(super) fn of_integers(layout: Layout, signed: bool) -> Self {
        Self::new(layout, IntRuns { version: layout.version, signed })
    }
}

impl ByteStream {
    pub(super) fn of_bytes(layout: Layout) -> Self {
        Self::new(layout, ByteRuns)
    }
}

impl<R: Runs> RunStream<R> {
    fn new(layout: Layout, runs: R) -> Self {
        RunStream { out: layout.stream(), runs, held: Vec::new(), most_held: tuning::VALUES_HELD.get() }
    }

    /// Where values are appended.
    pub(super) fn held(&mut self) -> &mut Vec<R::Value> {
        &mut self.held
    }

    /// Writes what is settled, where much is held.
    pub(super) fn relieve(&mut self, compressors: &mut Compressors) -> Result<()> {
        if self.held.len() < self.most_held {
            return Ok(());
        }
        let settled = self.runs.encode_settled(&self.held, self.out.raw());
        self.held.drain(..settled);
        self.out.settle(compressors)
    }

    /// Ends the last run: the next value begins another.
    pub(super) fn end_run(&mut self, compressors: &mut Compressors) -> Result<()> {
        self.runs.encode(&self.held, self.out.raw());
        self.held.clear();
        self.out.settle(compressors)
    }

    /// Where the next value goes, at the start of a run.
    pub(super) fn position(&self, positions: &mut Vec<u64>) {
        self.out.position(positions);
        positions.push(0);
    }

    pub(super) fn size(&self) -> usize {
        // What is held will take a part of this only.
        self.out.size() + self.held.len()
    }

    pub(super) fn take(&mut self, compressors: &mut Compressors) -> Result<Blocks> {
        self.end_run(compressors)?;
        self.out.take(compressors)
    }
}
