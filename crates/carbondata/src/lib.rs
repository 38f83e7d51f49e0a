//! Apache CarbonData tables, read into Apache Arrow.
//!
//! ```text
//! schema ─┐
//! table status ── segments ── segment files ── index files ──► data files ── blocklets ── column chunks ── pages
//! delete deltas ─┘                             min/max index of each blocklet, read before a data file is opened
//! ```
//!
//! A [`Table`] is opened from its metadata and index files, or from a folder of data files. A [`Scan`] reads it as
//! record batches, with a projection, a filter and a limit, or divides it into [`Split`]s for other processes. [`File`]
//! has the metadata of a single data file.
//!
//! Sources and stores are those of `orcish-io`. Predicates, limits and errors are those of `orcish-core`.
//!
//! # Example
//!
//! ```
//! use carbondata::{ReadOptions, Scan, Table};
//! use orcish_core::{Comparison, Predicate};
//!
//! # let location = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/carbon/plain.carbondata");
//! let table = Table::open(location, &Default::default(), &Default::default())?;
//! let filter = Predicate::compare("id", Comparison::GreaterOrEqual, 2i64);
//! let options = ReadOptions::default().with_columns(["id"]).with_filter(filter);
//! let scan = Scan::try_new(&table, options)?;
//! for batch in scan.read() {
//!     let batch = batch?;
//!     println!("{} rows with id >= 2", batch.num_rows());
//! #   assert!(batch.num_rows() > 0 && batch.num_columns() == 1);
//! }
//! // As a `RecordBatchReader` of Arrow:
//! let batches = scan.read().into_record_batch_reader().collect::<Result<Vec<_>, _>>()?;
//! # assert!(!batches.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! - `object-store`: tables in S3, Google Cloud Storage, Azure and on HTTP servers.
//! - `orc`: segments of ORC files, which were added with `ALTER TABLE ADD SEGMENT`.

mod bytes;
mod compress;
mod file;
#[cfg(test)]
mod fixtures;
mod inspect;
mod metadata;
mod options;
mod page;
mod scan;
mod stream;
mod table;
#[doc(hidden)]
pub mod tuning;

#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;

pub use inspect::{Blocklet, File};
pub use options::{DEFAULT_BATCH_SIZE, ReadOptions};
pub use scan::{Scan, ScanReader, Split};
pub use table::{Segment, Table, has_metadata, is_data_file, is_file_of_table, is_table};

/// Which types can be sent to other threads and shared between them, checked by the compiler.
const _: () = {
    const fn is_send<T: Send + 'static>() {}
    const fn is_send_and_sync<T: Send + Sync + 'static>() {}
    is_send_and_sync::<Table>();
    is_send_and_sync::<Scan>();
    is_send_and_sync::<Split>();
    is_send_and_sync::<ReadOptions>();
    is_send_and_sync::<File>();
    is_send::<ScanReader>();
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
