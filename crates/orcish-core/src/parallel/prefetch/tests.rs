//! Order, ends, cancellation and memory of inputs that are read ahead.

#![allow(clippy::panic_in_result_fn, reason = "a reader of tests asserts")]

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::Duration;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array};

use super::*;
use crate::cancel::CHECK_INTERVAL;

/// Inputs of ten batches of two rows each: the number of the input, and the number of the batch.
#[derive(Default)]
struct Numbers {
    count: usize,
    /// Inputs without rows, an input that fails at its fourth batch, and an input that panics there.
    empty: Vec<usize>,
    fails: Option<usize>,
    panics: Option<usize>,
    opened: AtomicUsize,
    prepared: AtomicUsize,
    /// The calls that have ended: the input, and whether it was closed.
    calls: Mutex<Vec<(usize, bool)>>,
    /// Inputs that are prepared at a time.
    num_prepared: usize,
}

impl Numbers {
    fn record(&self, at: usize, is_closed: bool) {
        self.calls.lock().unwrap().push((at, is_closed));
    }

    /// The number of inputs that were closed after each other call.
    fn num_closed(&self) -> usize {
        let last_calls: HashMap<_, _> = self.calls.lock().unwrap().iter().copied().collect();
        last_calls.values().filter(|is_closed| **is_closed).count()
    }

    /// The number of inputs that were called.
    fn num_used(&self) -> usize {
        self.calls.lock().unwrap().iter().map(|(input, _)| input).collect::<HashSet<_>>().len()
    }
}

type Batches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

impl PrefetchSource for Numbers {
    type Reader = Batches;

    fn num_inputs(&self) -> usize {
        self.count
    }

    fn open(&self, at: usize, threads: usize, open_inputs: usize) -> Result<Option<Batches>> {
        assert!(threads > 0 && open_inputs > 0);
        self.opened.fetch_add(1, Ordering::Relaxed);
        self.record(at, false);
        if self.empty.contains(&at) {
            return Ok(None);
        }
        let (fails, panics) = (self.fails == Some(at), self.panics == Some(at));
        Ok(Some(Box::new((0..10).map(move |batch| {
            assert!(!(panics && batch == 3), "a panic of input {at}");
            if fails && batch == 3 {
                return Err(Error::corrupt(format!("input {at}")));
            }
            let both: ArrayRef = Arc::new(Int64Array::from(vec![i64::try_from(at).unwrap(), batch]));
            Ok(RecordBatch::try_from_iter([("n", both)]).unwrap())
        }))))
    }

    fn close(&self, at: usize) {
        self.record(at, true);
    }

    fn num_prepared(&self) -> usize {
        self.num_prepared
    }

    fn prepare(&self, at: usize) {
        self.prepared.fetch_add(1, Ordering::Relaxed);
        // Some end after the input was closed.
        let is_closed = || self.calls.lock().unwrap().contains(&(at, true));
        (0..if at % 2 == 1 { 20 } else { 0 })
            .take_while(|_| !is_closed())
            .for_each(|_| sleep(Duration::from_millis(1)));
        self.record(at, false);
    }

    fn set_cancel_check(_reader: &mut Batches, check: CancelCheck) {
        let _ = check();
    }
}

fn numbers(batch: &RecordBatch) -> Vec<i64> {
    batch.column(0).as_primitive::<Int64Type>().values().to_vec()
}

fn prefetch(source: Arc<Numbers>, threads: usize, is_sequential: bool, limit: Option<u64>) -> Prefetch<Numbers> {
    Prefetch::new(source, threads, is_sequential, limit, ScanMemory::new(1 << 20))
}

const THREADS: [(usize, bool); 4] = [(1, false), (2, false), (8, false), (8, true)];

#[test]
fn batches_are_in_order_of_the_inputs() {
    for (threads, alone) in THREADS {
        let inputs = Arc::new(Numbers { count: 7, empty: vec![0, 3, 6], ..Numbers::default() });
        let found: Vec<_> =
            prefetch(inputs.clone(), threads, alone, None).map(|batch| numbers(&batch.unwrap())).collect();
        let wanted: Vec<_> =
            [1, 2, 4, 5].into_iter().flat_map(|input| (0..10).map(move |at| vec![input, at])).collect();
        assert_eq!(found, wanted);
        assert_eq!(inputs.opened.load(Ordering::Relaxed), 7);
        assert_eq!(inputs.num_closed(), 7);
    }
    assert!(prefetch(Arc::new(Numbers::default()), 4, false, None).next().is_none());
}

#[test]
fn an_error_replaces_the_batch_and_ends_the_prefetch() {
    for (threads, alone) in THREADS {
        let inputs = Arc::new(Numbers { count: 5, fails: Some(2), ..Numbers::default() });
        let mut reader = prefetch(inputs, threads, alone, None);
        for _ in 0..23 {
            reader.next().unwrap().unwrap();
        }
        assert_eq!(reader.next().unwrap().unwrap_err().message(), "input 2");
        assert!(reader.next().is_none());
    }
}

