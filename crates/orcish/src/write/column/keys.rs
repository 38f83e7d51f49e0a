//! Dictionary keys of the values of a stripe.

use std::ops::Range;

use orcish_core::error::{OrInternal as _, Result};

/// Keys in the smallest of three widths that has them all: most dictionaries are small, and each value of a stripe has a key.
#[derive(Debug)]
pub(super) enum Keys {
    Of8(Vec<u8>),
    Of16(Vec<u16>),
    Of32(Vec<u32>),
}

impl Default for Keys {
    fn default() -> Self {
        Keys::Of8(Vec::new())
    }
}

/// Calls a function with the keys, whatever their width.
macro_rules! each_width {
    ($keys:expr, $list:ident => $result:expr) => {
        match $keys {
            Keys::Of8($list) => $result,
            Keys::Of16($list) => $result,
            Keys::Of32($list) => $result,
        }
    };
}

impl Keys {
    pub(super) fn len(&self) -> usize {
        each_width!(self, keys => keys.len())
    }

    /// Bytes of the keys.
    pub(super) fn num_bytes(&self) -> usize {
        each_width!(self, keys => size_of_val(keys.as_slice()))
    }

    pub(super) fn reserve(&mut self, additional: usize) {
        each_width!(self, keys => keys.reserve(additional));
    }

    #[inline(always)]
    pub(super) fn push(&mut self, key: u32) {
        let is_pushed = match self {
            Keys::Of8(keys) => u8::try_from(key).map(|key| keys.push(key)).is_ok(),
            Keys::Of16(keys) => u16::try_from(key).map(|key| keys.push(key)).is_ok(),
            Keys::Of32(keys) => {
                keys.push(key);
                true
            }
        };
        if !is_pushed {
            self.widen();
            self.push_wide(key);
        }
    }

    #[inline(never)]
    fn push_wide(&mut self, key: u32) {
        self.push(key);
    }

    /// Makes room for greater keys.
    fn widen(&mut self) {
        *self = match std::mem::take(self) {
            Keys::Of8(keys) => Keys::Of16(widened(&keys)),
            Keys::Of16(keys) => Keys::Of32(widened(&keys)),
            Keys::Of32(keys) => Keys::Of32(keys),
        };
    }

    /// The last key.
    pub(super) fn last(&self) -> Option<u32> {
        each_width!(self, keys => wide(keys.last()))
    }

    /// Appends `map[key]` for each key of a range to `out`.
    ///
    /// # Errors
    /// `Internal` where there is no such range, or a key is beyond `map`.
    pub(super) fn append_mapped(&self, range: Range<usize>, map: &[i64], out: &mut Vec<i64>) -> Result<()> {
        fn append<K: Copy + Into<u32>>(keys: &[K], map: &[i64], out: &mut Vec<i64>) -> Result<()> {
            out.reserve(keys.len());
            for &key in keys {
                let key: u32 = key.into();
                out.push(*map.get(key as usize).or_internal("a value has a key that the dictionary does not have")?);
            }
            Ok(())
        }
        each_width!(self, keys => append(keys.get(range).or_internal("a row group ends behind the keys")?, map, out))
    }

    /// The key at an index.
    pub(super) fn get(&self, index: usize) -> Option<u32> {
        each_width!(self, keys => wide(keys.get(index)))
    }

    /// Removes all keys. The memory is kept.
    pub(super) fn clear(&mut self) {
        each_width!(self, keys => keys.clear());
    }
}

fn wide<K: Copy + Into<u32>>(key: Option<&K>) -> Option<u32> {
    key.map(|&key| key.into())
}

fn widened<K: Copy, W: From<K>>(keys: &[K]) -> Vec<W> {
    let mut wide = Vec::with_capacity(keys.len() + 1);
    wide.extend(keys.iter().map(|&key| W::from(key)));
    wide
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn keys_are_kept_in_any_width(keys in prop::collection::vec(prop_oneof![0..300u32, 65_000..66_000u32, any::<u32>()], 0..50)) {
            let mut stored = Keys::default();
            for &key in &keys {
                stored.push(key);
                prop_assert_eq!(stored.last(), Some(key));
            }
            let got: Vec<u32> = (0..stored.len()).filter_map(|index| stored.get(index)).collect();
            prop_assert_eq!(&got, &keys);
            let width = match keys.iter().max() {
                None | Some(0..=255) => 1,
                Some(256..=65_535) => 2,
                Some(_) => 4,
            };
            prop_assert_eq!(stored.num_bytes(), keys.len() * width);
        }
    }

    #[test]
    fn keys_are_mapped() {
        let mut keys = Keys::default();
        [2, 0, 1].into_iter().for_each(|key| keys.push(key));
        let mut out = vec![7];
        keys.append_mapped(1..3, &[5, 6], &mut out).unwrap();
        assert_eq!(out, [7, 5, 6]);
        assert!(keys.append_mapped(0..1, &[5, 6], &mut out).is_err());
        assert!(keys.append_mapped(0..4, &[5, 6, 7], &mut out).is_err());
        keys.clear();
        assert_eq!((keys.len(), keys.last()), (0, None));
    }
}
