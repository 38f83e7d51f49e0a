//! ORC to Arrow.

mod file;
mod read;
mod reader;
mod schema;
mod workers;

pub use file::{OrcFile, ROOT_COLUMN};
pub use reader::BatchReader;
pub use schema::TYPE_KEY;
