//! Locations of files and folders of a table.

use orcish_core::{Error, Result};

/// The location of a relative path in a folder.
pub(crate) fn join(folder: &str, name: &str) -> String {
    format!("{}/{}", folder.trim_end_matches('/'), name.trim_start_matches('/'))
}

/// The location of a path that is relative to the table.
pub(crate) fn below(table: &str, location: &str) -> Result<String> {
    if location.split(['/', '\\']).any(|name| name == "..") {
        return Err(Error::corrupt(format!("the folder {location:?} is not within the table")));
    }
    Ok(join(table, location).trim_end_matches('/').to_owned())
}

/// The location of an absolute path. Added segments and partitions may be anywhere.
pub(crate) fn absolute(table: &str, location: &str) -> String {
    let location = location.trim_end_matches('/');
    // Hadoop writes local paths as `file:/path`.
    if let Some(path) = location.strip_prefix("file:/").filter(|path| !path.starts_with('/')) {
        return format!("/{path}");
    }
    // A path without scheme belongs to the file system of the table, so that a table in a store cannot name local
    // files.
    let root = table.split_once("://").and_then(|(scheme, rest)| {
        let authority = rest.split('/').next()?;
        (!scheme.eq_ignore_ascii_case("file")).then(|| format!("{scheme}://{authority}"))
    });
    match root {
        Some(root) if !location.contains("://") => join(&root, location),
        _ => location.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_without_scheme_belong_to_the_store_of_the_table() {
        assert_eq!(absolute("s3://bucket/t", "/etc/x"), "s3://bucket/etc/x");
        assert_eq!(absolute("s3://bucket/t", "gs://other/x/"), "gs://other/x");
        assert_eq!(absolute("/t", "/etc/x"), "/etc/x");
        assert_eq!(absolute("file:///t", "/x"), "/x");
    }
}
