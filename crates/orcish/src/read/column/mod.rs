//! Readers of columns: one file for each family of types.
//!
//! Reading has two steps: [`rows_that_fit`](ColumnReader::rows_that_fit) returns how many rows can be read within the memory
//! limit and the range of offsets, and [`read`](ColumnReader::read) reads these rows.

mod binary;
mod build;
mod decimal;
mod dictionary;
mod list;
mod primitive;
mod streams;
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
use crate::tail::FileTail;
use crate::tuning;
use crate::warnings::with_column;

/// Maximum bytes of an array of a batch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget<'a> {
    bytes: usize,
    /// Maximum bytes of all arrays that are decoded together, unless a single row needs more.
    group: usize,
    /// Maximum bytes of an array if a single row needs more.
    max_bytes: usize,
    /// Bytes that are left for all arrays together.
    remaining_bytes: Option<&'a AtomicUsize>,
}

impl<'a> Budget<'a> {
    /// An equal part of the bytes of a batch for each of `arrays`, a quarter of the memory limit for a single row, and at
    /// most the range of 32-bit offsets. `groups` groups of arrays are decoded apart.
    pub(super) fn new(limits: &Limits, arrays: usize, groups: usize) -> Self {
        let memory = usize::try_from(limits.memory).unwrap_or(usize::MAX);
        let max_bytes = (memory / 4).min(i32::MAX as usize);
        let of_batch = (memory / 2).min(tuning::BATCH_BYTES.get());
        let of_array = max_bytes.min(tuning::ARRAY_BYTES.get());
        let bytes = (of_batch / arrays.max(1)).min(of_array);
        Budget { bytes, group: of_batch / groups.max(1), max_bytes, remaining_bytes: None }
    }

    /// Whether all arrays together may have more than an array alone.
    pub(super) fn is_shared(self) -> bool {
        self.bytes < self.group.min(tuning::ARRAY_BYTES.get())
    }

    /// The budget of rows whose arrays together have the bytes of the group.
    pub(super) fn together(self, remaining_bytes: &'a AtomicUsize) -> Self {
        remaining_bytes.store(self.group, Ordering::Relaxed);
        // More than that is for single rows.
        let bytes = self.group.min(self.max_bytes.saturating_sub(1)).min(tuning::ARRAY_BYTES.get());
        Budget { bytes, remaining_bytes: Some(remaining_bytes), ..self }
    }

    /// Maximum bytes of what is decoded together, unless a single row needs more.
    pub(super) fn group(self) -> usize {
        self.group
    }

    /// Maximum bytes of a single value, and of a dictionary, which no batch has alone.
    pub(super) fn of_one_value(self) -> Self {
        Budget { bytes: self.max_bytes, remaining_bytes: None, ..self }
    }

    /// The budget of a single row: for each of its arrays, and for all arrays together.
    pub(super) fn of_one_row(self, remaining_bytes: &'a AtomicUsize) -> Self {
        remaining_bytes.store(self.max_bytes.saturating_mul(2), Ordering::Relaxed);
        Budget { bytes: self.max_bytes, remaining_bytes: Some(remaining_bytes), ..self }
    }

    /// Maximum bytes of an array with this budget.
    fn bytes(self) -> usize {
        self.remaining_bytes
            .map_or(self.bytes, |remaining_bytes| remaining_bytes.load(Ordering::Relaxed).min(self.bytes))
    }

    /// Maximum number of rows of `width` bytes each: at least one.
    fn rows(self, width: usize) -> usize {
        (self.bytes() / width.max(1)).max(1)
    }

    /// The number of `rows` rows of `width` bytes each that an array can have: at least one. Their bytes are charged.
    fn take_rows(self, rows: usize, width: usize) -> usize {
        let rows = rows.min(self.rows(width));
        self.take(rows.saturating_mul(width));
        rows
    }

    /// Charges the bytes of an array.
    fn take(self, bytes: usize) {
        if let Some(remaining_bytes) = self.remaining_bytes {
            remaining_bytes.store(remaining_bytes.load(Ordering::Relaxed).saturating_sub(bytes), Ordering::Relaxed);
        }
    }

    /// Whether a single row may exceed this budget.
    fn is_part(self) -> bool {
        self.bytes < self.max_bytes
    }

    /// The error of a value that exceeds the budget.
    fn exceeded(self, what: &str) -> Error {
        let text = format!("{what} needs more than the {} bytes that an array may have here", self.bytes());
        // Offsets of 32 bits are no limit that can be raised.
        if self.max_bytes < i32::MAX as usize { Error::over("memory", text) } else { Error::limit(text) }
    }
}

/// Bytes of a pending row: a number and a validity bit.
const PENDING: usize = 8;
/// Assumed bytes of a row without data, such as an empty struct: about the size of an object made of it.
const WEIGHTLESS: usize = 64;

/// Reads one column of a stripe, from its first row to its last.
pub(super) trait ColumnReader: Send {
    /// Minimum bytes of memory of a row; 0 for rows without data.
    fn width(&self) -> usize;

    /// Minimum bytes of memory of a row in all arrays.
    fn full_width(&self) -> usize {
        self.width()
    }

    /// The number of the next `rows` rows of the column that can be read at once; 0 if the first row exceeds a budget that is
    /// only a part of the budget of a single row.
    fn rows_that_fit(&mut self, rows: usize, budget: Budget) -> Result<usize>;

    /// Reads `slots` slots. The column has no row for slots that are null in `parent`; these become null.
    fn read(&mut self, slots: usize, parent: Option<&NullBuffer>) -> Result<ArrayRef>;

    /// Skips the next `rows` rows of the column, planned or not.
    fn skip(&mut self, rows: usize) -> Result<()>;

    /// Seeks to the first row of a row group, which has `positions` in the streams of the column itself.
    fn seek(&mut self, positions: &[u64], to: &GroupStart<'_>) -> Result<()>;
}

/// A reader that adds the name of its column to errors.
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

    pub(super) fn full_width(&self) -> usize {
        self.reader.full_width()
    }

    pub(super) fn rows_that_fit(&mut self, rows: usize, budget: Budget) -> Result<usize> {
        with_column(self.id, || self.reader.rows_that_fit(rows, budget)).map_err(|error| self.named(error))
    }

    pub(super) fn read(&mut self, slots: usize, parent: Option<&NullBuffer>) -> Result<ArrayRef> {
        with_column(self.id, || self.reader.read(slots, parent)).map_err(|error| self.named(error))
    }

    pub(super) fn skip(&mut self, rows: usize) -> Result<()> {
        with_column(self.id, || self.reader.skip(rows)).map_err(|error| self.named(error))
    }

    pub(super) fn seek(&mut self, to: &GroupStart<'_>) -> Result<()> {
        with_column(self.id, || self.reader.seek(to.positions(self.id), to)).map_err(|error| self.named(error))
    }
}
