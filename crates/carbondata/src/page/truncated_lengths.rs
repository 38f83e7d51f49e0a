//! Length-prefixed values whose lengths overflow two bytes.
//!
//! The local dictionary of a long string column in a complex column has lengths of two bytes, which are truncated for
//! longer values. The values are complete, so that their number and the end of the last one determine the lengths.

use orcish_core::{Error, Result};

/// Number of lengths of two bytes.
pub(super) const NUM_LENGTHS: usize = 1 << 16;
/// Maximum number of candidate lengths.
const MAX_TRIED: usize = 1 << 18;
/// Maximum number of scanned bytes, as a multiple of the dictionary size.
const MAX_READ: usize = 8;

/// Splits `data` into `count` values, each behind the lowest two bytes of its length. Values of strings are valid
/// UTF-8.
///
/// The search is bounded. If the bound is reached, the first solution is returned: it has the right number of values
/// and ends at the last byte, which wrong solutions seldom do.
///
/// # Errors
/// `Corrupt` where no solution is found within [`MAX_TRIED`] candidates and [`MAX_READ`] bytes, or where there are two
/// solutions.
pub(super) fn values(data: &[u8], count: usize, is_string: bool) -> Result<Vec<&[u8]>> {
    let mut search = Search { data, count, is_string, tried: 0, read: 0 };
    let starts = search.run()?;
    let ends = starts.iter().skip(1).copied().chain([data.len()]);
    let value = |(start, end): (&usize, usize)| data.get(start.checked_add(2)?..end);
    let values: Option<Vec<&[u8]>> = starts.iter().zip(ends).map(value).collect();
    values.ok_or_else(|| Error::corrupt("a value outside of its dictionary"))
}

struct Search<'a> {
    data: &'a [u8],
    count: usize,
    is_string: bool,
    tried: usize,
    read: usize,
}

/// A value whose length is searched.
struct Step {
    start: usize,
    /// The next candidate: how often the length overflowed.
    overflows: usize,
    /// Whether candidates are tried that are not followed by a length of usual size. Most wrong lengths end in the
    /// middle of a string, where the next length would be unusual.
    is_unusual: bool,
}

