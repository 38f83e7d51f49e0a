//! Errors with a kind and a place in the file.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use arrow_schema::ArrowError;

/// The kind of an error, by the possible reaction of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The source cannot be read. A retry may succeed.
    Io,
    /// The bytes are not a valid file. Another copy of the file may be valid.
    Corrupt,
    /// The file is valid, but uses a feature that orcish does not support, or that needs an option.
    Unsupported,
    /// The file exceeds [`Limits`](crate::Limits), or a value overflows the Arrow type.
    LimitExceeded,
    /// A map has a null key, which Arrow's maps cannot have.
    NullMapKey,
    /// An argument of the call is invalid.
    InvalidArgument,
    /// The file does not have a requested column.
    UnknownColumn,
    /// A commit of a table is not finished, or cannot happen because of another one.
    Commit,
    /// The caller has cancelled the call, for example by Ctrl-C.
    Interrupted,
    /// A fault of the library itself, whatever the file and the arguments are. Please report it.
    Internal,
}

impl ErrorKind {
    /// Whether the error says something of the file or of the call. Otherwise the source failed, the call was cancelled, or
    /// the library has a fault: whoever passes over damaged parts of files does not pass over such an error.
    pub fn is_of_file(self) -> bool {
        !matches!(self, ErrorKind::Io | ErrorKind::Interrupted | ErrorKind::Internal)
    }
}

/// The place of an error in the file. Each layer adds the part that it knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// Name of the source, usually a path.
    pub file: Option<String>,
    /// The section of the file.
    pub section: Option<Section>,
    /// Dotted name of the column.
    pub column: Option<String>,
    /// Index of the page of the column in the section.
    pub page: Option<usize>,
    /// Name of the kind of the stream in the specification (`DATA`, `PRESENT`, …).
    pub stream: Option<&'static str>,
    /// Index of the row in the page, or in the section if there is no page.
    pub row: Option<u64>,
}

/// A section of a file with a range of rows: a stripe of ORC, a blocklet of CarbonData.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section {
    /// The name of the section in the format, such as `stripe`.
    pub kind: &'static str,
    /// Index of the section in the file.
    pub index: usize,
}

/// An error of this crate and of the format crates.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    message: String,
    place: Place,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

/// A result with an [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of a kind, without a place.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner { kind, message: message.into(), place: Place::default(), source: None }))
    }

    /// An error of kind [`Corrupt`](ErrorKind::Corrupt).
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corrupt, message)
    }

    /// An error of kind [`Unsupported`](ErrorKind::Unsupported).
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// An error of kind [`LimitExceeded`](ErrorKind::LimitExceeded).
    pub fn limit(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::LimitExceeded, message)
    }

    /// An error of kind [`LimitExceeded`](ErrorKind::LimitExceeded) whose message has the name of a field of
    /// [`Limits`](crate::Limits).
    pub fn over(limit: &'static str, message: impl std::fmt::Display) -> Self {
        Self::limit(format!("{message} (limits: {limit})"))
    }

    /// An error of kind [`InvalidArgument`](ErrorKind::InvalidArgument).
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidArgument, message)
    }

    /// An error of kind [`Io`](ErrorKind::Io) with a cause.
    pub fn io(message: impl Into<String>, source: std::io::Error) -> Self {
        Self::new(ErrorKind::Io, message).with_source(source)
    }

    /// An error of kind [`Internal`](ErrorKind::Internal). The message says what does not hold.
    pub fn internal(message: impl std::fmt::Display) -> Self {
        Self::new(ErrorKind::Internal, format!("{message}; this is a fault of orcish, please report it"))
    }

    /// Sets the cause of the error.
    #[must_use]
    pub fn with_source(mut self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.0.source = Some(Arc::new(source));
        self
    }

    /// Appends a remark to the message, such as a possible reason.
    #[must_use]
    pub fn with_remark(mut self, remark: &str) -> Self {
        self.0.message.push_str(&format!(" ({remark})"));
        self
    }

    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The cause of the error. `Display` writes its text.
    pub fn cause(&self) -> Option<&(dyn StdError + Send + Sync + 'static)> {
        self.0.source.as_deref()
    }

    /// The error of the system that is the cause; `None` if the cause is another one.
    pub fn io_error(&self) -> Option<&std::io::Error> {
        self.cause()?.downcast_ref()
    }

    /// The kind of the error of the system that is the cause; `None` if the cause is another one.
    pub fn io_kind(&self) -> Option<std::io::ErrorKind> {
        Some(self.io_error()?.kind())
    }

    /// The message without the place and the cause.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The place of the error in the file.
    pub fn place(&self) -> &Place {
        &self.0.place
    }

    /// Sets the file, unless it is set.
    #[must_use]
    pub fn in_file(mut self, name: &str) -> Self {
        self.0.place.file.get_or_insert_with(|| name.to_owned());
        self
    }

    /// Sets the section, unless it is set.
    #[must_use]
    pub fn in_section(mut self, kind: &'static str, index: usize) -> Self {
        self.0.place.section.get_or_insert(Section { kind, index });
        self
    }

    /// Sets the page, unless it is set.
    #[must_use]
    pub fn in_page(mut self, index: usize) -> Self {
        self.0.place.page.get_or_insert(index);
        self
    }

    /// Sets the column, unless it is set.
    #[must_use]
    pub fn in_column(mut self, name: &str) -> Self {
        // The root has no name.
        if !name.is_empty() {
            self.0.place.column.get_or_insert_with(|| name.to_owned());
        }
        self
    }

    /// Sets the stream, unless it is set.
    #[must_use]
    pub fn in_stream(mut self, kind: &'static str) -> Self {
        self.0.place.stream.get_or_insert(kind);
        self
    }

    /// Sets the row in the page or section, unless it is set.
    #[must_use]
    pub fn at_row(mut self, row: u64) -> Self {
        self.0.place.row.get_or_insert(row);
        self
    }
}

