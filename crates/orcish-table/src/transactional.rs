//! Folders of transactional (ACID) tables of Hive, whose files are no plain rows of a table.

use orcish_core::{Error, Result};
use orcish_io::display_name;

/// Checks that no file of a folder is in a folder of Hive's transactions.
///
/// Rows of such a table are deleted by further files, replaced by later folders, and of aborted transactions. The files
/// alone do not tell these rows.
///
/// # Errors
/// `Unsupported` for a file in a folder such as `delta_0000001_0000001`.
pub(crate) fn check_no_transactions<'a>(folder: &str, files: impl Iterator<Item = &'a str>) -> Result<()> {
    let base = folder.trim_end_matches('/');
    let below = |file: &'a str| Some(file.strip_prefix(base)?.rsplit_once('/')?.0);
    let transaction = files.filter_map(below).find_map(|path| path.split('/').find(|segment| is_transaction(segment)));
    let Some(name) = transaction else { return Ok(()) };
    let text = format!(
        "a transactional table of Hive, with the folder {name}: which of its rows are deleted, replaced or aborted is not \
         read; a pattern, such as table/*/*, reads the rows of the files as they are"
    );
    Err(Error::unsupported(text).in_file(&display_name(folder)))
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
    fn only_folders_below_the_folder_count() {
        let check = |folder: &str, file: &str| check_no_transactions(folder, [file].into_iter());
        assert!(check("/t", "/t/delta_1_1/bucket_0").unwrap_err().to_string().contains("delta_1_1"));
        assert!(check("s3://b/t/", "s3://b/t/day=1/base_5/bucket_0").is_err());
        assert!(check("/t/base_5", "/t/base_5/bucket_0").is_ok());
        assert!(check("/t", "/t/base_5").is_ok());
    }
}
