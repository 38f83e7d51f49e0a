//! ORC to Arrow.

mod explain;
mod file;
mod filter;
mod filtered;
mod gather;
mod plan;
mod prune;
mod read;
mod reader;
mod rows;
mod schema;
mod workers;

pub use explain::{Explanation, Outcome, StripePlan};
pub use file::OrcFile;
pub use reader::BatchReader;
pub use schema::TYPE_KEY;

pub(crate) use filter::evaluate;
pub(crate) use schema::{Mapping, domain};
