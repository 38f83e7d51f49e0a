//! Under which keys a writer put a value into its bloom filters. The tables of what it hashes are in [`super`].

use orcish_core::hash;

use super::{BloomKind, Key};
use crate::schema::{Kind, Type};
use crate::time::{NANOS_PER_MILLI, calendar};
use crate::tuning;
use crate::writer::{Writer, release};

const MILLIS_PER_SECOND: i64 = 1000;
/// Most digits after the point of a decimal.
const MAX_SCALE: u32 = 38;

/// All that decides what the filters of a column in a stripe can be asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FilterOrigin<'a> {
    /// `Footer.writer`.
    pub(crate) writer: Writer,
    /// `PostScript.writer_version`; 0 where absent.
    pub(crate) writer_version: u32,
    /// `Footer.software_version`.
    pub(crate) software_version: Option<&'a str>,
    /// Whether dates and timestamps are proleptic Gregorian, as against Julian before 1582-10-15.
    pub(crate) proleptic: bool,
    /// Whether the file is in the draft 1.9999.
    pub(crate) is_draft: bool,
    /// `StripeFooter.writer_timezone`; empty where absent.
    pub(crate) writer_timezone: &'a str,
    /// Which of the two streams the filters are from.
    pub(crate) stream: BloomKind,
    /// `ColumnEncoding.bloom_encoding` of the column in the stripe.
    pub(crate) bloom_encoding: Option<u32>,
    /// The column.
    pub(crate) column: &'a Type,
}

/// What is hashed of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// Nothing that can be relied on.
    Unknown,
    Integer,
    /// Integers of so many bits, which may have been stored as unsigned ones.
    Narrow(u32),
    Float,
    Bytes,
    /// Text of so many characters.
    Char(u32),
    Date,
    Milliseconds,
    /// Text without zeros at the end.
    Decimal,
}

/// Makes the keys that a value is looked up by.
///
/// Each `of_…` gives all keys under which an equal value may have been recorded; a value is not in a row group if none
/// of them is. `None` says that nothing is known, also where the type of the column is another one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyMaker {
    rule: Rule,
    proleptic: bool,
}

impl KeyMaker {
    /// For filters of this origin.
    pub(crate) fn new(origin: &FilterOrigin<'_>) -> Self {
        let rule = match (origin.writer, origin.stream) {
            _ if origin.bloom_encoding.is_some_and(|encoding| encoding > 1) => Rule::Unknown,
            (Writer::Java, BloomKind::Original) => java_original(origin),
            (Writer::Java, BloomKind::Utf8) => java_utf8(origin),
            // As ORC Java's newest.
            (Writer::Orcish, BloomKind::Utf8) => java_utf8(origin),
            (Writer::Cpp, BloomKind::Utf8) => cpp(origin),
            (Writer::Trino, BloomKind::Utf8) => trino(origin),
            _ => Rule::Unknown,
        };
        KeyMaker { rule, proleptic: origin.proleptic }
    }

    /// Whether there are keys at all.
    #[cfg(test)]
    pub(crate) fn is_useful(&self) -> bool {
        self.rule != Rule::Unknown
    }

    /// Keys of a `tinyint`, `smallint`, `int` or `bigint`.
    pub(crate) fn of_integer(&self, value: i64) -> Option<Vec<Key>> {
        match self.rule {
            Rule::Integer => Some(vec![integer(value)]),
            Rule::Narrow(bits) => Some(narrow(value, bits)),
            _ => None,
        }
    }

    /// Keys of a `float`, widened, or a `double`.
    pub(crate) fn of_float(&self, value: f64) -> Option<Vec<Key>> {
        let key = |value: f64| integer(value.to_bits().cast_signed());
        match self.rule {
            Rule::Float if value.is_nan() => None,
            Rule::Float if value == 0.0 => Some(vec![key(0.0), key(-0.0)]),
            Rule::Float => Some(vec![key(value)]),
            _ => None,
        }
    }

