//! Replacement for `orc.rs` without the feature `orc`.

use std::convert::Infallible;
use std::sync::Arc;

use arrow_array::RecordBatch;
use orcish_core::cancel::CancelCheck;
use orcish_core::explain::Explanation;
use orcish_core::parallel::ScanMemory;
use orcish_core::{Error, Result};

use super::config::ScanConfig;
use super::snapshot::TableSnapshot;
use crate::table::FileEntry;

/// Rows of an ORC file. There is no value of this type.
pub(super) struct OrcRows(Infallible);

fn unsupported<T>() -> Result<T> {
    Err(Error::unsupported("the segment is one of ORC files: build carbondata with the feature orc"))
}

pub(super) fn explain(_: &TableSnapshot, _: &ScanConfig, _: &FileEntry) -> Result<Option<Explanation>> {
    unsupported()
}

pub(super) fn open(
    _: &TableSnapshot,
    _: &ScanConfig,
    _: &FileEntry,
    _: usize,
    _: usize,
    _: &Arc<ScanMemory>,
) -> Result<OrcRows> {
    unsupported()
}

impl OrcRows {
    pub(super) fn bytes_of_next(&self) -> u64 {
        match self.0 {}
    }

    pub(super) fn set_cancel_check(&mut self, _: CancelCheck) {
        match self.0 {}
    }

    pub(super) fn next(&mut self, _: &TableSnapshot, _: &ScanConfig) -> Result<Option<RecordBatch>> {
        match self.0 {}
    }
}
