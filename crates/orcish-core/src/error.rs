//! Errors: what the caller can do about them, and where in the file they arose.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

/// What went wrong, by what the caller can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The source could not be read; trying again may help.
    Io,
    /// The bytes are not a valid file; another copy of the file may help.
    Corrupt,
    /// The file is valid but needs something that orcish does not do, or does only when asked to.
    Unsupported,
    /// The file asks for more than [`Limits`](crate::Limits) or the chosen Arrow type allows.
    LimitExceeded,
    /// A map has a null key, which Arrow cannot hold.
    NullMapKey,
    /// An argument of the call is wrong.
    InvalidArgument,
    /// A column was asked for that the file does not have.
    UnknownColumn,
    /// The caller wanted it to end, such as by Ctrl-C.
    Interrupted,
}

/// Where in the file an error arose; each part is filled in on the way up by the layer that knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// Name of the source, usually a path.
    pub file: Option<String>,
    /// The part of the file that holds a range of rows.
    pub section: Option<Section>,
    /// Dotted name of the column.
    pub column: Option<String>,
    /// Index of the page of the column within its section, from 0.
    pub page: Option<usize>,
    /// Kind of the stream, as the specification spells it (`DATA`, `PRESENT`, …).
    pub stream: Option<&'static str>,
    /// Row within the page, or else the section, from 0, where a single value is at fault.
    pub row: Option<u64>,
}

/// A part of a file that holds a range of rows: a stripe of ORC, a blocklet of CarbonData.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section {
    /// The term of the format for the part, such as `stripe`.
    pub kind: &'static str,
    /// Index of the part in the file, from 0.
    pub index: usize,
}

/// The error of every fallible call of this crate.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    message: String,
    place: Place,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of `kind`, not yet placed.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner { kind, message: message.into(), place: Place::default(), source: None }))
    }

    /// The bytes are not a valid file.
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corrupt, message)
    }

    /// The file needs something that orcish does not do.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// The file asks for more than is allowed.
    pub fn limit(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::LimitExceeded, message)
    }

    /// The file asks for more than the limit of this name in [`Limits`](crate::Limits) allows: the message names it.
    pub fn over(limit: &'static str, message: impl std::fmt::Display) -> Self {
        Self::limit(format!("{message} (limits: {limit})"))
    }

    /// An argument of the call is wrong.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidArgument, message)
    }

    /// The source could not be read; keeps `source` as the cause.
    pub fn io(message: impl Into<String>, source: std::io::Error) -> Self {
        Self::new(ErrorKind::Io, message).with_source(source)
    }

    /// Keeps `source` as the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.0.source = Some(Arc::new(source));
        self
    }

    /// Adds to the message what may be the reason.
    #[must_use]
    pub fn with_remark(mut self, remark: &str) -> Self {
        self.0.message.push_str(&format!(" ({remark})"));
        self
    }

    /// What went wrong, by what the caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The message without its place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Where in the file the error arose.
    pub fn place(&self) -> &Place {
        &self.0.place
    }

    /// Names the file, unless a deeper layer did.
    #[must_use]
    pub fn in_file(mut self, name: &str) -> Self {
        self.0.place.file.get_or_insert_with(|| name.to_owned());
        self
    }

    /// Names the section, unless a deeper layer did.
    #[must_use]
    pub fn in_section(mut self, kind: &'static str, index: usize) -> Self {
        self.0.place.section.get_or_insert(Section { kind, index });
        self
    }

    /// Names the page, unless a deeper layer did.
    #[must_use]
    pub fn in_page(mut self, index: usize) -> Self {
        self.0.place.page.get_or_insert(index);
        self
    }

    /// Names the column, unless a deeper layer did.
    #[must_use]
    pub fn in_column(mut self, name: &str) -> Self {
        // The root has no name.
        if !name.is_empty() {
            self.0.place.column.get_or_insert_with(|| name.to_owned());
        }
        self
    }

    /// Names the stream, unless a deeper layer did.
    #[must_use]
    pub fn in_stream(mut self, kind: &'static str) -> Self {
        self.0.place.stream.get_or_insert(kind);
        self
    }

    /// Names the row within the page or section, unless a deeper layer did.
    #[must_use]
    pub fn at_row(mut self, row: u64) -> Self {
        self.0.place.row.get_or_insert(row);
        self
    }
}

