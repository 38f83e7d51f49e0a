//! Hashes of values. Equal values of different Arrow types have equal hashes.
//!
//! | values | hashed data |
//! |---|---|
//! | integers, booleans, dates, times, durations | the number |
//! | timestamps | nanoseconds |
//! | decimals | the number without trailing zeros and its scale; an integer if the scale is 0 |
//! | floating point numbers | bits of the double, with one NaN and one zero |
//! | strings, binary | bytes |

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowDictionaryKeyType, ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayAccessor, BooleanArray};
use arrow_schema::{DataType, TimeUnit};
use arrow_select::filter::filter;

use super::sketch::HyperLogLog;
use crate::error::{Error, Result};
use crate::hash::bytes as hash_bytes;

/// The increment of SplitMix64. It is also the factor of the scale in the hash of a decimal.
const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The bijective mixing function of SplitMix64.
fn mix(mut word: u64) -> u64 {
    word = word.wrapping_add(GOLDEN_GAMMA);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

fn integer(value: i64) -> u64 {
    mix(value.cast_unsigned())
}

fn large(value: i128) -> u64 {
    match i64::try_from(value) {
        Ok(value) => integer(value),
        #[expect(clippy::cast_possible_truncation, reason = "a number is taken apart into its halves")]
        Err(_) => mix(mix(value as u64) ^ mix((value >> 64) as u64).rotate_left(32)),
    }
}

fn float(value: f64) -> u64 {
    // -0.0 + 0.0 is 0.0.
    let value = if value.is_nan() { f64::NAN } else { value + 0.0 };
    mix(value.to_bits())
}

fn decimal(value: i128, scale: i8) -> u64 {
    let (mut value, mut scale) = (value, scale);
    // Most decimals fit into 64 bits, whose division is much faster.
    if let Ok(mut short) = i64::try_from(value) {
        while scale > 0 && short % 10 == 0 && short != 0 {
            (short, scale) = (short / 10, scale - 1);
        }
        value = short.into();
    }
    while scale > 0 && value % 10 == 0 && value != 0 {
        (value, scale) = (value / 10, scale - 1);
    }
    while scale < 0
        && let Some(more) = value.checked_mul(10)
    {
        (value, scale) = (more, scale + 1);
    }
    match scale {
        _ if value == 0 => large(0),
        0 => large(value),
        scale => mix(large(value) ^ u64::from(scale.cast_unsigned()).wrapping_mul(GOLDEN_GAMMA)),
    }
}

impl HyperLogLog {
    /// Adds the values of an array. Nulls are ignored.
    ///
    /// # Errors
    /// `Unsupported` for nested types. Their children can be added.
    pub fn add(&mut self, array: &dyn Array) -> Result<()> {
        add(self, array)
    }
}

fn primitive<T: ArrowPrimitiveType>(to: &mut HyperLogLog, array: &dyn Array, hash: impl Fn(T::Native) -> u64) {
    let Some(array) = array.as_primitive_opt::<T>() else { return };
    if array.null_count() == 0 {
        array.values().iter().for_each(|value| to.insert(hash(*value)));
    } else {
        array.iter().flatten().for_each(|value| to.insert(hash(value)));
    }
}

fn bytes<'a, A>(to: &mut HyperLogLog, array: Option<A>)
where
    A: ArrayAccessor<Item: AsRef<[u8]>> + 'a,
{
    let Some(array) = array else { return };
    for at in (0..array.len()).filter(|at| array.is_valid(*at)) {
        to.insert(hash_bytes(array.value(at).as_ref()));
    }
}

/// Adds the values of an array.
fn add(to: &mut HyperLogLog, array: &dyn Array) -> Result<()> {
    use DataType as D;
    macro_rules! integers {
        ($type:ty) => {
            primitive::<$type>(to, array, |value| integer(value.into()))
        };
    }
    match array.data_type() {
        D::Null => {}
        D::Boolean => {
            let Some(array) = array.as_boolean_opt() else { return Ok(()) };
            if array.has_true() {
                to.insert(integer(1));
            }
            if array.has_false() {
                to.insert(integer(0));
            }
        }
        D::Int8 => integers!(Int8Type),
        D::Int16 => integers!(Int16Type),
        D::Int32 => integers!(Int32Type),
        D::Int64 => integers!(Int64Type),
        D::UInt8 => integers!(UInt8Type),
        D::UInt16 => integers!(UInt16Type),
        D::UInt32 => integers!(UInt32Type),
        D::UInt64 => primitive::<UInt64Type>(to, array, |value| large(value.into())),
        D::Float16 => primitive::<Float16Type>(to, array, |value| float(value.into())),
        D::Float32 => primitive::<Float32Type>(to, array, |value| float(value.into())),
        D::Float64 => primitive::<Float64Type>(to, array, float),
        D::Decimal32(_, scale) => primitive::<Decimal32Type>(to, array, |value| decimal(value.into(), *scale)),
        D::Decimal64(_, scale) => primitive::<Decimal64Type>(to, array, |value| decimal(value.into(), *scale)),
        D::Decimal128(_, scale) => primitive::<Decimal128Type>(to, array, |value| decimal(value, *scale)),
        D::Date32 => integers!(Date32Type),
        D::Date64 => primitive::<Date64Type>(to, array, |value| integer(value.div_euclid(86_400_000))),
        D::Time32(TimeUnit::Second) => time::<Time32SecondType>(to, array, 1_000_000_000),
        D::Time32(_) => time::<Time32MillisecondType>(to, array, 1_000_000),
        D::Time64(TimeUnit::Microsecond) => time::<Time64MicrosecondType>(to, array, 1_000),
        D::Time64(_) => time::<Time64NanosecondType>(to, array, 1),
        D::Timestamp(TimeUnit::Second, _) => time::<TimestampSecondType>(to, array, 1_000_000_000),
        D::Timestamp(TimeUnit::Millisecond, _) => time::<TimestampMillisecondType>(to, array, 1_000_000),
        D::Timestamp(TimeUnit::Microsecond, _) => time::<TimestampMicrosecondType>(to, array, 1_000),
        D::Timestamp(TimeUnit::Nanosecond, _) => time::<TimestampNanosecondType>(to, array, 1),
        D::Duration(TimeUnit::Second) => time::<DurationSecondType>(to, array, 1_000_000_000),
        D::Duration(TimeUnit::Millisecond) => time::<DurationMillisecondType>(to, array, 1_000_000),
        D::Duration(TimeUnit::Microsecond) => time::<DurationMicrosecondType>(to, array, 1_000),
        D::Duration(TimeUnit::Nanosecond) => time::<DurationNanosecondType>(to, array, 1),
        D::Utf8 => bytes(to, array.as_string_opt::<i32>()),
        D::LargeUtf8 => bytes(to, array.as_string_opt::<i64>()),
        D::Utf8View => bytes(to, array.as_string_view_opt()),
        D::Binary => bytes(to, array.as_binary_opt::<i32>()),
        D::LargeBinary => bytes(to, array.as_binary_opt::<i64>()),
        D::BinaryView => bytes(to, array.as_binary_view_opt()),
        D::FixedSizeBinary(_) => bytes(to, array.as_fixed_size_binary_opt()),
        D::Dictionary(keys, _) => return dictionary(to, array, keys),
        other => return Err(Error::unsupported(format!("values of type {other} are not counted"))),
    }
    Ok(())
}

/// Adds times in a unit of `unit` nanoseconds.
fn time<T: ArrowPrimitiveType<Native: Into<i64>>>(to: &mut HyperLogLog, array: &dyn Array, unit: i64) {
    primitive::<T>(to, array, |value| {
        let value: i64 = value.into();
        value.checked_mul(unit).map_or_else(|| large(i128::from(value) * i128::from(unit)), integer)
    });
}

fn dictionary(to: &mut HyperLogLog, array: &dyn Array, keys: &DataType) -> Result<()> {
    use DataType as D;
    match keys {
        D::Int8 => dictionary_values::<Int8Type>(to, array),
        D::Int16 => dictionary_values::<Int16Type>(to, array),
        D::Int32 => dictionary_values::<Int32Type>(to, array),
        D::Int64 => dictionary_values::<Int64Type>(to, array),
        D::UInt8 => dictionary_values::<UInt8Type>(to, array),
        D::UInt16 => dictionary_values::<UInt16Type>(to, array),
        D::UInt32 => dictionary_values::<UInt32Type>(to, array),
        _ => dictionary_values::<UInt64Type>(to, array),
    }
}

/// Adds the values of a dictionary that keys refer to.
fn dictionary_values<K: ArrowDictionaryKeyType>(to: &mut HyperLogLog, array: &dyn Array) -> Result<()> {
    let Some(array) = array.as_dictionary_opt::<K>() else { return Ok(()) };
    let mut used = vec![false; array.values().len()];
    for key in (0..array.len()).filter_map(|at| array.key(at)) {
        *used.get_mut(key).ok_or_else(|| Error::invalid(format!("a dictionary without the value of key {key}")))? =
            true;
    }
    let values = filter(array.values(), &BooleanArray::from(used));
    add(to, &values.map_err(|error| Error::unsupported("entries of a dictionary").with_source(error))?)
}
