//! The files of a scan: of paths, URLs, folders and patterns, with the values of their partition columns.

use std::io;

use orcish_core::{Error, Result};
use orcish_io::{Location, StorageOptions, display_name, hive_partitions, hive_partitions_below};

use crate::listing::{Listed, list_files};
use crate::names::table_root;
use crate::schema::TableSchema;
use crate::view::Pending;

/// Names and values of partition columns, the outermost first.
pub type PartitionValues = Vec<(String, Option<String>)>;

/// A file of a scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Its path or URL.
    pub location: String,
    /// Names and values of its partition columns.
    pub partition: PartitionValues,
}

/// What is at the location of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceFiles {
    /// The files, sorted by their locations.
    pub files: Vec<SourceFile>,
    /// The schema of their table, as its log has it; `None` without a log, and for files of several tables.
    pub schema: Option<TableSchema>,
    /// Whether the location was listed. A file of an HTTP server is not: opening it says whether it is there.
    pub is_listed: bool,
}

/// The files at a path, a URL or a pattern, at one moment of the logs of their tables; see [`list_files`]. Nothing is
/// written.
///
/// Folders `name=value` below a folder or a pattern are partition columns, and so are those of the partition of a table with a
/// log that the location is in. `partitions` makes columns of all such folders of a path, or of none.
///
/// ```
/// use orcish_io::Location;
/// use orcish_table::{Pending, source_files};
///
/// let folder = std::env::temp_dir().join(format!("orcish-sources-{}", std::process::id()));
/// std::fs::create_dir_all(folder.join("day=1"))?;
/// std::fs::write(folder.join("day=1/a.orc"), "")?;
/// let found = source_files(&Location::of_path(folder.clone()), None, Pending::Wait, &Default::default())?;
/// assert_eq!(found.files[0].partition, [("day".to_owned(), Some("1".to_owned()))]);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `Io` if there is no file at a path, or none that matches a pattern. `Unsupported` for the folder of a transactional
/// table of Hive. `Commit` if the last commit of a table is not finished, and its files do not become visible.
pub fn source_files(
    location: &Location,
    partitions: Option<bool>,
    pending: Pending,
    options: &StorageOptions,
) -> Result<SourceFiles> {
    let path = text_of(location)?;
    // Few HTTP servers can list.
    let is_listed = !location.is_http() || location.is_several();
    let listed = if is_listed { list_source(location, path, pending, options)? } else { only(path) };
    let is_file = matches!(&*listed.files, [file] if Location::without_scheme(file) == Location::without_scheme(path));
    let above = match &listed.schema {
        None => Vec::new(),
        Some(schema) => {
            let mut above = hive_partitions(&format!("{}/-", listed.inside));
            above.retain(|(name, _)| schema.partition.contains(name));
            above
        }
    };
    let values = |file: &str| {
        let own = match partitions {
            Some(true) => hive_partitions(file),
            // Other folders above the scanned one are only partitions on request.
            None if !is_file => hive_partitions_below(path, file),
            _ => return Vec::new(),
        };
        let is_above = |(name, _): &&(String, Option<String>)| own.iter().all(|(own, _)| own != name);
        above.iter().filter(is_above).chain(&own).cloned().collect()
    };
    let file = |location: String| SourceFile { partition: values(&location), location };
    Ok(SourceFiles { files: listed.files.into_iter().map(file).collect(), schema: listed.schema, is_listed })
}

fn only(path: &str) -> Listed {
    Listed { files: vec![path.to_owned()], ..Listed::default() }
}

