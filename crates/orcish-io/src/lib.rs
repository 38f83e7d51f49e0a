//! Access to files of local disks, S3, Google Cloud Storage, Azure, HDFS, HTTP servers and memory.
//!
//! * [`open`] opens a location, which is a path or a URL, as a [`ReadAt`], a source of byte ranges. [`create`] creates
//!   a [`Sink`]. [`IntoSource`] makes sources of open files and of bytes.
//! * [`Location`] says what a path or URL is: one of the local disk, of a store or of an HTTP server, a folder or a pattern.
//!   [`CanonicalLocation`] tells which spellings are one file or folder.
//! * [`list`] lists the files of a folder or a glob pattern, [`list_folder`] those of a folder, and [`list_all`] all
//!   files below a folder, including hidden ones.
//! * A new file becomes visible as a whole: [`Sink::finish`] publishes it. [`create_staged`] defers the publication to
//!   [`complete_upload`], which any process can call.
//!
//! ```
//! use orcish_io::{MemorySource, ReadAt as _};
//!
//! let source = MemorySource::new(b"ORC and more".to_vec());
//! assert_eq!(&source.read_ranges(&[0..3])?[0][..], b"ORC");
//! # Ok::<(), orcish_core::Error>(())
//! ```

mod canonical;
mod classify;
mod credentials;
mod file_ops;
mod files;
mod folders;
mod hive;
mod into_source;
mod list;
mod lister;
mod local;
mod location;
mod memory;
mod messages;
mod open;
mod option_words;
mod options;
mod pattern;
mod proto;
mod ranges;
#[cfg(feature = "object-store")]
mod remote;
mod sink;
mod source;
mod staged;
mod storage;
mod surroundings;
#[cfg(test)]
mod tests;
pub mod tuning;
mod upload;
mod version;

pub use canonical::CanonicalLocation;
pub use classify::Location;
pub use credentials::{CredentialSource, Credentials};
pub use file_ops::FileStatus;
pub use files::{
    MAX_SMALL_FILE_SIZE, delete_files, delete_folder, has_folder, list_all, list_utf8, read_small, stat, write_small,
};
pub use folders::CreatedFolders;
pub use hive::{
    NULL_PARTITION, escape_partition, hive_partitions, hive_partitions_below, is_partition_folder, partition_folder,
    unescape_partition,
};
pub use into_source::IntoSource;
pub use list::{Listing, list, list_folder, list_marked, marked_folders};
pub use local::{FileSink, FileSource, TemporaryFile};
pub use location::{display_name, within};
pub use memory::{MemorySink, MemorySource};
#[doc(hidden)]
pub use messages::REPLACED;
#[cfg(feature = "object-store")]
pub use object_store;
pub use open::{check_target, concurrency, create, create_new, open};
pub use option_words::check_option;
pub use options::*;
pub use pattern::{above_pattern, is_hidden_path, matches};
pub use ranges::{
    check_memory_limit, coalesce_ranges, read_coalesced, read_range_with_limits, read_with_limits, slice_range,
};
#[cfg(feature = "object-store")]
pub use remote::ObjectSource;
#[cfg(feature = "object-store")]
#[doc(hidden)]
pub use remote::{Blocking, spawn_blocking};
pub use sink::Sink;
pub use source::{DEFAULT_FIRST_READ, ReadAt, Session};
pub use staged::{StagedFile, Staging, UploadedParts};
pub use storage::StorageOptions;
pub use surroundings::Surroundings;
pub use upload::{abort_upload, complete_upload, create_staged};
pub use version::{FileVersion, VersionMark};
