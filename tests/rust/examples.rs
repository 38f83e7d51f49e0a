//! The examples of the crate run.

use std::path::PathBuf;

use crate::data;

#[path = "../../crates/orcish/examples/async_object_store.rs"]
mod async_object_store;
#[path = "../../crates/orcish/examples/inspect.rs"]
mod inspect;
#[path = "../../crates/orcish/examples/read.rs"]
mod read;
#[path = "../../crates/orcish/examples/scan_filter.rs"]
mod scan_filter;
#[path = "../../crates/orcish/examples/write.rs"]
mod write;

fn file() -> PathBuf {
    data::path("tests/data/spark.zlib.orc")
}

#[test]
fn files_are_read() {
    assert_eq!(read::run(&file(), &[]).unwrap(), 20);
    assert_eq!(read::run(&file(), &["int", "nest.x"]).unwrap(), 20);
    assert!(read::run(&file(), &["other"]).is_err());
    assert_eq!(inspect::run(&file()).unwrap(), 1);
    let path = file();
    let stream = async_object_store::run(&path);
    assert_eq!(tokio::runtime::Runtime::new().unwrap().block_on(stream).unwrap(), 20);
}

#[test]
fn a_written_file_is_scanned() {
    let path = std::env::temp_dir().join(format!("orcish-example-{}.orc", std::process::id()));
    assert_eq!(write::run(&path).unwrap(), 10_000);
    let location = path.to_str().unwrap();
    assert_eq!(scan_filter::run("id < 5 and name != 'name 1'", &[location, location]).unwrap(), 80);
    std::fs::remove_file(path).unwrap();
}
