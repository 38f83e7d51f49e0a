//! Conversion of options from Python dictionaries.

use std::sync::Arc;

use orcish::codec::Compression;
use orcish::options::{
    Columns, InvalidUtf8, LongChar, NullMapKeys, OutOfRange, ReadOptions, StringType, TimestampUnit, Timestamps,
    UnionType,
};
use orcish::write::{ColumnCompression, DictionaryChoice, Version, WriteOptions};
use orcish_core::Limits;
use orcish_core::names::nearest;
use orcish_io::StorageOptions;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyDict, PyInt, PyString};

use crate::capsule::read_schema;
use crate::credentials::source;
use crate::errors::{signals, to_python};
use crate::predicate::predicate;

/// The storage option with a callable that obtains credentials.
const CREDENTIALS: &str = "credentials";

/// The value of an option with named values.
///
/// # Errors
/// `ValueError` with all names for another value.
fn pick<T: Copy>(option: &str, given: &Bound<'_, PyAny>, values: &[(&str, T)]) -> PyResult<T> {
    let name = given.extract::<String>().ok();
    let known = values.iter().find(|(known, _)| Some(*known) == name.as_deref());
    if let Some(&(_, value)) = known {
        return Ok(value);
    }
    let names: Vec<_> = values.iter().map(|(name, _)| *name).collect();
    let given = name.map_or_else(|| given.repr().map(|text| text.to_string()), |name| Ok(format!("{name:?}")))?;
    Err(PyValueError::new_err(format!("{option}={given}: must be one of {}", names.join(", "))))
}

/// Converts the value of an option.
///
/// # Errors
/// `TypeError` for another type; `ValueError` for a number out of range.
fn convert<'a, 'py, T: FromPyObject<'a, 'py>>(option: &str, given: &'a Bound<'py, PyAny>) -> PyResult<T> {
    given.extract().map_err(|error: T::Error| conversion_error(option, given, error.into()))
}

/// The exception for a value that cannot be converted, with the name of the option: `ValueError` for a number out of
/// range.
fn conversion_error(option: &str, given: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
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

/// A projection: names or column ids, which cannot be mixed.
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

/// Options of a read. Values that are `None` or missing keep their defaults.
pub(crate) fn read_options(given: Option<&Bound<'_, PyDict>>, limits: &Limits) -> PyResult<ReadOptions> {
    let mut options = ReadOptions::default().with_limits(limits.clone());
    for (name, value) in given.into_iter().flatten() {
        if value.is_none() {
            continue;
        }
        let name: String = name.extract()?;
        match name.as_str() {
            "columns" => options.columns = columns(&name, &value)?,
            "batch_size" => options.batch_size = convert(&name, &value)?,
            "threads" => options.threads = convert(&name, &value)?,
            "stripes" => options.stripes = Some(convert(&name, &value)?),
            "filter" => options.filter = Some(predicate(&value)?),
            "limit" => options.limit = Some(convert(&name, &value)?),
            "row_number" => options.row_number = Some(convert(&name, &value)?),
            "hide_row_number" => options.hide_row_number = convert(&name, &value)?,
            "arrow_schema" => options.arrow_schema = convert(&name, &value)?,
            "trim_char" => options.trim_char = convert(&name, &value)?,
            "timestamp_unit" => {
                let units = [
                    ("s", TimestampUnit::Second),
                    ("ms", TimestampUnit::Millisecond),
                    ("us", TimestampUnit::Microsecond),
                    ("ns", TimestampUnit::Nanosecond),
                    ("auto", TimestampUnit::Auto),
                    ("exact", TimestampUnit::Exact),
                ];
                options.timestamp_unit = Some(pick(&name, &value, &units)?);
            }
            "timestamps" => {
                let values = [("wall", Timestamps::Wall), ("instant", Timestamps::Instant)];
                options.timestamps = Some(pick(&name, &value, &values)?);
            }
            "timezone" => {
                let id: String = convert(&name, &value)?;
                orcish::time::WriterZone::parse_reader_zone(&id).map_err(|error| to_python(value.py(), &error))?;
                options.timezone = Some(id);
            }
            "timestamp_out_of_range" | "decimal_out_of_range" => {
                let values = [("error", OutOfRange::Error), ("null", OutOfRange::Null)];
                let chosen = pick(&name, &value, &values)?;
                match name.as_str() {
                    "timestamp_out_of_range" => options.timestamp_out_of_range = chosen,
                    _ => options.decimal_out_of_range = chosen,
                }
            }
            "invalid_utf8" => {
                let values = [
                    ("error", InvalidUtf8::Error),
                    ("replace", InvalidUtf8::Replace),
                    ("null", InvalidUtf8::Null),
                    ("binary", InvalidUtf8::Binary),
                ];
                options.invalid_utf8 = pick(&name, &value, &values)?;
            }
            "long_char" => {
                let values = [("keep", LongChar::Keep), ("cut", LongChar::Cut), ("error", LongChar::Error)];
                options.long_char = pick(&name, &value, &values)?;
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
                let values = [("error", NullMapKeys::Error), ("dictionary", NullMapKeys::Dictionary)];
                options.null_map_keys = pick(&name, &value, &values)?;
            }
            "masked" => {
                options.allow_masked = pick(&name, &value, &[("error", false), ("allow", true)])?;
            }
            _ => return Err(unknown("option", &name)),
        }
    }
    Ok(options)
}

/// Dictionary encoding of string columns: always, never, or automatically.
fn dictionary(choice: Option<bool>) -> DictionaryChoice {
    match choice {
        None => DictionaryChoice::Auto,
        Some(true) => DictionaryChoice::Always,
        Some(false) => DictionaryChoice::Never,
    }
}

/// Options of writing a file. Values that are `None` or missing keep their defaults.
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
                let codec = value.extract::<String>().map(|codec| codec.to_lowercase());
                options.compression = match codec.as_deref() {
                    // The writer refuses LZO with an error of its own.
                    Ok("lzo") => Compression::Lzo,
                    Ok(codec) => pick(&name, PyString::new(value.py(), codec).as_any(), &codecs)?,
                    Err(_) => pick(&name, &value, &codecs)?,
                };
            }
            "compression_level" => options.compression_level = Some(convert(&name, &value)?),
            "compression_block_size" => options.chunk_size = Some(convert(&name, &value)?),
            "column_compression" => {
                let levels = convert::<Vec<(String, Option<i32>)>>(&name, &value)?;
                let compression = levels
                    .into_iter()
                    .map(|(column, level)| (column, level.map_or(ColumnCompression::None, ColumnCompression::Level)));
                options.column_compression = compression.collect();
            }
            "stripe_size" => options.stripe_size = convert(&name, &value)?,
            "row_index_stride" => options.row_index_stride = convert(&name, &value)?,
            "bloom_filter_columns" => options.bloom_filter_columns = convert(&name, &value)?,
            "bloom_filter_fpp" => options.bloom_filter_fpp = convert(&name, &value)?,
            "dictionary" => options.dictionary = dictionary(convert(&name, &value)?),
            "column_dictionary" => {
                let choices = convert::<Vec<(String, Option<bool>)>>(&name, &value)?;
                options.column_dictionary =
                    choices.into_iter().map(|(column, choice)| (column, dictionary(choice))).collect();
            }
            "metadata" => {
                let pairs = convert::<Vec<(String, Vec<u8>)>>(&name, &value)?;
                options.metadata = pairs.into_iter().map(|(key, value)| (key, value.into())).collect();
            }
            "timezone" => options.timezone = convert(&name, &value)?,
            "version" => {
                let versions = [("0.11", Version::V0_11), ("0.12", Version::V0_12)];
                options.version = pick(&name, &value, &versions)?;
            }
            "arrow_schema" => options.arrow_schema = convert(&name, &value)?,
            "recorded_schema" => {
                options.recorded_schema =
                    Some(Arc::new(read_schema(&convert::<Bound<'_, PyCapsule>>(&name, &value)?)?));
            }
            "verify" => options.verify = convert(&name, &value)?,
            "threads" => options.threads = convert(&name, &value)?,
            _ => return Err(unknown("option", &name)),
        }
    }
    Ok(options)
}

