//! Hashes of values, and kinds of streams of bloom filters.

/// The kinds of streams of bloom filters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BloomKind {
    /// `BLOOM_FILTER`, of Hive. ORC Java may write both kinds.
    Original,
    /// `BLOOM_FILTER_UTF8`, since ORC-101.
    Utf8,
}

/// The 64-bit hash of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ValueHash(pub(super) u64);
