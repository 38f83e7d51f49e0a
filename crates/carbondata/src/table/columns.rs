//! The columns of a table.

use std::collections::{BTreeMap, HashSet};

use orcish_core::{Error, Result};
use orcish_io::display_name;

use super::context::OpenContext;
use super::state::TableState;
use crate::metadata::schema::{Column, schema_of};

impl OpenContext {
    /// The state of a table without segments and files.
    pub(super) fn state(
        &self,
        all: Vec<Column>,
        partition_columns: Vec<String>,
        is_transactional: bool,
    ) -> Result<TableState> {
        let columns = visible(all, &partition_columns);
        check_names(&columns).map_err(|error| error.in_file(&display_name(&self.root)))?;
        Ok(TableState {
            location: self.root.to_owned(),
            storage: self.storage.clone(),
            limits: self.limits.clone(),
            is_transactional,
            schema: schema_of(&columns),
            sort_columns: Vec::new(),
            columns,
            partition_columns,
            properties: BTreeMap::new(),
            segments: Vec::new(),
            files: Vec::new(),
        })
    }
}

/// The columns that were not dropped, in the order of Spark: that of the schema, and then the partition columns. A column
/// that was added later is behind them in the schema.
fn visible(all: Vec<Column>, partition_columns: &[String]) -> Vec<Column> {
    let mut all: Vec<_> = all.into_iter().filter(|column| !column.is_invisible).collect();
    let ordinals: HashSet<_> = all.iter().filter_map(|column| column.ordinal.filter(|&ordinal| ordinal >= 0)).collect();
    // Without distinct ordinals, the order of the list is kept.
    if ordinals.len() == all.len() {
        all.sort_by_key(|column| column.ordinal);
    }
    all.sort_by_key(|column| partition_columns.iter().position(|name| name.eq_ignore_ascii_case(&column.name)));
    all
}

/// Checks the names of columns.
///
/// # Errors
/// `Corrupt` for duplicate names, `Unsupported` for names with NUL.
fn check_names(columns: &[Column]) -> Result<()> {
    let mut names = HashSet::new();
    if let Some(column) = columns.iter().find(|column| !names.insert(&column.name)) {
        return Err(Error::corrupt(format!("two columns of the table are named {:?}", column.name)));
    }
    columns.iter().try_for_each(Column::check_no_nul)
}
