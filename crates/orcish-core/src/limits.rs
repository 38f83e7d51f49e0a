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

/// Limits of the resources that a reader uses for a file. They are checked before memory is allocated.
///
/// ```
/// use orcish_core::Limits;
///
/// let limits = Limits::default().with_memory(64 << 20);
/// assert_eq!(limits.memory, 64 << 20);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum bytes of the file footer, of a stripe footer, and of the stripe statistics, each in stored, decompressed and
    /// decoded form. It is also the maximum for the dotted names of all columns, and for their types.
    pub tail: u64,
    /// Maximum decompressed bytes of a compression chunk.
    pub chunk: usize,
    /// Maximum nesting of types. The depth of the root is 1.
    pub depth: usize,
    /// Maximum number of columns, including nested columns and the root.
    pub columns: usize,
    /// Maximum number of stripes.
    pub stripes: usize,
    /// Maximum bytes of a reader for each of: stored stripes; decompressed chunks, dictionaries and indexes; decoded batches
    /// that are not returned yet. The sum is at most about two and a half times the limit. Returned batches do not count. It
    /// is also the maximum for the explanation of a read.
    pub memory: u64,
    /// Maximum bytes of a result that a caller collects from all batches of a read, such as a table of Python. Readers,
    /// which return batch after batch, have no such limit.
    pub result: u64,
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

    /// Sets [`tail`](Self::tail).
    #[must_use]
    pub const fn with_tail(mut self, bytes: u64) -> Self {
        self.tail = bytes;
        self
    }

    /// Sets [`chunk`](Self::chunk).
    #[must_use]
    pub const fn with_chunk(mut self, bytes: usize) -> Self {
        self.chunk = bytes;
        self
    }

    /// Sets [`depth`](Self::depth).
    #[must_use]
    pub const fn with_depth(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }

    /// Sets [`columns`](Self::columns).
    #[must_use]
    pub const fn with_columns(mut self, count: usize) -> Self {
        self.columns = count;
        self
    }

    /// Sets [`stripes`](Self::stripes).
    #[must_use]
    pub const fn with_stripes(mut self, count: usize) -> Self {
        self.stripes = count;
        self
    }

    /// Sets [`memory`](Self::memory).
    #[must_use]
    pub const fn with_memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Sets [`result`](Self::result).
    #[must_use]
    pub const fn with_result(mut self, bytes: u64) -> Self {
        self.result = bytes;
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            tail: DEFAULT_MAX_TAIL,
            chunk: DEFAULT_MAX_CHUNK,
            depth: DEFAULT_MAX_DEPTH,
            columns: DEFAULT_MAX_COLUMNS,
            stripes: DEFAULT_MAX_STRIPES,
            memory: DEFAULT_MAX_MEMORY,
            result: u64::MAX,
        }
    }
}
