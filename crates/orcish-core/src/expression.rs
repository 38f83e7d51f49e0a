//! Predicates on rows, as plain data: the filters of reads and scans.
//!
//! Predicates have the three-valued logic of SQL: a comparison with null is unknown, and a filter keeps the rows for which the
//! predicate is true. Floating point numbers compare as in IEEE 754: NaN is neither less than, equal to, nor greater than any
//! number, and `!=` is true for it.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{self, Error};
use crate::names::ColumnName;
use crate::pattern::Pattern;
use crate::process::PerProcess;

/// A predicate on rows.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Predicate {
    /// Compares a column with a literal.
    Compare {
        /// Name of the column.
        column: ColumnName,
        /// The operator.
        op: Comparison,
        /// The literal.
        value: Literal,
    },
    /// Whether a column has one of the values. If null is one of them, the predicate is unknown instead of false.
    In {
        /// Name of the column.
        column: ColumnName,
        /// The values.
        values: Literals,
    },
    /// Whether a string or binary value has a prefix.
    StartsWith {
        /// Name of the column.
        column: ColumnName,
        /// The prefix.
        prefix: Literal,
    },
    /// Whether a string or binary value matches a pattern. [`Predicate::like`] makes a predicate of a prefix of a pattern
    /// such as `a%`.
    Like {
        /// Name of the column.
        column: ColumnName,
        /// The pattern.
        pattern: Pattern,
    },
    /// Whether a column is null. The column can have any type, and is not below a list, map or union.
    IsNull {
        /// Name of the column.
        column: ColumnName,
    },
    /// Whether a floating point number is NaN.
    IsNan {
        /// Name of the column.
        column: ColumnName,
    },
    /// Conjunction; true without operands.
    And(Vec<Predicate>),
    /// Disjunction; false without operands.
    Or(Vec<Predicate>),
    /// Negation.
    Not(Box<Predicate>),
    /// True, false, or unknown (`None`) for every row.
    Constant(Option<bool>),
}

/// A comparison operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are clear")]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A literal of a predicate.
///
/// Numbers of different types compare by their exact values, except decimals with floating point numbers: a floating point
/// column is compared with the double that is nearest to the decimal. A decimal column is compared with the shortest decimal
/// notation of a floating point number that is not an integer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Literal {
    /// Null.
    Null,
    /// For boolean columns.
    Boolean(bool),
    /// For columns of integers, floating point numbers and decimals.
    Integer(i128),
    /// For columns of numbers.
    Float(f64),
    /// `unscaled / 10^scale`, for columns of numbers.
    Decimal {
        /// The unscaled value.
        unscaled: i128,
        /// Number of digits behind the decimal point.
        scale: u32,
    },
    /// For columns of numbers: a decimal with more digits than [`Decimal`](Self::Decimal) and any decimal column can have. It
    /// is greater than `floor / 10^scale`, and less than `(floor + 1) / 10^scale`.
    LongDecimal {
        /// The unscaled value, rounded down.
        floor: i128,
        /// Number of digits behind the decimal point, so that all digits are at most 38.
        scale: u32,
        /// The nearest double, for floating point columns.
        nearest: f64,
        /// All digits, in plain notation.
        text: Arc<str>,
    },
    /// For string, char, varchar and binary columns.
    String(String),
    /// For binary columns, and for strings that are read as binary.
    Binary(Vec<u8>),
    /// Days since 1970-01-01, also out of the range of date columns. For date columns, and as midnight for timestamps.
    Date(i64),
    /// For timestamps.
    Timestamp {
        /// Nanoseconds since 1970-01-01 00:00:00, in local time or in UTC.
        nanoseconds: i128,
        /// Whether it is an instant, for `timestamp with local time zone`, or a local time, for `timestamp`.
        is_instant: bool,
    },
}

/// The values of [`Predicate::In`], which may be a million. Clones share the values, and the sets that they were bound to.
#[derive(Clone)]
pub struct Literals(Arc<Shared>);

