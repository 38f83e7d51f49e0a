#![allow(
    clippy::cast_possible_truncation,
    clippy::single_range_in_vec_init,
    reason = "numbers are small, and slices of one range are intended"
)]

use std::sync::Mutex;

use futures_util::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::{
    CopyOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStoreExt as _, PutMultipartOptions,
    PutOptions, PutPayload, PutResult, Result as StoreResult,
};
use orcish_core::ErrorKind;
use proptest::prelude::*;

use super::*;
use crate::read_coalesced;
use crate::tests::{numbered, some_ranges};

/// A store in memory that records the requested ranges, and optionally supports no suffix ranges.
#[derive(Debug)]
struct RecordingStore {
    inner: InMemory,
    requested: Mutex<Vec<Option<GetRange>>>,
    supports_suffixes: bool,
}

impl fmt::Display for RecordingStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("recording")
    }
}

type Pending<'a, T> = std::pin::Pin<Box<dyn Future<Output = StoreResult<T>> + Send + 'a>>;

impl ObjectStore for RecordingStore {
    fn put_opts<'a, 'b, 'c>(&'a self, at: &'b Path, load: PutPayload, options: PutOptions) -> Pending<'c, PutResult>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        self.inner.put_opts(at, load, options)
    }

    fn put_multipart_opts<'a, 'b, 'c>(
        &'a self,
        at: &'b Path,
        options: PutMultipartOptions,
    ) -> Pending<'c, Box<dyn MultipartUpload>>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        self.inner.put_multipart_opts(at, options)
    }

    fn get_opts<'a, 'b, 'c>(&'a self, at: &'b Path, options: GetOptions) -> Pending<'c, GetResult>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        self.requested.lock().unwrap().push(options.range.clone());
        if matches!(options.range, Some(GetRange::Suffix(_))) && !self.supports_suffixes {
            return Box::pin(async { Err(object_store::Error::NotSupported { source: "no".into() }) });
        }
        self.inner.get_opts(at, options)
    }

    fn delete_stream(&self, paths: BoxStream<'static, StoreResult<Path>>) -> BoxStream<'static, StoreResult<Path>> {
        self.inner.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, StoreResult<ObjectMeta>> {
        self.inner.list(prefix)
    }

    fn list_with_delimiter<'a, 'b, 'c>(&'a self, prefix: Option<&'b Path>) -> Pending<'c, ListResult>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        self.inner.list_with_delimiter(prefix)
    }

    fn copy_opts<'a, 'b, 'c, 'd>(&'a self, from: &'b Path, to: &'c Path, options: CopyOptions) -> Pending<'d, ()>
    where
        'a: 'd,
        'b: 'd,
        'c: 'd,
        Self: 'd,
    {
        self.inner.copy_opts(from, to, options)
    }
}

fn source(bytes: Vec<u8>, options: &[(&str, u64)], supports_suffixes: bool) -> (Arc<RecordingStore>, ObjectSource) {
    let store = Arc::new(RecordingStore { inner: InMemory::new(), requested: Mutex::default(), supports_suffixes });
    put(&store, bytes);
    let options = options.iter().map(|(key, value)| (format!("orcish.{key}"), value.to_string())).collect();
    let address = Address::try_new("s3://bucket/a/b.orc", &options).unwrap();
    (store.clone(), ObjectSource::try_new(address, store, &options).unwrap())
}

fn put(store: &Arc<RecordingStore>, bytes: Vec<u8>) {
    let store = store.clone();
    let put = async move { store.inner.put(&Path::from("a/b.orc"), bytes.into()).await.map(drop) };
    block_on(async { put.await.map_err(|error| Error::corrupt(error.to_string())) }, None).unwrap();
}

impl RecordingStore {
    fn take(&self) -> Vec<Range<u64>> {
        let bounded = |range| match range {
            Some(GetRange::Bounded(range)) => range,
            other => panic!("{other:?}"),
        };
        self.requested.lock().unwrap().drain(..).map(bounded).collect()
    }
}

const SIZE: usize = 5000;

proptest! {
    /// Each range gets its bytes. Requests are not longer than the part size, do not overlap, and are as few as
    /// possible.
    #[test]
    fn ranges_in_parts(
        ranges in some_ranges(SIZE as u64),
        gap in 0_u64..300,
        part in 1_u64..800,
        concurrency in 1_u64..5,
    ) {
        let bytes = numbered(SIZE);
        let options = [("part_size", part), ("concurrency", concurrency), ("coalesce_gap", gap)];
        let (store, source) = source(bytes.clone(), &options, true);
        let parts = read_coalesced(&source, &ranges, source.coalesce_gap()).unwrap();
        for (range, part) in ranges.iter().zip(&parts) {
            prop_assert_eq!(&part[..], &bytes[range.start as usize..range.end as usize]);
        }
        let mut requested = store.take();
        requested.sort_by_key(|range| range.start);
        prop_assert!(requested.iter().all(|range| range.end - range.start <= part));
        prop_assert!(requested.windows(2).all(|pair| pair[0].end <= pair[1].start));
        let joined = crate::coalesce_ranges(&ranges, gap);
        let fewest: u64 = joined.iter().map(|range| (range.end - range.start).div_ceil(part)).sum();
        prop_assert_eq!(requested.len() as u64, fewest);
        prop_assert_eq!(crate::coalesce_ranges(&requested, 0), crate::coalesce_ranges(&joined, 0));
    }
}

#[test]
fn the_tail_is_cached() {
    let (store, source) = source(numbered(SIZE), &[("coalesce_gap", 10)], true);
    let (size, end) = source.read_suffix(100).unwrap();
    assert_eq!((size, &end[..]), (5000, &numbered(SIZE)[4900..]));
    assert!(matches!(store.requested.lock().unwrap()[..], [Some(GetRange::Suffix(100))]));
    store.requested.lock().unwrap().clear();
    assert_eq!(source.size().unwrap(), 5000);
    let parts = source.read_ranges(&[4950..5000, 10..20, 4900..4901]).unwrap();
    assert_eq!(parts[1], &numbered(SIZE)[10..20]);
    assert_eq!((parts[0].len(), parts[2].len()), (50, 1));
    assert_eq!(store.take(), [Range { start: 10, end: 20 }]);
    assert_eq!(source.read_ranges(&[4990..5001]).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn small_files_are_cached() {
    let (store, source) = source(numbered(SIZE), &[("coalesce_gap", 4900)], true);
    source.read_suffix(100).unwrap();
    store.requested.lock().unwrap().clear();
    for _ in 0..2 {
        let parts = source.read_ranges(&[10..20, 4800..5000]).unwrap();
        assert_eq!((&parts[0][..], &parts[1][..]), (&numbered(SIZE)[10..20], &numbered(SIZE)[4800..]));
    }
    assert_eq!(store.take(), [Range { start: 0, end: 4900 }]);
}

#[test]
fn stores_without_suffix_ranges() {
    let (store, source) = source(numbered(SIZE), &[], false);
    assert_eq!(source.read_suffix(100).unwrap(), (5000, numbered(SIZE)[4900..].to_vec().into()));
    let requested = store.requested.lock().unwrap();
    assert_eq!(requested[..], [Some(GetRange::Suffix(100)), None, Some(GetRange::Bounded(4900..5000))]);
}

#[test]
fn empty_and_short_files() {
    let (_, empty) = source(Vec::new(), &[], false);
    assert_eq!(empty.read_suffix(100).unwrap(), (0, Bytes::new()));
    let (_, short) = source(vec![1, 2], &[], true);
    assert_eq!(short.read_suffix(100).unwrap(), (2, vec![1, 2].into()));
}

#[test]
fn a_replaced_file_is_an_error() {
    let (store, source) = source(numbered(SIZE), &[("coalesce_gap", 0)], true);
    source.read_suffix(10).unwrap();
    put(&store, numbered(SIZE));
    let error = source.read_ranges(&[0..1, 7..9]).unwrap_err();
    assert!(error.to_string().contains("another one"), "{error}");
    assert!(error.to_string().starts_with("s3://bucket/a/b.orc: "), "{error}");
}

#[test]
fn a_file_of_another_version_than_expected_is_an_error() {
    let (store, opened) = source(numbered(SIZE), &[("coalesce_gap", 0)], true);
    opened.read_suffix(10).unwrap();
    let version = FileVersion::from_bytes(&opened.version().unwrap().unwrap().to_bytes()).unwrap();
    assert_eq!(version.size(), Some(SIZE as u64));
    let other = |size: usize| {
        put(&store, numbered(size));
        let address = Address::try_new("s3://bucket/a/b.orc", &StorageOptions::default()).unwrap();
        let source = ObjectSource::try_new(address, store.clone(), &StorageOptions::default()).unwrap();
        source.expect_version(&version).unwrap();
        source
    };
    store.requested.lock().unwrap().clear();
    // The expected version has the size.
    assert_eq!(other(SIZE).size().unwrap(), SIZE as u64);
    assert!(store.requested.lock().unwrap().is_empty());
    for error in [other(SIZE).read_ranges(&[0..1]).unwrap_err(), other(10).check_version().unwrap_err()] {
        assert!(error.to_string().contains(crate::REPLACED), "{error}");
    }
    // The end of the range is not in the file.
    let without_tag = FileVersion::of_size(SIZE as u64);
    let shorter = ObjectSource { checked: OnceBox::with_value(Box::new(without_tag)), ..other(SIZE - 2) };
    let error = shorter.read_ranges(&[SIZE as u64 - 5..SIZE as u64]).unwrap_err();
    assert!(error.to_string().contains(crate::REPLACED), "{error}");
    // An expected version that the file has is no error.
    opened.expect_version(&version).unwrap();
    opened.check_version().unwrap();
    assert!(opened.expect_version(&FileVersion::of_size(1)).is_err());
}

#[test]
fn a_missing_file_is_not_found() {
    let (_, source) = source(numbered(1), &[], true);
    let gone = ObjectSource { key: Path::from("gone"), ..source };
    for error in [gone.size().unwrap_err(), gone.read_suffix(1).unwrap_err(), gone.read_ranges(&[0..1]).unwrap_err()] {
        assert_eq!(error.io_kind(), Some(std::io::ErrorKind::NotFound), "{error}");
    }
}

#[test]
fn wrong_urls_and_options() {
    let open = |url: &str, options: &[(&str, &str)]| {
        let error = ObjectSource::open(url, &options.iter().copied().collect()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        error.to_string()
    };
    assert!(open("ftp://a/b", &[]).contains("fsspec"));
    assert!(open("s3://key:word@bucket/a", &[]).starts_with("s3://bucket/a: credentials"));
    assert!(open("s3:///a", &[]).contains("no bucket"));
    assert!(open("s3://a", &[]).contains("no file"));
    assert!(open("s3://a/b//c", &[]).contains("no path"));
    assert!(open("s3://a/b", &[("speed", "1")]).contains("\"speed\" of s3"));
    assert!(open("s3://a/b", &[("orcish.part_size", "x")]).contains("a number"));
    assert!(open("https://a/b", &[("orcish.speed", "1")]).contains("orcish.speed"));
    assert!(open("a.orc", &[]).contains("not a URL"));
}
