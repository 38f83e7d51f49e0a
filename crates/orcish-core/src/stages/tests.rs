//! Staged scans give the rows that the stages keep when they are applied to the whole table, one after the other.

use std::fmt;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{ArrayRef, BooleanArray, Int32Array, Int64Array, RecordBatch, RecordBatchOptions, StructArray};
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use proptest::prelude::*;

use super::{ReadColumns, RowFilter, RowSelection, Stage, StagedScan, TableScan};
use crate::Predicate;
use crate::aggregate::Aggregate;
use crate::cast::prune_fields;
use crate::error::{ErrorKind, Result};
use crate::names::{ColumnName, select};
use crate::predicate::BatchFilter;
use crate::select::filter_batch;

/// A table in memory: columns `a`, `b`, the struct `n` of `x` and `y`, and the row number.
#[derive(Debug, Clone)]
struct Memory {
    batches: Arc<Vec<RecordBatch>>,
    columns: Option<Vec<ColumnName>>,
    selection: Option<(Option<Predicate>, Option<u64>)>,
    has_row_number: bool,
    has_read_unions: bool,
}

const ROW: &str = "row";

fn table(rows: i32, batch: i32) -> Memory {
    let fields = Fields::from(vec![Field::new("x", DataType::Int32, true), Field::new("y", DataType::Int32, true)]);
    let ints =
        |from: i32, to: i32, by: i32| Arc::new((from..to).map(|at| at * by % 7).collect::<Int32Array>()) as ArrayRef;
    let part = |from: i32| {
        let to = (from + batch).min(rows);
        let nest = StructArray::new(fields.clone(), vec![ints(from, to, 2), ints(from, to, 3)], None);
        let numbers = Int64Array::from_iter_values(i64::from(from)..i64::from(to));
        let columns: Vec<(&str, ArrayRef)> =
            vec![("a", ints(from, to, 1)), ("b", ints(from, to, 5)), ("n", Arc::new(nest)), (ROW, Arc::new(numbers))];
        RecordBatch::try_from_iter(columns).unwrap()
    };
    let batches = (0..rows).step_by(usize::try_from(batch).unwrap()).map(part).collect();
    Memory { batches: Arc::new(batches), columns: None, selection: None, has_row_number: false, has_read_unions: false }
}

impl Memory {
    fn stored(&self) -> SchemaRef {
        let part = table(1, 1);
        Arc::new(part.batches[0].schema().project(&[0, 1, 2]).unwrap())
    }

    fn output(&self) -> Vec<(usize, Arc<Field>)> {
        let stored = self.stored();
        let mut fields = match &self.columns {
            None => stored.fields().iter().cloned().enumerate().collect(),
            Some(names) => select(stored.fields(), names).unwrap(),
        };
        if self.has_row_number {
            fields.push((3, Arc::new(Field::new(ROW, DataType::Int64, false))));
        }
        fields
    }

    fn rows(&self) -> Vec<Result<RecordBatch>> {
        let (filter, limit) = self.selection.clone().unwrap();
        let mut left = usize::try_from(limit.unwrap_or(1 << 20)).unwrap();
        let (schema, mut rows) = (self.schema(), Vec::new());
        for batch in &*self.batches {
            let batch = match &filter {
                Some(predicate) => keep(batch, predicate),
                None => batch.clone(),
            };
            let batch = batch.slice(0, left.min(batch.num_rows()));
            left -= batch.num_rows();
            let column = |(at, field): &(usize, Arc<Field>)| prune_fields(batch.column(*at), field).unwrap();
            let columns = self.output().iter().map(column).collect();
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            rows.push(Ok(RecordBatch::try_new_with_options(schema.clone(), columns, &options).unwrap()));
        }
        rows
    }
}

impl TableScan for Memory {
    type Rows = std::vec::IntoIter<Result<RecordBatch>>;

    fn schema(&self) -> SchemaRef {
        Arc::new(Schema::new(self.output().into_iter().map(|(_, field)| field).collect::<Vec<_>>()))
    }

    fn row_number(&self) -> Option<&str> {
        Some(ROW)
    }

    fn readable_schema(&self) -> Result<SchemaRef> {
        Ok(table(1, 1).batches[0].schema())
    }