struct Shared {
    values: Vec<Literal>,
    /// Results of binding the values, the most recent first.
    bound: PerProcess<Mutex<Vec<Arc<dyn Any + Send + Sync>>>>,
}

impl Literals {
    /// Maximum number of cached results of binding.
    const MAX_BOUND: usize = 4;

    /// The cached result of binding the values that `is_match` accepts, or the result of `bind`, which is cached.
    ///
    /// # Errors
    /// Errors of `bind`.
    pub fn get_or_bind<T: Any + Send + Sync, E>(
        &self,
        is_match: impl Fn(&T) -> bool,
        bind: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let lock = || self.0.bound.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        let is_type_match =
            |cached: &Arc<dyn Any + Send + Sync>| cached.clone().downcast::<T>().ok().filter(|cached| is_match(cached));
        let cached = lock().iter().find_map(is_type_match);
        if let Some(cached) = cached {
            return Ok(cached);
        }
        let result = Arc::new(bind()?);
        let mut bound = lock();
        bound.truncate(Self::MAX_BOUND - 1);
        bound.insert(0, result.clone());
        Ok(result)
    }
}

impl Deref for Literals {
    type Target = [Literal];

    fn deref(&self) -> &[Literal] {
        &self.0.values
    }
}

impl From<Vec<Literal>> for Literals {
    fn from(values: Vec<Literal>) -> Self {
        Literals(Arc::new(Shared { values, bound: PerProcess::new() }))
    }
}

impl FromIterator<Literal> for Literals {
    fn from_iter<I: IntoIterator<Item = Literal>>(values: I) -> Self {
        Self::from(values.into_iter().collect::<Vec<_>>())
    }
}

impl fmt::Debug for Literals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.values.fmt(f)
    }
}

impl PartialEq for Literals {
    fn eq(&self, other: &Self) -> bool {
        self.0.values == other.0.values
    }
}

impl Predicate {
    /// Maximum number of levels of `And`, `Or`, `Not` and the leaves below them.
    pub const MAX_LEVELS: usize = 256;

    /// Compares a column with a literal.
    pub fn compare(column: impl Into<ColumnName>, op: Comparison, value: impl Into<Literal>) -> Self {
        Predicate::Compare { column: column.into(), op, value: value.into() }
    }

    /// Whether a column has one of the `values`.
    pub fn is_in<V: Into<Literal>>(column: impl Into<ColumnName>, values: impl IntoIterator<Item = V>) -> Self {
        Predicate::In { column: column.into(), values: values.into_iter().map(Into::into).collect() }
    }

    /// Whether a string or binary value matches a pattern.
    pub fn like(column: impl Into<ColumnName>, pattern: Pattern) -> Self {
        match pattern.as_prefix() {
            Some(prefix) => Predicate::StartsWith { column: column.into(), prefix: prefix.into() },
            None => Predicate::Like { column: column.into(), pattern },
        }
    }

    /// Whether a column is null.
    pub fn is_null(column: impl Into<ColumnName>) -> Self {
        Predicate::IsNull { column: column.into() }
    }

    /// The names of the columns of the predicate, once for each use.
    pub fn columns(&self) -> Vec<&ColumnName> {
        let (mut columns, mut pending) = (Vec::new(), vec![self]);
        while let Some(predicate) = pending.pop() {
            match predicate {
                Predicate::Compare { column, .. }
                | Predicate::In { column, .. }
                | Predicate::StartsWith { column, .. }
                | Predicate::Like { column, .. }
                | Predicate::IsNull { column }
                | Predicate::IsNan { column } => columns.push(column),
                predicate => pending.extend(predicate.operands().iter().rev()),
            }
        }
        columns
    }

    /// The operands of a conjunction or disjunction, and what is negated; none of others.
    fn operands(&self) -> &[Predicate] {
        match self {
            Predicate::And(operands) | Predicate::Or(operands) => operands,
            Predicate::Not(inner) => std::slice::from_ref(inner),
            _ => &[],
        }
    }