    /// Keys of a `string`, `varchar`, `binary`, or of a `char` with as many blanks at the end as may be.
    pub(crate) fn of_bytes(&self, value: &[u8]) -> Option<Vec<Key>> {
        let mut keys = vec![bytes(value)];
        match self.rule {
            Rule::Bytes => {}
            Rule::Char(characters) => {
                let text = without_blanks(value);
                let length = text.iter().filter(|&&byte| byte & 0xc0 != 0x80).count();
                let missing = usize::try_from(characters).ok()?.saturating_sub(length);
                if missing > tuning::PADDING_LOOKED_UP.get() {
                    return None;
                }
                let mut padded = text.to_vec();
                padded.resize(text.len() + missing, b' ');
                keys.extend([bytes(text), bytes(&padded)]);
            }
            _ => return None,
        }
        if without_blanks(value).is_empty() {
            keys.push(Key(hash::NO_BYTES));
        }
        Some(distinct(keys))
    }

    /// Keys of a `date`, in days since 1970-01-01, proleptic Gregorian.
    pub(crate) fn of_date(&self, day: i32) -> Option<Vec<Key>> {
        if self.rule != Rule::Date {
            return None;
        }
        if self.proleptic || day >= calendar::GREGORIAN_START_DAY {
            return Some(narrow(day.into(), 32));
        }
        // Two stored days may be one day here, as Julian 29 and Gregorian 1 March are.
        let near = calendar::days_to_hybrid(day);
        let stored = [near.checked_sub(1)?, near, near.checked_add(1)?];
        let stored = stored.into_iter().filter(|&stored| calendar::days_to_proleptic(stored) == day);
        let keys: Vec<Key> = stored.flat_map(|stored| narrow(stored.into(), 32)).collect();
        (!keys.is_empty() && day != i32::MIN).then_some(keys)
    }

    /// Keys of a `timestamp` in nanoseconds of its wall clock, or of a `timestamp with local time zone` in nanoseconds
    /// of the instant, both since 1970 and proleptic Gregorian. To at least a millisecond: what was cut to seconds
    /// is another value.
    pub(crate) fn of_timestamp(&self, nanos: i128) -> Option<Vec<Key>> {
        let millis = i64::try_from(nanos.div_euclid(NANOS_PER_MILLI)).ok()?;
        let is_julian = !self.proleptic && millis.div_euclid(MILLIS_PER_SECOND) < calendar::GREGORIAN_START_SECOND;
        if self.rule != Rule::Milliseconds || is_julian {
            return None;
        }
        let mut keys = vec![integer(millis)];
        // Cut towards zero; whether there was something to cut is not known where `nanos` itself was cut to its unit.
        if millis < 0 {
            keys.push(integer(millis + 1));
        }
        if (0..MILLIS_PER_SECOND).contains(&millis) {
            keys.push(integer(millis - MILLIS_PER_SECOND));
        }
        Some(keys)
    }

    /// Keys of a `decimal`, `unscaled / 10^scale`.
    pub(crate) fn of_decimal(&self, unscaled: i128, scale: u32) -> Option<Vec<Key>> {
        let (unscaled, scale) = without_zeros(unscaled, scale);
        let is_known = self.rule == Rule::Decimal && scale <= MAX_SCALE;
        is_known.then(|| vec![bytes(decimal_text(unscaled, scale).as_bytes())])
    }
}

fn java_original(origin: &FilterOrigin<'_>) -> Rule {
    match origin.column.kind {
        Kind::Byte | Kind::Long => Rule::Integer,
        Kind::Short => Rule::Narrow(16),
        Kind::Int => Rule::Narrow(32),
        Kind::Float | Kind::Double => Rule::Float,
        Kind::Date => Rule::Date,
        _ => Rule::Unknown,
    }
}

fn java_utf8(origin: &FilterOrigin<'_>) -> Rule {
    const ORC_101: u32 = 5;
    const ORC_135: u32 = 6;
    const ORC_517: u32 = 7;
    let version = origin.writer_version;
    match origin.column.kind {
        _ if version < ORC_101 => Rule::Unknown,
        Kind::String | Kind::Varchar | Kind::Binary => Rule::Bytes,
        // The first version after ORC-406, which has none of its own.
        Kind::Char if version >= ORC_517 => origin.column.max_length.map_or(Rule::Unknown, Rule::Char),
        Kind::Decimal if !origin.is_draft => Rule::Decimal,
        Kind::Timestamp | Kind::TimestampInstant if version >= ORC_135 => timestamp(origin),
        _ => java_original(origin),
    }
}

