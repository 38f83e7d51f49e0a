//! Syntax errors.

use std::fmt;

use crate::error::Error;

/// Maximum number of characters of an excerpt in messages.
const MAX_SHOWN: usize = 60;

/// The error of a text that is not a predicate. Its message is one line, and quotes the wrong piece of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    what: String,
    position: Option<usize>,
}

impl ParseError {
    /// An error about a piece of the text. `what` continues a sentence that begins with the piece.
    pub(super) fn at(text: &str, piece: &str, start: usize, what: &str) -> Self {
        let position = text.split_at(start).0.chars().count();
        ParseError { what: format!("{} {what}", excerpt(piece)), position: Some(position) }
    }

    /// An error about the text as a whole.
    pub(super) fn of_text(text: &str, what: &str) -> Self {
        ParseError { what: format!("{} {what}", excerpt(text)), position: None }
    }

    /// The error of a text that ends where something else is expected.
    pub(super) fn unexpected_end(text: &str, expected: &str) -> Self {
        let text = text.trim_end();
        if text.is_empty() {
            let what = format!("the text is empty, and {expected} should be there");
            return ParseError { what, position: Some(0) };
        }
        let tail = text.char_indices().rev().nth(MAX_SHOWN - 1).map_or(text, |(at, _)| text.split_at(at).1);
        Self::at(text, tail, text.len(), &format!("ends where {expected} should be"))
    }

    /// Position of the error: the number of characters before it. `None` if the error is about the text as a whole.
    pub fn position(&self) -> Option<usize> {
        self.position
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match self.position {
            Some(position) => write!(f, " (character {})", position + 1),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ParseError {}

impl From<ParseError> for Error {
    /// An error of kind `InvalidArgument`, with the message of the syntax error.
    fn from(error: ParseError) -> Self {
        Error::invalid(error.to_string())
    }
}

/// An excerpt on one line: truncated, and quoted unless it begins with a quote.
fn excerpt(piece: &str) -> String {
    let mut shown = String::new();
    for (at, c) in piece.chars().enumerate() {
        if at == MAX_SHOWN {
            shown.push('…');
            break;
        }
        match c {
            '\'' | '"' | '\\' => shown.push(c),
            c => shown.extend(c.escape_debug()),
        }
    }
    if shown.starts_with(['\'', '"', '`']) { shown } else { format!("\"{shown}\"") }
}
