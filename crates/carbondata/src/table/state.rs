//! The state of an open table.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use orcish_core::Limits;

use super::file_entry::FileEntry;
use super::segment::Segment;
use crate::metadata::schema::Column;
use crate::metadata::table_storage::TableStorage;

#[derive(Debug)]
pub(super) struct TableState {
    pub(super) location: String,
    pub(super) storage: TableStorage,
    pub(super) limits: Limits,
    pub(super) is_transactional: bool,
    pub(super) columns: Vec<Column>,
    pub(super) schema: SchemaRef,
    pub(super) sort_columns: Vec<String>,
    pub(super) partition_columns: Vec<String>,
    pub(super) properties: BTreeMap<String, String>,
    pub(super) segments: Vec<Segment>,
    pub(super) files: Vec<Arc<FileEntry>>,
}