impl fmt::Display for Error {
    /// Names and texts of files may be anything: what moves a cursor, changes the direction of text or is not seen is
    /// escaped, in the form that Python and the command `orcish` have: `\x1b`, `\u202e`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text();
        for part in text.split_inclusive(is_hidden) {
            let hidden = part.chars().next_back().filter(|&last| is_hidden(last));
            f.write_str(part.get(..part.len() - hidden.map_or(0, char::len_utf8)).unwrap_or_default())?;
            if let Some(hidden) = hidden {
                match (hidden, u32::from(hidden)) {
                    ('\t' | '\n' | '\r', _) => write!(f, "{}", hidden.escape_default())?,
                    (_, code @ ..0x100) => write!(f, "\\x{code:02x}")?,
                    (_, code @ ..0x1_0000) => write!(f, "\\u{code:04x}")?,
                    (_, code) => write!(f, "\\U{code:08x}")?,
                }
            }
        }
        Ok(())
    }
}

impl Error {
    /// The message with its place and cause, whatever is in them.
    fn text(&self) -> String {
        let Inner { message, place, source, .. } = &*self.0;
        let mut text = String::new();
        if let Some(file) = &place.file {
            text = format!("{file}: ");
        }
        let mut parts = Vec::new();
        parts.extend(place.section.map(|Section { kind, index }| format!("{kind} {index}")));
        parts.extend(place.column.as_ref().map(|column| format!("column {column}")));
        parts.extend(place.page.map(|page| format!("page {page}")));
        parts.extend(place.stream.map(|stream| format!("{stream} stream")));
        let section = place.section.filter(|_| place.page.is_none());
        let of_section = section.map(|section| format!(" of the {}", section.kind)).unwrap_or_default();
        parts.extend(place.row.map(|row| format!("row {row}{of_section}")));
        if !parts.is_empty() {
            text.push_str(&parts.join(", "));
            text.push_str(": ");
        }
        text.push_str(message);
        if let Some(source) = source {
            text.push_str(&format!(": {source}"));
        }
        text
    }
}

/// Whether a terminal shows something else than the character: control characters, those that set the direction of
/// text, ends of lines, and what has no width.
fn is_hidden(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(char, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}({self})", self.0.kind)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_where_from_the_outside_in() {
        let error = Error::corrupt("run ends early")
            .in_stream("DATA")
            .in_column("a.b")
            .in_section("stripe", 2)
            .in_file("t.orc");
        assert_eq!(error.to_string(), "t.orc: stripe 2, column a.b, DATA stream: run ends early");
    }

    #[test]
    fn rows_are_those_of_what_is_known() {
        let error = Error::corrupt("no date").at_row(7);
        let of_page = error.clone().in_page(3).in_column("a").in_section("blocklet", 1).in_file("t.carbondata");
        assert_eq!(of_page.to_string(), "t.carbondata: blocklet 1, column a, page 3, row 7: no date");
        assert_eq!(error.in_section("stripe", 0).to_string(), "stripe 0, row 7 of the stripe: no date");
    }

    #[test]
    fn what_is_not_seen_is_escaped() {
        let name = "a\u{1b}[2Jb\u{202e}c\u{85}d\n\u{e0001}";
        let error = Error::corrupt(format!("no {name}")).in_column(name).in_file(name);
        let error = error.with_source(std::io::Error::other(name));
        let text = error.to_string();
        assert_eq!(text.matches("a\\x1b[2Jb\\u202ec\\x85d\\n\\U000e0001").count(), 4, "{text}");
        assert!(text.chars().all(|char| !is_hidden(char)) && !format!("{error:?}").chars().any(is_hidden));
        assert_eq!(error.place().column.as_deref(), Some(name));
        assert_eq!(Error::corrupt("é 漢 👍 \\").to_string(), "é 漢 👍 \\");
    }

    #[test]
    fn the_deepest_place_wins() {
        let error = Error::limit("too deep").in_column("a.b").in_column("a");
        assert_eq!(error.place().column.as_deref(), Some("a.b"));
    }
}
