//! Writers with failing sinks, and calls in any order.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard};

use arrow_array::{Date64Array, Int64Array, StringArray};
use arrow_schema::{DataType, Field};
use orcish_core::tuning::testing::cases;
use orcish_io::{FileSink, MemorySource};
use proptest::prelude::*;
use proptest::test_runner::Config;

use super::*;
use crate::read::TYPE_KEY;
use crate::{Compression, ErrorKind, OrcFile, ReadOptions};

/// How a sink fails.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Failure {
    Never,
    /// From this call on.
    Call(usize),
    /// By a panic, from this call on.
    Panic(usize),
    /// Once the sink has more bytes.
    Bytes(usize),
    /// At the call of `finish`.
    Finish,
}

/// The state of a sink, which outlives it.
#[derive(Debug, Default)]
struct SinkState {
    bytes: Vec<u8>,
    calls: usize,
    has_failed: bool,
    is_synced: bool,
    /// The bytes of the finished file.
    appeared: Option<Vec<u8>>,
    is_dropped: bool,
}

struct FailingSink {
    failure: Failure,
    state: Arc<Mutex<SinkState>>,
}

impl FailingSink {
    #[expect(clippy::panic_in_result_fn, reason = "a test")]
    fn call(&self) -> Result<MutexGuard<'_, SinkState>> {
        let mut state = lock(&self.state);
        assert!(!state.has_failed, "a call of a sink that has failed");
        assert!(state.appeared.is_none(), "a call of a finished sink");
        state.calls += 1;
        let fails = match self.failure {
            Failure::Never | Failure::Finish => false,
            Failure::Call(number) | Failure::Panic(number) => state.calls > number,
            Failure::Bytes(max) => state.bytes.len() > max,
        };
        if fails {
            state.has_failed = true;
            drop(state);
            assert!(!matches!(self.failure, Failure::Panic(_)), "by intent");
            return Err(Error::new(ErrorKind::Io, "the disk is full"));
        }
        Ok(state)
    }
}

impl Sink for FailingSink {
    fn name(&self) -> &'static str {
        "faulty"
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.call()?.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.call()?.is_synced = true;
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        let mut state = self.call()?;
        if self.failure == Failure::Finish {
            state.has_failed = true;
            return Err(Error::new(ErrorKind::Io, "no more names"));
        }
        let bytes = std::mem::take(&mut state.bytes);
        state.appeared = Some(bytes);
        Ok(())
    }
}

impl Drop for FailingSink {
    fn drop(&mut self) {
        lock(&self.state).is_dropped = true;
    }
}

fn lock(state: &Mutex<SinkState>) -> MutexGuard<'_, SinkState> {
    state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A call of a writer.
#[derive(Debug, Clone, Copy)]
enum Step {
    Write(usize),
    /// Writes rows with a value that cannot be stored.
    WriteInvalid(usize),
    WriteOtherSchema,
    EndStripe,
    Finish,
    Abort,
    /// Calls in a child process of a fork.
    OtherProcess,
}

fn failures() -> impl Strategy<Value = Failure> {
    prop_oneof![
        3 => Just(Failure::Never),
        2 => (0..40usize).prop_map(Failure::Call),
        1 => (0..20usize).prop_map(Failure::Panic),
        2 => (0..60_000usize).prop_map(Failure::Bytes),
        1 => Just(Failure::Finish),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (0..3_000usize).prop_map(Step::Write),
        1 => (1..3_000usize).prop_map(Step::WriteInvalid),
        1 => Just(Step::WriteOtherSchema),
        3 => Just(Step::EndStripe),
        2 => Just(Step::Finish),
        1 => Just(Step::Abort),
        1 => Just(Step::OtherProcess),
    ];
    prop::collection::vec(step, 0..12)
}

fn schema() -> SchemaRef {
    let fields = [("day", DataType::Date64), ("text", DataType::Utf8)];
    Arc::new(arrow_schema::Schema::new(fields.map(|(name, kind)| Field::new(name, kind, true)).to_vec()))
}

