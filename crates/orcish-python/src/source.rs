//! Sources of files: a path or URL, bytes, or a Python object with `read` and `seek`.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use once_cell::race::OnceBox;
use orcish_core::calls::{Call, CallId};
use orcish_core::process::{OwnerProcess, PerProcess};
use orcish_core::{Error, Result};
use orcish_io::{
    DEFAULT_COALESCE_GAP, DEFAULT_REMOTE_FIRST_READ, FileSource, FileVersion, MemorySource, ReadAt, StorageOptions,
    tuning,
};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyString};

use crate::errors::{check_signals, from_python};
use crate::file_object::{check_binary, is_non_blocking, is_text, name_of, number, would_block};
use crate::interpreter::{attached, gone};

/// How long a thread waits for the file object before it checks for signals.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// The source for `object`: `str` is a path or URL, `bytes` are the bytes of the file. `name` is used in error messages
/// for objects without a name.
pub(crate) fn open(
    object: &Bound<'_, PyAny>,
    storage: &StorageOptions,
    name: Option<&str>,
) -> PyResult<Arc<dyn ReadAt>> {
    let py = object.py();
    if let Ok(path) = object.cast::<PyString>() {
        let source = match path.to_str() {
            Ok(location) => py.detach(|| orcish_io::open(location, storage)),
            // A path that is not Unicode.
            Err(_) => FileSource::open(path.extract::<std::path::PathBuf>()?).map(|source| Arc::new(source) as _),
        };
        return source.map_err(|error| crate::errors::to_python(py, &error));
    }
    if let Ok(bytes) = object.cast::<PyBytes>() {
        let bytes = PyBackedBytes::from(bytes.clone());
        let source = MemorySource::new(Bytes::from_owner(bytes));
        return Ok(Arc::new(match name {
            Some(name) => source.named(name),
            None => source,
        }));
    }
    if object.hasattr("read")? && object.hasattr("seek")? {
        return Ok(Arc::new(PythonSource::new(object, name.unwrap_or("<file object>"))?));
    }
    Err(PyTypeError::new_err(format!("cannot read from {}", object.get_type().name()?)))
}

/// A Python file object. Ranges are read one after another, by all readers of the object, because it has one position,
/// unless it has the methods of `orcish.io.system_path.SystemFile`.
struct PythonSource {
    object: Py<PyAny>,
    name: String,
    size: u64,
    /// Ranges that the object reads at the same time, if it reads several ranges with one call of `read_ranges`.
    concurrency: Option<usize>,
    reading: PerProcess<Arc<Reading>>,
    /// The process whose position in the file other processes would move, for an object with a file descriptor.
    owner: Option<OwnerProcess>,
    /// The version that the file has to be of.
    expected: OnceBox<FileVersion>,
    /// Whether the file is known to be of this version.
    is_expected: AtomicBool,
}

/// What reads from objects, by the addresses of the objects.
static READINGS: PerProcess<Mutex<HashMap<usize, Weak<Reading>>>> = PerProcess::new();

/// The call that reads from an object. All readers of the object share it.
struct Reading {
    /// The address of the object. Each reader keeps the object, so that no other one has the address.
    object: usize,
    call: Mutex<Option<CallId>>,
    /// Notified when the call has ended.
    ended: Condvar,
}

impl Reading {
    fn of(object: &Py<PyAny>) -> Arc<Self> {
        let address = object.as_ptr() as usize;
        let mut all = READINGS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reading) = all.get(&address).and_then(Weak::upgrade) {
            return reading;
        }
        let new = Arc::new(Reading { object: address, call: Mutex::default(), ended: Condvar::new() });
        all.insert(address, Arc::downgrade(&new));
        new
    }

    /// Waits until no other thread reads from the object. The interpreter is not held, and signals are checked, because a
    /// read may be slow. `name` is the name of the file.
    ///
    /// # Errors
    /// `RuntimeError` if the call that reads waits for this thread: a method of the object reads the file again. The
    /// exception of a signal handler.
    fn acquire(&self, name: &str) -> Result<ReadGuard<'_>> {
        let mut reader = self.lock();
        while let Some(call) = *reader {
            if call.is_waited_for() {
                drop(reader);
                let text = format!("{name}: a method of the file object reads the file that it is read for");
                let error = |py: Python<'_>| from_python(py, "the file object failed", PyRuntimeError::new_err(text));
                return Err(attached(error).unwrap_or_else(gone));
            }
            let wait = self.ended.wait_timeout(reader, CHECK_INTERVAL);
            let (guard, timeout) = wait.unwrap_or_else(PoisonError::into_inner);
            reader = guard;
            if timeout.timed_out() {
                drop(reader);
                check_signals()?;
                reader = self.lock();
            }
        }
        let call = Call::begin();
        *reader = Some(call.id());
        Ok(ReadGuard { reading: self, _call: call })
    }

    fn lock(&self) -> MutexGuard<'_, Option<CallId>> {
        self.call.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        let mut all = READINGS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        // A reader that was made meanwhile has put its own there.
        if all.get(&self.object).is_some_and(|reading| reading.strong_count() == 0) {
            all.remove(&self.object);
        }
    }
}

