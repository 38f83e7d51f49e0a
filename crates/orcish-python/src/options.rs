//! Conversion of options from Python dictionaries.

use std::sync::Arc;

use arrow_schema::SchemaRef;
use bytes::Bytes;
use orcish::Compression;
use orcish::dataset::DatasetOptions;
use orcish::options::{
    Columns, InvalidUtf8, LongChar, Masked, NullMapKeys, OutOfRange, ReadOptions, StringType, TimestampUnit,
    Timestamps, UnionType,
};
use orcish::time::WriterZone;
use orcish::write::{ColumnCompression, ColumnEncryption, DictionaryChoice, Mask, Version, WriteOptions};
use orcish_core::names::{ColumnName, nearest};
use orcish_core::options::{ConvertTo, GivenValue, OptionInfo, OptionKind, Words};
use orcish_core::{Limits, Predicate};
use orcish_io::{RemoteOptions, StorageOptions};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyDict, PyInt, PyString};

use crate::capsule::read_schema;
use crate::credentials::source;
use crate::errors::{signals, to_python};
use crate::keys::keys;
use crate::names::Name;
use crate::predicate::predicate;

/// The storage option with a callable that obtains credentials.
const CREDENTIALS: &str = "credentials";

/// The value that is given for an option.
struct Given<'a, 'py> {
    /// What messages call the option.
    option: &'a str,
    value: &'a Bound<'py, PyAny>,
}

impl GivenValue for Given<'_, '_> {
    type Error = PyErr;
}

impl<T> ConvertTo<Option<T>> for Given<'_, '_>
where
    Self: ConvertTo<T, Error = PyErr>,
{
    fn convert(&self) -> PyResult<Option<T>> {
        self.convert().map(Some)
    }
}

/// Values that are converted by their types.
macro_rules! of_types {
    ($($type:ty),+) => {
        $(impl ConvertTo<$type> for Given<'_, '_> {
            fn convert(&self) -> PyResult<$type> {
                convert(self.option, self.value)
            }
        })+
    };
}

of_types!(bool, f64, i32, u32, u64, usize, String, Vec<String>, Vec<usize>);

/// Values that have names.
macro_rules! of_words {
    ($($type:ty),+) => {
        $(impl ConvertTo<$type> for Given<'_, '_> {
            fn convert(&self) -> PyResult<$type> {
                self.word()
            }
        })+
    };
}

of_words!(
    InvalidUtf8,
    LongChar,
    Masked,
    NullMapKeys,
    OutOfRange,
    StringType,
    TimestampUnit,
    Timestamps,
    UnionType,
    Version
);

impl Given<'_, '_> {
    /// The value with the given name.
    ///
    /// # Errors
    /// `ValueError` with all names for another value.
    fn word<T: Words>(&self) -> PyResult<T> {
        let (option, required) = (self.option, T::requirement());
        let Ok(word) = self.value.extract::<String>() else {
            return Err(PyValueError::new_err(format!("{option}={}: {required}", self.value.repr()?)));
        };
        T::from_word(&word).ok_or_else(|| PyValueError::new_err(format!("{option}={word:?}: {required}")))
    }
}

impl ConvertTo<Columns> for Given<'_, '_> {
    /// Names or column ids, which cannot be mixed.
    fn convert(&self) -> PyResult<Columns> {
        if let Ok(names) = self.value.extract::<Vec<Name>>() {
            return Ok(names.into_iter().map(|name| name.0).collect());
        }
        self.value.extract().map(Columns::Ids).or_else(|_: PyErr| {
            let text = format!("{}={}: must be names, or column ids from 0", self.option, self.value.repr()?);
            let is_numbers = self.value.extract::<Vec<i128>>().is_ok();
            Err(if is_numbers { PyValueError::new_err(text) } else { PyTypeError::new_err(text) })
        })
    }
}

impl ConvertTo<Predicate> for Given<'_, '_> {
    fn convert(&self) -> PyResult<Predicate> {
        predicate(self.value)
    }
}

impl ConvertTo<Compression> for Given<'_, '_> {
    /// Names of codecs in any case.
    fn convert(&self) -> PyResult<Compression> {
        match self.value.extract::<String>() {
            Ok(name) => {
                let value = PyString::new(self.value.py(), &name.to_lowercase());
                Given { option: self.option, value: value.as_any() }.word()
            }
            Err(_) => self.word(),
        }
    }
}

impl ConvertTo<DictionaryChoice> for Given<'_, '_> {
    fn convert(&self) -> PyResult<DictionaryChoice> {
        convert(self.option, self.value).map(dictionary)
    }
}

