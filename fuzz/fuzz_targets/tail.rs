//! Tails: of whole files, and those that another process is said to have read.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use orcish::tail::{FileTail, Step, TailDecoder};
use orcish::{Limits, Result};

const LIMITS: Limits =
    Limits { tail: 1 << 20, chunk: 1 << 20, depth: 32, columns: 10_000, stripes: 10_000, memory: 16 << 20 };

/// Decodes the tail of `file`; what the decoder asks for must be there.
fn decode(file: &Bytes) -> Result<FileTail> {
    let mut decoder = TailDecoder::new(file.len() as u64, &LIMITS);
    let mut step = decoder.start()?;
    for _ in 0..4 {
        match step {
            Step::Done(tail) => return Ok(*tail),
            Step::Need(range) => step = decoder.next(file.slice(range.start as usize..range.end as usize))?,
        }
    }
    panic!("the decoder asks again and again");
}

fn look_at(tail: &FileTail) {
    for (id, this) in (0..).zip(tail.schema.types()) {
        let _ = (tail.schema.path(id), this.decimal(), tail.column_statistics(id));
    }
    let _ = tail.schema.type_string(0);
    for stripe in &tail.stripes {
        // Whether it is within the file is looked at when it is read.
        assert!(stripe.footer().start <= stripe.footer().end);
    }
}

fuzz_target!(|data: &[u8]| {
    if let Ok(tail) = decode(&Bytes::copy_from_slice(data)) {
        look_at(&tail);
        let again = FileTail::from_bytes(&tail.to_bytes(), &LIMITS).expect("what was written is read");
        assert_eq!(format!("{again:?}"), format!("{tail:?}"));
        let range = tail.stripe_statistics.clone();
        let section = Bytes::copy_from_slice(&data[range.start as usize..range.end as usize]);
        let _ = tail.parse_stripe_statistics(section, &LIMITS);
    }
    if let Ok(tail) = FileTail::from_bytes(data, &LIMITS) {
        look_at(&tail);
    }
});
