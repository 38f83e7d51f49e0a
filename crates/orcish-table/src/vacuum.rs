//! Removal of what dead jobs have left, and of old entries of the log.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use orcish_core::{Error, Result};

use crate::log::{LastEntry, Log, last_entry};
use crate::names::{JOBS, OWN, is_temporary, job_folder};
use crate::store::Store;

/// The age of the files of a job from which on the job is taken for dead: 7 days.
pub const STALE: Duration = Duration::from_secs(7 * 86_400);

/// Removes what killed processes have left and what is older than a time, and returns the number of files: the staged
/// files of jobs that have written nothing for that time, and their empty folders; temporary files beside the log; and
/// files by which a job has tested whether it can change a folder. The files of a job whose commit is decided and not
/// finished stay. Ages are measured with the clock of the storage system.
///
/// Uploads of stores that are not completed stay: the rules of the store remove them.
///
/// # Errors
/// `Io` if the table cannot be listed, or a file cannot be removed.
pub async fn vacuum(store: &impl Store, older_than: Duration) -> Result<usize> {
    // Files are listed first: a job that decides in between is found in the log.
    let mut folders: BTreeMap<String, (SystemTime, Vec<String>)> = BTreeMap::new();
    for (name, modified) in store.folders(JOBS).await? {
        let Some(job) = name.split('/').nth(2) else { continue };
        let (newest, names) = folders.entry(job.to_owned()).or_insert((modified, Vec::new()));
        *newest = modified.max(*newest);
        names.push(name);
    }
    let mut others = store.probes().await?;
    let mut jobs: BTreeMap<String, (SystemTime, usize)> = BTreeMap::new();
    for file in store.list(OWN).await? {
        // A file beside the folders of jobs is of no job.
        let job = file.name.strip_prefix(JOBS).and_then(|rest| rest.strip_prefix('/')?.split_once('/'));
        if let Some((job, _)) = job {
            let (newest, files) = jobs.entry(job.to_owned()).or_insert((file.modified, 0));
            *newest = file.modified.max(*newest);
            *files += 1;
        } else if is_temporary(&file.name) {
            others.push(file);
        }
    }
    folders.retain(|job, _| !jobs.contains_key(job));
    if let Some((_, entry)) = last_entry(store).await?.and_then(LastEntry::unfinished) {
        jobs.remove(&entry.job);
        folders.remove(&entry.job);
    }
    if jobs.is_empty() && folders.is_empty() && others.is_empty() {
        return Ok(0);
    }
    let now = now(store).await?;
    let is_stale = |newest: SystemTime| now.duration_since(newest).is_ok_and(|age| age >= older_than);
    let mut removed = 0;
    for (job, (_, files)) in jobs.into_iter().filter(|(_, (newest, _))| is_stale(*newest)) {
        store.delete_folder(&job_folder(&job)).await?;
        removed += files;
    }
    let others = others.into_iter().filter(|file| is_stale(file.modified));
    let others: Vec<String> = others.map(|file| file.name).collect();
    store.delete(&others).await?;
    for (_, names) in folders.values_mut().filter(|(newest, _)| is_stale(*newest)) {
        // Inner folders are removed before outer ones.
        names.sort_unstable_by(|a, b| b.cmp(a));
        store.remove_empty_folders(&names.iter().map(String::as_str).collect::<Vec<_>>()).await;
    }
    Ok(removed + others.len())
}

/// The time by the clock of the storage system.
async fn now(store: &impl Store) -> Result<SystemTime> {
    let probe = format!("{OWN}/clock");
    store.write(&probe, Bytes::new()).await?;
    let gone = || Error::io("the file is gone", ErrorKind::NotFound.into()).in_file(&store.location(&probe));
    Ok(store.stat(&probe).await?.ok_or_else(gone)?.modified)
}

/// Deletes old entries of the log. Errors do not matter, because the next commit tries again.
pub(crate) async fn sweep(store: &impl Store, log: &Log) {
    let stale = log.stale(store.retention());
    if !stale.is_empty() {
        let _ = store.delete(&stale).await;
    }
}
