//! Tables that rows are added to: which rows may be added, and with which types they are written.
//!
//! ```text
//! log ── LoggedSchema ──┐                        ┌─ appended_schema ─► the types of the rows, or an error
//!                       ├── TableColumns ── rows ┤
//! files ── tails ───────┘                        └─ schema_with_rows ─► the schema for the log
//! ```
//!
//! [`TableColumns`] has the columns of a table: those of its log ([`LoggedSchema`]), or those of its files where it has no log.
//! [`TableColumns::appended_schema`] decides with which types rows are written, so that readers of the table can read new files
//! beside the others. [`cast_column`] casts the rows. [`schema_with_rows`] and [`schema_file`] make the schema that the log has
//! from then on. A value that would change, and a type that does not hold the rows, is an error.

mod added_columns;
mod cast;
mod columns;
mod files;
mod log_schema;
mod names;
mod schema_after;
#[cfg(test)]
mod tests;
mod timestamps;
mod twins;

pub use cast::{PartitionOf, cast_column};
pub use columns::TableColumns;
pub use files::TableFolder;
pub use log_schema::{LoggedSchema, MAX_SCHEMA_TAIL};
pub use schema_after::{schema_file, schema_with_rows};
pub use timestamps::{StoredTimestamp, TimestampTypes};
pub use twins::without_twins;
