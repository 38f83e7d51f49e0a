//! Null buffers of pages.

use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};

/// The key of null in dictionaries.
pub(crate) const NULL_KEY: u32 = 1;

/// Which of `rows` are null, of bits that `java.util.BitSet` has written: those of nulls, the last ones left out.
pub(crate) fn nulls(bits: &[u8], rows: usize) -> Option<NullBuffer> {
    if bits.iter().all(|&byte| byte == 0) {
        return None;
    }
    let mut valid: Vec<u8> = bits.iter().take(rows.div_ceil(8)).map(|&byte| !byte).collect();
    valid.resize(rows.div_ceil(8), u8::MAX);
    let nulls = NullBuffer::new(BooleanBuffer::new(Buffer::from_vec(valid), 0, rows));
    (nulls.null_count() > 0).then_some(nulls)
}

/// Nulls where `is_null`.
pub(crate) fn nulls_where(rows: usize, is_null: impl Fn(usize) -> bool) -> Option<NullBuffer> {
    let nulls = NullBuffer::new(BooleanBuffer::collect_bool(rows, |row| !is_null(row)));
    (nulls.null_count() > 0).then_some(nulls)
}

/// Nulls where keys are `null`.
pub(super) fn nulls_of(keys: &[u32], null: u32) -> Option<NullBuffer> {
    // Most pages have none, which is seen faster than bits are made.
    keys.contains(&null).then(|| nulls_where(keys.len(), |row| keys.get(row) == Some(&null))).flatten()
}
