//! What a file may be written to: a path or URL, or a Python object with `write`.

use orcish::{Sink, StorageOptions, Withheld};
use pyo3::exceptions::{PyBlockingIOError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyString};

use crate::errors::{from_python, to_python};

/// Bytes that are offered at least to a file object which has taken a part only.
const LEAST_OFFER: usize = 64 << 10;

/// The sink for `target`, and where the file is found if it is not to appear.
pub(crate) fn create(
    target: &Bound<'_, PyAny>,
    storage: &StorageOptions,
    publish: bool,
    staging: Option<&str>,
) -> PyResult<(Box<dyn Sink>, Option<Withheld>)> {
    match publish {
        true if staging.is_some() => {
            Err(PyValueError::new_err("staging is for files that are not published: publish=False"))
        }
        true => Ok((create_published(target, storage)?, None)),
        false => create_unpublished(target, staging, storage).map(|(sink, withheld)| (sink, Some(withheld))),
    }
}

/// The sink for `target`: `str` is a path or URL.
fn create_published(target: &Bound<'_, PyAny>, storage: &StorageOptions) -> PyResult<Box<dyn Sink>> {
    let py = target.py();
    if let Ok(path) = target.cast::<PyString>() {
        let made = match path.to_str() {
            Ok(location) => py.detach(|| orcish::create(location, storage)),
            // A path of the system that is not Unicode.
            Err(_) => orcish::FileSink::create(path.extract::<std::path::PathBuf>()?).map(|sink| Box::new(sink) as _),
        };
        return made.map_err(|error| to_python(py, &error));
    }
    Ok(Box::new(PythonSink::new(target)?))
}

/// The sink for `target` where it is not to appear.
fn create_unpublished(
    target: &Bound<'_, PyAny>,
    staging: Option<&str>,
    storage: &StorageOptions,
) -> PyResult<(Box<dyn Sink>, Withheld)> {
    let py = target.py();
    let Some(location) = target.cast::<PyString>().ok().and_then(|path| path.to_str().ok()) else {
        return Err(PyValueError::new_err("publish=False: what is not published has a path in Unicode, or a URL"));
    };
    let made = py.detach(|| orcish::create_unpublished(location, staging, storage));
    made.map_err(|error| to_python(py, &error))
}

/// A Python file object. It is not closed.
struct PythonSink {
    object: Py<PyAny>,
    name: String,
    /// Whether `None` for a number of bytes says that none were taken, as of raw files that do not block.
    is_raw: bool,
}

impl PythonSink {
    fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let io = object.py().import("io")?;
        if object.is_instance(&io.getattr("TextIOBase")?)? {
            return Err(PyTypeError::new_err(
                "the file object is open for text, and a file is bytes: open it as with 'wb'",
            ));
        }
        let name = object.getattr("name").ok().and_then(|name| name.extract::<String>().ok());
        Ok(PythonSink {
            object: object.clone().unbind(),
            name: name.unwrap_or_else(|| "<file object>".to_owned()),
            is_raw: object.is_instance(&io.getattr("RawIOBase")?)?,
        })
    }

    /// Has the object take all bytes, which it may do in parts.
    fn write_all(&self, object: &Bound<'_, PyAny>, bytes: &[u8]) -> PyResult<()> {
        let mut rest = bytes;
        let mut offer = bytes.len();
        while !rest.is_empty() {
            let offered = rest.get(..offer).unwrap_or(rest);
            let taken = object.call_method1("write", (PyBytes::new(object.py(), offered),))?;
            let count = self.count(object, &taken, offered.len(), bytes.len() - rest.len())?;
            rest = rest.get(count..).unwrap_or_default();
            // What takes little is not given a copy of everything each time.
            offer = count.saturating_mul(2).max(LEAST_OFFER);
        }
        Ok(())
    }

    /// How many of the bytes `offered` have been taken, one at least; `before` are those of the same piece before.
    fn count(
        &self,
        object: &Bound<'_, PyAny>,
        taken: &Bound<'_, PyAny>,
        offered: usize,
        before: usize,
    ) -> PyResult<usize> {
        let py = object.py();
        if taken.is_none() {
            if !self.is_raw && !is_non_blocking(object) {
                // Some objects say nothing, and take all.
                return Ok(offered);
            }
            let number = py.import("errno")?.getattr("EAGAIN")?.unbind();
            let text = "the file object does not block, and takes no bytes now: have it block, or write to a buffer";
            return Err(PyBlockingIOError::new_err((number, text, before)));
        }
        let wrong = || PyValueError::new_err(format!("write took {taken} of {offered} bytes"));
        let count = match taken.extract::<i64>() {
            Ok(_) | Err(_) if taken.is_instance_of::<PyBool>() => None,
            Ok(count) => Some(count),
            Err(error) if error.is_instance_of::<PyOverflowError>(py) => return Err(wrong()),
            Err(_) => None,
        };
        let Some(count) = count else {
            let text = format!("write gave {}, where it gives the number of bytes that it took", taken.repr()?);
            return Err(PyTypeError::new_err(text));
        };
        usize::try_from(count).ok().filter(|count| (1..=offered).contains(count)).ok_or_else(wrong)
    }
}

/// Whether an object stands for a file of the system that does not block.
fn is_non_blocking(object: &Bound<'_, PyAny>) -> bool {
    let blocks = || -> PyResult<bool> {
        let number = object.call_method0("fileno")?;
        object.py().import("os")?.call_method1("get_blocking", (number,))?.extract()
    };
    // What has no number of a file is none of the system.
    matches!(blocks(), Ok(false))
}

impl Sink for PythonSink {
    fn name(&self) -> &str {
        &self.name
    }

    fn write(&mut self, bytes: &[u8]) -> orcish::Result<()> {
        Python::attach(|py| {
            let written = self.write_all(self.object.bind(py), bytes);
            written.map_err(|error| from_python(py, "the file object failed", error))
        })
    }

    fn finish(&mut self) -> orcish::Result<()> {
        Python::attach(|py| {
            let object = self.object.bind(py);
            let flush = || match object.hasattr("flush")? {
                true => object.call_method0("flush").map(drop),
                false => Ok(()),
            };
            flush().map_err(|error| from_python(py, "the file object failed", error))
        })
    }
}
