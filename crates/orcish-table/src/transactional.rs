//! Folders of transactional (ACID) tables of Hive, whose files are no plain rows of a table.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use orcish_core::{Error, Result};
use orcish_io::{Location, StorageOptions, display_name, list};

use crate::names::is_hidden;

/// Checks that no file of a folder is in a folder of Hive's transactions.
///
/// Rows of such a table are deleted by further files, replaced by later folders, and of aborted transactions. The files
/// alone do not tell these rows.
///
/// # Errors
/// `Unsupported` for a file in a folder such as `delta_0000001_0000001`.
pub(crate) fn check_no_transactions<'a>(folder: &str, files: impl Iterator<Item = &'a str>) -> Result<()> {
    let base = folder.trim_end_matches('/');
    let Some(name) = first_of(files.filter_map(|file| file.strip_prefix(base))) else { return Ok(()) };
    let text = format!(
        "a transactional table of Hive, with the folder {name}: which of its rows are deleted, replaced or aborted is not \
         read; a pattern, such as table/*/*, reads the rows of the files as they are"
    );
    Err(Error::unsupported(text).in_file(&display_name(folder)))
}

/// Checks that a folder to which rows are written is not that of a transactional table, nor in one: Hive would take them for
/// rows of no transaction, and a log would hide what the folder is.
///
/// `names` are the files of the table in the folder, by their paths in it; `None` for a single file that is written into the
/// folder.
///
/// # Errors
/// `Unsupported` if the folder is that of a transactional table. `Io` if a folder of a store cannot be listed.
pub fn check_not_transactional(folder: &Location, names: Option<&[String]>, options: &StorageOptions) -> Result<()> {
    let every = match folder.without_links() {
        Some(path) => local_folders(&path),
        None => folders_of_store(&folder.as_os_str().to_string_lossy()),
    };
    let (own, above) = every.split_first().map_or((None, &[][..]), |(own, above)| (Some(own), above));
    let mut found = names.and_then(|names| first_of(names.iter().map(String::as_str))).map(str::to_owned);
    if let Some(own) = own.filter(|_| found.is_none() && names.is_some() && folder.is_local()) {
        found = transactions(own, options)?.into_keys().next();
    }
    let mut place = own;
    if found.is_none() {
        // Beside files, and in the folders above, a folder may have such a name by chance.
        for folder in own.into_iter().filter(|_| names.is_none()).chain(above) {
            let of_hive =
                transactions(folder, options)?.into_iter().find(|(_, files)| files.iter().any(|file| is_of_hive(file)));
            if let Some((name, _)) = of_hive {
                (place, found) = (Some(folder), Some(name));
                break;
            }
        }
    }
    let (Some(place), Some(name)) = (place, found) else { return Ok(()) };
    let text = format!(
        "a transactional table of Hive, with the folder {name}, to which only Hive writes: choose a folder beside it"
    );
    Err(Error::unsupported(text).in_file(&display_name(place)))
}

/// The folder of transactions that the first file of one is in.
fn first_of<'a>(mut names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    names.find_map(|name| name.rsplit_once('/')?.0.split('/').find(|segment| is_transaction(segment)))
}

/// A folder and those above it, up to a hidden one, which readers pass over.
fn local_folders(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for path in folder.ancestors() {
        found.extend(path.to_str().map(str::to_owned));
        if path.file_name().and_then(|name| name.to_str()).is_some_and(is_hidden) {
            break;
        }
    }
    found
}

/// A folder, and those above it in which a folder of transactions would be that it is in. No others are listed.
fn folders_of_store(folder: &str) -> Vec<String> {
    let folder = folder.trim_end_matches('/');
    let above = folder.match_indices('/').filter_map(|(at, _)| {
        let (above, rest) = folder.split_at_checked(at)?;
        let name = rest.split('/').nth(1).filter(|name| is_transaction(name));
        name.map(|_| above.to_owned())
    });
    std::iter::once(folder.to_owned()).chain(above).collect()
}

/// The folders of transactions in a folder, and the names of their files.
fn transactions(folder: &str, options: &StorageOptions) -> Result<BTreeMap<String, Vec<String>>> {
    if folder.contains("://") {
        return transactions_of_store(folder, options);
    }
    let names = |folder: &Path| -> io::Result<Vec<String>> {
        let names = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().into_string()));
        Ok(names.collect::<io::Result<Vec<_>>>()?.into_iter().filter_map(Result::ok).collect())
    };
    // A folder that is not there has none, and the write says what is wrong with another one.
    let Ok(found) = names(Path::new(folder)) else { return Ok(BTreeMap::new()) };
    let found = found.into_iter().filter(|name| is_transaction(name));
    let files = |name: String| {
        let path = Path::new(folder).join(&name);
        // Names of files tell a transaction from a folder that has its name by chance: of a folder that cannot be read, the
        // name alone is known.
        path.is_dir().then(|| (name, names(&path).unwrap_or_else(|_| Vec::new())))
    };
    Ok(found.filter_map(files).collect())
}

