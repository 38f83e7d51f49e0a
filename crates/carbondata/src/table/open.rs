//! Opens tables.

use std::sync::Arc;

use orcish_core::Result;
use orcish_io::stat;

use super::context::OpenContext;
use super::state::TableState;
use super::transactional::SCHEMA;
use crate::metadata::file_names::DATA_FILE_SUFFIX;
use crate::metadata::locations::join;

impl OpenContext {
    pub(super) fn open(self: &Arc<Self>) -> Result<TableState> {
        let is_file = self.root.ends_with(DATA_FILE_SUFFIX) && stat(&self.root, self.storage.of_table())?.is_some();
        if !is_file && stat(&join(&self.root, SCHEMA), self.storage.of_table())?.is_some() {
            self.open_transactional()
        } else {
            self.open_folder(is_file)
        }
    }
}
