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
    /// The bytes are not a valid ORC file; another copy of the file may help.
    Corrupt,
    /// The file is valid but needs something that orcish does not do, or does only when asked to.
    Unsupported,
    /// The file asks for more than [`Limits`](crate::Limits) or the chosen Arrow type allows.
    LimitExceeded,
    /// A map has a null key, which Arrow cannot hold; see [`NullMapKeys`](crate::NullMapKeys).
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
    /// Index of the stripe, from 0.
    pub stripe: Option<usize>,
    /// Index of the blocklet of a CarbonData file, from 0.
    pub blocklet: Option<usize>,
    /// Dotted name of the column.
    pub column: Option<String>,
    /// Index of the page of the column within its blocklet, from 0.
    pub page: Option<usize>,
    /// Kind of the stream, as the specification spells it (`DATA`, `PRESENT`, …).
    pub stream: Option<&'static str>,
    /// Row within the stripe, or else the blocklet or page, from 0, where a single value is at fault.
    pub row: Option<u64>,
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

    /// The bytes are not a valid ORC file.
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

    /// Names the stripe, unless a deeper layer did.
    #[must_use]
    pub fn in_stripe(mut self, index: usize) -> Self {
        self.0.place.stripe.get_or_insert(index);
        self
    }

    /// Names the blocklet, unless a deeper layer did.
    #[must_use]
    pub fn in_blocklet(mut self, index: usize) -> Self {
        self.0.place.blocklet.get_or_insert(index);
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
        self.0.place.column.get_or_insert_with(|| name.to_owned());
        self
    }

    /// Names the stream, unless a deeper layer did.
    #[must_use]
    pub fn in_stream(mut self, kind: &'static str) -> Self {
        self.0.place.stream.get_or_insert(kind);
        self
    }

    /// Names the row within the stripe, blocklet or page, unless a deeper layer did.
    #[must_use]
    pub fn at_row(mut self, row: u64) -> Self {
        self.0.place.row.get_or_insert(row);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { message, place, source, .. } = &*self.0;
        if let Some(file) = &place.file {
            write!(f, "{file}: ")?;
        }
        let mut parts = Vec::new();
        parts.extend(place.stripe.map(|stripe| format!("stripe {stripe}")));
        parts.extend(place.blocklet.map(|blocklet| format!("blocklet {blocklet}")));
        parts.extend(place.column.as_ref().map(|column| format!("column {column}")));
        parts.extend(place.page.map(|page| format!("page {page}")));
        parts.extend(place.stream.map(|stream| format!("{stream} stream")));
        let of_stripe = if place.stripe.is_some() { " of the stripe" } else { "" };
        parts.extend(place.row.map(|row| format!("row {row}{of_stripe}")));
        if !parts.is_empty() {
            write!(f, "{}: ", parts.join(", "))?;
        }
        f.write_str(message)?;
        match source {
            Some(source) => write!(f, ": {source}"),
            None => Ok(()),
        }
    }
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
        let error = Error::corrupt("run ends early").in_stream("DATA").in_column("a.b").in_stripe(2).in_file("t.orc");
        assert_eq!(error.to_string(), "t.orc: stripe 2, column a.b, DATA stream: run ends early");
    }

    #[test]
    fn rows_are_those_of_what_is_known() {
        let error = Error::corrupt("no date").at_row(7);
        let of_page = error.clone().in_page(3).in_column("a").in_blocklet(1).in_file("t.carbondata");
        assert_eq!(of_page.to_string(), "t.carbondata: blocklet 1, column a, page 3, row 7: no date");
        assert_eq!(error.in_stripe(0).to_string(), "stripe 0, row 7 of the stripe: no date");
    }

    #[test]
    fn the_deepest_place_wins() {
        let error = Error::limit("too deep").in_column("a.b").in_column("a");
        assert_eq!(error.place().column.as_deref(), Some("a.b"));
    }
}