fn cpp(origin: &FilterOrigin<'_>) -> Rule {
    if !origin.software_version.is_some_and(has_orc_1024) {
        return Rule::Unknown;
    }
    match origin.column.kind {
        Kind::String | Kind::Varchar | Kind::Binary => Rule::Bytes,
        Kind::Decimal if !origin.is_draft => Rule::Decimal,
        Kind::Timestamp | Kind::TimestampInstant => timestamp(origin),
        Kind::Byte | Kind::Float => Rule::Unknown,
        _ => java_original(origin),
    }
}

fn trino(origin: &FilterOrigin<'_>) -> Rule {
    let is_time = origin.column.attributes.iter().any(|(name, _)| name == "iceberg.long-type");
    match origin.column.kind {
        Kind::String | Kind::Varchar => Rule::Bytes,
        Kind::Char => origin.column.max_length.map_or(Rule::Unknown, Rule::Char),
        Kind::Long if is_time => Rule::Unknown,
        Kind::Byte | Kind::Float => Rule::Unknown,
        _ => java_original(origin),
    }
}

/// Timestamps of ORC Java and C++.
fn timestamp(origin: &FilterOrigin<'_>) -> Rule {
    // Ids of zones that are UTC in every release of the zone data.
    const UTC: [&str; 10] =
        ["UTC", "GMT", "Etc/UTC", "Etc/GMT", "UCT", "Etc/UCT", "Zulu", "Etc/Zulu", "Universal", "Etc/Universal"];
    let is_certain = origin.column.kind == Kind::TimestampInstant || UTC.contains(&origin.writer_timezone);
    if is_certain && origin.bloom_encoding == Some(1) { Rule::Milliseconds } else { Rule::Unknown }
}

/// Whether a release of ORC C++ has the change, and those of ORC-573 and ORC-773: 1.7.1 and later. Snapshots bear the
/// name of the release to come, and may lack what it has.
fn has_orc_1024(version: &str) -> bool {
    if version.contains('-') { release(version) > [1, 8, 0] } else { release(version) >= [1, 7, 1] }
}

fn integer(value: i64) -> Key {
    Key(hash::integer(value))
}

fn bytes(value: &[u8]) -> Key {
    Key(hash::bytes(value))
}

/// Keys of an integer of `bits` bits, and of the unsigned one that is stored as the same bits.
fn narrow(value: i64, bits: u32) -> Vec<Key> {
    let unsigned = (value < 0).then(|| value.wrapping_add(1 << bits)).filter(|unsigned| *unsigned >= 0);
    [Some(value), unsigned].into_iter().flatten().map(integer).collect()
}

fn distinct(mut keys: Vec<Key>) -> Vec<Key> {
    keys.sort_unstable_by_key(|key| key.0);
    keys.dedup();
    keys
}

/// The same number, without zeros at the end behind the point.
pub(super) fn without_zeros(mut unscaled: i128, mut scale: u32) -> (i128, u32) {
    while scale > 0 && unscaled % 10 == 0 {
        unscaled /= 10;
        scale -= 1;
    }
    (unscaled, scale)
}

/// Digits without an exponent, one at least before the point.
pub(super) fn decimal_text(unscaled: i128, scale: u32) -> String {
    let sign = if unscaled < 0 { "-" } else { "" };
    let scale = scale as usize;
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = scale + 1);
    match digits.split_at_checked(digits.len().saturating_sub(scale)) {
        Some((whole, fraction)) if !fraction.is_empty() => format!("{sign}{whole}.{fraction}"),
        _ => format!("{sign}{digits}"),
    }
}

fn without_blanks(text: &[u8]) -> &[u8] {
    let blanks = text.iter().rev().take_while(|&&byte| byte == b' ').count();
    text.get(..text.len() - blanks).unwrap_or_default()
}
