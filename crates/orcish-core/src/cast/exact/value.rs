//! Values of arrays that are not nested, and what they are in other types.

use std::rc::Rc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DurationMicrosecondType,
    DurationMillisecondType, DurationNanosecondType, DurationSecondType, Float16Type, Float32Type, Float64Type,
    Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::i256;
use arrow_schema::{DataType, TimeUnit};

use super::fault::{Outcome, unsupported};
use super::number::{Decimal, Digits, Float, Width, half, power};
use super::text::{parse_boolean, parse_duration, parse_float, parse_integer};
use super::time::{self, Zone, Zones, converted, parse_date, parse_time, parse_timestamp};

const MILLIS_PER_DAY: i64 = 86_400_000;
/// Maximum number of characters of a value in a message.
const MAX_SHOWN: usize = 60;

/// How texts are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// As values that are cast: with the digits of their unit, and the offset of their zone.
    Cast,
    /// As in ISO 8601, without zeros at the end of fractions.
    Iso,
}

/// A value that is not null.
pub(super) enum Value<'a> {
    Boolean(bool),
    Integer(i128),
    Float(Float),
    Decimal(Decimal),
    Text(&'a str),
    Bytes(&'a [u8]),
    /// Days since 1970.
    Date(i64),
    /// Milliseconds since 1970.
    DateMillis(i64),
    Time(i64, TimeUnit),
    Timestamp(i64, TimeUnit, Option<Rc<Zone>>),
    Duration(i64, TimeUnit),
}

/// Gives the value of a row that is not null.
pub(super) type Reader<'a> = Box<dyn Fn(usize) -> Value<'a> + 'a>;

/// The values of an array that is not nested. Values of intervals are none here.
pub(super) fn reader<'a>(array: &'a ArrayRef, zones: Zones<'_>) -> Outcome<Reader<'a>> {
    use DataType as D;
    macro_rules! values {
        ($type:ty, $value:expr) => {{
            let values = array.as_primitive::<$type>();
            let value = $value;
            Box::new(move |row| value(values.value(row)))
        }};
    }
    macro_rules! of_unit {
        ($unit:expr, $value:expr, $seconds:ty, $millis:ty, $micros:ty, $nanos:ty) => {
            match $unit {
                TimeUnit::Second => values!($seconds, $value),
                TimeUnit::Millisecond => values!($millis, $value),
                TimeUnit::Microsecond => values!($micros, $value),
                TimeUnit::Nanosecond => values!($nanos, $value),
            }
        };
    }
    let float = |width| move |value: f64| Value::Float(Float { value, width });
    Ok(match array.data_type() {
        D::Boolean => {
            let values = array.as_boolean();
            Box::new(|row| Value::Boolean(values.value(row)))
        }
        D::Int8 => values!(Int8Type, |value| Value::Integer(i128::from(value))),
        D::Int16 => values!(Int16Type, |value| Value::Integer(i128::from(value))),
        D::Int32 => values!(Int32Type, |value| Value::Integer(i128::from(value))),
        D::Int64 => values!(Int64Type, |value| Value::Integer(i128::from(value))),
        D::UInt8 => values!(UInt8Type, |value| Value::Integer(i128::from(value))),
        D::UInt16 => values!(UInt16Type, |value| Value::Integer(i128::from(value))),
        D::UInt32 => values!(UInt32Type, |value| Value::Integer(i128::from(value))),
        D::UInt64 => values!(UInt64Type, |value| Value::Integer(i128::from(value))),
        D::Float16 => {
            let values = array.as_primitive::<Float16Type>();
            Box::new(move |row| float(Width::Half)(values.value(row).to_f64()))
        }
        D::Float32 => values!(Float32Type, move |value| float(Width::Single)(f64::from(value))),
        D::Float64 => values!(Float64Type, move |value| float(Width::Double)(value)),
        D::Decimal32(_, scale) => values!(Decimal32Type, decimal(*scale)),
        D::Decimal64(_, scale) => values!(Decimal64Type, decimal(*scale)),
        D::Decimal128(_, scale) => values!(Decimal128Type, decimal(*scale)),
        D::Decimal256(_, scale) => values!(Decimal256Type, decimal(*scale)),
        D::Utf8 => {
            let values = array.as_string::<i32>();
            Box::new(|row| Value::Text(values.value(row)))
        }
        D::LargeUtf8 => {
            let values = array.as_string::<i64>();
            Box::new(|row| Value::Text(values.value(row)))
        }
        D::Utf8View => {
            let values = array.as_string_view();
            Box::new(|row| Value::Text(values.value(row)))
        }
        D::Binary => {
            let values = array.as_binary::<i32>();
            Box::new(|row| Value::Bytes(values.value(row)))
        }
        D::LargeBinary => {
            let values = array.as_binary::<i64>();
            Box::new(|row| Value::Bytes(values.value(row)))
        }
        D::BinaryView => {
            let values = array.as_binary_view();
            Box::new(|row| Value::Bytes(values.value(row)))
        }
        D::FixedSizeBinary(_) => {
            let values = array.as_fixed_size_binary();
            Box::new(|row| Value::Bytes(values.value(row)))
        }
        D::Date32 => values!(Date32Type, |days| Value::Date(i64::from(days))),
        D::Date64 => values!(Date64Type, Value::DateMillis),
        D::Time32(TimeUnit::Second) => {
            values!(Time32SecondType, |count| Value::Time(i64::from(count), TimeUnit::Second))
        }
        D::Time32(_) => {
            values!(Time32MillisecondType, |count| Value::Time(i64::from(count), TimeUnit::Millisecond))
        }
        D::Time64(TimeUnit::Microsecond) => {
            values!(Time64MicrosecondType, |count| Value::Time(count, TimeUnit::Microsecond))
        }
        D::Time64(_) => values!(Time64NanosecondType, |count| Value::Time(count, TimeUnit::Nanosecond)),
        D::Timestamp(unit, zone) => {
            let zone = match zone.as_deref() {
                None => None,
                Some("UTC") => Some(Rc::new(Zone::Utc)),
                Some(zone) => Some(Rc::new(Zone::Other(zones(zone)?))),
            };
            let value = move |count| Value::Timestamp(count, *unit, zone.clone());
            of_unit!(
                unit,
                value,
                TimestampSecondType,
                TimestampMillisecondType,
                TimestampMicrosecondType,
                TimestampNanosecondType
            )
        }
        D::Duration(unit) => {
            let value = move |count| Value::Duration(count, *unit);
            of_unit!(
                unit,
                value,
                DurationSecondType,
                DurationMillisecondType,
                DurationMicrosecondType,
                DurationNanosecondType
            )
        }
        other => return Err(unsupported(other, &DataType::Utf8)),
    })
}

fn decimal<'a, T: Into<i256>>(scale: i8) -> impl Fn(T) -> Value<'a> {
    move |unscaled| Value::Decimal(Decimal { unscaled: unscaled.into(), scale: scale.into() })
}

impl Value<'_> {
    pub(super) fn boolean(&self) -> Option<bool> {
        match self {
            Value::Boolean(value) => Some(*value),
            Value::Text(text) => parse_boolean(text),
            Value::Integer(0) => Some(false),
            Value::Integer(1) => Some(true),
            Value::Float(_) | Value::Decimal(_) => Value::Integer(self.integer()?).boolean(),
            _ => None,
        }
    }

    /// The number, or the number of units.
    #[expect(clippy::cast_possible_truncation, reason = "the number is whole, and within the bounds")]
    pub(super) fn integer(&self) -> Option<i128> {
        match self {
            Value::Boolean(value) => Some((*value).into()),
            Value::Integer(value) => Some(*value),
            Value::Float(Float { value, .. }) => {
                (value.fract() == 0.0 && value.abs() < 2_f64.powi(127)).then_some(*value as i128)
            }
            Value::Decimal(value) => value.with_scale(0)?.to_i128(),
            Value::Text(text) => parse_integer(text),
            Value::Date(count)
            | Value::DateMillis(count)
            | Value::Time(count, _)
            | Value::Timestamp(count, _, _)
            | Value::Duration(count, _) => Some((*count).into()),
            Value::Bytes(_) => None,
        }
    }

    /// The number, as one that the type of this width has.
    #[expect(clippy::cast_precision_loss, reason = "a number that is rounded is compared")]
    fn float(&self, width: Width) -> Option<f64> {
        match self {
            Value::Boolean(value) => Some(f64::from(u8::from(*value))),
            Value::Integer(value) => {
                // Numbers of 128 bits are rounded once to double precision, and then to that of the type.
                let rounded = width.rounded(*value as f64);
                (Value::Float(Float { value: rounded, width }).integer() == Some(*value)).then_some(rounded)
            }
            Value::Float(Float { value, .. }) => {
                let rounded = width.rounded(*value);
                (rounded == *value || value.is_nan()).then_some(rounded)
            }
            Value::Decimal(decimal) => {
                let value = decimal.digits()?.float(width)?;
                // The digits of a whole number are all of its value.
                let is_kept = value.fract() != 0.0
                    || Float { value, width }.decimal()?.with_scale(decimal.scale) == Some(decimal.unscaled);
                is_kept.then_some(value)
            }
            Value::Text(text) => parse_float(text, width),
            _ => None,
        }
    }

    pub(super) fn half(&self) -> Option<<Float16Type as arrow_array::ArrowPrimitiveType>::Native> {
        self.float(Width::Half).map(half)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the number is one of single precision")]
    pub(super) fn single(&self) -> Option<f32> {
        self.float(Width::Single).map(|value| value as f32)
    }

    pub(super) fn double(&self) -> Option<f64> {
        self.float(Width::Double)
    }

    /// The unscaled number of a decimal.
    pub(super) fn decimal(&self, precision: u8, scale: i8) -> Option<i256> {
        let number = match self {
            Value::Float(value) => value.decimal()?,
            Value::Decimal(value) => *value,
            Value::Text(text) => Digits::parse(text)?.decimal()?,
            Value::Boolean(_) | Value::Integer(_) => Decimal { unscaled: i256::from_i128(self.integer()?), scale: 0 },
            _ => return None,
        };
        let unscaled = number.with_scale(scale.into())?;
        let end = power(precision.into())?;
        (unscaled < end && unscaled > end.checked_neg()?).then_some(unscaled)
    }

    pub(super) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Value::Bytes(bytes) => Some(bytes),
            Value::Text(text) => Some(text.as_bytes()),
            _ => None,
        }
    }

    /// Days since 1970.
    pub(super) fn days(&self) -> Option<i64> {
        let whole = |count: i64, per_day: i64| (count % per_day == 0).then_some(count / per_day);
        match self {
            Value::Date(days) => Some(*days),
            Value::DateMillis(millis) => whole(*millis, MILLIS_PER_DAY),
            Value::Timestamp(count, unit, _) => whole(*count, time::per_second(*unit) * 86_400),
            Value::Text(text) => parse_date(text),
            // The number of units of the type.
            Value::Integer(count) => i64::try_from(*count).ok(),
            _ => None,
        }
    }

    /// Milliseconds since 1970 of a whole number of days.
    pub(super) fn date_millis(&self) -> Option<i64> {
        match self {
            // The number of units of the type.
            Value::Integer(count) => i64::try_from(*count).ok().filter(|millis| millis % MILLIS_PER_DAY == 0),
            value => value.days()?.checked_mul(MILLIS_PER_DAY),
        }
    }

    pub(super) fn time(&self, unit: TimeUnit) -> Option<i64> {
        let count = match self {
            Value::Time(count, own) => converted((*count).into(), *own, unit)?,
            Value::Text(text) => parse_time(text, unit)?,
            Value::Integer(count) => i64::try_from(*count).ok()?,
            _ => return None,
        };
        (0..time::per_second(unit) * 86_400).contains(&count).then_some(count)
    }

    pub(super) fn timestamp(&self, unit: TimeUnit, has_zone: bool) -> Option<i64> {
        match self {
            Value::Date(days) => converted(i128::from(*days) * 86_400, TimeUnit::Second, unit),
            Value::DateMillis(millis) => converted((*millis).into(), TimeUnit::Millisecond, unit),
            Value::Timestamp(count, own, _) => converted((*count).into(), *own, unit),
            Value::Text(text) => parse_timestamp(text, unit, has_zone),
            Value::Integer(count) => i64::try_from(*count).ok(),
            _ => None,
        }
    }

    pub(super) fn duration(&self, unit: TimeUnit) -> Option<i64> {
        match self {
            Value::Duration(count, own) => converted((*count).into(), *own, unit),
            Value::Text(text) => parse_duration(text, unit),
            Value::Integer(count) => i64::try_from(*count).ok(),
            _ => None,
        }
    }

    /// Writes the text. Returns false if bytes are no text in UTF-8.
    pub(super) fn write(&self, out: &mut String, style: Style) -> bool {
        let is_iso = style == Style::Iso;
        match self {
            Value::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
            Value::Integer(value) => out.push_str(&value.to_string()),
            Value::Float(value) => out.push_str(&value.text()),
            Value::Decimal(value) => out.push_str(&value.text()),
            Value::Text(text) => out.push_str(text),
            Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => out.push_str(text),
                Err(_) => return false,
            },
            Value::Date(days) => out.push_str(&time::date_text(*days)),
            Value::DateMillis(millis) => out.push_str(&time::date_text(millis.div_euclid(MILLIS_PER_DAY))),
            Value::Time(count, unit) => {
                let (seconds, nanos) = time::split(*count, *unit);
                time::write_clock(out, seconds);
                time::write_fraction(out, nanos, *unit, is_iso);
            }
            Value::Timestamp(count, unit, zone) => time::write_timestamp(out, *count, *unit, zone.as_deref(), is_iso),
            Value::Duration(count, _) => out.push_str(&count.to_string()),
        }
        true
    }

    /// The value in a message.
    pub(super) fn shown(&self) -> String {
        let mut text = String::new();
        match self {
            Value::Bytes(bytes) if std::str::from_utf8(bytes).is_err() => {
                text = format!("b'{}'", bytes.escape_ascii());
            }
            value => {
                value.write(&mut text, Style::Cast);
            }
        }
        let shown: String = text.chars().take(MAX_SHOWN).collect();
        if matches!(self, Value::Text(_)) { format!("'{shown}'") } else { shown }
    }
}
