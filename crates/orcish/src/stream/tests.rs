use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::ArrowError;
use futures_util::{FutureExt as _, StreamExt as _, TryStreamExt as _};
use orcish_core::error::{Error, ErrorKind};
use orcish_core::limits::Limits;
use orcish_io::object_store::ObjectStoreExt as _;
use orcish_io::object_store::memory::InMemory;
use orcish_io::object_store::path::Path;
use orcish_io::object_store::throttle::{ThrottleConfig, ThrottledStore};
use orcish_io::{MemorySource, ReadAt, StorageOptions};

use super::*;
use crate::options::ReadOptions;
use crate::read::OrcFile;
use crate::scan::{Matching, Scan, TableFile};
use crate::write::{OrcWriter, WriteOptions};

const PATH: &str = "t/part-0.orc";

/// A file of four stripes of 1000 rows each.
fn file() -> Vec<u8> {
    let mut writer = None;
    for stripe in 0..4 {
        let ids: ArrayRef = Arc::new((stripe * 1000..(stripe + 1) * 1000).collect::<Int64Array>());
        let batch = RecordBatch::try_from_iter([("id", ids)]).unwrap();
        let new = || OrcWriter::try_new(Vec::new(), batch.schema(), &WriteOptions::default()).unwrap();
        let writer = writer.get_or_insert_with(new);
        writer.write(&batch).unwrap();
        writer.flush().unwrap();
    }
    writer.unwrap().into_inner().unwrap()
}

/// Runs a future on an executor of one thread, which a blocking call would stop.
fn run<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// A store whose requests take a time.
async fn slow_store(wait: Duration) -> Arc<ThrottledStore<InMemory>> {
    let store = ThrottledStore::new(InMemory::new(), ThrottleConfig::default());
    store.put(&Path::from(PATH), file().into()).await.unwrap();
    store.config_mut(|config| config.wait_get_per_call = wait);
    Arc::new(store)
}

/// Ranges are requested as they are, not the whole of a small file.
fn options() -> StorageOptions {
    StorageOptions::from_iter([("orcish.coalesce_gap", "0"), ("orcish.first_read", "512")])
}

#[test]
fn batches_of_an_object_are_streamed_in_order() {
    run(async {
        let store = slow_store(Duration::ZERO).await;
        let builder = OrcRecordBatchStreamBuilder::try_new(store, PATH).await.unwrap();
        assert_eq!((builder.metadata().rows, builder.schema().unwrap().fields().len()), (4000, 1));
        let stream = builder.with_filter("id >= 1500".parse().unwrap()).with_batch_size(300).build().await.unwrap();
        let schema = stream.schema();
        let batches: Vec<_> = stream.try_collect().await.unwrap();
        assert!(batches.iter().all(|batch| batch.schema() == schema && batch.num_rows() <= 300));
        let ids = batches.iter().flat_map(|batch| {
            let ids = batch.column(0).as_any().downcast_ref::<Int64Array>().unwrap();
            ids.values().to_vec()
        });
        assert!(ids.eq(1500..4000));
    });
}

#[test]
fn errors_are_those_of_the_reader() {
    run(async {
        let store = slow_store(Duration::ZERO).await;
        let error = OrcRecordBatchStreamBuilder::try_new(store.clone(), "t/other.orc").await.unwrap_err();
        assert_eq!(error.io_kind(), Some(std::io::ErrorKind::NotFound));
        let builder = OrcRecordBatchStreamBuilder::try_new(store.clone(), PATH).await.unwrap();
        let error = builder.with_projection(["other"]).build().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnknownColumn);
        for (key, value) in [("aws_region", "x"), ("orcish.concurrency", "many")] {
            let options = StorageOptions::from_iter([(key, value)]);
            let builder =
                OrcRecordBatchStreamBuilder::try_new_with_options(store.clone(), PATH, Limits::default(), &options);
            assert_eq!(builder.await.unwrap_err().kind(), ErrorKind::InvalidArgument);
        }
        // The file is replaced between two requests.
        let options = options();
        let builder =
            OrcRecordBatchStreamBuilder::try_new_with_options(store.clone(), PATH, Limits::default(), &options);
        let mut stream = builder.await.unwrap().build().await.unwrap();
        store.put(&Path::from(PATH), b"ORC".to_vec().into()).await.unwrap();
        let error = stream.next().await.unwrap().unwrap_err();
        let ArrowError::ExternalError(error) = error else { panic!("{error}") };
        assert_eq!(error.downcast_ref::<Error>().unwrap().place().file.as_deref(), Some(PATH));
        assert!(stream.next().await.is_none());
    });
}