impl ConvertTo<Vec<ColumnName>> for Given<'_, '_> {
    fn convert(&self) -> PyResult<Vec<ColumnName>> {
        let names = convert::<Vec<Name>>(self.option, self.value)?;
        Ok(names.into_iter().map(|name| name.0).collect())
    }
}

impl ConvertTo<Vec<(ColumnName, DictionaryChoice)>> for Given<'_, '_> {
    fn convert(&self) -> PyResult<Vec<(ColumnName, DictionaryChoice)>> {
        let choices = convert::<Vec<(Name, _)>>(self.option, self.value)?;
        Ok(choices.into_iter().map(|(column, choice)| (column.0, dictionary(choice))).collect())
    }
}

impl ConvertTo<Vec<(ColumnName, ColumnCompression)>> for Given<'_, '_> {
    fn convert(&self) -> PyResult<Vec<(ColumnName, ColumnCompression)>> {
        let levels = convert::<Vec<(Name, Option<i32>)>>(self.option, self.value)?;
        let compression = |level: Option<i32>| level.map_or(ColumnCompression::None, ColumnCompression::Level);
        Ok(levels.into_iter().map(|(column, level)| (column.0, compression(level))).collect())
    }
}

impl ConvertTo<Vec<(String, Bytes)>> for Given<'_, '_> {
    fn convert(&self) -> PyResult<Vec<(String, Bytes)>> {
        let pairs = convert::<Vec<(String, Vec<u8>)>>(self.option, self.value)?;
        Ok(pairs.into_iter().map(|(key, value)| (key, value.into())).collect())
    }
}

