//! Decoded rows of some columns, on their way to batches.

use std::collections::VecDeque;

use arrow_array::{Array as _, ArrayRef};

/// Arrays of the columns of a group, of the same rows.
pub(super) struct Part {
    pub(super) arrays: Vec<ArrayRef>,
    pub(super) rows: usize,
    pub(super) bytes: u64,
    /// Rows of the stripe that are done with it.
    pub(super) passed: u64,
}

/// Parts that a group has decoded and nobody has taken.
#[derive(Default)]
pub(super) struct Ready {
    parts: VecDeque<Part>,
    /// Rows of the first part that are taken.
    taken: usize,
}

impl Ready {
    pub(super) fn push(&mut self, part: Part) {
        self.parts.push_back(part);
    }

    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Rows that are left of the first part.
    pub(super) fn front_rows(&self) -> Option<usize> {
        self.parts.front().map(|part| part.rows - self.taken)
    }

    /// Takes `rows` rows of the first part; also says how many bytes are no longer held here.
    pub(super) fn take(&mut self, rows: usize) -> (Vec<ArrayRef>, u64) {
        let Some(part) = self.parts.front() else { return (Vec::new(), 0) };
        let all = self.taken == 0 && rows == part.rows;
        let slice = |array: &ArrayRef| if all { array.clone() } else { array.slice(self.taken, rows) };
        let arrays = part.arrays.iter().map(slice).collect();
        let (end, bytes) = (self.taken + rows >= part.rows, part.bytes);
        self.taken = if end { 0 } else { self.taken + rows };
        if end {
            self.parts.pop_front();
        }
        (arrays, if end { bytes } else { 0 })
    }
}