/// Limits of readers. Missing limits keep their defaults; a result may have as many bytes as a read where only the memory is
/// given.
pub(crate) fn limits(given: Option<&Bound<'_, PyDict>>) -> PyResult<Limits> {
    let mut limits = Limits::default();
    let (mut memory, mut result) = (None, None);
    for (name, value) in given.into_iter().flatten() {
        let name: String = name.extract()?;
        let option = format!("limits: {name}");
        match name.as_str() {
            "tail" => limits.tail = convert(&option, &value)?,
            "chunk" => limits.chunk = convert(&option, &value)?,
            "depth" => limits.depth = convert(&option, &value)?,
            "columns" => limits.columns = convert(&option, &value)?,
            "stripes" => limits.stripes = convert(&option, &value)?,
            "memory" => memory = Some(convert(&option, &value)?),
            "result" => result = Some(convert(&option, &value)?),
            _ => {
                let names = ["tail", "chunk", "depth", "columns", "stripes", "memory", "result"];
                let near = nearest(&name, names.into_iter().map(str::to_owned));
                return Err(PyValueError::new_err(format!("limits: there is no limit {name:?}; {near}")));
            }
        }
    }
    limits.memory = memory.unwrap_or(limits.memory);
    limits.result = result.or(memory).unwrap_or(limits.result);
    Ok(limits)
}

/// Storage options, whose values are strings, integers or booleans; `credentials` is a callable. Signals cancel requests.
pub(crate) fn storage_options(given: Option<&Bound<'_, PyDict>>) -> PyResult<StorageOptions> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut credentials = None;
    for (key, value) in given.into_iter().flatten() {
        let key: String = key.extract()?;
        if key == CREDENTIALS {
            credentials = Some(source(&value)?);
            continue;
        }
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
    let options = pairs.into_iter().collect::<StorageOptions>().with_cancel_check(signals());
    Ok(match credentials {
        Some(source) => options.with_credentials(source),
        None => options,
    })
}
