use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use object_store::memory::InMemory;
use object_store::multipart::MultipartStore;
use object_store::path::Path;
use object_store::{MultipartId, PutPayload, PutResult, Result as StoreResult};
use orcish_core::ErrorKind;

use super::*;

type Pending<'a, T> = std::pin::Pin<Box<dyn Future<Output = StoreResult<T>> + Send + 'a>>;

/// A store in memory that counts uploaded parts and aborted uploads, and optionally never responds to an abort.
#[derive(Debug, Clone)]
struct CountingStore {
    inner: InMemory,
    parts: Arc<std::sync::Mutex<Vec<usize>>>,
    aborted: Arc<AtomicUsize>,
    responds_to_aborts: bool,
}

impl CountingStore {
    fn new(responds_to_aborts: bool) -> Self {
        CountingStore { inner: InMemory::new(), parts: Arc::default(), aborted: Arc::default(), responds_to_aborts }
    }

    fn sink(&self, sizes: PartSizes) -> ObjectSink {
        self.sink_with(sizes, Publication::Immediate { overwrite: true })
    }

    fn sink_with(&self, sizes: PartSizes, publication: Publication) -> ObjectSink {
        let mut object = Object::in_memory(&self.inner, "t/a.orc");
        if let Some(client) = &mut object.store.multipart {
            client.store = Arc::new(self.clone());
        }
        let mut sink = ObjectSink::try_new(object, publication, &StorageOptions::default()).unwrap();
        sink.target.sizes = sizes;
        sink
    }

    /// Waits until `count` uploads have been aborted, which may happen in the background.
    fn wait_for_aborts(&self, count: usize) {
        let start = Instant::now();
        while self.aborted.load(Ordering::Acquire) < count && start.elapsed() < Duration::from_secs(30) {
            std::thread::yield_now();
        }
        assert_eq!(self.aborted.load(Ordering::Acquire), count);
    }

    #[expect(clippy::disallowed_methods, reason = "a store in memory is as long as it says")]
    fn bytes(&self) -> Option<Vec<u8>> {
        let store = self.inner.clone();
        let read = async move {
            let found = object_store::ObjectStoreExt::get(&store, &Path::from("t/a.orc")).await;
            Ok(match found {
                Ok(found) => Some(found.bytes().await.unwrap().to_vec()),
                Err(_) => None,
            })
        };
        block_on(read, None).unwrap()
    }
}

impl MultipartStore for CountingStore {
    fn create_multipart<'a, 'b, 'c>(&'a self, path: &'b Path) -> Pending<'c, MultipartId>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        self.inner.create_multipart(path)
    }

    fn put_part<'a, 'b, 'c, 'd>(
        &'a self,
        path: &'b Path,
        id: &'c MultipartId,
        part: usize,
        data: PutPayload,
    ) -> Pending<'d, PartId>
    where
        'a: 'd,
        'b: 'd,
        'c: 'd,
        Self: 'd,
    {
        let mut parts = self.parts.lock().unwrap();
        let count = parts.len().max(part + 1);
        parts.resize(count, 0);
        parts[part] = data.content_length();
        self.inner.put_part(path, id, part, data)
    }

    fn complete_multipart<'a, 'b, 'c, 'd>(
        &'a self,
        path: &'b Path,
        id: &'c MultipartId,
        parts: Vec<PartId>,
    ) -> Pending<'d, PutResult>
    where
        'a: 'd,
        'b: 'd,
        'c: 'd,
        Self: 'd,
    {
        self.inner.complete_multipart(path, id, parts)
    }

    fn abort_multipart<'a, 'b, 'c, 'd>(&'a self, path: &'b Path, id: &'c MultipartId) -> Pending<'d, ()>
    where
        'a: 'd,
        'b: 'd,
        'c: 'd,
        Self: 'd,
    {
        self.aborted.fetch_add(1, Ordering::AcqRel);
        if self.responds_to_aborts { self.inner.abort_multipart(path, id) } else { Box::pin(std::future::pending()) }
    }
}

const SMALL: PartSizes = PartSizes { first_size: 10, equal_parts: 3, parts_per_size: 2, max_size: 50, max_parts: 9 };
/// The part sizes of the longest file.
const PART_SIZES: [usize; 9] = [10, 10, 10, 20, 20, 40, 40, 50, 50];

