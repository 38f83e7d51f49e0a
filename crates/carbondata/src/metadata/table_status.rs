//! `tablestatus`, the segments of a table, and `tableupdatestatus`, what was deleted of their files.

use orcish_core::{Error, Limits, Result};

use super::file_names::check_name;
use super::json::{entries, number, text};

/// States in which a segment is read.
const READABLE: [&str; 5] = ["success", "partial success", "marked for update", "streaming", "streaming finish"];
/// Segments of the table's own columnar format.
pub(crate) const COLUMNAR: &str = "columnar_v3";
/// Segments of streams.
pub(crate) const STREAM: &str = "row_v1";

/// A segment, as `tablestatus` has it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Load {
    pub(crate) id: String,
    pub(crate) state: String,
    pub(crate) format: String,
    /// Its segment file; tables before 1.4 have none.
    pub(crate) segment_file: Option<String>,
    /// Where a segment is that was added as it was.
    pub(crate) path: Option<String>,
    pub(crate) started: Option<i64>,
    pub(crate) ended: Option<i64>,
    pub(crate) modified: Option<i64>,
    pub(crate) merged_into: Option<String>,
    pub(crate) data_bytes: Option<u64>,
    pub(crate) index_bytes: Option<u64>,
    /// When it was first updated in place, and when last.
    pub(crate) updated: (Option<i64>, Option<i64>),
    pub(crate) update_file: Option<String>,
}

impl Load {
    pub(crate) fn is_readable(&self) -> bool {
        // Old tools write `SUCCESS`.
        READABLE.contains(&self.state.to_ascii_lowercase().as_str())
    }

    /// Whether a data file that was written at `time` is no part of the segment: one of an update in place that was
    /// superseded, or that was never finished. Asked only where rows of the table were updated or deleted.
    pub(crate) fn is_left_over(&self, time: i64) -> bool {
        match (self.started, self.updated) {
            (started, (Some(first), Some(last))) => {
                started.is_some_and(|started| time > started && time < first) || time > last
            }
            // Tables before 1.3 have dates of an unknown zone, of which nothing is concluded.
            (started, _) => started.is_some_and(|started| time > started),
        }
    }
}

/// The segments of `tablestatus`, in its order.
///
/// # Errors
/// `Corrupt` where it is no JSON of segments.
pub(crate) fn loads(bytes: &[u8], limits: &Limits) -> Result<Vec<Load>> {
    entries(bytes, limits)?
        .iter()
        .map(|entry| {
            let id = text(entry, "loadName").ok_or_else(|| Error::corrupt("a segment without a name"))?;
            check_name(&id)?;
            Ok(Load {
                id,
                state: text(entry, "loadStatus").unwrap_or_default(),
                format: text(entry, "fileFormat").map_or(COLUMNAR.to_owned(), |name| name.to_ascii_lowercase()),
                segment_file: text(entry, "segmentFile"),
                path: text(entry, "path"),
                started: number(entry, "loadStartTime"),
                ended: number(entry, "timestamp"),
                modified: number(entry, "modificationOrDeletionTimestamp"),
                merged_into: text(entry, "mergedLoadName"),
                data_bytes: number(entry, "dataSize"),
                index_bytes: number(entry, "indexSize"),
                updated: (number(entry, "updateDeltaStartTimestamp"), number(entry, "updateDeltaEndTimestamp")),
                update_file: text(entry, "updateStatusFileName"),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_of_new_and_old_tables() {
        let json = br#"[{"loadName":"0","loadStatus":"SUCCESS","loadStartTime":"10-04-2026 01:23:20:000","x":{}},
            {"loadName":"0.1","loadStatus":"Compacted","loadStartTime":"17","mergedLoadName":"3","fileFormat":"ORC"},
            {"loadName":"2","loadStatus":"Streaming","dataSize":"12","updateStatusFileName":"tableupdatestatus-1"}]"#;
        let loads = loads(json, &Limits::default()).unwrap();
        let readable: Vec<_> = loads.iter().map(Load::is_readable).collect();
        assert_eq!(readable, [true, false, true]);
        assert_eq!((loads[0].started, loads[0].format.as_str()), (None, COLUMNAR));
        assert_eq!((loads[1].started, loads[1].format.as_str()), (Some(17), "orc"));
        assert_eq!((loads[1].merged_into.as_deref(), loads[2].data_bytes), (Some("3"), Some(12)));
        assert_eq!(loads[2].update_file.as_deref(), Some("tableupdatestatus-1"));
        for broken in [&b"{}"[..], b"[{]", b"[{}]", br#"[{"loadName":"../x"}]"#, &[b'['; 10_000]] {
            assert!(super::loads(broken, &Limits::default()).is_err());
        }
        assert!(super::loads(b" ", &Limits::default()).is_err());
    }

    #[test]
    fn files_of_updates_that_were_not_finished() {
        let load = Load { started: Some(10), ..Load::default() };
        assert!(!load.is_left_over(10) && load.is_left_over(11));
        let load = Load { updated: (Some(20), Some(30)), ..load };
        let left: Vec<_> = [10, 11, 20, 25, 30, 31].map(|time| load.is_left_over(time)).into();
        assert_eq!(left, [false, true, false, false, false, true]);
        assert!(!Load::default().is_left_over(i64::MAX));
    }
}
