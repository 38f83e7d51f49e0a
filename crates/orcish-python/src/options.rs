//! Options as Python passes them: words and numbers.

use orcish::codec::Compression;
use orcish::options::{
    Columns, InvalidUtf8, LongChar, NullMapKeys, OutOfRange, ReadOptions, StringType, TimestampUnit, Timestamps,
    UnionType,
};
use orcish::write::{ColumnCompression, DictionaryChoice, Version, WriteOptions};
use orcish_core::Limits;
use orcish_io::StorageOptions;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyString};

use crate::errors::{signals, to_python};
use crate::predicate::predicate;

/// Picks the value that the word `given` names.
fn pick<T: Copy>(option: &str, given: &Bound<'_, PyAny>, values: &[(&str, T)]) -> PyResult<T> {
    let word = given.extract::<String>().ok();
    let found = values.iter().find(|(name, _)| Some(*name) == word.as_deref());
    if let Some(&(_, value)) = found {
        return Ok(value);
    }
    let names: Vec<_> = values.iter().map(|(name, _)| *name).collect();
    let given = word.map_or_else(|| given.repr().map(|text| text.to_string()), |word| Ok(format!("{word:?}")))?;
    Err(PyValueError::new_err(format!("{option}={given}: must be one of {}", names.join(", "))))
}

/// The value of an option, of the type that it has to have.
fn take<'a, 'py, T: FromPyObject<'a, 'py>>(option: &str, given: &'a Bound<'py, PyAny>) -> PyResult<T> {
    given.extract().map_err(|error: T::Error| wrong(option, given, error.into()))
}

/// The exception for a value that is none of an option: `ValueError` for numbers out of its range.
fn wrong(option: &str, given: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    let py = given.py();
    let shown = given.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
    if error.is_instance_of::<PyOverflowError>(py) {
        let reason = if given.lt(0).unwrap_or(false) { "must not be negative" } else { "is out of its range" };
        return PyValueError::new_err(format!("{option}={shown}: {reason}"));
    }
    match error.is_instance_of::<PyTypeError>(py) {
        true => PyTypeError::new_err(format!("{option}={shown}: {}", error.value(py))),
        false => error,
    }
}

/// The columns that are to be read: names or column ids, which cannot be mixed.
fn columns(option: &str, given: &Bound<'_, PyAny>) -> PyResult<Columns> {
    if let Ok(names) = given.extract() {
        return Ok(Columns::Names(names));
    }
    given.extract().map(Columns::Ids).or_else(|_: PyErr| {
        let text = format!("{option}={}: must be names, or column ids from 0", given.repr()?);
        let is_numbers = given.extract::<Vec<i128>>().is_ok();
        Err(if is_numbers { PyValueError::new_err(text) } else { PyTypeError::new_err(text) })
    })
}

fn unknown(kind: &str, name: &str) -> PyErr {
    PyValueError::new_err(format!("unknown {kind} {name:?}"))
}

/// The options in `given`; what is `None` or missing stays at its default.
pub(crate) fn read_options(given: Option<&Bound<'_, PyDict>>, limits: &Limits) -> PyResult<ReadOptions> {
    let mut options = ReadOptions { limits: limits.clone(), ..ReadOptions::default() };
    for (name, value) in given.into_iter().flatten() {
        if value.is_none() {
            continue;
        }
        let name: String = name.extract()?;
        match name.as_str() {
            "columns" => options.columns = columns(&name, &value)?,
            "batch_size" => options.batch_size = take(&name, &value)?,
            "threads" => options.threads = take(&name, &value)?,
            "stripes" => options.stripes = Some(take(&name, &value)?),
            "filter" => options.filter = Some(predicate(&value)?),
            "limit" => options.limit = Some(take(&name, &value)?),
            "row_number" => options.row_number = Some(take(&name, &value)?),
            "arrow_schema" => options.arrow_schema = take(&name, &value)?,
            "trim_char" => options.trim_char = take(&name, &value)?,
            "timestamp_unit" => {
                let units = [
                    ("s", TimestampUnit::Second),
                    ("ms", TimestampUnit::Millisecond),
                    ("us", TimestampUnit::Microsecond),
                    ("ns", TimestampUnit::Nanosecond),
                    ("auto", TimestampUnit::Auto),
                ];
                options.timestamp_unit = Some(pick(&name, &value, &units)?);
            }
            "timestamps" => {
                let words = [("wall", Timestamps::Wall), ("instant", Timestamps::Instant)];
                options.timestamps = Some(pick(&name, &value, &words)?);
            }
            "timezone" => {
                let id: String = take(&name, &value)?;
                orcish::time::WriterZone::of_reader(&id).map_err(|error| to_python(value.py(), &error))?;
                options.timezone = Some(id);
            }
            "timestamp_out_of_range" | "decimal_out_of_range" => {
                let words = [("error", OutOfRange::Error), ("null", OutOfRange::Null)];
                let chosen = pick(&name, &value, &words)?;
                match name.as_str() {
                    "timestamp_out_of_range" => options.timestamp_out_of_range = chosen,
                    _ => options.decimal_out_of_range = chosen,
                }
            }
            "invalid_utf8" => {
                let words = [
                    ("error", InvalidUtf8::Error),
                    ("replace", InvalidUtf8::Replace),
                    ("null", InvalidUtf8::Null),
                    ("binary", InvalidUtf8::Binary),
                ];
                options.invalid_utf8 = pick(&name, &value, &words)?;
            }
            "long_char" => {
                let words = [("keep", LongChar::Keep), ("cut", LongChar::Cut), ("error", LongChar::Error)];
                options.long_char = pick(&name, &value, &words)?;
            }
            "strings" => {
                let types = [
                    ("utf8", StringType::Utf8),
                    ("large", StringType::Large),
                    ("view", StringType::View),
                    ("dictionary", StringType::Dictionary),
                    ("binary", StringType::Binary),
                ];
                options.strings = Some(pick(&name, &value, &types)?);
            }
            "unions" => {
                let types = [("dense", UnionType::Dense), ("sparse", UnionType::Sparse), ("struct", UnionType::Struct)];
                options.unions = Some(pick(&name, &value, &types)?);
            }
            "null_map_keys" => {
                let words = [("error", NullMapKeys::Error), ("dictionary", NullMapKeys::Dictionary)];
                options.null_map_keys = pick(&name, &value, &words)?;
            }
            "masked" => {
                options.allow_masked = pick(&name, &value, &[("error", false), ("allow", true)])?;
            }
            _ => return Err(unknown("option", &name)),
        }
    }
    Ok(options)
}

