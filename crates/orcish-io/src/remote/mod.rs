//! Object stores and HTTP servers.

mod address;
mod body;
mod client;
mod client_options;
mod error;
mod file_ops;
mod lister;
mod multipart;
mod object;
mod paginated;
mod part_sizes;
mod per_process;
mod request;
mod runtime;
mod sink;
mod source;
mod staged;
mod store;
mod write_id;

pub(crate) use file_ops::{StoreFileOps, delete_files};
pub(crate) use lister::StoreLister;
pub(crate) use sink::ObjectSink;
pub use source::ObjectSource;
pub(crate) use staged::{abort, complete};
