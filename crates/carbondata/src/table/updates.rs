//! What was deleted of the files of segments.

use std::collections::HashMap;

use orcish::{Result, list_all};

use super::FileEntry;
use super::open::Place;
use crate::metadata::deletes::DELETES;
use crate::metadata::names::{base, block_and_time, folder_of, name_of};
use crate::metadata::segments::join;
use crate::metadata::status::{Load, Stamps, Update};

/// A segment, and a name in it, in lower case.
type Key = (String, String);

/// The entries of `tableupdatestatus`, by what they are about.
#[derive(Default)]
pub(super) struct Updates<'a> {
    /// By data file. Of several entries the last counts.
    files: HashMap<Key, &'a Update>,
    /// By the names of data files up to their times: those of delete deltas.
    blocks: HashMap<Key, Vec<&'a Update>>,
    /// Files in folders of Hive are known by their names alone.
    is_hive: bool,
    /// Delete deltas of folders that were listed.
    listed: HashMap<String, Vec<String>>,
}

fn key(segment: &str, name: &str) -> Key {
    (segment.to_ascii_lowercase(), name.to_ascii_lowercase())
}

impl<'a> Updates<'a> {
    pub(super) fn new(all: &'a [Update], is_hive: bool) -> Self {
        let mut updates = Updates { is_hive, ..Updates::default() };
        for update in all {
            let segment = if is_hive { "" } else { &update.segment };
            updates.files.insert(key(segment, base(&update.file)), update);
            updates.blocks.entry(key(&update.segment, &update.block)).or_default().push(update);
        }
        updates
    }

    /// Removes the files of a segment that are dead, and gives the others their delete deltas; how many rows those
    /// delete, by what the table says.
    pub(super) fn apply(&mut self, load: &Load, files: &mut Vec<FileEntry>, table: Place<'_>) -> Result<u64> {
        if self.files.is_empty() {
            return Ok(0);
        }
        files.retain(|file| self.is_live(load, name_of(&file.location)));
        let mut deleted = 0u64;
        for file in files {
            let name = name_of(&file.location);
            deleted = deleted.saturating_add(self.last(load, name).and_then(|update| update.deleted).unwrap_or(0));
            file.deletes = self.deltas(load, &file.location, table)?;
            for delta in &file.deletes {
                table.storage_of(delta)?;
            }
        }
        Ok(deleted)
    }

    fn last(&self, load: &Load, name: &str) -> Option<&'a Update> {
        let segment = if self.is_hive { "" } else { &load.id };
        self.files.get(&key(segment, base(name))).copied()
    }

    fn is_live(&self, load: &Load, name: &str) -> bool {
        let Some((block, time)) = block_and_time(name) else { return true };
        // Files of the SDK are of no load whose times they could have.
        if block.rsplit('-').next().is_some_and(|segment| segment.eq_ignore_ascii_case("null")) {
            return true;
        }
        // All rows of a file that is dead are deleted, or in another one.
        let is_dead = self.last(load, name).is_some_and(|update| update.is_dead);
        !is_dead && !time.parse().is_ok_and(|time| load.is_left_over(time))
    }

    /// The delete deltas of a data file that count; others beside it are left over.
    fn deltas(&mut self, load: &Load, location: &str, table: Place<'_>) -> Result<Vec<String>> {
        let Some((block, _)) = block_and_time(name_of(location)) else { return Ok(Vec::new()) };
        let Some(updates) = self.blocks.get(&key(&load.id, block)).cloned() else { return Ok(Vec::new()) };
        let folder = folder_of(location);
        let mut deltas = Vec::new();
        for update in updates {
            match update.live() {
                Stamps::None => {}
                Stamps::Listed(stamps) => {
                    let delta = |stamp| join(folder, &format!("{}-{stamp}{DELETES}", update.block));
                    deltas.extend(stamps.into_iter().map(delta));
                }
                Stamps::Between(start, end) => {
                    let is_between = |location: &&String| {
                        let name = name_of(location).strip_suffix(DELETES).and_then(|name| name.rsplit_once('-'));
                        name.is_some_and(|(of, time)| {
                            of == block && time.parse().is_ok_and(|time: i64| (start..=end).contains(&time))
                        })
                    };
                    deltas.extend(self.list(folder, table)?.iter().filter(is_between).cloned());
                }
            }
        }
        deltas.sort();
        deltas.dedup();
        Ok(deltas)
    }

    /// The delete deltas of a folder.
    fn list(&mut self, folder: &str, table: Place<'_>) -> Result<&[String]> {
        if !self.listed.contains_key(folder) {
            let all = list_all(folder, table.storage_of(folder)?.as_ref())?.into_iter();
            // Empty ones were never finished.
            let deltas = all.filter(|(location, status)| location.ends_with(DELETES) && status.size > 0);
            self.listed.insert(folder.to_owned(), deltas.map(|(location, _)| location).collect());
        }
        Ok(self.listed.get(folder).map_or(&[], Vec::as_slice))
    }
}
