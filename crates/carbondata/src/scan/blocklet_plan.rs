//! Pruning of the blocklets of a file, by its index file and its footer.

use std::sync::Arc;

use orcish_core::parallel::{decoding_threads, map};
use orcish_core::predicate::Outcome;
use orcish_core::{OrInternal as _, Result};
use orcish_io::{concurrency, display_name};

use super::config::ScanConfig;
use super::open_files::{OpenFile, OpenFiles};
use super::pruning::{prune_blocklet, prune_by_index};
use super::snapshot::TableSnapshot;
use crate::metadata::index_file::IndexedBlocklet;
use crate::table::FileEntry;

/// The outcome of pruning a blocklet.
pub(super) struct BlockletPlan {
    pub(super) blocklet: usize,
    pub(super) rows: u64,
    pub(super) outcome: Outcome,
}

/// Prunes the blocklets of a columnar file. The file is returned if it was opened, which is not needed where the index
/// file prunes all blocklets.
pub(super) fn blocklet_plans(
    snapshot: &TableSnapshot,
    config: &ScanConfig,
    entry: &FileEntry,
) -> Result<(Vec<BlockletPlan>, Option<OpenFile>)> {
    let outcomes = prune_by_index(snapshot, config, entry)?;
    if let (Some(outcomes), Some(blocklets)) = (&outcomes, &entry.blocklets)
        && outcomes.iter().all(Outcome::is_skipped)
    {
        let plan = |(outcome, blocklet): (&Outcome, &IndexedBlocklet)| {
            let rows = blocklet.rows.or_internal("an index file has bounds of a blocklet, and no number of rows")?;
            Ok(BlockletPlan { blocklet: blocklet.id, rows, outcome: outcome.clone() })
        };
        return Ok((outcomes.iter().zip(blocklets).map(plan).collect::<Result<_>>()?, None));
    }
    let open_file = OpenFiles::default().open(snapshot, entry)?;
    let blocklets_to_read: Vec<usize> = match &entry.blocklets {
        Some(blocklets) => blocklets.iter().map(|blocklet| blocklet.id).collect(),
        None => (0..open_file.file.num_blocklets()).collect(),
    };
    let mut plans = Vec::with_capacity(blocklets_to_read.len());
    for (index, blocklet) in blocklets_to_read.into_iter().enumerate() {
        let index_outcome = match &entry.blocklets {
            Some(_) => outcomes.as_ref().and_then(|outcomes| outcomes.get(index)),
            // The index file has one entry for the data file.
            None => outcomes.as_ref().and_then(|outcomes| outcomes.first()),
        };
        let outcome = match index_outcome.filter(|outcome| outcome.is_skipped()) {
            Some(outcome) => outcome.clone(),
            None => prune_blocklet(&open_file, config, blocklet)?,
        };
        plans.push(BlockletPlan { blocklet, rows: open_file.file.num_blocklet_rows(blocklet)?, outcome });
    }
    Ok((plans, Some(open_file)))
}

/// Runs `task` for each file, several at a time.
pub(super) fn map_files<T: Send + 'static>(
    snapshot: &Arc<TableSnapshot>,
    config: &Arc<ScanConfig>,
    task: impl Fn(&TableSnapshot, &ScanConfig, &FileEntry) -> Result<T> + Send + Sync + 'static,
) -> Result<Vec<T>> {
    let threads = decoding_threads(config.options.threads, &snapshot.limits);
    let requests =
        snapshot.files.first().map_or(1, |file| concurrency(&file.location, &snapshot.storage.of(&file.location)));
    let (snapshot, config) = (snapshot.clone(), config.clone());
    let (files, check) = (snapshot.files.len(), snapshot.storage.of_table().cancel_check().cloned());
    map(0..files, threads.max(requests), check, move |_, at| {
        let entry = snapshot.file(at)?;
        snapshot.check_format(entry)?;
        task(&snapshot, &config, entry).map_err(|error| error.in_file(&display_name(&entry.location)))
    })
}
