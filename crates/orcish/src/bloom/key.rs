//! The keys that bloom filters are asked for.

/// The two kinds of streams that hold bloom filters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BloomKind {
    /// `BLOOM_FILTER`, of Hive; ORC Java may write it beside the other.
    Original,
    /// `BLOOM_FILTER_UTF8`, since ORC-101.
    Utf8,
}

/// What a value is looked up by: its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key(pub(super) u64);
