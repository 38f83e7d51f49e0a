//! Values that are read are not always those that are stored, which statistics and bloom filters know.

/// How text is altered as it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Altered {
    /// Bytes that are not UTF-8 become U+FFFD.
    pub replaced: bool,
    /// Characters behind this many are cut off.
    pub most_characters: Option<u32>,
}

/// Least byte that may be put where another was: the first of U+FFFD.
const REPLACEMENT: u8 = 0xef;

impl Altered {
    /// A lower bound of the values that are read, where `bound` is one of the stored values.
    pub fn least(self, bound: &[u8]) -> Vec<u8> {
        let mut end = bound.len();
        if self.replaced {
            // U+FFFD is above each byte of this prefix: a value that gets it stays above the prefix. The bytes behind the
            // prefix may be above U+FFFD.
            end = bound.iter().position(|&byte| byte >= REPLACEMENT).unwrap_or(end);
        }
        if let Some(most) = self.most_characters.and_then(|most| usize::try_from(most).ok()) {
            // So many characters have at least as many bytes, which are not cut off.
            end = end.min(most);
        }
        bound.get(..end).unwrap_or(bound).to_vec()
    }

    /// An upper bound of the values that are read, where `bound` is one of the stored values.
    pub fn greatest(self, bound: &[u8]) -> Vec<u8> {
        // ASCII is not replaced: a value that is below `bound` within its leading ASCII stays below it. All other values
        // are below that prefix with the greatest byte behind it.
        match bound.iter().position(|byte| !byte.is_ascii()) {
            Some(at) if self.replaced => [bound.get(..at).unwrap_or_default(), &[u8::MAX]].concat(),
            _ => bound.to_vec(),
        }
    }

    /// Whether `value` can only be read where it is stored as it is; `trimmed` says that blanks are cut off its end.
    pub fn is_stored(self, value: &[u8], trimmed: bool) -> bool {
        let replacement = "\u{fffd}".as_bytes();
        let may_be_replaced = self.replaced && value.windows(replacement.len()).any(|part| part == replacement);
        let characters = value.iter().filter(|&byte| byte & 0xc0 != 0x80).count();
        let may_be_cut = self.most_characters.is_some_and(|most| trimmed || characters as u64 >= u64::from(most));
        !may_be_replaced && !may_be_cut
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(altered: Altered, value: &[u8]) -> Vec<u8> {
        let text =
            if altered.replaced { String::from_utf8_lossy(value).into_owned().into_bytes() } else { value.to_vec() };
        let starts = text.iter().enumerate().filter(|(_, byte)| *byte & 0xc0 != 0x80);
        let end = altered.most_characters.and_then(|most| starts.map(|(at, _)| at).nth(most as usize));
        text[..end.unwrap_or(text.len())].to_vec()
    }

    fn text() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            3 => Just(b"a".to_vec()),
            2 => Just("ä".as_bytes().to_vec()),
            1 => Just("\u{fffd}".as_bytes().to_vec()),
            1 => Just("😀".as_bytes().to_vec()),
            2 => prop::collection::vec(prop_oneof![Just(0x7f), Just(0x80), Just(0xbf), Just(0xe2), Just(0xee), Just(0xef),
                Just(0xf0), Just(0xff)], 1..3),
        ];
        prop::collection::vec(part, 0..5).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn bounds_hold_for_what_is_read(
            values in prop::collection::vec(text(), 1..6),
            replaced: bool,
            most_characters in prop::option::of(0..4u32),
        ) {
            let altered = Altered { replaced, most_characters };
            let least = altered.least(values.iter().min().unwrap());
            let greatest = altered.greatest(values.iter().max().unwrap());
            for value in &values {
                let read = read(altered, value);
                prop_assert!(least <= read, "{:?} is below {:?}", read, least);
                prop_assert!(read <= greatest, "{:?} is above {:?}", read, greatest);
                prop_assert!(read == *value || !altered.is_stored(&read, false), "{:?} is not stored", read);
                let characters = read.iter().filter(|&byte| byte & 0xc0 != 0x80).count();
                let is_short = most_characters.is_none_or(|most| characters < most as usize);
                if is_short && !replaced {
                    prop_assert!(altered.is_stored(&read, false), "{:?} is stored", read);
                }
            }
        }
    }
}
