//! The files of a table at one moment of its log.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant, SystemTime};

use orcish_core::{Error, ErrorKind, Result};

use crate::entry::Entry;
use crate::log::{EntryState, Log, marker_or_entry, read_entry};
use crate::names::is_below;
use crate::schema::TableSchema;
use crate::store::{Store, StoredFile};

/// How often a reader begins again because the log has forgotten entries meanwhile.
const MAX_ATTEMPTS: usize = 100;
/// How often a reader looks for files that are not visible, without finding one more.
const MAX_WAITS: usize = 100;
/// Time after which a reader gives up if it has not found one more in two looks.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// What a reader does where the last commit is decided, and some of its files are not visible yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pending {
    /// Waits while files become visible, and fails if none does for some seconds.
    #[default]
    Wait,
    /// Reads the state before the commit.
    Before,
}

/// The files of a table at one moment of its log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct View {
    /// The visible files, sorted by name. Files in other folders than those of partitions are among them.
    pub files: Vec<StoredFile>,
    /// The schema; `None` for that of the first file.
    pub schema: Option<TableSchema>,
}

/// The files of a table, or of a folder in it, at one moment of its log. Nothing is written.
///
/// # Errors
/// `Commit` if the last commit is not finished and its files do not become visible. `Corrupt` for an invalid entry.
pub async fn view(store: &impl Store, folder: &str, pending: Pending) -> Result<View> {
    let (mut missing, mut waits, mut attempts) = (usize::MAX, 0, 0);
    let mut since = Instant::now();
    let mut known = None;
    while attempts < MAX_ATTEMPTS {
        match look(store, folder, pending, &mut known).await? {
            Look::Files(view) => return Ok(view),
            Look::Again => attempts += 1,
            Look::Missing { count, number, name } => {
                waits += 1;
                if count < missing {
                    (waits, since) = (0, Instant::now());
                }
                missing = count;
                if waits >= MAX_WAITS || (waits > 1 && since.elapsed() >= MAX_WAIT) {
                    return Err(unfinished(store, number, &name));
                }
                store.pause().await?;
            }
        }
    }
    Err(Error::new(ErrorKind::Commit, "the table changes faster than it can be listed").in_file(&store.location("")))
}

fn unfinished(store: &impl Store, number: u64, name: &str) -> Error {
    let text = format!(
        "commit {number} of the table is decided and not finished: {name} is not visible yet. orcish.recover finishes \
         it; pending=\"before\" reads the state before it"
    );
    Error::new(ErrorKind::Commit, text).in_file(&store.location(""))
}

enum Look {
    Files(View),
    /// The log has forgotten an entry that was added meanwhile.
    Again,
    /// The last commit has files that are not visible.
    Missing {
        count: usize,
        number: u64,
        name: String,
    },
}

/// Files by name.
type Files = BTreeMap<String, StoredFile>;

/// A log with an entry that is not finished, and the entry, which cannot change as long as the log does not.
type Known = Option<(Log, Entry)>;

async fn look(store: &impl Store, folder: &str, pending: Pending, known: &mut Known) -> Result<Look> {
    let before = Log::read(store).await?;
    let mut files: Files =
        store.list_visible(folder).await?.into_iter().map(|file| (file.name.clone(), file)).collect();
    let after = Log::read(store).await?;
    // The effects of these entries may have happened before, during or after the listing.
    let first = match before.last() {
        None => 0,
        Some((number, EntryState::Unfinished)) => number,
        Some((number, _)) => number.saturating_add(1),
    };
    let mut expected = first;
    let mut previous: Option<String> = None;
    let mut schema = None;
    for (number, state) in after.since(first) {
        let entry = match known.take_if(|(log, _)| *log == after && after.unfinished() == Some(number)) {
            Some((_, entry)) => Some(entry),
            None => read_entry(store, number).await?,
        };
        let Some(entry) = entry else { return Ok(Look::Again) };
        let is_next = previous.is_none() || entry.previous == previous;
        if number != expected || !is_next {
            return Ok(Look::Again);
        }
        expected = number.saturating_add(1);
        previous = Some(entry.job.clone());
        schema = Some(entry.schema_after(state == EntryState::Undone).cloned());
        if state == EntryState::Undone {
            // Its files may have been visible.
            hide(&mut files, &entry);
            continue;
        }
        if state == EntryState::Unfinished
            && after.unfinished() == Some(number)
            && let Some((count, name)) = missing(store, &entry, &files).await?
        {
            // A file may have become visible, and have been removed by a later commit.
            if Log::read(store).await? != after {
                return Ok(Look::Again);
            }
            if pending == Pending::Wait {
                *known = Some((after.clone(), entry));
                return Ok(Look::Missing { count, number, name });
            }
            hide(&mut files, &entry);
            schema = Some(entry.schema_after(true).cloned());
            continue;
        }
        apply(&mut files, &entry, folder);
    }
    let schema = match (schema, after.last()) {
        (Some(schema), _) => schema,
        (None, None) => None,
        // The last entry was finished before the listing.
        (None, Some((number, state))) => {
            let Some(marker) = marker_or_entry(store, number, state).await? else { return Ok(Look::Again) };
            marker.schema
        }
    };
    Ok(Look::Files(View { files: files.into_values().collect(), schema }))
}

/// The number of added files that are not visible, and the name of one; `None` if all are visible.
async fn missing(store: &impl Store, entry: &Entry, listed: &Files) -> Result<Option<(usize, String)>> {
    let names = entry.added.iter().map(|file| &file.name);
    let unlisted: Vec<&String> = names.filter(|name| !listed.contains_key(*name)).collect();
    let mut missing = Vec::new();
    if unlisted.len() > store.many() {
        let visible: BTreeSet<String> = store.list_visible("").await?.into_iter().map(|file| file.name).collect();
        missing.extend(unlisted.into_iter().filter(|name| !visible.contains(*name)));
    } else {
        for name in unlisted {
            if store.stat(name).await?.is_none() {
                missing.push(name);
            }
        }
    }
    Ok(missing.first().map(|name| (missing.len(), name.to_string())))
}

/// Removes the added files of an entry without effects. A file of another size was not published for it.
fn hide(files: &mut Files, entry: &Entry) {
    for file in &entry.added {
        if files.get(&file.name).is_some_and(|listed| listed.size == file.size) {
            files.remove(&file.name);
        }
    }
}

fn apply(files: &mut Files, entry: &Entry, folder: &str) {
    for file in entry.added.iter().filter(|file| is_below(&file.name, folder)) {
        let made = || StoredFile { name: file.name.clone(), size: file.size, modified: SystemTime::UNIX_EPOCH };
        files.entry(file.name.clone()).or_insert_with(made);
    }
    for name in &entry.removed {
        files.remove(name);
    }
}