impl ConvertTo<SchemaRef> for Given<'_, '_> {
    fn convert(&self) -> PyResult<SchemaRef> {
        Ok(Arc::new(read_schema(&convert::<Bound<'_, PyCapsule>>(self.option, self.value)?)?))
    }
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
        // A list with a number out of range has no sign.
        let is_negative = if given.is_instance_of::<PyInt>() { given.lt(0) } else { Ok(false) };
        let reason = match is_negative {
            Ok(true) => "must not be negative",
            Ok(false) => "is out of its range",
            Err(error) => return error,
        };
        return PyValueError::new_err(format!("{option}={shown}: {reason}"));
    }
    if error.is_instance_of::<PyTypeError>(py) {
        return PyTypeError::new_err(format!("{option}={shown}: {}", error.value(py)));
    }
    error
}

/// Sets the given options. `None` keeps the default of an option for which `may_be_none` is true.
///
/// # Errors
/// `ValueError` for a name that `set` does not know; `TypeError` for other types, and `None` for an option that has a value.
fn set_options(
    given: Option<&Bound<'_, PyDict>>,
    may_be_none: impl Fn(&str) -> bool,
    mut set: impl FnMut(&str, &Given<'_, '_>) -> PyResult<bool>,
) -> PyResult<()> {
    for (name, value) in given.into_iter().flatten() {
        let name: String = name.extract()?;
        if value.is_none() && may_be_none(&name) {
            continue;
        }
        if !set(&name, &Given { option: &name, value: &value })? {
            return Err(PyValueError::new_err(format!("unknown option {name:?}")));
        }
    }
    Ok(())
}

/// Options of a read. Values that are `None` or missing keep their defaults.
pub(crate) fn read_options(given: Option<&Bound<'_, PyDict>>, limits: &Limits) -> PyResult<ReadOptions> {
    let mut options = ReadOptions::default().with_limits(limits.clone());
    set_options(
        given,
        |_| true,
        |name, value| {
            let is_known = options.set(name, value)?;
            if let ("timezone", Some(id)) = (name, &options.timezone) {
                WriterZone::parse_reader_zone(id).map_err(|error| to_python(value.value.py(), &error))?;
            }
            Ok(is_known)
        },
    )?;
    Ok(options)
}

/// Options of the scan of a CarbonData table.
///
/// # Errors
/// `ValueError` for an option that only ORC files have.
pub(crate) fn carbon_options(options: ReadOptions) -> PyResult<carbondata::ReadOptions> {
    let standard = ReadOptions::default();
    let given = [
        ("stripes", options.stripes != standard.stripes),
        ("row_number", options.row_number.is_some()),
        // Timestamps have their unit, which keeps all digits.
        ("timestamp_unit", !matches!(options.timestamp_unit, None | Some(TimestampUnit::Exact))),
        ("strings", options.strings.is_some()),
        ("unions", options.unions.is_some()),
    ];
    if let Some((name, _)) = given.iter().find(|(_, is_given)| *is_given) {
        return Err(PyValueError::new_err(format!("{name}: tables of CarbonData are read without it")));
    }
    let mut carbon = carbondata::ReadOptions::default()
        .with_batch_size(options.batch_size)
        .with_limit(options.limit)
        .with_threads(options.threads)
        .with_limits(options.limits);
    carbon.filter = options.filter;
    carbon.columns = match options.columns {
        Columns::All => None,
        Columns::Names(names) => Some(names),
        _ => return Err(PyValueError::new_err("the columns of a table have names, and no ids")),
    };
    Ok(carbon)
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
    set_write_options(&mut options, given)?;
    Ok(options)
}

/// Sets options of writing a file. Values that are `None` or missing stay as they are.
pub(crate) fn set_write_options(options: &mut WriteOptions, given: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    set_options(
        given,
        |_| true,
        |name, value| match name {
            "encryption" => {
                options.encryption = Some(encryption(value.value)?);
                Ok(true)
            }
            _ => options.set(name, value),
        },
    )
}

/// Encryption of columns: keys, pairs of a column and the name of its key, and pairs of a column and its mask.
fn encryption(given: &Bound<'_, PyAny>) -> PyResult<ColumnEncryption> {
    type Pairs = Vec<(Name, String)>;
    let (keys, columns, masks): (Bound<'_, PyAny>, Pairs, Pairs) = given.extract()?;
    let keys = self::keys(Some(&keys))?;
    let keys = keys.ok_or_else(|| {
        PyValueError::new_err("encrypt: the columns are encrypted with keys, which are given as keys")
    })?;
    let mut encryption = ColumnEncryption::new(keys);
    for (column, key) in columns {
        encryption = encryption.with_column(column.0, key);
    }
    for (column, mask) in masks {
        let mask: Mask = mask.parse().map_err(|error| to_python(given.py(), &error))?;
        encryption = encryption.with_mask(column.0, mask);
    }
    Ok(encryption)
}

/// Limits of readers. Missing limits keep their defaults; a result may have as many bytes as a read where only the memory is
/// given.
pub(crate) fn limits(given: Option<&Bound<'_, PyDict>>) -> PyResult<Limits> {
    let mut limits = Limits::default();
    let (mut has_memory, mut has_result) = (false, false);
    for (name, value) in given.into_iter().flatten() {
        let name: String = name.extract()?;
        if !limits.set(&name, &Given { option: &format!("limits: {name}"), value: &value })? {
            let near = nearest(&name, Limits::OPTIONS.iter().map(|limit| limit.name.to_owned()));
            return Err(PyValueError::new_err(format!("limits: there is no limit {name:?}; {near}")));
        }
        has_memory |= name == "memory";
        has_result |= name == "result";
    }
    if has_memory && !has_result {
        limits.result = limits.memory;
    }
    Ok(limits)
}

/// Sets the options of a dataset.
pub(crate) fn set_dataset_options(options: &mut DatasetOptions, given: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    let is_optional =
        |name: &str| DatasetOptions::OPTIONS.iter().any(|option| option.name == name && option.is_optional);
    set_options(given, is_optional, |name, value| options.set(name, value))
}

/// An option: name, kind, whether it has no value by itself, words of its values, documentation.
type OptionSpec = (&'static str, &'static str, bool, &'static [&'static str], &'static str);

/// The options of a `read`, a `write`, a `dataset`, the `limits` of a reader, or the `requests` to a store.
#[pyfunction]
pub(crate) fn options_of(what: &str) -> PyResult<Vec<OptionSpec>> {
    let options = match what {
        "read" => ReadOptions::OPTIONS,
        "write" => WriteOptions::OPTIONS,
        "dataset" => DatasetOptions::OPTIONS,
        "limits" => Limits::OPTIONS,
        "requests" => RemoteOptions::OPTIONS,
        _ => return Err(PyValueError::new_err(format!("{what:?} has no options"))),
    };
    let spec = |option: &OptionInfo| {
        let (kind, words): (_, &[_]) = match option.kind {
            OptionKind::Boolean => ("boolean", &[]),
            OptionKind::Integer => ("integer", &[]),
            OptionKind::Number => ("number", &[]),
            OptionKind::Duration => ("duration", &[]),
            OptionKind::Text => ("text", &[]),
            OptionKind::Words(words) => ("words", words),
            OptionKind::List => ("list", &[]),
            OptionKind::Pairs => ("pairs", &[]),
            OptionKind::Object => ("object", &[]),
        };
        (option.name, kind, option.is_optional, words, option.doc)
    };
    Ok(options.iter().map(spec).collect())
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
