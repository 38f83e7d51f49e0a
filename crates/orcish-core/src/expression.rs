//! Conditions on rows, as plain data: the filters of reads and scans.
//!
//! They have SQL's three-valued logic: a comparison with null, and of null, is neither true nor false, and only rows
//! for which the whole condition is true are kept. Floating point numbers compare as IEEE 754 has it: NaN is neither
//! less than, equal to, nor greater than anything, and `!=` holds for it.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

/// A condition on rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Predicate {
    /// Compares a column with a value.
    Compare {
        /// Dotted name of the column.
        column: String,
        /// How.
        op: Comparison,
        /// With what.
        value: Literal,
    },
    /// Whether a column has one of some values; with null among them it is unknown rather than false.
    In {
        /// Dotted name of the column.
        column: String,
        /// The values.
        values: Literals,
    },
    /// Whether a string, or binary, begins with another.
    StartsWith {
        /// Dotted name of the column.
        column: String,
        /// What it begins with.
        prefix: Literal,
    },
    /// Whether a column is null. Any column that is in no list, map or union can be asked.
    IsNull {
        /// Dotted name of the column.
        column: String,
    },
    /// Whether a floating point number is NaN.
    IsNan {
        /// Dotted name of the column.
        column: String,
    },
    /// Whether all hold; true of none.
    And(Vec<Predicate>),
    /// Whether one holds; false of none.
    Or(Vec<Predicate>),
    /// Whether it does not hold.
    Not(Box<Predicate>),
    /// The same for every row: true, false, or unknown.
    Constant(Option<bool>),
}

/// How two values compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A value that columns are compared with. Numbers compare by what they are, whatever their types, but for decimals
/// with floating point numbers: those of a column are compared with the nearest to a decimal, and a column of
/// decimals with the shortest decimal that a floating point number is written as, if that is no whole number.
#[derive(Debug, Clone, PartialEq)]
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
        /// All digits.
        unscaled: i128,
        /// How many of them are behind the point.
        scale: u32,
    },
    /// For columns of numbers: one of more digits than [`Decimal`](Self::Decimal) has room for, and so than columns of
    /// decimals have. It is above `floor / 10^scale`, and below the next number of that scale.
    LongDecimal {
        /// The greatest number of that scale below it.
        floor: i128,
        /// As many digits behind the point as leave room for those before it among 38.
        scale: u32,
        /// The nearest to it, for columns of floating point numbers.
        nearest: f64,
    },
    /// For string, char, varchar and binary columns.
    String(String),
    /// For binary columns, and for strings that are read as binary.
    Binary(Vec<u8>),
    /// Days since 1970-01-01, also beyond those that a date column holds; for date columns, and as midnight for timestamps.
    Date(i64),
    /// For timestamps.
    Timestamp {
        /// Nanoseconds since 1970-01-01 00:00:00, on the wall clock or in UTC.
        nanoseconds: i128,
        /// Whether it is an instant, for `timestamp with local time zone`, or a wall clock, for `timestamp`.
        is_instant: bool,
    },
}

/// Values of which a column may have one. Clones share them, and what has been made of them: there may be a million.
#[derive(Clone)]
pub struct Literals(Arc<Shared>);

struct Shared {
    values: Vec<Literal>,
    /// What they have been bound to.
    bound: Mutex<Vec<Arc<dyn Any + Send + Sync>>>,
}

impl Literals {
    /// Things that are made of the values and kept.
    const KEPT: usize = 4;

