//! The table status file: the segments of a table.

use std::collections::HashSet;
use std::str::FromStr;

use orcish_core::{Error, Limits, Result};
use serde_json::Value;

use super::file_names::check_name;
use super::json::{entries, number, required_text, text};

/// States of readable segments, in lower case.
const READABLE: [&str; 5] = ["success", "partial success", "marked for update", "streaming", "streaming finish"];
/// States of other segments, in lower case.
const UNREADABLE: [&str; 9] = [
    "failure",
    "load failure",
    "marked for delete",
    "compacted",
    "in progress",
    "insert in progress",
    "overwrite in progress",
    "insert overwrite in progress",
    "update",
];
/// Format of columnar segments.
pub(crate) const COLUMNAR_V3: &str = "columnar_v3";
/// Format of streaming segments.
pub(crate) const ROW_V1: &str = "row_v1";

/// `LoadMetadataDetails`: an entry of the table status.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct LoadDetails {
    pub(crate) id: String,
    pub(crate) state: String,
    pub(crate) format: String,
    /// Name of the segment file; `None` before 1.4.
    pub(crate) segment_file: Option<String>,
    /// Location of a segment that was added with `ALTER TABLE ADD SEGMENT`.
    pub(crate) path: Option<String>,
    pub(crate) started: Option<i64>,
    pub(crate) ended: Option<i64>,
    pub(crate) modified: Option<i64>,
    pub(crate) merged_into: Option<String>,
    pub(crate) data_bytes: Option<u64>,
    pub(crate) index_bytes: Option<u64>,
    /// First and last timestamp of updates.
    pub(crate) updated: (Option<i64>, Option<i64>),
    pub(crate) update_file: Option<String>,
}

impl LoadDetails {
    pub(crate) fn is_readable(&self) -> bool {
        // Old writers write upper case, such as `SUCCESS`.
        READABLE.contains(&self.state.to_ascii_lowercase().as_str())
    }

    /// Whether a data file with the timestamp `time` is left over from an update that failed or was superseded. Only
    /// meaningful for tables with updates or deletes.
    pub(crate) fn is_stale(&self, time: i64) -> bool {
        match (self.started, self.updated) {
            (started, (Some(first), Some(last))) => {
                started.is_some_and(|started| time > started && time < first) || time > last
            }
            // Tables before 1.3 have dates in an unknown time zone, which are not compared.
            (started, _) => started.is_some_and(|started| time > started),
        }
    }
}

/// Checks the state of a segment, or of a folder or a data file of one.
///
/// # Errors
/// `Corrupt` where no segment has such a state: nothing says whether its rows are read.
pub(super) fn check_state(state: &str) -> Result<()> {
    let lower = state.to_ascii_lowercase();
    if READABLE.contains(&lower.as_str()) || UNREADABLE.contains(&lower.as_str()) {
        return Ok(());
    }
    Err(Error::corrupt(format!("{state:?} is no state of a segment")))
}

/// A field that may be another text than a number: times are dates in tables before 1.3, and no rows depend on sizes.
fn if_number<T: FromStr>(entry: &Value, key: &str) -> Result<Option<T>> {
    Ok(text(entry, key)?.and_then(|text| text.trim().parse().ok()))
}

/// Reads the segments of a table status file, in their order.
///
/// # Errors
/// `Corrupt` where it is not a table status file, where a segment has an unknown state, and where two segments that are
/// read have one name.
pub(crate) fn read_table_status(bytes: &[u8], limits: &Limits) -> Result<Vec<LoadDetails>> {
    let mut read = HashSet::new();
    entries(bytes, limits, |entry| {
        let id = required_text(entry, "loadName")?;
        check_name(&id)?;
        let load = LoadDetails {
            id,
            state: required_text(entry, "loadStatus")?,
            format: text(entry, "fileFormat")?.map_or(COLUMNAR_V3.to_owned(), |name| name.to_ascii_lowercase()),
            segment_file: text(entry, "segmentFile")?,
            path: text(entry, "path")?,
            started: if_number(entry, "loadStartTime")?,
            ended: if_number(entry, "timestamp")?,
            modified: if_number(entry, "modificationOrDeletionTimestamp")?,
            merged_into: text(entry, "mergedLoadName")?,
            data_bytes: if_number(entry, "dataSize")?,
            index_bytes: if_number(entry, "indexSize")?,
            updated: (number(entry, "updateDeltaStartTimestamp")?, number(entry, "updateDeltaEndTimestamp")?),
            update_file: text(entry, "updateStatusFileName")?,
        };
        check_state(&load.state)?;
        if load.is_readable() && !read.insert(load.id.clone()) {
            return Err(Error::corrupt(format!("segment {} is there twice", load.id)));
        }
        Ok(load)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_status_of_new_and_old_tables() {
        let json = br#"[{"loadName":"0","loadStatus":"SUCCESS","loadStartTime":"10-04-2026 01:23:20:000","x":{}},
            {"loadName":"0.1","loadStatus":"Compacted","loadStartTime":"17","mergedLoadName":"3","fileFormat":"ORC"},
            {"loadName":"2","loadStatus":"Streaming","dataSize":"12","updateStatusFileName":"tableupdatestatus-1"}]"#;
        let loads = read_table_status(json, &Limits::default()).unwrap();
        let readable: Vec<_> = loads.iter().map(LoadDetails::is_readable).collect();
        assert_eq!(readable, [true, false, true]);
        assert_eq!((loads[0].started, loads[0].format.as_str()), (None, COLUMNAR_V3));
        assert_eq!((loads[1].started, loads[1].format.as_str()), (Some(17), "orc"));
        assert_eq!((loads[1].merged_into.as_deref(), loads[2].data_bytes), (Some("3"), Some(12)));
        assert_eq!(loads[2].update_file.as_deref(), Some("tableupdatestatus-1"));
        for broken in [&b"{}"[..], b"[{]", b"[{}]", &[b'['; 10_000], b" "] {
            assert!(read_table_status(broken, &Limits::default()).is_err());
        }
    }

    #[test]
    fn entries_that_do_not_say_which_rows_are_read_are_errors() {
        let load = |fields: &str| format!(r#"{{"loadStatus":"Success","loadName":"1",{fields}}}"#);
        let read =
            |entries: &[String]| read_table_status(format!("[{}]", entries.join(",")).as_bytes(), &Limits::default());
        for wrong in [
            r#""loadStatus":"Succes""#,
            r#""loadStatus":"""#,
            r#""loadStatus":true"#,
            r#""loadName":"../x""#,
            r#""segmentFile":["a"]"#,
            r#""fileFormat":{}"#,
            r#""updateDeltaEndTimestamp":"x""#,
            r#""updateStatusFileName":false"#,
        ] {
            assert!(read(&[load(wrong)]).is_err(), "{wrong}");
        }
        assert!(read(&[load(r#""x":1"#), load(r#""x":2"#)]).is_err(), "a segment is there twice");
        assert!(read(&[load(r#""x":1"#), load(r#""loadStatus":"COMPACTED""#)]).is_ok());
    }

    #[test]
    fn stale_files_of_failed_updates() {
        let load = LoadDetails { started: Some(10), ..LoadDetails::default() };
        assert!(!load.is_stale(10) && load.is_stale(11));
        let load = LoadDetails { updated: (Some(20), Some(30)), ..load };
        let left: Vec<_> = [10, 11, 20, 25, 30, 31].map(|time| load.is_stale(time)).into();
        assert_eq!(left, [false, true, false, false, false, true]);
        assert!(!LoadDetails::default().is_stale(i64::MAX));
    }
}
