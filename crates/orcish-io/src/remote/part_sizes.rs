//! How long the parts of a file are: stores take no more than ten thousand of them.

/// Least bytes of a part but the last, which S3 asks for.
const LEAST_PART: u64 = 5 << 20;
/// Most bytes of a part: those of a block of Azure; S3 and Google Cloud Storage take 5 GiB.
const MOST_PART: u64 = 4000 << 20;
/// Most parts of a file, of S3 and Google Cloud Storage; Azure takes 50,000.
const MOST_PARTS: usize = 10_000;
/// Parts that are as long as they were asked for. Cloudflare's R2 takes files only of whose parts all but the last are
/// equal.
const EQUAL_PARTS: usize = 5000;
/// Parts after which they are twice as long.
const PARTS_OF_A_SIZE: usize = 500;
/// Parts that are on their way at a time at least, however long they are.
const LEAST_ON_THEIR_WAY: usize = 2;

/// The lengths of the parts of a file, of which it is not known how long it will be: equal at first, then longer and
/// longer. From 8 MiB on, ten thousand parts have 5.8 TiB; S3 and Google Cloud Storage take 5 TiB.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartSizes {
    pub(super) first: u64,
    /// Parts that are as long as the first.
    pub(super) equal: usize,
    /// Parts after which they are twice as long.
    pub(super) step: usize,
    /// Most bytes of a part.
    pub(super) longest: u64,
    /// Most parts.
    pub(super) most: usize,
}

impl PartSizes {
    /// Those of which the first are as long as is asked for.
    pub(super) fn new(asked: u64) -> Self {
        PartSizes {
            first: asked.clamp(LEAST_PART, MOST_PART),
            equal: EQUAL_PARTS,
            step: PARTS_OF_A_SIZE,
            longest: MOST_PART,
            most: MOST_PARTS,
        }
    }

    /// Bytes of the part of a number, from 0.
    pub(super) fn of(&self, number: usize) -> usize {
        let doubled = match number.checked_sub(self.equal) {
            Some(behind) => behind / self.step.max(1) + 1,
            None => 0,
        };
        let factor = u32::try_from(doubled).ok().and_then(|power| 2_u64.checked_pow(power)).unwrap_or(u64::MAX);
        usize::try_from(self.first.saturating_mul(factor).min(self.longest)).unwrap_or(usize::MAX).max(1)
    }

    /// Bytes of the whole parts that so many bytes make behind those that there are.
    pub(super) fn whole(&self, parts: usize, bytes: usize) -> usize {
        let mut whole: usize = 0;
        for number in parts.. {
            match whole.checked_add(self.of(number)).filter(|with| *with <= bytes) {
                Some(with) => whole = with,
                None => break,
            }
        }
        whole
    }

    /// Parts that may be on their way beside that of a number: of the longer ones fewer, as they are in memory.
    pub(super) fn on_their_way(&self, number: usize, concurrency: usize) -> usize {
        let all = self.of(0).saturating_mul(concurrency);
        (all / self.of(number)).max(LEAST_ON_THEIR_WAY.min(concurrency))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parts_make_the_longest_file_that_stores_take() {
        const TIB: u64 = 1 << 40;
        for asked in [0, 5 << 20, 8 << 20, 64 << 20, u64::MAX] {
            let sizes = PartSizes::new(asked);
            let all: u64 = (0..MOST_PARTS).map(|number| sizes.of(number) as u64).sum();
            assert!(all >= if asked < 8 << 20 { 4 * TIB } else { 5 * TIB }, "{asked}: {all}");
            assert!((0..MOST_PARTS).all(|number| (LEAST_PART..=MOST_PART).contains(&(sizes.of(number) as u64))));
            assert!((1..EQUAL_PARTS).all(|number| sizes.of(number) == sizes.of(0)));
        }
        let sizes = PartSizes::new(8 << 20);
        assert_eq!([4999, 5000, 5499, 5500].map(|number| sizes.of(number) >> 20), [8, 16, 16, 32]);
        assert_eq!(sizes.of(usize::MAX) as u64, MOST_PART);
    }

    #[test]
    fn long_parts_are_few_at_a_time() {
        let sizes = PartSizes::new(8 << 20);
        assert_eq!([0, 4999, 5000, 5500, 9999].map(|number| sizes.on_their_way(number, 10)), [10, 10, 5, 2, 2]);
        assert_eq!(sizes.on_their_way(9999, 1), 1);
    }

    #[test]
    fn whole_parts_are_counted() {
        let sizes = PartSizes { first: 10, equal: 2, step: 1, longest: 35, most: 9 };
        assert_eq!([0, 1, 2, 3, 4].map(|number| sizes.of(number)), [10, 10, 20, 35, 35]);
        assert_eq!([0, 9, 10, 19, 20, 39, 40, 75].map(|bytes| sizes.whole(0, bytes)), [0, 0, 10, 10, 20, 20, 40, 75]);
        assert_eq!([19, 20, 55].map(|bytes| sizes.whole(2, bytes)), [0, 20, 55]);
    }
}
