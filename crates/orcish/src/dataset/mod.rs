//! Writing of datasets: folders of files, with a folder for each value of the partition columns.
//!
//! ```text
//! batch ── split: a number for each distinct value of each partition column, rows sorted by number
//!      ├─► day=2026-11-21/part-00000.orc   open files, at most 256
//!      ├─► day=2026-11-22/part-00001.orc
//!      └─► rows of further partitions wait ── in memory ── runs in temporary files, in the order of the partitions
//!                                               └── at the end ──┴──► day=2027-08-04/part-00256.orc, one after another
//! ```
//!
//! Open files and waiting rows take 1 GiB of memory together.

mod codes;
mod file;
mod options;
mod runs;
mod split;
mod waiting;
mod writer;

pub use file::DatasetFile;
pub use options::{DEFAULT_MAX_MEMORY, DEFAULT_MAX_OPEN_FILES, DEFAULT_MAX_PARTITIONS, DatasetOptions, Publication};
pub use writer::DatasetWriter;
