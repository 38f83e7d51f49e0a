//! Division of a scan into splits.

use std::sync::Arc;

use orcish_core::Result;
use orcish_io::FileVersion;

use super::blocklet_plan::{blocklet_plans, map_files};
use super::config::ScanConfig;
use super::snapshot::TableSnapshot;
use super::split::Split;
use super::split_token;
use crate::table::{FileEntry, FileFormat};

/// Divides a scan into splits of about `bytes` stored bytes.
pub(super) fn splits(snapshot: &Arc<TableSnapshot>, config: &Arc<ScanConfig>, bytes: u64) -> Result<Vec<Split>> {
    let splits = map_files(snapshot, config, move |snapshot, config, entry| {
        if entry.format != FileFormat::Columnar {
            let size = match entry.size {
                Some(size) => size,
                None => orcish_io::stat(&entry.location, &snapshot.storage.of(&entry.location))?
                    .map_or(0, |status| status.size),
            };
            return Ok(vec![split(snapshot, entry, (Vec::new(), 0, size), None)?]);
        }
        let (blocklet_plans, open_file) = blocklet_plans(snapshot, config, entry)?;
        let Some(open_file) = open_file else { return Ok(Vec::new()) };
        let mut runs: Vec<(Vec<usize>, u64, u64)> = Vec::new();
        for plan in blocklet_plans.iter().filter(|plan| !plan.outcome.is_skipped()) {
            let size = open_file.file.stored_bytes(plan.blocklet)?;
            match runs.last_mut() {
                Some((run, rows, sum)) if sum.saturating_add(size) <= bytes => {
                    run.push(plan.blocklet);
                    *rows = rows.saturating_add(plan.rows);
                    *sum = sum.saturating_add(size);
                }
                _ => runs.push((vec![plan.blocklet], plan.rows, size)),
            }
        }
        let version = open_file.file.source_version()?;
        runs.into_iter().map(|run| split(snapshot, entry, run, version.as_ref())).collect()
    })?;
    Ok(splits.into_iter().flatten().collect())
}

/// The split of some blocklets of a file, with their rows and stored bytes. Without a version, any later file is read.
fn split(
    snapshot: &TableSnapshot,
    entry: &FileEntry,
    (blocklets, rows, bytes): (Vec<usize>, u64, u64),
    version: Option<&FileVersion>,
) -> Result<Split> {
    let token = split_token::write(snapshot, entry, &blocklets, version)?;
    Ok(Split { location: entry.location.clone(), blocklets, rows, bytes, token })
}
