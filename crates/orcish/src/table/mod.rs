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
//!
//! [`combine_files`] makes one file of several, which [`compaction_groups`] chooses, and [`delete_rows`] a file without some of its rows.
//! Both write with a [`Rewrite`] the types with which readers of the table have read the files. The caller commits the new files.

mod added_columns;
mod cast;
mod columns;
mod compaction;
mod deletion;
mod files;
mod log_schema;
mod names;
mod new_files;
mod pandas;
mod partitioning;
mod replacing;
mod rewrite;
#[cfg(test)]
mod rewrite_tests;
mod rewritten_types;
mod row_write;
mod schema_after;
mod source_file;
mod table;
#[cfg(test)]
mod table_tests;
#[cfg(test)]
mod tests;
mod timestamps;
mod twins;

pub use cast::{PartitionOf, cast_column};
pub use columns::TableColumns;
pub use compaction::{Combination, combine_files, compaction_groups};
pub use deletion::{AfterDeletion, delete_rows};
pub use files::TableFolder;
pub use log_schema::{LoggedSchema, MAX_SCHEMA_TAIL};
pub use new_files::{combine_files_of, delete_rows_of, file_suffix};
pub use pandas::{PANDAS_KEY, with_fitted_pandas};
pub use partitioning::PartitionOption;
pub use replacing::{Replaced, replace_files};
pub use rewrite::{Rewrite, RewriteOptions};
pub use row_write::{
    AppendedRows, ExistingData, RowTypes, RowWrite, TableState, WritePlan, WrittenTypes, logged_schema,
};
pub use schema_after::{schema_file, schema_with_rows};
pub use table::{CompactedFile, CompactionPlan, Deleted, DeletionPlan, Table, TableWriteOptions, TableWriter};
pub use timestamps::{StoredTimestamp, TimestampTypes};
pub use twins::without_twins;