    /// The number of levels of conjunctions, disjunctions and negations, and of the leaves below them.
    pub fn levels(&self) -> usize {
        let (mut count, mut level) = (0, vec![self]);
        while !level.is_empty() {
            count += 1;
            level = level.into_iter().flat_map(Predicate::operands).collect();
        }
        count
    }

    /// Checks the number of levels.
    ///
    /// # Errors
    /// `InvalidArgument` for more than [`MAX_LEVELS`](Self::MAX_LEVELS).
    pub fn check_levels(&self) -> error::Result<()> {
        if self.levels() > Self::MAX_LEVELS {
            return Err(Error::invalid(format!("a filter of more than {} levels", Self::MAX_LEVELS)));
        }
        Ok(())
    }

    /// Whether the predicate tests for NaN, or compares with a floating point number. The meaning of these depends on the type
    /// of the column.
    pub fn has_floats(&self) -> bool {
        match self {
            Predicate::IsNan { .. } | Predicate::Compare { value: Literal::Float(_), .. } => true,
            Predicate::In { values, .. } => values.iter().any(|value| matches!(value, Literal::Float(_))),
            Predicate::And(operands) | Predicate::Or(operands) => operands.iter().any(Predicate::has_floats),
            Predicate::Not(inner) => inner.has_floats(),
            _ => false,
        }
    }
}

impl std::ops::Not for Predicate {
    type Output = Self;

    fn not(self) -> Self {
        Predicate::Not(Box::new(self))
    }
}

macro_rules! literal {
    ($($t:ty => $variant:ident),*) => {$(
        impl From<$t> for Literal {
            fn from(value: $t) -> Self {
                Literal::$variant(value.into())
            }
        }
    )*};
}
literal!(bool => Boolean, i32 => Integer, i64 => Integer, u64 => Integer, f64 => Float, &str => String, String => String);

impl Comparison {
    /// The negated operator. It is the negation of the comparison except for null and NaN.
    pub fn negated(self) -> Self {
        match self {
            Comparison::Equal => Comparison::NotEqual,
            Comparison::NotEqual => Comparison::Equal,
            Comparison::Less => Comparison::GreaterOrEqual,
            Comparison::LessOrEqual => Comparison::Greater,
            Comparison::Greater => Comparison::LessOrEqual,
            Comparison::GreaterOrEqual => Comparison::Less,
        }
    }

    /// The operator of the comparison with swapped operands: `<` for `>`.
    pub fn swapped(self) -> Self {
        match self {
            Comparison::Equal | Comparison::NotEqual => self,
            Comparison::Less => Comparison::Greater,
            Comparison::LessOrEqual => Comparison::GreaterOrEqual,
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterOrEqual => Comparison::LessOrEqual,
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Comparison::Equal => "=",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
        })
    }
}

impl Literal {
    /// Description of the type for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Literal::Null => "null",
            Literal::Boolean(_) => "the boolean",
            Literal::Integer(_) => "the integer",
            Literal::Float(_) => "the floating point number",
            Literal::Decimal { .. } | Literal::LongDecimal { .. } => "the decimal",
            Literal::String(_) => "the string",
            Literal::Binary(_) => "the bytes",
            Literal::Date(_) => "the date",
            Literal::Timestamp { is_instant: false, .. } => "the timestamp without zone",
            Literal::Timestamp { is_instant: true, .. } => "the timestamp with zone",
        }
    }
}

