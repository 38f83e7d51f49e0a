//! Reading of ORC files as Arrow batches.
//!
//! An [`OrcFile`] has the tail of a file. A read has four phases:
//!
//! 1. `request` checks options against the tail. Nothing is read.
//! 2. `stripe_plan` prunes stripes by statistics that it is given. Nothing is read.
//! 3. `opener` has a source and memory: it reads statistics, stripe footers and streams, and makes readers of columns.
//! 4. `scheduler` opens and decodes stripes in threads, ahead of the caller of a [`BatchReader`].

mod builder;
mod column;
mod column_group;
mod decoded;
mod explain;
mod file;
mod filter;
mod filtered;
mod indexes;
mod inspect;
mod instants;
mod opener;
mod prune;
mod reader;
mod request;
mod restore;
mod row_group_plan;
mod row_groups;
mod rows;
mod scheduler;
mod schema;
mod storage;
mod stored;
mod stripe_plan;

pub use builder::{OrcReaderBuilder, OrcRecordBatchReader, ReaderBuilder, SyncReader};
pub use file::OrcFile;
pub use reader::BatchReader;
pub use row_groups::{BloomFilterInfo, RowGroup};
pub use scheduler::ScanContext;
pub use schema::TYPE_KEY;
pub use storage::ColumnStorage;
pub use stored::ARROW_SCHEMA_KEY;

pub(crate) use inspect::{Inspector, Piece, StripeInspector};
pub(crate) use request::ReadRequest;
pub(crate) use restore::{
    DAYS, GivenOptions, MONTHS, StoredSchema, add_column_options, has_column_option, is_compatible, max_rows,
};
pub(crate) use schema::{
    Mapping, SPARK_TYPE, UnitOfFile, filter_column, may_become_null, push_row_number, text_conversion,
};
pub(crate) use stored::encode as encode_schema;
