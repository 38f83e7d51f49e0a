//! Updates and deletes of the data files of segments.

use std::collections::HashMap;
use std::sync::Arc;

use orcish_core::{Error, Result};
use orcish_io::list_all;

use super::context::OpenContext;
use super::file_entry::FileEntry;
use crate::metadata::delete_delta::DELETE_DELTA_SUFFIX;
use crate::metadata::file_names::{base_name, block_and_time, file_name, parent};
use crate::metadata::locations::join;
use crate::metadata::table_status::LoadDetails;
use crate::metadata::update_status::{DeltaTimestamps, UpdateDetails};

/// What memory is reserved for, in errors.
pub(super) const DELETE_DELTAS: &str = "indexes and names of delete deltas";

/// Segment id and name, in lower case.
type Key = (String, String);

/// The entries of the table update status.
#[derive(Default)]
pub(super) struct Updates<'a> {
    /// By data file. The last entry of a file counts.
    files: HashMap<Key, &'a UpdateDetails>,
    /// By block name, which delete deltas have.
    blocks: HashMap<Key, Vec<&'a UpdateDetails>>,
    /// Whether the table has Hive partitions, whose data files are identified by name only.
    is_hive: bool,
    /// Delete deltas of the folders that were listed.
    listed: HashMap<String, Listed>,
    /// Live delete deltas by segment, block and folder. Files of one block share them.
    live_deltas: HashMap<(String, String, String), Arc<[String]>>,
}

/// Timestamps and locations of delete deltas, by block name.
type Listed = HashMap<String, Vec<(i64, String)>>;

fn key(segment: &str, name: &str) -> Key {
    (segment.to_ascii_lowercase(), name.to_ascii_lowercase())
}

impl<'a> Updates<'a> {
    pub(super) fn new(all: &'a [UpdateDetails], is_hive: bool) -> Self {
        let mut updates = Updates { is_hive, ..Updates::default() };
        for update in all {
            let segment = if is_hive { "" } else { &update.segment };
            updates.files.insert(key(segment, base_name(&update.file)), update);
            updates.blocks.entry(key(&update.segment, &update.block)).or_default().push(update);
        }
        updates
    }

    /// Removes deleted files of a segment, and sets the delete deltas of the others. Returns the number of deleted
    /// rows, from the update status.
    pub(super) fn apply(
        &mut self,
        load: &LoadDetails,
        files: &mut Vec<FileEntry>,
        context: &OpenContext,
    ) -> Result<u64> {
        if self.files.is_empty() {
            return Ok(0);
        }
        files.retain(|file| self.is_live(load, file_name(&file.location)));
        let mut deleted = 0u64;
        for file in files {
            context.cancellation.poll()?;
            let name = file_name(&file.location);
            deleted =
                deleted.saturating_add(self.last_update(load, name).and_then(|update| update.deleted).unwrap_or(0));
            file.deletes = self.deltas(load, &file.location, context)?;
        }
        Ok(deleted)
    }