/// A batch of `count` rows. The last value of an invalid batch has a time of day, which a date column cannot store.
fn rows(count: usize, is_invalid: bool) -> RecordBatch {
    const DAY: i64 = 86_400_000;
    let day = |row: usize| row as i64 * 7919 % 1000 * DAY + i64::from(is_invalid && row + 1 == count);
    let days: Date64Array = (0..count).map(|row| Some(day(row))).collect();
    let texts: StringArray = (0..count).map(|row| Some(format!("text {}", row * 7919))).collect();
    RecordBatch::try_new(schema(), vec![Arc::new(days), Arc::new(texts)]).unwrap()
}

fn options() -> WriteOptions {
    WriteOptions { row_index_stride: 1000, stripe_size: 20_000, threads: 1, ..WriteOptions::default() }
}

/// Makes the calls. Returns the number of rows if the file was finished. Checks that no call succeeds after a failure.
fn run(sink: Box<dyn Sink>, steps: &[Step]) -> Option<usize> {
    let started = catch_unwind(AssertUnwindSafe(|| FileWriter::try_new(sink, schema(), &options())));
    let Ok(Ok(mut writer)) = started else { return None };
    let (mut written, mut has_failed, mut finished) = (0, false, None);
    for &step in steps {
        if let Step::OtherProcess = step {
            let owner = std::mem::replace(&mut writer.owner, OwnerProcess::other());
            for result in [writer.write(&rows(10, false)), writer.end_stripe(), writer.finish().map(drop)] {
                assert_eq!(result.unwrap_err().kind(), ErrorKind::InvalidArgument);
            }
            writer.owner = owner;
            continue;
        }
        let result = catch_unwind(AssertUnwindSafe(|| match step {
            Step::Write(count) => writer.write(&rows(count, false)),
            Step::WriteInvalid(count) => writer.write(&rows(count, true)),
            Step::WriteOtherSchema => {
                let other: Int64Array = (0..5).map(Some).collect();
                writer.write(&RecordBatch::try_from_iter([("day", Arc::new(other) as ArrayRef)]).unwrap())
            }
            Step::EndStripe => writer.end_stripe(),
            Step::Finish => writer.finish().map(drop),
            Step::Abort | Step::OtherProcess => {
                writer.abort();
                Ok(())
            }
        }));
        let is_ok = matches!(result, Ok(Ok(())));
        match step {
            Step::Abort => has_failed |= finished.is_none(),
            _ => assert!(!(is_ok && (has_failed || finished.is_some())), "{step:?} after a failure or the end"),
        }
        match step {
            Step::Write(count) if is_ok => written += count,
            // The error is returned when the rows are encoded, which may be by a later call.
            Step::WriteInvalid(_) => has_failed |= !is_ok,
            Step::WriteOtherSchema => assert!(!is_ok),
            Step::Finish if is_ok => finished = Some(written),
            _ => {}
        }
        has_failed |= !is_ok && finished.is_none();
        if matches!(result, Ok(Err(_))) && finished.is_none() {
            assert!(writer.sink.is_none(), "the sink is not dropped after a failure");
        }
        if let (Step::WriteInvalid(_), true) = (step, is_ok) {
            let finished = catch_unwind(AssertUnwindSafe(|| writer.finish()));
            assert!(finished.map_or(true, |result| result.is_err()));
            has_failed = true;
        }
    }
    finished
}

/// The number of rows of a file, which must be valid.
fn count(bytes: Vec<u8>) -> usize {
    let file = OrcFile::try_new(Arc::new(MemorySource::new(bytes)), &Limits::default()).unwrap();
    assert_eq!(file.check(&Limits::default(), None, None).unwrap(), Vec::new());
    file.read(ReadOptions::default()).unwrap().map(|batch| batch.unwrap().num_rows()).sum()
}

