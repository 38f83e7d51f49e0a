//! Tables that are written: rows are added or replaced, small files are combined, and rows are deleted, each in one commit.
//!
//! [`Table`] does all of it in one process. A program with tasks in several processes takes the steps of [`Table`]: [`RowWrite`] plans and
//! commits rows, [`CompactionPlan`] and [`DeletionPlan`] say what becomes of files, [`combine_files_of`] and [`delete_rows_of`] stage a new
//! file, and [`replace_files`] commits it. A [`Job`](orcish_table::Job) has the files of all tasks.
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
//! Both write with a [`Rewrite`] the types with which readers of the table have read the files.

mod added_columns;
mod cast;
mod columns;
mod compaction;
mod deletion;
mod files;
mod log_schema;
mod names;
mod new_files;
mod operations;
#[cfg(test)]
mod operations_tests;
mod pandas;
mod partitioning;
mod plans;
mod replacing;
mod rewrite;
#[cfg(test)]
mod rewrite_tests;
mod rewritten_types;
mod row_write;
mod schema_after;
mod source_file;
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
pub use operations::{CompactedFile, Deleted, Table, TableWriteOptions, TableWriter};
pub use pandas::{PANDAS_KEY, fitted_pandas, with_fitted_pandas};
pub use partitioning::PartitionOption;
pub use plans::{CompactionPlan, DeletionPlan};
pub use replacing::{Replaced, replace_files};
pub use rewrite::{Rewrite, RewriteOptions};
pub use row_write::{AppendedRows, ExistingData, RowTypes, RowWrite, WritePlan, WrittenTypes, logged_schema};
pub use schema_after::{schema_file, schema_with_rows};
pub use timestamps::{StoredTimestamp, TimestampTypes};
pub use twins::without_twins;