    fn last_update(&self, load: &LoadDetails, name: &str) -> Option<&'a UpdateDetails> {
        let segment = if self.is_hive { "" } else { &load.id };
        self.files.get(&key(segment, base_name(name))).copied()
    }

    fn is_live(&self, load: &LoadDetails, name: &str) -> bool {
        let Some((block, time)) = block_and_time(name) else { return true };
        // The timestamp of files of the SDK is not comparable to loads.
        if block.rsplit('-').next().is_some_and(|segment| segment.eq_ignore_ascii_case("null")) {
            return true;
        }
        // The rows of a deleted file are deleted or in another file.
        let is_deleted = self.last_update(load, name).is_some_and(|update| update.is_deleted);
        !is_deleted && !time.parse().is_ok_and(|time| load.is_stale(time))
    }

    /// The live delete deltas of a data file. Other delete deltas belong to failed deletes.
    fn deltas(&mut self, load: &LoadDetails, location: &str, context: &OpenContext) -> Result<Arc<[String]>> {
        let Some((block, _)) = block_and_time(file_name(location)) else { return Ok(Arc::default()) };
        let of_block = key(&load.id, block);
        if !self.blocks.contains_key(&of_block) {
            return Ok(Arc::default());
        }
        let folder = parent(location);
        let key_of_deltas = (load.id.clone(), block.to_owned(), folder.to_owned());
        if let Some(deltas) = self.live_deltas.get(&key_of_deltas) {
            return Ok(deltas.clone());
        }
        let deltas = self.find_live_deltas(&of_block, block, folder, context)?;
        self.live_deltas.insert(key_of_deltas, deltas.clone());
        Ok(deltas)
    }

    /// The live delete deltas of a block in a folder.
    fn find_live_deltas(
        &mut self,
        of_block: &Key,
        block: &str,
        folder: &str,
        context: &OpenContext,
    ) -> Result<Arc<[String]>> {
        let (mut deltas, mut ranges) = (Vec::new(), Vec::new());
        let mut add = |delta: String| {
            context.cancellation.poll()?;
            context.storage_of(&delta)?;
            context.reserve(size_of::<String>() + delta.len(), DELETE_DELTAS)?;
            deltas.push(delta);
            Ok::<_, Error>(())
        };
        for update in self.blocks.get(of_block).into_iter().flatten() {
            match &update.deltas {
                DeltaTimestamps::None => {}
                DeltaTimestamps::Listed(timestamps) => {
                    for timestamp in timestamps {
                        add(join(folder, &format!("{}-{timestamp}{DELETE_DELTA_SUFFIX}", update.block)))?;
                    }
                }
                DeltaTimestamps::Between(start, end) => ranges.push((*start, *end)),
            }
        }
        if !ranges.is_empty() {
            let ranges = union_of_ranges(ranges);
            let listed = self.list_deltas(folder, context)?.get(block).into_iter().flatten();
            listed.filter(|(time, _)| is_in_ranges(&ranges, *time)).try_for_each(|(_, delta)| add(delta.clone()))?;
        }
        deltas.sort();
        deltas.dedup();
        Ok(deltas.into())
    }

    /// The delete deltas of a folder.
    fn list_deltas(&mut self, folder: &str, context: &OpenContext) -> Result<&Listed> {
        if !self.listed.contains_key(folder) {
            let mut by_block = Listed::new();
            // Empty files belong to failed deletes.
            let all = list_all(folder, context.storage_of(folder)?.as_ref())?;
            for (location, _) in all.into_iter().filter(|(_, status)| status.size > 0) {
                context.cancellation.poll()?;
                let name =
                    file_name(&location).strip_suffix(DELETE_DELTA_SUFFIX).and_then(|name| name.rsplit_once('-'));
                if let Some((block, time)) = name.and_then(|(block, time)| Some((block.to_owned(), time.parse().ok()?)))
                {
                    context.reserve(size_of::<(i64, String)>() + location.len(), DELETE_DELTAS)?;
                    by_block.entry(block).or_default().push((time, location));
                }
            }
            self.listed.insert(folder.to_owned(), by_block);
        }
        Ok(self.listed.entry(folder.to_owned()).or_default())
    }
}

/// The union of closed ranges of timestamps, ascending.
fn union_of_ranges(mut ranges: Vec<(i64, i64)>) -> Vec<(i64, i64)> {
    ranges.retain(|(start, end)| start <= end);
    ranges.sort_unstable();
    let mut all: Vec<(i64, i64)> = Vec::new();
    for (start, end) in ranges {
        match all.last_mut() {
            Some((_, last)) if start <= *last => *last = end.max(*last),
            _ => all.push((start, end)),
        }
    }
    all
}

/// Whether a timestamp is in one of the ascending ranges.
fn is_in_ranges(ranges: &[(i64, i64)], time: i64) -> bool {
    let after = ranges.partition_point(|(start, _)| *start <= time);
    after.checked_sub(1).and_then(|at| ranges.get(at)).is_some_and(|(_, end)| time <= *end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn union_of_ranges_has_the_same_timestamps() {
        let ranges = vec![(5, 7), (1, 2), (7, 9), (4, 3), (20, 30), (22, 25)];
        let union_of_ranges = union_of_ranges(ranges.clone());
        assert_eq!(union_of_ranges, [(1, 2), (5, 9), (20, 30)]);
        for time in 0..40 {
            let expected = ranges.iter().any(|(start, end)| (*start..=*end).contains(&time));
            assert_eq!(is_in_ranges(&union_of_ranges, time), expected, "{time}");
        }
    }
}
