//! Names of the files of a table.

use orcish_core::{Error, Result};

/// Suffix of the names of data files.
pub(crate) const DATA_FILE_SUFFIX: &str = ".carbondata";

/// The last component of a location.
pub(crate) fn file_name(location: &str) -> &str {
    location.rsplit(['/', '\\']).next().unwrap_or(location)
}

/// The location without its last component.
pub(crate) fn parent(location: &str) -> &str {
    let name = file_name(location);
    location.get(..location.len() - name.len()).map_or("", |folder| folder.trim_end_matches(['/', '\\']))
}

/// The name of a data file without suffix and compressor, which index files may leave out.
pub(crate) fn base_name(name: &str) -> &str {
    let name = name.strip_suffix(DATA_FILE_SUFFIX).unwrap_or(name);
    match name.rsplit_once('.') {
        // The id of a segment may have a point too.
        Some((base, compressor)) if !compressor.contains('-') => base,
        _ => name,
    }
}

/// Splits the name of a data file into its block name and its timestamp.
pub(crate) fn block_and_time(name: &str) -> Option<(&str, &str)> {
    base_name(name).rsplit_once('-')
}

/// Checks that a name is a single path component.
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
        assert_eq!(base_name(name), "part-0-0_batchno0-0-0.1-17");
        assert_eq!(base_name("part-0-0_batchno0-0-0.1-17.carbondata"), base_name(name));
        assert_eq!(block_and_time(name), Some(("part-0-0_batchno0-0-0.1", "17")));
        assert_eq!((file_name("/a/b/c"), parent("/a/b/c"), parent("c")), ("c", "/a/b", ""));
    }
}