/// The exclusive right to read from the object.
struct ReadGuard<'a> {
    reading: &'a Reading,
    _call: Call,
}

impl Drop for ReadGuard<'_> {
    fn drop(&mut self) {
        *self.reading.lock() = None;
        self.reading.ended.notify_one();
    }
}

impl PythonSource {
    fn new(object: &Bound<'_, PyAny>, default_name: &str) -> PyResult<Self> {
        check_binary(object, "rb")?;
        let name = name_of(object, default_name);
        let (py, object) = (object.py(), object.clone().unbind());
        let reading = Reading::of(&object);
        let size = py.detach(|| {
            let _guard = reading.acquire(&name)?;
            let ask = |py: Python<'_>| {
                size_of(object.bind(py)).map_err(|error| from_python(py, "the file object failed", error))
            };
            attached(ask).unwrap_or_else(|| Err(gone()))
        });
        let size = size.map_err(|error| crate::errors::to_python(py, &error))?;
        let bound = object.bind(py);
        let has_concurrency = bound.hasattr("read_ranges")? && bound.hasattr("concurrency")?;
        let concurrency = if has_concurrency { Some(bound.getattr("concurrency")?.extract()?) } else { None };
        // An object without a file descriptor raises an exception here.
        let has_descriptor = bound.call_method0("fileno").is_ok();
        Ok(PythonSource {
            owner: has_descriptor.then(OwnerProcess::current),
            concurrency,
            object,
            name,
            size,
            reading: PerProcess::with_value(reading),
            expected: OnceBox::new(),
            is_expected: AtomicBool::new(false),
        })
    }

    /// A setting of stores, for an object that reads several ranges at the same time, or that of files.
    fn remote_or(&self, remote: u64, local: u64) -> u64 {
        if self.concurrency.is_some_and(|requests| requests > 1) { remote } else { local }
    }

    /// Reads ranges with one call of the object, which any thread may make at any time.
    fn read_together(&self, py: Python<'_>, ranges: &[Range<u64>]) -> PyResult<Vec<Bytes>> {
        let pairs: Vec<_> = ranges.iter().map(|range| (range.start, range.end)).collect();
        let parts: Vec<PyBackedBytes> = self.object.bind(py).call_method1("read_ranges", (pairs,))?.extract()?;
        let lengths = ranges.iter().map(|range| range.end - range.start);
        if parts.len() != ranges.len() || parts.iter().zip(lengths).any(|(part, length)| part.len() as u64 != length) {
            return Err(PyOSError::new_err(format!("{}: fewer bytes than were asked for", self.name)));
        }
        // The bytes are copied, as those of `read`.
        Ok(parts.iter().map(|part| Bytes::copy_from_slice(part)).collect())
    }

    fn read(&self, py: Python<'_>, range: &Range<u64>) -> PyResult<Bytes> {
        let object = self.object.bind(py);
        let start = object.call_method1("seek", (range.start,))?;
        let call = || format!("seek({})", range.start);
        if !start.is_none() && offset(&call(), &start)? != range.start {
            return Err(PyValueError::new_err(format!("{} went to {start}", call())));
        }
        let length = usize::try_from(range.end - range.start)?;
        // The bytes are copied. Threads that do not hold the interpreter would free those of Python under a lock, which a
        // child of a fork inherits.
        let mut bytes: Vec<u8> = Vec::new();
        while bytes.len() < length {
            let done = bytes.len();
            let part = object.call_method1("read", (length - done,))?;
            let part = part.extract::<PyBackedBytes>().or_else(|_| Err(no_bytes_error(object, &part, done)?))?;
            if part.is_empty() || part.len() > length - done {
                let (name, expected, at, count) = (&self.name, length - done, range.start + done as u64, part.len());
                let text = format!("{name}: read({expected}) at {at} gave {count} bytes");
                // The file of an object that gives no bytes has become shorter.
                return Err(if count == 0 { PyOSError::new_err(text) } else { PyValueError::new_err(text) });
            }
            bytes.extend_from_slice(&part);
        }
        Ok(Bytes::from(bytes))
    }
}

