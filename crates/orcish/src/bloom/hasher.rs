//! The hashes that a writer uses for a value in its bloom filters. [`super`] documents the rules.

use orcish_core::hash;

use super::{BloomKind, ValueHash};
use crate::schema::{Kind, Type};
use crate::time::{NANOS_PER_MILLI, calendar};
use crate::tuning;
use crate::writer::{Writer, release};

const MILLIS_PER_SECOND: i64 = 1000;
/// Maximum scale of a decimal.
const MAX_SCALE: u32 = 38;

/// The writer, the column and the stream of bloom filters, which determine how values are hashed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FilterContext<'a> {
    /// `Footer.writer`.
    pub(crate) writer: Writer,
    /// `PostScript.writer_version`; 0 if absent.
    pub(crate) writer_version: u32,
    /// `Footer.software_version`.
    pub(crate) software_version: Option<&'a str>,
    /// Whether dates and timestamps are proleptic Gregorian, or Julian before 1582-10-15.
    pub(crate) proleptic: bool,
    /// Whether the file has version 1.9999 (`UNSTABLE-PRE-2.0`).
    pub(crate) is_unstable_pre_2_0: bool,
    /// `StripeFooter.writer_timezone`; empty if absent.
    pub(crate) writer_timezone: &'a str,
    /// Kind of the stream.
    pub(crate) stream: BloomKind,
    /// `ColumnEncoding.bloom_encoding` of the column in the stripe.
    pub(crate) bloom_encoding: Option<u32>,
    /// The column.
    pub(crate) column: &'a Type,
}

/// How the values of a column are hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Unknown,
    Integer,
    /// Integers of this number of bits, which may be stored as unsigned integers.
    Narrow(u32),
    Float,
    Bytes,
    /// `char` of this length.
    Char(u32),
    Date,
    Milliseconds,
    /// Text without trailing zeros.
    Decimal,
}

/// Computes the hashes of values.
///
/// A method returns all hashes that the writer may have used for an equal value. The value is not in a row group if the
/// filter contains none of them. `None` means that the hashes are unknown, or that the column has another type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ValueHasher {
    rule: Rule,
    proleptic: bool,
}

impl ValueHasher {
    /// A hasher for filters of this context.
    pub(crate) fn new(context: &FilterContext<'_>) -> Self {
        let rule = match (context.writer, context.stream) {
            _ if context.bloom_encoding.is_some_and(|encoding| encoding > 1) => Rule::Unknown,
            (Writer::Java, BloomKind::Original) => java_original(context),
            (Writer::Java, BloomKind::Utf8) => java_utf8(context),
            // The hashes are those of the latest ORC Java.
            (Writer::Orcish, BloomKind::Utf8) => java_utf8(context),
            (Writer::Cpp, BloomKind::Utf8) => cpp(context),
            (Writer::Trino, BloomKind::Utf8) => trino(context),
            _ => Rule::Unknown,
        };
        ValueHasher { rule, proleptic: context.proleptic }
    }

    /// Whether hashes are known.
    #[cfg(test)]
    pub(crate) fn is_known(&self) -> bool {
        self.rule != Rule::Unknown
    }

    /// Hashes of a `tinyint`, `smallint`, `int` or `bigint`.
    pub(crate) fn hash_integer(&self, value: i64) -> Option<Vec<ValueHash>> {
        match self.rule {
            Rule::Integer => Some(vec![integer(value)]),
            Rule::Narrow(bits) => Some(narrow(value, bits)),
            _ => None,
        }
    }

    /// Hashes of a `float`, as a double, or of a `double`.
    pub(crate) fn hash_float(&self, value: f64) -> Option<Vec<ValueHash>> {
        let bits = |value: f64| integer(value.to_bits().cast_signed());
        match self.rule {
            Rule::Float if value.is_nan() => None,
            Rule::Float if value == 0.0 => Some(vec![bits(0.0), bits(-0.0)]),
            Rule::Float => Some(vec![bits(value)]),
            _ => None,
        }
    }