    fn has_read_unions(&self) -> bool {
        self.has_read_unions
    }

    fn select(&self, selection: RowSelection) -> Result<Self> {
        let columns = match (&self.columns, selection.columns) {
            (Some(names), ReadColumns::With(further)) => Some(names.iter().cloned().chain(further).collect()),
            (None, ReadColumns::With(_)) | (_, ReadColumns::All) => None,
            (_, ReadColumns::Only(names)) => Some(names),
        };
        Ok(Memory {
            columns,
            selection: Some((selection.filter, selection.limit)),
            has_row_number: selection.has_row_number.unwrap_or(self.has_row_number),
            ..self.clone()
        })
    }

    fn read(&self) -> Result<Self::Rows> {
        Ok(self.rows().into_iter())
    }

    fn count(&self) -> Result<u64> {
        Ok(self.read()?.map(|batch| batch.unwrap().num_rows() as u64).sum())
    }
}

fn keep(batch: &RecordBatch, predicate: &Predicate) -> RecordBatch {
    let filter = BatchFilter::try_new(predicate, &batch.schema()).unwrap();
    let mask = filter.evaluate(&|at| Ok(batch.column(at).clone()), batch.num_rows()).unwrap();
    filter_batch(batch, &mask).unwrap()
}

/// A filter of another library: every second row of the table, or values of `b` below a bound.
#[derive(Debug)]
enum Foreign {
    EverySecond,
    Below(i32, Option<Vec<String>>),
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("foreign")
    }
}

impl RowFilter for Foreign {
    fn columns(&self) -> Option<&[String]> {
        match self {
            Foreign::EverySecond => Some(&[]),
            Foreign::Below(_, columns) => columns.as_deref(),
        }
    }

    fn is_elementwise(&self) -> bool {
        matches!(self, Foreign::Below(_, _))
    }

    fn masks(&self, batches: &[RecordBatch]) -> Result<Vec<BooleanArray>> {
        let mut at = 0;
        let mask = |batch: &RecordBatch| match self {
            Foreign::EverySecond => {
                at += batch.num_rows();
                (at - batch.num_rows()..at).map(|row| Some(row % 2 == 0)).collect()
            }
            Foreign::Below(bound, _) => {
                let values = batch.column_by_name("b").unwrap().as_primitive::<Int32Type>();
                values.iter().map(|value| Some(value? < *bound)).collect()
            }
        };
        Ok(batches.iter().map(mask).collect())
    }
}

/// The row numbers that stages keep of a table, each applied to all rows.
fn expected(memory: &Memory, stages: &[Stage]) -> Vec<i64> {
    let mut batches = memory.batches.to_vec();
    for stage in stages {
        if let Some(predicate) = &stage.predicate {
            batches = batches.iter().map(|batch| keep(batch, predicate)).collect();
        }
        for filter in &stage.row_filters {
            let masks = filter.masks(&batches).unwrap();
            batches = batches.iter().zip(&masks).map(|(batch, mask)| filter_batch(batch, mask).unwrap()).collect();
        }
        let mut left = usize::try_from(stage.limit.unwrap_or(1 << 20)).unwrap();
        for batch in &mut batches {
            *batch = batch.slice(0, left.min(batch.num_rows()));
            left -= batch.num_rows();
        }
    }
    numbers(&batches)
}

fn numbers(batches: &[RecordBatch]) -> Vec<i64> {
    let values = |batch: &RecordBatch| batch.column_by_name(ROW).unwrap().as_primitive::<Int64Type>().values().to_vec();
    batches.iter().flat_map(values).collect()
}

fn any_stage() -> impl Strategy<Value = Stage> {
    let texts = ["a > 2", "n.x < 5", "b in (0, 1, 2)", "row >= 3", "n.y is null", "a < 6 and row < 30"];
    let predicate = proptest::option::of(proptest::sample::select(texts.to_vec()));
    let columns = proptest::option::of(Just(vec!["b".to_owned()]));
    let row_filter = prop_oneof![Just(None), Just(Some(0)), (1..6i32).prop_map(Some),];
    (predicate, row_filter, columns, proptest::option::of(0..20u64)).prop_map(|(text, row_filter, columns, limit)| {
        let row_filter = row_filter.map(|bound| match bound {
            0 => Foreign::EverySecond,
            bound => Foreign::Below(bound, columns),
        });
        Stage {
            predicate: text.map(|text| text.parse().unwrap()),
            row_filters: row_filter.into_iter().map(|filter| Arc::new(filter) as Arc<dyn RowFilter>).collect(),
            limit,
        }
    })
}

