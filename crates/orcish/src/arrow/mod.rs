//! ORC to Arrow.

mod explain;
mod file;
mod filter;
mod filtered;
mod gather;
mod inspect;
mod instants;
mod kinds;
mod plan;
mod prune;
mod read;
mod reader;
mod restore;
mod rows;
mod schema;
mod storage;
mod stored;
mod workers;

pub use explain::{Explanation, Outcome, StripePlan};
pub use file::OrcFile;
pub use kinds::{item_of, with_item};
pub use read::{Entries, byte_array};
pub use reader::BatchReader;
pub use restore::check_room;
pub use schema::TYPE_KEY;
pub use storage::ColumnStorage;
pub use stored::ARROW_SCHEMA_KEY;

pub(crate) use filter::evaluate;
pub(crate) use inspect::{Inspector, Piece, StripeInspector};
pub(crate) use kinds::{NANOSECONDS_OF_DAY, is_binary, is_text, nanoseconds, values_of, with_type};
pub(crate) use restore::{Chosen, DAYS, MONTHS, StoredSchema, add_forms, fits, has_form, most_rows, restore};
pub(crate) use schema::{Mapping, SPARK_TYPE, altered, domain, may_become_null};
pub(crate) use stored::encode as encode_schema;
