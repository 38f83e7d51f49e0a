//! Global dictionaries, which tables of 1.x have in files beside their schema.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::builder::StringBuilder;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use arrow_array::{ArrayRef, BooleanArray, PrimitiveArray};
use orcish_core::{Error, Limits, Result};
use orcish_io::{ReadAt, StorageOptions};

use crate::metadata::file_names::check_name;
use crate::metadata::format::{DictionaryChunk, DictionaryChunkMeta, NULL_TEXT};
use crate::metadata::schema::{CarbonType, Column};
use crate::metadata::thrift::ThriftReader;

/// Looks up the global dictionary of a column: an array of the column's type, in which index k is the value of key k.
/// Keys 0 and 1 are null.
pub(crate) type Dictionaries = Arc<dyn Fn(&Column) -> Result<ArrayRef> + Send + Sync>;

/// The global dictionaries of a table with the metadata folder `metadata`. Each dictionary is read once, when it is
/// needed.
pub(crate) fn global_dictionaries(metadata: &str, options: &StorageOptions, limits: &Limits) -> Dictionaries {
    let (metadata, options, limits) = (metadata.trim_end_matches('/').to_owned(), options.clone(), limits.clone());
    let read: Mutex<HashMap<String, ArrayRef>> = Mutex::default();
    Arc::new(move |column| {
        // The lock is held while a dictionary is read, so that it is read once.
        let mut read = read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = read.get(&column.id) {
            return Ok(Arc::clone(known));
        }
        // Column ids are parts of file names.
        check_name(&column.id)?;
        let open = |carbon_type: &str| orcish_io::open(&format!("{metadata}/{}.{carbon_type}", column.id), &options);
        let dictionary = open("dict")
            .and_then(|values| self::read(&*values, &*open("dictmeta")?, column, &limits))
            .map_err(|error| error.in_column(&column.name))?;
        read.insert(column.id.clone(), Arc::clone(&dictionary));
        Ok(dictionary)
    })
}

/// Reads a dictionary. Index k of the array is the value of key k; keys 0 (unused) and 1 are null.
///
/// # Errors
/// `Io` where a file cannot be read, `Corrupt` where it is not a dictionary, `LimitExceeded` for large ones.
pub(crate) fn read(values: &dyn ReadAt, meta: &dyn ReadAt, column: &Column, limits: &Limits) -> Result<ArrayRef> {
    let end = end(&whole(meta, meta.size()?, limits)?, limits).map_err(|error| error.in_file(meta.name()))?;
    let in_file = |error: Error| error.in_file(values.name());
    if end > values.size()? {
        return Err(in_file(Error::corrupt(format!("a dictionary of fewer bytes than the {end} it should have"))));
    }
    let chunks = chunks(&whole(values, end, limits)?, limits).map_err(in_file)?;
    array(&chunks, column.carbon_type).map_err(in_file)
}

fn whole(source: &dyn ReadAt, length: u64, limits: &Limits) -> Result<bytes::Bytes> {
    // The decoded dictionary takes a multiple of its stored size.
    if length > limits.tail.min(limits.memory / 16) {
        return Err(Error::limit(format!("a dictionary of {length} bytes")).in_file(source.name()));
    }
    source.read_range(0..length)
}

/// The committed length of a dictionary. Bytes behind it belong to a failed load.
fn end(meta: &[u8], limits: &Limits) -> Result<u64> {
    let mut reader = ThriftReader::new(meta, limits);
    let mut end = 0;
    while !reader.is_empty() {
        end = reader.read_struct::<DictionaryChunkMeta>()?.end_offset;
    }
    u64::try_from(end).map_err(|_| Error::corrupt(format!("a dictionary that ends at {end}")))
}

fn chunks(bytes: &[u8], limits: &Limits) -> Result<Vec<DictionaryChunk>> {
    let mut reader = ThriftReader::new(bytes, limits);
    let mut all = Vec::new();
    while !reader.is_empty() {
        all.push(reader.read_struct()?);
    }
    Ok(all)
}

impl DictionaryChunk {
    /// The values of the chunk.
    fn values(&self) -> impl Iterator<Item = Option<&[u8]>> {
        let mut rest = self.bytes.as_slice();
        let values = self.lengths.iter().map(move |&length| {
            let (value, behind) = rest.split_at(length);
            rest = behind;
            value
        });
        values.map(|value| Some(value).filter(|&value| value != NULL_TEXT))
    }
}

