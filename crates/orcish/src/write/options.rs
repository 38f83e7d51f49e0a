//! What a caller may choose of a file that is written: plain data, every default a documented constant.

use bytes::Bytes;

use crate::codec::Compression;

/// Default of [`WriteOptions::stripe_size`], in bytes.
pub const DEFAULT_STRIPE_SIZE: u64 = 64 << 20;
/// Default of [`WriteOptions::row_index_stride`], in rows.
pub const DEFAULT_ROW_INDEX_STRIDE: u32 = 10_000;
/// Default of [`WriteOptions::bloom_filter_fpp`].
pub const DEFAULT_BLOOM_FILTER_FPP: f64 = 0.01;
/// Largest of the chunks that are chosen where [`WriteOptions::chunk_size`] is none, in bytes: as large as Java's.
pub const DEFAULT_CHUNK_SIZE: usize = 256 << 10;
/// Least of them, for tables of many columns.
pub const MIN_CHUNK_SIZE: usize = 64 << 10;

/// Version of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Version {
    /// 0.11: version 1 of run length encoding, for readers as old as Hive 0.11.
    V0_11,
    /// 0.12, what all write.
    #[default]
    V0_12,
}

/// How strings are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DictionaryChoice {
    /// Stripe by stripe, whichever is expected to be smaller.
    #[default]
    Auto,
    /// As references to a dictionary.
    Always,
    /// As they are.
    Never,
}

/// How the chunks of one column are compressed, where it is otherwise than those of the file. The codec is the file's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnCompression {
    /// Stored as they are: for what does not become smaller.
    None,
    /// At this level of the codec.
    Level(i32),
}

/// How to write a file. Columns are named by their dotted names, as for reading; a name stands for all below it too.
#[derive(Debug, Clone, PartialEq)]
pub struct WriteOptions {
    /// Codec of the file.
    pub compression: Compression,
    /// Level of the codec: 1 to 12 of zlib, −7 to 22 of zstd, 0 to 11 of brotli; the others have none. `None` takes
    /// 1, 2 and 5.
    pub compression_level: Option<i32>,
    /// Columns whose chunks are compressed otherwise.
    pub column_compression: Vec<(String, ColumnCompression)>,
    /// Most bytes of a compression chunk. `None` takes [`DEFAULT_CHUNK_SIZE`], or less where there are so many columns
    /// that a reader, which holds a chunk of each stream, would need much memory for them.
    pub chunk_size: Option<usize>,
    /// Bytes of a stripe: it ends as soon as its streams, as stored, have as many.
    pub stripe_size: u64,
    /// Rows of a row group; 0 writes no row index.
    pub row_index_stride: u32,
    /// Columns with bloom filters.
    pub bloom_filter_columns: Vec<String>,
    /// What part of the values that are not in a row group its bloom filter may take for such that are: above 0, below 1.
    pub bloom_filter_fpp: f64,
    /// How strings are stored.
    pub dictionary: DictionaryChoice,
    /// Columns whose strings are stored otherwise.
    pub column_dictionary: Vec<(String, DictionaryChoice)>,
    /// Keys and values for the user metadata of the file.
    pub metadata: Vec<(String, Bytes)>,
    /// Time zone whose wall clock timestamps without zone are stored in, and with which the instants of fields are stored
    /// whose metadata say `orc.type: timestamp`; any id that [`WriterZone`] knows.
    ///
    /// [`WriterZone`]: crate::time::WriterZone
    pub timezone: String,
    /// Version of the format.
    pub version: Version,
    /// Whether to store the Arrow schema in the user metadata, so that what is read has the types that were written.
    pub arrow_schema: bool,
    /// Whether to read what was written and compare it with what was given, before the file appears: the values of
    /// each stripe, its statistics, row index and bloom filters, and, of local files, the bytes on disk. Rows of a stripe
    /// are kept in memory for that. It takes some three times as long.
    pub verify: bool,
    /// Threads that encode; 0 takes as many as the machine has cores.
    pub threads: usize,
}

impl Default for WriteOptions {
    fn default() -> Self {
        WriteOptions {
            compression: Compression::Zstd,
            compression_level: None,
            column_compression: Vec::new(),
            chunk_size: None,
            stripe_size: DEFAULT_STRIPE_SIZE,
            row_index_stride: DEFAULT_ROW_INDEX_STRIDE,
            bloom_filter_columns: Vec::new(),
            bloom_filter_fpp: DEFAULT_BLOOM_FILTER_FPP,
            dictionary: DictionaryChoice::default(),
            column_dictionary: Vec::new(),
            metadata: Vec::new(),
            timezone: "UTC".to_owned(),
            version: Version::default(),
            arrow_schema: true,
            verify: false,
            threads: 0,
        }
    }
}
