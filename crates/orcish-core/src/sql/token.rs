//! Tokens of predicates.

use super::error::ParseError;
use super::string::unquoted;
use crate::Comparison;
use crate::names::ColumnName;

/// A token, and its piece of the text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    /// Position of the piece in bytes.
    pub(super) start: usize,
}

/// Kinds of tokens.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// A keyword, lowercase, or a parenthesis, comma or `<=>`.
    Word(&'static str),
    /// A number, not yet parsed.
    Number,
    /// A string without quotes and escapes.
    String(String),
    /// A name, whose steps are without quotes and escapes, or another word.
    Name(ColumnName),
    Operator(Comparison),
    End,
}

/// Reserved words. They are names only in quotes.
const KEYWORDS: [&str; 10] = ["and", "between", "false", "in", "is", "like", "not", "null", "or", "true"];
const MARKS: [&str; 4] = ["<=>", "(", ")", ","];
/// Operators, the longer ones first.
const OPERATORS: [(&str, Comparison); 8] = [
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("<>", Comparison::NotEqual),
    ("!=", Comparison::NotEqual),
    ("==", Comparison::Equal),
    ("=", Comparison::Equal),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

/// Splits the text into tokens. The last token is the end.
///
/// # Errors
/// Characters that are no token, quotes without end, and invalid escapes.
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, ParseError> {
    let mut tokens = Vec::new();
    let mut rest = without_blanks(text, text)?;
    while !rest.is_empty() {
        let start = text.len() - rest.len();
        let (kind, length) = token(text, rest, start)?;
        let (piece, behind) = rest.split_at(length);
        tokens.push(Token { kind, text: piece, start });
        rest = without_blanks(text, behind)?;
    }
    tokens.push(Token { kind: Kind::End, text: "", start: text.len() });
    Ok(tokens)
}

/// The rest of the text behind blanks and comments, which may be nested.
///
/// # Errors
/// A comment without end.
fn without_blanks<'a>(text: &str, rest: &'a str) -> Result<&'a str, ParseError> {
    let mut rest = rest.trim_start();
    loop {
        if rest.starts_with("--") {
            rest = rest.split_once('\n').map_or("", |(_, behind)| behind);
        } else if let Some(mut inner) = rest.strip_prefix("/*") {
            let mut levels = 1;
            while levels > 0 {
                inner = inner.trim_start_matches(|c| c != '*' && c != '/');
                if let Some(behind) = inner.strip_prefix("*/") {
                    (inner, levels) = (behind, levels - 1);
                } else if let Some(behind) = inner.strip_prefix("/*") {
                    (inner, levels) = (behind, levels + 1);
                } else if let Some(behind) = inner.strip_prefix(['*', '/']) {
                    inner = behind;
                } else {
                    return Err(ParseError::at(text, rest, text.len() - rest.len(), "is a comment that has no end"));
                }
            }
            rest = inner;
        } else {
            return Ok(rest);
        }
        rest = rest.trim_start();
    }
}

/// The token at the beginning of `rest`, and its length in bytes.
fn token(text: &str, rest: &str, start: usize) -> Result<(Kind, usize), ParseError> {
    if let Some(length) = number(rest) {
        return Ok((Kind::Number, length));
    }
    if rest.starts_with('\'')
        && let Some(length) = quoted(rest)
    {
        return Ok((Kind::String(plain(text, rest.split_at(length).0, start)?), length));
    }
    if let Some(length) = step(rest, true) {
        return name(text, rest, start, length);
    }
    if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(*mark)) {
        return Ok((Kind::Word(mark), mark.len()));
    }
    if let Some((operator, comparison)) = OPERATORS.iter().find(|(operator, _)| rest.starts_with(operator)) {
        return Ok((Kind::Operator(*comparison), operator.len()));
    }
    if rest.starts_with(['\'', '"', '`']) {
        return Err(ParseError::at(text, rest, start, "begins with a quote that has no end"));
    }
    let first = rest.chars().take(1).map(char::len_utf8).sum();
    let (word, _) = rest.split_at(word_length(rest).max(first));
    let what = match word {
        "[" => "is not allowed in a predicate: lists of (column, operator, value) are passed as lists, not as text",
        "&" => "is not allowed in a predicate: predicates are joined by `and`",
        "|" => "is not allowed in a predicate: predicates are joined by `or`",
        _ => "is not allowed in a predicate",
    };
    Err(ParseError::at(text, word, start, what))
}

