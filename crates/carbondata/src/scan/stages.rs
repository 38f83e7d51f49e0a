//! Scans as what filters and limits are applied to one after the other.

use arrow_schema::SchemaRef;
use orcish_core::error::Result;
use orcish_core::stages::{ReadColumns, RowSelection, TableScan};

use super::{Scan, ScanReader};
use crate::options::ReadOptions;

impl TableScan for Scan {
    type Rows = ScanReader;

    fn schema(&self) -> SchemaRef {
        Scan::schema(self)
    }

    fn row_number(&self) -> Option<&str> {
        None
    }

    fn readable_schema(&self) -> Result<SchemaRef> {
        Ok(self.table_schema())
    }

    fn has_read_unions(&self) -> bool {
        false
    }

    fn select(&self, selection: RowSelection) -> Result<Self> {
        let options = &self.config.options;
        let columns = match (&options.columns, selection.columns) {
            (Some(names), ReadColumns::With(further)) => Some(names.iter().cloned().chain(further).collect()),
            (None, ReadColumns::With(_)) | (_, ReadColumns::All) => None,
            (_, ReadColumns::Only(names)) => Some(names),
        };
        let (filter, limit) = (selection.filter, selection.limit);
        self.with_options(ReadOptions { columns, filter, limit, ..options.clone() })
    }

    fn read(&self) -> Result<ScanReader> {
        Ok(self.read_cancellable())
    }

    fn count(&self) -> Result<u64> {
        Scan::count(self)
    }
}
