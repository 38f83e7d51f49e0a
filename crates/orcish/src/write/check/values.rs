//! Whether rows are the same.

use arrow_array::{Array, ArrayRef};

/// The first row that is another one; the number of rows of the shorter where one has more.
pub(in crate::write) fn differing_row(a: &ArrayRef, b: &ArrayRef) -> Option<usize> {
    if a.len() != b.len() {
        return Some(a.len().min(b.len()));
    }
    if same(a, b) {
        return None;
    }
    // By halves.
    let (mut start, mut length) = (0, a.len());
    while length > 1 {
        let half = length / 2;
        if same(&a.slice(start, half), &b.slice(start, half)) {
            (start, length) = (start + half, length - half);
        } else {
            length = half;
        }
    }
    Some(start)
}

fn same(a: &ArrayRef, b: &ArrayRef) -> bool {
    a.to_data() == b.to_data()
}
