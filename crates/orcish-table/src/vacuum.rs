//! Removal of what dead jobs have left, and of old entries of the log.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use orcish_core::Result;

use crate::log::{Log, State, last_entry};
use crate::names::{JOBS, OWN, job_folder};
use crate::store::Store;

/// The age of the files of a job from which on the job is taken for dead: 7 days.
pub const STALE: Duration = Duration::from_secs(7 * 86_400);

/// Removes the staged files of jobs that have written nothing for a time, and returns the number of files. The files of a
/// job whose commit is decided and not finished stay. Ages are measured with the clock of the storage system.
///
/// Uploads of stores that are not completed stay: the rules of the store remove them.
///
/// # Errors
/// `Io` if the table cannot be listed, or a file cannot be removed.
pub async fn vacuum(store: &impl Store, older_than: Duration) -> Result<usize> {
    // Files are listed first: a job that decides in between is found in the log.
    let mut jobs: BTreeMap<String, (SystemTime, usize)> = BTreeMap::new();
    for file in store.list(JOBS).await? {
        // A file beside the folders of jobs is of no job.
        let mut steps = file.name.split('/');
        let (Some(job), Some(_)) = (steps.nth(2), steps.next()) else { continue };
        let (newest, files) = jobs.entry(job.to_owned()).or_insert((file.modified, 0));
        *newest = file.modified.max(*newest);
        *files += 1;
    }
    if jobs.is_empty() {
        return Ok(0);
    }
    if let Some(last) = last_entry(store).await?.filter(|last| last.state == State::Unfinished) {
        jobs.remove(&last.entry.job);
    }
    let now = now(store).await?;
    let is_stale = |newest: SystemTime| now.duration_since(newest).is_ok_and(|age| age >= older_than);
    let mut removed = 0;
    for (job, (_, files)) in jobs.into_iter().filter(|(_, (newest, _))| is_stale(*newest)) {
        store.delete_folder(&job_folder(&job)).await?;
        removed += files;
    }
    Ok(removed)
}

/// The time by the clock of the storage system.
async fn now(store: &impl Store) -> Result<SystemTime> {
    let probe = format!("{OWN}/clock");
    store.write(&probe, Bytes::new()).await?;
    let written = store.stat(&probe).await?;
    Ok(written.map_or(SystemTime::UNIX_EPOCH, |file| file.modified))
}

/// Deletes old entries of the log. Errors do not matter, because the next commit tries again.
pub(crate) async fn sweep(store: &impl Store, log: &Log) {
    let stale = log.stale(store.retention());
    if !stale.is_empty() {
        let _ = store.delete(&stale).await;
    }
}
