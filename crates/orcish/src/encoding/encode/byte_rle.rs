//! Byte run length encoding (ORCv1, Byte Run Length Encoding).

/// Equal bytes that make a run.
const MIN_RUN: usize = 3;
const MAX_RUN: usize = 130;
const MAX_LITERALS: usize = 128;

/// Appends all of `values`.
pub fn encode(values: &[u8], out: &mut Vec<u8>) {
    encode_runs(values, true, out);
}

/// Appends the runs of `values` that more values behind them could not change; returns how many values those hold.
pub fn encode_settled(values: &[u8], out: &mut Vec<u8>) -> usize {
    encode_runs(values, false, out)
}

fn encode_runs(values: &[u8], last: bool, out: &mut Vec<u8>) -> usize {
    let mut rest = values;
    while let Some(&first) = rest.first() {
        let equal = rest.iter().take(MAX_RUN).take_while(|&&value| value == first).count();
        let count = if equal >= MIN_RUN {
            if equal == rest.len() && equal < MAX_RUN && !last {
                break;
            }
            out.extend([header(equal - MIN_RUN), first]);
            equal
        } else {
            // Literals end where a run begins; the run must begin within them to be worth a look.
            let near = rest.get(..MAX_LITERALS + MIN_RUN - 1).unwrap_or(rest);
            let run = near.windows(MIN_RUN).position(|three| matches!(three, [a, b, c] if a == b && b == c));
            if run.is_none() && near.len() < MAX_LITERALS + MIN_RUN - 1 && !last {
                break;
            }
            let count = run.unwrap_or(near.len()).min(MAX_LITERALS);
            out.push(header(256 - count));
            out.extend_from_slice(rest.get(..count).unwrap_or_default());
            count
        };
        rest = rest.get(count..).unwrap_or_default();
    }
    values.len() - rest.len()
}

/// A header byte; all that are computed here lie within 0 to 255.
fn header(code: usize) -> u8 {
    code.to_le_bytes()[0]
}