    /// What was made of them before, if `is` it; else it is made now, and kept.
    pub fn bound<T: Any + Send + Sync, E>(
        &self,
        is: impl Fn(&T) -> bool,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let lock = || self.0.bound.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().iter().find_map(|known| known.clone().downcast::<T>().ok().filter(|known| is(known)));
        if let Some(known) = known {
            return Ok(known);
        }
        let made = Arc::new(make()?);
        let mut bound = lock();
        bound.truncate(Self::KEPT - 1);
        bound.insert(0, made.clone());
        Ok(made)
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
        Literals(Arc::new(Shared { values, bound: Mutex::default() }))
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
    /// Most levels of `And`, `Or` and `Not`, one in the other, that a filter may have.
    pub const MAX_DEPTH: usize = 500;

    /// Compares the column of a dotted name with a value.
    pub fn compare(column: impl Into<String>, op: Comparison, value: impl Into<Literal>) -> Self {
        Predicate::Compare { column: column.into(), op, value: value.into() }
    }

    /// Whether a column has one of `values`.
    pub fn is_in<V: Into<Literal>>(column: impl Into<String>, values: impl IntoIterator<Item = V>) -> Self {
        Predicate::In { column: column.into(), values: values.into_iter().map(Into::into).collect() }
    }

    /// Whether a column is null.
    pub fn is_null(column: impl Into<String>) -> Self {
        Predicate::IsNull { column: column.into() }
    }

    /// The names of the columns that it asks, each as often as it does.
    pub fn columns(&self) -> Vec<&str> {
        match self {
            Predicate::Compare { column, .. }
            | Predicate::In { column, .. }
            | Predicate::StartsWith { column, .. }
            | Predicate::IsNull { column }
            | Predicate::IsNan { column } => vec![column],
            Predicate::And(parts) | Predicate::Or(parts) => parts.iter().flat_map(Predicate::columns).collect(),
            Predicate::Not(inner) => inner.columns(),
            Predicate::Constant(_) => Vec::new(),
        }
    }

    /// Whether it asks what is NaN, or compares with a floating point number: what that means depends on the type of
    /// the column.
    pub fn has_floats(&self) -> bool {
        match self {
            Predicate::IsNan { .. } | Predicate::Compare { value: Literal::Float(_), .. } => true,
            Predicate::In { values, .. } => values.iter().any(|value| matches!(value, Literal::Float(_))),
            Predicate::And(parts) | Predicate::Or(parts) => parts.iter().any(Predicate::has_floats),
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
    /// The one that holds where this does not, but for null and NaN.
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
    /// What it is, for messages.
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

/// Most characters of a string or bytes that are shown.
const SHOWN: usize = 40;
/// Most digits behind the point that are shown; more, and their number is.
const MAX_SCALE: u32 = 100;

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Null => f.write_str("null"),
            Literal::Boolean(value) => write!(f, "{value}"),
            Literal::Integer(value) => write!(f, "{value}"),
            Literal::Float(value) => write!(f, "{value:?}"),
            Literal::LongDecimal { nearest, .. } => write!(f, "{nearest:?}"),
            Literal::Decimal { unscaled, scale: 0 } => write!(f, "{unscaled}"),
            Literal::Decimal { unscaled, scale } if *scale > MAX_SCALE => write!(f, "{unscaled}e-{scale}"),
            Literal::Decimal { unscaled, scale } => {
                let digits = format!("{:0width$}", unscaled.unsigned_abs(), width = *scale as usize + 1);
                let (whole, fraction) = digits.split_at(digits.len() - *scale as usize);
                write!(f, "{}{whole}.{fraction}", if *unscaled < 0 { "-" } else { "" })
            }
            Literal::String(value) if value.chars().count() <= SHOWN => write!(f, "'{}'", value.replace('\'', "''")),
            Literal::String(value) => write!(f, "'{}…'", value.chars().take(SHOWN).collect::<String>()),
            Literal::Binary(value) => {
                f.write_str("x'")?;
                value.iter().take(SHOWN).try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_str(if value.len() > SHOWN { "…'" } else { "'" })
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

/// The date that is `days` after 1970-01-01.
fn date(days: i64) -> Option<String> {
    let epoch = chrono::NaiveDate::from_ymd_opt(1970, 1, 1)?;
    Some(epoch.checked_add_signed(chrono::TimeDelta::try_days(days)?)?.to_string())
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |f: &mut fmt::Formatter<'_>, parts: &[Predicate], word: &str, none: &str| {
            for (at, part) in parts.iter().enumerate() {
                if at > 0 {
                    write!(f, " {word} ")?;
                }
                match part {
                    Predicate::And(_) | Predicate::Or(_) if parts.len() > 1 => write!(f, "({part})")?,
                    part => write!(f, "{part}")?,
                }
            }
            if parts.is_empty() { f.write_str(none) } else { Ok(()) }
        };
        match self {
            Predicate::Compare { column, op, value } => write!(f, "{column} {op} {value}"),
            Predicate::In { column, values } => {
                write!(f, "{column} in (")?;
                for (at, value) in values.iter().take(SHOWN / 4).enumerate() {
                    write!(f, "{}{value}", if at > 0 { ", " } else { "" })?;
                }
                f.write_str(if values.len() > SHOWN / 4 { ", …)" } else { ")" })
            }
            Predicate::StartsWith { column, prefix } => write!(f, "starts_with({column}, {prefix})"),
            Predicate::IsNull { column } => write!(f, "{column} is null"),
            Predicate::IsNan { column } => write!(f, "is_nan({column})"),
            Predicate::And(parts) => joined(f, parts, "and", "true"),
            Predicate::Or(parts) => joined(f, parts, "or", "false"),
            Predicate::Not(inner) => write!(f, "not ({inner})"),
            Predicate::Constant(value) => f.write_str(match value {
                Some(true) => "true",
                Some(false) => "false",
                None => "unknown",
            }),
        }
    }
}
