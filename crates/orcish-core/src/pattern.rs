//! Patterns of `like`.

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use memchr::memmem::Finder;

use crate::error::{Error, Result};

/// A pattern of `like`, as in SQL: `%` stands for any text, also none, `_` for one character, and a backslash before `%`, `_`
/// or another backslash makes it stand for itself. A pattern matches whole values.
///
/// ```
/// use orcish_core::Pattern;
///
/// let pattern: Pattern = "a%z_".parse()?;
/// assert!(pattern.is_match(b"abczy") && !pattern.is_match(b"abcz"));
/// assert_eq!(Pattern::containing("5%").to_string(), r"%5\%%");
/// # Ok::<(), orcish_core::Error>(())
/// ```
#[derive(Clone)]
pub struct Pattern {
    text: Arc<str>,
    segments: Arc<Segments>,
}

/// The parts of a pattern between its `%`.
enum Segments {
    /// A pattern without `%`.
    Whole(Segment),
    Parts {
        first: Segment,
        middle: Vec<Segment>,
        last: Segment,
    },
}

/// A part of a pattern without `%`.
#[derive(Debug, Default)]
struct Segment {
    pieces: Vec<Piece>,
    /// Finds the text with which the segment begins; `None` if it begins with none.
    finder: Option<Box<Finder<'static>>>,
}

#[derive(Debug)]
enum Piece {
    Text(String),
    AnyCharacter,
}

impl Pattern {
    /// The pattern of the values that contain a text.
    pub fn containing(text: &str) -> Self {
        let parts = Segments::Parts {
            first: Segment::default(),
            middle: vec![Segment::of_text(text)],
            last: Segment::default(),
        };
        Pattern { text: format!("%{}%", escaped(text)).into(), segments: Arc::new(parts) }
    }

    /// The pattern of the values that end with a text.
    pub fn ending_with(text: &str) -> Self {
        let parts = Segments::Parts { first: Segment::default(), middle: Vec::new(), last: Segment::of_text(text) };
        Pattern { text: format!("%{}", escaped(text)).into(), segments: Arc::new(parts) }
    }

    /// Parses a pattern.
    ///
    /// # Errors
    /// The description continues a sentence that begins with the pattern.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let (mut segments, mut segment) = (Vec::new(), Segment::default());
        let mut plain = String::new();
        let mut chars = text.chars();
        let end_text = |segment: &mut Segment, plain: &mut String| {
            if !plain.is_empty() {
                segment.pieces.push(Piece::Text(std::mem::take(plain)));
            }
        };
        while let Some(c) = chars.next() {
            match c {
                '%' => {
                    end_text(&mut segment, &mut plain);
                    segments.push(std::mem::take(&mut segment));
                }
                '_' => {
                    end_text(&mut segment, &mut plain);
                    segment.pieces.push(Piece::AnyCharacter);
                }
                '\\' => match chars.next() {
                    Some(escaped @ ('%' | '_' | '\\')) => plain.push(escaped),
                    _ => return Err("is a pattern with a backslash that is before none of %, _ and another"),
                },
                c => plain.push(c),
            }
        }
        end_text(&mut segment, &mut plain);
        let mut segments = segments.into_iter();
        let segments = match segments.next() {
            None => Segments::Whole(segment),
            Some(first) => {
                let middle = segments.filter(|segment| !segment.pieces.is_empty());
                Segments::Parts { first, middle: middle.map(Segment::with_finder).collect(), last: segment }
            }
        };
        Ok(Pattern { text: text.into(), segments: Arc::new(segments) })
    }

    /// The text with which all matching values begin.
    pub fn prefix(&self) -> &str {
        let (Segments::Whole(first) | Segments::Parts { first, .. }) = &*self.segments;
        match first.pieces.first() {
            Some(Piece::Text(text)) => text,
            _ => "",
        }
    }

    /// The only text that the pattern matches; `None` if the pattern has `%` or `_`.
    pub fn as_text(&self) -> Option<&str> {
        match &*self.segments {
            Segments::Whole(segment) => segment.as_text(),
            Segments::Parts { .. } => None,
        }
    }

    /// The prefix of the values, if the pattern matches all values that begin with it.
    pub fn as_prefix(&self) -> Option<&str> {
        match &*self.segments {
            Segments::Parts { first, middle, last } if middle.is_empty() && last.pieces.is_empty() => first.as_text(),
            _ => None,
        }
    }

    /// Whether the pattern matches a value. A character of bytes that are not UTF-8 is a byte and the bytes from `0x80` to
    /// `0xbf` that follow.
    pub fn is_match(&self, value: &[u8]) -> bool {
        match &*self.segments {
            Segments::Whole(segment) => segment.strip_from_start(value).is_some_and(<[u8]>::is_empty),
            Segments::Parts { first, middle, last } => {
                let rest = first.strip_from_start(value).and_then(|rest| last.strip_from_end(rest));
                rest.is_some_and(|rest| middle.iter().try_fold(rest, |rest, segment| segment.find(rest)).is_some())
            }
        }
    }
}

impl Segment {
    fn of_text(text: &str) -> Self {
        let pieces = if text.is_empty() { Vec::new() } else { vec![Piece::Text(text.to_owned())] };
        Segment { pieces, finder: None }.with_finder()
    }

    fn with_finder(mut self) -> Self {
        if let Some(Piece::Text(text)) = self.pieces.first() {
            self.finder = Some(Box::new(Finder::new(text).into_owned()));
        }
        self
    }

    fn as_text(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The bytes after the segment at the beginning of `value`; `None` if the value does not begin with it.
    fn strip_from_start<'a>(&self, value: &'a [u8]) -> Option<&'a [u8]> {
        self.pieces.iter().try_fold(value, |rest, piece| match piece {
            Piece::Text(text) => rest.strip_prefix(text.as_bytes()),
            Piece::AnyCharacter => rest.get(first_character(rest)?..),
        })
    }

    /// The bytes before the segment at the end of `value`; `None` if the value does not end with it.
    fn strip_from_end<'a>(&self, value: &'a [u8]) -> Option<&'a [u8]> {
        self.pieces.iter().rev().try_fold(value, |rest, piece| match piece {
            Piece::Text(text) => rest.strip_suffix(text.as_bytes()),
            Piece::AnyCharacter => {
                let last = rest.iter().rposition(|byte| !is_continuation(*byte));
                rest.get(..last.or_else(|| rest.len().checked_sub(1))?)
            }
        })
    }

    /// The bytes after the first place of the segment in `value`; `None` if it is not there.
    fn find<'a>(&self, value: &'a [u8]) -> Option<&'a [u8]> {
        let mut rest = value;
        loop {
            if let Some(finder) = &self.finder {
                rest = rest.get(finder.find(rest)?..)?;
            }
            if let Some(after) = self.strip_from_start(rest) {
                return Some(after);
            }
            rest = rest.get(first_character(rest)?..)?;
        }
    }
}

/// Length of the first character in bytes; `None` for no bytes.
fn first_character(bytes: &[u8]) -> Option<usize> {
    let (_, others) = bytes.split_first()?;
    Some(1 + others.iter().take_while(|byte| is_continuation(**byte)).count())
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

fn escaped(text: &str) -> String {
    text.replace('\\', r"\\").replace('%', r"\%").replace('_', r"\_")
}

impl FromStr for Pattern {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Pattern::parse(text).map_err(|what| Error::invalid(format!("{text:?} {what}")))
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({:?})", self.text)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}
