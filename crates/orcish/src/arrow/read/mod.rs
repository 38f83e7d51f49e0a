//! Readers of columns: one file for each family of types.
//!
//! A reader is asked twice: [`plan`](ColumnReader::plan) says how many rows may be read so that no
//! array outgrows its offsets or the memory allowed, and [`read`](ColumnReader::read) reads them.

mod binary;
mod build;
mod decimal;
mod list;
mod primitive;
mod structs;
mod timestamp;
mod union;
mod validity;

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_buffer::NullBuffer;

pub(super) use build::{Context, build, build_root};
pub(super) use structs::StructReader;

use crate::error::{Error, Result};
use crate::options::Limits;
use crate::tail::FileTail;

/// Most bytes of one array of a batch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    bytes: usize,
}

impl Budget {
    /// A quarter of the memory allowed, and what 32-bit offsets reach.
    pub(super) fn new(limits: &Limits) -> Self {
        Budget { bytes: usize::try_from(limits.memory / 4).unwrap_or(usize::MAX).min(i32::MAX as usize) }
    }

    /// Most rows of `width` bytes each: at least one.
    fn rows(self, width: usize) -> usize {
        (self.bytes / width.max(1)).max(1)
    }

    /// Most rows that may be pending: what is kept for each is a number and a bit.
    fn pending(self) -> usize {
        self.rows(8)
    }

    /// The error of one value that needs more.
    fn exceeded(self, what: &str) -> Error {
        Error::limit(format!("{what} needs more than the {} bytes that an array may have here", self.bytes))
    }
}

/// Reads one column of a stripe, from its first row to its last.
pub(super) trait ColumnReader: Send {
    /// How many of the next `rows` rows that exist for the column can be read at once: at least one,
    /// unless none is asked for.
    fn plan(&mut self, rows: usize, budget: Budget) -> Result<usize>;

    /// Reads `slots` slots; those that `parent` has null do not exist for the column, and become null.
    fn read(&mut self, slots: usize, parent: Option<&NullBuffer>) -> Result<ArrayRef>;
}

/// A reader that puts the name of its column into errors.
pub(super) struct Column {
    pub(super) id: u32,
    tail: Arc<FileTail>,
    reader: Box<dyn ColumnReader>,
}

impl Column {
    fn named(&self, error: Error) -> Error {
        error.in_column(&self.tail.schema.path(self.id))
    }

    pub(super) fn plan(&mut self, rows: usize, budget: Budget) -> Result<usize> {
        self.reader.plan(rows, budget).map_err(|error| self.named(error))
    }

    pub(super) fn read(&mut self, slots: usize, parent: Option<&NullBuffer>) -> Result<ArrayRef> {
        self.reader.read(slots, parent).map_err(|error| self.named(error))
    }
}
