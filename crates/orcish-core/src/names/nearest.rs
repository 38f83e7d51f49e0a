//! Names in messages: suggestions for a name that does not exist.

use std::borrow::Cow;

use strsim::levenshtein;

use crate::error::{Error, ErrorKind};

/// Most names that an error suggests.
const MAX_SUGGESTIONS: usize = 3;
/// Most names that are compared with the unknown one.
const MAX_COMPARED: usize = 10_000;

/// Maximum number of characters of a name in a message.
pub const MAX_SHOWN: usize = 500;

/// A name for messages: longer names than [`MAX_SHOWN`] are truncated.
pub fn shortened(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(MAX_SHOWN) {
        None => Cow::Borrowed(name),
        Some((end, _)) => Cow::Owned(format!("{}…", name.split_at(end).0)),
    }
}

/// The error of a column that does not exist, with the nearest of the names that do.
pub fn unknown_column(name: &str, names: impl Iterator<Item = String>) -> Error {
    let text = format!("no column is named {:?}; {}", shortened(name), nearest(name, names));
    Error::new(ErrorKind::UnknownColumn, text)
}

/// The names that are nearest to `name`, as a hint for error messages: `nearest: id, di`.
pub fn nearest(name: &str, names: impl Iterator<Item = String>) -> String {
    let mut near: Vec<(usize, String)> =
        names.take(MAX_COMPARED).map(|other| (distance(name, &other), other)).collect();
    near.sort();
    let names: Vec<_> = near.into_iter().take(MAX_SUGGESTIONS).map(|(_, path)| shortened(&path).into_owned()).collect();
    if names.is_empty() { "there is none".to_owned() } else { format!("nearest: {}", names.join(", ")) }
}

/// Edit distance without regard to case, of at most 100 characters.
fn distance(a: &str, b: &str) -> usize {
    let letters = |text: &str| text.chars().flat_map(char::to_lowercase).take(100).collect::<String>();
    levenshtein(&letters(a), &letters(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_truncated() {
        assert_eq!(shortened(&"é".repeat(MAX_SHOWN)), "é".repeat(MAX_SHOWN));
        assert_eq!(shortened(&"é".repeat(MAX_SHOWN + 1)), "é".repeat(MAX_SHOWN) + "…");
    }

    #[test]
    fn distances() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("ID", "id"), 0);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
    }
}