fn list_source(location: &Location, path: &str, pending: Pending, options: &StorageOptions) -> Result<Listed> {
    if location.is_http() {
        // Servers of files have no tables that change.
        let files = orcish_io::list(path, options)?;
        return Ok(Listed { files: files.into_iter().map(|(file, _)| file).collect(), ..Listed::default() });
    }
    let listed = list_files(path, options, pending)?;
    if listed.files.is_empty() && location.is_pattern() {
        return Err(no_files(&format!("'{}': nothing matches the pattern", display_name(path))));
    }
    if !listed.files.is_empty() || listed.schema.is_some() {
        return Ok(listed);
    }
    let is_other = location.local_path().is_some_and(|path| path.exists() && !path.is_dir());
    // The error of opening a pipe, a socket or a device says what it is.
    Ok(if is_other { only(path) } else { listed })
}

/// The error for sources without files, given their names.
pub fn no_files(names: &str) -> Error {
    Error::io("no files", io::Error::new(io::ErrorKind::NotFound, names))
}

/// The folder of the table that a folder or a file belongs to, and the path of the folder below it.
///
/// The table is the folder above the folders of partitions at the end of the path: that of `t/day=1/hour=2` is `t`. Links
/// of local paths are resolved, as staged files are bound to their paths.
///
/// # Errors
/// `Unsupported` if tables are not written at such a location. `InvalidArgument` if the path is empty, or the URL has no
/// bucket.
pub fn table_of(location: &Location) -> Result<(String, String)> {
    let path = text_of(location)?;
    let in_file = |error: Error| error.in_file(&display_name(path));
    if location.is_foreign() {
        return Err(in_file(Error::unsupported("such stores are read, by fsspec, and a table there is not written")));
    }
    if path.is_empty() {
        return Err(Error::invalid("the folder of a table has a name; '.' is the one that this process is in"));
    }
    if location.is_http() {
        return Err(in_file(Error::unsupported("files of HTTP servers are read, and not written")));
    }
    let folder = match location.without_links() {
        None => {
            if let Some((scheme, rest)) = path.split_once("://")
                && rest.trim_matches('/').is_empty()
            {
                let text = format!("the URL names no bucket or server; a table is at {scheme}://NAME/PATH");
                return Err(in_file(Error::invalid(text)));
            }
            path.to_owned()
        }
        Some(resolved) => {
            let folder = if resolved.is_file() { resolved.parent().unwrap_or(&resolved) } else { &resolved };
            let text = folder.to_str().ok_or_else(|| not_utf8(location))?;
            text.replace(std::path::MAIN_SEPARATOR, "/")
        }
    };
    let (root, inside) = table_root(&folder);
    Ok((root.to_owned(), inside.to_owned()))
}

/// The path or URL as text.
///
/// # Errors
/// `InvalidArgument` if the path is not UTF-8.
pub fn text_of(location: &Location) -> Result<&str> {
    location.as_os_str().to_str().ok_or_else(|| not_utf8(location))
}

fn not_utf8(location: &Location) -> Error {
    Error::invalid("the path is not UTF-8").in_file(&location.as_os_str().to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_locations() {
        let of = |text: &str| table_of(&Location::try_new(text).unwrap());
        assert_eq!(of("s3://b/t/day=1/hour=2").unwrap(), ("s3://b/t".to_owned(), "day=1/hour=2".to_owned()));
        for (given, text) in [
            ("memory://t", "a table there is not written"),
            ("", "the folder of a table has a name"),
            ("s3:///", "a table is at s3://NAME/PATH"),
            ("https://h/t", "files of HTTP servers are read"),
        ] {
            let error = of(given).unwrap_err().to_string();
            assert!(error.contains(text), "{given}: {error}");
        }
    }

    #[test]
    fn a_folder_without_files_is_no_error() {
        let folder = std::env::temp_dir().join(format!("orcish-no-files-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let files = |path: std::path::PathBuf| {
            source_files(&Location::of_path(path), None, Pending::Wait, &StorageOptions::default())
        };
        assert_eq!(files(folder.clone()).unwrap().files, []);
        let error = files(folder.join("*.orc")).unwrap_err();
        assert!(error.to_string().ends_with("*.orc': nothing matches the pattern"), "{error}");
        assert_eq!(error.io_kind(), Some(io::ErrorKind::NotFound));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
