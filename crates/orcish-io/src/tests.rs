#![allow(
    clippy::cast_possible_truncation,
    clippy::single_range_in_vec_init,
    clippy::unwrap_in_result,
    reason = "numbers are small, and slices of one range are intended"
)]

use std::ops::Range;
use std::sync::Mutex;

use bytes::Bytes;
use orcish_core::Result;
use proptest::prelude::*;

use super::*;
use crate::location::{Parsed, parse, percent_decode};

/// A source in memory that records the requested ranges.
struct RecordingSource {
    inner: MemorySource,
    requested: Mutex<Vec<Range<u64>>>,
}

impl ReadAt for RecordingSource {
    fn name(&self) -> &str {
        "recording"
    }

    fn size(&self) -> Result<u64> {
        self.inner.size()
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.requested.lock().unwrap().extend_from_slice(ranges);
        self.inner.read_ranges(ranges)
    }
}

/// Bytes with values that depend on their offsets.
pub(super) fn numbered(length: usize) -> Vec<u8> {
    (0..length).map(|offset| (offset % 251) as u8).collect()
}

/// Ranges within `size` bytes, in any order, with overlaps and empty ones.
pub(super) fn some_ranges(size: u64) -> impl Strategy<Value = Vec<Range<u64>>> {
    let range = (0..=size, 0..size / 8).prop_map(move |(start, length)| start..(start + length).min(size));
    prop::collection::vec(range, 0..12)
}

#[test]
fn coalescing() {
    assert_eq!(coalesce_ranges(&[10..20, 0..5, 20..30, 25..28, 7..7], 0), [0..5, 10..30]);
    assert_eq!(coalesce_ranges(&[3..5, 5..9], 0), [3..9]);
    assert_eq!(coalesce_ranges(&[3..5, 6..9, 11..12], 1), [3..9, 11..12]);
    assert_eq!(coalesce_ranges(&[3..5, 6..9], u64::MAX), [3..9]);
}

#[test]
fn coalesced_reads() {
    let source = MemorySource::new((0..100).collect::<Vec<u8>>());
    let parts = read_coalesced(&source, &[50..53, 0..2, 53..54, 9..9], 0).unwrap();
    assert_eq!(parts, [vec![50, 51, 52], vec![0, 1], vec![53], vec![]]);
    assert!(read_coalesced(&source, &[0..1, 99..101], 0).is_err());
}

proptest! {
    /// Each range gets its bytes. Additional bytes lie in gaps of at most `gap` bytes, and requests are further apart
    /// than that.
    #[test]
    fn coalesced_reads_of_random_ranges(ranges in some_ranges(4000), gap in 0_u64..600) {
        let bytes = numbered(4000);
        let source = RecordingSource { inner: MemorySource::new(bytes.clone()), requested: Mutex::default() };
        let parts = read_coalesced(&source, &ranges, gap).unwrap();
        for (range, part) in ranges.iter().zip(&parts) {
            prop_assert_eq!(&part[..], &bytes[range.start as usize..range.end as usize]);
        }
        let requested = source.requested.into_inner().unwrap();
        let is_needed = |offset: u64| ranges.iter().any(|range| range.contains(&offset));
        for request in &requested {
            prop_assert!(is_needed(request.start) && is_needed(request.end - 1));
            let mut gap_length = 0;
            for offset in request.clone() {
                gap_length = if is_needed(offset) { 0 } else { gap_length + 1 };
                prop_assert!(gap_length <= gap);
            }
        }
        for pair in requested.windows(2) {
            prop_assert!(pair[0].end + gap < pair[1].start);
        }
    }
}

#[test]
fn suffixes() {
    let source = MemorySource::new(numbered(100));
    let (size, bytes) = source.read_suffix(30).unwrap();
    assert_eq!((size, &bytes[..]), (100, &numbered(100)[70..]));
    assert_eq!(source.read_suffix(1000).unwrap().1.len(), 100);
    assert_eq!(MemorySource::new(vec![]).read_suffix(7).unwrap(), (0, Bytes::new()));
}

fn local(path: &str) -> Parsed {
    Parsed::Local(path.into())
}

