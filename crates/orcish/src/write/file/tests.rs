//! Writers whose sinks fail, and who are told things in any order.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard};

use arrow_array::{Date64Array, Int64Array, StringArray};
use arrow_schema::{DataType, Field};
use orcish_io::{FileSink, MemorySource};
use proptest::prelude::*;
use proptest::test_runner::Config;

use super::*;
use crate::read::TYPE_KEY;
use crate::{Compression, ErrorKind, OrcFile, ReadOptions};

/// The number of cases of a random test, times ORCISH_TEST_FACTOR.
fn cases(number: u32) -> Config {
    Config::with_cases(number * orcish_core::tuning::testing::factor())
}

/// How a sink fails.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    Never,
    /// At the call of this number.
    Call(usize),
    /// At that call, by a panic.
    Panic(usize),
    /// Once it has so many bytes.
    Bytes(usize),
    /// When it is finished.
    Finish,
}

/// What has become of the file of a sink.
#[derive(Debug, Default)]
struct Seen {
    bytes: Vec<u8>,
    calls: usize,
    has_failed: bool,
    is_settled: bool,
    appeared: Option<Vec<u8>>,
    is_dropped: bool,
}

struct Faulty {
    fault: Fault,
    seen: Arc<Mutex<Seen>>,
}

impl Faulty {
    #[expect(clippy::panic_in_result_fn, reason = "a test")]
    fn call(&self) -> Result<MutexGuard<'_, Seen>> {
        let mut seen = seen(&self.seen);
        assert!(!seen.has_failed, "a sink is asked for something that has failed");
        assert!(seen.appeared.is_none(), "a sink is asked for something that is finished");
        seen.calls += 1;
        let fails = match self.fault {
            Fault::Never | Fault::Finish => false,
            Fault::Call(number) | Fault::Panic(number) => seen.calls > number,
            Fault::Bytes(most) => seen.bytes.len() > most,
        };
        if fails {
            seen.has_failed = true;
            drop(seen);
            assert!(!matches!(self.fault, Fault::Panic(_)), "by intent");
            return Err(Error::new(ErrorKind::Io, "the disk is full"));
        }
        Ok(seen)
    }
}

impl Sink for Faulty {
    fn name(&self) -> &'static str {
        "faulty"
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.call()?.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.call()?.is_settled = true;
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        let mut seen = self.call()?;
        if self.fault == Fault::Finish {
            seen.has_failed = true;
            return Err(Error::new(ErrorKind::Io, "no more names"));
        }
        let bytes = std::mem::take(&mut seen.bytes);
        seen.appeared = Some(bytes);
        Ok(())
    }
}

impl Drop for Faulty {
    fn drop(&mut self) {
        seen(&self.seen).is_dropped = true;
    }
}

