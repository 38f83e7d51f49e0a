//! Bounds on the resources that a file can make a reader use.

/// Default of [`Limits::tail`], in bytes: a footer of half a million columns.
pub const DEFAULT_MAX_TAIL: u64 = 256 << 20;
/// Default of [`Limits::chunk`], in bytes; the format's own bound is 2²³ for compressed chunks.
pub const DEFAULT_MAX_CHUNK: usize = 64 << 20;
/// Default of [`Limits::depth`].
pub const DEFAULT_MAX_DEPTH: usize = 128;
/// Default of [`Limits::columns`].
pub const DEFAULT_MAX_COLUMNS: usize = 1 << 20;
/// Default of [`Limits::stripes`].
pub const DEFAULT_MAX_STRIPES: usize = 1 << 20;
/// Default of [`Limits::memory`], in bytes.
pub const DEFAULT_MAX_MEMORY: u64 = 4 << 30;

/// Bounds on what a file may make a reader do; checked before anything is allocated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of a footer, of the file or of a stripe, and of the stripe statistics: as stored, decompressed, and in
    /// memory once they are decoded. The dotted names of all columns may take as many, and their types.
    pub tail: u64,
    /// Most bytes that one compression chunk may hold when decompressed.
    pub chunk: usize,
    /// Deepest nesting of types; the root counts 1.
    pub depth: usize,
    /// Most columns of the type tree, nested ones and the root included.
    pub columns: usize,
    /// Most stripes.
    pub stripes: usize,
    /// Most bytes of each of three things that one reader holds at a time: stripes as stored; decompressed chunks,
    /// dictionaries and indexes; decoded batches that have not been handed out yet. All three together take about two and
    /// a half times as much at most. Batches that were handed out are not counted. An explanation of a read may take as many.
    pub memory: u64,
}

impl Limits {
    /// Of files that this process is writing: as large as they are made.
    pub const OF_OURSELVES: Self = Limits {
        tail: u64::MAX,
        chunk: DEFAULT_MAX_CHUNK,
        depth: DEFAULT_MAX_DEPTH,
        columns: usize::MAX,
        stripes: usize::MAX,
        memory: u64::MAX,
    };
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
        }
    }
}