/// All digits of a decimal in plain notation.
pub(crate) fn decimal_text(unscaled: i128, scale: u32) -> String {
    if scale == 0 {
        return unscaled.to_string();
    }
    let scale = scale as usize;
    let digits = format!("{:0width$}", unscaled.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    format!("{}{whole}.{fraction}", if unscaled < 0 { "-" } else { "" })
}

/// Maximum number of characters or bytes of a literal in messages.
const MAX_SHOWN: usize = 40;
/// Maximum scale of decimals in plain notation. Others are in scientific notation.
const MAX_PLAIN_SCALE: u32 = 100;

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Null => f.write_str("null"),
            Literal::Boolean(value) => write!(f, "{value}"),
            Literal::Integer(value) => write!(f, "{value}"),
            Literal::Float(value) => write!(f, "{value:?}"),
            Literal::LongDecimal { nearest, .. } => write!(f, "{nearest:?}"),
            Literal::Decimal { unscaled, scale } if *scale > MAX_PLAIN_SCALE => write!(f, "{unscaled}e-{scale}"),
            Literal::Decimal { unscaled, scale } => f.write_str(&decimal_text(*unscaled, *scale)),
            Literal::String(value) if value.chars().count() <= MAX_SHOWN => {
                write!(f, "'{}'", value.replace('\'', "''"))
            }
            Literal::String(value) => write!(f, "'{}…'", value.chars().take(MAX_SHOWN).collect::<String>()),
            Literal::Binary(value) => {
                f.write_str("x'")?;
                value.iter().take(MAX_SHOWN).try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_str(if value.len() > MAX_SHOWN { "…'" } else { "'" })
            }
            Literal::Date(days) => match date(*days) {
                Some(date) => write!(f, "date '{date}'"),
                None => write!(f, "day {days}"),
            },
            Literal::Timestamp { nanoseconds, is_instant } => {
                let (seconds, nanos) = (nanoseconds.div_euclid(1_000_000_000), nanoseconds.rem_euclid(1_000_000_000));
                let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
                let zone = if *is_instant { " UTC" } else { "" };
                let Some(date) = i64::try_from(days).ok().and_then(date) else {
                    return write!(f, "timestamp {nanoseconds} ns{zone}");
                };
                write!(f, "timestamp '{date} {:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)?;
                match format!("{nanos:09}").trim_end_matches('0') {
                    "" => {}
                    digits => write!(f, ".{digits}")?,
                }
                write!(f, "{zone}'")
            }
        }
    }
}

/// The date at a number of days since 1970-01-01; `None` where it is out of range.
fn date(days: i64) -> Option<String> {
    let epoch = chrono::NaiveDate::from_ymd_opt(1970, 1, 1)?;
    Some(epoch.checked_add_signed(chrono::TimeDelta::try_days(days)?)?.to_string())
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join = |f: &mut fmt::Formatter<'_>, operands: &[Predicate], operator: &str, empty: &str| {
            for (at, operand) in operands.iter().enumerate() {
                if at > 0 {
                    write!(f, " {operator} ")?;
                }
                match operand {
                    Predicate::And(_) | Predicate::Or(_) if operands.len() > 1 => write!(f, "({operand})")?,
                    operand => write!(f, "{operand}")?,
                }
            }
            if operands.is_empty() { f.write_str(empty) } else { Ok(()) }
        };
        match self {
            Predicate::Compare { column, op, value } => write!(f, "{column} {op} {value}"),
            Predicate::In { column, values } => {
                write!(f, "{column} in (")?;
                for (at, value) in values.iter().take(MAX_SHOWN / 4).enumerate() {
                    write!(f, "{}{value}", if at > 0 { ", " } else { "" })?;
                }
                f.write_str(if values.len() > MAX_SHOWN / 4 { ", …)" } else { ")" })
            }
            Predicate::StartsWith { column, prefix } => write!(f, "starts_with({column}, {prefix})"),
            Predicate::Like { column, pattern } => {
                write!(f, "{column} like '{}'", pattern.to_string().replace('\'', "''"))
            }
            Predicate::IsNull { column } => write!(f, "{column} is null"),
            Predicate::IsNan { column } => write!(f, "is_nan({column})"),
            Predicate::And(operands) => join(f, operands, "and", "true"),
            Predicate::Or(operands) => join(f, operands, "or", "false"),
            Predicate::Not(inner) => write!(f, "not ({inner})"),
            Predicate::Constant(value) => f.write_str(match value {
                Some(true) => "true",
                Some(false) => "false",
                None => "unknown",
            }),
        }
    }
}
