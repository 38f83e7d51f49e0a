//! `ValueEncoderMeta`: the metadata of pages of measures with the encoding `DELTA`, which files up to version 1.1 have.

use orcish_core::{Error, Result};

use super::java_serialization::{MAGIC, Number, ObjectReader};
use crate::bytes::ByteReader;

/// The range of the values of a page. Its variant is the field `type`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ValueRange {
    /// Type `d`: integers, stored in the width that the range needs.
    Long { max: i64, min: i64 },
    /// Type `n`.
    Double { max: f64, min: f64 },
    /// Type `b`.
    Decimal,
    /// Type `l`: integers of eight bytes.
    BigInt,
}

/// `ValueEncoderMeta`, which determines how the values of a page are stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ValueEncoderMeta {
    pub(crate) range: ValueRange,
    /// `decimal`: maximum number of digits after the decimal point.
    pub(crate) decimals: i32,
    /// Whether `dataTypeSelected` is 1: values that are exact as floats are stored as floats.
    pub(crate) is_float: bool,
}

impl ValueEncoderMeta {
    /// Reads the metadata of a page: a serialized Java object in versions 1 and 2, plain fields in version 3.
    ///
    /// # Errors
    /// `Corrupt` for bytes that are neither.
    pub(super) fn read(bytes: &[u8]) -> Result<Self> {
        if bytes.starts_with(&MAGIC.to_be_bytes()) { Self::read_java(bytes) } else { Self::read_v3(bytes) }
    }

    /// Reads the fields that version 3 writes.
    pub(super) fn read_v3(bytes: &[u8]) -> Result<Self> {
        let mut bytes = ByteReader::new(bytes);
        let range = match bytes.u16()?.to_be_bytes() {
            [0, b'n'] => {
                let range = ValueRange::Double { max: bytes.f64()?, min: bytes.f64()? };
                bytes.f64()?;
                range
            }
            [0, b'd'] => {
                let range = ValueRange::Long { max: bytes.i64()?, min: bytes.i64()? };
                bytes.i64()?;
                range
            }
            [0, b'b'] => ValueRange::Decimal,
            other => return Err(Error::corrupt(format!("no measure has the type {other:?}"))),
        };
        Ok(ValueEncoderMeta { range, decimals: bytes.i32()?, is_float: bytes.u8()? == 1 })
    }

    /// Reads a serialized Java object.
    fn read_java(bytes: &[u8]) -> Result<Self> {
        Self::read_object(bytes).map_err(|error| Error::corrupt(format!("the meta of a measure: {}", error.message())))
    }

