//! The table update status file: the deleted rows of data files.

use orcish_core::{Limits, Result};
use serde_json::Value;

use super::file_names::check_name;
use super::json::{entries, number, text};

/// `SegmentUpdateDetails`: an entry of the table update status.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct UpdateDetails {
    pub(crate) segment: String,
    /// Name of the block: the name of the data file without timestamp.
    pub(crate) block: String,
    /// Name of the data file.
    pub(crate) file: String,
    /// Whether the data file is not live: its rows are deleted or in another file.
    pub(crate) is_deleted: bool,
    pub(crate) start: String,
    pub(crate) end: String,
    /// Timestamps of the delete deltas. Where they are missing, all timestamps from `start` to `end` count.
    pub(crate) timestamps: Vec<String>,
    pub(crate) deleted: Option<u64>,
}

/// The live delete deltas of a data file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum DeltaTimestamps<'a> {
    None,
    /// Delete deltas with these timestamps.
    Listed(Vec<&'a str>),
    /// Delete deltas with timestamps in a closed range.
    Between(i64, i64),
}

impl UpdateDetails {
    pub(crate) fn live(&self) -> DeltaTimestamps<'_> {
        let is_unset = |time: &str| time.is_empty() || time.parse() == Ok(0);
        if self.is_deleted || is_unset(&self.start) {
            DeltaTimestamps::None
        } else if self.start == self.end {
            DeltaTimestamps::Listed(vec![&self.start])
        } else if !self.timestamps.is_empty() {
            DeltaTimestamps::Listed(self.timestamps.iter().map(String::as_str).collect())
        } else {
            match (self.start.parse(), self.end.parse()) {
                (Ok(start), Ok(end)) => DeltaTimestamps::Between(start, end),
                _ => DeltaTimestamps::None,
            }
        }
    }
}

/// Reads the entries of a table update status file, in their order.
///
/// # Errors
/// `Corrupt` where it is not a table update status file.
pub(crate) fn read_update_status(bytes: &[u8], limits: &Limits) -> Result<Vec<UpdateDetails>> {
    entries(bytes, limits, |entry| {
        let state = text(entry, "segmentStatus").map(|state| state.to_ascii_lowercase());
        let timestamps = entry.get("deltaFileStamps").and_then(Value::as_array);
        let update = UpdateDetails {
            segment: text(entry, "segmentName").unwrap_or_default(),
            block: text(entry, "blockName").unwrap_or_default(),
            file: text(entry, "actualBlockName").unwrap_or_default(),
            is_deleted: matches!(state.as_deref(), Some("compacted" | "marked for delete")),
            start: text(entry, "deleteDeltaStartTimestamp").unwrap_or_default(),
            end: text(entry, "deleteDeltaEndTimestamp").unwrap_or_default(),
            timestamps: timestamps.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
            deleted: number(entry, "deletedRowsInBlock"),
        };
        [&update.block, &update.start, &update.end].into_iter().chain(&update.timestamps).try_for_each(|name| {
            // They are used as parts of file names.
            if name.is_empty() { Ok(()) } else { check_name(name) }
        })?;
        Ok(update)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn live_delete_deltas() {
        let json = br#"[{"segmentName":"0","blockName":"part-0","deleteDeltaStartTimestamp":"5","deleteDeltaEndTimestamp":"5"},
            {"blockName":"b","deleteDeltaStartTimestamp":"5","deleteDeltaEndTimestamp":"7","deltaFileStamps":["5","7"]},
            {"blockName":"b","deleteDeltaStartTimestamp":"5","deleteDeltaEndTimestamp":"7","deletedRowsInBlock":"3"},
            {"blockName":"b","deleteDeltaStartTimestamp":"5","deleteDeltaEndTimestamp":"5","segmentStatus":"Compacted"},
            {"blockName":"b"}]"#;
        let updates = read_update_status(json, &Limits::default()).unwrap();
        let live: Vec<_> = updates.iter().map(UpdateDetails::live).collect();
        let listed = |timestamps: &[&'static str]| DeltaTimestamps::Listed(timestamps.to_vec());
        let expected = [
            listed(&["5"]),
            listed(&["5", "7"]),
            DeltaTimestamps::Between(5, 7),
            DeltaTimestamps::None,
            DeltaTimestamps::None,
        ];
        assert_eq!(live, expected);
        assert_eq!((updates[2].deleted, updates[3].is_deleted), (Some(3), true));
        assert!(super::read_update_status(br#"[{"blockName":"../b"}]"#, &Limits::default()).is_err());
    }
}
