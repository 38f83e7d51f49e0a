//! The log of a table.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use bytes::Bytes;
use orcish_core::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

use crate::entry::{Entry, LastBatch, MAX_ENTRY};
use crate::names::{LOG, MAX_NUMBER, log_name, parse_log_name};
use crate::schema::TableSchema;
use crate::sealed::{from_sealed, to_sealed};
use crate::shape::check_shape;
use crate::store::{Retention, Store};

/// The ending of an entry.
const ENTRY: &str = "json";
/// The ending of the marker of an entry that is finished.
const DONE: &str = "done";
/// The ending of the marker of an entry that was undone.
const UNDONE: &str = "undone";

/// How often a process begins again because the log has gone on.
const MAX_ATTEMPTS: usize = 1_000;

/// The state of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryState {
    /// It is decided, and not all of its effects have happened.
    Unfinished,
    /// All of its effects have happened.
    Done,
    /// It has no effects.
    Undone,
}

/// The entries of a log at one moment, without their contents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Log {
    entries: BTreeMap<u64, (EntryState, SystemTime)>,
    /// Markers without entries: their numbers and names.
    orphans: BTreeSet<(u64, String)>,
}

impl Log {
    pub(crate) async fn read(store: &impl Store) -> Result<Self> {
        let mut entries = BTreeMap::new();
        let mut markers = Vec::new();
        for file in store.list(LOG).await? {
            match parse_log_name(&file.name) {
                Some((number, ENTRY)) => _ = entries.insert(number, (EntryState::Unfinished, file.modified)),
                Some((number, DONE)) => markers.push((number, EntryState::Done, file.name)),
                Some((number, UNDONE)) => markers.push((number, EntryState::Undone, file.name)),
                // Files that are being written have temporary names.
                _ => {}
            }
        }
        let mut orphans = BTreeSet::new();
        for (number, marker, name) in markers {
            match entries.get_mut(&number) {
                Some((state, _)) => *state = marker,
                None => _ = orphans.insert((number, name)),
            }
        }
        Ok(Log { entries, orphans })
    }

    /// The number and the state of the last entry.
    pub(crate) fn last(&self) -> Option<(u64, EntryState)> {
        self.entries.last_key_value().map(|(number, (state, _))| (*number, *state))
    }

    /// The last entry if it is unfinished.
    pub(crate) fn unfinished(&self) -> Option<u64> {
        self.last().filter(|(_, state)| *state == EntryState::Unfinished).map(|(number, _)| number)
    }

    /// The state of an entry; `None` if it has been deleted, or was never there.
    pub(crate) fn state(&self, number: u64) -> Option<EntryState> {
        self.entries.get(&number).map(|(state, _)| *state)
    }

    /// The entries from a number on, in order.
    pub(crate) fn since(&self, number: u64) -> impl Iterator<Item = (u64, EntryState)> {
        self.entries.range(number..).map(|(number, (state, _))| (*number, *state))
    }

    /// All entries, the newest first.
    pub(crate) fn newest(&self) -> impl Iterator<Item = (u64, EntryState)> {
        self.entries.iter().rev().map(|(number, (state, _))| (*number, *state))
    }

    /// The number and the name of a marker above the last entry. Markers follow their entries, and the last entry is not
    /// deleted: either the entry was created during the listing, or no commit has written the marker.
    fn stray(&self) -> Option<(u64, &str)> {
        let (number, name) = self.orphans.last()?;
        self.last().is_none_or(|(last, _)| last < *number).then_some((*number, name.as_str()))
    }

    /// Names of old entries, and of markers whose entries are deleted. A marker is deleted after its entry, so that a
    /// finished entry never looks unfinished.
    pub(crate) fn stale(&self, retention: Retention) -> Vec<String> {
        let Some((last, (_, newest))) = self.entries.last_key_value() else { return Vec::new() };
        let is_stale = |modified: &SystemTime| newest.duration_since(*modified).is_ok_and(|age| age >= retention.time);
        let old =
            self.entries.iter().rev().skip(retention.entries.max(1)).filter(|(_, (_, modified))| is_stale(modified));
        let markers = self.orphans.iter().take_while(|(number, _)| number < last).map(|(_, name)| name.clone());
        old.map(|(number, _)| entry_name(*number)).chain(markers).collect()
    }
}

/// The number of the entry after one.
///
/// # Errors
/// `Corrupt` if there is no such number.
pub(crate) fn next_number(store: &impl Store, number: u64) -> Result<u64> {
    if number < MAX_NUMBER {
        return Ok(number + 1);
    }
    Err(Error::corrupt("the log has no number left").in_file(&store.location(LOG)))
}

/// The last entry of a log.
pub(crate) struct LastEntry {
    pub(crate) number: u64,
    pub(crate) content: LastContent,
}

/// What is known of the last entry of a log.
pub(crate) enum LastContent {
    /// The entry, which is not finished.
    Unfinished(Box<Entry>),
    /// The marker of an entry that is finished or undone.
    Ended(Marker),
}