    fn read_object(bytes: &[u8]) -> Result<Self> {
        let (mut reader, class) = ObjectReader::open(bytes)?;
        let (mut data_type_selected, mut decimals, mut value_type) = (0, 0, 0);
        let (mut max, mut min) = (Number::None, Number::None);
        // Java writes primitive fields before objects, so that the type is known when the range is read.
        for (code, name) in &class.fields {
            match (code, name.as_str()) {
                (b'B', "dataTypeSelected") => data_type_selected = reader.bytes.u8()?,
                (b'I', "decimal") => decimals = reader.bytes.i32()?,
                (b'C', "type") => value_type = reader.bytes.u16()?,
                // The range of decimals consists of `BigDecimal`s. It is not needed.
                (b'L', _) if value_type == u16::from(b'b') => break,
                (b'L', "maxValue") => max = reader.number()?,
                (b'L', "minValue") => min = reader.number()?,
                (b'L', _) => _ = reader.number()?,
                (code, _) => reader.skip(*code)?,
            }
        }
        let range = match (value_type.to_be_bytes(), max, min) {
            ([0, b'b'], ..) => ValueRange::Decimal,
            ([0, b'l'], ..) => ValueRange::BigInt,
            ([0, b'd'], Number::Long(max), Number::Long(min)) => ValueRange::Long { max, min },
            ([0, b'n'], Number::Double(max), Number::Double(min)) => ValueRange::Double { max, min },
            _ => {
                let text = format!("type {value_type}, maximum {max:?} and minimum {min:?} do not go together");
                return Err(Error::corrupt(text));
            }
        };
        Ok(ValueEncoderMeta { range, decimals, is_float: data_type_selected == 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::super::java_serialization::{TC_CLASSDESC, TC_ENDBLOCKDATA, TC_OBJECT, TC_REFERENCE, TC_STRING};
    use super::*;

    const TC_NULL: u8 = 0x70;

    fn utf(text: &str) -> Vec<u8> {
        [&u16::try_from(text.len()).unwrap().to_be_bytes()[..], text.as_bytes()].concat()
    }

    /// A serialized `ValueEncoderMeta` whose bounds are objects of a class with one field.
    fn serialized(carbon_type: u8, decimals: i32, class: &str, code: u8, bounds: [[u8; 8]; 3]) -> Vec<u8> {
        let object = [&[TC_STRING][..], &utf("Ljava/lang/Object;")].concat();
        let mut all = vec![0xac, 0xed, 0, 5, TC_OBJECT, TC_CLASSDESC];
        all.extend(utf("org.apache.carbondata.core.metadata.ValueEncoderMeta"));
        all.extend([1; 8]);
        all.extend([2, 0, 6]);
        for (code, name) in [(b'B', "dataTypeSelected"), (b'I', "decimal"), (b'C', "type")] {
            all.push(code);
            all.extend(utf(name));
        }
        for (at, name) in ["maxValue", "minValue", "uniqueValue"].into_iter().enumerate() {
            all.push(b'L');
            all.extend(utf(name));
            all.extend(if at == 0 { object.clone() } else { vec![TC_REFERENCE, 0, 0x7e, 0, 1] });
        }
        all.extend([TC_ENDBLOCKDATA, TC_NULL, 0]);
        all.extend(decimals.to_be_bytes());
        all.extend([0, carbon_type, TC_OBJECT, TC_CLASSDESC]);
        all.extend(utf(class));
        all.extend([2; 8]);
        all.extend([2, 0, 1, code]);
        all.extend(utf("value"));
        all.extend([TC_ENDBLOCKDATA, TC_CLASSDESC]);
        all.extend(utf("java.lang.Number"));
        all.extend([3; 8]);
        all.extend([2, 0, 0, TC_ENDBLOCKDATA, TC_NULL]);
        for (at, bound) in bounds.into_iter().enumerate() {
            if at > 0 {
                all.extend([TC_OBJECT, TC_REFERENCE, 0, 0x7e, 0, 3]);
            }
            all.extend(bound);
        }
        all
    }

    #[test]
    fn boxed_numbers_are_read() {
        let longs = [-5i64, -70_000, 0].map(i64::to_be_bytes);
        let bytes = serialized(b'd', 0, "java.lang.Long", b'J', longs);
        let expected =
            ValueEncoderMeta { range: ValueRange::Long { max: -5, min: -70_000 }, decimals: 0, is_float: false };
        assert_eq!(ValueEncoderMeta::read_java(&bytes).unwrap(), expected);
        for end in 0..bytes.len() - 6 - 8 {
            assert!(ValueEncoderMeta::read_java(bytes.get(..end).unwrap()).is_err(), "{end}");
        }
        let doubles = [1.5f64, -2.25, 0.0].map(f64::to_be_bytes);
        let bytes = serialized(b'n', 2, "java.lang.Double", b'D', doubles);
        let expected =
            ValueEncoderMeta { range: ValueRange::Double { max: 1.5, min: -2.25 }, decimals: 2, is_float: false };
        assert_eq!(ValueEncoderMeta::read_java(&bytes).unwrap(), expected);
    }

    #[test]
    fn ranges_of_another_type_are_an_error() {
        let bytes = serialized(b'n', 2, "java.lang.Long", b'J', [[0; 8]; 3]);
        assert!(ValueEncoderMeta::read_java(&bytes).is_err());
        let bytes = serialized(b'd', 2, "java.lang.Long", b'L', [[TC_REFERENCE; 8]; 3]);
        assert!(ValueEncoderMeta::read_java(&bytes).is_err());
        assert!(ValueEncoderMeta::read_java(b"hello").is_err());
    }

    #[test]
    fn changed_bytes_never_panic() {
        let bytes = serialized(b'd', 0, "java.lang.Long", b'J', [[0; 8]; 3]);
        for at in 0..bytes.len() {
            for value in [0, 0x70, 0x71, 0x72, 0x73, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                _ = ValueEncoderMeta::read_java(&changed);
            }
        }
    }
}