impl fmt::Display for Error {
    /// Writes the place, the message and the cause. Names of files and columns can have any characters: control characters,
    /// bidirectional formatting and invisible characters are escaped as in Python and the command `orcish` (`\x1b`,
    /// `\u202e`).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text();
        for part in text.split_inclusive(is_hidden) {
            let hidden = part.chars().next_back().filter(|&last| is_hidden(last));
            f.write_str(hidden.and_then(|hidden| part.strip_suffix(hidden)).unwrap_or(part))?;
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
    /// The place, the message and the cause without escaping.
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
        parts.extend(place.row.map(|row| match section {
            Some(Section { kind, .. }) => format!("row {row} of the {kind}"),
            None => format!("row {row}"),
        }));
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

/// Whether a terminal does not show the character: control characters, bidirectional formatting, line separators, and
/// characters without width.
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
    /// The source of the [cause](Error::cause). `Display` writes the cause, which a report of all sources would write again.
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.cause()?.source()
    }
}

/// What the library guarantees about its own values.
///
/// ```
/// use orcish_core::ErrorKind;
/// use orcish_core::error::OrInternal;
///
/// let error = [1, 2].get(2).or_internal("a column has no reader").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Internal);
/// assert!(error.to_string().starts_with("a column has no reader"));
/// ```
pub trait OrInternal {
    /// The value.
    type Value;

    /// The value.
    ///
    /// # Errors
    /// If there is none: an error of kind [`Internal`](ErrorKind::Internal) with a message that says what does not hold.
    fn or_internal(self, message: &str) -> Result<Self::Value>;
}

impl<T> OrInternal for Option<T> {
    type Value = T;

    #[inline]
    fn or_internal(self, message: &str) -> Result<T> {
        match self {
            Some(value) => Ok(value),
            None => Err(missing(message)),
        }
    }
}

/// Arrays that the library makes are valid.
impl<T> OrInternal for Result<T, ArrowError> {
    type Value = T;

    #[inline]
    fn or_internal(self, message: &str) -> Result<T> {
        self.map_err(|error| missing(message).with_source(error))
    }
}

/// Numbers that the library has bounded fit into the integers that it chooses.
impl<T> OrInternal for Result<T, std::num::TryFromIntError> {
    type Value = T;

    #[inline]
    fn or_internal(self, message: &str) -> Result<T> {
        self.map_err(|error| missing(message).with_source(error))
    }
}

#[cold]
fn missing(message: &str) -> Error {
    Error::internal(message)
}

/// The error becomes the source of an [`ArrowError::ExternalError`].
///
/// ```
/// use std::error::Error as _;
///
/// use arrow_schema::ArrowError;
/// use orcish_core::{Error, ErrorKind};
///
/// let error = ArrowError::from(Error::corrupt("it has no tail").in_file("a.orc"));
/// assert!(error.to_string().ends_with("a.orc: it has no tail"));
/// let source = error.source().and_then(|source| source.downcast_ref::<Error>());
/// assert_eq!(source.map(Error::kind), Some(ErrorKind::Corrupt));
/// ```
impl From<Error> for ArrowError {
    fn from(error: Error) -> Self {
        ArrowError::ExternalError(Box::new(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_the_place() {
        let error = Error::corrupt("run ends early")
            .in_stream("DATA")
            .in_column("a.b")
            .in_section("stripe", 2)
            .in_file("t.orc");
        assert_eq!(error.to_string(), "t.orc: stripe 2, column a.b, DATA stream: run ends early");
    }

    #[test]
    fn rows_are_in_the_page_or_the_section() {
        let error = Error::corrupt("no date").at_row(7);
        let of_page = error.clone().in_page(3).in_column("a").in_section("blocklet", 1).in_file("t.carbondata");
        assert_eq!(of_page.to_string(), "t.carbondata: blocklet 1, column a, page 3, row 7: no date");
        assert_eq!(error.in_section("stripe", 0).to_string(), "stripe 0, row 7 of the stripe: no date");
    }

    #[test]
    fn hidden_characters_are_escaped() {
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
    fn a_report_has_each_cause_once() {
        #[derive(Debug)]
        struct Outer(std::io::Error);
        impl fmt::Display for Outer {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("no connection")
            }
        }
        impl StdError for Outer {
            fn source(&self) -> Option<&(dyn StdError + 'static)> {
                Some(&self.0)
            }
        }
        let error = Error::new(ErrorKind::Io, "cannot read").with_source(Outer(std::io::Error::other("refused")));
        let sources = std::iter::successors(error.source(), |&error| error.source()).map(ToString::to_string);
        let report: Vec<String> = std::iter::once(error.to_string()).chain(sources).collect();
        assert_eq!(report, ["cannot read: no connection", "refused"]);
    }

    #[test]
    fn faults_of_the_library_say_so() {
        let error = u8::try_from(300).or_internal("a rank is too large").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal);
        let message = "a rank is too large; this is a fault of orcish, please report it";
        assert_eq!(error.message(), message);
        assert!(error.to_string().starts_with(message) && error.cause().is_some(), "{error}");
    }

    #[test]
    fn the_first_place_is_kept() {
        let error = Error::limit("too deep").in_column("a.b").in_column("a");
        assert_eq!(error.place().column.as_deref(), Some("a.b"));
    }
}
