//! Opens tables.

use orcish_core::Result;
use orcish_io::stat;

use super::context::Place;
use super::state::Inner;
use super::transactional::SCHEMA;
use crate::metadata::file_names::DATA;
use crate::metadata::locations::join;

impl Place<'_> {
    pub(super) fn open(self) -> Result<Inner> {
        let is_file = self.root.ends_with(DATA) && stat(self.root, self.storage.of_table())?.is_some();
        match !is_file && stat(&join(self.root, SCHEMA), self.storage.of_table())?.is_some() {
            true => self.transactional(),
            false => self.folder(is_file),
        }
    }
}
