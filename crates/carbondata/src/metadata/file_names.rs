//! Names of files: those of data files and what they say, and those that metadata may append to a folder's.

use orcish_core::{Error, Result};

/// The ending of the name of a data file.
pub(crate) const DATA: &str = ".carbondata";
/// The name at the end of a location.
pub(crate) fn name_of(location: &str) -> &str {
    location.rsplit(['/', '\\']).next().unwrap_or(location)
}

/// The folder that a location is in.
pub(crate) fn folder_of(location: &str) -> &str {
    let name = name_of(location);
    location.get(..location.len() - name.len()).map_or("", |folder| folder.trim_end_matches(['/', '\\']))
}

/// The name of a data file without its ending, and without that of its compressor, which indexes may lack.
pub(crate) fn base(name: &str) -> &str {
    let name = name.strip_suffix(DATA).unwrap_or(name);
    match name.rsplit_once('.') {
        // A number of a segment may have a point too.
        Some((base, compressor)) if !compressor.contains('-') => base,
        _ => name,
    }
}

/// The name up to the time at its end, and that.
pub(crate) fn block_and_time(name: &str) -> Option<(&str, &str)> {
    base(name).rsplit_once('-')
}

/// The name of a file or folder that may be appended to a folder's.
pub(crate) fn check_name(name: &str) -> Result<()> {
    if name.is_empty() || name == "." || name == ".." || name.contains(['/', '\\', '\0']) {
        return Err(Error::corrupt(format!("{name:?} is no name of a file")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_names() {
        let name = "part-0-0_batchno0-0-0.1-17.snappy.carbondata";
        assert_eq!(base(name), "part-0-0_batchno0-0-0.1-17");
        assert_eq!(base("part-0-0_batchno0-0-0.1-17.carbondata"), base(name));
        assert_eq!(block_and_time(name), Some(("part-0-0_batchno0-0-0.1", "17")));
        assert_eq!((name_of("/a/b/c"), folder_of("/a/b/c"), folder_of("c")), ("c", "/a/b", ""));
    }
}
