//! Tables with metadata.

use std::collections::BTreeMap;
use std::sync::Arc;

use orcish_core::Result;

use super::context::OpenContext;
use super::segment::Segment;
use super::state::TableState;
use super::updates::Updates;
use crate::metadata::file_names::check_name;
use crate::metadata::format::TableInfo;
use crate::metadata::locations::join;
use crate::metadata::schema::columns;
use crate::metadata::table_status::{LoadDetails, read_table_status};
use crate::metadata::thrift::ThriftReader;
use crate::metadata::update_status::{UpdateDetails, read_update_status};

/// Path of the schema below the folder of a table.
pub(super) const SCHEMA: &str = "Metadata/schema";
/// `PartitionType::NATIVE_HIVE`: partitions are folders.
const HIVE: i32 = 4;

impl OpenContext {
    /// Opens a table with metadata.
    pub(super) fn open_transactional(self: &Arc<Self>) -> Result<TableState> {
        let schema = join(&self.root, SCHEMA);
        let (info, all) = self.parse(&schema, |bytes| {
            let info: TableInfo = ThriftReader::new(bytes, &self.limits).read_struct()?;
            let all = columns(&info.table.columns, &self.limits)?;
            Ok((info, all))
        })?;
        // Sort columns are in the order of the list, which differs from the order of the schema.
        let sorted = all.iter().filter(|column| column.is_sorted_by && !column.is_invisible);
        let sort_columns = sorted.map(|column| column.name.clone()).collect();
        let hive = info.table.partition.filter(|partition| partition.partition_type == HIVE);
        let hive = hive.into_iter().flat_map(|partition| partition.columns);
        let mut state = self.state(all, hive.map(|column| column.name).collect(), true)?;
        state.sort_columns = sort_columns;
        state.properties = info.table.properties.into_iter().collect();

        let (loads, updates) = self.loads(&state.properties)?;
        let mut updates = Updates::new(&updates, !state.partition_columns.is_empty());
        let live = loads.iter().enumerate().filter(|(_, load)| load.is_readable());
        let live: Vec<_> = live.map(|(at, load)| (at, load.clone())).collect();
        let partition_columns = state.partition_columns.clone();
        let files =
            self.map(live, move |context, (at, load)| Ok((at, context.segment_files(&load, at, &partition_columns)?)))?;
        let mut live: BTreeMap<_, _> = files.into_iter().collect();
        for (at, load) in loads.iter().enumerate() {
            let mut files = live.remove(&at).unwrap_or_default();
            for file in &files {
                self.cancellation.poll()?;
                self.storage_of(&file.location)?;
            }
            let deleted = updates.apply(load, &mut files, self)?;
            let rows = files.iter().try_fold(0u64, |sum, file| Some(sum.saturating_add(file.rows?)));
            state.segments.push(Segment {
                id: load.id.clone(),
                state: load.state.clone(),
                is_readable: load.is_readable(),
                format: load.format.clone(),
                started: load.started,
                ended: load.ended,
                merged_into: load.merged_into.clone(),
                modified: load.modified,
                rows: rows.filter(|_| load.is_readable()).map(|rows| rows.saturating_sub(deleted)),
                deleted_rows: load.is_readable().then_some(deleted),
                data_bytes: load.data_bytes,
                index_bytes: load.index_bytes,
                files: files.len(),
            });
            state.files.extend(files.into_iter().map(Arc::new));
        }
        Ok(state)
    }

    /// The loads of the table status, and the entries of the update status.
    fn loads(&self, properties: &BTreeMap<String, String>) -> Result<(Vec<LoadDetails>, Vec<UpdateDetails>)> {
        let version = properties.iter().find(|(key, _)| key.eq_ignore_ascii_case("latestversion"));
        let name = version.map(|(_, version)| version.trim()).filter(|version| !version.is_empty());
        let name = name.map_or("tablestatus".to_owned(), |version| format!("tablestatus_{version}"));
        check_name(&name).map_err(|error| error.in_file(&join(&self.root, SCHEMA)))?;
        let status = self.metadata(&name);
        // A table without loads has no table status.
        let loads = if self.exists(&status)? {
            self.parse(&status, |bytes| read_table_status(bytes, &self.limits))?
        } else {
            Vec::new()
        };
        // All loads have the same update status file.
        let updates = match loads.iter().find_map(|load| load.update_file.as_deref()) {
            Some(name) => {
                check_name(name).map_err(|error| error.in_file(&status))?;
                self.parse(&self.metadata(name), |bytes| read_update_status(bytes, &self.limits))?
            }
            None => Vec::new(),
        };
        Ok((loads, updates))
    }
}
