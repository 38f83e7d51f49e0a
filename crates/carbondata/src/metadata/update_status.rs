//! The table update status file: which rows of data files were deleted.

use orcish_core::{Limits, Result};
use serde_json::Value;

use super::file_names::check_name;
use super::json::{entries, number, text};

/// What was deleted of a data file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Update {
    pub(crate) segment: String,
    /// The name of the data file up to its time.
    pub(crate) block: String,
    /// The whole name of the data file.
    pub(crate) file: String,
    /// Nothing of the file counts any more: its rows are elsewhere, or deleted.
    pub(crate) is_dead: bool,
    pub(crate) start: String,
    pub(crate) end: String,
    /// The times of its delete deltas; without them, those between start and end.
    pub(crate) stamps: Vec<String>,
    pub(crate) deleted: Option<u64>,
}

/// Which delete deltas of a data file count.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Stamps<'a> {
    None,
    /// Those of these times.
    Listed(Vec<&'a str>),
    /// All that there are between two times, the ends included.
    Between(i64, i64),
}

impl Update {
    pub(crate) fn live(&self) -> Stamps<'_> {
        let is_unset = |time: &str| time.is_empty() || time.parse() == Ok(0);
        if self.is_dead || is_unset(&self.start) {
            Stamps::None
        } else if self.start == self.end {
            Stamps::Listed(vec![&self.start])
        } else if !self.stamps.is_empty() {
            Stamps::Listed(self.stamps.iter().map(String::as_str).collect())
        } else {
            match (self.start.parse(), self.end.parse()) {
                (Ok(start), Ok(end)) => Stamps::Between(start, end),
                _ => Stamps::None,
            }
        }
    }
}

/// The entries of `tableupdatestatus`, in its order.
///
/// # Errors
/// `Corrupt` where it is no JSON of such.
pub(crate) fn updates(bytes: &[u8], limits: &Limits) -> Result<Vec<Update>> {
    entries(bytes, limits)?
        .iter()
        .map(|entry| {
            let state = text(entry, "segmentStatus").unwrap_or_default().to_ascii_lowercase();
            let stamps = entry.get("deltaFileStamps").and_then(Value::as_array);
            let update = Update {
                segment: text(entry, "segmentName").unwrap_or_default(),
                block: text(entry, "blockName").unwrap_or_default(),
                file: text(entry, "actualBlockName").unwrap_or_default(),
                is_dead: matches!(state.as_str(), "compacted" | "marked for delete"),
                start: text(entry, "deleteDeltaStartTimestamp").unwrap_or_default(),
                end: text(entry, "deleteDeltaEndTimestamp").unwrap_or_default(),
                stamps: stamps.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
                deleted: number(entry, "deletedRowsInBlock"),
            };
            [&update.block, &update.start, &update.end].into_iter().chain(&update.stamps).try_for_each(|name| {
                // They become the names of files.
                if name.is_empty() { Ok(()) } else { check_name(name) }
            })?;
            Ok(update)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delete_deltas_that_count() {
        let json = br#"[{"segmentName":"0","blockName":"part-0","deleteDeltaStartTimestamp":"5","deleteDeltaEndTimestamp":"5"},
            {"blockName":"b","deleteDeltaStartTimestamp":"5","deleteDeltaEndTimestamp":"7","deltaFileStamps":["5","7"]},
            {"blockName":"b","deleteDeltaStartTimestamp":"5","deleteDeltaEndTimestamp":"7","deletedRowsInBlock":"3"},
            {"blockName":"b","deleteDeltaStartTimestamp":"5","deleteDeltaEndTimestamp":"5","segmentStatus":"Compacted"},
            {"blockName":"b"}]"#;
        let updates = updates(json, &Limits::default()).unwrap();
        let live: Vec<_> = updates.iter().map(Update::live).collect();
        let listed = |stamps: &[&'static str]| Stamps::Listed(stamps.to_vec());
        let expected = [listed(&["5"]), listed(&["5", "7"]), Stamps::Between(5, 7), Stamps::None, Stamps::None];
        assert_eq!(live, expected);
        assert_eq!((updates[2].deleted, updates[3].is_dead), (Some(3), true));
        assert!(super::updates(br#"[{"blockName":"../b"}]"#, &Limits::default()).is_err());
    }
}
