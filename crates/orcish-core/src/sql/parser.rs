//! The grammar of predicates.

use std::mem;

use super::error::ParseError;
use super::literal::{is_callable, typed};
use super::number::number;
use super::token::{Kind, Token, tokens};
use crate::names::ColumnName;
use crate::{Comparison, Literal, Pattern, Predicate};

/// Maximum nesting of parentheses, and maximum number of levels of a predicate.
const MAX_LEVELS: usize = Predicate::MAX_LEVELS;

const FUNCTIONS: &str = "contains, ends_with, endswith, is_nan, isnan, isnotnull, isnull, starts_with, startswith";

/// Parses a predicate.
///
/// # Errors
/// The text is no predicate, or has more than [`Predicate::MAX_LEVELS`] levels.
pub(super) fn parse(text: &str) -> Result<Predicate, ParseError> {
    let predicate = Parser { text, tokens: tokens(text)?, at: 0, negations: 0 }.predicate()?;
    if predicate.levels() > MAX_LEVELS {
        return Err(ParseError::of_text(text, &format!("is a predicate of more than {MAX_LEVELS} levels")));
    }
    Ok(predicate)
}

/// The state of the parser within one pair of parentheses, or at the top level.
#[derive(Default)]
struct Scope {
    /// Number of `not` before the next predicate.
    negations: usize,
    /// Operands of the current conjunction.
    conjunction: Vec<Predicate>,
    /// Finished operands of the disjunction.
    disjunction: Vec<Predicate>,
}

impl Scope {
    fn add(&mut self, mut predicate: Predicate) {
        for _ in 0..mem::take(&mut self.negations) {
            predicate = !predicate;
        }
        match predicate {
            Predicate::And(operands) => self.conjunction.extend(operands),
            predicate => self.conjunction.push(predicate),
        }
    }

    fn end_conjunction(&mut self) {
        let mut operands = mem::take(&mut self.conjunction);
        match operands.len() {
            1 => match operands.remove(0) {
                Predicate::Or(operands) => self.disjunction.extend(operands),
                predicate => self.disjunction.push(predicate),
            },
            _ => self.disjunction.push(Predicate::And(operands)),
        }
    }

    fn predicate(mut self) -> Predicate {
        self.end_conjunction();
        match self.disjunction.len() {
            1 => self.disjunction.remove(0),
            _ => Predicate::Or(self.disjunction),
        }
    }
}

