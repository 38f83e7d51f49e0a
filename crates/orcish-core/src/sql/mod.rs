//! Predicates as text, in the syntax of SQL.
//!
//! ```
//! use orcish_core::Predicate;
//!
//! let predicate: Predicate = "id > 5 and name in ('a', 'b') and day >= date '2026-01-01'".parse()?;
//! assert_eq!(predicate.columns(), ["id", "name", "day"]);
//!
//! let error = "id >".parse::<Predicate>().unwrap_err();
//! assert_eq!(error.to_string(), "\"id >\" ends where a value should be (character 5)");
//! # Ok::<_, orcish_core::sql::ParseError>(())
//! ```
//!
//! # Syntax
//!
//! Columns are compared with values by `=`, `==`, `!=`, `<>`, `<`, `<=`, `>`, `>=`, `<=>` for which nulls are equal, `in`,
//! `between`, `like` with [patterns](crate::Pattern) such as `'%abc_'`, `is null`, `is nan`, their negations with `not`, and the
//! functions `starts_with(name, 'abc')`, `ends_with`, `contains`, `isnull`, `isnotnull` and `is_nan`. The value may be on the
//! left: `5 < id`. Predicates are joined by `and`, `or`, `not` and parentheses. A boolean column, `true`, `false` and `null`
//! are predicates. Keywords are case-insensitive. Comments are written `-- to the end of the line` and `/* so */`.
//!
//! | | |
//! |---|---|
//! | names | dotted names of letters, digits and underscores; other steps are in backticks or double quotes |
//! | integers | `5`, `5L`, `5S`, `5Y`; integers beyond 128 bits are the nearest double |
//! | decimals | `1.5`, `5.`, `5BD` |
//! | floating point numbers | `1.5e0`, `1.5D`, `1.5F`, `double('NaN')`, `float '-Infinity'` |
//! | strings | `'it''s'`, with the escapes of Spark: `\\`, `\n`, `\u00e9`, `\U0001F600`, `\101`, … |
//! | binaries | `x'00ff'` |
//! | dates | `date '2026-01-31'` |
//! | timestamps | `timestamp '2026-01-31 12:00:00.5'`; instants have `Z` or an offset such as `+01:00` at the end |
//! | others | `true`, `false`, `null` |
//!
//! Lexing and parsing take linear time and no recursion.

mod error;
mod literal;
mod number;
mod parser;
mod string;
#[cfg(test)]
mod tests;
mod token;

use std::str::FromStr;

pub use error::ParseError;
pub(crate) use literal::{Meaning, read_string};

use crate::Predicate;

impl FromStr for Predicate {
    type Err = ParseError;

    /// Parses a predicate; see [`sql`](crate::sql) for the syntax.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        parser::parse(text)
    }
}
