//! Writing of datasets: folders of files, with a folder for each value of the partition columns.
//!
//! ```text
//! batch ── split: a number for each distinct value of each partition column, rows sorted by number
//!      └─► day=2026-11-21/part-00000.orc   open files, at most 256, and 1 GiB of memory together
//!      └─► day=2026-11-22/part-00001.orc
//! ```

mod codes;
mod file;
mod options;
mod split;
mod writer;

pub use file::DatasetFile;
pub use options::{DEFAULT_MAX_MEMORY, DEFAULT_MAX_OPEN_FILES, DatasetOptions, Publication};
pub use writer::DatasetWriter;