impl Search<'_> {
    /// Finds the starts of the values.
    fn run(&mut self) -> Result<Vec<usize>> {
        let mut solution: Option<Vec<usize>> = None;
        let mut path = vec![Step { start: 0, overflows: 0, is_unusual: false }];
        while let Some(step) = path.last_mut() {
            let (start, is_unusual, overflows) = (step.start, step.is_unusual, step.overflows);
            step.overflows += 1;
            let values_left = self.count.saturating_sub(path.len());
            if self.is_exhausted() {
                break;
            }
            let Some(end) = self.end(start, overflows, values_left) else {
                match path.last_mut().filter(|_| !is_unusual) {
                    Some(step) => *step = Step { start, overflows: 0, is_unusual: true },
                    None => _ = path.pop(),
                }
                continue;
            };
            let is_last = values_left == 0;
            let is_usual =
                if is_last { end == self.data.len() } else { self.data.get(end).is_some_and(|&high| high < b' ') };
            if is_usual == is_unusual || (is_last && !is_usual) || !self.fits(start, end) {
                continue;
            }
            if !is_last {
                path.push(Step { start: end, overflows: 0, is_unusual: false });
            } else if solution.is_some() {
                return Err(Error::corrupt("the lengths of a dictionary's values are not known"));
            } else {
                solution = Some(path.iter().map(|step| step.start).collect());
            }
        }
        solution.ok_or_else(|| Error::corrupt(format!("a dictionary that is not {} values", self.count)))
    }

    /// Whether the bound of the search is reached.
    fn is_exhausted(&mut self) -> bool {
        self.tried += 1;
        self.tried > MAX_TRIED.saturating_add(self.count.saturating_mul(8))
            || self.read > self.data.len().saturating_mul(MAX_READ)
    }

    /// The end of a value with a candidate length, if the data has room for `values_left` more values.
    fn end(&self, start: usize, overflows: usize, values_left: usize) -> Option<usize> {
        let &[high, low] = self.data.get(start..)?.first_chunk()?;
        let length = overflows.checked_mul(NUM_LENGTHS)?.checked_add(u16::from_be_bytes([high, low]).into())?;
        let end = length.checked_add(start)?.checked_add(2)?;
        let room = self.data.len().checked_sub(values_left.saturating_mul(2))?;
        (end <= room).then_some(end)
    }

    /// Whether the bytes are a valid value.
    fn fits(&mut self, start: usize, end: usize) -> bool {
        self.read = self.read.saturating_add(end.saturating_sub(start));
        let value = self.data.get(start.saturating_add(2)..end);
        value.is_some_and(|value| !self.is_string || std::str::from_utf8(value).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::Random;

    fn stored(values: &[Vec<u8>]) -> Vec<u8> {
        let value = |value: &Vec<u8>| [&value.len().to_be_bytes()[6..], value].concat();
        values.iter().flat_map(value).collect()
    }

    #[test]
    fn truncated_lengths_are_recovered() {
        let text =
            |length: usize, salt: usize| (0..length).map(move |at| b'a' + u8::try_from((at * 7 + salt) % 23).unwrap());
        for lengths in
            [vec![70_000], vec![8, 40_000, 3], vec![8, 70_000, 200_000, 5, 65_536, 65_535, 1], vec![65_536; 3]]
        {
            let all: Vec<Vec<u8>> =
                lengths.iter().enumerate().map(|(at, &length)| text(length, at).collect()).collect();
            let data = stored(&all);
            for is_string in [true, false] {
                let solution = values(&data, all.len(), is_string).unwrap();
                assert!(solution == all, "{lengths:?}");
            }
            assert!(values(&data, all.len() + 5, true).is_err());
            assert!(values(data.get(..data.len() - 1).unwrap(), all.len(), true).is_err());
        }
    }

    #[test]
    fn bounded_search_finds_the_stored_values() {
        let mut random = Random(7);
        let (mut tries, mut wholes) = (0, 0);
        for (short, long) in [(0, 1), (3, 1), (100, 1), (10, 2), (1000, 3), (50, 5)] {
            for is_string in [true, false] {
                for _ in 0..crate::fixtures::cases(8) {
                    tries += 1;
                    let mut lengths: Vec<usize> = (0..short).map(|_| random.below(200)).collect();
                    for _ in 0..long {
                        lengths.insert(random.below(lengths.len() + 1), NUM_LENGTHS + random.below(100_000));
                    }
                    let byte = |random: &mut Random| match (is_string, random.below(40)) {
                        (true, 0) => b'\n',
                        (true, _) => b' ' + u8::try_from(random.below(95)).unwrap(),
                        (false, _) => u8::try_from(random.below(256)).unwrap(),
                    };
                    let all: Vec<Vec<u8>> =
                        lengths.iter().map(|&length| (0..length).map(|_| byte(&mut random)).collect()).collect();
                    match values(&stored(&all), all.len(), is_string) {
                        Ok(solution) => assert!(solution == all, "{lengths:?}"),
                        Err(_) => continue,
                    }
                    wholes += 1;
                }
            }
        }
        assert!(wholes * 2 > tries, "{wholes} of {tries}");
    }

    #[test]
    fn search_is_bounded_for_invalid_data() {
        for fill in [0, 1, b'a', 0xff] {
            for count in [1, 2, 100, 100_000] {
                let _ = values(&vec![fill; 3_000_000], count, false);
                let _ = values(&vec![fill; 3_000_001], count, true);
            }
        }
        assert!(values(&[], 1, true).is_err() && values(&[0, 0, 0, 0], 1, true).is_err());
    }
}
