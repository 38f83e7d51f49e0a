//! Reading of ORC files as Arrow batches.
//!
//! An [`OrcFile`] has the tail of a file. Options that are checked against it make a selection, statistics and the selection
//! make a plan, and threads decode the stripes of the plan to the batches of a [`BatchReader`].

mod builder;
mod column;
mod column_group;
mod decoded;
mod explain;
mod file;
mod filter;
mod filtered;
mod inspect;
mod instants;
mod opener;
mod plan;
mod prune;
mod reader;
mod restore;
mod row_groups;
mod rows;
mod schema;
mod select;
mod selection;
mod storage;
mod stored;
mod workers;

pub use builder::{OrcReaderBuilder, OrcRecordBatchReader, ReaderBuilder, SyncReader};
pub use file::OrcFile;
pub use plan::ScanContext;
pub use reader::BatchReader;
pub use row_groups::{BloomFilterInfo, RowGroup};
pub use schema::TYPE_KEY;
pub use storage::ColumnStorage;
pub use stored::ARROW_SCHEMA_KEY;

pub(crate) use inspect::{Inspector, Piece, StripeInspector};
pub(crate) use restore::{
    DAYS, GivenOptions, MONTHS, StoredSchema, add_column_options, has_column_option, is_compatible, max_rows,
};
pub(crate) use schema::{
    Mapping, SPARK_TYPE, UnitOfFile, filter_column, may_become_null, push_row_number, text_conversion,
};
pub(crate) use stored::encode as encode_schema;
