//! Options of writing a file.

use arrow_schema::SchemaRef;
use bytes::Bytes;
use orcish_core::names::ColumnName;
use orcish_core::options::{OptionKind, OptionType};
use orcish_core::{options, words};

use super::encryption::ColumnEncryption;
use crate::codec::Compression;

/// Default of [`WriteOptions::stripe_size`], in bytes.
pub const DEFAULT_STRIPE_SIZE: u64 = 64 << 20;
/// Default of [`WriteOptions::row_index_stride`], in rows.
pub const DEFAULT_ROW_INDEX_STRIDE: u32 = 10_000;
/// Default of [`WriteOptions::bloom_filter_fpp`].
pub const DEFAULT_BLOOM_FILTER_FPP: f64 = 0.01;
/// Default of [`WriteOptions::compression_block_size`] for tables of few columns, in bytes. It is the chunk size of ORC Java.
pub const DEFAULT_CHUNK_SIZE: usize = 256 << 10;
/// Default of [`WriteOptions::compression_block_size`] for tables of many columns, in bytes.
pub const MIN_DEFAULT_CHUNK_SIZE: usize = 64 << 10;

words! {
    /// Version of the ORC format.
    #[derive(Default)]
    pub enum Version {
        /// 0.11, with version 1 of integer run length encoding, for readers as old as Hive 0.11.
        V0_11 = "0.11",
        /// 0.12, with version 2 of integer run length encoding.
        #[default]
        V0_12 = "0.12",
    }
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

impl OptionType for DictionaryChoice {
    const KIND: OptionKind = OptionKind::Object;
}

options! {
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
    pub struct WriteOptions {
        /// Codec of the file.
        compression: Compression = Compression::Zstd => with_compression,
        /// Level of the codec: 1 to 12 for zlib (default 1), −7 to 22 for zstd (default 2), 0 to 11 for brotli (default 5).
        /// Other codecs have no levels.
        compression_level: Option<i32> => with_compression_level(into),
        /// Columns with another compression.
        column_compression: Vec<(ColumnName, ColumnCompression)>
            => with_column_compression(add ColumnName => ColumnCompression),
        /// Maximum uncompressed size of a chunk, in bytes. `None` is [`DEFAULT_CHUNK_SIZE`] for few columns, and down to
        /// [`MIN_DEFAULT_CHUNK_SIZE`] for many columns, because a reader has a chunk of each stream in memory.
        compression_block_size: Option<usize> => with_compression_block_size(into),
        /// Stored size at which a stripe ends, in bytes.
        stripe_size: u64 = DEFAULT_STRIPE_SIZE => with_stripe_size,
        /// Rows of a row group. 0 writes no row index.
        row_index_stride: u32 = DEFAULT_ROW_INDEX_STRIDE => with_row_index_stride,
        /// Columns with bloom filters.
        bloom_filter_columns: Vec<ColumnName> => with_bloom_filter_columns(each ColumnName),
        /// False positive probability of bloom filters, between 0 and 1.
        bloom_filter_fpp: f64 = DEFAULT_BLOOM_FILTER_FPP => with_bloom_filter_fpp,
        /// Encoding of string columns.
        dictionary: DictionaryChoice => with_dictionary,
        /// String columns with another encoding.
        column_dictionary: Vec<(ColumnName, DictionaryChoice)> => with_column_dictionary(add ColumnName => DictionaryChoice),
        /// User metadata of the file.
        metadata: Vec<(String, Bytes)> => with_metadata(add String => Bytes),
        /// Time zone of the writer: `timestamp` columns have wall clock times of this zone, and instants of fields with the
        /// metadata `orc.type: timestamp` are stored with it. Any id that [`WriterZone`] accepts.
        ///
        /// [`WriterZone`]: crate::time::WriterZone
        timezone: String = "UTC".to_owned() => with_timezone(into),
        /// Version of the ORC format.
        version: Version => with_version,
        /// Whether the user metadata have the Arrow schema, so that readers of orcish restore the Arrow types.
        arrow_schema: bool = true => with_arrow_schema,
        /// The Arrow schema in the user metadata, where it is not that of the batches. The types in the file have to be
        /// those of either schema.
        recorded_schema: Option<SchemaRef> => with_recorded_schema(into),
        /// Whether the file is verified before it appears: each stripe is read and compared with the rows that were
        /// written, its statistics, row index and bloom filters are checked, and the bytes of local files are read from
        /// disk. The rows of a stripe stay in memory. Writing takes about three times as long.
        verify: bool => with_verify,
        /// Number of threads that encode. 0 is the number of cores.
        threads: usize => with_threads,
        unlisted {
            /// Columns that are encrypted.
            encryption: Option<ColumnEncryption> => with_encryption(into),
        }
    }
}
