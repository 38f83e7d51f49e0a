//! ORC to Arrow.

mod file;
mod filter;
mod filtered;
mod prune;
mod read;
mod reader;
mod rows;
mod schema;
mod workers;

pub use file::OrcFile;
pub use reader::BatchReader;
pub use schema::TYPE_KEY;