#[test]
fn locations() {
    for path in ["a.orc", "/a/b.orc", "C:\\a.orc", "c://a.orc", "a b", "s3:/a", "://x", "1a://b", "./a:b//c"] {
        assert_eq!(parse(path), local(path));
    }
    assert_eq!(parse("file:///a/b%20c.orc"), local("/a/b c.orc"));
    assert_eq!(parse("file:/a"), local("/a"));
    assert_eq!(parse("FILE://localhost/a"), local("/a"));
    let Parsed::Remote(url) = parse("S3://bucket/a/ä b?c#d") else { panic!() };
    assert_eq!((url.scheme.as_str(), url.host(), url.path_and_query()), ("s3", "bucket", ("a/ä b?c#d", None)));
    let Parsed::Remote(url) = parse("https://me:word@host:81/a?token=1#x") else { panic!() };
    assert_eq!(url.display_name(), "https://host:81/a");
    assert_eq!((url.credentials(), url.path_and_query()), (Some("me:word"), ("a", Some("token=1"))));
    let Parsed::Remote(url) = parse("abfss://box@account.dfs.core.windows.net/a") else { panic!() };
    assert_eq!(
        (url.credentials(), url.display_name()),
        (None, "abfss://box@account.dfs.core.windows.net/a".to_owned())
    );
}

#[test]
fn percent_decoding() {
    assert_eq!(percent_decode("a%20b%C3%a4%zz%4"), "a bä%zz%4");
    assert_eq!(percent_decode("%ff"), "%ff");
}

#[test]
fn local_listing() {
    let root = std::env::temp_dir().join(format!("orcish-list-{}", std::process::id()));
    let names = ["t/dt=1/a.orc", "t/dt=1/_x", "t/dt=2/b.orc", "t/_tmp/c.orc", "t/.d.crc", "t/e.orc", "t/_day=1/f.orc"];
    for name in names {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, name).unwrap();
    }
    let base = format!("{}/", root.display());
    let found = |pattern: &str| {
        let files = list(&format!("{base}{pattern}"), &StorageOptions::default()).unwrap();
        let name = |(path, size): (String, u64)| {
            let name = path.strip_prefix(&base).unwrap().to_owned();
            assert_eq!(size, name.len() as u64);
            name
        };
        files.into_iter().map(name).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(found("t"), "t/_day=1/f.orc t/dt=1/a.orc t/dt=2/b.orc t/e.orc");
    assert_eq!(found("t/"), found("t"));
    assert_eq!(found("t/dt=1/_x"), "t/dt=1/_x");
    assert_eq!(found("t/dt=*/*.orc"), "t/dt=1/a.orc t/dt=2/b.orc");
    assert_eq!(found("t/dt=*"), "t/dt=1/a.orc t/dt=2/b.orc");
    assert_eq!(found("t/**/[ae].orc"), "t/dt=1/a.orc t/e.orc");
    assert_eq!(found("*/dt=2/b.orc"), "t/dt=2/b.orc");
    assert_eq!(found("t/_tmp/*"), "t/_tmp/c.orc");
    assert_eq!(found("t/*/nothing"), "");
    assert_eq!(found("nowhere/*"), "");
    let missing = list(&format!("{base}nowhere"), &StorageOptions::default()).unwrap_err();
    assert_eq!(missing.kind(), orcish_core::ErrorKind::Io);
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn list_folder_ignores_glob_characters() {
    let root = std::env::temp_dir().join(format!("orcish-list-folder-{}", std::process::id()));
    for name in ["v1/a.orc", "v2/b.orc", "w[12]/c.orc", "w1/d.orc"] {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, name).unwrap();
    }
    let base = root.display();
    let found = |name: &str| list_folder(&format!("{base}/{name}"), &StorageOptions::default());
    for pattern in ["v[12]", "v?", "*", "v[", "**"] {
        assert_eq!(found(pattern).unwrap_err().kind(), orcish_core::ErrorKind::Io);
    }
    assert_eq!(found("w[12]").unwrap(), [(format!("{base}/w[12]/c.orc"), 11)]);
    assert_eq!(found("v1/a.orc").unwrap(), [(format!("{base}/v1/a.orc"), 8)]);
    std::fs::remove_dir_all(root).unwrap();
}