#[test]
fn a_panic_reaches_the_caller() {
    for (threads, alone) in THREADS {
        let inputs = Arc::new(Numbers { count: 4, panics: Some(1), ..Numbers::default() });
        let mut reader = prefetch(inputs, threads, alone, None);
        assert!(catch_unwind(AssertUnwindSafe(|| reader.by_ref().count())).is_err());
    }
}

#[test]
fn a_limit_cuts_the_last_batch() {
    for (threads, alone) in THREADS {
        let inputs = Arc::new(Numbers { count: 50, ..Numbers::default() });
        let rows = |limit| {
            let batches = prefetch(inputs.clone(), threads, alone, Some(limit));
            batches.map(|batch| batch.unwrap().num_rows()).collect::<Vec<_>>()
        };
        assert_eq!(rows(5), [2, 2, 1]);
        assert_eq!(rows(4), [2, 2]);
        assert!(rows(0).is_empty());
        assert!(inputs.opened.load(Ordering::Relaxed) < 50, "few inputs are opened");
    }
}

#[test]
fn the_caller_can_cancel() {
    for (threads, alone) in THREADS {
        let (calls, enough) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (counted, asked) = (calls.clone(), enough.clone());
        let check: CancelCheck = Arc::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            if asked.load(Ordering::Relaxed) { Err(Error::new(ErrorKind::Interrupted, "enough")) } else { Ok(()) }
        });
        let inputs = Arc::new(Numbers { count: 3, ..Numbers::default() });
        let mut reader = prefetch(inputs, threads, alone, None);
        reader.set_cancel_check(check);
        assert!(reader.next().unwrap().is_ok());
        // The reader that the caller runs has the check too.
        assert!(calls.load(Ordering::Relaxed) >= usize::from(alone || threads == 1));
        enough.store(true, Ordering::Relaxed);
        sleep(CHECK_INTERVAL);
        assert_eq!(reader.next().unwrap().unwrap_err().kind(), ErrorKind::Interrupted);
        assert!(reader.next().is_none());
    }
}

#[test]
fn every_input_is_closed_in_the_end() {
    for (threads, is_sequential) in THREADS {
        for batches in [0, 1, 15, 100] {
            let inputs = Arc::new(Numbers { count: 4, empty: vec![1], num_prepared: 3, ..Numbers::default() });
            let mut reader = prefetch(inputs.clone(), threads, is_sequential, None);
            assert!(reader.by_ref().take(batches).all(|batch| batch.is_ok()));
            drop(reader);
            assert_eq!(inputs.num_closed(), inputs.num_used(), "{batches}");
            let of = |count: &AtomicUsize| count.load(Ordering::Relaxed);
            assert!(of(&inputs.prepared) <= 4 && (batches > 0 || of(&inputs.opened) == 0));
        }
    }
}

/// Readers whose next batch holds 100 bytes until the caller drops it, of inputs with two batches.
struct Large {
    open: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

struct LargeReader {
    left: usize,
    open: Arc<AtomicUsize>,
}

impl Iterator for LargeReader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let values: ArrayRef = Arc::new(Int64Array::from(vec![0; 13]));
        Some(Ok(RecordBatch::try_from_iter([("n", values)]).unwrap()))
    }
}

impl Drop for LargeReader {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::SeqCst);
    }
}

impl PrefetchSource for Large {
    type Reader = LargeReader;

    fn num_inputs(&self) -> usize {
        40
    }

    fn open(&self, _input: usize, _threads: usize, _open_inputs: usize) -> Result<Option<LargeReader>> {
        let open = self.open.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(open, Ordering::SeqCst);
        Ok(Some(LargeReader { left: 2, open: self.open.clone() }))
    }

    fn bytes_of_next(reader: &LargeReader) -> u64 {
        if reader.left > 0 { 104 } else { 0 }
    }
}

#[test]
fn inputs_are_read_ahead_while_there_is_memory() {
    for limit in [0, 104, 250, 1000] {
        let memory = ScanMemory::new(limit);
        let inputs = Arc::new(Large { open: Arc::default(), most: Arc::default() });
        let mut reader = Prefetch::new(inputs.clone(), 8, false, None, memory.clone());
        let mut batches = 0;
        for batch in reader.by_ref() {
            batches += 1;
            drop(batch.unwrap());
            sleep(Duration::from_millis(1));
            // The first input has one batch more than the limit allows.
            assert!(memory.held() <= limit + 104, "{limit}");
        }
        assert_eq!(batches, 80);
        drop(reader);
        assert_eq!((memory.held(), inputs.open.load(Ordering::SeqCst)), (0, 0));
    }
}
