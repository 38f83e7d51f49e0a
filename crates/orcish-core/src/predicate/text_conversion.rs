//! Conversions of text during reading. Statistics and bloom filters describe the stored values.

/// How text is converted when it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextConversion {
    /// Whether invalid UTF-8 is replaced by U+FFFD.
    pub replaces_invalid_utf8: bool,
    /// Maximum number of characters, to which longer values are truncated.
    pub max_characters: Option<u32>,
}

/// The first byte of U+FFFD.
const REPLACEMENT: u8 = 0xef;

impl TextConversion {
    /// A lower bound of the read values, given a lower bound of the stored values.
    pub fn lower_bound(self, bound: &[u8]) -> Vec<u8> {
        let mut end = bound.len();
        if self.replaces_invalid_utf8 {
            // U+FFFD is above each byte of this prefix: a replacement keeps a value above the prefix. Bytes behind the prefix
            // may be above U+FFFD.
            end = bound.iter().position(|&byte| byte >= REPLACEMENT).unwrap_or(end);
        }
        if let Some(max) = self.max_characters {
            // `max` characters have at least `max` bytes, which are not truncated.
            end = end.min(max as usize);
        }
        bound.iter().take(end).copied().collect()
    }

    /// An upper bound of the read values, given an upper bound of the stored values.
    pub fn upper_bound(self, bound: &[u8]) -> Vec<u8> {
        // ASCII is not replaced: a value that is below `bound` within its ASCII prefix stays below it. Other values are below
        // the prefix followed by the greatest byte.
        match bound.iter().position(|byte| !byte.is_ascii()) {
            Some(at) if self.replaces_invalid_utf8 => [bound.split_at(at).0, &[u8::MAX]].concat(),
            _ => bound.to_vec(),
        }
    }

    /// Whether a value that is read as `value` is stored as the same bytes. `trimmed` states that trailing blanks are trimmed
    /// after the conversion.
    pub fn is_stored(self, value: &[u8], trimmed: bool) -> bool {
        let replacement = "\u{fffd}".as_bytes();
        let may_be_replaced =
            self.replaces_invalid_utf8 && value.windows(replacement.len()).any(|window| window == replacement);
        let characters = value.iter().filter(|&byte| byte & 0xc0 != 0x80).count();
        let may_be_truncated = self.max_characters.is_some_and(|max| trimmed || characters as u64 >= u64::from(max));
        !may_be_replaced && !may_be_truncated
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(conversion: TextConversion, value: &[u8]) -> Vec<u8> {
        let text = if conversion.replaces_invalid_utf8 {
            String::from_utf8_lossy(value).into_owned().into_bytes()
        } else {
            value.to_vec()
        };
        let starts = text.iter().enumerate().filter(|(_, byte)| *byte & 0xc0 != 0x80);
        let end = conversion.max_characters.and_then(|max| starts.map(|(at, _)| at).nth(max as usize));
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
        fn bounds_include_read_values(
            values in prop::collection::vec(text(), 1..6),
            replaces_invalid_utf8: bool,
            max_characters in prop::option::of(0..4u32),
        ) {
            let conversion = TextConversion { replaces_invalid_utf8, max_characters };
            let least = conversion.lower_bound(values.iter().min().unwrap());
            let greatest = conversion.upper_bound(values.iter().max().unwrap());
            for value in &values {
                let read = read(conversion, value);
                prop_assert!(least <= read, "{:?} is below {:?}", read, least);
                prop_assert!(read <= greatest, "{:?} is above {:?}", read, greatest);
                prop_assert!(read == *value || !conversion.is_stored(&read, false), "{:?} is not stored", read);
                let characters = read.iter().filter(|&byte| byte & 0xc0 != 0x80).count();
                let is_short = max_characters.is_none_or(|max| characters < max as usize);
                if is_short && !replaces_invalid_utf8 {
                    prop_assert!(conversion.is_stored(&read, false), "{:?} is stored", read);
                }
            }
        }
    }
}