    /// Hashes of a `string`, `varchar`, `binary`, or of a `char` with any number of trailing blanks.
    pub(crate) fn hash_bytes(&self, value: &[u8]) -> Option<Vec<ValueHash>> {
        let mut hashes = vec![bytes(value)];
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
                hashes.extend([bytes(text), bytes(&padded)]);
            }
            _ => return None,
        }
        if without_blanks(value).is_empty() {
            hashes.push(ValueHash(hash::NO_BYTES));
        }
        Some(distinct(hashes))
    }

    /// Hashes of a `date`, in days since 1970-01-01, proleptic Gregorian.
    pub(crate) fn hash_date(&self, day: i32) -> Option<Vec<ValueHash>> {
        if self.rule != Rule::Date {
            return None;
        }
        if self.proleptic || day >= calendar::GREGORIAN_START_DAY {
            return Some(narrow(day.into(), 32));
        }
        // Two stored days can be rebased to the same day, as Julian 29 February and 1 March.
        let near = calendar::days_to_hybrid(day);
        let stored_days = [near.checked_sub(1)?, near, near.checked_add(1)?];
        let stored_days = stored_days.into_iter().filter(|&stored_day| calendar::days_to_proleptic(stored_day) == day);
        let hashes: Vec<ValueHash> = stored_days.flat_map(|stored_day| narrow(stored_day.into(), 32)).collect();
        (!hashes.is_empty() && day != i32::MIN).then_some(hashes)
    }

    /// Hashes of a `timestamp` in nanoseconds of local time, or of a `timestamp with local time zone` in nanoseconds of the
    /// instant, both since 1970 and proleptic Gregorian. The value is precise to the millisecond: a value that was truncated
    /// to seconds has another hash.
    pub(crate) fn hash_timestamp(&self, nanos: i128) -> Option<Vec<ValueHash>> {
        let millis = i64::try_from(nanos.div_euclid(NANOS_PER_MILLI)).ok()?;
        let is_julian = !self.proleptic && millis.div_euclid(MILLIS_PER_SECOND) < calendar::GREGORIAN_START_SECOND;
        if self.rule != Rule::Milliseconds || is_julian {
            return None;
        }
        let mut hashes = vec![integer(millis)];
        // The writer truncates towards zero. `nanos` may be truncated to its unit, so its fraction is unknown.
        if millis < 0 {
            hashes.push(integer(millis + 1));
        }
        // ORC-763.
        if (0..MILLIS_PER_SECOND).contains(&millis) {
            hashes.push(integer(millis - MILLIS_PER_SECOND));
        }
        Some(hashes)
    }

    /// Hashes of a `decimal`, `unscaled / 10^scale`.
    pub(crate) fn hash_decimal(&self, unscaled: i128, scale: u32) -> Option<Vec<ValueHash>> {
        let (unscaled, scale) = without_trailing_zeros(unscaled, scale);
        let is_known = self.rule == Rule::Decimal && scale <= MAX_SCALE;
        is_known.then(|| vec![bytes(decimal_text(unscaled, scale).as_bytes())])
    }
}

fn java_original(context: &FilterContext<'_>) -> Rule {
    match context.column.kind {
        Kind::Byte | Kind::Long => Rule::Integer,
        Kind::Short => Rule::Narrow(16),
        Kind::Int => Rule::Narrow(32),
        Kind::Float | Kind::Double => Rule::Float,
        Kind::Date => Rule::Date,
        _ => Rule::Unknown,
    }
}

fn java_utf8(context: &FilterContext<'_>) -> Rule {
    const ORC_101: u32 = 5;
    const ORC_135: u32 = 6;
    const ORC_517: u32 = 7;
    let version = context.writer_version;
    match context.column.kind {
        _ if version < ORC_101 => Rule::Unknown,
        Kind::String | Kind::Varchar | Kind::Binary => Rule::Bytes,
        // ORC-406 has no version of its own. This is the first version after it.
        Kind::Char if version >= ORC_517 => context.column.max_length.map_or(Rule::Unknown, Rule::Char),
        Kind::Decimal if !context.is_unstable_pre_2_0 => Rule::Decimal,
        Kind::Timestamp | Kind::TimestampInstant if version >= ORC_135 => timestamp(context),
        _ => java_original(context),
    }
}

