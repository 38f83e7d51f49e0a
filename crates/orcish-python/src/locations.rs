//! Locations, and the files of the sources of a scan.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use orcish_io::{StorageOptions, Surroundings};
use orcish_table::{PartitionValues, Pending, SourceFiles, TableSchema};
use pyo3::exceptions::{PyTypeError, PyUnicodeEncodeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyMemoryView, PyString, PyTuple};

use crate::errors::to_python;
use crate::options::storage_options;
use crate::place::Place;
use crate::storage;

/// The form of a file for `Scan`: location, bytes or file object instead, partition values, and no tail and no stripes.
type FileSpec<'py> = (String, Option<Bound<'py, PyAny>>, PartitionValues, Option<Vec<u8>>, Option<Vec<usize>>);

/// The schema of a table in its log: the bytes of an ORC file without rows, names of partition columns, the table for people,
/// and partition columns that a scan without files has, if not all.
type SchemaSpec = (Cow<'static, [u8]>, Vec<String>, String, Option<Vec<String>>);

/// Whether the source is a table of CarbonData, the files, and the schema of their table.
type Found<'py> = (bool, Vec<FileSpec<'py>>, Option<SchemaSpec>);

/// A path or URL, classified. Whether there is a file, a folder or nothing is asked of the local disk when it is needed.
#[pyclass(frozen, module = "orcish._native")]
pub(crate) struct Location(orcish_io::Location);

#[pymethods]
impl Location {
    #[new]
    fn new(path: &Bound<'_, PyAny>) -> PyResult<Self> {
        location_of(path).map(Location)
    }

    /// The path of the local disk, or the URL as it was given.
    #[getter]
    fn path(&self) -> &OsStr {
        self.0.as_os_str()
    }

    /// Whether the location is on the local disk.
    #[getter]
    fn is_local(&self) -> bool {
        self.0.is_local()
    }

    /// Whether the location is a URL of an HTTP server.
    #[getter]
    fn is_http(&self) -> bool {
        self.0.is_http()
    }

    /// Whether the location is a URL that orcish does not open itself.
    #[getter]
    fn is_foreign(&self) -> bool {
        self.0.is_foreign()
    }

    /// Whether the location is a pattern. A path of the local disk that exists is none.
    #[getter]
    fn is_pattern(&self) -> bool {
        self.0.is_pattern()
    }

    /// Whether the location is that of a folder, or a pattern.
    #[getter]
    fn is_several(&self) -> bool {
        self.0.is_several()
    }

    /// Whether the location is that of a data file of CarbonData, by its name.
    #[getter]
    fn is_carbon_file(&self) -> bool {
        carbondata::is_data_file(&self.0)
    }

    /// Whether the path is text. Names of other files of the local disk have lone surrogates.
    #[getter]
    fn is_unicode(&self) -> bool {
        self.0.as_os_str().to_str().is_some()
    }

    /// The location as one that other processes understand, which have other working directories.
    fn absolute(&self, py: Python<'_>) -> PyResult<OsString> {
        self.0.to_absolute().map_err(|error| to_python(py, &error))
    }

    /// The folder of the table that a folder or a file belongs to, and the path of the folder below it. Links of local paths
    /// are resolved.
    fn table(&self, py: Python<'_>) -> PyResult<(String, String)> {
        py.detach(|| orcish_table::table_of(&self.0)).map_err(|error| to_python(py, &error))
    }

    /// Checks that a path of the local disk is not that of a file, a pipe or the like.
    fn check_folder(&self, py: Python<'_>) -> PyResult<()> {
        let checked = self.0.local_path().map_or(Ok(()), orcish_table::check_folder);
        checked.map_err(|error| to_python(py, &error))
    }

    /// Checks that rows may be written into a folder: it is not that of a transactional table of Hive, nor in one. `names` are
    /// the files of the table in the folder; `None` for a single file that is written into the folder.
    #[pyo3(signature = (names, storage_options=None))]
    fn check_not_transactional(
        &self,
        py: Python<'_>,
        names: Option<Vec<String>>,
        storage_options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let storage = self::storage_options(storage_options)?;
        let check = || orcish_table::check_not_transactional(&self.0, names.as_deref(), &storage);
        py.detach(check).map_err(|error| to_python(py, &error))
    }

