//! Spreading of dense values, which have no null slots, over the slots of an array.

use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};

/// Words of the validity bits, the lowest slots first. Bits behind the last slot are zero.
fn words(nulls: &NullBuffer) -> Vec<u64> {
    let chunks = nulls.inner().bit_chunks();
    let last = (chunks.remainder_len() > 0).then(|| chunks.remainder_bits());
    chunks.iter().chain(last).collect()
}

/// Moves dense bits in order to the valid slots. The bits of null slots are zero.
pub fn spread_bits(dense: &BooleanBuffer, nulls: &NullBuffer) -> BooleanBuffer {
    let mut out = Vec::with_capacity(nulls.len().div_ceil(64));
    let mut at = 0;
    for mask in words(nulls) {
        let mut word = 0;
        let mut remaining_bits = mask;
        while remaining_bits != 0 {
            let lowest = remaining_bits & remaining_bits.wrapping_neg();
            if at < dense.len() && dense.value(at) {
                word |= lowest;
            }
            remaining_bits ^= lowest;
            at += 1;
        }
        out.push(word);
    }
    BooleanBuffer::new(Buffer::from_vec(out), 0, nulls.len())
}

/// Moves dense values in order to the valid slots. The number of values is the number of valid slots. Null slots get the
/// default value.
pub fn spread<T: Copy + Default>(values: &mut Vec<T>, nulls: Option<&NullBuffer>) {
    spread_with(values, nulls, T::default());
}

/// [`spread`] with the value of null slots.
#[expect(clippy::indexing_slicing, reason = "there are as many dense values as valid slots")]
pub fn spread_with<T: Copy>(values: &mut Vec<T>, nulls: Option<&NullBuffer>, of_null: T) {
    let Some(nulls) = nulls else { return };
    let mut dense = values.len();
    debug_assert_eq!(dense, nulls.len() - nulls.null_count());
    values.resize(nulls.len(), of_null);
    let mut end = nulls.len();
    let words = words(nulls);
    // The last values are moved first: a move never overwrites a value that has not been moved.
    for (i, &word) in words.iter().enumerate().rev() {
        let start = i * 64;
        match word {
            u64::MAX => {
                dense -= 64;
                values.copy_within(dense..dense + 64, start);
            }
            0 => values[start..end].fill(of_null),
            _ if end - start == 64 => {
                for byte in (0..8).rev() {
                    let valid = (word >> (8 * byte)).to_le_bytes()[0];
                    dense -= valid.count_ones() as usize;
                    spread_8(values, dense, start + 8 * byte, valid, of_null);
                }
            }
            _ => {
                for slot in (start..end).rev() {
                    let valid = word >> (slot - start) & 1;
                    let value = values[dense.saturating_sub(1)];
                    values[slot] = if valid == 1 { value } else { of_null };
                    dense -= usize::from(valid == 1);
                }
            }
        }
        end = start;
    }
}

/// For each mask of valid slots, the index of the dense value of each slot; 8 for null slots.
static INDEXES: [[u8; 8]; 256] = {
    let mut indexes = [[8; 8]; 256];
    let mut mask = 0;
    #[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
    while mask < indexes.len() {
        let (mut slot, mut dense) = (0, 0);
        while slot < 8 {
            if mask >> slot & 1 == 1 {
                indexes[mask][slot] = dense;
                dense += 1;
            }
            slot += 1;
        }
        mask += 1;
    }
    indexes
};

/// Moves the values at index `dense` to the slots of `valid` from index `slot` on. `dense` is not greater than `slot`.
#[inline(always)]
#[expect(
    clippy::indexing_slicing,
    reason = "there are eight slots from `slot` on, and four bits are an index of 16 values"
)]
fn spread_8<T: Copy>(values: &mut [T], dense: usize, slot: usize, valid: u8, of_null: T) {
    // The value of null slots is behind the eight dense values.
    let mut from = [of_null; 16];
    from[..8].copy_from_slice(&values[dense..dense + 8]);
    for (to, index) in values[slot..slot + 8].iter_mut().zip(INDEXES[usize::from(valid)]) {
        *to = from[usize::from(index & 15)];
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn spreads(runs in prop::collection::vec((any::<bool>(), 1..150usize), 0..8)) {
            let valid: Vec<bool> = runs.iter().flat_map(|&(bit, n)| std::iter::repeat_n(bit, n)).collect();
            let nulls = NullBuffer::from(valid.clone());
            let n = valid.iter().filter(|&&valid| valid).count();
            let mut values: Vec<usize> = (1..=n).collect();
            spread(&mut values, Some(&nulls));
            let dense: Vec<bool> = (0..n).map(|i| i % 3 == 0).collect();
            let bits = spread_bits(&BooleanBuffer::from(dense.clone()), &nulls);
            let mut next = 0;
            for (slot, &valid) in valid.iter().enumerate() {
                next += usize::from(valid);
                prop_assert_eq!(values[slot], if valid { next } else { 0 });
                prop_assert_eq!(bits.value(slot), valid && dense[next - 1]);
            }
        }
    }
}
