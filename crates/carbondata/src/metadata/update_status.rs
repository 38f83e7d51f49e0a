//! The table update status file: the deleted rows of data files.

use orcish_core::{Error, Limits, Result};
use serde_json::Value;

use super::file_names::check_name;
use super::json::{entries, number, required_text, text, texts};
use super::table_status::check_state;

/// `SegmentUpdateDetails`: an entry of the table update status.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UpdateDetails {
    pub(crate) segment: String,
    /// Name of the block: the name of the data file without timestamp.
    pub(crate) block: String,
    /// Name of the data file.
    pub(crate) file: String,
    /// Whether the data file is not live: its rows are deleted or in another file.
    pub(crate) is_deleted: bool,
    /// Timestamps of the live delete deltas.
    pub(crate) deltas: DeltaTimestamps,
    pub(crate) deleted: Option<u64>,
}

/// The live delete deltas of a data file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum DeltaTimestamps {
    None,
    /// Delete deltas with these timestamps.
    Listed(Vec<i64>),
    /// Delete deltas with timestamps in a closed range.
    Between(i64, i64),
}

/// Reads the entries of a table update status file, in their order.
///
/// # Errors
/// `Corrupt` where it is not a table update status file.
pub(crate) fn read_update_status(bytes: &[u8], limits: &Limits) -> Result<Vec<UpdateDetails>> {
    entries(bytes, limits, |entry| {
        let state = text(entry, "segmentStatus")?;
        state.as_deref().map_or(Ok(()), check_state)?;
        let is_deleted = state
            .is_some_and(|state| ["compacted", "marked for delete"].contains(&state.to_ascii_lowercase().as_str()));
        let block = required_text(entry, "blockName")?;
        // Names of delete deltas begin with it.
        check_name(&block)?;
        Ok(UpdateDetails {
            segment: required_text(entry, "segmentName")?,
            block,
            file: required_text(entry, "actualBlockName")?,
            is_deleted,
            deltas: if is_deleted { DeltaTimestamps::None } else { delta_timestamps(entry)? },
            deleted: number(entry, "deletedRowsInBlock")?,
        })
    })
}

fn delta_timestamps(entry: &Value) -> Result<DeltaTimestamps> {
    let start = number(entry, "deleteDeltaStartTimestamp")?.filter(|&start| start != 0);
    let Some(start) = start else { return Ok(DeltaTimestamps::None) };
    let end = number(entry, "deleteDeltaEndTimestamp")?;
    if end == Some(start) {
        return Ok(DeltaTimestamps::Listed(vec![start]));
    }
    let listed = texts(entry, "deltaFileStamps")?;
    if !listed.is_empty() {
        let parse = |text: &String| {
            text.parse().map_err(|_| Error::corrupt(format!("an entry of deltaFileStamps is no number: {text:?}")))
        };
        return Ok(DeltaTimestamps::Listed(listed.iter().map(parse).collect::<Result<_>>()?));
    }
    let end = end.ok_or_else(|| Error::corrupt("deleteDeltaEndTimestamp is missing"))?;
    Ok(DeltaTimestamps::Between(start, end))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(entries: &Value) -> Result<Vec<UpdateDetails>> {
        read_update_status(entries.to_string().as_bytes(), &Limits::default())
    }

    /// An entry of a block, with other fields.
    fn entry(fields: &Value) -> Value {
        let mut entry = json!({"segmentName": "0", "blockName": "part-0", "actualBlockName": "part-0-1.carbondata"});
        for (name, value) in fields.as_object().unwrap() {
            entry[name] = value.clone();
        }
        entry
    }

    /// An entry with delete deltas from 5 to an end, with other fields.
    fn deletes(end: i64, fields: &Value) -> Value {
        let mut entry = entry(fields);
        entry["deleteDeltaStartTimestamp"] = json!("5");
        entry["deleteDeltaEndTimestamp"] = json!(end.to_string());
        entry
    }

    #[test]
    fn live_delete_deltas() {
        let updates = read(&json!([
            deletes(5, &json!({})),
            deletes(7, &json!({"deltaFileStamps": ["5", 7]})),
            deletes(7, &json!({"deletedRowsInBlock": "3"})),
            deletes(5, &json!({"segmentStatus": "Compacted"})),
            entry(&json!({})),
            entry(&json!({"deleteDeltaStartTimestamp": "0"})),
        ]))
        .unwrap();
        let expected = [
            DeltaTimestamps::Listed(vec![5]),
            DeltaTimestamps::Listed(vec![5, 7]),
            DeltaTimestamps::Between(5, 7),
            DeltaTimestamps::None,
            DeltaTimestamps::None,
            DeltaTimestamps::None,
        ];
        assert_eq!(updates.iter().map(|update| update.deltas.clone()).collect::<Vec<_>>(), expected);
        assert_eq!((updates[2].deleted, updates[3].is_deleted), (Some(3), true));
    }

    #[test]
    fn entries_that_do_not_say_what_is_deleted_are_errors() {
        for wrong in [
            json!({"blockName": "../b"}),
            json!({"blockName": null}),
            json!({"segmentName": ["0"]}),
            json!({"actualBlockName": ""}),
            json!({"segmentStatus": "Gone"}),
            json!({"deleteDeltaStartTimestamp": "x"}),
            json!({"deleteDeltaStartTimestamp": "5"}),
            json!({"deleteDeltaStartTimestamp": "5", "deleteDeltaEndTimestamp": {}}),
            json!({"deleteDeltaStartTimestamp": "5", "deltaFileStamps": "5"}),
            json!({"deleteDeltaStartTimestamp": "5", "deltaFileStamps": [true]}),
            json!({"deleteDeltaStartTimestamp": "5", "deltaFileStamps": ["../5"]}),
            json!({"deletedRowsInBlock": true}),
        ] {
            assert!(read(&json!([entry(&wrong)])).is_err(), "{wrong}");
        }
    }
}