/// Parses the strings in the type of the column. Invalid strings are null, as in Apache's reader.
fn array(chunks: &[DictionaryChunk], carbon_type: CarbonType) -> Result<ArrayRef> {
    let bytes: usize = chunks.iter().map(|chunk| chunk.bytes.len()).sum();
    let count: usize = chunks.iter().map(|chunk| chunk.lengths.len()).sum();
    let all = std::iter::once(None).chain(chunks.iter().flat_map(DictionaryChunk::values));
    let strings = all.map(|value| value.and_then(|value| std::str::from_utf8(value).ok()));
    Ok(match carbon_type {
        CarbonType::String | CarbonType::Varchar => {
            if i32::try_from(bytes).is_err() {
                return Err(Error::limit(format!("a dictionary of {bytes} bytes of text")));
            }
            let mut builder = StringBuilder::with_capacity(count + 1, bytes);
            strings.for_each(|string| builder.append_option(string));
            Arc::new(builder.finish())
        }
        CarbonType::Boolean => {
            Arc::new(strings.map(|string| string?.to_ascii_lowercase().parse().ok()).collect::<BooleanArray>())
        }
        CarbonType::Byte => parse_primitive::<Int8Type>(strings),
        CarbonType::Short => parse_primitive::<Int16Type>(strings),
        CarbonType::Int => parse_primitive::<Int32Type>(strings),
        CarbonType::Long => parse_primitive::<Int64Type>(strings),
        CarbonType::Float => parse_primitive::<Float32Type>(strings),
        CarbonType::Double => parse_primitive::<Float64Type>(strings),
        CarbonType::Decimal { precision, scale } => {
            let values = strings.map(|string| decimal(string?, scale));
            let values: PrimitiveArray<Decimal128Type> = values.collect();
            let values = values.with_precision_and_scale(precision, scale);
            Arc::new(values.map_err(|error| Error::corrupt(error.to_string()))?)
        }
        carbon_type => return Err(Error::unsupported(format!("dictionaries of type {carbon_type:?} are not known"))),
    })
}

fn parse_primitive<'a, T>(strings: impl Iterator<Item = Option<&'a str>>) -> ArrayRef
where
    T: ArrowPrimitiveType,
    T::Native: FromStr,
{
    let values = strings.map(|string| string?.trim().parse::<T::Native>().ok());
    let mut array = arrow_array::builder::PrimitiveBuilder::<T>::new();
    values.for_each(|value| array.append_option(value));
    Arc::new(array.finish())
}

/// The unscaled value of a decimal such as `-1.50` or `15E-1`; `None` where it has more decimal places than `scale`.
fn decimal(string: &str, scale: i8) -> Option<i128> {
    let (number, exponent) = match string.trim().split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
        None => (string.trim(), 0),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    let stored_scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    let more_digits = i32::from(scale).checked_sub(stored_scale)?;
    let factor = 10i128.checked_pow(more_digits.unsigned_abs())?;
    match more_digits {
        0.. => digits.checked_mul(factor),
        _ if digits % factor == 0 => Some(digits / factor),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray as _;
    use arrow_array::{Array as _, Int32Array};
    use orcish_io::MemorySource;

    use super::*;

    /// Chunks with one value each.
    fn stored(values: &[&str]) -> Vec<u8> {
        let chunk = |value: &&str| {
            let length = u8::try_from(value.len()).unwrap();
            [&[0x19, 0x18, length][..], value.as_bytes(), &[0]].concat()
        };
        values.iter().flat_map(chunk).collect()
    }

    fn meta(end: u8) -> Vec<u8> {
        vec![0x46, 2, 0, 0x46, end * 2, 0]
    }

    fn of(carbon_type: CarbonType, values: &[&str], length: u8) -> Result<ArrayRef> {
        let column = Column::sample("c", carbon_type);
        let (values, meta) = (MemorySource::new(stored(values)), MemorySource::new(meta(length)));
        read(&values, &meta, &column, &Limits::default())
    }

    #[test]
    fn values_of_committed_loads() {
        let found = of(CarbonType::Int, &["@NU#LL$!", "42", "x", "-7", "8"], 12 + 6 + 5 + 6).unwrap();
        let expected: Int32Array = [None, None, Some(42), None, Some(-7)].into_iter().collect();
        assert_eq!(found.as_primitive(), &expected);
        let found = of(CarbonType::String, &["@NU#LL$!", "a", ""], 12 + 5 + 4).unwrap();
        let found: Vec<Option<&str>> = found.as_string::<i32>().iter().collect();
        assert_eq!(found, [None, None, Some("a"), Some("")]);
        assert!(of(CarbonType::Int, &["@NU#LL$!"], 13).is_err());
        assert!(of(CarbonType::Int, &["@NU#LL$!"], 11).is_err());
        assert_eq!(of(CarbonType::Int, &[], 0).unwrap().len(), 1);
    }

    #[test]
    fn decimals_are_parsed() {
        assert_eq!(decimal("-1.5", 2), Some(-150));
        assert_eq!(decimal("-0.5", 2), Some(-50));
        assert_eq!(decimal("15E-1", 2), Some(150));
        assert_eq!(decimal("1.50", 1), Some(15));
        assert_eq!(decimal("1.55", 1), None);
        assert_eq!(decimal("1e99", 1), None);
        assert_eq!(decimal("1e-2147483648", 1), None);
        assert_eq!(decimal("one", 1), None);
    }
}
