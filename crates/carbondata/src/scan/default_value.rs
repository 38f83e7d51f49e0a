//! Default values of columns that were added to a table.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int8Array,
    Int16Array, Int32Array, Int64Array, StringArray, TimestampMicrosecondArray, new_null_array,
};
use orcish_core::{Error, Result};

use crate::bytes::{ByteReader, big_integer};
use crate::metadata::format::EPOCH_KEY;
use crate::metadata::schema::{CarbonType, Column};

/// The default value of a column, as an array of length one.
///
/// Numbers and strings are stored as text, dates as the text of their surrogate key, timestamps as an integer with
/// flipped sign bit, decimals as scale and unscaled value.
pub(super) fn default(column: &Column) -> Result<ArrayRef> {
    let data_type = column.data_type();
    let Some(bytes) = column.default.as_deref() else { return Ok(new_null_array(&data_type, 1)) };
    let wrong = || Error::corrupt(format!("the default of {} bytes is no {:?}", bytes.len(), column.carbon_type));
    let text = || std::str::from_utf8(bytes).map(str::trim).map_err(|_| wrong());
    fn parse<T: std::str::FromStr>(text: &str, wrong: impl Fn() -> Error) -> Result<T> {
        text.parse().map_err(|_| wrong())
    }
    Ok(match column.carbon_type {
        CarbonType::Boolean => Arc::new(BooleanArray::from(vec![text()?.eq_ignore_ascii_case("true")])),
        CarbonType::Byte => Arc::new(Int8Array::from(vec![parse::<i8>(text()?, wrong)?])),
        CarbonType::Short => Arc::new(Int16Array::from(vec![parse::<i16>(text()?, wrong)?])),
        CarbonType::Int => Arc::new(Int32Array::from(vec![parse::<i32>(text()?, wrong)?])),
        CarbonType::Long => Arc::new(Int64Array::from(vec![parse::<i64>(text()?, wrong)?])),
        CarbonType::Float => Arc::new(Float32Array::from(vec![parse::<f32>(text()?, wrong)?])),
        CarbonType::Double => Arc::new(Float64Array::from(vec![parse::<f64>(text()?, wrong)?])),
        CarbonType::String | CarbonType::Varchar => {
            Arc::new(StringArray::from(vec![std::str::from_utf8(bytes).map_err(|_| wrong())?]))
        }
        CarbonType::Binary => Arc::new(BinaryArray::from(vec![bytes])),
        CarbonType::Date => {
            let key = parse::<i32>(text()?, wrong)?;
            // Key 1 is null.
            let days = (key != 1).then(|| key.checked_sub(EPOCH_KEY).ok_or_else(wrong)).transpose()?;
            Arc::new(Date32Array::from(vec![days]))
        }
        CarbonType::Timestamp => {
            let millis = ByteReader::new(bytes).i64()? ^ i64::MIN;
            let micros = millis.checked_mul(1000).ok_or_else(wrong)?;
            Arc::new(TimestampMicrosecondArray::from(vec![micros]).with_timezone("UTC"))
        }
        CarbonType::Decimal { precision, scale } => {
            let (&stored_scale, digits) = bytes.split_first().ok_or_else(wrong)?;
            let more = scale.checked_sub_unsigned(stored_scale).filter(|more| *more >= 0).ok_or_else(wrong)?;
            let power = 10i128.checked_pow(u32::from(more.unsigned_abs())).ok_or_else(wrong)?;
            let value = big_integer(digits).and_then(|value| value.checked_mul(power)).ok_or_else(wrong)?;
            let array = Decimal128Array::from(vec![value]).with_precision_and_scale(precision, scale);
            Arc::new(array.map_err(|_| wrong())?)
        }
        CarbonType::Array | CarbonType::Struct | CarbonType::Map => new_null_array(&data_type, 1),
    })
}