/// A keyword, or a name whose first step has a length of `length` bytes.
fn name(text: &str, rest: &str, start: usize, length: usize) -> Result<(Kind, usize), ParseError> {
    let (first, mut behind) = rest.split_at(length);
    let mut steps = vec![first];
    while let Some(next) = behind.strip_prefix('.')
        && let Some(length) = step(next, false)
    {
        let (step, rest) = next.split_at(length);
        steps.push(step);
        behind = rest;
    }
    let length = rest.len() - behind.len();
    let (piece, _) = rest.split_at(length);
    if let Some(keyword) = KEYWORDS.iter().find(|keyword| keyword.eq_ignore_ascii_case(piece)) {
        return Ok((Kind::Word(keyword), length));
    }
    let (mut names, mut start) = (Vec::new(), start);
    for step in steps {
        names.push(plain(text, step, start)?);
        start += step.len() + 1;
    }
    Ok((Kind::Name(ColumnName::of_steps(names)), length))
}

/// A string or step of a name without quotes and escapes.
fn plain(text: &str, piece: &str, start: usize) -> Result<String, ParseError> {
    unquoted(piece).map_err(|(at, length, what)| {
        let (escape, _) = piece.split_at(at).1.split_at(length);
        ParseError::at(text, escape, start + at, what)
    })
}

/// Length of the number-like word at the beginning of the text: a sign and blanks, digits, letters, points, and the sign of an
/// exponent.
fn number(text: &str) -> Option<usize> {
    let unsigned = text.strip_prefix(['+', '-']).map_or(text, str::trim_start);
    let digits = unsigned.strip_prefix('.').unwrap_or(unsigned);
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let mut rest = digits;
    loop {
        let mut chars = rest.chars();
        let first = chars.next();
        let behind = chars.as_str();
        rest = match first {
            Some('e' | 'E')
                if let Some(exponent) = behind.strip_prefix(['+', '-'])
                    && exponent.starts_with(|c: char| c.is_ascii_digit()) =>
            {
                exponent
            }
            Some(c) if is_word(c) || c == '.' => behind,
            _ => return Some(text.len() - rest.len()),
        };
    }
}

/// Length of the step of a name at the beginning of the text. The first step of a name without quotes begins with a letter or
/// an underscore.
fn step(text: &str, is_first: bool) -> Option<usize> {
    let first = text.chars().next()?;
    if matches!(first, '"' | '`') {
        return quoted(text);
    }
    let is_start = if is_first { first == '_' || first.is_alphabetic() } else { is_word(first) };
    is_start.then(|| word_length(text))
}

/// Length of the quoted piece at the beginning of the text, with its quotes; `None` if the quote has no end. A doubled quote is
/// part of the piece. In quotes other than backticks, so is any character after a backslash.
fn quoted(text: &str) -> Option<usize> {
    let mut chars = text.chars();
    let quote = chars.next()?;
    while let Some(c) = chars.next() {
        if c == '\\' && quote != '`' {
            chars.next()?;
        } else if c == quote {
            match chars.as_str().strip_prefix(quote) {
                Some(rest) => chars = rest.chars(),
                None => return Some(text.len() - chars.as_str().len()),
            }
        }
    }
    None
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

fn word_length(text: &str) -> usize {
    text.find(|c| !is_word(c)).unwrap_or(text.len())
}
