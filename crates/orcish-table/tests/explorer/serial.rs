//! The rows that a table has after a number of commits, one after the other.

use std::collections::{BTreeMap, BTreeSet};

use crate::world::{Rows, World};

/// The partition of each row of a table.
pub(crate) type Table = BTreeMap<u32, usize>;

/// What a commit means for the rows of a table.
#[derive(Debug, Clone)]
pub(crate) enum Effect {
    Add(Table),
    /// Rows are added to a table that has none.
    Create(Table),
    /// The rows of these partitions are replaced.
    Replace(BTreeSet<usize>, Table),
    Remove(Rows),
}

impl Effect {
    fn apply(&self, table: &mut Table) {
        match self {
            Effect::Add(rows) | Effect::Create(rows) => table.extend(rows),
            Effect::Replace(partitions, rows) => {
                table.retain(|_, partition| !partitions.contains(partition));
                table.extend(rows);
            }
            Effect::Remove(rows) => table.retain(|row, _| !rows.contains(row)),
        }
    }
}

/// The rows of a table after each number of entries of its log. Entries that are undone change nothing.
pub(crate) fn states(first: &Table, world: &World, effects: &BTreeMap<String, Effect>) -> Vec<Table> {
    let mut states = vec![first.clone()];
    for (number, job) in &world.history {
        let mut table = states.last().unwrap().clone();
        if !world.undone.contains(number) {
            effects[job].apply(&mut table);
        }
        states.push(table);
    }
    states
}

/// Sorted rows.
pub(crate) fn sorted(rows: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let mut rows: Vec<u32> = rows.into_iter().collect();
    rows.sort_unstable();
    rows
}

/// Checks what a reader sees that knows nothing of the log: after each commit its rows, and during a commit none of the
/// rows that the commit keeps are missing, and there are no others.
pub(crate) fn check_plain(world: &World, states: &[Table]) -> Result<(), String> {
    let rows = sorted(world.visible().into_iter().flat_map(|name| world.rows[name].clone()));
    let last = states.last().unwrap();
    let unfinished = world.history.last().is_some_and(|(number, _)| world.is_unfinished(*number));
    if !unfinished {
        let expected = sorted(last.keys().copied());
        return if rows == expected { Ok(()) } else { Err(format!("a plain reader sees {rows:?} for {expected:?}")) };
    }
    let before = &states[states.len() - 2];
    let is_known = |row: &u32| last.contains_key(row) || before.contains_key(row);
    let is_lost = |row: &&u32| before.contains_key(row) && rows.binary_search(row).is_err();
    if let Some(row) = rows.iter().find(|row| !is_known(row)) {
        return Err(format!("a plain reader sees row {row} during a commit from {before:?} to {last:?}"));
    }
    match last.keys().find(is_lost) {
        Some(row) => Err(format!("a plain reader misses row {row} during a commit from {before:?} to {last:?}")),
        None => Ok(()),
    }
}
