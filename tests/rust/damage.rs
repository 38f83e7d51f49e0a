//! Damaged files have rows or an error, within bounded memory and time.
//!
//! Each file of `tests/data` is truncated at every length, and damaged in thousands of ways: changed bits and bytes,
//! numbers that are likely to be bad lengths, copied byte ranges. Changes of files without compression reach all
//! numbers of footers and runs.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use bytes::Bytes;
use orcish::io::MemorySource;
use orcish::options::{InvalidUtf8, LongChar, Masked, NullMapKeys, OutOfRange, StringType, TimestampUnit, UnionType};
use orcish::schema::{Kind, Schema};
use orcish::{ColumnName, Columns, Comparison, ErrorKind, Limits, Literal, OrcFile, Predicate, ReadOptions};

use crate::clock::Clock;
use crate::data::{self, cases};

/// Counts the allocated bytes of each thread, so that tests can run in parallel.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

thread_local! {
    static ALLOCATED: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    // Thread-local destructors may allocate after the counters are destroyed.
    let _ = ALLOCATED.try_with(|allocated| {
        allocated.set(allocated.get() + bytes);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(allocated.get())));
    });
}

#[expect(unsafe_code, reason = "the trait of allocators is unsafe")]
// SAFETY: all calls are forwarded unchanged to the allocator of the system.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller guarantees the conditions of the call.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller guarantees the conditions of the call.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        // SAFETY: the caller guarantees the conditions of the call.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size.cast_signed() - layout.size().cast_signed());
        // SAFETY: the caller guarantees the conditions of the call.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// The result of `work`, and the peak of additional bytes that the thread allocated.
pub(crate) fn peak_of<T>(work: impl FnOnce() -> T) -> (T, isize) {
    let before = ALLOCATED.get();
    PEAK.set(before);
    let result = work();
    (result, PEAK.get() - before)
}

const MEMORY: u64 = 64 << 20;
/// Memory that [`Limits::memory`] does not limit: buffers of streams, and arrays.
const UNLIMITED: isize = 64 << 20;
const MAX_TIME: Duration = Duration::from_secs(2);
/// Number of rows after which a read ends: a small file may have any number of equal rows.
const MAX_ROWS: usize = 1 << 20;
const MAX_BATCHES: usize = 2000;

fn limits() -> Limits {
    Limits::default()
        .with_tail(4 << 20)
        .with_chunk(4 << 20)
        .with_depth(128)
        .with_columns(4096)
        .with_stripes(4096)
        .with_memory(MEMORY)
}

fn options(case: usize) -> ReadOptions {
    let base = ReadOptions::default().with_limits(limits()).with_threads(1).with_masked(Masked::Allow);
    match case % 4 {
        0 => base,
        1 => base
            .with_strings(StringType::View)
            .with_timestamp_unit(TimestampUnit::Nanosecond)
            .with_invalid_utf8(InvalidUtf8::Replace)
            .with_batch_size(5),
        2 => base
            .with_strings(StringType::Dictionary)
            .with_unions(UnionType::Sparse)
            .with_null_map_keys(NullMapKeys::Dictionary)
            .with_timestamp_unit(TimestampUnit::Auto)
            .with_timestamp_out_of_range(OutOfRange::Null)
            .with_decimal_out_of_range(OutOfRange::Null)
            .with_invalid_utf8(InvalidUtf8::Null)
            .with_long_char(LongChar::Cut),
        _ => base.with_strings(StringType::Binary).with_unions(UnionType::Struct).with_trim_char(true),
    }
}

