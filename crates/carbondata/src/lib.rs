//! Apache CarbonData tables, read into Apache Arrow.
//!
//! ```text
//! schema ─┐
//! tablestatus ── segments ── segment files ── index files ──► data files ── blocklets ── column chunks ── pages
//! delete deltas ─┘                            min and max of each blocklet, before a data file is opened
//! ```
//!
//! [`Table`] finds out what is there; [`Scan`] reads it, batch by batch. Files are those of `orcish-io`; filters,
//! limits and errors are those of `orcish-core`.

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
pub use table::{Segment, Table, is_table};
