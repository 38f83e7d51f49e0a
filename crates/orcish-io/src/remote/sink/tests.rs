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

/// A store in memory that counts what is done with uploads, and never answers that one is given up.
#[derive(Debug, Clone)]
struct Counted {
    inner: InMemory,
    parts: Arc<std::sync::Mutex<Vec<usize>>>,
    aborted: Arc<AtomicUsize>,
    answers_aborts: bool,
}

impl Counted {
    fn new(answers_aborts: bool) -> Self {
        Counted { inner: InMemory::new(), parts: Arc::default(), aborted: Arc::default(), answers_aborts }
    }

    fn sink(&self, sizes: PartSizes) -> ObjectSink {
        let mut object = Object::in_memory(&self.inner, "t/a.orc");
        if let Some(uploads) = &mut object.store.uploads {
            uploads.store = Arc::new(self.clone());
        }
        let mut sink = ObjectSink::new(object, &StorageOptions::default(), None).unwrap();
        sink.target.sizes = sizes;
        sink
    }

    /// Waits until so many uploads have been given up: it may be done without anybody who waits.
    fn has_aborted(&self, count: usize) {
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
        wait(read, None).unwrap()
    }
}

impl MultipartStore for Counted {
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
        if self.answers_aborts { self.inner.abort_multipart(path, id) } else { Box::pin(std::future::pending()) }
    }
}

const SMALL: PartSizes = PartSizes { first: 10, equal: 3, step: 2, longest: 50, most: 9 };
/// The parts of the longest file.
const LENGTHS: [usize; 9] = [10, 10, 10, 20, 20, 40, 40, 50, 50];

#[test]
fn parts_are_longer_the_longer_a_file_is() {
    let whole: usize = LENGTHS.iter().sum();
    let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(whole).collect();
    for piece in [1, 7, 10, 33, 250] {
        for length in [11, 30, 31, 100, whole - 1, whole] {
            let store = Counted::new(true);
            let mut sink = store.sink(SMALL);
            bytes[..length].chunks(piece).for_each(|chunk| sink.write(chunk).unwrap());
            sink.finish().unwrap();
            assert!(sink.finish().is_err() && sink.write(b"more").is_err());
            assert_eq!(store.bytes().unwrap(), &bytes[..length]);
            let parts = store.parts.lock().unwrap().clone();
            let starts = LENGTHS.iter().scan(0, |end, part| Some(std::mem::replace(end, *end + part)));
            let expected: Vec<_> = starts
                .zip(LENGTHS)
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
fn files_of_too_many_parts_are_given_up() {
    let store = Counted::new(true);
    let mut sink = store.sink(SMALL);
    let result =
        (0..=LENGTHS.iter().sum::<usize>() / 10).try_for_each(|_| sink.write(&[7; 10])).and_then(|()| sink.finish());
    let error = result.unwrap_err();
    assert!(error.to_string().contains("more than 9 parts"), "{error}");
    store.has_aborted(1);
    assert_eq!(store.bytes(), None);
    assert!(sink.finish().is_err());
}

#[test]
fn a_store_that_does_not_answer_holds_nobody_up() {
    let store = Counted::new(false);
    let start = Instant::now();
    for _ in 0..10 {
        let mut sink = store.sink(SMALL);
        sink.write(&[7; 100]).unwrap();
        drop(sink);
    }
    // It is waited for once.
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    store.has_aborted(10);
    assert_eq!(store.bytes(), None);
}

/// The last request makes the file appear: before it is sent, it is looked whether that is still wanted.
#[test]
fn nothing_appears_that_is_not_wanted() {
    for length in [5, 100] {
        let store = Counted::new(true);
        let mut sink = store.sink(SMALL);
        sink.write(&vec![7; length]).unwrap();
        sink.check = Some(Arc::new(|| Err(Error::new(ErrorKind::Interrupted, "enough"))));
        assert_eq!(sink.finish().unwrap_err().kind(), ErrorKind::Interrupted);
        assert_eq!(store.bytes(), None);
        assert!(sink.finish().is_err());
        store.has_aborted(usize::from(length > 10));
    }
}

#[test]
fn another_process_changes_nothing() {
    let calls: [fn(&mut ObjectSink) -> Result<()>; 3] =
        [|sink| sink.write(b"1"), |sink| sink.write(&[7; 100]), |sink| sink.finish()];
    for call in calls {
        let store = Counted::new(true);
        let mut sink = store.sink(SMALL);
        sink.write(&[7; 25]).unwrap();
        let parts = store.parts.lock().unwrap().len();
        // As in a child.
        sink.owner = Owner::elsewhere();
        let error = call(&mut sink).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.to_string().starts_with("s3://bucket/t/a.orc: the file is being written by process"), "{error}");
        drop(sink);
        assert_eq!((store.bytes(), store.aborted.load(Ordering::Acquire)), (None, 0));
        assert!(store.parts.lock().unwrap().len() <= parts.max(2));
    }
}
