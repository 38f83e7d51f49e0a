//! Options of writing a file.

use arrow_schema::SchemaRef;
use bytes::Bytes;

use crate::codec::Compression;

/// Default of [`WriteOptions::stripe_size`], in bytes.
pub const DEFAULT_STRIPE_SIZE: u64 = 64 << 20;
/// Default of [`WriteOptions::row_index_stride`], in rows.
pub const DEFAULT_ROW_INDEX_STRIDE: u32 = 10_000;
/// Default of [`WriteOptions::bloom_filter_fpp`].
pub const DEFAULT_BLOOM_FILTER_FPP: f64 = 0.01;
/// Default of [`WriteOptions::chunk_size`] for tables of few columns, in bytes. It is the chunk size of ORC Java.
pub const DEFAULT_CHUNK_SIZE: usize = 256 << 10;
/// Default of [`WriteOptions::chunk_size`] for tables of many columns, in bytes.
pub const MIN_DEFAULT_CHUNK_SIZE: usize = 64 << 10;

/// Version of the ORC format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Version {
    /// 0.11, with version 1 of integer run length encoding, for readers as old as Hive 0.11.
    V0_11,
    /// 0.12, with version 2 of integer run length encoding.
    #[default]
    V0_12,
}

/// Whether string columns have dictionary encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum DictionaryChoice {
    /// The encoding with the smaller expected size, for each stripe.
    #[default]
    Auto,
    /// Dictionary encoding.
    Always,
    /// Direct encoding.
    Never,
}

/// Compression of a column that differs from the compression of the file. The codec is the codec of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnCompression {
    /// Chunks are stored uncompressed. Useful for incompressible data.
    None,
    /// Compression at this level.
    Level(i32),
}

/// Options of writing a file. Column names are dotted names, as for reading. An option of a nested column applies to
/// all columns below it.
///
/// ```
/// use orcish::{Compression, WriteOptions};
///
/// let options = WriteOptions::default().with_compression(Compression::Zlib).with_bloom_filter_columns(["id"]);
/// assert_eq!(options.bloom_filter_columns, ["id"]);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct WriteOptions {
    /// Codec of the file.
    pub compression: Compression,
    /// Level of the codec: 1 to 12 for zlib (default 1), −7 to 22 for zstd (default 2), 0 to 11 for brotli (default 5).
    /// Other codecs have no levels.
    pub compression_level: Option<i32>,
    /// Columns with another compression.
    pub column_compression: Vec<(String, ColumnCompression)>,
    /// Maximum uncompressed size of a chunk, in bytes. `None` is [`DEFAULT_CHUNK_SIZE`] for few columns, and down to
    /// [`MIN_DEFAULT_CHUNK_SIZE`] for many columns, because a reader has a chunk of each stream in memory.
    pub chunk_size: Option<usize>,
    /// Stored size at which a stripe ends, in bytes.
    pub stripe_size: u64,
    /// Rows of a row group. 0 writes no row index.
    pub row_index_stride: u32,
    /// Columns with bloom filters.
    pub bloom_filter_columns: Vec<String>,
    /// False positive probability of bloom filters, between 0 and 1.
    pub bloom_filter_fpp: f64,
    /// Encoding of string columns.
    pub dictionary: DictionaryChoice,
    /// String columns with another encoding.
    pub column_dictionary: Vec<(String, DictionaryChoice)>,
    /// User metadata of the file.
    pub metadata: Vec<(String, Bytes)>,
    /// Time zone of the writer: `timestamp` columns have wall clock times of this zone, and instants of fields with the
    /// metadata `orc.type: timestamp` are stored with it. Any id that [`WriterZone`] accepts.
    ///
    /// [`WriterZone`]: crate::time::WriterZone
    pub timezone: String,
    /// Version of the ORC format.
    pub version: Version,
    /// Whether the user metadata have the Arrow schema, so that readers of orcish restore the Arrow types.
    pub arrow_schema: bool,
    /// The Arrow schema in the user metadata, where it is not that of the batches. The types in the file have to be
    /// those of either schema.
    pub recorded_schema: Option<SchemaRef>,
    /// Whether the file is verified before it appears: each stripe is read and compared with the rows that were
    /// written, its statistics, row index and bloom filters are checked, and the bytes of local files are read from
    /// disk. The rows of a stripe stay in memory. Writing takes about three times as long.
    pub verify: bool,
    /// Number of threads that encode. 0 is the number of cores.
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
            recorded_schema: None,
            verify: false,
            threads: 0,
        }
    }
}

