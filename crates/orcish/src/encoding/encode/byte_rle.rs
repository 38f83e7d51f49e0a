//! Byte run length encoding (ORCv1, Byte Run Length Encoding).

/// Minimum length of a run.
const MIN_RUN: usize = 3;
const MAX_RUN: usize = 130;
const MAX_LITERALS: usize = 128;

/// Appends the encoded `values`.
pub fn encode(values: &[u8], out: &mut Vec<u8>) {
    encode_runs(values, true, out);
}

/// Appends the complete runs of `values`: the runs that do not depend on the values that follow. Returns the number of
/// values in these runs.
pub fn encode_complete_runs(values: &[u8], out: &mut Vec<u8>) -> usize {
    encode_runs(values, false, out)
}

fn encode_runs(values: &[u8], is_end: bool, out: &mut Vec<u8>) -> usize {
    let mut rest = values;
    while let Some(&first) = rest.first() {
        let equal = rest.iter().take(MAX_RUN).take_while(|&&value| value == first).count();
        let count = if equal >= MIN_RUN {
            if equal == rest.len() && equal < MAX_RUN && !is_end {
                break;
            }
            out.extend([header(equal - MIN_RUN), first]);
            equal
        } else {
            // A literal list ends before the next run. A run that begins behind the maximum length is not searched.
            let near = rest.get(..MAX_LITERALS + MIN_RUN - 1).unwrap_or(rest);
            let run = near.windows(MIN_RUN).position(|three| matches!(three, [a, b, c] if a == b && b == c));
            if run.is_none() && near.len() < MAX_LITERALS + MIN_RUN - 1 && !is_end {
                break;
            }
            let count = run.unwrap_or(near.len()).min(MAX_LITERALS);
            out.push(header(256 - count));
            out.extend_from_slice(rest.split_at(count).0);
            count
        };
        rest = rest.split_at(count).1;
    }
    values.len() - rest.len()
}

/// A header as a byte. `code` is at most 255.
fn header(code: usize) -> u8 {
    code.to_le_bytes()[0]
}
