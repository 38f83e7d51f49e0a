//! Commits.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use orcish_core::{Error, ErrorKind, Result};

use crate::entry::{AddedFile, Entry, MAX_ENTRY, Operation, StagedBytes, StreamBatch};
use crate::finish::{clean, finish};
use crate::log::{EntryState, LastContent, Log, Marker, entry_name, last_entry, next_number, read_marker};
use crate::names::{FileKind, JOBS, OWN, check_job, file_kind, is_below, job_folder};
use crate::schema::TableSchema;
use crate::store::{Store, StoredFile};
use crate::vacuum::sweep;

/// How often the creation of an entry is tried where the store does not say whether it has created it.
const MAX_ATTEMPTS: usize = 8;
/// Times that differ by less are equal.
const MAX_ROUNDING: Duration = Duration::from_millis(1);
/// How often a commit begins again because other commits come first.
const MAX_TURNS: usize = 1_000;

/// A change of a table.
#[derive(Debug, Clone)]
pub struct Change {
    /// What the commit does, for people who read the log.
    pub operation: Operation,
    /// The number of rows of the added files, for people who read the log.
    pub rows_added: u64,
    /// Staged files. Their names were never those of other files of the table.
    pub added: Vec<AddedFile>,
    /// Which files are removed.
    pub removes: Removes,
    /// The batch of a stream that this change writes.
    pub stream: Option<StreamBatch>,
    /// The position of the log for which the change was made; see [`position`]. At another position nothing changes.
    pub position: Option<u64>,
    /// The schema of the table after the change; `None` where it stays.
    pub schema: Option<TableSchema>,
}

/// The files that a commit removes, of those that the table has when the commit is decided.
#[derive(Debug, Clone)]
pub enum Removes {
    /// None.
    Nothing,
    /// None. It is an error if there are files below this folder of the table.
    NothingExists(String),
    /// All files below a folder of the table; the empty folder is the table.
    Everything(String),
    /// All files of some folders, without those in folders below them.
    Folders(BTreeSet<String>),
    /// These files, which must not have changed.
    Files(Vec<StoredFile>),
}

/// The result of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The change is done, by the entry of this number.
    Committed(u64),
    /// The batch of the stream was committed before, and nothing has changed.
    CommittedBefore,
    /// Other commits have come first. The log is at this position, and nothing has changed.
    Outdated(u64),
}

/// Why a commit has failed.
#[derive(Debug)]
pub enum CommitError {
    /// The table is unchanged, and stays so.
    Refused(Error),
    /// It is not known whether the commit is decided. The staged files have to stay.
    InDoubt(Error),
    /// The commit is decided, and not finished. The next writer finishes it.
    Unfinished(Error),
}

impl From<Error> for CommitError {
    fn from(error: Error) -> Self {
        CommitError::Refused(error)
    }
}

impl From<CommitError> for Error {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Refused(error) | CommitError::InDoubt(error) | CommitError::Unfinished(error) => error,
        }
    }
}

/// The position of the log of a table: the number that the next entry has. A process that looks at the files of the table
/// after it has asked for the position, and passes the position to [`commit`], knows that no other commit comes between.
///
/// # Errors
/// `Io` if the log cannot be read, `Corrupt` if it has no number left.
pub async fn position(store: &impl Store) -> Result<u64> {
    Log::read(store).await?.last().map_or(Ok(0), |(number, _)| next_number(store, number))
}

/// Changes a table: all of the change happens, or nothing.
///
/// # Errors
/// See [`CommitError`]. `Refused` are errors of the store before the commit is decided; `InvalidArgument` for names or
/// IDs that are none; `Commit` if an earlier commit cannot be finished, or if files to remove have changed; `Io` with the
/// kind `AlreadyExists` for [`Removes::NothingExists`].
pub async fn commit(store: &impl Store, job: &str, change: &Change) -> Result<Outcome, CommitError> {
    let result = decide_and_finish(store, job, change).await;
    match result {
        Ok(Outcome::Committed(_)) | Err(CommitError::Unfinished(_)) => {}
        // Another process may clean up after this one. If the store does not take the file either, the commit can be undone.
        Err(CommitError::InDoubt(_)) => _ = store.write(&in_doubt_name(job), Bytes::new()).await,
        Ok(Outcome::CommittedBefore | Outcome::Outdated(_)) | Err(CommitError::Refused(_)) => store.unprepare().await,
    }
    result
}

