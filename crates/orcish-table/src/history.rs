//! The commits of a table.

use orcish_core::{Result, words};

use crate::entry::{Operation, StreamBatch};
use crate::log::{EntryState, Log, read_entry};
use crate::store::Store;

/// A commit of a table, as its log has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// The number of the entry.
    pub number: u64,
    /// When the commit was decided, by the clock of the writer, in milliseconds since 1970.
    pub time: u64,
    /// What the commit does.
    pub operation: Operation,
    /// Whether it has happened, entirely.
    pub status: CommitStatus,
    /// The number of rows of the added files.
    pub rows_added: u64,
    /// The number of files that are added.
    pub files_added: usize,
    /// The number of files that are removed.
    pub files_removed: usize,
    /// The batch of a stream that the commit writes.
    pub batch: Option<StreamBatch>,
    /// The ID of the job.
    pub job: String,
    /// The name and version of the writer.
    pub engine: String,
}

words! {
    /// How far a commit is.
    pub enum CommitStatus {
        /// All of its effects have happened.
        Done = "done",
        /// It is decided, and not all of its effects have happened.
        Unfinished = "unfinished",
        /// It has no effects: it could not be finished, and was taken back.
        Undone = "undone",
    }
}

/// The last commits of a table, at most `limit`, the newest first. A log keeps the last 20 commits and those of the last hour
/// before the newest, see [`Retention`](crate::Retention).
///
/// # Errors
/// `Io` if the log cannot be read, `Corrupt` for an invalid entry.
pub async fn history(store: &impl Store, limit: usize) -> Result<Vec<Commit>> {
    let log = Log::read(store).await?;
    let mut commits = Vec::new();
    for (number, state) in log.newest().take(limit) {
        // An entry may be forgotten meanwhile.
        let Some(entry) = read_entry(store, number).await? else { break };
        let status = match state {
            EntryState::Undone => CommitStatus::Undone,
            EntryState::Unfinished if log.unfinished() == Some(number) => CommitStatus::Unfinished,
            EntryState::Unfinished | EntryState::Done => CommitStatus::Done,
        };
        commits.push(Commit {
            number,
            time: entry.time,
            operation: entry.operation,
            status,
            rows_added: entry.rows_added,
            files_added: entry.added.len(),
            files_removed: entry.removed.len(),
            batch: entry.batch,
            job: entry.job,
            engine: entry.engine,
        });
    }
    Ok(commits)
}
