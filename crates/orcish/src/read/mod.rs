//! ORC to Arrow.

mod column;
mod column_group;
mod decoded;
mod explain;
mod file;
mod filter;
mod filtered;
mod gather;
mod inspect;
mod instants;
mod opener;
mod plan;
mod prune;
mod reader;
mod restore;
mod rows;
mod schema;
mod selection;
mod storage;
mod stored;
mod workers;

pub use file::OrcFile;
pub use reader::BatchReader;
pub use schema::TYPE_KEY;
pub use storage::ColumnStorage;
pub use stored::ARROW_SCHEMA_KEY;

pub(crate) use inspect::{Inspector, Piece, StripeInspector};
pub(crate) use plan::ScanContext;
pub(crate) use restore::{Chosen, DAYS, MONTHS, StoredSchema, add_forms, fits, has_form, most_rows};
pub(crate) use schema::{Mapping, SPARK_TYPE, altered, domain, may_become_null};
pub(crate) use stored::encode as encode_schema;
