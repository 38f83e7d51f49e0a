//! Row indexes and bloom filters that are not what they should be: rows are those that they are without, or an error
//! comes, and neither takes long.

#![allow(clippy::panic_in_result_fn, clippy::unwrap_in_result, reason = "a helper of tests asserts")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use orcish_io::MemorySource;
use prost::Message as _;

use super::*;
use crate::encoding::encode::int_rle_v2;
use crate::proto::orc;
use crate::read::OrcFile;
use crate::{Comparison, Limits, Predicate, ReadOptions};

/// A file of one stripe and one column, `a:bigint`, that counts rows.
#[derive(Clone)]
struct File {
    /// Rows that the footers state.
    rows: u64,
    stride: u32,
    entries: Vec<orc::RowIndexEntry>,
    filters: Vec<orc::BloomFilter>,
    data: Vec<u8>,
    /// Bytes of a chunk; no compression without.
    chunk: Option<usize>,
}

const LONGEST: Duration = Duration::from_secs(5);

/// Bytes in chunks that are stored as they are.
fn framed(bytes: &[u8], chunk: Option<usize>) -> Vec<u8> {
    let Some(size) = chunk else { return bytes.to_vec() };
    let framed = |chunk: &[u8]| {
        let header = u32::try_from(chunk.len()).unwrap() * 2 + 1;
        [&header.to_le_bytes()[..3], chunk].concat()
    };
    bytes.chunks(size).flat_map(framed).collect()
}

fn statistics(values: std::ops::Range<u64>) -> orc::ColumnStatistics {
    let (minimum, maximum) = (values.start.cast_signed(), values.end.cast_signed() - 1);
    orc::ColumnStatistics {
        number_of_values: Some(values.end - values.start),
        has_null: Some(false),
        int_statistics: Some(orc::IntegerStatistics { minimum: Some(minimum), maximum: Some(maximum), sum: None }),
        ..orc::ColumnStatistics::default()
    }
}

impl File {
    fn new(rows: u64, stride: u32, chunk: Option<usize>) -> Self {
        let groups = RowGroups::new(rows, stride);
        let (mut data, mut entries) = (Vec::new(), Vec::new());
        for group in 0..groups.count() {
            let at = data.len();
            let positions = match chunk {
                None => vec![at as u64, 0],
                Some(size) => vec![(at / size * (size + 3)) as u64, (at % size) as u64, 0],
            };
            let rows = groups.rows(group);
            let values: Vec<i64> = rows.clone().map(u64::cast_signed).collect();
            int_rle_v2::encode(&values, true, &mut data);
            entries.push(orc::RowIndexEntry { positions, statistics: Some(statistics(rows)) });
        }
        File { rows, stride, entries, filters: Vec::new(), data, chunk }
    }

