//! Order, ends and interruptions of parts that are read ahead.

#![allow(clippy::panic_in_result_fn, reason = "a reader of tests asserts")]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array};

use super::*;
use crate::error::Error;

/// Parts of ten batches of two rows each: the number of the part, and that of the batch.
#[derive(Default)]
struct Numbers {
    count: usize,
    /// Parts without rows, one that fails at its fourth batch, and one that panics there.
    empty: Vec<usize>,
    fails: Option<usize>,
    panics: Option<usize>,
    opened: AtomicUsize,
    closed: AtomicUsize,
    ended: AtomicUsize,
}

type Batches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

impl Parts for Numbers {
    type Reader = Batches;

    fn count(&self) -> usize {
        self.count
    }

    fn open(&self, at: usize, threads: usize, beside: usize) -> Result<Option<Batches>> {
        assert!(threads > 0 && beside > 0);
        self.opened.fetch_add(1, Ordering::Relaxed);
        if self.empty.contains(&at) {
            return Ok(None);
        }
        let (fails, panics) = (self.fails == Some(at), self.panics == Some(at));
        Ok(Some(Box::new((0..10).map(move |batch| {
            assert!(!(panics && batch == 3), "a panic of part {at}");
            if fails && batch == 3 {
                return Err(Error::corrupt(format!("part {at}")));
            }
            let both: ArrayRef = Arc::new(Int64Array::from(vec![i64::try_from(at).unwrap(), batch]));
            Ok(RecordBatch::try_from_iter([("n", both)]).unwrap())
        }))))
    }

    fn close(&self, _at: usize) {
        self.closed.fetch_add(1, Ordering::Relaxed);
    }

    fn ended(&self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }

    fn set_cancel_check(_reader: &mut Batches, check: CancelCheck) {
        // Whoever asks sees that it has come this far.
        let _ = check();
    }
}

fn numbers(batch: &RecordBatch) -> Vec<i64> {
    batch.column(0).as_primitive::<Int64Type>().values().to_vec()
}

const WAYS: [(usize, bool); 4] = [(1, false), (2, false), (8, false), (8, true)];

#[test]
fn batches_are_in_order_of_the_parts() {
    for (threads, alone) in WAYS {
        let parts = Arc::new(Numbers { count: 7, empty: vec![0, 3, 6], ..Numbers::default() });
        let found: Vec<_> =
            Ahead::new(parts.clone(), threads, alone, None).map(|batch| numbers(&batch.unwrap())).collect();
        let wanted: Vec<_> = [1, 2, 4, 5].into_iter().flat_map(|part| (0..10).map(move |at| vec![part, at])).collect();
        assert_eq!(found, wanted);
        assert_eq!(parts.opened.load(Ordering::Relaxed), 7);
        assert!(parts.closed.load(Ordering::Relaxed) >= 6 && parts.ended.load(Ordering::Relaxed) > 0);
    }
    assert!(Ahead::new(Arc::new(Numbers::default()), 4, false, None).next().is_none());
}

#[test]
fn an_error_comes_in_its_place_and_ends_it() {
    for (threads, alone) in WAYS {
        let parts = Arc::new(Numbers { count: 5, fails: Some(2), ..Numbers::default() });
        let mut reader = Ahead::new(parts, threads, alone, None);
        for _ in 0..23 {
            reader.next().unwrap().unwrap();
        }
        assert_eq!(reader.next().unwrap().unwrap_err().message(), "part 2");
        assert!(reader.next().is_none());
    }
}

#[test]
fn a_panic_is_passed_on() {
    for (threads, alone) in WAYS {
        let parts = Arc::new(Numbers { count: 4, panics: Some(1), ..Numbers::default() });
        let mut reader = Ahead::new(parts, threads, alone, None);
        assert!(catch_unwind(AssertUnwindSafe(|| reader.by_ref().count())).is_err());
    }
}

#[test]
fn a_limit_cuts_the_last_batch() {
    for (threads, alone) in WAYS {
        let parts = Arc::new(Numbers { count: 50, ..Numbers::default() });
        let rows = |limit| {
            let batches = Ahead::new(parts.clone(), threads, alone, Some(limit));
            batches.map(|batch| batch.unwrap().num_rows()).collect::<Vec<_>>()
        };
        assert_eq!(rows(5), [2, 2, 1]);
        assert_eq!(rows(4), [2, 2]);
        assert!(rows(0).is_empty());
        assert!(parts.opened.load(Ordering::Relaxed) < 50, "few parts are begun");
    }
}

#[test]
fn the_caller_is_asked_whether_to_go_on() {
    for (threads, alone) in WAYS {
        let (calls, enough) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (counted, asked) = (calls.clone(), enough.clone());
        let check: CancelCheck = Arc::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            match asked.load(Ordering::Relaxed) {
                true => Err(Error::new(ErrorKind::Interrupted, "enough")),
                false => Ok(()),
            }
        });
        let parts = Arc::new(Numbers { count: 3, ..Numbers::default() });
        let mut reader = Ahead::new(parts, threads, alone, None);
        reader.set_cancel_check(check);
        assert!(reader.next().unwrap().is_ok());
        // The reader of the caller has it too.
        assert!(calls.load(Ordering::Relaxed) >= usize::from(alone || threads == 1));
        enough.store(true, Ordering::Relaxed);
        std::thread::sleep(CHECK_INTERVAL);
        assert_eq!(reader.next().unwrap().unwrap_err().kind(), ErrorKind::Interrupted);
        assert!(reader.next().is_none());
    }
}