/// A condition on a column that selects some rows of undamaged files.
fn leaf(schema: &Schema, id: u32, random: &mut XorShift) -> Option<Predicate> {
    let kind = schema.get(id).ok()?.kind;
    let column = ColumnName::from(schema.path(id));
    let small = [0, 1, 7, -12, 400][random.below(5)];
    let value: Literal = match kind {
        _ if random.below(5) == 0 => return Some(Predicate::IsNull { column }),
        Kind::Boolean => true.into(),
        Kind::Byte | Kind::Short | Kind::Int | Kind::Long => small.into(),
        Kind::Float | Kind::Double => f64::from(small).into(),
        Kind::Decimal => Literal::Decimal { unscaled: i128::from(small) * 1001, scale: 2 },
        Kind::String | Kind::Char | Kind::Varchar => ["green", "a", "00003", ""][random.below(4)].into(),
        Kind::Binary => Literal::Binary(vec![7; random.below(4)]),
        Kind::Date => Literal::Date(i64::from(small) * 30),
        Kind::Timestamp | Kind::TimestampInstant => Literal::Timestamp {
            nanoseconds: i128::from(small) * 10_000_000 * 1_000_000_000,
            is_instant: kind == Kind::TimestampInstant,
        },
        _ => return Some(Predicate::IsNull { column }),
    };
    let op = [Comparison::Equal, Comparison::Equal, Comparison::Less, Comparison::GreaterOrEqual][random.below(4)];
    Some(Predicate::Compare { column, op, value })
}

/// A condition on one to three columns. `None` if no column supports filters.
fn filter(schema: &Schema, case: usize) -> Option<Predicate> {
    let mut random = XorShift(0x9e37_79b9_7f4a_7c15 ^ (case as u64 + 1) << 7);
    let count = schema.types().len();
    let supports_filters = |id: u32| {
        let mut is_supported = schema.get(id).is_ok_and(|orc_type| orc_type.kind != Kind::Union);
        let mut column = id;
        while let Some(parent) = schema.get(column).ok().and_then(|orc_type| orc_type.parent) {
            is_supported &= schema.get(parent).is_ok_and(|orc_type| orc_type.kind == Kind::Struct);
            column = parent;
        }
        is_supported && id > 0
    };
    let mut leaves = Vec::new();
    for _ in 0..10 {
        let id = random.below(count) as u32;
        if leaves.len() < 1 + case % 3 && supports_filters(id) {
            leaves.extend(leaf(schema, id, &mut random));
        }
    }
    let joined = if case.is_multiple_of(2) { Predicate::And(leaves) } else { Predicate::Or(leaves) };
    Some(if case.is_multiple_of(5) { !joined } else { joined }).filter(|filter| !filter.columns().is_empty())
}

/// Reads a file with a filter, payload columns and row numbers.
fn read_filtered(file: &OrcFile, case: usize) -> orcish::Result<()> {
    let Some(filter) = filter(&file.tail().schema, case) else { return Ok(()) };
    let options = options(case / 2);
    let batch_size = if case.is_multiple_of(3) { 64 } else { options.batch_size };
    let columns = if case.is_multiple_of(7) { Columns::Ids(Vec::new()) } else { Columns::All };
    let row_number = "the number of the row";
    let reader = file.read(
        options.with_filter(filter).with_columns(columns).with_batch_size(batch_size).with_row_number(row_number),
    )?;
    read_batches(reader)
}

fn read_batches(reader: orcish::BatchReader) -> orcish::Result<()> {
    let mut rows = 0;
    for batch in reader.take(MAX_BATCHES) {
        rows += batch?.num_rows();
        if rows > MAX_ROWS {
            break;
        }
    }
    Ok(())
}

fn read(bytes: Bytes, case: usize) -> orcish::Result<()> {
    let file = OrcFile::try_new(Arc::new(MemorySource::new(bytes)), &limits())?;
    // Encrypted columns are read with keys and without.
    let file = if case.is_multiple_of(2) { file } else { file.with_keys(&data::keys())? };
    let statistics = file.stripe_statistics(&limits());
    let filtered = read_filtered(&file, case);
    read_batches(file.read(options(case))?)?;
    statistics.and(filtered)
}

/// Results of reading damaged files.
#[derive(Default)]
pub(crate) struct Tally {
    cases: usize,
    /// Files that were read without an error.
    num_read: usize,
    max_peak: isize,
    max_time: Duration,
}

