//! Decoders on arbitrary bytes. The first byte of the input selects the decoder, the second the number of values of a
//! call.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use orcish::internals::encoding::bool_rle::BoolRle;
use orcish::internals::encoding::byte_rle::ByteRle;
use orcish::internals::encoding::decimal::{DecimalDecoder, DecimalType};
use orcish::internals::encoding::int_rle::{IntRle, Version};
use orcish::internals::encoding::{bitpack, encode, varint};
use orcish::{Compression, Result, fuzzing};
use orcish::internals::codec::Stream;

/// Maximum number of values of an input.
const MAX_VALUES: usize = 20_000;

fn integers(stream: Stream, version: Version, signed: bool, step: usize) -> Result<Vec<i64>> {
    let mut rle = IntRle::new(stream, version, signed);
    let mut out = Vec::new();
    while out.len() < MAX_VALUES {
        rle.append(step, &mut out)?;
    }
    Ok(out)
}

fn narrow(stream: Stream, version: Version, signed: bool, step: usize) -> Result<()> {
    let mut rle = IntRle::new(stream, version, signed);
    for _ in 0..MAX_VALUES / step {
        rle.append(step, &mut Vec::<i16>::new())?;
        rle.append(step, &mut Vec::<u32>::new())?;
    }
    Ok(())
}

fuzz_target!(|data: &[u8]| {
    let [decoder, step, body @ ..] = data else { return };
    let step = usize::from(*step) * 3 + 1;
    let plain = |bytes: &[u8]| fuzzing::stream(Bytes::copy_from_slice(bytes), Compression::None, 0);
    match decoder % 12 {
        0 => _ = integers(plain(body), Version::V2, true, step),
        1 => _ = integers(plain(body), Version::V2, false, step),
        2 => _ = integers(plain(body), Version::V1, true, step),
        3 => _ = integers(plain(body), Version::V1, false, step),
        4 => _ = narrow(plain(body), Version::V2, step % 2 == 0, step),
        5 => _ = narrow(plain(body), Version::V1, step % 2 == 0, step),
        6 => {
            let mut rle = ByteRle::new(plain(body));
            let mut out = vec![0; step];
            while rle.read(&mut out).is_ok() {}
        }
        7 => {
            let mut rle = BoolRle::new(plain(body));
            while let Ok(bits) = rle.read(step) {
                let padding = bits.len() * 8 - step;
                assert_eq!(u16::from(*bits.last().expect("bits")) >> (8 - padding), 0, "padding bits are zero");
            }
        }
        8 => {
            let [precision, scale, body @ ..] = body else { return };
            let target = DecimalType { precision: precision % 38 + 1, scale: scale % 39 };
            let scales: Vec<i64> = body.iter().take(step).map(|&b| i64::from(b as i8)).collect();
            let (mut source, mut decoder) = (plain(body), DecimalDecoder::new(target));
            let mut out: Vec<i128> = Vec::new();
            for _ in 0..20 {
                if scales.is_empty() || decoder.append(&mut source, &scales, &mut out).is_err() {
                    return;
                }
                assert!(out.iter().all(|v| v.unsigned_abs() < 10u128.pow(target.precision.into())));
            }
            assert_eq!(out.len(), 20 * scales.len());
        }
        9 => {
            let _ = (varint::read_u64(&mut &body[..]), varint::read_u128(&mut &body[..]));
        }
        10 => {
            // Values of any width. The decoder must not read beyond the bytes.
            let width = step % 70;
            let mut out = vec![0; (body.len() * 8).checked_div(width).unwrap_or(10)];
            let _ = (bitpack::unpack::<true>(body, width, &mut out), bitpack::unpack::<false>(body, width, &mut out));
        }
        _ => {
            // Encoded values are decoded again.
            let values: Vec<i64> =
                body.as_chunks::<8>().0.iter().map(|b| i64::from_le_bytes(*b) >> (step % 64)).collect();
            let mut bytes = Vec::new();
            encode::int_rle_v2::encode(&values, true, &mut bytes);
            let mut out: Vec<i64> = Vec::new();
            IntRle::new(plain(&bytes), Version::V2, true).append(values.len(), &mut out).expect("encoded values");
            assert_eq!(out, values);
        }
    }
});
