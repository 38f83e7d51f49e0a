//! Segments of ORC files in a build without the feature `orc`.

use std::convert::Infallible;

use arrow_array::RecordBatch;
use orcish_core::explain::Explanation;
use orcish_core::{Error, Result};

use super::{Source, What};
use crate::table::FileEntry;

/// Rows of an ORC file, which cannot be read.
pub(super) struct OrcRows(Infallible);

fn unsupported<T>() -> Result<T> {
    Err(Error::unsupported("the segment is one of ORC files: build carbondata with the feature orc"))
}

pub(super) fn explain(_: &Source, _: &What, _: &FileEntry) -> Result<Option<Explanation>> {
    unsupported()
}

pub(super) fn open(_: &Source, _: &What, _: &FileEntry, _: usize) -> Result<OrcRows> {
    unsupported()
}

impl OrcRows {
    pub(super) fn next(&mut self, _: &Source, _: &What) -> Result<Option<RecordBatch>> {
        match self.0 {}
    }
}