impl Tally {
    pub(crate) fn case(&mut self, bytes: Vec<u8>, what: &dyn Fn() -> String) {
        let bytes = Bytes::from(bytes);
        let clock = Clock::start();
        let (result, peak) = peak_of(|| std::panic::catch_unwind(|| read(bytes.clone(), self.cases)));
        let took = clock.elapsed();
        let keep = || {
            let path = std::env::temp_dir().join("orcish-damage.orc");
            std::fs::write(&path, &bytes).expect("a writable folder");
            format!("{} (case {}; kept as {})", what(), self.cases, path.display())
        };
        let Ok(result) = result else { panic!("panic: {}", keep()) };
        assert!(peak < MEMORY.cast_signed() as isize + UNLIMITED, "{peak} bytes allocated: {}", keep());
        assert!(took < MAX_TIME, "{took:?}: {}", keep());
        self.cases += 1;
        self.num_read += usize::from(result.is_ok());
        self.max_peak = self.max_peak.max(peak);
        self.max_time = self.max_time.max(took);
    }

    pub(crate) fn report(&self, what: &str) {
        let Tally { cases, num_read, max_peak, max_time } = self;
        println!("{what}: {cases} cases, {num_read} read, at most {max_peak} bytes and {max_time:?}");
    }
}

pub(crate) struct XorShift(pub(crate) u64);

impl XorShift {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

/// Varints that are likely to be bad lengths.
const NUMBERS: [&[u8]; 9] = [
    &[0],
    &[0xff],
    &[0x7f],
    &[0x80],
    &[0xff, 0xff, 0x03],
    &[0xff, 0xff, 0xff, 0xff, 0x0f],
    &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
    &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
    &[0x80, 0x80, 0x80, 0x80, 0x10],
];

/// Changes a few bytes. Half of the changes are in the bytes from `tail_start` on.
fn damage(bytes: &[u8], tail_start: usize, random: &mut XorShift) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..[1, 1, 1, 2, 5][random.below(5)] {
        let at = match random.below(2) {
            0 => random.below(bytes.len()),
            _ => tail_start + random.below(bytes.len() - tail_start),
        };
        match random.below(6) {
            0 | 1 => bytes[at] ^= 1 << random.below(8),
            2 => bytes[at] = random.below(256) as u8,
            3 => {
                let number = NUMBERS[random.below(NUMBERS.len())];
                bytes.iter_mut().skip(at).zip(number).for_each(|(to, &from)| *to = from);
            }
            4 => {
                let (n, to) = (random.below(30), random.below(bytes.len()));
                let copy = bytes[at..bytes.len().min(at + n)].to_vec();
                bytes.iter_mut().skip(to).zip(copy).for_each(|(to, from)| *to = from);
            }
            _ => bytes[at] = bytes[at].wrapping_add([1, 255][random.below(2)]),
        }
    }
    bytes
}

#[test]
fn truncated_files() {
    let mut tally = Tally::default();
    for (name, bytes) in data::files("tests/data") {
        for length in 0..bytes.len() {
            tally.case(bytes[..length].to_vec(), &|| format!("{name}, the first {length} bytes"));
        }
        // A file without its first bytes has a valid tail, but stripes are missing.
        for length in (1..bytes.len()).step_by(7) {
            tally.case(bytes[bytes.len() - length..].to_vec(), &|| format!("{name}, the last {length} bytes"));
        }
    }
    tally.report("truncated");
}

#[test]
fn files_with_changed_bytes() {
    let mut random = XorShift(0x0123_4567_89ab_cdef);
    let mut tally = Tally::default();
    for (name, bytes) in data::files("tests/data") {
        let length = orcish::tail::read_tail(&MemorySource::new(bytes.clone()), &Limits::default());
        let tail_start = bytes.len() - length.expect("a good file").tail_length as usize;
        for change in 0..cases(3000) {
            let damaged = damage(&bytes, tail_start, &mut random);
            tally.case(damaged, &|| format!("{name}, change {change}"));
        }
    }
    tally.report("changed");
}

/// Row indexes and bloom filters, which only filters read. Nine of ten cases change nothing else.
#[test]
fn row_indexes_with_changed_bytes() {
    let mut random = XorShift(0x00dd_ba11);
    let mut tally = Tally::default();
    for (name, bytes) in data::files("tests/data/groups") {
        let tail = orcish::tail::read_tail(&MemorySource::new(bytes.clone()), &Limits::default()).expect("a good file");
        let stripe = &tail.stripes[0];
        let index = stripe.index().start as usize..stripe.index().end as usize;
        for change in 0..cases(1500) {
            let mut damaged = bytes.to_vec();
            let changed = damage(&bytes[index.clone()], 0, &mut random);
            damaged[index.clone()].copy_from_slice(&changed);
            if change % 10 == 0 {
                damaged = damage(&damaged, stripe.data().end as usize, &mut random);
            }
            tally.case(damaged, &|| format!("{name}, change {change}"));
        }
    }
    tally.report("indexes");
}

