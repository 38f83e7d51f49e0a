//! Options as Python passes them: words and numbers.

use std::sync::Arc;

use orcish::{
    ColumnCompression, Columns, Compression, DictionaryChoice, InvalidUtf8, Limits, LongChar, NullMapKeys, OutOfRange,
    ReadOptions, StorageOptions, StringType, TimestampUnit, Timestamps, UnionType, Version, WriteOptions,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyString};

use crate::errors::{check_signals, to_python};

use crate::predicate::predicate;

/// Picks the value that `word` names.
fn pick<T: Copy>(option: &str, word: &str, values: &[(&str, T)]) -> PyResult<T> {
    let found = values.iter().find(|(name, _)| *name == word);
    found.map(|&(_, value)| value).ok_or_else(|| {
        let names: Vec<_> = values.iter().map(|(name, _)| *name).collect();
        PyValueError::new_err(format!("{option}={word:?}: must be one of {}", names.join(", ")))
    })
}

fn unknown(kind: &str, name: &str) -> PyErr {
    PyValueError::new_err(format!("unknown {kind} {name:?}"))
}

/// Names or column ids; they cannot be mixed.
#[derive(FromPyObject)]
enum ColumnList {
    Names(Vec<String>),
    Ids(Vec<u32>),
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
            "columns" => {
                options.columns = match value.extract()? {
                    ColumnList::Names(names) => Columns::Names(names),
                    ColumnList::Ids(ids) => Columns::Ids(ids),
                }
            }
            "batch_size" => options.batch_size = value.extract()?,
            "threads" => options.threads = value.extract()?,
            "stripes" => options.stripes = Some(value.extract()?),
            "filter" => options.filter = Some(predicate(&value)?),
            "limit" => options.limit = Some(value.extract()?),
            "row_number" => options.row_number = Some(value.extract()?),
            "arrow_schema" => options.arrow_schema = value.extract()?,
            "trim_char" => options.trim_char = value.extract()?,
            "timestamp_unit" => {
                let units = [
                    ("s", TimestampUnit::Second),
                    ("ms", TimestampUnit::Millisecond),
                    ("us", TimestampUnit::Microsecond),
                    ("ns", TimestampUnit::Nanosecond),
                    ("auto", TimestampUnit::Auto),
                ];
                options.timestamp_unit = Some(pick(&name, value.extract()?, &units)?);
            }
            "timestamps" => {
                let words = [("wall", Timestamps::Wall), ("instant", Timestamps::Instant)];
                options.timestamps = Some(pick(&name, value.extract()?, &words)?);
            }
            "timezone" => {
                let id: String = value.extract()?;
                orcish::time::WriterZone::of_reader(&id).map_err(|error| to_python(value.py(), &error))?;
                options.timezone = Some(id);
            }
            "timestamp_out_of_range" | "decimal_out_of_range" => {
                let words = [("error", OutOfRange::Error), ("null", OutOfRange::Null)];
                let chosen = pick(&name, value.extract()?, &words)?;
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
                options.invalid_utf8 = pick(&name, value.extract()?, &words)?;
            }
            "long_char" => {
                let words = [("keep", LongChar::Keep), ("cut", LongChar::Cut), ("error", LongChar::Error)];
                options.long_char = pick(&name, value.extract()?, &words)?;
            }
            "strings" => {
                let types = [
                    ("utf8", StringType::Utf8),
                    ("large", StringType::Large),
                    ("view", StringType::View),
                    ("dictionary", StringType::Dictionary),
                    ("binary", StringType::Binary),
                ];
                options.strings = Some(pick(&name, value.extract()?, &types)?);
            }
            "unions" => {
                let types = [("dense", UnionType::Dense), ("sparse", UnionType::Sparse), ("struct", UnionType::Struct)];
                options.unions = Some(pick(&name, value.extract()?, &types)?);
            }
            "null_map_keys" => {
                let words = [("error", NullMapKeys::Error), ("dictionary", NullMapKeys::Dictionary)];
                options.null_map_keys = pick(&name, value.extract()?, &words)?;
            }
            "masked" => {
                options.allow_masked = pick(&name, value.extract()?, &[("error", false), ("allow", true)])?;
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
                    ("lzo", Compression::Lzo),
                ];
                options.compression = pick(&name, &value.extract::<String>()?.to_lowercase(), &codecs)?;
            }
            "compression_level" => options.compression_level = Some(value.extract()?),
            "compression_block_size" => options.chunk_size = Some(value.extract()?),
            "column_compression" => {
                let own = value.extract::<Vec<(String, Option<i32>)>>()?;
                let own = own
                    .into_iter()
                    .map(|(column, level)| (column, level.map_or(ColumnCompression::None, ColumnCompression::Level)));
                options.column_compression = own.collect();
            }
            "stripe_size" => options.stripe_size = value.extract()?,
            "row_index_stride" => options.row_index_stride = value.extract()?,
            "bloom_filter_columns" => options.bloom_filter_columns = value.extract()?,
            "bloom_filter_fpp" => options.bloom_filter_fpp = value.extract()?,
            "dictionary" => options.dictionary = dictionary(value.extract()?),
            "column_dictionary" => {
                let own = value.extract::<Vec<(String, Option<bool>)>>()?;
                options.column_dictionary = own.into_iter().map(|(column, own)| (column, dictionary(own))).collect();
            }
            "metadata" => {
                let pairs = value.extract::<Vec<(String, Vec<u8>)>>()?;
                options.metadata = pairs.into_iter().map(|(key, value)| (key, value.into())).collect();
            }
            "timezone" => options.timezone = value.extract()?,
            "version" => {
                let versions = [("0.11", Version::V0_11), ("0.12", Version::V0_12)];
                options.version = pick(&name, value.extract()?, &versions)?;
            }
            "arrow_schema" => options.arrow_schema = value.extract()?,
            "verify" => options.verify = value.extract()?,
            "threads" => options.threads = value.extract()?,
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
        match name.as_str() {
            "tail" => limits.tail = value.extract()?,
            "chunk" => limits.chunk = value.extract()?,
            "depth" => limits.depth = value.extract()?,
            "columns" => limits.columns = value.extract()?,
            "stripes" => limits.stripes = value.extract()?,
            "memory" => limits.memory = value.extract()?,
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
    // At the end of the process there is no interpreter, and no handler of signals.
    let check = || Python::try_attach(check_signals).unwrap_or(Ok(()));
    Ok(pairs.into_iter().collect::<StorageOptions>().while_waiting(Arc::new(check)))
}
