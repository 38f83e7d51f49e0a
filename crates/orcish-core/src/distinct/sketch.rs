//! The sketch: registers, their bytes, and the estimate.

#[cfg(test)]
mod tests;

use crate::error::{Error, Result};

/// Bits of a hash that choose its register.
const PRECISION: u32 = 14;
const REGISTERS: usize = 1 << PRECISION;
/// Bits of a hash that are left.
const REST: u32 = u64::BITS - PRECISION;
/// What a register may hold: the place of the first bit that is set among the rest, or the one behind them.
const GREATEST: u8 = 51;

/// What the bytes of a sketch begin with, by their form.
const ALL: u8 = 1;
const SOME: u8 = 2;
/// Bytes of a register with its number.
const ENTRY: usize = 3;

/// A sketch of a set of values, from which their number is estimated: with a standard error of 0.81 %.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distinct {
    registers: Vec<u8>,
}

impl Default for Distinct {
    fn default() -> Self {
        Self::new()
    }
}

impl Distinct {
    /// The standard error of [`estimate`](Self::estimate), as a part of the number.
    pub const ERROR: f64 = 1.04 / 128.0;

    /// A sketch of no values.
    pub fn new() -> Self {
        Distinct { registers: vec![0; REGISTERS] }
    }

    /// Adds a value by its hash.
    pub(super) fn insert(&mut self, hash: u64) {
        // A bit behind the rest ends the count.
        let place = (hash << PRECISION | 1 << (PRECISION - 1)).leading_zeros() + 1;
        if let Some(register) = usize::try_from(hash >> REST).ok().and_then(|at| self.registers.get_mut(at)) {
            *register = (*register).max(u8::try_from(place).unwrap_or(GREATEST));
        }
    }

    /// Adds all values of another sketch.
    pub fn merge(&mut self, other: &Self) {
        for (register, other) in self.registers.iter_mut().zip(&other.registers) {
            *register = (*register).max(*other);
        }
    }

    /// The sketch as bytes: at most 16 KiB and one, and few for few values.
    pub fn to_bytes(&self) -> Vec<u8> {
        let count = self.registers.iter().filter(|register| **register > 0).count();
        if count * ENTRY >= REGISTERS {
            let mut bytes = vec![ALL];
            bytes.extend_from_slice(&self.registers);
            return bytes;
        }
        let mut bytes = vec![SOME];
        for (at, &register) in (0u16..).zip(&self.registers).filter(|(_, register)| **register > 0) {
            bytes.extend_from_slice(&at.to_le_bytes());
            bytes.push(register);
        }
        bytes
    }

    /// The sketch that [`to_bytes`](Self::to_bytes) gave.
    ///
    /// # Errors
    /// `InvalidArgument` where the bytes are no sketch.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let fault = || Error::invalid("the bytes are no sketch of distinct values");
        let mut sketch = Self::new();
        match bytes.split_first() {
            Some((&ALL, registers)) if registers.len() == REGISTERS => sketch.registers = registers.to_vec(),
            Some((&SOME, entries)) if entries.len().is_multiple_of(ENTRY) => {
                for &[low, high, value] in entries.as_chunks::<ENTRY>().0 {
                    let register = sketch.registers.get_mut(usize::from(u16::from_le_bytes([low, high])));
                    *register.ok_or_else(fault)? = value;
                }
            }
            _ => return Err(fault()),
        }
        if sketch.registers.iter().any(|register| *register > GREATEST) {
            return Err(fault());
        }
        Ok(sketch)
    }

    /// How many distinct values have been added, about.
    pub fn estimate(&self) -> f64 {
        // How many registers hold each number.
        let mut counts = [0u32; GREATEST as usize + 1];
        for register in &self.registers {
            if let Some(count) = counts.get_mut(usize::from(*register)) {
                *count += 1;
            }
        }
        let [empty, between @ .., full] = counts;
        let all = REGISTERS as f64;
        let mut sum = all * tau(1.0 - f64::from(full) / all);
        for count in between.iter().rev() {
            sum = 0.5 * (sum + f64::from(*count));
        }
        sum += all * sigma(f64::from(empty) / all);
        all * all / (2.0 * std::f64::consts::LN_2 * sum)
    }
}

/// The sum of `x^(2^k) * 2^(k-1)` over k from 1, and `x`.
fn sigma(mut x: f64) -> f64 {
    if x >= 1.0 {
        return f64::INFINITY;
    }
    let (mut factor, mut sum) = (1.0, x);
    loop {
        x *= x;
        let before = sum;
        sum += x * factor;
        factor += factor;
        if sum <= before {
            return sum;
        }
    }
}

/// A third of `1 - x` less the sum of `(1 - x^(2^-k))^2 * 2^-k` over k from 1.
fn tau(mut x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return 0.0;
    }
    let (mut factor, mut sum) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = sum;
        factor *= 0.5;
        sum -= (1.0 - x) * (1.0 - x) * factor;
        if sum >= before {
            return sum / 3.0;
        }
    }
}
