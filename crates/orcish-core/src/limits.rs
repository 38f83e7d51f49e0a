//! Limits of the resources that a reader uses for a file.

/// Default of [`Limits::tail`], in bytes: a footer of half a million columns.
pub const DEFAULT_MAX_TAIL: u64 = 256 << 20;
/// Default of [`Limits::chunk`], in bytes. The format limits compressed chunks to 2²³ bytes.
pub const DEFAULT_MAX_CHUNK: usize = 64 << 20;
/// Default of [`Limits::depth`].
pub const DEFAULT_MAX_DEPTH: usize = 128;
/// Default of [`Limits::columns`].
pub const DEFAULT_MAX_COLUMNS: usize = 1 << 20;
/// Default of [`Limits::stripes`].
pub const DEFAULT_MAX_STRIPES: usize = 1 << 20;
/// Default of [`Limits::memory`], in bytes.
pub const DEFAULT_MAX_MEMORY: u64 = 4 << 30;

crate::options! {
    /// Limits of the resources that a reader uses for a file. They are checked before memory is allocated.
    ///
    /// ```
    /// use orcish_core::Limits;
    ///
    /// let limits = Limits::default().with_memory(64 << 20);
    /// assert_eq!(limits.memory, 64 << 20);
    /// ```
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Limits {
        /// Maximum bytes of the file footer, of a stripe footer, and of the stripe statistics, each in stored,
        /// decompressed and decoded form. It is also the maximum for the dotted names of all columns, and for their types.
        tail: u64 = DEFAULT_MAX_TAIL => with_tail,
        /// Maximum decompressed bytes of a compression chunk.
        chunk: usize = DEFAULT_MAX_CHUNK => with_chunk,
        /// Maximum nesting of types. The depth of the root is 1.
        depth: usize = DEFAULT_MAX_DEPTH => with_depth,
        /// Maximum number of columns, including nested columns and the root.
        columns: usize = DEFAULT_MAX_COLUMNS => with_columns,
        /// Maximum number of stripes.
        stripes: usize = DEFAULT_MAX_STRIPES => with_stripes,
        /// Maximum bytes of a reader for each of: stored stripes; decompressed chunks, dictionaries and indexes; decoded
        /// batches that are not returned yet. The sum is at most about two and a half times the limit. Returned batches do
        /// not count. It is also the maximum for the explanation of a read.
        memory: u64 = DEFAULT_MAX_MEMORY => with_memory,
        /// Maximum bytes of a result that a caller collects from all batches of a read, such as a table of Python. Readers,
        /// which return batch after batch, have no such limit.
        result: u64 = u64::MAX => with_result,
    }
}

impl Limits {
    /// Limits for files that this process writes, which have any size.
    pub const UNLIMITED: Self = Limits {
        tail: u64::MAX,
        chunk: DEFAULT_MAX_CHUNK,
        depth: DEFAULT_MAX_DEPTH,
        columns: usize::MAX,
        stripes: usize::MAX,
        memory: u64::MAX,
        result: u64::MAX,
    };
}
