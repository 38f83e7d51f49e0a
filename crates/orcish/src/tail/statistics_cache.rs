//! Caches of decoded statistics.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use once_cell::race::OnceBool;
use orcish_core::error::Result;
use orcish_core::process::PerProcess;

/// Cache of the statistics of a file that are needed for other columns, or for each stripe.
#[derive(Default)]
pub(super) struct StatisticsCache {
    /// Whether the statistics have counts, see `FileTail::has_counts`.
    pub(super) has_counts: OnceBool,
    /// Counts of columns with children.
    pub(super) counts: CountCache,
    /// Bounds of timestamps in nanoseconds.
    pub(super) timestamps: ColumnCache<Option<(i128, i128)>>,
}

/// The clone is empty: the fields of a cloned tail can be changed.
impl Clone for StatisticsCache {
    fn clone(&self) -> Self {
        StatisticsCache::default()
    }
}

impl std::fmt::Debug for StatisticsCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

/// Number of values of a column, and whether it has nulls.
pub(super) type Count = (Option<u64>, Option<bool>);

/// Cache of counts by column id.
pub(super) type CountCache = ColumnCache<Count>;

/// Cache by column id.
pub(super) struct ColumnCache<T>(PerProcess<Mutex<BTreeMap<u32, T>>>);

impl<T> Default for ColumnCache<T> {
    fn default() -> Self {
        ColumnCache(PerProcess::new())
    }
}

impl<T: Copy> ColumnCache<T> {
    /// The cached value of a column, or the result of `parse`, which is cached.
    ///
    /// # Errors
    /// Errors of `parse`.
    pub(super) fn get_or_parse(&self, id: u32, parse: impl FnOnce() -> Result<T>) -> Result<T> {
        let lock = || self.0.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        let cached = lock().get(&id).copied();
        if let Some(cached) = cached {
            return Ok(cached);
        }
        let parsed = parse()?;
        lock().insert(id, parsed);
        Ok(parsed)
    }
}
