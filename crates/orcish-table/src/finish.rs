//! The end of a commit, by whichever process finds it decided.

use orcish_core::{Error, ErrorKind, Result};

use crate::entry::Entry;
use crate::log::{EntryState, LastEntry, Log, last_entry, mark};
use crate::names::job_folder;
use crate::store::Store;

/// What [`recover`] has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovered {
    /// There is no unfinished commit.
    Nothing,
    /// An unfinished commit is finished.
    Finished,
    /// An unfinished commit is undone.
    Undone,
}

/// Finishes the last commit of a table if that is unfinished. Any process can call this function at any time.
///
/// With `undo`, a commit that cannot be finished because one of its files cannot become visible is undone: the table has
/// the rows that it had before. The staged bytes of such a file are lost where somebody deleted them, or where a store
/// removes uploads that are not completed; or there is no right to write the file, or no place for it. No other commit is
/// undone.
///
/// # Errors
/// `Commit` if the commit cannot be finished, with the remedy.
pub async fn recover(store: &impl Store, undo: bool) -> Result<Recovered> {
    let last = last_entry(store).await?.and_then(LastEntry::unfinished);
    let Some((number, entry)) = last else { return Ok(Recovered::Nothing) };
    let error = match finish(store, number, &entry).await {
        Ok(EntryState::Undone) => return Ok(Recovered::Undone),
        Ok(_) => return Ok(Recovered::Finished),
        Err(error) => error,
    };
    if !undo || !can_undo(store, &entry).await? {
        return Err(error);
    }
    // Another process may have ended it meanwhile.
    let log = Log::read(store).await?;
    if log.unfinished() != Some(number) {
        return Ok(if log.state(number) == Some(EntryState::Undone) { Recovered::Undone } else { Recovered::Finished });
    }
    // As a file is lost, no process has removed a file for this entry, and none will. Of each file nothing is staged any
    // more, so that no process publishes it after its deletion here.
    let mut added = Vec::new();
    for file in &entry.added {
        // A file of another size was not published for this entry.
        if store.stat(&file.name).await?.is_some_and(|status| status.size == file.size) {
            added.push(file.name.clone());
        }
    }
    store.delete(&added).await?;
    mark(store, number, EntryState::Undone, &entry).await?;
    clean(store, &entry.job).await;
    Ok(Recovered::Undone)
}

/// Publishes all staged files that are there, and discards those that cannot be published. Returns whether one can never
/// become visible, and none is staged any more. The log has to be read afterwards: the entry may have been finished, and
/// the file may have been removed by a later one.
async fn can_undo(store: &impl Store, entry: &Entry) -> Result<bool> {
    let mut is_lost = false;
    for file in &entry.added {
        let files = std::slice::from_ref(file);
        let Err(mut error) = store.publish(&entry.job, files).await else { continue };
        if !is_not_found(&error) {
            // Azure discards nothing, so that another attempt has to tell.
            store.discard(&entry.job, files).await?;
            match store.publish(&entry.job, files).await {
                Ok(()) => continue,
                Err(again) => error = again,
            }
        }
        if !is_not_found(&error) {
            return Ok(false);
        }
        is_lost |= store.stat(&file.name).await?.is_none();
    }
    Ok(is_lost)
}

/// Whether there is no file, and none can be of its name.
fn is_not_found(error: &Error) -> bool {
    matches!(error.io_kind(), Some(std::io::ErrorKind::NotFound | std::io::ErrorKind::InvalidFilename))
}

/// Makes the effects of an entry happen, and returns its state: done, or undone by another process. The entry is the last
/// one, or was.
///
/// # Errors
/// `Commit` if the entry stays unfinished.
pub(crate) async fn finish(store: &impl Store, number: u64, entry: &Entry) -> Result<EntryState> {
    let Err(error) = apply(store, number, entry).await else { return Ok(EntryState::Done) };
    // Another process may have finished it, and a later commit may have removed the files since.
    if let Ok(log) = Log::read(store).await
        && log.unfinished() != Some(number)
    {
        // A marker that was written during the listing may be missing in it.
        let is_undone = log.state(number) == Some(EntryState::Undone);
        return Ok(if is_undone { EntryState::Undone } else { EntryState::Done });
    }
    let text = format!(
        "commit {number} of the table is decided and not finished. Remove the cause and call orcish.recover. With \
         undo=True, it takes a commit back of which a file cannot appear, and the rows of the commit are lost"
    );
    Err(Error::new(ErrorKind::Commit, text).with_source(error).in_file(&store.location("")))
}

/// The steps after an entry. Each of them can be repeated.
async fn apply(store: &impl Store, number: u64, entry: &Entry) -> Result<()> {
    store.publish(&entry.job, &entry.added).await?;
    store.delete(&entry.removed).await?;
    mark(store, number, EntryState::Done, entry).await?;
    clean(store, &entry.job).await;
    Ok(())
}

/// Removes the folder of a job that has ended. What cannot be removed stays until [`vacuum`](crate::vacuum).
pub(crate) async fn clean(store: &impl Store, job: &str) {
    let _ = store.delete_folder(&job_folder(job)).await;
}