/// How a column of text is stored: true, false, or as it is expected to be smaller.
fn dictionary(choice: Option<bool>) -> DictionaryChoice {
    match choice {
        None => DictionaryChoice::Auto,
        Some(true) => DictionaryChoice::Always,
        Some(false) => DictionaryChoice::Never,
    }
}

/// The options of a file that is written in `given`; what is `None` or missing stays at its default.
pub(crate) fn write_options(given: Option<&Bound<'_, PyDict>>) -> PyResult<WriteOptions> {
    let mut options = WriteOptions::default();
    for (name, value) in given.into_iter().flatten() {
        if value.is_none() {
            continue;
        }
        let name: String = name.extract()?;
        match name.as_str() {
            "compression" => {
                let codecs = [
                    ("none", Compression::None),
                    ("uncompressed", Compression::None),
                    ("zlib", Compression::Zlib),
                    ("snappy", Compression::Snappy),
                    ("lz4", Compression::Lz4),
                    ("zstd", Compression::Zstd),
                    ("brotli", Compression::Brotli),
                ];
                let word = value.extract::<String>().map(|word| word.to_lowercase());
                options.compression = match word.as_deref() {
                    // It is read only, as the writer says.
                    Ok("lzo") => Compression::Lzo,
                    Ok(word) => pick(&name, PyString::new(value.py(), word).as_any(), &codecs)?,
                    Err(_) => pick(&name, &value, &codecs)?,
                };
            }
            "compression_level" => options.compression_level = Some(take(&name, &value)?),
            "compression_block_size" => options.chunk_size = Some(take(&name, &value)?),
            "column_compression" => {
                let own = take::<Vec<(String, Option<i32>)>>(&name, &value)?;
                let own = own
                    .into_iter()
                    .map(|(column, level)| (column, level.map_or(ColumnCompression::None, ColumnCompression::Level)));
                options.column_compression = own.collect();
            }
            "stripe_size" => options.stripe_size = take(&name, &value)?,
            "row_index_stride" => options.row_index_stride = take(&name, &value)?,
            "bloom_filter_columns" => options.bloom_filter_columns = take(&name, &value)?,
            "bloom_filter_fpp" => options.bloom_filter_fpp = take(&name, &value)?,
            "dictionary" => options.dictionary = dictionary(take(&name, &value)?),
            "column_dictionary" => {
                let own = take::<Vec<(String, Option<bool>)>>(&name, &value)?;
                options.column_dictionary = own.into_iter().map(|(column, own)| (column, dictionary(own))).collect();
            }
            "metadata" => {
                let pairs = take::<Vec<(String, Vec<u8>)>>(&name, &value)?;
                options.metadata = pairs.into_iter().map(|(key, value)| (key, value.into())).collect();
            }
            "timezone" => options.timezone = take(&name, &value)?,
            "version" => {
                let versions = [("0.11", Version::V0_11), ("0.12", Version::V0_12)];
                options.version = pick(&name, &value, &versions)?;
            }
            "arrow_schema" => options.arrow_schema = take(&name, &value)?,
            "verify" => options.verify = take(&name, &value)?,
            "threads" => options.threads = take(&name, &value)?,
            _ => return Err(unknown("option", &name)),
        }
    }
    Ok(options)
}

/// The limits in `given`; what is missing stays at its default.
pub(crate) fn limits(given: Option<&Bound<'_, PyDict>>) -> PyResult<Limits> {
    let mut limits = Limits::default();
    for (name, value) in given.into_iter().flatten() {
        let name: String = name.extract()?;
        let option = format!("limits: {name}");
        match name.as_str() {
            "tail" => limits.tail = take(&option, &value)?,
            "chunk" => limits.chunk = take(&option, &value)?,
            "depth" => limits.depth = take(&option, &value)?,
            "columns" => limits.columns = take(&option, &value)?,
            "stripes" => limits.stripes = take(&option, &value)?,
            "memory" => limits.memory = take(&option, &value)?,
            _ => return Err(unknown("limit", &name)),
        }
    }
    Ok(limits)
}

/// The storage options in `given`, whose values are text, numbers or booleans. Requests are ended by signals.
pub(crate) fn storage_options(given: Option<&Bound<'_, PyDict>>) -> PyResult<StorageOptions> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for (key, value) in given.into_iter().flatten() {
        let key: String = key.extract()?;
        let value = if let Ok(value) = value.cast::<PyBool>() {
            value.is_true().to_string()
        } else if value.is_instance_of::<PyString>() || value.is_instance_of::<PyInt>() {
            value.str()?.extract()?
        } else {
            let kind = value.get_type();
            return Err(PyTypeError::new_err(format!("the storage option {key} is a {}, no text", kind.name()?)));
        };
        pairs.push((key, value));
    }
    Ok(pairs.into_iter().collect::<StorageOptions>().with_cancel_check(signals()))
}