    fn bytes(&self) -> Vec<u8> {
        let index = orc::RowIndex { entry: self.entries.clone() }.encode_to_vec();
        let filters = orc::BloomFilterIndex { bloom_filter: self.filters.clone() }.encode_to_vec();
        let mut out = b"ORC".to_vec();
        let mut streams = Vec::new();
        use orc::stream::Kind as Stream;
        for (kind, bytes) in
            [(Stream::RowIndex, &index), (Stream::BloomFilterUtf8, &filters), (Stream::Data, &self.data)]
        {
            let stored = framed(bytes, self.chunk);
            let length = Some(stored.len() as u64);
            streams.push(orc::Stream { kind: Some(kind.into()), column: Some(1), length });
            out.extend(stored);
        }
        let data_length = streams.last().and_then(|stream| stream.length);
        let index_length = Some(out.len() as u64 - 3 - data_length.unwrap());
        let encoding = |kind: orc::column_encoding::Kind| orc::ColumnEncoding {
            kind: Some(kind.into()),
            ..orc::ColumnEncoding::default()
        };
        use orc::column_encoding::Kind as Encoding;
        let columns = vec![encoding(Encoding::Direct), encoding(Encoding::DirectV2)];
        let footer = orc::StripeFooter { streams, columns, ..orc::StripeFooter::default() };
        let stored = framed(&footer.encode_to_vec(), self.chunk);
        let stripe = orc::StripeInformation {
            offset: Some(3),
            index_length,
            data_length,
            footer_length: Some(stored.len() as u64),
            number_of_rows: Some(self.rows),
            ..orc::StripeInformation::default()
        };
        out.extend(stored);
        let content_length = Some(out.len() as u64);
        let of = |kind: orc::r#type::Kind| orc::Type { kind: Some(kind.into()), ..orc::Type::default() };
        use orc::r#type::Kind as Type;
        let root = orc::Type { subtypes: vec![1], field_names: vec!["a".into()], ..of(Type::Struct) };
        let footer = orc::Footer {
            header_length: Some(3),
            content_length,
            stripes: vec![stripe],
            types: vec![root, of(Type::Long)],
            number_of_rows: Some(self.rows),
            row_index_stride: Some(self.stride),
            writer: Some(0),
            ..orc::Footer::default()
        };
        let stored = framed(&footer.encode_to_vec(), self.chunk);
        let postscript = orc::PostScript {
            footer_length: Some(stored.len() as u64),
            compression: Some(i32::from(self.chunk.is_some())),
            compression_block_size: self.chunk.map(|size| size as u64),
            version: vec![0, 12],
            metadata_length: Some(0),
            writer_version: Some(9),
            magic: Some("ORC".into()),
            ..orc::PostScript::default()
        };
        out.extend(stored);
        let postscript = postscript.encode_to_vec();
        out.extend(&postscript);
        out.push(u8::try_from(postscript.len()).unwrap());
        out
    }

    /// Values of the rows that a filter finds, within bounds of time and memory.
    #[track_caller]
    fn read(&self, filter: Predicate) -> Result<Vec<i64>> {
        let limits = Limits::default().with_memory(64 << 20);
        let file = OrcFile::try_new(Arc::new(MemorySource::new(self.bytes())), &limits)?;
        let start = Instant::now();
        let mut found = Vec::new();
        for batch in file.read(ReadOptions::default().with_filter(filter).with_limits(limits).with_threads(1))? {
            found.extend(batch?.column(0).as_primitive::<Int64Type>().values());
        }
        assert!(start.elapsed() < LONGEST, "{:?}", start.elapsed());
        Ok(found)
    }
}

/// Rows of row groups that are not next to each other.
fn some_rows() -> (Predicate, Vec<i64>) {
    let rows = vec![3, 41, 42, 99];
    (Predicate::is_in("a", rows.clone()), rows)
}

/// Files of 100 rows in row groups of 10, without and with chunks, changed by `change`.
fn files(change: impl Fn(&mut File)) -> [File; 2] {
    [None, Some(16)].map(|chunk| {
        let mut file = File::new(100, 10, chunk);
        change(&mut file);
        file
    })
}

/// The rows are found in spite of the change.
#[track_caller]
fn assert_found(what: &str, change: impl Fn(&mut File)) {
    for file in files(change) {
        let (filter, rows) = some_rows();
        assert_eq!(file.read(filter).unwrap(), rows, "{what}, chunks {:?}", file.chunk);
    }
}

/// The rows are found, or there is an error.
#[track_caller]
fn assert_bounded(what: &str, change: impl Fn(&mut File)) {
    for file in files(change) {
        let (filter, rows) = some_rows();
        if let Ok(found) = file.read(filter) {
            assert_eq!(found, rows, "{what}, chunks {:?}", file.chunk);
        }
    }
}

#[test]
fn good_files_are_read() {
    assert_found("nothing", |_| ());
}

#[test]
fn positions_of_another_number_are_not_used() {
    assert_found("one fewer", |file| _ = file.entries[4].positions.pop());
    assert_found("none", |file| file.entries.iter_mut().for_each(|entry| entry.positions.clear()));
    assert_found("one more", |file| file.entries[9].positions.push(0));
}