fn seen(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// What a writer is told.
#[derive(Debug, Clone, Copy)]
enum Step {
    Write(usize),
    /// Rows of which one cannot be stored.
    WriteBad(usize),
    WriteOther,
    EndStripe,
    Finish,
    Abort,
    /// As from a child of a fork.
    Elsewhere,
}

fn faults() -> impl Strategy<Value = Fault> {
    prop_oneof![
        3 => Just(Fault::Never),
        2 => (0..40usize).prop_map(Fault::Call),
        1 => (0..20usize).prop_map(Fault::Panic),
        2 => (0..60_000usize).prop_map(Fault::Bytes),
        1 => Just(Fault::Finish),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (0..3_000usize).prop_map(Step::Write),
        1 => (1..3_000usize).prop_map(Step::WriteBad),
        1 => Just(Step::WriteOther),
        3 => Just(Step::EndStripe),
        2 => Just(Step::Finish),
        1 => Just(Step::Abort),
        1 => Just(Step::Elsewhere),
    ];
    prop::collection::vec(step, 0..12)
}

fn schema() -> SchemaRef {
    let fields = [("day", DataType::Date64), ("text", DataType::Utf8)];
    Arc::new(arrow_schema::Schema::new(fields.map(|(name, kind)| Field::new(name, kind, true)).to_vec()))
}

/// So many rows; a time of day cannot be stored.
fn rows(count: usize, is_bad: bool) -> RecordBatch {
    const DAY: i64 = 86_400_000;
    let day = |at: usize| at as i64 * 7919 % 1000 * DAY + i64::from(is_bad && at + 1 == count);
    let days: Date64Array = (0..count).map(|at| Some(day(at))).collect();
    let texts: StringArray = (0..count).map(|at| Some(format!("text {}", at * 7919))).collect();
    RecordBatch::try_new(schema(), vec![Arc::new(days), Arc::new(texts)]).unwrap()
}

fn options() -> WriteOptions {
    WriteOptions { row_index_stride: 1000, stripe_size: 20_000, threads: 1, ..WriteOptions::default() }
}

/// Does the steps; gives the rows of a file that has been finished. Checks that nothing goes well after a failure.
fn run(sink: Box<dyn Sink>, steps: &[Step]) -> Option<usize> {
    let started = catch_unwind(AssertUnwindSafe(|| FileWriter::new(sink, schema(), &options())));
    let Ok(Ok(mut writer)) = started else { return None };
    let (mut given, mut is_broken, mut finished) = (0, false, None);
    for &step in steps {
        if let Step::Elsewhere = step {
            let own = std::mem::replace(&mut writer.owner, OwnerProcess::other());
            for result in [writer.write(&rows(10, false)), writer.end_stripe(), writer.finish().map(drop)] {
                assert_eq!(result.unwrap_err().kind(), ErrorKind::InvalidArgument);
            }
            writer.owner = own;
            continue;
        }
        let result = catch_unwind(AssertUnwindSafe(|| match step {
            Step::Write(count) => writer.write(&rows(count, false)),
            Step::WriteBad(count) => writer.write(&rows(count, true)),
            Step::WriteOther => {
                let other: Int64Array = (0..5).map(Some).collect();
                writer.write(&RecordBatch::try_from_iter([("day", Arc::new(other) as ArrayRef)]).unwrap())
            }
            Step::EndStripe => writer.end_stripe(),
            Step::Finish => writer.finish().map(drop),
            Step::Abort | Step::Elsewhere => {
                writer.abort();
                Ok(())
            }
        }));
        let is_good = matches!(result, Ok(Ok(())));
        match step {
            Step::Abort => is_broken |= finished.is_none(),
            _ => assert!(!(is_good && (is_broken || finished.is_some())), "{step:?} after a failure or the end"),
        }
        match step {
            Step::Write(count) if is_good => given += count,
            // It is known when it is encoded, which may be later.
            Step::WriteBad(_) => is_broken |= !is_good,
            Step::WriteOther => assert!(!is_good),
            Step::Finish if is_good => finished = Some(given),
            _ => {}
        }
        is_broken |= !is_good && finished.is_none();
        if matches!(result, Ok(Err(_))) && finished.is_none() {
            assert!(writer.sink.is_none(), "a sink is kept after a failure");
        }
        if let (Step::WriteBad(_), true) = (step, is_good) {
            let finished = catch_unwind(AssertUnwindSafe(|| writer.finish()));
            assert!(finished.map_or(true, |result| result.is_err()));
            is_broken = true;
        }
    }
    finished
}

/// The rows of a file, which is whole.
fn count(bytes: Vec<u8>) -> usize {
    let file = OrcFile::new(Arc::new(MemorySource::new(bytes)), &Limits::default()).unwrap();
    assert_eq!(file.check(&Limits::default(), None).unwrap(), Vec::new());
    file.read(ReadOptions::default()).unwrap().map(|batch| batch.unwrap().num_rows()).sum()
}

proptest! {
    #![proptest_config(cases(64))]

    /// Whatever fails, and whatever a writer is told, a file appears if and only if it has been finished, with all rows.
    #[test]
    fn a_file_is_whole_or_not_there(fault in faults(), steps in steps()) {
        let state = Arc::new(Mutex::new(Seen::default()));
        let finished = run(Box::new(Faulty { fault, seen: state.clone() }), &steps);
        let state = std::mem::take(&mut *seen(&state));
        prop_assert!(state.is_dropped);
        prop_assert_eq!(state.appeared.is_some(), finished.is_some());
        if let (Some(bytes), Some(rows)) = (state.appeared, finished) {
            prop_assert_eq!(count(bytes), rows);
        }
    }

    /// So it is with files: nothing is left but what was there, or the whole file.
    #[test]
    fn files_are_whole_or_as_they_were(steps in steps(), is_there in any::<bool>(), number in any::<u64>()) {
        let folder = std::env::temp_dir().join(format!("orcish-failing-{}-{number:x}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.orc");
        if is_there {
            std::fs::write(&path, "before").unwrap();
        }
        let finished = run(Box::new(FileSink::create(&path).unwrap()), &steps);
        let names = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
        prop_assert!(names.collect::<Vec<_>>().iter().all(|name| name == "a.orc"));
        match finished {
            Some(rows) => prop_assert_eq!(count(std::fs::read(&path).unwrap()), rows),
            None if is_there => prop_assert_eq!(std::fs::read(&path).unwrap(), b"before"),
            None => prop_assert!(!path.exists()),
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}

/// What makes a file.
type Work<'a> = Box<dyn FnOnce(Box<dyn Sink>, CancelCheck) -> Result<Written> + 'a>;

/// Whoever does not want to go on any more when all is written finds what there was before.
#[test]
fn nothing_appears_that_is_not_wanted() {
    let sink = orcish_io::MemorySink::new();
    let mut writer = FileWriter::new(Box::new(sink.clone()), schema(), &options()).unwrap();
    writer.write(&rows(10, false)).unwrap();
    writer.finish().unwrap();
    let source: Arc<dyn orcish_io::ReadAt> = Arc::new(MemorySource::new(sink.take().unwrap()));
    let write = |sink: Box<dyn Sink>, check: CancelCheck| {
        let mut writer = FileWriter::new(sink, schema(), &options())?;
        writer.set_cancel_check(check);
        writer.write(&rows(10, false))?;
        writer.finish()
    };
    let merge = |sink: Box<dyn Sink>, check: CancelCheck| {
        crate::write::merge(&[source], sink, &Limits::default(), Some(&check))
    };
    let works: [Work<'_>; 2] = [Box::new(write), Box::new(merge)];
    for work in works {
        let state = Arc::new(Mutex::new(Seen::default()));
        let looked = state.clone();
        let check: CancelCheck = Arc::new(move || match seen(&looked).is_settled {
            true => Err(Error::new(ErrorKind::Interrupted, "enough")),
            false => Ok(()),
        });
        let error = work(Box::new(Faulty { fault: Fault::Never, seen: state.clone() }), check).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
        let state = seen(&state);
        assert!(state.is_settled && state.is_dropped && state.appeared.is_none());
    }
}

/// A batch of texts in a column of a type such as `char(5)`.
fn of_type(kind: &str, texts: Vec<Option<&str>>) -> RecordBatch {
    let field = Field::new("c", DataType::Utf8, true).with_metadata([(TYPE_KEY.to_owned(), kind.to_owned())]);
    let schema = Arc::new(arrow_schema::Schema::new(vec![field]));
    RecordBatch::try_new(schema, vec![Arc::new(StringArray::from(texts))]).unwrap()
}

fn write(batch: &RecordBatch, options: &WriteOptions) -> Result<Vec<u8>> {
    let sink = orcish_io::MemorySink::new();
    let mut writer = FileWriter::new(Box::new(sink.clone()), batch.schema(), options)?;
    writer.write(batch)?;
    writer.finish()?;
    Ok(sink.take().unwrap())
}

#[test]
fn blanks_are_bounded() {
    for kind in ["char(2147483647)", "char(65538)"] {
        let error = write(&of_type(kind, vec![None, Some("a")]), &WriteOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        let text = format!("column c: row 1: text of 1 characters in a column of {kind}: more than 65536 blanks");
        assert!(error.to_string().contains(&text), "{error}");
        // Without values there is nothing to refuse.
        assert_eq!(count(write(&of_type(kind, vec![None; 3]), &WriteOptions::default()).unwrap()), 3);
    }
    for kind in ["char(65537)", "varchar(2147483647)"] {
        let bytes = write(&of_type(kind, vec![Some("a"), Some("b"), None]), &WriteOptions::default()).unwrap();
        assert_eq!(count(bytes), 3);
    }
    let long = "x".repeat(100_000);
    assert_eq!(count(write(&of_type("char(100001)", vec![Some(&long)]), &WriteOptions::default()).unwrap()), 1);
}

/// Values of which each is another one are not kept in the dictionary with all of their blanks.
#[test]
fn blanks_of_many_values_are_bounded() {
    let texts: Vec<String> = (0..3000).map(|number| number.to_string()).collect();
    let batch = of_type("char(40000)", texts.iter().map(|text| Some(text.as_str())).collect());
    let bytes = write(&batch, &WriteOptions::default()).unwrap();
    assert!(bytes.len() < 1 << 20);
    let file = OrcFile::new(Arc::new(MemorySource::new(bytes)), &Limits::default()).unwrap();
    let trimmed = ReadOptions { trim_char: true, ..ReadOptions::default() };
    let read: Vec<_> = file.read(trimmed).unwrap().map(std::result::Result::unwrap).collect();
    let read = read.iter().flat_map(|batch| {
        let column = arrow_array::cast::AsArray::as_string::<i32>(batch.column(0));
        column.iter().map(|text| text.unwrap().to_owned()).collect::<Vec<_>>()
    });
    assert_eq!(read.collect::<Vec<_>>(), texts);
}

/// A check that fails ends a write in the middle of a batch, whichever thread does the work.
#[test]
fn a_batch_can_be_interrupted() {
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
        let all = Arc::new(Mutex::new(Seen::default()));
        let sink = Faulty { fault: Fault::Never, seen: all.clone() };
        let mut writer = FileWriter::new(Box::new(sink), batch.schema(), &options).unwrap();
        let caller = std::thread::current().id();
        writer.set_cancel_check(Arc::new(move || {
            assert_eq!(std::thread::current().id(), caller);
            Err(Error::new(ErrorKind::Interrupted, "enough"))
        }));
        let error = writer.write(&batch).unwrap_err();
        assert_eq!((error.kind(), error.message()), (ErrorKind::Interrupted, "enough"));
        assert!(writer.finish().is_err());
        assert!(seen(&all).appeared.is_none());
    }
}

/// Columns of ten rows, and the same with another value in a row.
fn altered() -> Vec<(Field, ArrayRef, ArrayRef, u64)> {
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
    // Their lists are not empty.
    for row in [1, 5, 8] {
        let field = |array: &ArrayRef| Field::new("c", array.data_type().clone(), true);
        for make in [&integers as &dyn Fn(usize) -> ArrayRef, &texts, &lists, &structs] {
            cases.push((field(&make(ROWS)), make(ROWS), make(row), row as u64));
        }
        cases.push((char.clone(), texts(ROWS), texts(row), row as u64));
    }
    // A value that became a null, and a null that became one.
    let no_nulls: ArrayRef = Arc::new((0..10).map(Some).collect::<Int64Array>());
    let field = Field::new("c", DataType::Int64, true);
    cases.push((field.clone(), integers(ROWS), no_nulls.clone(), 3));
    cases.push((field, no_nulls, integers(ROWS), 3));
    cases
}

/// A second stripe is read, and compared with the rows of `kept` in place of those that it was made of.
fn verify(field: Field, given: &ArrayRef, kept: &[ArrayRef]) -> Result<()> {
    let schema = Arc::new(arrow_schema::Schema::new(vec![field]));
    let options = WriteOptions { verify: true, threads: 1, ..WriteOptions::default() };
    let mut writer = FileWriter::new(Box::new(orcish_io::MemorySink::new()), schema.clone(), &options)?;
    let batch = RecordBatch::try_new(schema.clone(), vec![given.clone()])
        .map_err(|error| Error::invalid("no column of the schema").with_source(error))?;
    writer.write(&batch)?;
    writer.end_stripe()?;
    writer.write(&batch)?;
    writer.encode_queue()?;
    let mut verifier = Verifier::new(schema, writer.tail.footer.types.clone());
    kept.iter().for_each(|rows| verifier.keep(std::slice::from_ref(rows)));
    writer.verifier = Some(verifier);
    writer.flush_stripe()
}

#[test]
fn rows_that_do_not_come_back_are_found() {
    for (field, given, other, row) in altered() {
        let first = given.len() as u64;
        let whole = verify(field.clone(), &given, &[given.slice(0, 4), given.slice(4, 6)]);
        assert!(whole.is_ok(), "{field}: {whole:?}");
        let texts = [
            (vec![other.clone()], format!("row {}: the value that is read is not that", first + row)),
            (vec![other.slice(0, 4), other.slice(4, 6)], format!("row {}: the value that is read", first + row)),
            (vec![given.clone(), given.slice(0, 1)], format!("row {}: there are fewer rows", 2 * first)),
            (vec![given.slice(0, 4), given.slice(4, 5)], format!("row {}: there are more rows", 2 * first - 1)),
        ];
        for (kept, text) in texts {
            let error = verify(field.clone(), &given, &kept).expect_err(&text);
            assert_eq!(error.kind(), ErrorKind::Corrupt);
            assert!(error.to_string().contains(&text), "{error} for {text}");
        }
    }
}

#[test]
fn rows_of_many_batches_are_compared() {
    const ROWS: usize = 3 * crate::options::DEFAULT_BATCH_SIZE - 1000;
    let rows = |changed: usize| -> ArrayRef {
        Arc::new((0..ROWS).map(|row| Some(if row == changed { -1 } else { row as i64 })).collect::<Int64Array>())
    };
    let (field, given) = (Field::new("c", DataType::Int64, true), rows(ROWS));
    for at in [0, 1, 5_000, ROWS / 2, ROWS - 1, ROWS] {
        let parts = |rows: &ArrayRef| [rows.slice(0, at), rows.slice(at, ROWS - at)];
        assert!(verify(field.clone(), &given, &parts(&given)).is_ok());
        let row = at.min(ROWS - 1);
        let error = verify(field.clone(), &given, &parts(&rows(row))).unwrap_err().to_string();
        assert!(error.contains(&format!("row {}: the value", ROWS + row)), "{error}");
    }
}