async fn decide_and_finish(store: &impl Store, job: &str, change: &Change) -> Result<Outcome, CommitError> {
    check_job(job)?;
    for _ in 0..MAX_TURNS {
        let (mut number, mut streams, mut previous, mut schema) = (0, BTreeMap::new(), None, None);
        if let Some(last) = last_entry(store).await? {
            let marker = match last.content {
                LastContent::Unfinished(entry) => {
                    let state = finish(store, last.number, &entry).await?;
                    Marker::of(last.number, &entry, state)
                }
                LastContent::Ended(marker) => marker,
            };
            number = next_number(store, last.number)?;
            (streams, schema, previous) = (marker.streams, marker.schema, Some(marker.job));
        }
        if let Some(StreamBatch { stream, batch }) = &change.stream
            && streams.get(stream).is_some_and(|last| last.batch >= *batch)
        {
            return Ok(Outcome::CommittedBefore);
        }
        if change.position.is_some_and(|position| position != number) {
            return Ok(Outcome::Outdated(number));
        }
        let removed = match removed_files(store, &change.removes).await {
            // Another commit came between two listings. The next turn sees all of it.
            Err(error) if error.kind() != ErrorKind::Interrupted && position(store).await? != number => continue,
            removed => removed?,
        };
        check_staged(store, job, &change.added).await?;
        let entry = Entry::try_new(job, change.operation, change.rows_added, &change.added, removed)?;
        let entry = entry.after(previous).with_streams(change.stream.clone(), streams);
        let entry = entry.with_schema(schema, change.schema.clone());
        let bytes = entry.to_bytes()?;
        // Once the entry exists, a file that cannot become visible keeps the table from being written.
        store.prepare(job, &change.added, &entry.removed).await?;
        if !create(store, &entry_name(number), bytes).await? {
            continue;
        }
        let (log, mut state) = after_creation(store, number, job).await?;
        if state == EntryState::Unfinished {
            state = finish(store, number, &entry).await.map_err(CommitError::Unfinished)?;
        }
        if state == EntryState::Undone {
            let error =
                Error::new(ErrorKind::Commit, "the commit was undone by orcish.recover, as it could not be finished");
            return Err(CommitError::Refused(error.in_file(&store.location(""))));
        }
        sweep(store, &log).await;
        return Ok(Outcome::Committed(number));
    }
    let error = Error::new(ErrorKind::Commit, "other commits have come first all the time; the table is unchanged");
    Err(CommitError::Refused(error.in_file(&store.location(""))))
}

/// The files below a folder that readers see, and that are in the folder itself, not behind a link.
async fn own_files(store: &impl Store, folder: &str) -> Result<Vec<StoredFile>> {
    let mut files = store.list(folder).await?;
    files.retain(|file| file_kind(&file.name) != FileKind::Hidden);
    Ok(files)
}

/// Names of the files to remove, of those that are there now.
async fn removed_files(store: &impl Store, removes: &Removes) -> Result<Vec<String>> {
    match removes {
        Removes::Nothing => Ok(Vec::new()),
        Removes::NothingExists(folder) => {
            if store.list_visible(folder).await?.iter().any(|file| is_below(&file.name, folder)) {
                return Err(exists("the folder has data already").in_file(&store.location(folder)));
            }
            Ok(Vec::new())
        }
        Removes::Everything(folder) => replaced_files(store, folder, |file| is_below(&file.name, folder)).await,
        Removes::Folders(folders) => {
            // A file in the folder of the table itself is in the empty folder.
            let is_within =
                |file: &&StoredFile| folders.contains(file.name.rsplit_once('/').map_or("", |(folder, _)| folder));
            replaced_files(store, "", is_within).await
        }
        Removes::Files(files) => {
            let there = own_files(store, "").await?;
            let there: BTreeMap<&str, &StoredFile> = there.iter().map(|file| (file.name.as_str(), file)).collect();
            let is_there = |file: &StoredFile| there.get(file.name.as_str()).is_some_and(|now| is_same(file, now));
            if let Some(file) = files.iter().find(|file| !is_there(file)) {
                let text = "the file was changed or removed by another job meanwhile; the table is left as it was";
                return Err(Error::new(ErrorKind::Commit, text).in_file(&store.location(&file.name)));
            }
            Ok(files.iter().map(|file| file.name.clone()).collect())
        }
    }
}

/// The error for a table that is to be new, and is there already.
pub fn exists(what: &str) -> Error {
    Error::io("cannot be written", io::Error::new(io::ErrorKind::AlreadyExists, what))
}

/// Names of the files below a folder that are replaced.
///
/// # Errors
/// `InvalidArgument` if readers see such a file in a folder that is no partition, or behind a link: it may belong to
/// something else.
async fn replaced_files(
    store: &impl Store,
    folder: &str,
    is_replaced: impl Fn(&&StoredFile) -> bool,
) -> Result<Vec<String>> {
    let unlinked = own_files(store, folder).await?;
    let names: BTreeSet<&str> = unlinked.iter().map(|file| file.name.as_str()).collect();
    let linked = if store.follows_links() { store.list_visible(folder).await? } else { Vec::new() };
    for file in unlinked.iter().chain(&linked).filter(&is_replaced) {
        let text = match file_kind(&file.name) {
            FileKind::Subfolder => "the file is in a folder that is no partition, and is not replaced with the table",
            _ if !names.contains(file.name.as_str()) => {
                "the file is behind a link to a folder, and is not replaced with the table"
            }
            _ => continue,
        };
        return Err(
            Error::invalid(format!("{text}: move it, or write to another folder")).in_file(&store.location(&file.name))
        );
    }
    Ok(unlinked.iter().filter(is_replaced).map(|file| file.name.clone()).collect())
}

