//! Tests of the statistics cache and of overlapping stripes.

use std::cell::Cell;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StructArray, TimestampMicrosecondArray};
use orcish_io::{MemorySink, MemorySource};

use super::*;
use crate::write::{FileWriter, WriteOptions};

thread_local! {
    /// Number of column statistics that this thread has parsed.
    pub(super) static PARSED: Cell<usize> = const { Cell::new(0) };
}

/// Number of column statistics that `work` parses.
fn parsed(work: impl FnOnce()) -> usize {
    let before = PARSED.get();
    work();
    PARSED.get() - before
}

/// The tail of a file with a struct of timestamp columns, and its stored stripe statistics.
fn tail(columns: usize) -> (FileTail, Bytes) {
    let values: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![Some(5), None, Some(7)]));
    let fields = (0..columns).map(|at| (format!("t{at}"), values.clone())).collect::<Vec<_>>();
    let nest = StructArray::try_from(fields.iter().map(|(name, of)| (name.as_str(), of.clone())).collect::<Vec<_>>());
    let batch = RecordBatch::try_from_iter([("nest", Arc::new(nest.unwrap()) as ArrayRef)]).unwrap();
    let sink = MemorySink::new();
    let mut writer = FileWriter::try_new(Box::new(sink.clone()), batch.schema(), &WriteOptions::default()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let bytes = Bytes::from(sink.take().unwrap());
    let tail = read_tail(&MemorySource::new(bytes.clone()), &Limits::default()).unwrap();
    let Range { start, end } = tail.stripe_statistics;
    (tail, bytes.slice(usize::try_from(start).unwrap()..usize::try_from(end).unwrap()))
}

#[test]
fn postscripts_state_chunks_without_a_codec() {
    for (compression, chunk_size) in [(Compression::None, 0), (Compression::Zstd, 1 << 16)] {
        let options = WriteOptions { compression, compression_block_size: Some(1 << 16), ..WriteOptions::default() };
        let values: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![5]));
        let batch = RecordBatch::try_from_iter([("t", values)]).unwrap();
        let sink = MemorySink::new();
        let mut writer = FileWriter::try_new(Box::new(sink.clone()), batch.schema(), &options).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        let bytes = sink.take().unwrap();
        let length = u64::from(*bytes.last().unwrap());
        let tail = read_tail(&MemorySource::new(Bytes::from(bytes)), &Limits::default()).unwrap();
        assert_eq!((tail.chunk_size, tail.stated_chunk_size()), (chunk_size, Some(1 << 16)));
        assert_eq!(tail.postscript_length(), length);
    }
}

#[test]
fn codes_of_writers() {
    for code in [0, 1, 2, 3, 4, 5, 6, Writer::ORCISH, u32::MAX] {
        assert_eq!(Writer::from_code(Some(code)).code(), code);
    }
}

/// The statistics of the root and of structs are needed for the other columns.
#[test]
fn statistics_of_ancestors_are_parsed_once() {
    const COLUMNS: usize = 50;
    for (writer, structs) in [(Writer::Java, 0), (Writer::Cpp, 1)] {
        let (mut tail, section) = tail(COLUMNS);
        tail.writer = writer;
        let ids = 2..2 + u32::try_from(COLUMNS).unwrap();
        let all_columns = || ids.clone().for_each(|id| assert!(tail.column_statistics(id).unwrap().is_some()));
        assert_eq!(parsed(all_columns), 1 + COLUMNS + structs);
        assert_eq!(parsed(all_columns), COLUMNS);
        // Each stripe needs the bounds of each column.
        let bounds = || ids.clone().for_each(|id| assert!(tail.timestamp_bounds(id).unwrap().is_some()));
        assert_eq!((parsed(bounds), parsed(bounds)), (COLUMNS, 0));
        let of_stripes = || assert_eq!(tail.parse_stripe_statistics(section, &Limits::default()).unwrap().len(), 1);
        // The root tells whether the values of a stripe were counted.
        assert_eq!(parsed(of_stripes), 3 + COLUMNS + structs);
        // Clones do not share the cache.
        assert_eq!(parsed(|| _ = tail.clone().column_statistics(2).unwrap()), 2 + structs);
    }
}

#[test]
fn overlapping_stripes_are_found() {
    let stripe = |offset: u64, length: u64| StripeInfo {
        offset,
        index_length: 0,
        data_length: length,
        footer_length: 0,
        rows: 1,
        first_row: 0,
    };
    let overlapping = |stripes: &[(u64, u64)]| {
        overlapping_stripes(&stripes.iter().map(|&(offset, length)| stripe(offset, length)).collect::<Vec<_>>())
    };
    assert!(overlapping(&[(3, 10), (13, 10), (40, 1), (30, 10)]).is_empty());
    // Empty stripes do not overlap.
    assert!(overlapping(&[(3, 10), (5, 0), (13, 0), (13, 5)]).is_empty());
    assert_eq!(overlapping(&[(3, 10), (3, 10), (12, 2), (14, 1)]), [(1, 0), (2, 0)]);
    assert_eq!(overlapping(&[(20, 10), (3, 100), (50, 1), (u64::MAX, 7)]), [(0, 1), (2, 1)]);
}
