//! Tails: serialization, and decoding in as few requests as possible.

use std::sync::Arc;

use bytes::Bytes;
use orcish::io::MemorySource;
use orcish::options::Masked;
use orcish::tail::{DecodeResult, FileTail, TailDecoder, read_tail};
use orcish::{ErrorKind, Limits, OrcFile, ReadOptions};

use crate::{data, golden};

fn tail_of(bytes: &Bytes) -> FileTail {
    read_tail(&MemorySource::new(bytes.clone()), &Limits::default()).unwrap()
}

#[test]
fn serialized_tails_round_trip() {
    for (name, bytes) in data::files("tests/data") {
        let tail = tail_of(&bytes);
        let stored = tail.to_bytes();
        let again = FileTail::from_bytes(&stored, &Limits::default()).unwrap();
        assert_eq!(format!("{again:?}"), format!("{tail:?}"), "{name}");
        assert_eq!(again.to_bytes(), stored, "{name}");

        // The version is that of the file.
        let longer = MemorySource::new([&bytes[..], b"x"].concat());
        let error = OrcFile::try_with_tail(Arc::new(longer), again.clone()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io, "{error}");
        let file = OrcFile::try_with_tail(Arc::new(MemorySource::new(bytes.clone())), again).unwrap();
        let options = ReadOptions::default().with_masked(Masked::Allow);
        let rows: usize = file.read(options).unwrap().map(|batch| batch.unwrap().num_rows()).sum();
        assert_eq!(rows, golden::expected(&name).len(), "{name}");
    }
}

#[test]
fn decoding_starts_with_any_number_of_bytes() {
    let bytes = data::file("pyorc.none.orc");
    let mut tail = tail_of(&bytes);
    // The decoder does not know where the bytes are from.
    tail.file_version = None;
    let want = format!("{tail:?}");
    for given in 1..=bytes.len() {
        let limits = Limits::default();
        let mut decoder = TailDecoder::new(bytes.len() as u64, &limits);
        let mut step = decoder.next(bytes.slice(bytes.len() - given..)).unwrap();
        let mut requests = 0;
        while let DecodeResult::NeedsData(range) = step {
            requests += 1;
            step = decoder.next(bytes.slice(range.start as usize..range.end as usize)).unwrap();
        }
        let DecodeResult::Data(tail) = step else { panic!("{given}") };
        assert!(requests <= 2, "{given}");
        assert_eq!(format!("{tail:?}"), want, "{given}");
    }
}

#[test]
fn invalid_serialized_tails_are_refused() {
    let stored = tail_of(&data::file("pyorc.none.orc")).to_bytes();
    for garbage in [&b""[..], b"ORC", &[0xff; 40], &stored[..stored.len() / 2], &stored[1..]] {
        let error = FileTail::from_bytes(garbage, &Limits::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    }
    for at in 0..stored.len() {
        for bit in 0..8 {
            let mut flipped = stored.clone();
            flipped[at] ^= 1 << bit;
            let _ = FileTail::from_bytes(&flipped, &Limits::default());
        }
    }
}

/// A protobuf varint.
fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value > 127 {
        out.push((value & 127) as u8 | 128);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

/// A file without compression, with `n` more bytes of user metadata in its footer.
fn with_metadata(bytes: &Bytes, n: usize) -> Bytes {
    let at = bytes.len() - 1 - usize::from(*bytes.last().unwrap());
    let postscript = &bytes[at..bytes.len() - 1];
    assert_eq!(postscript[0], 0x08, "a postscript begins with the length of the footer");
    let digits = postscript[1..].iter().position(|&byte| byte < 128).unwrap() + 1;
    let digit = |(i, &byte): (usize, &u8)| u64::from(byte & 127) << (7 * i);
    let footer_length: u64 = postscript[1..=digits].iter().enumerate().map(digit).sum();

    let value = vec![b'm'; n];
    let item = [&b"\x0a\x01k\x12"[..], &varint(n as u64), &value].concat();
    let field = [&b"\x2a"[..], &varint(item.len() as u64), &item].concat();
    let length = varint(footer_length + field.len() as u64);
    let postscript = [&[0x08][..], &length, &postscript[1 + digits..]].concat();
    [&bytes[..at], &field, &postscript, &[postscript.len() as u8]].concat().into()
}

#[test]
fn decoder_needs_few_ranges() {
    let limits = Limits::default();
    let short = data::file("pyorc.none.orc");
    let slice = |bytes: &Bytes, range: std::ops::Range<u64>| bytes.slice(range.start as usize..range.end as usize);

    let mut decoder = TailDecoder::new(short.len() as u64, &limits);
    let DecodeResult::NeedsData(range) = decoder.start().unwrap() else { panic!("the decoder has no bytes yet") };
    assert_eq!(range, 0..short.len() as u64);
    assert!(matches!(decoder.next(slice(&short, range)).unwrap(), DecodeResult::Data(_)));

    let long = with_metadata(&short, 100_000);
    let mut decoder = TailDecoder::new(long.len() as u64, &limits);
    let DecodeResult::NeedsData(range) = decoder.start().unwrap() else { panic!("the decoder has no bytes yet") };
    assert_eq!(range, long.len() as u64 - (16 << 10)..long.len() as u64);
    let DecodeResult::NeedsData(range) = decoder.next(slice(&long, range)).unwrap() else {
        panic!("the footer is longer")
    };
    assert!(range.start < short.len() as u64 && range.end == long.len() as u64);
    let DecodeResult::Data(tail) = decoder.next(slice(&long, range.clone())).unwrap() else {
        panic!("the decoder has all bytes")
    };
    assert_eq!(tail.metadata.last().unwrap().1.len(), 100_000);
    assert_eq!(long.len() as u64 - range.start, tail.tail_length);

    let want = golden::expected("pyorc.none.orc");
    assert_eq!(golden::read(long, ReadOptions::default()).unwrap(), want);
}

#[test]
fn footer_beyond_the_limit_is_not_read() {
    let long = with_metadata(&data::file("pyorc.none.orc"), 100_000);
    let limits = Limits::default().with_tail(50_000);
    let error = read_tail(&MemorySource::new(long), &limits).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
}
