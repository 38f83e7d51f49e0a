//! Scans and files as what filters and limits are applied to one after the other.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{Schema, SchemaRef};
use orcish_core::aggregate::Aggregate;
use orcish_core::error::Result;
use orcish_core::names::ColumnName;
use orcish_core::stages::{ReadColumns, RowSelection, TableScan};

use super::reader::ScanReader;
use super::table_scan::Scan;
use crate::options::{Columns, ReadOptions, UnionType};
use crate::projection::readable_columns;
use crate::read::{BatchReader, OrcFile, push_row_number};

/// The options of a read of other rows and columns. `further` are columns that are read behind those of the options.
fn selected(options: &ReadOptions, selection: RowSelection, further: Columns) -> ReadOptions {
    ReadOptions {
        filter: selection.filter,
        limit: selection.limit,
        columns: further,
        hide_row_number: selection.has_row_number.map_or(options.hide_row_number, |has| !has),
        ..options.clone()
    }
}

/// The names of columns with further ones.
fn with_names(names: &[ColumnName], further: Vec<ColumnName>) -> Columns {
    names.iter().cloned().chain(further).collect()
}

/// A schema with the column of row numbers that the options name.
fn with_row_number(schema: &Schema, options: &ReadOptions) -> Result<SchemaRef> {
    let mut fields = schema.fields().to_vec();
    if let Some(name) = &options.row_number {
        push_row_number(&mut fields, name)?;
    }
    Ok(Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone())))
}

impl TableScan for Scan {
    type Rows = ScanReader;

    fn schema(&self) -> SchemaRef {
        Scan::schema(self)
    }

    fn row_number(&self) -> Option<&str> {
        self.table().options.row_number.as_deref()
    }

    fn readable_schema(&self) -> Result<SchemaRef> {
        with_row_number(&self.table_schema(), &self.table().options)
    }

    fn has_read_unions(&self) -> bool {
        self.table().options.unions == Some(UnionType::Struct)
    }

    fn select(&self, selection: RowSelection) -> Result<Self> {
        let options = &self.table().options;
        let columns = match (&options.columns, selection.columns.clone()) {
            (Columns::Names(names), ReadColumns::With(further)) => with_names(names, further),
            (columns, ReadColumns::With(_)) => columns.clone(),
            (_, ReadColumns::Only(names)) => Columns::Names(names),
            (_, ReadColumns::All) => self.table_schema().fields().iter().map(|field| field.name()).collect(),
        };
        self.with_options(selected(options, selection, columns))
    }

    fn read(&self) -> Result<ScanReader> {
        Ok(self.read_cancellable())
    }

    fn count(&self) -> Result<u64> {
        Scan::count(self)
    }

    fn aggregate(&self, aggregate: Aggregate) -> Result<ArrayRef> {
        Scan::aggregate(self, aggregate)
    }
}

/// The scan of one file by its own options, which may have ids of columns.
#[derive(Debug, Clone)]
pub struct FileScan {
    file: OrcFile,
    options: ReadOptions,
    schema: SchemaRef,
}

impl FileScan {
    /// The scan of a file under options.
    ///
    /// # Errors
    /// As [`OrcFile::schema`]; `InvalidArgument` and `UnknownColumn` where the filter does not fit the file.
    pub fn try_new(file: OrcFile, options: ReadOptions) -> Result<Self> {
        let schema = file.schema(&options)?;
        file.check_filter(&options)?;
        Ok(FileScan { file, options, schema })
    }

    /// The file.
    pub fn file(&self) -> &OrcFile {
        &self.file
    }

    /// The options.
    pub fn options(&self) -> &ReadOptions {
        &self.options
    }
}

impl TableScan for FileScan {
    type Rows = BatchReader;

    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn row_number(&self) -> Option<&str> {
        self.options.row_number.as_deref()
    }

    fn readable_schema(&self) -> Result<SchemaRef> {
        let columns = readable_columns(&self.file.tail().schema).map_err(|error| error.in_file(self.file.name()))?;
        let options = ReadOptions { columns, row_number: None, ..self.options.clone() };
        with_row_number(&*self.file.schema(&options)?, &self.options)
    }

    fn has_read_unions(&self) -> bool {
        self.options.unions == Some(UnionType::Struct)
    }

    fn select(&self, selection: RowSelection) -> Result<Self> {
        let schema = &self.file.tail().schema;
        let columns = match (&self.options.columns, selection.columns.clone()) {
            (Columns::Names(names), ReadColumns::With(further)) => with_names(names, further),
            (Columns::Ids(ids), ReadColumns::With(further)) => {
                let further = further.iter().map(|name| schema.column_id(name)).collect::<Result<Vec<_>>>();
                let further = further.map_err(|error| error.in_file(self.file.name()))?;
                Columns::Ids(ids.iter().copied().chain(further).collect())
            }
            (Columns::All, ReadColumns::With(_)) => Columns::All,
            (_, ReadColumns::Only(names)) => Columns::Names(names),
            (_, ReadColumns::All) => readable_columns(schema)?,
        };
        Self::try_new(self.file.clone(), selected(&self.options, selection, columns))
    }

    fn read(&self) -> Result<BatchReader> {
        self.file.read(self.options.clone())
    }

    fn count(&self) -> Result<u64> {
        let options =
            ReadOptions { columns: Columns::Names(Vec::new()), hide_row_number: true, ..self.options.clone() };
        let mut rows = 0u64;
        for batch in self.file.read(options)? {
            rows = rows.saturating_add(batch?.num_rows() as u64);
        }
        Ok(rows)
    }
}