fn transactions_of_store(folder: &str, options: &StorageOptions) -> Result<BTreeMap<String, Vec<String>>> {
    let Some((scheme, rest)) = folder.split_once("://") else { return Ok(BTreeMap::new()) };
    let escaped: String =
        rest.chars().map(|c| if "*?[".contains(c) { format!("[{c}]") } else { c.to_string() }).collect();
    let files = match list(&format!("{scheme}://{escaped}/*_[0-9]*/*"), options) {
        // Who may not list a folder may still write into it.
        Err(error) if error.io_kind() == Some(io::ErrorKind::PermissionDenied) => return Ok(BTreeMap::new()),
        files => files?,
    };
    let mut found = BTreeMap::<String, Vec<String>>::new();
    for (location, _) in files {
        let mut names = location.rsplit('/');
        if let (Some(file), Some(name)) = (names.next(), names.next())
            && is_transaction(name)
        {
            found.entry(name.to_owned()).or_default().push(file.to_owned());
        }
    }
    Ok(found)
}

/// Whether Hive writes files of such a name into a folder of a transaction.
fn is_of_hive(name: &str) -> bool {
    let begins_with_digits =
        |text: &str, count: usize| text.len() >= count && text.bytes().take(count).all(|byte| byte.is_ascii_digit());
    name.strip_prefix("bucket_").is_some_and(|rest| begins_with_digits(rest, 1))
        || name.split_once('_').is_some_and(|(start, rest)| {
            start.len() == 6 && begins_with_digits(start, 6) && begins_with_digits(rest, 1)
        })
        || matches!(name, "_orc_acid_version" | "_metadata_acid")
}

/// Whether a folder has the name of a transaction: `base_N`, `delta_N_N` or `delete_delta_N_N`, with a statement and the
/// id of a compaction.
fn is_transaction(name: &str) -> bool {
    let (name, is_delta) = match (name.strip_prefix("base_"), name.strip_prefix("delete_").unwrap_or(name)) {
        (Some(rest), _) => (rest, false),
        (None, delta) => match delta.strip_prefix("delta_") {
            Some(rest) => (rest, true),
            None => return false,
        },
    };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts: Vec<&str> = name.split('_').collect();
    if parts.last().and_then(|last| last.strip_prefix('v')).is_some_and(is_number) {
        parts.pop();
    }
    let numbers = if is_delta { 2..=3 } else { 1..=1 };
    numbers.contains(&parts.len()) && parts.into_iter().all(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_transactions_are_known_by_their_names() {
        let names = "base_0000005 base_0000005_v0000012 delta_0000001_0000001 delta_0000001_0000002_0000 \
                     delta_0000001_0000004_v0000010 delete_delta_0000003_0000003_0001";
        assert!(names.split(' ').all(is_transaction));
        let others = "base base_ base_a delta_1 delta_a_b delta_1_2_3_4 delete_base_1 day=1 delta_=1 base_1_2 xbase_1";
        assert!(!others.split(' ').any(is_transaction));
    }

    #[test]
    fn files_of_hive_are_known_by_their_names() {
        assert!(
            ["bucket_00000", "bucket_1_0", "000000_0", "_orc_acid_version", "_metadata_acid"]
                .into_iter()
                .all(is_of_hive)
        );
        assert!(!["bucket_", "part-0.orc", "00000_0", "0000000_0", "000000_a", "bucket"].into_iter().any(is_of_hive));
    }

    #[test]
    fn folders_above() {
        assert_eq!(local_folders(Path::new("/a/.b/c")), ["/a/.b/c", "/a/.b"]);
        assert_eq!(local_folders(Path::new("/a")), ["/a", "/"]);
        assert_eq!(folders_of_store("s3://b/t/base_5/x/"), ["s3://b/t/base_5/x", "s3://b/t"]);
    }

    #[test]
    fn rows_are_not_written_into_transactional_tables() {
        let base = std::env::temp_dir().join(format!("orcish-transactional-{}", std::process::id()));
        let table = base.join("t");
        std::fs::create_dir_all(table.join("delta_1_1")).unwrap();
        let check = |path: &Path, names: Option<&[String]>| {
            check_not_transactional(&Location::of_path(path.to_owned()), names, &StorageOptions::default())
        };
        // A folder may have the name of a transaction by chance, but the table that is written has none.
        assert!(check(&table, None).is_ok() && check(&table.join("x"), Some(&[])).is_ok());
        assert!(check(&table, Some(&[])).is_err());
        std::fs::write(table.join("delta_1_1/bucket_00000"), "").unwrap();
        assert!(check(&table, None).is_err() && check(&table.join("x"), Some(&[])).is_err());
        assert!(check(&table.join("x"), None).unwrap_err().to_string().contains("delta_1_1"));
        assert!(check(&base, Some(&["t/delta_1_1/bucket_0".to_owned()])).is_err());
        std::fs::remove_dir_all(base).unwrap();
    }

    #[test]
    fn only_folders_below_the_folder_count() {
        let check = |folder: &str, file: &str| check_no_transactions(folder, [file].into_iter());
        assert!(check("/t", "/t/delta_1_1/bucket_0").unwrap_err().to_string().contains("delta_1_1"));
        assert!(check("s3://b/t/", "s3://b/t/day=1/base_5/bucket_0").is_err());
        assert!(check("/t/base_5", "/t/base_5/bucket_0").is_ok());
        assert!(check("/t", "/t/base_5").is_ok());
    }
}
