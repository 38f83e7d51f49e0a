//! Files with changed messages and streams have rows or an error, within bounded memory and time. The files are
//! assembled with correct lengths and chunks, which changes of single bytes rarely leave intact.

use crate::damage::Tally;
use crate::data;
use crate::data::cases;

#[allow(unreachable_pub, reason = "the fuzz targets use it too")]
#[path = "../../fuzz/structured/mod.rs"]
pub(crate) mod mutator;

use mutator::{Random, mutate};

/// Test files that are small enough to be read thousands of times.
pub(crate) fn small_files() -> Vec<(String, bytes::Bytes)> {
    let folders = ["tests/data", "tests/data/groups", "tests/data/heavy", "tests/data/corrupt"];
    let all = folders.into_iter().flat_map(data::files);
    all.filter(|(_, bytes)| bytes.len() < 30_000).collect()
}

#[test]
fn files_with_changed_messages() {
    let mut random = Random::new(1);
    let mut tally = Tally::default();
    let mut mutated = 0;
    for (name, bytes) in small_files() {
        for change in 0..cases(40) {
            // Up to three mutations, which build on each other.
            let mut file = bytes.to_vec();
            for _ in 0..=random.below(3) {
                let Some(changed) = mutate(&file, &mut random) else { break };
                file = changed;
                mutated += 1;
            }
            tally.case(file, &|| format!("{name}, change {change}"));
        }
    }
    tally.report("messages");
    assert!(mutated > cases(1000), "{mutated} changes");
}

/// A parsed and assembled file has the same rows. Only its chunks may differ.
#[test]
fn assembled_files_have_the_same_rows() {
    for (name, bytes) in data::files("tests/data") {
        let again = mutator::copy(&bytes, &mut Random::new(7)).expect("a file");
        let rows = |bytes: bytes::Bytes| {
            let source = std::sync::Arc::new(orcish::io::MemorySource::new(bytes));
            let file = orcish::OrcFile::try_new(source, &orcish::Limits::default()).unwrap();
            let options = orcish::ReadOptions::default().with_masked(orcish::options::Masked::Allow);
            file.read(options).unwrap().map(|batch| batch.unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(rows(again.into()), rows(bytes), "{name}");
    }
}
