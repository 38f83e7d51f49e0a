//! Values whose lengths need more than the two bytes that they were given.
//!
//! The dictionary of a column of long texts within another column has lengths of two bytes, which is all that is left of
//! longer ones. The values themselves are whole, so their number and where the last one ends tell the lengths.

use orcish_core::{Error, Result};

/// Lengths that two bytes have.
pub(super) const LENGTHS: usize = 1 << 16;
/// Most lengths that are tried.
const MAX_TRIED: usize = 1 << 18;
/// Most bytes that are looked at, as a multiple of those that are there.
const MAX_READ: usize = 8;

/// The `count` values of `data`, the lowest two bytes of whose lengths stand before each. Texts are UTF-8.
///
/// Of many values or long ones, not all lengths can be tried: the first values that are found count then. They fill
/// `data` to its last byte and are as many as they should be, which others seldom do.
///
/// # Errors
/// `Corrupt` where no such values are found by [`MAX_TRIED`] lengths and [`MAX_READ`] bytes, or they are found in
/// more than one way.
pub(super) fn values(data: &[u8], count: usize, is_text: bool) -> Result<Vec<&[u8]>> {
    let mut search = Search { data, count, is_text, tried: 0, read: 0 };
    let starts = search.run()?;
    let ends = starts.iter().skip(1).copied().chain([data.len()]);
    let value = |(start, end): (&usize, usize)| data.get(start.checked_add(2)?..end);
    let values: Option<Vec<&[u8]>> = starts.iter().zip(ends).map(value).collect();
    values.ok_or_else(|| Error::corrupt("a value outside of its dictionary"))
}

struct Search<'a> {
    data: &'a [u8],
    count: usize,
    is_text: bool,
    tried: usize,
    read: usize,
}

/// A value whose length is looked for.
struct Step {
    start: usize,
    /// The next length that is tried, in units of what is lost.
    lost: usize,
    /// Whether those are tried that have no length of usual size behind them: that is what most lengths in the middle
    /// of a text are like.
    is_odd: bool,
}

impl Search<'_> {
    /// Where the values start.
    fn run(&mut self) -> Result<Vec<usize>> {
        let mut found: Option<Vec<usize>> = None;
        let mut path = vec![Step { start: 0, lost: 0, is_odd: false }];
        while let Some(step) = path.last_mut() {
            let (start, is_odd, lost) = (step.start, step.is_odd, step.lost);
            step.lost += 1;
            let left = self.count.saturating_sub(path.len());
            if self.is_over() {
                break;
            }
            let Some(end) = self.end(start, lost, left) else {
                match path.last_mut().filter(|_| !is_odd) {
                    Some(step) => *step = Step { start, lost: 0, is_odd: true },
                    None => _ = path.pop(),
                }
                continue;
            };
            let is_last = left == 0;
            let is_usual =
                if is_last { end == self.data.len() } else { self.data.get(end).is_some_and(|&high| high < b' ') };
            if is_usual == is_odd || (is_last && !is_usual) || !self.fits(start, end) {
                continue;
            }
            if !is_last {
                path.push(Step { start: end, lost: 0, is_odd: false });
            } else if found.is_some() {
                return Err(Error::corrupt("the lengths of a dictionary's values are not known"));
            } else {
                found = Some(path.iter().map(|step| step.start).collect());
            }
        }
        found.ok_or_else(|| Error::corrupt(format!("a dictionary that is not {} values", self.count)))
    }

    /// Whether so much was tried that the search ends.
    fn is_over(&mut self) -> bool {
        self.tried += 1;
        self.tried > MAX_TRIED.saturating_add(self.count.saturating_mul(8))
            || self.read > self.data.len().saturating_mul(MAX_READ)
    }

    /// Where a value of such a length ends, if there is room for those `left` behind it.
    fn end(&self, start: usize, lost: usize, left: usize) -> Option<usize> {
        let &[high, low] = self.data.get(start..)?.first_chunk()?;
        let length = lost.checked_mul(LENGTHS)?.checked_add(u16::from_be_bytes([high, low]).into())?;
        let end = length.checked_add(start)?.checked_add(2)?;
        let room = self.data.len().checked_sub(left.saturating_mul(2))?;
        (end <= room).then_some(end)
    }

    /// Whether the bytes may be a value.
    fn fits(&mut self, start: usize, end: usize) -> bool {
        self.read = self.read.saturating_add(end.saturating_sub(start));
        let value = self.data.get(start.saturating_add(2)..end).unwrap_or_default();
        !self.is_text || std::str::from_utf8(value).is_ok()
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
    fn long_values_are_whole() {
        let text =
            |length: usize, salt: usize| (0..length).map(move |at| b'a' + u8::try_from((at * 7 + salt) % 23).unwrap());
        for lengths in
            [vec![70_000], vec![8, 40_000, 3], vec![8, 70_000, 200_000, 5, 65_536, 65_535, 1], vec![65_536; 3]]
        {
            let all: Vec<Vec<u8>> =
                lengths.iter().enumerate().map(|(at, &length)| text(length, at).collect()).collect();
            let data = stored(&all);
            for is_text in [true, false] {
                let found = values(&data, all.len(), is_text).unwrap();
                assert!(found == all, "{lengths:?}");
            }
            assert!(values(&data, all.len() + 5, true).is_err());
            assert!(values(data.get(..data.len() - 1).unwrap(), all.len(), true).is_err());
        }
    }

    #[test]
    fn values_that_are_found_before_the_search_ends_are_those_that_were_stored() {
        let mut random = Random(7);
        let mut wholes = 0;
        for (short, long) in [(0, 1), (3, 1), (100, 1), (10, 2), (1000, 3), (50, 5)] {
            for is_text in [true, false] {
                for _ in 0..crate::fixtures::cases(8) {
                    let mut lengths: Vec<usize> = (0..short).map(|_| random.below(200)).collect();
                    for _ in 0..long {
                        lengths.insert(random.below(lengths.len() + 1), LENGTHS + random.below(100_000));
                    }
                    let byte = |random: &mut Random| match (is_text, random.below(40)) {
                        (true, 0) => b'\n',
                        (true, _) => b' ' + u8::try_from(random.below(95)).unwrap(),
                        (false, _) => u8::try_from(random.below(256)).unwrap(),
                    };
                    let all: Vec<Vec<u8>> =
                        lengths.iter().map(|&length| (0..length).map(|_| byte(&mut random)).collect()).collect();
                    match values(&stored(&all), all.len(), is_text) {
                        Ok(found) => assert!(found == all, "{lengths:?}"),
                        Err(_) => continue,
                    }
                    wholes += 1;
                }
            }
        }
        assert!(wholes > 60, "{wholes}");
    }

    #[test]
    fn what_is_no_values_ends_soon() {
        for fill in [0, 1, b'a', 0xff] {
            for count in [1, 2, 100, 100_000] {
                let _ = values(&vec![fill; 3_000_000], count, false);
                let _ = values(&vec![fill; 3_000_001], count, true);
            }
        }
        assert!(values(&[], 1, true).is_err() && values(&[0, 0, 0, 0], 1, true).is_err());
    }
}