#[test]
fn the_executor_is_not_blocked() {
    run(async {
        let store = slow_store(Duration::from_millis(100)).await;
        let read = async {
            let builder =
                OrcRecordBatchStreamBuilder::try_new_with_options(store, PATH, Limits::default(), &options()).await;
            let stream = builder.unwrap().with_filter("id >= 0".parse().unwrap()).build().await.unwrap();
            stream.map(|batch| batch.unwrap().num_rows()).fold(0, async |sum, rows| sum + rows).await
        };
        let mut longest = Duration::ZERO;
        let tick = async {
            loop {
                let start = Instant::now();
                tokio::time::sleep(Duration::from_millis(1)).await;
                longest = longest.max(start.elapsed());
            }
        };
        let rows = futures_util::select_biased! {
            rows = std::pin::pin!(read.fuse()) => rows,
            () = std::pin::pin!(tick.fuse()) => unreachable!(),
        };
        assert_eq!(rows, 4000);
        assert!(longest < Duration::from_millis(80), "{longest:?}");
    });
}

/// Waits until nobody else has the store.
fn wait_for_drop<T: ?Sized>(store: &Weak<T>) {
    let start = Instant::now();
    while store.strong_count() > 0 {
        assert!(start.elapsed() < Duration::from_secs(10), "the store is still in use");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn dropping_cancels_requests() {
    const FOREVER: Duration = Duration::from_secs(3600);
    // The stream.
    let store = run(async {
        let store = slow_store(Duration::ZERO).await;
        let options = options();
        let builder =
            OrcRecordBatchStreamBuilder::try_new_with_options(store.clone(), PATH, Limits::default(), &options);
        let mut stream = builder.await.unwrap().build().await.unwrap();
        store.config_mut(|config| config.wait_get_per_call = FOREVER);
        let next = tokio::time::timeout(Duration::from_millis(50), stream.next()).await;
        assert!(next.is_err(), "{next:?}");
        let start = Instant::now();
        drop(stream);
        assert!(start.elapsed() < Duration::from_millis(50));
        Arc::downgrade(&store)
    });
    wait_for_drop(&store);
    // The future of the builder.
    let store = run(async {
        let store = slow_store(FOREVER).await;
        let new = OrcRecordBatchStreamBuilder::try_new(store.clone(), PATH);
        assert!(tokio::time::timeout(Duration::from_millis(50), new).await.is_err());
        Arc::downgrade(&store)
    });
    wait_for_drop(&store);
}

#[test]
fn other_readers_are_streamed() {
    let source: Arc<dyn ReadAt> = Arc::new(MemorySource::new(file()));
    let reader = OrcFile::try_new(source.clone(), &Limits::default()).unwrap().read(ReadOptions::default()).unwrap();
    let files = vec![TableFile::new("a").with_source(source.clone()), TableFile::new("b").with_source(source)];
    let storage = StorageOptions::default();
    let scan = Scan::try_new(files, None, ReadOptions::default(), Matching::Name, storage).unwrap();
    for (stream, want) in [(OrcRecordBatchStream::from(reader), 4000), (scan.read().into(), 8000)] {
        let batches: Vec<_> = run(stream.try_collect()).unwrap();
        assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), want);
    }
}