impl LastEntry {
    /// The job of the entry.
    pub(crate) fn job(&self) -> &str {
        match &self.content {
            LastContent::Unfinished(entry) => &entry.job,
            LastContent::Ended(marker) => &marker.job,
        }
    }

    /// The number and the entry if it is unfinished.
    pub(crate) fn unfinished(self) -> Option<(u64, Entry)> {
        match self.content {
            LastContent::Unfinished(entry) => Some((self.number, *entry)),
            LastContent::Ended(_) => None,
        }
    }
}

/// The last entry of the log, with its content; `None` if there is no entry. The entry may have been finished, and have
/// been followed by another one, since.
///
/// # Errors
/// `Corrupt` for an entry that is none, and for a marker of an entry to come: the entry would never be finished.
pub(crate) async fn last_entry(store: &impl Store) -> Result<Option<LastEntry>> {
    for _ in 0..MAX_ATTEMPTS {
        let log = Log::read(store).await?;
        if let Some((number, name)) = log.stray() {
            if read_entry(store, number).await?.is_none() && Log::read(store).await? == log {
                let text = "this marker belongs to no commit of the table, and would be taken for that of a later one; \
                            remove the file";
                return Err(Error::corrupt(text).in_file(&store.location(name)));
            }
            continue;
        }
        let Some((number, state)) = log.last() else { return Ok(None) };
        let content = match state {
            EntryState::Unfinished => {
                read_entry(store, number).await?.map(|entry| LastContent::Unfinished(Box::new(entry)))
            }
            ended => marker_or_entry(store, number, ended).await?.map(LastContent::Ended),
        };
        // An entry that is not the last one any more may have been forgotten, and its name may be that of an entry without
        // effect.
        let is_last = Log::read(store).await?.last().is_some_and(|(last, _)| last == number);
        if let Some(content) = content.filter(|_| is_last) {
            return Ok(Some(LastEntry { number, content }));
        }
    }
    Err(Error::new(ErrorKind::Commit, "the log changes faster than it can be read").in_file(&store.location(LOG)))
}

/// The content of an entry; `None` if it has been deleted.
///
/// # Errors
/// `Corrupt` and `Unsupported`, with the name of the file.
pub(crate) async fn read_entry(store: &impl Store, number: u64) -> Result<Option<Entry>> {
    let name = log_name(number, ENTRY);
    let bytes = store.read(&name, MAX_ENTRY).await?;
    let entry = bytes.map(|bytes| Entry::from_bytes(&bytes)).transpose();
    entry.map_err(|error| error.in_file(&store.location(&name)))
}

/// The name of an entry.
pub(crate) fn entry_name(number: u64) -> String {
    log_name(number, ENTRY)
}

/// The content of the marker of an entry: what a reader, or the next commit, needs of an entry that has ended. The entry
/// may be large, and a damaged one is not needed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Marker {
    /// The job of the entry.
    pub(crate) job: String,
    /// The last batch of each stream after the entry.
    pub(crate) streams: BTreeMap<String, LastBatch>,
    /// The schema of the table after the entry.
    pub(crate) schema: Option<TableSchema>,
}

impl Marker {
    /// The marker of an entry that has ended in a state. All processes write the same.
    pub(crate) fn of(number: u64, entry: &Entry, state: EntryState) -> Self {
        let is_undone = state == EntryState::Undone;
        Marker {
            job: entry.job.clone(),
            streams: entry.streams_after(number, is_undone),
            schema: entry.schema_after(is_undone).cloned(),
        }
    }
}

/// Writes the marker of an entry: that it is finished, or that it is undone.
pub(crate) async fn mark(store: &impl Store, number: u64, state: EntryState, entry: &Entry) -> Result<()> {
    let bytes = to_sealed(&Marker::of(number, entry, state))?;
    store.write(&marker_name(number, state), bytes.into()).await
}

/// The marker of an entry that has ended; `None` if the log has forgotten the entry. Of a damaged marker, the entry has the
/// same.
///
/// # Errors
/// `Corrupt` with the name of the entry if neither can be read.
pub(crate) async fn marker_or_entry(store: &impl Store, number: u64, state: EntryState) -> Result<Option<Marker>> {
    match read_marker(store, number, state).await {
        Err(_) => Ok(read_entry(store, number).await?.map(|entry| Marker::of(number, &entry, state))),
        marker => marker,
    }
}

/// The marker of an entry; `None` if there is none, or if it has been deleted.
///
/// # Errors
/// `Corrupt` and `LimitExceeded`, with the name of the file.
pub(crate) async fn read_marker(store: &impl Store, number: u64, state: EntryState) -> Result<Option<Marker>> {
    let name = marker_name(number, state);
    let bytes = store.read(&name, MAX_ENTRY).await?;
    let parsed = |bytes: Bytes| {
        check_shape(&bytes)?;
        from_sealed(&bytes, "this is no marker of the log of a table")
    };
    bytes.map(parsed).transpose().map_err(|error| error.in_file(&store.location(&name)))
}

fn marker_name(number: u64, state: EntryState) -> String {
    log_name(number, if state == EntryState::Undone { UNDONE } else { DONE })
}
