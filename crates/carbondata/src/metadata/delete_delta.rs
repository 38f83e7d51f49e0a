//! Delete delta files: the deleted rows of a block.

use std::collections::BTreeMap;

use orcish_core::{Error, Limits, Result};
use orcish_io::{StorageOptions, read_small};
use serde_json::Value;

use super::json::{self, number};

/// Suffix of the names of delete delta files.
pub(crate) const DELETE_DELTA_SUFFIX: &str = ".deletedelta";

/// Memory of a page with deleted rows, without the row numbers.
const PAGE_MEMORY: usize = 64;

/// Deleted rows, ascending, by blocklet of the file and page of the blocklet.
pub(crate) type Deletes = BTreeMap<(u32, u32), Vec<u32>>;

/// Reads the delete deltas of a data file.
///
/// # Errors
/// `Io` where a file cannot be read, `Corrupt` where it is not a delete delta, `LimitExceeded` where the row numbers
/// take more memory than is allowed.
pub(crate) fn read_deletes(locations: &[String], storage: &StorageOptions, limits: &Limits) -> Result<Deletes> {
    let mut deletes = Deletes::new();
    let mut cancellation = storage.cancellation();
    for location in locations {
        cancellation.poll()?;
        let bytes = read_small(location, limits.tail, storage)?;
        add(&mut deletes, &bytes, limits).map_err(|error| error.in_file(location))?;
        let memory: usize = deletes.values().map(|rows| PAGE_MEMORY + rows.capacity() * size_of::<u32>()).sum();
        if u64::try_from(memory).map_or(true, |memory| memory > limits.memory) {
            let limit = limits.memory;
            let text = format!("deleted rows of a data file that take {memory} bytes, of {limit} that are allowed");
            return Err(Error::limit(text).in_file(location));
        }
    }
    for rows in deletes.values_mut() {
        rows.sort_unstable();
        rows.dedup();
    }
    Ok(deletes)
}

/// Adds the rows of one delete delta file.
pub(crate) fn add(deletes: &mut Deletes, bytes: &[u8], limits: &Limits) -> Result<()> {
    let whole = json::parse(bytes, limits)?;
    let blocklets = whole.get("blockletDetailsMap").and_then(Value::as_object);
    let blocklets = blocklets.ok_or_else(|| Error::corrupt("it has no blocklets"))?;
    for (key, blocklet) in blocklets {
        // A key is `blocklet_page`, or `blocklet` in old files.
        let (first, second) = key.split_once('_').unwrap_or((key, "0"));
        let id = number(blocklet, "id")?.or_else(|| first.parse().ok());
        let page = number(blocklet, "pageId")?.or_else(|| second.parse().ok());
        let page_key = id.zip(page).ok_or_else(|| Error::corrupt(format!("{key:?} is no blocklet and page")))?;
        let rows = blocklet.get("deletedRows").and_then(Value::as_array);
        let rows = rows.ok_or_else(|| Error::corrupt(format!("there are no rows for {key:?}")))?;
        let all = deletes.entry(page_key).or_default();
        all.reserve(rows.len());
        for row in rows {
            let row = row.as_u64().and_then(|row| u32::try_from(row).ok());
            all.push(row.ok_or_else(|| Error::corrupt(format!("a row for {key:?} is no number of one")))?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deltas_are_merged() {
        let mut deletes = Deletes::new();
        let first = br#"{"blockletDetailsMap":{"0_1":{"id":"0","pageId":1,"deletedRows":[7,3]}},"blockName":"x"}"#;
        add(&mut deletes, first, &Limits::default()).unwrap();
        add(
            &mut deletes,
            br#"{"blockletDetailsMap":{"2":{"deletedRows":[1]},"0_1":{"deletedRows":[]}}}"#,
            &Limits::default(),
        )
        .unwrap();
        assert_eq!(deletes, Deletes::from([((0, 1), vec![7, 3]), ((2, 0), vec![1])]));
    }

    #[test]
    fn memory_of_all_deltas_is_limited() {
        let folder = std::env::temp_dir().join(format!("carbondata-deletes-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let rows = (0..1000).map(|row| row.to_string()).collect::<Vec<_>>().join(",");
        let delta = |at: u32| {
            let path = folder.join(format!("{at}{DELETE_DELTA_SUFFIX}")).to_str().unwrap().to_owned();
            let json = format!(r#"{{"blockletDetailsMap":{{"{at}_0":{{"deletedRows":[{rows}]}}}}}}"#);
            std::fs::write(&path, json).unwrap();
            path
        };
        let deltas: Vec<String> = (0..100).map(delta).collect();
        // A single file is within the limit as JSON, which is larger than its row numbers.
        let limits = Limits::default().with_memory(200_000);
        let read = |deltas: &[String], limits: &Limits| read_deletes(deltas, &StorageOptions::default(), limits);
        assert_eq!(read(&deltas[..20], &limits).unwrap().len(), 20);
        let error = read(&deltas, &limits).unwrap_err();
        assert_eq!(error.kind(), orcish_core::ErrorKind::LimitExceeded);
        assert!(error.to_string().contains(DELETE_DELTA_SUFFIX), "{error}");
        assert_eq!(read(&deltas, &Limits::default()).unwrap().values().map(Vec::len).sum::<usize>(), 100_000);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn invalid_deltas_are_errors() {
        let rows = |rows: &str| format!(r#"{{"blockletDetailsMap":{{"0_1":{{"deletedRows":{rows}}}}}}}"#);
        for json in ["", "[]", "{}", &rows("[-1]"), &rows("[1.5]"), &rows("[4294967296]"), &rows("7")] {
            assert!(add(&mut Deletes::new(), json.as_bytes(), &Limits::default()).is_err(), "{json}");
        }
        let nameless = br#"{"blockletDetailsMap":{"x":{"deletedRows":[]}}}"#;
        assert!(add(&mut Deletes::new(), nameless, &Limits::default()).is_err());
    }
}
