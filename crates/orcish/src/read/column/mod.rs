//! Readers of columns: one file for each family of types.
//!
//! A reader is asked twice: [`plan`](ColumnReader::plan) says how many rows may be read so that no
//! array outgrows its offsets or the memory allowed, and [`read`](ColumnReader::read) reads them.

mod binary;
mod build;
mod decimal;
mod dictionary;
mod list;
mod primitive;
mod strings;
mod structs;
mod text;
mod timestamp;
mod union;
mod validity;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::ArrayRef;
use arrow_buffer::NullBuffer;

pub(super) use build::{Context, build, build_root};
pub(super) use structs::StructReader;

use orcish_core::error::{Error, Result};
use orcish_core::limits::Limits;

use crate::index::GroupStart;
use crate::source::Positions;
use crate::tail::FileTail;
use crate::tuning;
use crate::warnings::with_column;

/// Bytes that one array of a batch should have at most.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget<'a> {
    bytes: usize,
    /// Bytes that it may have where a single row needs more.
    most: usize,
    /// What is left for all arrays of that row together.
    left: Option<&'a AtomicUsize>,
}

impl<'a> Budget<'a> {
    /// An equal part, for each of `arrays`, of half of the memory allowed; for a single row a quarter of
    /// it; and no more than 32-bit offsets reach.
    pub(super) fn new(limits: &Limits, arrays: usize) -> Self {
        let memory = usize::try_from(limits.memory).unwrap_or(usize::MAX);
        let most = (memory / 4).min(i32::MAX as usize);
        let bytes = (memory / 2 / arrays.max(1)).min(most).min(tuning::ARRAY_BYTES.get());
        Budget { bytes, most, left: None }
    }

    /// What a single value may take.
    pub(super) fn of_one_value(self) -> Self {
        Budget { bytes: self.most, ..self }
    }

    /// What a single row may take: each of its arrays, and all of them together, which is what is `left`.
    pub(super) fn of_one_row(self, left: &'a AtomicUsize) -> Self {
        left.store(self.most.saturating_mul(2), Ordering::Relaxed);
        Budget { bytes: self.most, left: Some(left), ..self }
    }

    /// Bytes that one array may have now.
    fn bytes(self) -> usize {
        self.left.map_or(self.bytes, |left| left.load(Ordering::Relaxed).min(self.bytes))
    }

    /// Most rows of `width` bytes each: at least one.
    fn rows(self, width: usize) -> usize {
        (self.bytes() / width.max(1)).max(1)
    }

    /// How many of `rows` rows of `width` bytes each an array may have: at least one. They are taken off what is left.
    fn take_rows(self, rows: usize, width: usize) -> usize {
        let rows = rows.min(self.rows(width));
        self.take(rows.saturating_mul(width));
        rows
    }

    /// Takes the bytes of an array off what is left for all.
    fn take(self, bytes: usize) {
        if let Some(left) = self.left {
            left.store(left.load(Ordering::Relaxed).saturating_sub(bytes), Ordering::Relaxed);
        }
    }

    /// Whether a single row may take more.
    fn is_part(self) -> bool {
        self.bytes < self.most
    }

    /// The error of one value that needs more.
    fn exceeded(self, what: &str) -> Error {
        Error::limit(format!("{what} needs more than the {} bytes that an array may have here", self.bytes()))
    }
}

/// Bytes of a row that is pending: what is kept for each is a number and a bit.
const PENDING: usize = 8;
/// What a row is taken for of which nothing is kept, such as an empty struct: objects that are made of it take as much.
const WEIGHTLESS: usize = 64;

/// Reads one column of a stripe, from its first row to its last.
pub(super) trait ColumnReader: Send {
    /// Bytes of memory that a row takes at least; none where nothing is kept for it.
    fn width(&self) -> usize;

    /// How many of the next `rows` rows that exist for the column can be read at once; none where the
    /// first does not fit into a budget that is only a part of what a single row may take.
    fn plan(&mut self, rows: usize, budget: Budget) -> Result<usize>;

    /// Reads `slots` slots; those that `parent` has null do not exist for the column, and become null.
    fn read(&mut self, slots: usize, parent: Option<&NullBuffer>) -> Result<ArrayRef>;

    /// Passes over the next `rows` rows that exist for the column, whether they have been planned or not.
    fn skip(&mut self, rows: usize) -> Result<()>;

    /// Goes to the first row of a row group; the column's own streams are at `own`.
    fn seek(&mut self, own: &mut Positions<'_>, to: &GroupStart<'_>) -> Result<()>;
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

    fn width(&self) -> usize {
        self.reader.width()
    }

    pub(super) fn plan(&mut self, rows: usize, budget: Budget) -> Result<usize> {
        with_column(self.id, || self.reader.plan(rows, budget)).map_err(|error| self.named(error))
    }

    pub(super) fn read(&mut self, slots: usize, parent: Option<&NullBuffer>) -> Result<ArrayRef> {
        with_column(self.id, || self.reader.read(slots, parent)).map_err(|error| self.named(error))
    }

    pub(super) fn skip(&mut self, rows: usize) -> Result<()> {
        with_column(self.id, || self.reader.skip(rows)).map_err(|error| self.named(error))
    }

    pub(super) fn seek(&mut self, to: &GroupStart<'_>) -> Result<()> {
        with_column(self.id, || self.reader.seek(&mut to.positions(self.id), to)).map_err(|error| self.named(error))
    }
}