/// The comparison of `<=>`, for which nulls are equal. It is never unknown.
fn null_safe_equal(column: ColumnName, value: Literal) -> Predicate {
    match value {
        Literal::Null => Predicate::is_null(column),
        value => Predicate::And(vec![
            !Predicate::is_null(column.clone()),
            Predicate::compare(column, Comparison::Equal, value),
        ]),
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token<'a>>,
    /// Index of the next token. The end token is never consumed.
    at: usize,
    /// Number of `not` in all open scopes.
    negations: usize,
}

impl Parser<'_> {
    /// Parses the whole text.
    fn predicate(mut self) -> Result<Predicate, ParseError> {
        let mut outer: Vec<Scope> = Vec::new();
        let mut scope = Scope::default();
        loop {
            self.begin(&mut outer, &mut scope)?;
            let mut predicate = self.comparison()?;
            loop {
                self.negations -= scope.negations;
                scope.add(predicate);
                if self.take("and") {
                    break;
                }
                if self.take("or") {
                    scope.end_conjunction();
                    break;
                }
                let Some(parent) = outer.pop() else {
                    return match self.kind() {
                        Kind::End => Ok(scope.predicate()),
                        _ => Err(self.unexpected("\"and\" or \"or\"")),
                    };
                };
                if !self.take(")") {
                    return Err(self.unexpected("\"and\", \"or\" or \")\""));
                }
                predicate = mem::replace(&mut scope, parent).predicate();
            }
        }
    }

    /// Parses `not` and opening parentheses before a comparison.
    fn begin(&mut self, outer: &mut Vec<Scope>, scope: &mut Scope) -> Result<(), ParseError> {
        loop {
            let start = self.at;
            if self.take("not") {
                scope.negations += 1;
                self.negations += 1;
            } else if self.take("(") {
                outer.push(mem::take(scope));
            } else {
                return Ok(());
            }
            if outer.len().max(self.negations) > MAX_LEVELS {
                return Err(self.error(start, &format!("is more than {MAX_LEVELS} levels deep")));
            }
        }
    }

    fn comparison(&mut self) -> Result<Predicate, ParseError> {
        if let Some(value) = self.literal()? {
            return self.after_value(value);
        }
        let start = self.at;
        let Kind::Name(name) = self.kind() else {
            return Err(self.unexpected("a predicate"));
        };
        let name = name.clone();
        self.at += 1;
        if matches!(self.kind(), Kind::Word("(")) { self.call(start) } else { self.after_column(name) }
    }

    fn after_value(&mut self, value: Literal) -> Result<Predicate, ParseError> {
        if let Some(op) = self.operator() {
            return Ok(Predicate::Compare { column: self.column()?, op: op.swapped(), value });
        }
        if self.take("<=>") {
            return Ok(null_safe_equal(self.column()?, value));
        }
        match value {
            Literal::Boolean(value) => Ok(Predicate::Constant(Some(value))),
            Literal::Null => Ok(Predicate::Constant(None)),
            _ => Err(self.unexpected("an operator")),
        }
    }

    fn after_column(&mut self, column: ColumnName) -> Result<Predicate, ParseError> {
        if let Some(op) = self.operator() {
            return Ok(Predicate::Compare { column, op, value: self.value()? });
        }
        if self.take("<=>") {
            return Ok(null_safe_equal(column, self.value()?));
        }
        let is_test = self.take("is");
        let negated = self.take("not");
        let predicate = if is_test {
            self.null_or_nan(column)?
        } else if self.take("in") {
            Predicate::In { column, values: self.values()?.into() }
        } else if self.take("between") {
            let low = self.value()?;
            self.expect("and")?;
            let lower = Predicate::compare(column.clone(), Comparison::GreaterOrEqual, low);
            Predicate::And(vec![lower, Predicate::compare(column, Comparison::LessOrEqual, self.value()?)])
        } else if self.take("like") {
            self.like(column)?
        } else if negated {
            return Err(self.unexpected("\"in\", \"between\" or \"like\""));
        } else if matches!(self.kind(), Kind::Word("and" | "or" | ")") | Kind::End) {
            Predicate::compare(column, Comparison::Equal, true)
        } else {
            return Err(self.unexpected("an operator"));
        };
        Ok(if negated { !predicate } else { predicate })
    }

    fn null_or_nan(&mut self, column: ColumnName) -> Result<Predicate, ParseError> {
        if self.take("null") {
            return Ok(Predicate::IsNull { column });
        }
        if !self.token().text.eq_ignore_ascii_case("nan") {
            return Err(self.unexpected("\"null\" or \"nan\""));
        }
        self.at += 1;
        Ok(Predicate::IsNan { column })
    }

    fn values(&mut self) -> Result<Vec<Literal>, ParseError> {
        self.expect("(")?;
        let mut values = vec![self.value()?];
        while self.take(",") {
            values.push(self.value()?);
        }
        if self.take(")") { Ok(values) } else { Err(self.unexpected("\",\" or \")\"")) }
    }

    fn like(&mut self, column: ColumnName) -> Result<Predicate, ParseError> {
        let Kind::String(text) = self.kind() else {
            return Err(self.unexpected("a pattern in single quotes"));
        };
        let pattern = Pattern::parse(text).map_err(|what| self.error(self.at, what))?;
        self.at += 1;
        Ok(Predicate::like(column, pattern))
    }

    /// Parses the arguments of a function, whose name is the token at `start`.
    fn call(&mut self, start: usize) -> Result<Predicate, ParseError> {
        self.expect("(")?;
        let word = self.tokens.get(start).map_or_else(String::new, |token| token.text.to_ascii_lowercase());
        let predicate = match word.as_str() {
            "is_nan" | "isnan" => Predicate::IsNan { column: self.column()? },
            "isnull" => Predicate::is_null(self.column()?),
            "isnotnull" => !Predicate::is_null(self.column()?),
            "starts_with" | "startswith" => {
                let column = self.column()?;
                self.expect(",")?;
                let at = self.at;
                match self.value()? {
                    prefix @ (Literal::String(_) | Literal::Binary(_)) => Predicate::StartsWith { column, prefix },
                    _ => return Err(self.error(at, "is where a string should be")),
                }
            }
            "contains" | "ends_with" | "endswith" => {
                let column = self.column()?;
                self.expect(",")?;
                let Kind::String(text) = self.kind() else {
                    return Err(self.unexpected("a string"));
                };
                let make = if word == "contains" { Pattern::containing } else { Pattern::ending_with };
                let pattern = make(text);
                self.at += 1;
                Predicate::Like { column, pattern }
            }
            _ => return Err(self.error(start, &format!("is not a known function: functions are {FUNCTIONS}"))),
        };
        self.expect(")")?;
        Ok(predicate)
    }

    fn column(&mut self) -> Result<ColumnName, ParseError> {
        let Kind::Name(name) = self.kind() else {
            return Err(self.unexpected("a column"));
        };
        let name = name.clone();
        self.at += 1;
        Ok(name)
    }

    fn value(&mut self) -> Result<Literal, ParseError> {
        if let Some(value) = self.literal()? {
            return Ok(value);
        }
        if !matches!(self.kind(), Kind::Name(_)) {
            return Err(self.unexpected("a value"));
        }
        let strings = if self.token().text.starts_with('"') { ", and strings are in single quotes" } else { "" };
        let what = format!("is a column where a value should be: columns are compared with values only{strings}");
        Err(self.error(self.at, &what))
    }

    /// Parses a literal; `None` if the next token does not begin one.
    fn literal(&mut self) -> Result<Option<Literal>, ParseError> {
        let token = self.token();
        let literal = match &token.kind {
            Kind::Name(_) => return self.typed_literal(),
            // There may be blanks behind the sign.
            Kind::Number => {
                number(&token.text.replace(char::is_whitespace, "")).map_err(|what| self.error(self.at, what))?
            }
            Kind::String(text) => Literal::String(text.clone()),
            Kind::Word("null") => Literal::Null,
            Kind::Word(word @ ("true" | "false")) => Literal::Boolean(*word == "true"),
            _ => return Ok(None),
        };
        self.at += 1;
        Ok(Some(literal))
    }

    /// Parses a literal with a type, such as `date '2026-01-31'` or `double('NaN')`; `None` if the next token begins something
    /// else.
    fn typed_literal(&mut self) -> Result<Option<Literal>, ParseError> {
        let word = self.token();
        let Some(parse) = typed(word.text) else {
            return Ok(None);
        };
        let is_call =
            is_callable(word.text) && self.tokens.get(self.at + 1).is_some_and(|token| token.kind == Kind::Word("("));
        let string_at = self.at + if is_call { 2 } else { 1 };
        let Some(Token { kind: Kind::String(value), text, start }) = self.tokens.get(string_at) else {
            return Ok(None);
        };
        let literal = parse(value).map_err(|what| {
            let (piece, _) = self.text.split_at(word.start).1.split_at(start + text.len() - word.start);
            ParseError::at(self.text, piece, word.start, what)
        })?;
        self.at = string_at + 1;
        if is_call {
            self.expect(")")?;
        }
        Ok(Some(literal))
    }

    /// The next token.
    fn token(&self) -> &Token<'_> {
        const END: Token<'_> = Token { kind: Kind::End, text: "", start: 0 };
        self.tokens.get(self.at).unwrap_or(&END)
    }

    fn kind(&self) -> &Kind {
        &self.token().kind
    }

    /// Consumes the next token if it is this keyword or mark.
    fn take(&mut self, word: &'static str) -> bool {
        let is_next = *self.kind() == Kind::Word(word);
        self.at += usize::from(is_next);
        is_next
    }

    /// Consumes the next token if it is an operator.
    fn operator(&mut self) -> Option<Comparison> {
        let Kind::Operator(op) = *self.kind() else {
            return None;
        };
        self.at += 1;
        Some(op)
    }

    fn expect(&mut self, word: &'static str) -> Result<(), ParseError> {
        if self.take(word) { Ok(()) } else { Err(self.unexpected(&format!("\"{word}\""))) }
    }

    /// An error about the token of an index.
    fn error(&self, at: usize, what: &str) -> ParseError {
        let (piece, start) = self.tokens.get(at).map_or(("", 0), |token| (token.text, token.start));
        ParseError::at(self.text, piece, start, what)
    }

    /// The error of another token than an expected one.
    fn unexpected(&self, expected: &str) -> ParseError {
        match self.kind() {
            Kind::End => ParseError::unexpected_end(self.text, expected),
            _ => self.error(self.at, &format!("is where {expected} should be")),
        }
    }
}
