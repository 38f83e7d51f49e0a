//! Reproducible random numbers.

/// A generator of random numbers (xorshift).
pub struct Random(u64);

impl Random {
    /// The generator with a seed.
    pub fn new(seed: u64) -> Self {
        // A state of zero would stay zero, and similar seeds would have similar first numbers.
        let mut random = Random((seed ^ 0x9e37_79b9_7f4a_7c15) | 1);
        (0..8).for_each(|_| _ = random.number());
        random
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`, which must not be 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.number() % end as u64) as usize
    }

    /// A number that is likely to cause an error as a length, a count or a kind.
    pub fn interesting(&mut self) -> u64 {
        match self.below(4) {
            0 => self.below(24) as u64,
            1 => 1 << self.below(64),
            2 => (1u64 << self.below(64)).wrapping_sub(1),
            _ => [0, 1, u64::MAX, u64::MAX - 1, i64::MAX as u64, i32::MAX as u64, u64::from(u32::MAX), 10_000]
                [self.below(8)],
        }
    }
}