    /// The file or folder of the location, given options of stores: of its own store first.
    #[pyo3(signature = (*storage))]
    fn place(&self, py: Python<'_>, storage: &Bound<'_, PyTuple>) -> PyResult<Place> {
        let mut around = Surroundings::default().with_public_hosts();
        if !self.0.is_local() {
            let machine: String = py.import("socket")?.call_method0("gethostname")?.extract()?;
            around = around.with_machine(&machine);
            for options in storage {
                around = around.with_options(storage::texts(&options)?);
            }
            around = around.with_environment();
        }
        Ok(Place::of(&self.0, &around))
    }
}

/// The location that an argument has: text, or an object with a path.
pub(crate) fn location_of(path: &Bound<'_, PyAny>) -> PyResult<orcish_io::Location> {
    let py = path.py();
    let given = path_of(path)?.unwrap_or_else(|| path.clone());
    let Ok(text) = given.cast::<PyString>() else {
        let hint = if given.is_instance_of::<PyBytes>() { ": os.fsdecode makes text of it" } else { "" };
        let (shown, kind) = (path.repr()?.to_string(), given.get_type());
        let shown: String = shown.chars().take(100).collect();
        let kind = kind.name()?;
        let text = format!("{shown}: a path or URL is text or a pathlib.Path, not {kind}{hint}");
        return Err(PyTypeError::new_err(text));
    };
    match text.to_str() {
        Ok(text) => orcish_io::Location::try_new(text).map_err(|error| to_python(py, &error)),
        // Names of files of the local disk may be other bytes than those of text.
        Err(error) if error.is_instance_of::<PyUnicodeEncodeError>(py) => {
            Ok(orcish_io::Location::of_path(text.extract::<PathBuf>()?))
        }
        Err(error) => Err(error),
    }
}

/// The path of an argument that is text, or has one; `None` for others.
fn path_of<'py>(given: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    if given.is_instance_of::<PyString>() {
        return Ok(Some(given.clone()));
    }
    match given.get_type().getattr_opt("__fspath__")? {
        Some(_) => given.call_method0("__fspath__").map(Some),
        None => Ok(None),
    }
}

/// A source in the form that `source::open` takes: a path or URL, bytes or a file object.
#[pyfunction(name = "opened_source")]
#[pyo3(signature = (source, storage=None))]
pub(crate) fn source_form<'py>(
    source: &Bound<'py, PyAny>,
    storage: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = source.py();
    if path_of(source)?.is_some() {
        let location = location_of(source)?;
        if location.is_foreign() {
            return foreign_path(py, &location, storage)?.call_method0("file");
        }
        return Ok(location.as_os_str().into_pyobject(py)?.into_any());
    }
    if is_system_path(source)? {
        return source.call_method0("file");
    }
    if source.is_instance_of::<PyBytes>() || source.hasattr("read")? || source.hasattr("read_ranges")? {
        return Ok(source.clone());
    }
    // Any object with the buffer protocol, such as buffers of pyarrow.
    let Ok(view) = PyMemoryView::from(source) else {
        let kind = source.get_type();
        let kind = kind.name()?;
        let text = format!("a source is a path, a URL, the bytes of a file or a file object, not {kind}");
        return Err(PyTypeError::new_err(text));
    };
    view.call_method0("tobytes")
}

/// The path within a file system of fsspec of a URL that orcish does not open itself.
fn foreign_path<'py>(
    py: Python<'py>,
    url: &orcish_io::Location,
    storage: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    py.import("orcish.io.filesystem")?.getattr("foreign_path")?.call1((url.as_os_str(), storage))
}

fn is_system_path(source: &Bound<'_, PyAny>) -> PyResult<bool> {
    source.is_instance(&source.py().import("orcish.io.system_path")?.getattr("SystemPath")?)
}