/// Fields are assigned by name, or set in a chain of methods.
impl WriteOptions {
    /// Sets [`compression`](Self::compression).
    #[must_use]
    pub fn with_compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// Sets [`compression_level`](Self::compression_level).
    #[must_use]
    pub fn with_compression_level(mut self, compression_level: impl Into<Option<i32>>) -> Self {
        self.compression_level = compression_level.into();
        self
    }

    /// Adds the compression of a column to [`column_compression`](Self::column_compression).
    #[must_use]
    pub fn with_column_compression(mut self, column: impl Into<String>, compression: ColumnCompression) -> Self {
        self.column_compression.push((column.into(), compression));
        self
    }

    /// Sets [`chunk_size`](Self::chunk_size).
    #[must_use]
    pub fn with_chunk_size(mut self, chunk_size: impl Into<Option<usize>>) -> Self {
        self.chunk_size = chunk_size.into();
        self
    }

    /// Sets [`stripe_size`](Self::stripe_size).
    #[must_use]
    pub fn with_stripe_size(mut self, stripe_size: u64) -> Self {
        self.stripe_size = stripe_size;
        self
    }

    /// Sets [`row_index_stride`](Self::row_index_stride).
    #[must_use]
    pub fn with_row_index_stride(mut self, row_index_stride: u32) -> Self {
        self.row_index_stride = row_index_stride;
        self
    }

    /// Sets [`bloom_filter_columns`](Self::bloom_filter_columns).
    #[must_use]
    pub fn with_bloom_filter_columns(mut self, columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.bloom_filter_columns = columns.into_iter().map(Into::into).collect();
        self
    }

    /// Sets [`bloom_filter_fpp`](Self::bloom_filter_fpp).
    #[must_use]
    pub fn with_bloom_filter_fpp(mut self, bloom_filter_fpp: f64) -> Self {
        self.bloom_filter_fpp = bloom_filter_fpp;
        self
    }

    /// Sets [`dictionary`](Self::dictionary).
    #[must_use]
    pub fn with_dictionary(mut self, dictionary: DictionaryChoice) -> Self {
        self.dictionary = dictionary;
        self
    }

    /// Adds the encoding of a column to [`column_dictionary`](Self::column_dictionary).
    #[must_use]
    pub fn with_column_dictionary(mut self, column: impl Into<String>, choice: DictionaryChoice) -> Self {
        self.column_dictionary.push((column.into(), choice));
        self
    }

    /// Adds a pair to [`metadata`](Self::metadata).
    #[must_use]
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<Bytes>) -> Self {
        self.metadata.push((key.into(), value.into()));
        self
    }

    /// Sets [`timezone`](Self::timezone).
    #[must_use]
    pub fn with_timezone(mut self, timezone: impl Into<String>) -> Self {
        self.timezone = timezone.into();
        self
    }

    /// Sets [`version`](Self::version).
    #[must_use]
    pub fn with_version(mut self, version: Version) -> Self {
        self.version = version;
        self
    }

    /// Sets [`arrow_schema`](Self::arrow_schema).
    #[must_use]
    pub fn with_arrow_schema(mut self, arrow_schema: bool) -> Self {
        self.arrow_schema = arrow_schema;
        self
    }

    /// Sets [`recorded_schema`](Self::recorded_schema).
    #[must_use]
    pub fn with_recorded_schema(mut self, recorded_schema: impl Into<Option<SchemaRef>>) -> Self {
        self.recorded_schema = recorded_schema.into();
        self
    }

    /// Sets [`verify`](Self::verify).
    #[must_use]
    pub fn with_verify(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// Sets [`threads`](Self::threads).
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }
}
