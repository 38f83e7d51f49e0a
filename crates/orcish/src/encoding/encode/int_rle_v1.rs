//! Integer run length encoding, version 1 (ORCv1, Integer Run Length Encoding, version 1).

use super::varint::{write_i64, write_u64};

/// Minimum length of a run.
const MIN_RUN: usize = 3;
const MAX_RUN: usize = 130;
const MAX_LITERALS: usize = 128;

/// Appends the encoded `values`. An unsigned stream has the same 64 bits for a negative value.
pub fn encode(values: &[i64], signed: bool, out: &mut Vec<u8>) {
    encode_runs(values, signed, true, out);
}

/// Appends the complete runs of `values`: the runs that do not depend on the values that follow. Returns the number of
/// values in these runs.
pub fn encode_complete_runs(values: &[i64], signed: bool, out: &mut Vec<u8>) -> usize {
    encode_runs(values, signed, false, out)
}

fn encode_runs(values: &[i64], signed: bool, is_end: bool, out: &mut Vec<u8>) -> usize {
    let write = if signed { write_i64 } else { |value: i64, out: &mut Vec<u8>| write_u64(value.cast_unsigned(), out) };
    let mut rest = values;
    while let Some(&first) = rest.first() {
        let count = if let Some(delta) = run_delta(rest) {
            let next = |value: &i64| value.checked_add(i64::from(delta));
            let pairs = rest.iter().zip(rest.iter().skip(1)).take(MAX_RUN - 1);
            let count = 1 + pairs.take_while(|(a, b)| next(a) == Some(**b)).count();
            if count == rest.len() && count < MAX_RUN && !is_end {
                break;
            }
            out.extend([header(count - MIN_RUN), delta.cast_unsigned()]);
            write(first, out);
            count
        } else {
            // A literal list ends before the next run. A run that begins behind the maximum length is not searched.
            let near = rest.get(..MAX_LITERALS + MIN_RUN - 1).unwrap_or(rest);
            let run = near.windows(MIN_RUN).position(|three| run_delta(three).is_some());
            if run.is_none() && near.len() < MAX_LITERALS + MIN_RUN - 1 && !is_end {
                break;
            }
            let count = run.unwrap_or(near.len()).min(MAX_LITERALS);
            out.push(header(256 - count));
            rest.iter().take(count).for_each(|&value| write(value, out));
            count
        };
        rest = rest.split_at(count).1;
    }
    values.len() - rest.len()
}

/// The delta of the run at the front of `values`; `None` where no run begins. A delta that overflows makes no run, as
/// readers may disagree about the result.
fn run_delta(values: &[i64]) -> Option<i8> {
    let [a, b, c, ..] = values else { return None };
    let delta = b.checked_sub(*a)?;
    if c.checked_sub(*b)? != delta {
        return None;
    }
    i8::try_from(delta).ok()
}

/// A header as a byte. `code` is at most 255.
fn header(code: usize) -> u8 {
    code.to_le_bytes()[0]
}