/// The files of sources, in their order: paths, URLs, patterns, bytes, file objects and paths within file systems, or a list of
/// these. Nothing is written. `partitions` says whether folders `name=value` are columns; by default, those below a folder
/// are.
///
/// With `is_read`, a source of CarbonData is told from others, and sources without files and without a schema are an error.
/// The files of a CarbonData table with metadata are not listed.
#[pyfunction]
#[pyo3(signature = (sources, storage_options=None, *, partitions=None, is_before=false, is_read=false))]
pub(crate) fn source_files<'py>(
    sources: &Bound<'py, PyAny>,
    storage_options: Option<&Bound<'py, PyAny>>,
    partitions: Option<bool>,
    is_before: bool,
    is_read: bool,
) -> PyResult<Found<'py>> {
    let py = sources.py();
    let is_list = sources.is_instance_of::<PyList>() || sources.is_instance_of::<PyTuple>();
    let several: Vec<Bound<'py, PyAny>> =
        if is_list { sources.try_iter()?.collect::<PyResult<_>>()? } else { vec![sources.clone()] };
    let given: Vec<_> = several.iter().map(|source| Given::of(source, storage_options)).collect::<PyResult<_>>()?;
    let own = given.iter().filter_map(|given| match given {
        Given::Location(location) => location.as_os_str().to_str(),
        _ => None,
    });
    let storage = self::storage_options(storage::complete(py, own, storage_options)?.as_ref())?;
    if let (true, false, [Given::Location(location)]) = (is_read, is_list, &*given) {
        let found = py.detach(|| carbondata::has_metadata(location, &storage));
        if found.map_err(|error| to_python(py, &error))? {
            return Ok((true, Vec::new(), None));
        }
    }
    let pending = if is_before { Pending::Before } else { Pending::Wait };
    let (mut files, mut schemas, mut first) = (Vec::new(), Vec::new(), None);
    for (at, (given, source)) in given.iter().zip(&several).enumerate() {
        match given {
            Given::Location(location) => {
                let listed = py.detach(|| orcish_table::source_files(location, partitions, pending, &storage));
                let SourceFiles { files: found, schema, is_listed } = listed.map_err(|error| to_python(py, &error))?;
                files.extend(found.into_iter().map(|file| (file.location, None, file.partition, None, None)));
                if at == 0 {
                    first = schema.clone().map(|schema| (schema, orcish_io::display_name(&lossy(location))));
                }
                if is_listed {
                    schemas.push(schema.map(|schema| schema.file));
                }
            }
            Given::System(path) => files.extend(system_files(path, partitions)?),
            Given::Object(object) => {
                let kind = source.get_type();
                files.push((format!("<{}>", kind.name()?), Some(object.clone()), Vec::new(), None, None));
            }
        }
    }
    number_nameless(&mut files)?;
    let is_carbon = is_read && files.iter().any(|(location, ..)| carbondata::is_file_of_table(location));
    // Tables of different schemas are read like files of different schemas.
    let schema = first.filter(|_| schemas.windows(2).all(|pair| pair.first() == pair.last()));
    if is_read && files.is_empty() && schema.is_none() {
        return Err(to_python(py, &orcish_table::no_files(&names_of(&several)?)));
    }
    let spec = |(TableSchema { file, partition }, name): (TableSchema, String)| {
        (Cow::Owned(file.into()), partition, name, (partitions == Some(false)).then(Vec::new))
    };
    Ok((is_carbon, files, schema.map(spec)))
}

/// Whether a file is one of a CarbonData table, by its name.
#[pyfunction]
pub(crate) fn is_file_of_carbon(location: &str) -> bool {
    carbondata::is_file_of_table(location)
}

/// A source of a scan.
enum Given<'py> {
    Location(orcish_io::Location),
    /// A path within a file system of another library.
    System(Bound<'py, PyAny>),
    /// Bytes or a file object.
    Object(Bound<'py, PyAny>),
}

impl<'py> Given<'py> {
    fn of(source: &Bound<'py, PyAny>, storage: Option<&Bound<'py, PyAny>>) -> PyResult<Self> {
        if path_of(source)?.is_some() {
            let location = location_of(source)?;
            return Ok(if location.is_foreign() {
                Given::System(foreign_path(source.py(), &location, storage)?)
            } else {
                Given::Location(location)
            });
        }
        Ok(if is_system_path(source)? {
            Given::System(source.clone())
        } else {
            Given::Object(source_form(source, storage)?)
        })
    }
}

/// The files at a path within a file system. A log of a table there is not read.
fn system_files<'py>(path: &Bound<'py, PyAny>, partitions: Option<bool>) -> PyResult<Vec<FileSpec<'py>>> {
    let base: String = path.getattr("location")?.extract()?;
    let found: Vec<Bound<'py, PyAny>> = path.call_method0("files")?.extract()?;
    let named = |file: Bound<'py, PyAny>| Ok((file.getattr("location")?.extract::<String>()?, file));
    let found: Vec<_> = found.into_iter().map(named).collect::<PyResult<_>>()?;
    let is_file = matches!(&*found, [(location, _)] if *location == base);
    let spec = |(location, file): (String, Bound<'py, PyAny>)| {
        let partition = match partitions {
            Some(true) => orcish_io::hive_partitions(&location),
            None if !is_file => orcish_io::hive_partitions_below(&base, &location),
            _ => Vec::new(),
        };
        (location, Some(file), partition, None, None)
    };
    Ok(found.into_iter().map(spec).collect())
}