proptest! {
    #![proptest_config(Config::with_cases(cases(64)))]

    /// A file appears if and only if it was finished, with all rows, whatever fails and whatever calls are made.
    #[test]
    fn file_appears_complete_or_not_at_all(failure in failures(), steps in steps()) {
        let state = Arc::new(Mutex::new(SinkState::default()));
        let finished = run(Box::new(FailingSink { failure, state: state.clone() }), &steps);
        let state = std::mem::take(&mut *lock(&state));
        prop_assert!(state.is_dropped);
        prop_assert_eq!(state.appeared.is_some(), finished.is_some());
        if let (Some(bytes), Some(rows)) = (state.appeared, finished) {
            prop_assert_eq!(count(bytes), rows);
        }
    }

    /// A local file is complete, or as it was before. No temporary file is left.
    #[test]
    fn local_file_is_complete_or_unchanged(steps in steps(), exists in any::<bool>(), number in any::<u64>()) {
        let folder = std::env::temp_dir().join(format!("orcish-failing-{}-{number:x}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.orc");
        if exists {
            std::fs::write(&path, "before").unwrap();
        }
        let finished = run(Box::new(FileSink::create(&path).unwrap()), &steps);
        let names = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
        prop_assert!(names.collect::<Vec<_>>().iter().all(|name| name == "a.orc"));
        match finished {
            Some(rows) => prop_assert_eq!(count(std::fs::read(&path).unwrap()), rows),
            None if exists => prop_assert_eq!(std::fs::read(&path).unwrap(), b"before"),
            None => prop_assert!(!path.exists()),
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}

/// Writes a file to a sink, with a cancellation check.
type WriteFile<'a> = Box<dyn FnOnce(Box<dyn Sink>, CancelCheck) -> Result<Written> + 'a>;

/// A check that fails after the last byte is written prevents the file from appearing.
#[test]
fn cancelled_file_does_not_appear() {
    let sink = orcish_io::MemorySink::new();
    let mut writer = FileWriter::try_new(Box::new(sink.clone()), schema(), &options()).unwrap();
    writer.write(&rows(10, false)).unwrap();
    writer.finish().unwrap();
    let source: Arc<dyn orcish_io::ReadAt> = Arc::new(MemorySource::new(sink.take().unwrap()));
    let write = |sink: Box<dyn Sink>, check: CancelCheck| {
        let mut writer = FileWriter::try_new(sink, schema(), &options())?;
        writer.set_cancel_check(check);
        writer.write(&rows(10, false))?;
        writer.finish()
    };
    let merge = |sink: Box<dyn Sink>, check: CancelCheck| {
        crate::write::merge(&[source], sink, &Limits::default(), Some(&check), None)
    };
    let functions: [WriteFile<'_>; 2] = [Box::new(write), Box::new(merge)];
    for write_file in functions {
        let state = Arc::new(Mutex::new(SinkState::default()));
        let checked = state.clone();
        let check: CancelCheck = Arc::new(move || {
            let is_synced = lock(&checked).is_synced;
            if is_synced { Err(Error::new(ErrorKind::Interrupted, "enough")) } else { Ok(()) }
        });
        let error =
            write_file(Box::new(FailingSink { failure: Failure::Never, state: state.clone() }), check).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
        let state = lock(&state);
        assert!(state.is_synced && state.is_dropped && state.appeared.is_none());
    }
}

/// A batch of strings with a column of an ORC type such as `char(5)`.
fn strings_of_type(kind: &str, texts: Vec<Option<&str>>) -> RecordBatch {
    let field = Field::new("c", DataType::Utf8, true).with_metadata([(TYPE_KEY.to_owned(), kind.to_owned())]);
    let schema = Arc::new(arrow_schema::Schema::new(vec![field]));
    RecordBatch::try_new(schema, vec![Arc::new(StringArray::from(texts))]).unwrap()
}

fn write(batch: &RecordBatch, options: &WriteOptions) -> Result<Vec<u8>> {
    let sink = orcish_io::MemorySink::new();
    let mut writer = FileWriter::try_new(Box::new(sink.clone()), batch.schema(), options)?;
    writer.write(batch)?;
    writer.finish()?;
    Ok(sink.take().unwrap())
}

#[test]
fn padding_of_a_value_is_limited() {
    for kind in ["char(2147483647)", "char(65538)"] {
        let error = write(&strings_of_type(kind, vec![None, Some("a")]), &WriteOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        let text = format!("column c: row 1: text of 1 characters in a column of {kind}: more than 65536 blanks");
        assert!(error.to_string().contains(&text), "{error}");
        // Nulls are not padded.
        assert_eq!(count(write(&strings_of_type(kind, vec![None; 3]), &WriteOptions::default()).unwrap()), 3);
    }
    for kind in ["char(65537)", "varchar(2147483647)"] {
        let bytes = write(&strings_of_type(kind, vec![Some("a"), Some("b"), None]), &WriteOptions::default()).unwrap();
        assert_eq!(count(bytes), 3);
    }
    let long = "x".repeat(100_000);
    assert_eq!(count(write(&strings_of_type("char(100001)", vec![Some(&long)]), &WriteOptions::default()).unwrap()), 1);
}

/// The dictionary does not keep the padding of many distinct values.
#[test]
fn dictionary_with_padding_is_limited() {
    let texts: Vec<String> = (0..3000).map(|number| number.to_string()).collect();
    let batch = strings_of_type("char(40000)", texts.iter().map(|text| Some(text.as_str())).collect());
    let bytes = write(&batch, &WriteOptions::default()).unwrap();
    assert!(bytes.len() < 1 << 20);
    let file = OrcFile::try_new(Arc::new(MemorySource::new(bytes)), &Limits::default()).unwrap();
    let trimmed = ReadOptions { trim_char: true, ..ReadOptions::default() };
    let read: Vec<_> = file.read(trimmed).unwrap().map(std::result::Result::unwrap).collect();
    let read = read.iter().flat_map(|batch| {
        let column = arrow_array::cast::AsArray::as_string::<i32>(batch.column(0));
        column.iter().map(|text| text.unwrap().to_owned()).collect::<Vec<_>>()
    });
    assert_eq!(read.collect::<Vec<_>>(), texts);
}

/// A failing check ends a write in the middle of a batch, with one and with several threads.
#[test]
fn write_is_cancelled_within_a_batch() {
    let numbers = (0..40_000u64).map(|at| at.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let text: StringArray = numbers.map(|number| Some(format!("{number:016x}").repeat(8))).collect();
    let small = Int64Array::from(vec![1; 40_000]);
    let fields = [("small", DataType::Int64), ("text", DataType::Utf8)];
    let fields = fields.map(|(name, kind)| Field::new(name, kind, true)).to_vec();
    let columns: Vec<ArrayRef> = vec![Arc::new(small), Arc::new(text)];
    let batch = RecordBatch::try_new(Arc::new(arrow_schema::Schema::new(fields)), columns).unwrap();
    for threads in [1, 2] {
        let options =
            WriteOptions { compression: Compression::Brotli, compression_level: Some(11), threads, ..options() };
        let all = Arc::new(Mutex::new(SinkState::default()));
        let sink = FailingSink { failure: Failure::Never, state: all.clone() };
        let mut writer = FileWriter::try_new(Box::new(sink), batch.schema(), &options).unwrap();
        let caller = std::thread::current().id();
        writer.set_cancel_check(Arc::new(move || {
            assert_eq!(std::thread::current().id(), caller);
            Err(Error::new(ErrorKind::Interrupted, "enough"))
        }));
        let error = writer.write(&batch).unwrap_err();
        assert_eq!((error.kind(), error.message()), (ErrorKind::Interrupted, "enough"));
        assert!(writer.finish().is_err());
        assert!(lock(&all).appeared.is_none());
    }
}

/// Columns of ten rows, the same columns with a changed row, and the number of that row.
fn changed_columns() -> Vec<(Field, ArrayRef, ArrayRef, u64)> {
    const ROWS: usize = 10;
    let integers = |changed: usize| -> ArrayRef {
        Arc::new(
            (0..ROWS)
                .map(|row| (row != 3).then_some(if row == changed { -1 } else { row as i64 }))
                .collect::<Int64Array>(),
        )
    };
    let texts = |changed: usize| -> ArrayRef {
        let text = |row: usize| if row == changed { "other".to_owned() } else { format!("{row} ") };
        Arc::new((0..ROWS).map(|row| Some(text(row))).collect::<StringArray>())
    };
    let lists = |changed: usize| -> ArrayRef {
        let lists = (0..ROWS)
            .map(|row| Some((0..row % 3).map(move |at| Some((row * usize::from(row != changed) + at) as i64))));
        Arc::new(arrow_array::ListArray::from_iter_primitive::<arrow_array::types::Int64Type, _, _>(lists))
    };
    let structs = |changed: usize| -> ArrayRef {
        let field = Arc::new(Field::new("a", DataType::Int64, true));
        Arc::new(arrow_array::StructArray::from(vec![(field, integers(changed))]))
    };
    let char = Field::new("c", DataType::Utf8, true)
        .with_metadata(std::collections::HashMap::from([(TYPE_KEY.to_owned(), "char(5)".to_owned())]));
    let mut cases = Vec::new();
    // The lists of these rows are not empty.
    for row in [1, 5, 8] {
        let field = |array: &ArrayRef| Field::new("c", array.data_type().clone(), true);
        for make in [&integers as &dyn Fn(usize) -> ArrayRef, &texts, &lists, &structs] {
            cases.push((field(&make(ROWS)), make(ROWS), make(row), row as u64));
        }
        cases.push((char.clone(), texts(ROWS), texts(row), row as u64));
    }
    // A null that became a value, and a value that became null.
    let no_nulls: ArrayRef = Arc::new((0..10).map(Some).collect::<Int64Array>());
    let field = Field::new("c", DataType::Int64, true);
    cases.push((field.clone(), integers(ROWS), no_nulls.clone(), 3));
    cases.push((field, no_nulls, integers(ROWS), 3));
    cases
}

/// Writes two stripes of `written`, and verifies the second with `slices` as the rows that were written.
fn verify(field: Field, written: &ArrayRef, slices: &[ArrayRef]) -> Result<()> {
    let schema = Arc::new(arrow_schema::Schema::new(vec![field]));
    let options = WriteOptions { verify: true, threads: 1, ..WriteOptions::default() };
    let mut writer = FileWriter::try_new(Box::new(orcish_io::MemorySink::new()), schema.clone(), &options)?;
    let batch = RecordBatch::try_new(schema.clone(), vec![written.clone()])
        .map_err(|error| Error::invalid("no column of the schema").with_source(error))?;
    writer.write(&batch)?;
    writer.end_stripe()?;
    writer.write(&batch)?;
    writer.encode_queue()?;
    let mut verifier = Verifier::new(schema, writer.tail.footer.types.clone());
    verifier.add_rows(slices.iter().map(|slice| vec![slice.clone()]), 0);
    writer.verifier = Some(verifier);
    writer.flush_stripe()
}

#[test]
fn different_rows_are_found() {
    for (field, written, other, row) in changed_columns() {
        let first = written.len() as u64;
        let result = verify(field.clone(), &written, &[written.slice(0, 4), written.slice(4, 6)]);
        assert!(result.is_ok(), "{field}: {result:?}");
        let cases = [
            (vec![other.clone()], format!("row {}: the value that is read is not that", first + row)),
            (vec![other.slice(0, 4), other.slice(4, 6)], format!("row {}: the value that is read", first + row)),
            (vec![written.clone(), written.slice(0, 1)], format!("row {}: there are fewer rows", 2 * first)),
            (vec![written.slice(0, 4), written.slice(4, 5)], format!("row {}: there are more rows", 2 * first - 1)),
        ];
        for (slices, text) in cases {
            let error = verify(field.clone(), &written, &slices).expect_err(&text);
            assert_eq!(error.kind(), ErrorKind::Corrupt);
            assert!(error.to_string().contains(&text), "{error} for {text}");
        }
    }
}

#[test]
fn rows_of_all_batches_are_compared() {
    const ROWS: usize = 3 * crate::options::DEFAULT_BATCH_SIZE - 1000;
    let rows = |changed: usize| -> ArrayRef {
        Arc::new((0..ROWS).map(|row| Some(if row == changed { -1 } else { row as i64 })).collect::<Int64Array>())
    };
    let (field, written) = (Field::new("c", DataType::Int64, true), rows(ROWS));
    for at in [0, 1, 5_000, ROWS / 2, ROWS - 1, ROWS] {
        let slices = |rows: &ArrayRef| [rows.slice(0, at), rows.slice(at, ROWS - at)];
        assert!(verify(field.clone(), &written, &slices(&written)).is_ok());
        let row = at.min(ROWS - 1);
        let error = verify(field.clone(), &written, &slices(&rows(row))).unwrap_err().to_string();
        assert!(error.contains(&format!("row {}: the value", ROWS + row)), "{error}");
    }
}
