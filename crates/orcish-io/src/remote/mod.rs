//! Object stores, HDFS and HTTP servers.

mod address;
mod body;
mod client;
mod client_options;
mod credentials;
mod error;
mod file_ops;
#[cfg(feature = "hdfs")]
mod hdfs;
#[cfg(feature = "hdfs")]
mod hdfs_client;
mod lister;
mod multipart;
mod object;
mod paginated;
mod part_sizes;
mod request;
mod runtime;
mod sink;
mod source;
mod staged;
mod store;
mod write_id;
mod writing;

pub(crate) use lister::StoreLister;
#[doc(hidden)]
pub use runtime::{Blocking, spawn_blocking};
pub use source::ObjectSource;
pub(crate) use writing::{abort, check_target, complete, create, create_staged, delete_files, file_ops};
