//! Integer run length encoding, version 1 (ORCv1, Integer Run Length Encoding, version 1).

use super::varint::{write_i64, write_u64};

/// Values with one difference between neighbours that make a run.
const MIN_RUN: usize = 3;
const MAX_RUN: usize = 130;
const MAX_LITERALS: usize = 128;

/// Appends all of `values`. Unsigned streams hold values of 0 and above; others come back as the same 64 bits.
pub fn encode(values: &[i64], signed: bool, out: &mut Vec<u8>) {
    encode_runs(values, signed, true, out);
}

/// Appends the runs of `values` that more values behind them could not change; returns how many values those hold.
pub fn encode_settled(values: &[i64], signed: bool, out: &mut Vec<u8>) -> usize {
    encode_runs(values, signed, false, out)
}

fn encode_runs(values: &[i64], signed: bool, last: bool, out: &mut Vec<u8>) -> usize {
    let write = if signed { write_i64 } else { |value: i64, out: &mut Vec<u8>| write_u64(value.cast_unsigned(), out) };
    let mut rest = values;
    while let Some(&first) = rest.first() {
        let count = if let Some(delta) = run_delta(rest) {
            let next = |value: &i64| value.checked_add(i64::from(delta));
            let pairs = rest.iter().zip(rest.iter().skip(1)).take(MAX_RUN - 1);
            let count = 1 + pairs.take_while(|(a, b)| next(a) == Some(**b)).count();
            if count == rest.len() && count < MAX_RUN && !last {
                break;
            }
            out.extend([header(count - MIN_RUN), delta.cast_unsigned()]);
            write(first, out);
            count
        } else {
            // Literals end where a run begins; the run must begin within them to be worth a look.
            let near = rest.get(..MAX_LITERALS + MIN_RUN - 1).unwrap_or(rest);
            let run = near.windows(MIN_RUN).position(|three| run_delta(three).is_some());
            if run.is_none() && near.len() < MAX_LITERALS + MIN_RUN - 1 && !last {
                break;
            }
            let count = run.unwrap_or(near.len()).min(MAX_LITERALS);
            out.push(header(256 - count));
            rest.iter().take(count).for_each(|&value| write(value, out));
            count
        };
        rest = rest.get(count..).unwrap_or_default();
    }
    values.len() - rest.len()
}

/// The difference between neighbours when a run begins here. Differences that overflow make none: readers
/// need not agree about those.
fn run_delta(values: &[i64]) -> Option<i8> {
    let [a, b, c, ..] = values else { return None };
    let delta = b.checked_sub(*a)?;
    if c.checked_sub(*b)? != delta {
        return None;
    }
    i8::try_from(delta).ok()
}

/// A header byte; all that are computed here lie within 0 to 255.
fn header(code: usize) -> u8 {
    code.to_le_bytes()[0]
}
