//! Decoded rows of some columns, which wait to become batches.

use std::collections::VecDeque;

use arrow_array::{Array as _, ArrayRef};
use orcish_core::error::{OrInternal as _, Result};
use orcish_core::parallel::Reservation;

const NO_ROWS: &str = "rows are taken that a column group has not decoded";

/// Arrays of the columns of a column group, of the same rows.
pub(super) struct DecodedRows {
    pub(super) arrays: Vec<ArrayRef>,
    pub(super) rows: usize,
    /// Bytes of the arrays.
    pub(super) bytes: u64,
    /// Number of rows of the stripe that need no further work. In a stripe that is filtered they are counted at its end.
    pub(super) passed: u64,
}

/// Rows that a column group has decoded and the caller has not taken.
#[derive(Default)]
pub(super) struct DecodedQueue {
    queue: VecDeque<(DecodedRows, Reservation)>,
    /// Number of rows of the first entry that are taken.
    taken: usize,
}

impl DecodedQueue {
    pub(super) fn push(&mut self, rows: DecodedRows, reservation: Reservation) {
        self.queue.push_back((rows, reservation));
    }

    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Number of rows that are left of the first entry.
    pub(super) fn front_rows(&self) -> Option<usize> {
        self.queue.front().map(|(decoded, _)| decoded.rows - self.taken)
    }

    /// Takes `rows` rows of the first entry. Also returns the number of bytes that the queue does not hold any more.
    ///
    /// # Errors
    /// `Internal` where the queue is empty.
    pub(super) fn take(&mut self, rows: usize) -> Result<(Vec<ArrayRef>, u64)> {
        let (decoded, _) = self.queue.front().or_internal(NO_ROWS)?;
        let is_whole = self.taken == 0 && rows == decoded.rows;
        let slice = |array: &ArrayRef| if is_whole { array.clone() } else { array.slice(self.taken, rows) };
        let arrays = decoded.arrays.iter().map(slice).collect();
        self.taken += rows;
        if self.taken < decoded.rows {
            return Ok((arrays, 0));
        }
        self.taken = 0;
        let (decoded, _) = self.queue.pop_front().or_internal(NO_ROWS)?;
        Ok((arrays, decoded.bytes))
    }
}
