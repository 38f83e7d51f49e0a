//! Sizes of the parts of a multipart upload. Stores limit the number of parts.

/// Minimum size of all parts but the last, in bytes. This is the limit of S3.
const MIN_PART_SIZE: u64 = 5 << 20;
/// Maximum size of a part, in bytes. This is the block limit of Azure; the limit of S3 and Google Cloud Storage is 5
/// GiB.
const MAX_PART_SIZE: u64 = 4000 << 20;
/// Maximum number of parts. This is the limit of S3 and Google Cloud Storage; the limit of Azure is 50,000.
const MAX_PARTS: usize = 10_000;
/// Number of parts of the first size. Cloudflare R2 requires all parts but the last to be equally long, and thus
/// supports no files of more parts.
const EQUAL_PARTS: usize = 5000;
/// Number of parts between two increases of the part size.
const PARTS_PER_SIZE: usize = 500;
/// Minimum number of concurrent uploads of large parts.
const MIN_CONCURRENCY: usize = 2;

/// The sizes of the parts of a file of unknown size: equal at first, then doubled repeatedly. With a first size of 8
/// MiB, ten thousand parts have 5.8 TiB. S3 and Google Cloud Storage support files of 5 TiB.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartSizes {
    /// The size of the first part, in bytes.
    pub(super) first_size: u64,
    /// The number of parts of the first size.
    pub(super) equal_parts: usize,
    /// The number of parts between two increases of the size.
    pub(super) parts_per_size: usize,
    /// The maximum size of a part, in bytes.
    pub(super) max_size: u64,
    /// The maximum number of parts.
    pub(super) max_parts: usize,
}

impl PartSizes {
    /// The sizes for a requested first size in bytes, which is clamped to the limits of stores.
    pub(super) fn new(first_size: u64) -> Self {
        PartSizes {
            first_size: first_size.clamp(MIN_PART_SIZE, MAX_PART_SIZE),
            equal_parts: EQUAL_PARTS,
            parts_per_size: PARTS_PER_SIZE,
            max_size: MAX_PART_SIZE,
            max_parts: MAX_PARTS,
        }
    }

    /// The size in bytes of the part `index`, which begins at 0.
    pub(super) fn size_of(&self, index: usize) -> usize {
        let doublings = match index.checked_sub(self.equal_parts) {
            Some(excess) => excess / self.parts_per_size.max(1) + 1,
            None => 0,
        };
        let factor = u32::try_from(doublings).ok().and_then(|power| 2_u64.checked_pow(power)).unwrap_or(u64::MAX);
        usize::try_from(self.first_size.saturating_mul(factor).min(self.max_size)).unwrap_or(usize::MAX).max(1)
    }

    /// The total size of the full parts that fit into `bytes` bytes, beginning with the part `index`.
    pub(super) fn full_parts(&self, index: usize, bytes: usize) -> usize {
        let mut total: usize = 0;
        for index in index.. {
            match total.checked_add(self.size_of(index)).filter(|total| *total <= bytes) {
                Some(next) => total = next,
                None => break,
            }
        }
        total
    }

    /// The maximum number of concurrent uploads when the part `index` is uploaded. It decreases with the part size to
    /// bound memory.
    pub(super) fn concurrency(&self, index: usize, concurrency: usize) -> usize {
        let memory = self.size_of(0).saturating_mul(concurrency);
        (memory / self.size_of(index)).max(MIN_CONCURRENCY.min(concurrency))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_suffice_for_the_largest_files() {
        const TIB: u64 = 1 << 40;
        for requested in [0, 5 << 20, 8 << 20, 64 << 20, u64::MAX] {
            let sizes = PartSizes::new(requested);
            let all: u64 = (0..MAX_PARTS).map(|number| sizes.size_of(number) as u64).sum();
            assert!(all >= if requested < 8 << 20 { 4 * TIB } else { 5 * TIB }, "{requested}: {all}");
            assert!(
                (0..MAX_PARTS).all(|number| (MIN_PART_SIZE..=MAX_PART_SIZE).contains(&(sizes.size_of(number) as u64)))
            );
            assert!((1..EQUAL_PARTS).all(|number| sizes.size_of(number) == sizes.size_of(0)));
        }
        let sizes = PartSizes::new(8 << 20);
        assert_eq!([4999, 5000, 5499, 5500].map(|number| sizes.size_of(number) >> 20), [8, 16, 16, 32]);
        assert_eq!(sizes.size_of(usize::MAX) as u64, MAX_PART_SIZE);
    }

    #[test]
    fn concurrency_decreases_with_the_part_size() {
        let sizes = PartSizes::new(8 << 20);
        assert_eq!([0, 4999, 5000, 5500, 9999].map(|number| sizes.concurrency(number, 10)), [10, 10, 5, 2, 2]);
        assert_eq!(sizes.concurrency(9999, 1), 1);
    }

    #[test]
    fn full_parts_are_counted() {
        let sizes = PartSizes { first_size: 10, equal_parts: 2, parts_per_size: 1, max_size: 35, max_parts: 9 };
        assert_eq!([0, 1, 2, 3, 4].map(|number| sizes.size_of(number)), [10, 10, 20, 35, 35]);
        assert_eq!(
            [0, 9, 10, 19, 20, 39, 40, 75].map(|bytes| sizes.full_parts(0, bytes)),
            [0, 0, 10, 10, 20, 20, 40, 75]
        );
        assert_eq!([19, 20, 55].map(|bytes| sizes.full_parts(2, bytes)), [0, 20, 55]);
    }
}
