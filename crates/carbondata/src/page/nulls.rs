//! Null buffers.

use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};

/// The surrogate key of null.
pub(crate) const NULL_KEY: u32 = 1;

/// The null buffer of a bitmap of `java.util.BitSet`, in which a set bit is a null and trailing zero bytes are left
/// out.
pub(crate) fn nulls(bits: &[u8], rows: usize) -> Option<NullBuffer> {
    if bits.iter().all(|&byte| byte == 0) {
        return None;
    }
    let mut valid: Vec<u8> = bits.iter().take(rows.div_ceil(8)).map(|&byte| !byte).collect();
    valid.resize(rows.div_ceil(8), u8::MAX);
    let nulls = NullBuffer::new(BooleanBuffer::new(Buffer::from_vec(valid), 0, rows));
    (nulls.null_count() > 0).then_some(nulls)
}

/// Nulls in the rows for which `is_null` is true.
pub(crate) fn nulls_where(rows: usize, is_null: impl Fn(usize) -> bool) -> Option<NullBuffer> {
    let nulls = NullBuffer::new(BooleanBuffer::collect_bool(rows, |row| !is_null(row)));
    (nulls.null_count() > 0).then_some(nulls)
}

/// Nulls in the rows whose key is `null`.
pub(super) fn nulls_of(keys: &[u32], null: u32) -> Option<NullBuffer> {
    // Most pages have no nulls. The search is faster than building a bitmap.
    keys.contains(&null).then(|| nulls_where(keys.len(), |row| keys.get(row) == Some(&null))).flatten()
}
