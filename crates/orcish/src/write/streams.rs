//! Streams of each encoding on their way out: values gather, become runs at the end of a row group, then chunks.

use super::blocks::Blocks;
use super::compressors::{Choice, Compressors};
use super::options::Version;
use super::stream::OutStream;
use crate::codec::Framing;
use crate::encoding::encode::{byte_rle, int_rle_v1, int_rle_v2};
use crate::error::Result;
use crate::proto::orc::stream::Kind;

/// Values of a row group that are held before the runs among them which more values cannot change are written: only
/// below lists are there as many.
const MOST_HELD: usize = 1 << 16;

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

/// Integers in either version of run length encoding.
#[derive(Debug)]
pub(super) struct IntStream {
    out: OutStream,
    version: Version,
    signed: bool,
    /// Values that are in no run yet.
    held: Vec<i64>,
}

impl IntStream {
    pub(super) fn new(layout: Layout, signed: bool) -> Self {
        IntStream { out: layout.stream(), version: layout.version, signed, held: Vec::new() }
    }

    /// Where values are appended.
    pub(super) fn held(&mut self) -> &mut Vec<i64> {
        &mut self.held
    }

    /// Writes what is settled, where much is held.
    pub(super) fn relieve(&mut self, compressors: &mut Compressors) -> Result<()> {
        if self.held.len() < MOST_HELD {
            return Ok(());
        }
        let raw = self.out.raw();
        let settled = match self.version {
            Version::V0_11 => int_rle_v1::encode_settled(&self.held, self.signed, raw),
            Version::V0_12 => int_rle_v2::encode_settled(&self.held, self.signed, raw),
        };
        self.held.drain(..settled);
        self.out.settle(compressors)
    }

    /// Ends the last run: the next value begins another.
    pub(super) fn end_run(&mut self, compressors: &mut Compressors) -> Result<()> {
        let raw = self.out.raw();
        match self.version {
            Version::V0_11 => int_rle_v1::encode(&self.held, self.signed, raw),
            Version::V0_12 => int_rle_v2::encode(&self.held, self.signed, raw),
        }
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

/// Bytes in run length encoding.
#[derive(Debug)]
pub(super) struct ByteStream {
    out: OutStream,
    held: Vec<u8>,
}

impl ByteStream {
    pub(super) fn new(layout: Layout) -> Self {
        ByteStream { out: layout.stream(), held: Vec::new() }
    }

    pub(super) fn held(&mut self) -> &mut Vec<u8> {
        &mut self.held
    }

    pub(super) fn relieve(&mut self, compressors: &mut Compressors) -> Result<()> {
        if self.held.len() < MOST_HELD {
            return Ok(());
        }
        let settled = byte_rle::encode_settled(&self.held, self.out.raw());
        self.held.drain(..settled);
        self.out.settle(compressors)
    }

    pub(super) fn end_run(&mut self, compressors: &mut Compressors) -> Result<()> {
        byte_rle::encode(&self.held, self.out.raw());
        self.held.clear();
        self.out.settle(compressors)
    }

    pub(super) fn position(&self, positions: &mut Vec<u64>) {
        self.out.position(positions);
        positions.push(0);
    }

    pub(super) fn size(&self) -> usize {
        self.out.size() + self.held.len()
    }

    pub(super) fn take(&mut self, compressors: &mut Compressors) -> Result<Blocks> {
        self.end_run(compressors)?;
        self.out.take(compressors)
    }
}
