//! Files as ranges of bytes, wherever they are: local disks, S3, Google Cloud Storage, Azure, HTTP servers, memory.
//!
//! * [`open`] makes a [`ReadAt`] of a path or URL, [`create`] a [`Sink`];
//! * [`list`] finds the files of a folder or pattern, [`list_folder`] the files of one folder, [`list_all`] all files below
//!   a folder;
//! * a file that is created appears when it is whole: [`Sink::finish`] publishes it, [`create_staged`](create_unpublished)
//!   leaves that to [`complete_upload`], which any process may call.
//!
//! ```
//! use orcish_io::{MemorySource, ReadAt as _};
//!
//! let source = MemorySource::new(b"ORC and more".to_vec());
//! assert_eq!(&source.read_ranges(&[0..3])?[0][..], b"ORC");
//! # Ok::<(), orcish_core::Error>(())
//! ```

mod durable;
mod file;
mod folder;
mod hive;
mod list;
mod local;
mod local_folder;
mod location;
mod memory;
mod open;
mod options;
mod pattern;
mod proto;
mod ranges;
#[cfg(feature = "object-store")]
mod remote;
mod sink;
mod site;
mod source;
mod storage;
#[cfg(test)]
mod tests;
pub mod tuning;
mod upload;

pub use file::FileSource;
pub use folder::{FileStatus, MOST_SMALL_BYTES, delete_files, delete_folder, list_all, read_small, stat, write_small};
pub use hive::{partitions_below, partitions_of};
pub use list::{list, list_folder};
pub use memory::MemorySource;
pub use open::{display_name, open, requests};
pub use options::*;
pub use ranges::{check_memory, coalesce, part_of, read_coalesced, read_within};
#[cfg(feature = "object-store")]
pub use remote::ObjectSource;
pub use sink::{FileSink, MemorySink, Sink, create};
pub use site::Site;
pub use source::{FIRST_READ, ReadAt, Session};
pub use storage::StorageOptions;
pub use upload::{Unpublished, Withheld, abort_upload, complete_upload, create_unpublished};
