//! Segment files: in which folders a segment is, and which index files say what is in them.

use orcish_core::{Error, Limits, Result};
use serde_json::Value;

use super::file_names::check_name;
use super::json::{self, text};
use super::locations::{absolute, below};

/// A folder of a segment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Folder {
    pub(crate) location: String,
    /// Index files, or the data files themselves where they are of another format.
    pub(crate) files: Vec<String>,
    /// The index file that all of them were merged into.
    pub(crate) merged: Option<String>,
}

/// The folders of a segment file that count, in order of their locations.
///
/// # Errors
/// `Corrupt` where it is no JSON of folders.
pub(crate) fn folders(bytes: &[u8], table: &str, limits: &Limits) -> Result<Vec<Folder>> {
    let whole = json::parse(bytes, limits)?;
    let Value::Object(whole) = whole else { return Err(Error::corrupt("it is no object of JSON")) };
    let locations = match whole.get("locationMap") {
        // A load without rows has none.
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(locations)) => locations,
        Some(_) => return Err(Error::corrupt("its folders are no object of JSON")),
    };
    let mut folders = Vec::new();
    for (location, folder) in locations {
        // That of a partition that was dropped is another one.
        if !text(folder, "status").is_some_and(|status| status.eq_ignore_ascii_case("success")) {
            continue;
        }
        let is_relative = folder.get("isRelative").and_then(Value::as_bool).unwrap_or(false);
        let files = folder.get("files").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let files: Vec<_> = files.map(str::to_owned).collect();
        let merged = text(folder, "mergeFileName");
        files.iter().chain(&merged).try_for_each(|name| check_name(name))?;
        let location = if is_relative { below(table, location)? } else { absolute(table, location) };
        folders.push(Folder { location, files, merged });
    }
    folders.sort_by(|one, other| one.location.cmp(&other.location));
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_within_and_without() {
        let json = br#"{"locationMap":{
            "/s=a/d=1":{"files":["a.carbonindex"],"partitions":["s=a"],"status":"Success","isRelative":true},
            "/gone":{"files":["b.carbonindex"],"status":"Marked for Delete","isRelative":true},
            "file:/else/":{"files":[],"status":"Success","mergeFileName":"c.carbonindexmerge","isRelative":false}}}"#;
        let found = folders(json, "/t/", &Limits::default()).unwrap();
        let folder = |location: &str, files: &[&str], merged: Option<&str>| Folder {
            location: location.into(),
            files: files.iter().map(|&name| name.into()).collect(),
            merged: merged.map(Into::into),
        };
        let expected =
            [folder("/else", &[], Some("c.carbonindexmerge")), folder("/t/s=a/d=1", &["a.carbonindex"], None)];
        assert_eq!(found, expected);
        assert!(folders(b"{}", "/t", &Limits::default()).unwrap().is_empty());
    }

    #[test]
    fn what_leads_out_is_refused() {
        for (place, name) in [("/../x", "a"), ("/x", "../a"), ("/x", "")] {
            let json = format!(
                r#"{{"locationMap":{{"{place}":{{"files":["{name}"],"status":"Success","isRelative":true}}}}}}"#
            );
            assert!(folders(json.as_bytes(), "/t", &Limits::default()).is_err(), "{json}");
        }
        let limits = Limits::default();
        assert!(folders(b"{\"locationMap\":[]}", "/t", &limits).is_err() && folders(b"", "/t", &limits).is_err());
    }
}