#[test]
fn part_sizes_increase() {
    let whole: usize = PART_SIZES.iter().sum();
    let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(whole).collect();
    for piece in [1, 7, 10, 33, 250] {
        for length in [11, 30, 31, 100, whole - 1, whole] {
            let store = CountingStore::new(true);
            let mut sink = store.sink(SMALL);
            bytes[..length].chunks(piece).for_each(|chunk| sink.write(chunk).unwrap());
            sink.finish().unwrap();
            assert!(sink.finish().is_err() && sink.write(b"more").is_err());
            assert_eq!(store.bytes().unwrap(), &bytes[..length]);
            let parts = store.parts.lock().unwrap().clone();
            let starts = PART_SIZES.iter().scan(0, |end, part| Some(std::mem::replace(end, *end + part)));
            let expected: Vec<_> = starts
                .zip(PART_SIZES)
                .map(|(start, part)| length.saturating_sub(start).min(part))
                .filter(|part| *part > 0)
                .collect();
            assert_eq!(parts, expected, "{piece} {length}");
            drop(sink);
            assert_eq!(store.aborted.load(Ordering::Acquire), 0);
        }
    }
}

#[test]
fn uploads_with_too_many_parts_are_aborted() {
    let store = CountingStore::new(true);
    let mut sink = store.sink(SMALL);
    let result =
        (0..=PART_SIZES.iter().sum::<usize>() / 10).try_for_each(|_| sink.write(&[7; 10])).and_then(|()| sink.finish());
    let error = result.unwrap_err();
    assert!(error.to_string().contains("more than 9 parts"), "{error}");
    store.wait_for_aborts(1);
    assert_eq!(store.bytes(), None);
    assert!(sink.finish().is_err());
}

#[test]
fn aborts_do_not_block_for_long() {
    let store = CountingStore::new(false);
    let start = Instant::now();
    for _ in 0..10 {
        let mut sink = store.sink(SMALL);
        sink.write(&[7; 100]).unwrap();
        drop(sink);
    }
    // Only the first drop waits.
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    store.wait_for_aborts(10);
    assert_eq!(store.bytes(), None);
}

/// Files of one request and of several.
#[test]
fn new_objects_replace_none() {
    for length in [5, 100] {
        let store = CountingStore::new(true);
        let sink = |byte| {
            let mut sink = store.sink_with(SMALL, Publication::Immediate { overwrite: false });
            sink.write(&vec![byte; length]).unwrap();
            sink
        };
        let (mut first, mut second) = (sink(1), sink(2));
        first.finish().unwrap();
        let error = second.finish().unwrap_err();
        assert_eq!(error.io_kind(), Some(std::io::ErrorKind::AlreadyExists));
        assert!(
            error.to_string().starts_with("s3://bucket/t/a.orc: cannot be written: another process has"),
            "{error}"
        );
        assert_eq!(store.bytes(), Some(vec![1; length]));
        store.wait_for_aborts(usize::from(length > 10));
    }
}

/// The cancellation check is called before the request that makes the object visible.
#[test]
fn canceled_files_are_not_published() {
    for length in [5, 100] {
        let store = CountingStore::new(true);
        let mut sink = store.sink(SMALL);
        sink.write(&vec![7; length]).unwrap();
        sink.cancel_check = Some(Arc::new(|| Err(Error::new(ErrorKind::Interrupted, "enough"))));
        assert_eq!(sink.finish().unwrap_err().kind(), ErrorKind::Interrupted);
        assert_eq!(store.bytes(), None);
        assert!(sink.finish().is_err());
        store.wait_for_aborts(usize::from(length > 10));
    }
}

#[test]
fn forked_processes_change_nothing() {
    let calls: [fn(&mut ObjectSink) -> Result<()>; 3] =
        [|sink| sink.write(b"1"), |sink| sink.write(&[7; 100]), |sink| sink.finish()];
    for call in calls {
        let store = CountingStore::new(true);
        let mut sink = store.sink(SMALL);
        sink.write(&[7; 25]).unwrap();
        let parts = store.parts.lock().unwrap().len();
        // The state of a forked child process.
        sink.owner = OwnerProcess::other();
        let error = call(&mut sink).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.to_string().starts_with("s3://bucket/t/a.orc: the file is being written by process"), "{error}");
        drop(sink);
        assert_eq!((store.bytes(), store.aborted.load(Ordering::Acquire)), (None, 0));
        assert!(store.parts.lock().unwrap().len() <= parts.max(2));
    }
}