#[test]
fn positions_that_cannot_be_are_not_used() {
    for place in 0..3 {
        for position in [513, 1 << 20, 1 << 32, u64::MAX] {
            assert_bounded(&format!("{position} at {place}"), |file| {
                file.entries[4].positions.iter_mut().skip(place).take(1).for_each(|at| *at = position);
            });
        }
    }
    // As places go only forwards, these are known to be wrong.
    assert_found("backwards", |file| file.entries[4].positions[0] = 0);
}

#[test]
fn entries_of_another_number_say_nothing() {
    assert_found("the first is missing", |file| _ = file.entries.remove(0));
    assert_found("one too many in front", |file| file.entries.insert(0, file.entries[0].clone()));
    assert_found("none", |file| file.entries.clear());
    assert_found("thousands", |file| file.entries = vec![file.entries[0].clone(); 5000]);
}

#[test]
fn filters_of_another_number_say_nothing() {
    // It holds no value, and does not look as if it were damaged.
    let filter = orc::BloomFilter {
        num_hash_functions: Some(3),
        utf8bitset: Some(vec![0, 0, 0, 0, 0, 0, 0, 0x80].into()),
        ..orc::BloomFilter::default()
    };
    for count in [1, 9, 11, 1000] {
        assert_found(&format!("{count} filters"), |file| file.filters = vec![filter.clone(); count]);
    }
    for file in files(|file| file.filters = vec![filter.clone(); 10]) {
        assert_eq!(file.read(some_rows().0).unwrap(), [0; 0], "bloom filters are read");
    }
}

/// Entries of two bytes each, thousands of times as many as there are row groups, are counted alone; what positions become
/// is refused before it is decoded.
#[test]
fn indexes_take_no_more_memory_than_is_allowed() {
    let mut file = File::new(100, 10, Some(64 << 10));
    let entries = std::mem::replace(&mut file.entries, vec![orc::RowIndexEntry::default(); 5 << 20]);
    assert_eq!(file.read(some_rows().0).unwrap(), some_rows().1);
    file.entries = entries;
    file.entries[3].positions = vec![0; 5 << 20];
    let error = file.read(some_rows().0).unwrap_err();
    assert_eq!(error.kind(), orcish_core::ErrorKind::LimitExceeded, "{error}");
}

#[test]
fn strides_that_do_not_fit() {
    for stride in [0, 1, 7, 99, 100, 101, u32::MAX] {
        // As if the row groups were others than the index has.
        assert_found(&format!("stride {stride}"), |file| file.stride = stride);
        // And with an index of these.
        for chunk in [None, Some(16)] {
            let (filter, rows) = some_rows();
            assert_eq!(File::new(100, stride, chunk).read(filter).unwrap(), rows, "stride {stride}");
        }
    }
}

#[test]
fn rows_that_are_not_there() {
    for rows in [101, 1 << 20, 1 << 31, 1 << 62] {
        for stride in [1, 10, 1000, u32::MAX] {
            for mut file in files(|_| ()) {
                (file.rows, file.stride) = (rows, stride);
                let is_high = Predicate::compare("a", Comparison::Greater, 1000);
                assert!(file.read(is_high).is_err(), "{rows} rows of stride {stride}");
            }
        }
    }
}

/// Row groups of one row, every other of which may be wanted, and positions that have as much as possible passed over.
#[test]
fn no_position_passes_over_much() {
    let rows = 60_000;
    for chunk in [None, Some(64 << 10)] {
        let mut file = File::new(rows, 0, chunk);
        file.stride = 1;
        let groups = 0..rows;
        for count in [0, 512, rows - 1] {
            let positions = if chunk.is_some() { vec![0, 0, count] } else { vec![0, count] };
            let entry = |group: u64| orc::RowIndexEntry {
                positions: positions.clone(),
                statistics: Some(statistics(if group.is_multiple_of(2) { 0..1 } else { 7..9 })),
            };
            file.entries = groups.clone().map(entry).collect();
            let _ = file.read(Predicate::is_in("a", [8i64]));
        }
    }
}
