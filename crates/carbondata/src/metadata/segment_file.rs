//! Segment files: the folders of a segment, and the index files in them.

use orcish_core::{Error, Limits, Result};
use serde_json::Value;

use super::file_names::check_name;
use super::json::{self, required_text, text, texts};
use super::locations::{absolute, below};
use super::table_status::check_state;

/// A folder of a segment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SegmentFolder {
    pub(crate) location: String,
    /// Names of index files, or of data files for segments of other formats.
    pub(crate) files: Vec<String>,
    /// Name of the merged index file.
    pub(crate) merged: Option<String>,
}

/// Reads the folders of a segment file that are in use, ordered by location.
///
/// # Errors
/// `Corrupt` where it is not a segment file.
pub(crate) fn read_segment_file(bytes: &[u8], table: &str, limits: &Limits) -> Result<Vec<SegmentFolder>> {
    let whole = json::parse(bytes, limits)?;
    let Value::Object(whole) = whole else { return Err(Error::corrupt("it is no object of JSON")) };
    let locations = match whole.get("locationMap") {
        // A load without rows has no folders.
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(locations)) => locations,
        Some(_) => return Err(Error::corrupt("its folders are no object of JSON")),
    };
    let mut folders = Vec::new();
    for (location, folder) in locations {
        // The folder of a dropped partition has another status.
        let status = required_text(folder, "status")?;
        check_state(&status)?;
        if !status.eq_ignore_ascii_case("success") {
            continue;
        }
        let is_relative = match folder.get("isRelative") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(is_relative)) => *is_relative,
            Some(other) => return Err(Error::corrupt(format!("isRelative is no boolean: {other}"))),
        };
        let files = texts(folder, "files")?;
        let merged = text(folder, "mergeFileName")?;
        files.iter().chain(&merged).try_for_each(|name| check_name(name))?;
        let location = if is_relative { below(table, location)? } else { absolute(table, location) };
        folders.push(SegmentFolder { location, files, merged });
    }
    folders.sort_by(|one, other| one.location.cmp(&other.location));
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_and_absolute_folders() {
        let json = br#"{"locationMap":{
            "/s=a/d=1":{"files":["a.carbonindex"],"partitions":["s=a"],"status":"Success","isRelative":true},
            "/gone":{"files":["b.carbonindex"],"status":"Marked for Delete","isRelative":true},
            "file:/else/":{"files":[],"status":"Success","mergeFileName":"c.carbonindexmerge","isRelative":false}}}"#;
        let found = read_segment_file(json, "/t/", &Limits::default()).unwrap();
        let folder = |location: &str, files: &[&str], merged: Option<&str>| SegmentFolder {
            location: location.into(),
            files: files.iter().map(|&name| name.into()).collect(),
            merged: merged.map(Into::into),
        };
        let expected =
            [folder("/else", &[], Some("c.carbonindexmerge")), folder("/t/s=a/d=1", &["a.carbonindex"], None)];
        assert_eq!(found, expected);
        assert!(read_segment_file(b"{}", "/t", &Limits::default()).unwrap().is_empty());
    }

    #[test]
    fn locations_outside_of_the_table_and_wrong_fields_are_refused() {
        for (place, name) in [("/../x", "a"), ("/x", "../a"), ("/x", "")] {
            let json = format!(
                r#"{{"locationMap":{{"{place}":{{"files":["{name}"],"status":"Success","isRelative":true}}}}}}"#
            );
            assert!(read_segment_file(json.as_bytes(), "/t", &Limits::default()).is_err(), "{json}");
        }
        let limits = Limits::default();
        for wrong in [
            r#""files":"a""#,
            r#""files":[true]"#,
            r#""isRelative":"true""#,
            r#""status":"Sucess""#,
            r#""status":null"#,
            r#""mergeFileName":{}"#,
        ] {
            let json = format!(r#"{{"locationMap":{{"/x":{{"status":"Success",{wrong}}}}}}}"#);
            assert!(read_segment_file(json.as_bytes(), "/t", &limits).is_err(), "{wrong}");
        }
        assert!(
            read_segment_file(b"{\"locationMap\":[]}", "/t", &limits).is_err()
                && read_segment_file(b"", "/t", &limits).is_err()
        );
    }
}