/// Whether a file is unchanged. A file that was found in an entry of the log has no time, and times may be rounded.
fn is_same(known: &StoredFile, file: &StoredFile) -> bool {
    let (earlier, later) = (known.modified.min(file.modified), known.modified.max(file.modified));
    let is_same_time = later.duration_since(earlier).is_ok_and(|time| time < MAX_ROUNDING);
    known.name == file.name && known.size == file.size && (is_same_time || known.modified == SystemTime::UNIX_EPOCH)
}

/// Checks that staged files are still there, where they are files.
async fn check_staged(store: &impl Store, job: &str, added: &[AddedFile]) -> Result<()> {
    for file in added {
        let StagedBytes::File(path) = &file.staged else { continue };
        let name = format!("{}/{path}", job_folder(job));
        if store.stat(&name).await?.is_none_or(|staged| staged.size != file.size) {
            return Err(Error::new(ErrorKind::Commit, "the staged file is gone").in_file(&store.location(&name)));
        }
    }
    Ok(())
}

/// Creates an entry; `false` if there is another one of its name. Where the store does not say whether it has created the
/// entry, the name is tried until somebody has it. A request that is late can then change nothing.
async fn create(store: &impl Store, name: &str, bytes: Bytes) -> Result<bool, CommitError> {
    let mut last_error = None;
    for attempt in 0..MAX_ATTEMPTS {
        if attempt > 0 && store.pause().await.is_err() {
            break;
        }
        match store.create(name, bytes.clone()).await {
            Ok(true) => return Ok(true),
            // An earlier request may have created it.
            Ok(false) => {}
            Err(error) if last_error.is_none() && is_final(store, &error) => return Err(CommitError::Refused(error)),
            Err(error) => _ = last_error.insert(error),
        }
        match store.read(name, MAX_ENTRY).await {
            Ok(Some(there)) => return Ok(there == bytes),
            // An entry that is gone was swept.
            Ok(None) if last_error.is_none() => return Ok(false),
            Ok(None) => {}
            Err(error) => _ = last_error.insert(error),
        }
    }
    let error =
        Error::new(ErrorKind::Commit, "whether the commit is decided is not known, as the store does not answer");
    let error = last_error.into_iter().fold(error, Error::with_source);
    Err(CommitError::InDoubt(error.in_file(&store.location(name))))
}

/// Whether an error means that nothing was written, and nothing will be: the store has refused the request.
fn is_final(store: &impl Store, error: &Error) -> bool {
    let is_refused = matches!(
        error.io_kind(),
        Some(io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
    );
    store.errors_are_final() || error.kind() != ErrorKind::Io || is_refused
}

/// The log, and the state of an entry that this process has created.
///
/// # Errors
/// `InDoubt` if the log has forgotten the entry, or its number had been forgotten before the creation, so that it has no
/// effect. A request that is late may have created the entry again, so that the two cannot be told apart.
async fn after_creation(store: &impl Store, number: u64, job: &str) -> Result<(Log, EntryState), CommitError> {
    let unknown = |error: Error| {
        let text = "whether the commit is decided is not known";
        CommitError::InDoubt(Error::new(ErrorKind::Commit, text).with_source(error).in_file(&store.location("")))
    };
    let log = Log::read(store).await.map_err(unknown)?;
    if log.unfinished() == Some(number) {
        return Ok((log, EntryState::Unfinished));
    }
    // Another process has finished it.
    for state in [EntryState::Done, EntryState::Undone] {
        // A number that the log has forgotten may have the marker of another entry.
        if read_marker(store, number, state).await.map_err(unknown)?.is_some_and(|marker| marker.job == job) {
            return Ok((log, state));
        }
    }
    Err(unknown(Error::invalid("this process was suspended until the log had forgotten the commit")))
}

/// The name of the file that says of a job that its commit may be decided.
fn in_doubt_name(job: &str) -> String {
    format!("{}/in-doubt", job_folder(job))
}

/// Removes the staged files of a job that does not commit. Nothing is removed if the last entry of the log is that of the
/// job, or if its commit is in doubt; see [`CommitError`].
///
/// # Errors
/// `Io` if a file cannot be removed; [`vacuum`](crate::vacuum) removes it later.
pub async fn abandon(store: &impl Store, job: &str, staged: &[AddedFile]) -> Result<()> {
    if last_entry(store).await?.is_some_and(|last| last.job() == job) {
        return Ok(());
    }
    if store.stat(&in_doubt_name(job)).await?.is_some() {
        return Ok(());
    }
    let discarded = store.discard(job, staged).await;
    clean(store, job).await;
    store.remove_empty_folders(&[JOBS, OWN]).await;
    discarded
}
