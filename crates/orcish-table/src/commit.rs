//! Commits.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use orcish_core::{Error, ErrorKind, Result};

use crate::entry::{AddedFile, Entry, MAX_ENTRY, Operation, StagedBytes, StreamBatch};
use crate::finish::{clean, finish};
use crate::log::{Log, State, entry_name, is_marked_by, last_entry};
use crate::names::{FileKind, check_job, file_kind, is_below, job_folder};
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
    /// Staged files. Their names were never those of other files of the table.
    pub added: Vec<AddedFile>,
    /// Which files are removed.
    pub removes: Removes,
    /// The batch of a stream that the change is.
    pub stream: Option<StreamBatch>,
}

/// The files that a commit removes, of those that the table has when the commit is decided.
#[derive(Debug, Clone)]
pub enum Removes {
    /// None.
    Nothing,
    /// None, and there may be none.
    NothingExists,
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

/// Changes a table: all of the change happens, or nothing.
///
/// # Errors
/// See [`CommitError`]. `Refused` are errors of the store before the commit is decided; `InvalidArgument` for names or
/// IDs that are none; `Commit` if an earlier commit cannot be finished, or if files to remove have changed; `Io` with the
/// kind `AlreadyExists` for [`Removes::NothingExists`].
pub async fn commit(store: &impl Store, job: &str, change: &Change) -> Result<Outcome, CommitError> {
    check_job(job)?;
    for _ in 0..MAX_TURNS {
        let (mut number, mut streams, mut previous) = (0, BTreeMap::new(), None);
        if let Some(mut last) = last_entry(store).await? {
            if last.state == State::Unfinished {
                last.state = finish(store, last.number, &last.entry).await?;
            }
            number = last.number.checked_add(1).ok_or_else(|| Error::corrupt("the log has no number left"))?;
            previous = Some(last.entry.job.clone());
            streams = last.entry.streams_after(last.number, last.state == State::Undone);
        }
        if let Some(StreamBatch { stream, batch }) = &change.stream
            && streams.get(stream).is_some_and(|last| last.batch >= *batch)
        {
            return Ok(Outcome::CommittedBefore);
        }
        let removed = removed_files(store, &change.removes).await?;
        check_staged(store, job, &change.added).await?;
        let entry = Entry::new(job, change.operation, &change.added, removed);
        let entry = entry.after(previous).with_streams(change.stream.clone(), streams);
        if !create(store, &entry_name(number), entry.to_bytes()?).await? {
            continue;
        }
        let (log, mut state) = after_creation(store, number, job).await?;
        if state == State::Unfinished {
            state = finish(store, number, &entry).await.map_err(CommitError::Unfinished)?;
        }
        if state == State::Undone {
            let error = Error::new(ErrorKind::Commit, "the commit was undone by orcish.recover, as files were lost");
            return Err(CommitError::Refused(error.in_file(&store.location(""))));
        }
        sweep(store, &log).await;
        return Ok(Outcome::Committed(number));
    }
    let error = Error::new(ErrorKind::Commit, "other commits have come first all the time; the table is unchanged");
    Err(CommitError::Refused(error.in_file(&store.location(""))))
}

/// The data files below a folder.
async fn visible(store: &impl Store, folder: &str) -> Result<Vec<StoredFile>> {
    let mut files = store.list(folder).await?;
    files.retain(|file| file_kind(&file.name) != FileKind::Hidden);
    Ok(files)
}

/// Names of the files to remove, of those that are there now.
async fn removed_files(store: &impl Store, removes: &Removes) -> Result<Vec<String>> {
    let there = match removes {
        Removes::Nothing => return Ok(Vec::new()),
        Removes::Everything(folder) => visible(store, folder).await?,
        _ => visible(store, "").await?,
    };
    let known: BTreeMap<&str, &StoredFile> = match removes {
        Removes::Files(files) => files.iter().map(|file| (file.name.as_str(), file)).collect(),
        _ => BTreeMap::new(),
    };
    let folder_of = |name: &str| name.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned());
    let is_removed = |file: &&StoredFile| match removes {
        Removes::Nothing | Removes::NothingExists => false,
        Removes::Everything(folder) => is_below(&file.name, folder),
        Removes::Folders(folders) => folders.contains(&folder_of(&file.name)),
        Removes::Files(_) => known.contains_key(file.name.as_str()),
    };
    match removes {
        Removes::NothingExists if !there.is_empty() => {
            let error = io::Error::from(io::ErrorKind::AlreadyExists);
            return Err(Error::io("the table has data already", error).in_file(&store.location("")));
        }
        Removes::Everything(_) => {
            if let Some(file) = there.iter().find(|file| file_kind(&file.name) == FileKind::Subfolder) {
                let text = "the file is in a folder that is no partition: it is not replaced with the table";
                return Err(Error::invalid(text).in_file(&store.location(&file.name)));
            }
        }
        Removes::Files(files) => {
            let is_there = |file: &StoredFile| known.get(file.name.as_str()).is_some_and(|known| is_same(known, file));
            let unchanged: BTreeSet<_> = there.iter().filter(|file| is_there(file)).map(|file| &file.name).collect();
            if let Some(file) = files.iter().find(|file| !unchanged.contains(&file.name)) {
                let text = "the file was changed or removed by another job meanwhile; the table is left as it was";
                return Err(Error::new(ErrorKind::Commit, text).in_file(&store.location(&file.name)));
            }
        }
        _ => {}
    }
    Ok(there.iter().filter(is_removed).map(|file| file.name.clone()).collect())
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
        if store.stat(&name).await?.is_none_or(|found| found.size != file.size) {
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
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>());
    let is_refused = source.is_some_and(|source| {
        matches!(
            source.kind(),
            io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
        )
    });
    store.errors_are_final() || error.kind() != ErrorKind::Io || is_refused
}

/// The log, and the state of an entry that this process has created.
///
/// # Errors
/// `InDoubt` if the log has forgotten the entry, or its number had been forgotten before the creation, so that it has no
/// effect. A request that is late may have created the entry again, so that the two cannot be told apart.
async fn after_creation(store: &impl Store, number: u64, job: &str) -> Result<(Log, State), CommitError> {
    let unknown = |error: Error| {
        let text = "whether the commit is decided is not known";
        CommitError::InDoubt(Error::new(ErrorKind::Commit, text).with_source(error).in_file(&store.location("")))
    };
    let log = Log::read(store).await.map_err(unknown)?;
    if log.unfinished() == Some(number) {
        return Ok((log, State::Unfinished));
    }
    // Another process has finished it.
    for state in [State::Done, State::Undone] {
        if is_marked_by(store, number, state, job).await.map_err(unknown)? {
            return Ok((log, state));
        }
    }
    Err(unknown(Error::invalid("this process was suspended until the log had forgotten the commit")))
}

/// Removes the staged files of a job that does not commit. Nothing is removed if the last entry of the log is that of the
/// job. A job whose commit may be decided should not call this function; see [`CommitError`].
///
/// # Errors
/// `Io` if a file cannot be removed; [`vacuum`](crate::vacuum) removes it later.
pub async fn abandon(store: &impl Store, job: &str, staged: &[AddedFile]) -> Result<()> {
    if last_entry(store).await?.is_some_and(|last| last.entry.job == job) {
        return Ok(());
    }
    let discarded = store.discard(job, staged).await;
    clean(store, job).await;
    discarded
}
