//! Reader and writer of Apache ORC for Apache Arrow.
//!
//! | | |
//! |---|---|
//! | [`OrcReaderBuilder`] | a file as a `RecordBatchReader`, with the names of the crate `parquet` |
//! | [`OrcFile`] | a file: metadata, readers, statistics, explanations, checks |
//! | [`Scan`] | many files as one table, with partition columns |
//! | `stream` | files of an `ObjectStore` as streams, with the feature `async` |
//! | [`OrcWriter`] | a file in any [`Write`](std::io::Write) |
//! | [`table`] | which rows may be added to a table, and with which types |
//! | [`FileWriter`], [`DatasetWriter`] | a file, or a folder of files; each file appears when it is complete |
//!
//! ```
//! use std::sync::Arc;
//!
//! use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchReader as _, StringArray};
//! use orcish::{OrcReaderBuilder, OrcWriter, WriteOptions};
//!
//! let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
//! let names: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
//! let batch = RecordBatch::try_from_iter([("id", ids), ("name", names)])?;
//! let mut writer = OrcWriter::try_new(Vec::new(), batch.schema(), &WriteOptions::default())?;
//! writer.write(&batch)?;
//! let bytes = writer.into_inner()?;
//!
//! let builder = OrcReaderBuilder::try_new(bytes)?;
//! assert_eq!(builder.metadata().rows, 3);
//! let reader = builder.with_projection(["name"]).with_filter("id > 1".parse()?).build()?;
//! assert_eq!(reader.schema().fields().len(), 1);
//! for read in reader {
//!     assert_eq!(read?.column(0).as_ref(), &StringArray::from(vec!["b", "c"]));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! - `brotli`, `lz4`, `snap`, `zlib`, `zstd`: the codecs. All are on by default. LZO is read without a feature.
//! - `chrono-tz`, on by default: time zones other than UTC and fixed offsets.
//! - `object-store`: files of S3, Google Cloud Storage, Azure and HTTP servers, by their URLs, see [`io::open`].
//! - `async`: streams of files in an `ObjectStore`.
//!
//! A file that needs a feature which is off is an [`Error`] of kind [`Unsupported`](ErrorKind::Unsupported) with its name.
//!
//! # The format
//!
//! ```text
//! ┌──────────┬──────────┬──────────┬────────────────────────────────────────┐
//! │ "ORC"    │ stripe 0 │ stripe … │ file tail                              │
//! └──────────┴────┬─────┴──────────┴──────────────────┬─────────────────────┘
//!                 │                                   │
//!   ┌─────────────┴───────────┬──────────┐   ┌────────┴──────────┬────────┬────────────┬───┐
//!   │ index     data          │ stripe   │   │ stripe statistics │ footer │ postscript │ n │
//!   │ streams   streams       │ footer   │   └───────────────────┴────────┴────────────┴───┘
//!   └───────────┬─────────────┴──────────┘     n: length of the postscript, one byte
//!               │
//!     PRESENT, DATA, LENGTH, DICTIONARY_DATA, SECONDARY of each column: a sequence of
//!     compression chunks, which hold run length encoded values
//! ```
//!
//! A file is read from its end: [`tail`] decodes the postscript and the footer, which has the positions of the stripes and
//! the types of the columns ([`schema`]). [`OrcFile::read`] then opens stripe after stripe, reads the streams of the
//! projected columns, decompresses them chunk by chunk, and decodes runs into Arrow arrays.
//!
//! Reading any bytes returns rows or an [`Error`] with the place in the file. [`Limits`] bound the resources.

mod assertions;
#[cfg_attr(not(feature = "internals"), allow(unreachable_pub))]
mod codec;
pub mod dataset;
pub mod encryption;
// Benchmarks and fuzz targets use more of `encoding` and `source` than the crate.
#[cfg_attr(not(feature = "internals"), allow(unreachable_pub, dead_code, unused_imports))]
mod encoding;
mod index;
mod layout;
mod memory;
pub mod options;
pub mod partition;
mod predicate;
mod projection;
mod proto;
pub mod read;
pub mod scan;
pub mod schema;
#[cfg_attr(not(feature = "internals"), allow(unreachable_pub, dead_code, unused_imports))]
mod source;
pub mod statistics;
#[cfg(feature = "async")]
pub mod stream;
mod stripe;
pub mod table;
pub mod tail;
pub mod time;
#[doc(hidden)]
pub mod tuning;
mod warnings;
pub mod write;
mod writer;

mod bloom;

#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;

/// Decoders and encoders for benchmarks and fuzz targets. No part of the API.
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals {
    pub mod codec {
        pub use crate::codec::*;
    }
    pub mod encoding {
        pub use crate::encoding::*;
    }
    pub mod source {
        pub use crate::source::*;
    }
    pub use crate::stripe::data_streams;
}

pub use codec::Compression;
pub use dataset::{DatasetOptions, DatasetWriter};
pub use options::{Columns, ReadOptions};
pub use orcish_core::names::ColumnName;
pub use orcish_core::{ArrowReader, Comparison, Error, ErrorKind, Limits, Literal, Predicate, Result};
pub use orcish_io as io;
pub use read::{BatchReader, OrcFile, OrcReaderBuilder, OrcRecordBatchReader};
pub use scan::{Scan, ScanReader};
pub use write::{FileWriter, OrcWriter, WriteOptions};

/// The code of pages for users compiles.
#[cfg(all(doctest, feature = "async"))]
mod pages {
    #[doc = include_str!("../README.md")]
    mod readme {}
    #[doc = include_str!("../../../docs/rust.md")]
    mod guide {}
}