/// Every flipped bit of files without compression, whose tails and stripe footers have all lengths and counts.
#[test]
fn small_files_with_flipped_bits() {
    let mut tally = Tally::default();
    for name in ["pyorc.none.orc", "root.zlib.orc", "empty.zlib.orc"] {
        let bytes = data::file(name);
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut flipped = bytes.to_vec();
                flipped[at] ^= 1 << bit;
                tally.case(flipped, &|| format!("{name}, bit {bit} of byte {at}"));
            }
        }
    }
    tally.report("bits");
}

/// Files that are corrupt on purpose, with further changes.
#[test]
fn corrupt_files() {
    let mut random = XorShift(0xfeed_beef);
    let mut tally = Tally::default();
    for (name, bytes) in data::files("tests/data/corrupt") {
        for case in 0..4 {
            tally.case(bytes.to_vec(), &|| format!("{name}, options {case}"));
        }
        for change in 0..if bytes.is_empty() { 0 } else { 200 } {
            let damaged = damage(&bytes, 0, &mut random);
            tally.case(damaged, &|| format!("{name}, change {change}"));
        }
    }
    tally.report("corrupt");
}

/// Valid files with many rows, columns or elements in few bytes.
#[test]
fn heavy_files() {
    let mut tally = Tally::default();
    for (name, bytes) in data::files("tests/data/heavy") {
        for case in 0..4 {
            tally.case(bytes.to_vec(), &|| format!("{name}, options {case}"));
        }
    }
    tally.report("heavy");
}

/// Rows without columns are one batch, which needs no memory.
#[test]
fn rows_without_columns_are_one_batch() {
    let open = |name| OrcFile::try_new(Arc::new(MemorySource::new(data::file(name))), &limits()).unwrap();
    let no_columns = options(0).with_columns(Columns::Ids(Vec::new()));
    for options in [options(0), no_columns.clone()] {
        let file = open("heavy/rows-without-columns.orc");
        let rows: Vec<_> = file.read(options).unwrap().map(|batch| batch.unwrap().num_rows()).collect();
        assert_eq!(rows, [1 << 62]);
    }
    let rows = open("heavy/rows-of-hollow-structs.orc").read(no_columns).unwrap();
    assert_eq!(rows.map(|batch| batch.unwrap().num_rows()).collect::<Vec<_>>(), [1 << 62]);
}

/// Rows whose columns have no stored bytes are limited: a row counts as at least one byte of memory.
#[test]
fn rows_without_stored_bytes_are_limited() {
    let file = OrcFile::try_new(Arc::new(MemorySource::new(data::file("heavy/rows-of-hollow-structs.orc"))), &limits());
    let file = file.unwrap();
    let read = |options: ReadOptions| {
        let mut rows = 0;
        for batch in file.read(options).unwrap() {
            match batch {
                Ok(batch) => rows += batch.num_rows(),
                Err(error) => return (rows, Some(error.kind())),
            }
        }
        (rows, None)
    };
    assert_eq!(read(options(0)), (MEMORY as usize, Some(ErrorKind::LimitExceeded)));
    assert_eq!(read(options(0).with_limit(100_000)), (100_000, None));
    let filter = !Predicate::is_null(file.tail().schema.path(1));
    assert_eq!(read(options(0).with_filter(filter)), (MEMORY as usize, Some(ErrorKind::LimitExceeded)));
    let numbered = options(0).with_row_number("n").with_columns(Columns::Ids(Vec::new()));
    assert_eq!(read(numbered), (MEMORY as usize, Some(ErrorKind::LimitExceeded)));
}

