//! Casts of values that are not nested and not encoded.

use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, FixedSizeBinaryBuilder, LargeBinaryBuilder, PrimitiveBuilder, StringBuilder,
};
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, new_null_array};
use arrow_buffer::i256;
use arrow_schema::{DataType, TimeUnit};

use super::fault::{Fault, Outcome, unsupported};
use super::time::Zones;
use super::value::{Reader, Style, Value, reader};
use crate::cast::mismatch::cast as arrow_cast;
use crate::type_names::TypeName;
use crate::types::{is_binary, is_text};
use crate::unify::holds;

/// Families of types whose values are cast alike.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Number,
    Text,
    Bytes,
    Date,
    Timestamp,
    Time,
    Duration,
}

fn family(kind: &DataType) -> Option<Family> {
    use DataType as D;
    Some(match kind {
        D::Boolean => Family::Number,
        kind if kind.is_integer() || kind.is_floating() || kind.is_decimal() => Family::Number,
        kind if is_text(kind) => Family::Text,
        kind if is_binary(kind) || matches!(kind, D::FixedSizeBinary(_)) => Family::Bytes,
        D::Date32 | D::Date64 => Family::Date,
        D::Timestamp(_, _) => Family::Timestamp,
        D::Time32(_) | D::Time64(_) => Family::Time,
        D::Duration(_) => Family::Duration,
        _ => return None,
    })
}

/// The type of the numbers of units of a type.
fn count_type(kind: &DataType) -> DataType {
    match kind {
        DataType::Date32 | DataType::Time32(_) => DataType::Int32,
        _ => DataType::Int64,
    }
}

fn is_castable(own: &DataType, target: &DataType) -> bool {
    use Family as F;
    let (Some(from), Some(to)) = (family(own), family(target)) else { return false };
    match (from, to) {
        (F::Number, F::Number | F::Text) => true,
        (F::Number, F::Date | F::Timestamp | F::Time | F::Duration) => *own == count_type(target),
        (F::Date | F::Timestamp | F::Time | F::Duration, F::Number) => *target == count_type(own),
        (F::Text, _) | (F::Bytes, F::Bytes | F::Text) => true,
        (F::Date | F::Timestamp, F::Date | F::Timestamp) | (F::Timestamp, F::Time) => true,
        (F::Date | F::Timestamp | F::Time | F::Duration, F::Text) => true,
        (from, to) => from == to,
    }
}

pub(super) fn leaf(array: &ArrayRef, target: &DataType, zones: Zones<'_>) -> Outcome<ArrayRef> {
    let own = array.data_type();
    if !is_castable(own, target) {
        return Err(unsupported(own, target));
    }
    if array.null_count() == array.len() {
        return Ok(new_null_array(target, array.len()));
    }
    let is_same_family = family(own) == family(target);
    if is_same_family && !matches!(own, DataType::Timestamp(_, _)) && holds(target, own) {
        // An error has no row here.
        if let Ok(cast) = arrow_cast(array, target) {
            return Ok(cast);
        }
    }
    if is_text(target) {
        return Ok(arrow_cast(&texts(array, Style::Cast, zones)?, target)?);
    }
    let values = Values { array, read: reader(array, zones)?, target };
    values.cast()
}

/// Texts of values that are not nested and not encoded.
pub(super) fn texts(array: &ArrayRef, style: Style, zones: Zones<'_>) -> Outcome<ArrayRef> {
    if family(array.data_type()).is_none() {
        return Err(unsupported(array.data_type(), &DataType::Utf8));
    }
    let read = reader(array, zones)?;
    let mut texts = StringBuilder::with_capacity(array.len(), array.len().saturating_mul(8));
    let mut text = String::new();
    for row in 0..array.len() {
        if array.is_null(row) {
            texts.append_null();
            continue;
        }
        text.clear();
        let value = read(row);
        if !value.write(&mut text, style) {
            let message = format!("{} of {} is no text in UTF-8", value.shown(), TypeName(array.data_type()));
            return Err(Fault::value(message, row));
        }
        texts.append_value(&text);
    }
    Ok(Arc::new(texts.finish()))
}

/// Values that get another type.
struct Values<'a> {
    array: &'a ArrayRef,
    read: Reader<'a>,
    target: &'a DataType,
}