/// Gives bytes and file objects distinct names, where there are several files.
fn number_nameless(files: &mut [FileSpec<'_>]) -> PyResult<()> {
    if files.len() < 2 {
        return Ok(());
    }
    for (at, (location, object, ..)) in files.iter_mut().enumerate() {
        // Files of file systems have locations.
        let is_nameless = object.as_ref().map_or(Ok(false), |object| object.hasattr("location").map(|has| !has))?;
        if is_nameless && let Some(name) = location.strip_suffix('>') {
            *location = format!("{name} {at}>");
        }
    }
    Ok(())
}

/// The names of sources, for people.
fn names_of(sources: &[Bound<'_, PyAny>]) -> PyResult<String> {
    let name = |source: &Bound<'_, PyAny>| match source.cast::<PyString>() {
        Ok(_) => Ok(format!("'{}'", display_name(source)?)),
        Err(_) => Ok(source.repr()?.to_string()),
    };
    let names: Vec<String> = sources.iter().map(name).collect::<PyResult<_>>()?;
    Ok(if names.is_empty() { "the list is empty".to_owned() } else { names.join(", ") })
}

fn lossy(location: &orcish_io::Location) -> Cow<'_, str> {
    location.as_os_str().to_string_lossy()
}

/// A path or URL for messages, without secrets. Names of files may have bytes that are no text, which are question marks.
#[pyfunction]
pub(crate) fn display_name(location: &Bound<'_, PyAny>) -> PyResult<String> {
    let text = location.cast::<PyString>()?;
    match text.to_str() {
        Ok(text) => Ok(orcish_io::display_name(text)),
        Err(_) => {
            let bytes = text.call_method1("encode", ("utf-8", "replace"))?;
            Ok(orcish_io::display_name(&String::from_utf8_lossy(bytes.extract()?)))
        }
    }
}

/// Whether a source is a CarbonData table with metadata, or a data file. Other tables are known by the list of their files.
#[pyfunction]
#[pyo3(signature = (source, storage_options=None))]
pub(crate) fn has_carbon_metadata(
    source: &Bound<'_, PyAny>,
    storage_options: Option<&Bound<'_, PyAny>>,
) -> PyResult<bool> {
    let py = source.py();
    if path_of(source)?.is_none() {
        return Ok(false);
    }
    let location = location_of(source)?;
    let own = location.as_os_str().to_str().filter(|_| !location.is_foreign());
    let storage = self::storage_options(storage::complete(py, own.into_iter(), storage_options)?.as_ref())?;
    py.detach(|| carbondata::has_metadata(&location, &storage)).map_err(|error| to_python(py, &error))
}

/// The working directory; `None` where it was removed.
#[pyfunction]
pub(crate) fn working_folder() -> Option<OsString> {
    std::env::current_dir().ok().map(PathBuf::into_os_string)
}

/// The folder above the first name of a pattern that has a special character; the whole of a path or URL without one.
#[pyfunction]
pub(crate) fn above_pattern(pattern: &str) -> &str {
    orcish_io::above_pattern(pattern)
}

/// Whether a pattern matches paths, or folders above them, which are relative to the same folder as the pattern.
#[pyfunction]
pub(crate) fn matches_pattern(py: Python<'_>, pattern: &str, paths: Vec<String>) -> PyResult<Vec<bool>> {
    orcish_io::matches(pattern, &paths).map_err(|error| to_python(py, &error))
}

/// Whether a path in the folder of a table is ignored by readers.
#[pyfunction]
pub(crate) fn is_hidden(path: PathBuf) -> bool {
    orcish_io::is_hidden_path(&path.to_string_lossy())
}

/// The options of stores for calls of this module, with what the profiles of AWS say; see `orcish.io.storage`.
#[pyfunction]
#[pyo3(signature = (locations, options))]
pub(crate) fn complete_storage<'py>(
    locations: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let py = locations.py();
    let several = if locations.is_instance_of::<PyString>() {
        vec![locations.clone()]
    } else {
        locations.try_iter()?.collect::<PyResult<Vec<_>>>()?
    };
    let texts: Vec<_> = several.iter().filter_map(|each| each.extract::<&str>().ok()).collect();
    storage::complete(py, texts.into_iter(), options)
}

/// The options of `location`, for a source that has one.
pub(crate) fn storage_of_source<'py>(
    source: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyAny>>,
) -> PyResult<StorageOptions> {
    let text = source.cast::<PyString>().ok().and_then(|text| text.to_str().ok());
    self::storage_options(storage::complete(source.py(), text.into_iter(), options)?.as_ref())
}
