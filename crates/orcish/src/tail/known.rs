//! What is kept of statistics that were parsed.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use orcish_core::error::Result;

/// What was found in statistics that many columns are judged by, so that they are parsed once.
#[derive(Default)]
pub(super) struct Known {
    /// Whether values were counted at all.
    pub(super) counted: OnceLock<bool>,
    pub(super) counts: Counts,
    pub(super) timestamps: Parsed<Option<(i128, i128)>>,
}

impl Clone for Known {
    fn clone(&self) -> Self {
        Known::default()
    }
}

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

/// Values of a column, and whether one is null, as they are recorded.
pub(super) type Count = (Option<u64>, Option<bool>);

/// Those of columns that others are below.
pub(super) type Counts = Parsed<Count>;

/// What was parsed of the statistics of columns, by their ids.
pub(super) struct Parsed<T>(Mutex<BTreeMap<u32, T>>);

impl<T> Default for Parsed<T> {
    fn default() -> Self {
        Parsed(Mutex::default())
    }
}

impl<T: Copy> Parsed<T> {
    /// That of a column, found by `parse` where it is not known.
    pub(super) fn of(&self, id: u32, parse: impl FnOnce() -> Result<T>) -> Result<T> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().get(&id).copied();
        if let Some(known) = known {
            return Ok(known);
        }
        let found = parse()?;
        lock().insert(id, found);
        Ok(found)
    }
}