impl Values<'_> {
    fn cast(&self) -> Outcome<ArrayRef> {
        use DataType as D;
        match self.target {
            D::Boolean => {
                let mut made = BooleanBuilder::with_capacity(self.array.len());
                self.each(|value| value.boolean(), |value| made.append_option(value))?;
                Ok(Arc::new(made.finish()))
            }
            D::Int8 => self.integers::<Int8Type>(),
            D::Int16 => self.integers::<Int16Type>(),
            D::Int32 => self.integers::<Int32Type>(),
            D::Int64 => self.integers::<Int64Type>(),
            D::UInt8 => self.integers::<UInt8Type>(),
            D::UInt16 => self.integers::<UInt16Type>(),
            D::UInt32 => self.integers::<UInt32Type>(),
            D::UInt64 => self.integers::<UInt64Type>(),
            D::Float16 => self.primitives::<Float16Type>(|value| value.half()),
            D::Float32 => self.primitives::<Float32Type>(|value| value.single()),
            D::Float64 => self.primitives::<Float64Type>(|value| value.double()),
            D::Decimal32(precision, scale) => self
                .primitives::<Decimal32Type>(|value| i32::try_from(value.decimal(*precision, *scale)?.to_i128()?).ok()),
            D::Decimal64(precision, scale) => self
                .primitives::<Decimal64Type>(|value| i64::try_from(value.decimal(*precision, *scale)?.to_i128()?).ok()),
            D::Decimal128(precision, scale) => {
                self.primitives::<Decimal128Type>(|value| value.decimal(*precision, *scale)?.to_i128())
            }
            D::Decimal256(precision, scale) => {
                self.primitives::<Decimal256Type>(|value| -> Option<i256> { value.decimal(*precision, *scale) })
            }
            D::Date32 => self.counts::<Date32Type>(|value| value.days()),
            D::Date64 => self.counts::<Date64Type>(|value| value.date_millis()),
            D::Time32(TimeUnit::Second) => self.counts::<Time32SecondType>(|value| value.time(TimeUnit::Second)),
            D::Time32(_) => self.counts::<Time32MillisecondType>(|value| value.time(TimeUnit::Millisecond)),
            D::Time64(TimeUnit::Microsecond) => {
                self.counts::<Time64MicrosecondType>(|value| value.time(TimeUnit::Microsecond))
            }
            D::Time64(_) => self.counts::<Time64NanosecondType>(|value| value.time(TimeUnit::Nanosecond)),
            D::Timestamp(unit, zone) => {
                let count = |value: &Value<'_>| value.timestamp(*unit, zone.is_some());
                match unit {
                    TimeUnit::Second => self.counts::<TimestampSecondType>(count),
                    TimeUnit::Millisecond => self.counts::<TimestampMillisecondType>(count),
                    TimeUnit::Microsecond => self.counts::<TimestampMicrosecondType>(count),
                    TimeUnit::Nanosecond => self.counts::<TimestampNanosecondType>(count),
                }
            }
            D::Duration(unit) => {
                let count = |value: &Value<'_>| value.duration(*unit);
                match unit {
                    TimeUnit::Second => self.counts::<DurationSecondType>(count),
                    TimeUnit::Millisecond => self.counts::<DurationMillisecondType>(count),
                    TimeUnit::Microsecond => self.counts::<DurationMicrosecondType>(count),
                    TimeUnit::Nanosecond => self.counts::<DurationNanosecondType>(count),
                }
            }
            D::FixedSizeBinary(width) => {
                let mut made = FixedSizeBinaryBuilder::with_capacity(self.array.len(), *width);
                let is_wide = |bytes: &&[u8]| i32::try_from(bytes.len()).is_ok_and(|length| length == *width);
                for row in 0..self.array.len() {
                    if self.array.is_null(row) {
                        made.append_null();
                        continue;
                    }
                    let value = (self.read)(row);
                    let bytes = value.bytes().filter(is_wide).ok_or_else(|| self.fault(&value, row))?;
                    made.append_value(bytes)?;
                }
                Ok(Arc::new(made.finish()))
            }
            target => {
                let mut made = LargeBinaryBuilder::with_capacity(self.array.len(), 0);
                for row in 0..self.array.len() {
                    if self.array.is_null(row) {
                        made.append_null();
                        continue;
                    }
                    let value = (self.read)(row);
                    made.append_value(value.bytes().ok_or_else(|| self.fault(&value, row))?);
                }
                Ok(arrow_cast(&(Arc::new(made.finish()) as ArrayRef), target)?)
            }
        }
    }

    fn fault(&self, value: &Value<'_>, row: usize) -> Fault {
        let (own, target) = (TypeName(self.array.data_type()), TypeName(self.target));
        let message = if is_text(self.array.data_type()) {
            format!("{} is not the text of a value of {target}", value.shown())
        } else {
            format!("{} of {own} is not a value of {target}", value.shown())
        };
        Fault::value(message, row)
    }

    /// Converts each value, in order. Nulls stay null.
    fn each<T>(&self, convert: impl Fn(&Value<'_>) -> Option<T>, mut append: impl FnMut(Option<T>)) -> Outcome<()> {
        for row in 0..self.array.len() {
            if self.array.is_null(row) {
                append(None);
                continue;
            }
            let value = (self.read)(row);
            let converted = convert(&value);
            append(Some(converted.ok_or_else(|| self.fault(&value, row))?));
        }
        Ok(())
    }

    fn primitives<T: ArrowPrimitiveType>(
        &self,
        convert: impl Fn(&Value<'_>) -> Option<T::Native>,
    ) -> Outcome<ArrayRef> {
        let mut made = PrimitiveBuilder::<T>::with_capacity(self.array.len()).with_data_type(self.target.clone());
        self.each(convert, |value| made.append_option(value))?;
        Ok(Arc::new(made.finish()))
    }

    fn integers<T: ArrowPrimitiveType<Native: TryFrom<i128>>>(&self) -> Outcome<ArrayRef> {
        self.primitives::<T>(|value| value.integer()?.try_into().ok())
    }

    fn counts<T: ArrowPrimitiveType<Native: TryFrom<i64>>>(
        &self,
        count: impl Fn(&Value<'_>) -> Option<i64>,
    ) -> Outcome<ArrayRef> {
        self.primitives::<T>(|value| count(value)?.try_into().ok())
    }
}
