//! The files of paths, URLs and patterns, at one moment of the logs of their tables.

use std::collections::{BTreeMap, BTreeSet};

use orcish_core::{Error, ErrorKind, OrInternal as _, Result};
use orcish_io::{Listing, StorageOptions, display_name, list_marked};

use crate::executor::block_on;
use crate::file_store::FileStore;
use crate::names::{OWN, below, table_root};
use crate::schema::TableSchema;
use crate::store::StoredFile;
use crate::transactional::check_no_transactions;
use crate::view::{Pending, View, view};

/// How often a location is listed again because its tables have changed.
const MAX_ATTEMPTS: usize = 100;

/// The files at a location.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listed {
    /// The locations of the files, sorted.
    pub files: Vec<String>,
    /// The schema of the table that all of them are in; `None` if that is the one of the first file, or if there are
    /// several tables.
    pub schema: Option<TableSchema>,
    /// The path of the listed folder below that of its table: `day=1` of `t/day=1`, and of `t/day=1/*.orc`.
    pub inside: String,
}

/// The locations of the files at a path, a URL or a pattern, as [`orcish_io::list`] has them. Those of tables with a log
/// are the files of one moment of the log. Nothing is written.
///
/// A location below the folder of a table is one of the table. The location of a file is that of the file, whatever the
/// log says of it.
///
/// No request is made for a log where there is none, except that a location that is a folder of a partition needs a look
/// into the folder of its table.
///
/// # Errors
/// `Io` if there is no such file or folder. `Unsupported` for the folder of a transactional table of Hive. `Commit` if the
/// last commit of a table is not finished, and its files do not become visible.
pub fn list_files(location: &str, options: &StorageOptions, pending: Pending) -> Result<Listed> {
    let mut before = Views::new();
    for _ in 0..MAX_ATTEMPTS {
        let listing = list_marked(location, options, OWN)?;
        let Some(folder) = listing.folder.clone() else {
            return Ok(Listed { files: locations(listing), ..Listed::default() });
        };
        let listed_folder = Folder::new(&folder);
        // A log does not make plain rows of them.
        let listed = |files: Vec<String>, schema| -> Result<Listed> {
            if !listing.is_pattern {
                check_no_transactions(&folder, files.iter().map(String::as_str))?;
            }
            Ok(Listed { files, schema, inside: listed_folder.inside.clone() })
        };
        let logs = logs(&listing, &listed_folder, options)?;
        if logs.is_empty() {
            if listing.is_atomic || !has_begun(&listing, &listed_folder, options)? {
                return listed(listing.files.iter().map(|(file, _)| file.clone()).collect(), None);
            }
            continue;
        }
        if !listing.is_pattern && logs.iter().eq([&listed_folder.root]) {
            let store = FileStore::new(&listed_folder.root, options);
            let View { files, schema } = block_on(view(&store, &listed_folder.inside, pending))?;
            let base = folder.trim_end_matches('/');
            let location = |file: &StoredFile| {
                let name =
                    below(&file.name, &listed_folder.inside).or_internal("a file of a view is not below its folder")?;
                Ok(format!("{base}/{name}"))
            };
            return listed(files.iter().map(location).collect::<Result<_>>()?, schema);
        }
        let views = views(&logs, options, pending)?;
        // Between two equal views of the tables, all of their files were there.
        if views == before {
            let files = listing.files.iter().map(|(file, _)| file).filter(|file| is_visible(file, &views));
            let files: Vec<_> = files.cloned().collect();
            let schema = common_schema(&files, views);
            return listed(files, schema);
        }
        before = views;
    }
    let text = "the tables change faster than they can be listed";
    Err(Error::new(ErrorKind::Commit, text).in_file(&display_name(location)))
}

fn locations(listing: Listing) -> Vec<String> {
    listing.files.into_iter().map(|(location, _)| location).collect()
}

/// A table: the names of its files, and its schema.
type TableView = (BTreeSet<String>, Option<TableSchema>);

/// Tables by their roots.
type Views = BTreeMap<String, TableView>;

