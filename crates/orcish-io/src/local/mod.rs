//! The local file system.

mod buffer_pool;
mod durable;
mod file_ops;
mod lister;
mod positional;
mod sink;
mod source;
mod staged;
mod target;
mod temporary;

pub(crate) use durable::{create_missing_folders, remove_folders, sync_parents};
pub(crate) use file_ops::{LocalFileOps, delete_files};
pub(crate) use lister::LocalLister;
pub use sink::FileSink;
pub use source::FileSource;
pub(crate) use staged::{StagedFileSink, abort, complete};
pub use temporary::TemporaryFile;