/// Row numbers decide a filter for rows of any number, which are not gone through one by one.
#[test]
fn filters_on_row_numbers_of_many_rows() {
    let file = OrcFile::try_new(Arc::new(MemorySource::new(data::file("heavy/rows-without-columns.orc"))), &limits());
    let file = file.unwrap();
    let read = |filter: &str, batch_size: usize| {
        let options = options(0)
            .with_row_number("n")
            .with_batch_size(batch_size)
            .with_filter(filter.parse::<Predicate>().unwrap());
        let (mut rows, mut count) = (Vec::new(), 0);
        for batch in file.read(options.clone()).unwrap() {
            rows.extend_from_slice(batch.unwrap().column(0).as_primitive::<Int64Type>().values());
        }
        for batch in file.read(options.with_hide_row_number(true)).unwrap() {
            count += batch.unwrap().num_rows();
        }
        assert_eq!(rows.len(), count, "{filter}");
        rows
    };
    let middle = 1i64 << 61;
    let cases = [
        ("n < 3".to_owned(), vec![0, 1, 2]),
        (format!("n >= {middle} and n < {}", middle + 2), vec![middle, middle + 1]),
        (format!("n in (5, {middle}, {}, {})", middle * 2 - 1, middle * 2), vec![5, middle, middle * 2 - 1]),
        (format!("n > 1 and not (n > 2 and n < {}) ", middle * 2 - 1), vec![2, middle * 2 - 1]),
        ("n < 0 or n is null".to_owned(), vec![]),
    ];
    for (filter, expected) in cases {
        for batch_size in [1, 3, 1024] {
            assert_eq!(read(&filter, batch_size), expected, "{filter}");
        }
    }
}

/// Batches of lists whose elements have no bytes end before their offsets overflow.
#[test]
fn lists_without_stored_bytes_end_at_their_offsets() {
    let file = OrcFile::try_new(Arc::new(MemorySource::new(data::file("heavy/hollow-lists.orc"))), &limits()).unwrap();
    for id in file.tail().schema.get(0).unwrap().children.clone() {
        // Several columns have one name.
        let columns = Columns::Ids(vec![id]);
        for batch_size in [7, 65_536] {
            let reader = file.read(options(0).with_columns(columns.clone()).with_batch_size(batch_size));
            reader.unwrap().take(100).for_each(|batch| drop(batch.map(|batch| batch.num_rows())));
        }
    }
}

/// Elements without stored bytes are limited: an element counts as at least one byte of memory.
#[test]
fn elements_without_stored_bytes_are_limited() {
    let file = OrcFile::try_new(Arc::new(MemorySource::new(data::file("heavy/longest-lists.orc"))), &limits()).unwrap();
    for (limits, batch_size) in [(limits(), 1), (Limits::default(), 65_536)] {
        let options = self::options(0).with_limits(limits).with_batch_size(batch_size).with_limit(1);
        let (error, peak) = peak_of(|| file.read(options).unwrap().next().unwrap().unwrap_err());
        assert_eq!((error.kind(), error.place().column.as_deref()), (ErrorKind::LimitExceeded, Some("c")), "{error}");
        assert!(peak < 1 << 20, "{peak} bytes allocated");
    }
}

/// `IsNull` of rows without stored bytes is decided without reading them.
#[test]
fn is_null_of_rows_without_stored_bytes() {
    let file = OrcFile::try_new(Arc::new(MemorySource::new(data::file("heavy/rows-of-hollow-structs.orc"))), &limits());
    let file = file.unwrap();
    let is_null = Predicate::is_null(file.tail().schema.path(1));
    let read = |filter| file.read(options(0).with_filter(filter)).unwrap();
    assert_eq!(read(is_null.clone()).count(), 0);
    assert_eq!(read(!is_null).take(3).map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 3 * 65_536);
}

/// The memory of column readers counts before they read a value.
#[test]
fn memory_of_column_readers_is_limited() {
    let file = OrcFile::try_new(Arc::new(MemorySource::new(data::file("heavy/wide.orc"))), &limits()).unwrap();
    let options = self::options(0).with_limits(limits().with_memory(1 << 20));
    let error = file.read(options).unwrap_err();
    assert_eq!(error.message(), "301 columns at once need more than the 1048576 bytes allowed (limits: memory)");
}