proptest! {
    #[test]
    fn stages_are_applied_one_after_the_other(
        rows in 1..60i32,
        batch in 1..20i32,
        stages in proptest::collection::vec(any_stage(), 0..4),
        columns in proptest::sample::select(vec![None, Some(vec!["n.y"]), Some(vec!["b", "a"]), Some(vec![])]),
        has_row_number: bool,
        has_read_unions: bool,
    ) {
        let names = columns.map(|names| names.into_iter().map(ColumnName::from).collect::<Vec<_>>());
        let memory = Memory { columns: names, has_row_number, has_read_unions, ..table(rows, batch) };
        let staged = StagedScan::try_new(memory.clone(), &stages).unwrap();
        let want = expected(&memory, &stages);
        prop_assert_eq!(staged.count().unwrap(), want.len() as u64);
        let found = match staged.read_late().unwrap() {
            Some(late) => late.collect::<Result<Vec<_>>>().unwrap(),
            None => staged.scan().read().unwrap().collect::<Result<Vec<_>>>().unwrap(),
        };
        for batch in &found {
            prop_assert_eq!(batch.schema(), memory.schema());
        }
        if has_row_number {
            prop_assert_eq!(&numbers(&found), &want);
        }
        let alone = Memory { columns: Some(vec!["a".into()]), has_row_number: false, ..memory.clone() };
        let least = StagedScan::try_new(alone, &stages).unwrap().aggregate(Aggregate::Min).unwrap();
        let value = want.iter().map(|row| row % 7).min();
        prop_assert_eq!(least.as_primitive::<Int32Type>().iter().next().unwrap().map(i64::from), value);
    }
}

fn stage(text: &str) -> Stage {
    Stage { predicate: Some(text.parse().unwrap()), ..Stage::default() }
}

#[test]
fn the_reader_evaluates_what_precedes_a_limit() {
    let first = Stage { limit: Some(5), ..stage("a > 1") };
    let staged = StagedScan::try_new(table(30, 7), std::slice::from_ref(&first)).unwrap();
    assert!(!staged.plan().is_late() && staged.plan().limit == Some(5) && !staged.plan().is_divisible());
    let staged = StagedScan::try_new(table(30, 7), &[first, stage("b < 3"), stage("a = 2")]).unwrap();
    assert!(staged.plan().is_late() && staged.plan().is_elementwise());
    assert_eq!(staged.plan().to_string(), "b < 3, then a = 2");
    assert!(StagedScan::try_new(table(30, 7), &[stage("a > 1")]).unwrap().plan().is_divisible());
}

#[test]
fn filters_are_bound_where_the_scan_is_made() {
    let later =
        |text: &str| StagedScan::try_new(table(9, 3), &[Stage { limit: Some(3), ..Stage::default() }, stage(text)]);
    assert_eq!(later("nosuch = 1").unwrap_err().kind(), ErrorKind::UnknownColumn);
    assert_eq!(later("n = 1").unwrap_err().kind(), ErrorKind::InvalidArgument);
    let other = Foreign::Below(1, Some(vec!["nosuch".to_owned()]));
    let stage = Stage { row_filters: vec![Arc::new(other)], ..Stage::default() };
    assert_eq!(StagedScan::try_new(table(9, 3), &[stage]).unwrap_err().kind(), ErrorKind::UnknownColumn);
}

#[test]
fn filters_about_all_rows_have_no_splits() {
    let second = Stage { row_filters: vec![Arc::new(Foreign::EverySecond)], ..Stage::default() };
    let staged = StagedScan::try_new(table(9, 3), &[second]).unwrap();
    assert_eq!(staged.check_elementwise().unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert!(StagedScan::try_new(table(9, 3), &[stage("a > 1")]).unwrap().check_elementwise().is_ok());
}
