//! Names of files in the folder of a table.

use orcish_core::{Error, Result};
use orcish_io::is_partition_folder;

/// The folder of this crate in the folder of a table. Readers of tables ignore it.
pub const OWN: &str = "_orcish";
/// The folder of the log.
pub const LOG: &str = "_orcish/log";
/// The folder of the files of jobs.
pub const JOBS: &str = "_orcish/jobs";

/// The ending of the names of files that test whether a folder can be changed.
pub(crate) const PROBE: &str = ".probe";
/// The largest number of an entry. All numbers have twelve digits, so that a number has one name.
pub(crate) const MAX_NUMBER: u64 = 999_999_999_999;
/// Maximum length of the name of a file in bytes, which is that of a path of Linux.
pub(crate) const MAX_NAME: usize = 4096;
/// Maximum number of characters of a text in a message.
const MAX_SHOWN: usize = 300;

/// What a file in the folder of a table is, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A file of the table: it is in the folder itself, or below folders of partitions.
    Data,
    /// A file in another folder. Spark and Hive do not take it for a file of the table, and other readers do.
    Subfolder,
    /// A file that all readers ignore, such as one that is being copied.
    Hidden,
}

/// Whether readers pass over files and folders of a name.
pub(crate) fn is_hidden(part: &str) -> bool {
    part.starts_with('.') || (part.starts_with('_') && !part.contains('='))
}

/// What a file is, given by its path below the folder of the table.
///
/// ```
/// use orcish_table::{FileKind, file_kind};
///
/// assert_eq!(file_kind("day=1/part.orc"), FileKind::Data);
/// assert_eq!(file_kind("2026/part.orc"), FileKind::Subfolder);
/// assert_eq!(file_kind("_orcish/log/7.json"), FileKind::Hidden);
/// ```
pub fn file_kind(name: &str) -> FileKind {
    // Hadoop copies to such names, and has such objects for folders in stores.
    if name.split('/').any(is_hidden) || name.ends_with("._COPYING_") || name.ends_with("_$folder$") {
        return FileKind::Hidden;
    }
    let folders = name.rsplit_once('/').map(|(folders, _)| folders);
    let are_partitions = folders.is_none_or(|folders| folders.split('/').all(is_partition_folder));
    if are_partitions { FileKind::Data } else { FileKind::Subfolder }
}

/// The folder of the table that a folder belongs to, and the path below it: the folder above the folders of partitions at
/// the end of the path.
///
/// ```
/// use orcish_table::table_root;
///
/// assert_eq!(table_root("/w/t/day=1/k=2"), ("/w/t", "day=1/k=2"));
/// assert_eq!(table_root("s3://bucket/t/"), ("s3://bucket/t", ""));
/// ```
pub fn table_root(folder: &str) -> (&str, &str) {
    let folder = folder.strip_suffix('/').unwrap_or(folder);
    let (mut root, mut inside) = (folder, "");
    while let Some((above, name)) = root.rsplit_once('/') {
        if !is_partition_folder(name) || above.ends_with(":/") || above.is_empty() {
            break;
        }
        (root, inside) = (above, folder.split_at(above.len() + 1).1);
    }
    (root, inside)
}

/// The folder of the files of a job.
pub fn job_folder(job: &str) -> String {
    format!("{JOBS}/{job}")
}

/// The name of an entry of the log, or of its marker, by its ending.
pub(crate) fn log_name(number: u64, ending: &str) -> String {
    format!("{LOG}/{number:012}.{ending}")
}

/// The number and the ending of a file of the log; `None` for other files.
pub(crate) fn parse_log_name(name: &str) -> Option<(u64, &str)> {
    let (number, ending) = name.strip_prefix(LOG)?.strip_prefix('/')?.split_once('.')?;
    let is_canonical = |parsed: &u64| *parsed <= MAX_NUMBER && format!("{parsed:012}") == number;
    let number = number.parse().ok().filter(is_canonical)?;
    Some((number, ending))
}

/// The path of a file below a folder of the table; `None` for a file elsewhere. The empty folder is the table.
pub(crate) fn below<'a>(name: &'a str, folder: &str) -> Option<&'a str> {
    if folder.is_empty() { Some(name) } else { name.strip_prefix(folder)?.strip_prefix('/') }
}

/// Whether a file is below a folder of the table; the empty folder is the table.
pub(crate) fn is_below(name: &str, folder: &str) -> bool {
    below(name, folder).is_some()
}

/// The start of a text that comes from a file, for messages.
pub(crate) fn shown(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.split_at(end).0),
    }
}

/// The ID of the job of a file by which [`prepare`](crate::Store::prepare) tests whether a folder can be changed.
pub(crate) fn job_of_probe(name: &str) -> Option<&str> {
    let file = name.rsplit('/').next()?;
    file.strip_prefix('.')?.strip_suffix(PROBE).filter(|job| check_job(job).is_ok())
}

/// Whether a file of the folder of this crate is one that was being written when its process died.
pub(crate) fn is_temporary(name: &str) -> bool {
    name.rsplit('/').next().is_some_and(|file| file.starts_with('.') && file.ends_with(".tmp"))
}

/// Checks a name that comes from a file: it must not lead out of the folder that it is appended to.
///
/// # Errors
/// `Corrupt` otherwise.
pub(crate) fn check_relative(name: &str) -> Result<()> {
    let is_step = |part: &str| matches!(part, "" | "." | "..") || part.contains(['\0', '\\']);
    if name.len() > MAX_NAME {
        let text = format!("the name {:?} has {} bytes, where it may have {MAX_NAME}", shown(name), name.len());
        return Err(Error::corrupt(text));
    }
    if name.split('/').any(is_step) {
        return Err(Error::corrupt(format!("{:?} is no path below the folder of the table", shown(name))));
    }
    Ok(())
}

/// Checks the ID of a job, which is the name of a folder.
///
/// # Errors
/// `InvalidArgument` for other texts than 1 to 64 letters, digits and hyphens.
pub(crate) fn check_job(job: &str) -> Result<()> {
    let is_valid =
        (1..=64).contains(&job.len()) && job.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if is_valid { Ok(()) } else { Err(Error::invalid(format!("{:?} is no ID of a job", shown(job)))) }
}
