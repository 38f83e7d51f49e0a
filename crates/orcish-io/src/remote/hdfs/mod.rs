//! Files of HDFS that are written, published and deleted.

mod file;
mod file_ops;
mod open_file;
mod sink;
mod staged;

pub(super) use file_ops::{DeletedFile, HdfsFileOps, delete_files};
pub(super) use sink::HdfsSink;
pub(super) use staged::{abort, complete};
