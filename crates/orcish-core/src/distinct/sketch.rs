//! HyperLogLog sketches: registers, serialization and the estimator.

#[cfg(test)]
mod tests;

use crate::error::{Error, Result};

/// Bits of a hash that select its register.
const PRECISION: u32 = 14;
const REGISTERS: usize = 1 << PRECISION;
/// Bits of a hash that do not select its register.
const RANK_BITS: u32 = u64::BITS - PRECISION;
/// Maximum value of a register: the position of the first set bit, or the position behind the last bit.
const MAX_RANK: u8 = 51;

/// First byte of a serialized sketch with all registers.
const DENSE: u8 = 1;
/// First byte of a serialized sketch with the indexes and values of registers that are not 0.
const SPARSE: u8 = 2;
/// Bytes of the index and the value of a register.
const SPARSE_ENTRY: usize = 3;

/// A HyperLogLog sketch of a set of values. The standard error of the estimated number of distinct values is 0.81 %.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HyperLogLog {
    registers: Vec<u8>,
}

impl Default for HyperLogLog {
    fn default() -> Self {
        Self::new()
    }
}

impl HyperLogLog {
    /// The relative standard error of [`estimate`](Self::estimate).
    pub const ERROR: f64 = 1.04 / 128.0;

    /// A sketch of no values.
    pub fn new() -> Self {
        HyperLogLog { registers: vec![0; REGISTERS] }
    }

    /// Adds a value by its hash.
    pub(super) fn insert(&mut self, hash: u64) {
        // The bit behind the last bit bounds the number of zeros.
        let rank = (hash << PRECISION | 1 << (PRECISION - 1)).leading_zeros() + 1;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::indexing_slicing,
            reason = "there is a register for each value of the upper bits, and a rank is at most the number of bits"
        )]
        let (register, rank) = (&mut self.registers[(hash >> RANK_BITS) as usize], rank as u8);
        *register = (*register).max(rank);
    }

    /// Adds the values of another sketch.
    pub fn merge(&mut self, other: &Self) {
        for (register, other) in self.registers.iter_mut().zip(&other.registers) {
            *register = (*register).max(*other);
        }
    }

    /// Serializes the sketch. The result has at most 16 KiB and one byte, and is small for few values.
    pub fn to_bytes(&self) -> Vec<u8> {
        let count = self.registers.iter().filter(|register| **register > 0).count();
        if count * SPARSE_ENTRY >= REGISTERS {
            let mut bytes = vec![DENSE];
            bytes.extend_from_slice(&self.registers);
            return bytes;
        }
        let mut bytes = vec![SPARSE];
        for (at, &register) in (0u16..).zip(&self.registers).filter(|(_, register)| **register > 0) {
            bytes.extend_from_slice(&at.to_le_bytes());
            bytes.push(register);
        }
        bytes
    }

    /// Deserializes a sketch of [`to_bytes`](Self::to_bytes).
    ///
    /// # Errors
    /// `InvalidArgument` where the bytes are not a sketch.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let fault = || Error::invalid("the bytes are no sketch of distinct values");
        let mut sketch = Self::new();
        match bytes.split_first() {
            Some((&DENSE, registers)) if registers.len() == REGISTERS => sketch.registers = registers.to_vec(),
            Some((&SPARSE, entries)) if entries.len().is_multiple_of(SPARSE_ENTRY) => {
                for &[low, high, value] in entries.as_chunks::<SPARSE_ENTRY>().0 {
                    let register = sketch.registers.get_mut(usize::from(u16::from_le_bytes([low, high])));
                    *register.ok_or_else(fault)? = value;
                }
            }
            _ => return Err(fault()),
        }
        if sketch.registers.iter().any(|register| *register > MAX_RANK) {
            return Err(fault());
        }
        Ok(sketch)
    }

    /// An estimate of the number of distinct values.
    pub fn estimate(&self) -> f64 {
        // Number of registers by value.
        let mut counts = [0u32; MAX_RANK as usize + 1];
        for register in &self.registers {
            if let Some(count) = counts.get_mut(usize::from(*register)) {
                *count += 1;
            }
        }
        let [empty, between @ .., full] = counts;
        let registers = REGISTERS as f64;
        let mut sum = registers * tau(1.0 - f64::from(full) / registers);
        for count in between.iter().rev() {
            sum = 0.5 * (sum + f64::from(*count));
        }
        sum += registers * sigma(f64::from(empty) / registers);
        registers * registers / (2.0 * std::f64::consts::LN_2 * sum)
    }
}

/// `x` plus the sum of `x^(2^k) * 2^(k-1)` over k from 1.
fn sigma(mut x: f64) -> f64 {
    if x >= 1.0 {
        return f64::INFINITY;
    }
    let (mut factor, mut sum) = (1.0, x);
    loop {
        x *= x;
        let previous = sum;
        sum += x * factor;
        factor += factor;
        if sum <= previous {
            return sum;
        }
    }
}

/// A third of: `1 - x` minus the sum of `(1 - x^(2^-k))^2 * 2^-k` over k from 1.
fn tau(mut x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return 0.0;
    }
    let (mut factor, mut sum) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let previous = sum;
        factor *= 0.5;
        sum -= (1.0 - x) * (1.0 - x) * factor;
        if sum >= previous {
            return sum / 3.0;
        }
    }
}
