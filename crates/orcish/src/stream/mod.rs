//! Streams of batches, for asynchronous programs: of files in an `ObjectStore`, and of any reader.
//!
//! Reading and decoding run on threads of their own, never on those of the caller's executor, which may be any. One batch is
//! read ahead of the caller. Dropping a stream, a builder, or a future of one cancels its requests.
//!
//! ```
//! use std::sync::Arc;
//!
//! use futures_util::TryStreamExt as _;
//! use object_store::memory::InMemory;
//! use object_store::path::Path;
//! use object_store::{ObjectStore, ObjectStoreExt as _};
//! use orcish::stream::OrcRecordBatchStreamBuilder;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/spark.zlib.orc");
//! # let bytes = std::fs::read(path)?;
//! # tokio::runtime::Runtime::new()?.block_on(async move {
//! let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
//! store.put(&Path::from("table/part-0.orc"), bytes.into()).await?;
//!
//! let builder = OrcRecordBatchStreamBuilder::try_new(store, "table/part-0.orc").await?;
//! assert_eq!(builder.metadata().rows, 20);
//! let filter = "int is not null and byte < 0".parse()?;
//! let stream = builder.with_projection(["int", "nest.x"]).with_filter(filter).with_batch_size(4).build().await?;
//! assert_eq!(stream.schema().fields().len(), 2);
//! let batches: Vec<_> = stream.try_collect().await?;
//! assert!(batches.iter().all(|batch| batch.num_rows() <= 4));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod batches;
mod builder;
mod cancel;
#[cfg(test)]
mod tests;

pub use batches::OrcRecordBatchStream;
pub use builder::{AsyncReader, OrcRecordBatchStreamBuilder};
