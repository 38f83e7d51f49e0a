//! Stripe plans of requests, from statistics that the tests hand over. Nothing reads a source.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use orcish_core::limits::Limits;
use orcish_io::{MemorySink, MemorySource};

use super::*;
use crate::ReadOptions;
use crate::read::OrcFile;
use crate::write::{FileWriter, WriteOptions};

/// A file of four stripes; `id` counts its 400 rows.
fn file() -> OrcFile {
    let ids = |stripe: i64| Arc::new(Int64Array::from_iter_values(stripe * 100..(stripe + 1) * 100)) as ArrayRef;
    let batch = |stripe| RecordBatch::try_from_iter([("id", ids(stripe))]).unwrap();
    let sink = MemorySink::new();
    let mut writer = FileWriter::try_new(Box::new(sink.clone()), batch(0).schema(), &WriteOptions::default()).unwrap();
    for stripe in 0..4 {
        writer.write(&batch(stripe)).unwrap();
        writer.end_stripe().unwrap();
    }
    writer.finish().unwrap();
    OrcFile::try_new(Arc::new(MemorySource::new(sink.take().unwrap())), &Limits::default()).unwrap()
}

fn options(filter: &str) -> ReadOptions {
    ReadOptions::default().with_filter(filter.parse().unwrap())
}

/// The statistics of the columns of all stripes.
fn statistics(file: &OrcFile, columns: &[u32]) -> Vec<Vec<Option<ColumnStatistics>>> {
    let of_stripes = file.stripe_statistics(&Limits::default()).unwrap();
    let of_column = |of_stripe: &[ColumnStatistics], id: u32| Some(of_stripe[id as usize].clone());
    of_stripes.iter().map(|of_stripe| columns.iter().map(|&id| of_column(of_stripe, id)).collect()).collect()
}

/// The indexes of the stripes that are read and skipped, and the columns whose statistics are needed.
fn plan(file: &OrcFile, options: ReadOptions) -> (Vec<usize>, Vec<usize>, Vec<u32>) {
    let request = file.request(options).unwrap();
    let planning = Planning::try_new(&request).unwrap();
    let needed = planning.statistics_needed();
    let statistics = if needed.is_empty() { Vec::new() } else { statistics(file, &needed) };
    let plan = planning.finish(&statistics, &mut Cancellation::new(None)).unwrap();
    let indexes = |stripes: &[PlannedStripe]| stripes.iter().map(|stripe| stripe.index).collect();
    (indexes(&plan.read), indexes(&plan.skipped), needed)
}

#[test]
fn a_request_without_a_filter_reads_all_stripes() {
    assert_eq!(plan(&file(), ReadOptions::default()), (vec![0, 1, 2, 3], vec![], vec![]));
}

#[test]
fn statistics_of_stripes_exclude_stripes() {
    assert_eq!(plan(&file(), options("id >= 150 and id < 250")), (vec![1, 2], vec![0, 3], vec![1]));
}

#[test]
fn statistics_of_the_file_decide_without_those_of_stripes() {
    assert_eq!(plan(&file(), options("id < 0")), (vec![], vec![0, 1, 2, 3], vec![]));
    assert_eq!(plan(&file(), options("id >= 0")), (vec![0, 1, 2, 3], vec![], vec![]));
}

#[test]
fn all_stripes_are_read_where_no_statistics_are_given() {
    let file = file();
    let request = file.request(options("id = 150")).unwrap();
    let plan = Planning::try_new(&request).unwrap().finish(&[], &mut Cancellation::new(None)).unwrap();
    assert_eq!((plan.read.len(), plan.skipped.len()), (4, 0));
    assert!(plan.read.iter().all(|stripe| stripe.pruning.truth() == Truth::Maybe));
}

#[test]
fn numbers_of_rows_exclude_stripes() {
    let options = options("row >= 300").with_row_number("row");
    assert_eq!(plan(&file(), options), (vec![3], vec![0, 1, 2], vec![]));
}

#[test]
fn selected_stripes_are_planned_in_their_order_and_skipped_ones_once() {
    let options = options("id >= 200").with_stripes(vec![3, 0, 3, 0]);
    assert_eq!(plan(&file(), options), (vec![3, 3], vec![0], vec![1]));
}

#[test]
fn a_limit_cuts_stripes_that_no_filter_thins() {
    assert_eq!(plan(&file(), ReadOptions::default().with_limit(101)), (vec![0, 1], vec![], vec![]));
    assert_eq!(plan(&file(), ReadOptions::default().with_limit(0)), (vec![], vec![], vec![]));
    assert_eq!(plan(&file(), options("id >= 150").with_limit(1)), (vec![1, 2, 3], vec![0], vec![1]));
    assert_eq!(plan(&file(), options("id >= 150").with_limit(0)), (vec![], vec![0, 1, 2, 3], vec![1]));
}

#[test]
fn rows_that_all_match_without_columns_need_no_stripe() {
    let file = file();
    let request = file.request(options("id >= 0").with_columns(Vec::<String>::new())).unwrap();
    let plan = Planning::try_new(&request).unwrap().finish(&[], &mut Cancellation::new(None)).unwrap();
    assert!(plan.read.len() == 4 && plan.read.iter().all(|stripe| stripe.needs_rows_only(&request)));
}
