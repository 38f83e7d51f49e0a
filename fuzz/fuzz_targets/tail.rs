//! Tails: of whole files, and serialized tails.

#![no_main]

use std::sync::LazyLock;

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use orcish::tail::{DecodeResult, FileTail, TailDecoder};
use orcish::{Limits, Result};

static LIMITS: LazyLock<Limits> = LazyLock::new(|| {
    Limits::UNLIMITED
        .with_tail(1 << 20)
        .with_chunk(1 << 20)
        .with_depth(32)
        .with_columns(10_000)
        .with_stripes(10_000)
        .with_memory(16 << 20)
});

/// Decodes the tail of `file`. The ranges that the decoder needs must be within the file.
fn decode(file: &Bytes) -> Result<FileTail> {
    let mut decoder = TailDecoder::new(file.len() as u64, &LIMITS);
    let mut step = decoder.start()?;
    for _ in 0..4 {
        match step {
            DecodeResult::Data(tail) => return Ok(*tail),
            DecodeResult::NeedsData(range) => {
                step = decoder.next(file.slice(range.start as usize..range.end as usize))?
            }
        }
    }
    panic!("the decoder does not end");
}

fn use_tail(tail: &FileTail) {
    for (id, orc_type) in (0..).zip(tail.schema.types()) {
        let _ = (tail.schema.path(id), orc_type.decimal(), tail.column_statistics(id));
    }
    let _ = tail.schema.type_string(0);
    for stripe in &tail.stripes {
        // Whether the stripe is within the file is checked when it is read.
        assert!(stripe.footer().start <= stripe.footer().end);
    }
}

fuzz_target!(|data: &[u8]| {
    if let Ok(tail) = decode(&Bytes::copy_from_slice(data)) {
        use_tail(&tail);
        let again = FileTail::from_bytes(&tail.to_bytes(), &LIMITS).expect("a serialized tail is readable");
        assert_eq!(format!("{again:?}"), format!("{tail:?}"));
        let range = tail.stripe_statistics.clone();
        let section = Bytes::copy_from_slice(&data[range.start as usize..range.end as usize]);
        let _ = tail.parse_stripe_statistics(section, &LIMITS);
    }
    if let Ok(tail) = FileTail::from_bytes(data, &LIMITS) {
        use_tail(&tail);
    }
});