/// A folder: the root of its table, without links, and the path below it.
struct Folder {
    root: String,
    inside: String,
}

impl Folder {
    fn new(folder: &str) -> Self {
        let folder = without_links(folder);
        let (root, inside) = table_root(&folder);
        Folder { root: root.to_owned(), inside: inside.to_owned() }
    }

    /// The folder of a file, and the name of the file below the root.
    fn of_file(location: &str) -> (Self, String) {
        let (folder, name) = location.rsplit_once('/').unwrap_or((".", location));
        let folder = Folder::new(if folder.is_empty() { "/" } else { folder });
        let name = if folder.inside.is_empty() { name.to_owned() } else { format!("{}/{name}", folder.inside) };
        (folder, name)
    }
}

/// The folder as an absolute path without links, if it is local.
fn without_links(folder: &str) -> String {
    if folder.contains("://") {
        return folder.trim_end_matches('/').to_owned();
    }
    let path = if folder.is_empty() { "." } else { folder };
    let absolute = std::fs::canonicalize(path).or_else(|_| std::path::absolute(path));
    // A path that is not there, or not in Unicode, stays: the request for it says so.
    match absolute.map(|path| path.into_os_string().into_string()) {
        Ok(Ok(path)) => path.replace(std::path::MAIN_SEPARATOR, "/"),
        _ => folder.to_owned(),
    }
}

/// The roots of the tables of a listing that have a log.
fn logs(listing: &Listing, listed_folder: &Folder, options: &StorageOptions) -> Result<BTreeSet<String>> {
    // A partition has no log of its own.
    let marked = listing.marked.iter().map(|folder| Folder::new(folder)).filter(|folder| folder.inside.is_empty());
    let mut roots: BTreeSet<String> = marked.map(|folder| folder.root).collect();
    if !listed_folder.inside.is_empty() {
        roots.insert(listed_folder.root.clone());
    }
    if listing.is_pattern {
        // A pattern may pass over the folders of its tables.
        roots.extend(roots_of_files(listing).filter(|root| !listing.has_looked_into(root)));
    }
    with_log(roots, options)
}

/// Whether a log has begun since the listing.
fn has_begun(listing: &Listing, listed_folder: &Folder, options: &StorageOptions) -> Result<bool> {
    let mut roots = BTreeSet::from([listed_folder.root.clone()]);
    if !listed_folder.root.contains("://") {
        roots.extend(roots_of_files(listing));
    }
    Ok(!with_log(roots, options)?.is_empty())
}

/// The roots of the tables of the files of a listing.
fn roots_of_files(listing: &Listing) -> impl Iterator<Item = String> {
    let folders: BTreeSet<&str> =
        listing.files.iter().filter_map(|(file, _)| Some(table_root(file.rsplit_once('/')?.0).0)).collect();
    folders.into_iter().map(|folder| Folder::new(folder).root)
}

/// The roots that have a log.
fn with_log(roots: BTreeSet<String>, options: &StorageOptions) -> Result<BTreeSet<String>> {
    let mut begun = BTreeSet::new();
    for root in roots {
        if FileStore::new(&root, options).has_log()? {
            begun.insert(root);
        }
    }
    Ok(begun)
}

fn views(logs: &BTreeSet<String>, options: &StorageOptions, pending: Pending) -> Result<Views> {
    let names = |root: &String| {
        let View { files, schema } = block_on(view(&FileStore::new(root, options), "", pending))?;
        Ok((root.clone(), (files.into_iter().map(|file| file.name).collect(), schema)))
    };
    logs.iter().map(names).collect()
}

/// Whether a file is one of its table.
fn is_visible(location: &str, views: &Views) -> bool {
    let (folder, name) = Folder::of_file(location);
    views.get(&folder.root).is_none_or(|(names, _)| names.contains(&name))
}

/// The schema of the only table of some files.
fn common_schema(files: &[String], mut views: Views) -> Option<TableSchema> {
    let (root, (_, schema)) = views.pop_first().filter(|_| views.is_empty())?;
    schema.filter(|_| files.iter().all(|file| Folder::of_file(file).0.root == root))
}