/// The number of bytes of a file object.
fn size_of(object: &Bound<'_, PyAny>) -> PyResult<u64> {
    let end = object.call_method1("seek", (0, 2))?;
    // `seek` of some file objects returns None.
    if end.is_none() { offset("tell()", &object.call_method0("tell")?) } else { offset("seek(0, 2)", &end) }
}

/// Adds the name of the file to an exception, as a note. Its message is that of the object.
fn named(py: Python<'_>, error: PyErr, name: &str) -> PyErr {
    // Python 3.10 has no notes. The exception without one is better than that of this call.
    let _ = error.value(py).call_method1("add_note", (format!("while {name} was read"),));
    error
}

/// The offset in the file that a call returned.
fn offset(call: &str, returned: &Bound<'_, PyAny>) -> PyResult<u64> {
    let offset = number(call, "a place in the file", returned)?;
    offset.ok_or_else(|| PyValueError::new_err(format!("{call} gave {returned}, which is no place in a file")))
}

/// The error for an object whose `read` did not return bytes after `done` bytes of a range.
fn no_bytes_error(object: &Bound<'_, PyAny>, returned: &Bound<'_, PyAny>, done: usize) -> PyResult<PyErr> {
    if returned.is_instance_of::<PyString>() {
        return Ok(is_text("rb"));
    }
    if returned.is_none() && is_non_blocking(object)? {
        let text = "the file object does not block, and has no bytes now: have it block, or read it into memory first";
        return Ok(would_block(object.py(), text.to_owned(), done));
    }
    let text = format!("read gave an object of type {}, where it gives bytes", returned.get_type().name()?);
    Ok(PyTypeError::new_err(text))
}

impl ReadAt for PythonSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn size(&self) -> Result<u64> {
        Ok(self.size)
    }

    fn version(&self) -> Result<Option<FileVersion>> {
        if self.concurrency.is_none() {
            return Ok(Some(FileVersion::of_size(self.size)));
        }
        let ask = |py: Python<'_>| -> PyResult<PyBackedBytes> {
            Ok(self.object.bind(py).call_method0("version")?.extract()?)
        };
        let ask = |py: Python<'_>| {
            let version_bytes =
                ask(py).map_err(|error| from_python(py, "the file object failed", named(py, error, &self.name)))?;
            FileVersion::from_bytes(&version_bytes).map(Some)
        };
        attached(ask).unwrap_or_else(|| Err(gone()))
    }

    fn expect_version(&self, version: &FileVersion) -> Result<()> {
        let expected = self.expected.get_or_init(|| Box::new(version.clone()));
        version.check(expected)?;
        // A file of a file system is opened with its first read.
        if self.concurrency.is_none() { self.check_version() } else { Ok(()) }
    }

    /// Compares the file with the expected version once. The object compares the versions of its later reads.
    fn check_version(&self) -> Result<()> {
        let Some(expected) = self.expected.get() else { return Ok(()) };
        if !self.is_expected.load(Ordering::Acquire) {
            if let Some(now) = self.version()? {
                expected.check(&now)?;
            }
            self.is_expected.store(true, Ordering::Release);
        }
        Ok(())
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        if self.concurrency.is_none() && self.owner.is_some_and(|owner| !owner.is_current()) {
            let text = "a file object that was opened before a fork has one position for all processes: open it again, or \
                        give the path";
            return Err(Error::invalid(text).in_file(&self.name));
        }
        self.check_version()?;
        let reading = || self.reading.get_or_init(|| Reading::of(&self.object));
        let _guard = if self.concurrency.is_none() { Some(reading().acquire(&self.name)?) } else { None };
        let read = |py: Python<'_>| {
            let parts = match self.concurrency {
                Some(_) => self.read_together(py, ranges),
                None => ranges.iter().map(|range| self.read(py, range)).collect(),
            };
            parts.map_err(|error| from_python(py, "the file object failed", named(py, error, &self.name)))
        };
        attached(read).unwrap_or_else(|| Err(gone()))
    }

    fn first_read(&self) -> u64 {
        self.remote_or(DEFAULT_REMOTE_FIRST_READ, tuning::FIRST_READ.wide())
    }

    fn coalesce_gap(&self) -> u64 {
        self.remote_or(DEFAULT_COALESCE_GAP, tuning::LOCAL_COALESCE_GAP.wide())
    }

    fn concurrency(&self) -> usize {
        self.concurrency.map_or_else(|| tuning::LOCAL_CONCURRENCY.get(), |requests| requests.max(1))
    }
}
