//! Streams the batches of an object of a store, here one in memory:
//! `cargo run --features async --example async_object_store -- FILE`

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use futures_util::TryStreamExt as _;
use object_store::memory::InMemory;
use object_store::{ObjectStore, ObjectStoreExt as _};
use orcish::stream::OrcRecordBatchStreamBuilder;

/// Copies a file to a store, and streams it from there.
pub(crate) async fn run(path: &Path) -> Result<usize, Box<dyn Error>> {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    store.put(&"part-0.orc".into(), std::fs::read(path)?.into()).await?;

    let builder = OrcRecordBatchStreamBuilder::try_new(store, "part-0.orc").await?;
    println!("{} rows of {}", builder.metadata().rows, builder.schema()?);
    let mut stream = builder.with_batch_size(1024).build().await?;
    let mut rows = 0;
    while let Some(batch) = stream.try_next().await? {
        rows += batch.num_rows();
    }
    println!("{rows} rows");
    Ok(rows)
}

#[allow(dead_code, reason = "a test runs the examples as modules")]
fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("a file has to be given")?;
    tokio::runtime::Runtime::new()?.block_on(run(Path::new(&path))).map(drop)
}