fn cpp(context: &FilterContext<'_>) -> Rule {
    if !context.software_version.is_some_and(has_orc_1024) {
        return Rule::Unknown;
    }
    match context.column.kind {
        Kind::String | Kind::Varchar | Kind::Binary => Rule::Bytes,
        Kind::Decimal if !context.is_unstable_pre_2_0 => Rule::Decimal,
        Kind::Timestamp | Kind::TimestampInstant => timestamp(context),
        Kind::Byte | Kind::Float => Rule::Unknown,
        _ => java_original(context),
    }
}

fn trino(context: &FilterContext<'_>) -> Rule {
    let is_time = context.column.attributes.iter().any(|(name, _)| name == "iceberg.long-type");
    match context.column.kind {
        Kind::String | Kind::Varchar => Rule::Bytes,
        Kind::Char => context.column.max_length.map_or(Rule::Unknown, Rule::Char),
        Kind::Long if is_time => Rule::Unknown,
        Kind::Byte | Kind::Float => Rule::Unknown,
        _ => java_original(context),
    }
}

/// The rule for timestamps of ORC Java and C++.
fn timestamp(context: &FilterContext<'_>) -> Rule {
    // Ids of time zones that are UTC in every release of the time zone data.
    const UTC: [&str; 10] =
        ["UTC", "GMT", "Etc/UTC", "Etc/GMT", "UCT", "Etc/UCT", "Zulu", "Etc/Zulu", "Universal", "Etc/Universal"];
    let is_certain = context.column.kind == Kind::TimestampInstant || UTC.contains(&context.writer_timezone);
    if is_certain && context.bloom_encoding == Some(1) { Rule::Milliseconds } else { Rule::Unknown }
}

/// Whether a release of ORC C++ has ORC-1024, ORC-573 and ORC-773: 1.7.1 and later. A snapshot has the name of the next
/// release, and may lack its changes.
fn has_orc_1024(version: &str) -> bool {
    if version.contains('-') { release(version) > [1, 8, 0] } else { release(version) >= [1, 7, 1] }
}

fn integer(value: i64) -> ValueHash {
    ValueHash(hash::integer(value))
}

fn bytes(value: &[u8]) -> ValueHash {
    ValueHash(hash::bytes(value))
}

/// Hashes of an integer of `bits` bits, and of the unsigned integer of the same bits.
fn narrow(value: i64, bits: u32) -> Vec<ValueHash> {
    let unsigned = (value < 0).then(|| value.wrapping_add(1 << bits)).filter(|unsigned| *unsigned >= 0);
    [Some(value), unsigned].into_iter().flatten().map(integer).collect()
}

fn distinct(mut hashes: Vec<ValueHash>) -> Vec<ValueHash> {
    hashes.sort_unstable_by_key(|hash| hash.0);
    hashes.dedup();
    hashes
}

/// The same number without trailing zeros behind the decimal point.
pub(super) fn without_trailing_zeros(mut unscaled: i128, mut scale: u32) -> (i128, u32) {
    while scale > 0 && unscaled % 10 == 0 {
        unscaled /= 10;
        scale -= 1;
    }
    (unscaled, scale)
}

/// The decimal as text without an exponent, with at least one digit before the decimal point.
pub(super) fn decimal_text(unscaled: i128, scale: u32) -> String {
    let sign = if unscaled < 0 { "-" } else { "" };
    let scale = scale as usize;
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = scale + 1);
    match digits.split_at_checked(digits.len().saturating_sub(scale)) {
        Some((whole, fraction)) if !fraction.is_empty() => format!("{sign}{whole}.{fraction}"),
        _ => format!("{sign}{digits}"),
    }
}

fn without_blanks(mut text: &[u8]) -> &[u8] {
    while let [start @ .., b' '] = text {
        text = start;
    }
    text
}
