//! Attaching threads to the interpreter, until it ends.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use orcish_core::process::PerProcess;
use orcish_core::{Error, ErrorKind};
use pyo3::ffi;
use pyo3::prelude::*;

/// How long the end of the process waits for threads that are attached.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// How long it waits before it looks for them again.
const WAIT_INTERVAL: Duration = Duration::from_millis(1);

/// The threads that [`attached`] has attached, and the end of the interpreter.
#[derive(Default)]
struct Attached {
    /// Number of calls of [`attached`] that have not returned.
    calls: AtomicUsize,
    /// The thread that ends the interpreter. No other thread is attached any more.
    ender: OnceLock<ThreadId>,
}

static ATTACHED: PerProcess<Attached> = PerProcess::new();

/// A call of [`attached`].
struct Call<'a>(&'a Attached);

impl Call<'_> {
    /// `None` if the interpreter ends, and this is not the thread that ends it.
    fn begin() -> Option<Self> {
        let attached = ATTACHED.get_or_init(Attached::default);
        // In this order, a thread that does not see the end of the interpreter is waited for.
        attached.calls.fetch_add(1, Ordering::SeqCst);
        let call = Call(attached);
        attached.ender.get().is_none_or(|ender| *ender == thread::current().id()).then_some(call)
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.0.calls.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Ends the use of the interpreter by other threads than this one, and waits for those that are attached, at most
/// [`MAX_WAIT`]. Python calls this function at the end of the process, before it finalizes the interpreter.
///
/// A finalizing interpreter ends each thread that waits for it, as after the `read` of a file object that has released the
/// interpreter. The frames of Rust on such a thread are unwound, and the process is aborted.
///
/// # Errors
/// The exception of a signal handler.
#[pyfunction]
pub(crate) fn detach_threads(py: Python<'_>) -> PyResult<()> {
    let attached = ATTACHED.get_or_init(Attached::default);
    attached.ender.get_or_init(|| thread::current().id());
    let until = Instant::now() + MAX_WAIT;
    while attached.calls.load(Ordering::SeqCst) > 0 && Instant::now() < until {
        py.detach(|| thread::sleep(WAIT_INTERVAL));
        py.check_signals()?;
    }
    Ok(())
}

/// Calls `work` with the interpreter, on a thread that may or may not be attached to it. `None` if there is no
/// interpreter any more, or after [`detach_threads`] on another thread, as at the end of the process.
///
/// `Python::attach` is not enough. pyo3 counts for each thread how often it has attached the thread, and treats a
/// thread with a positive count as attached. The count stays positive while a native method calls Python code, such as
/// the `read` of a file object. This code may call another library, such as pyarrow, which detaches the thread without
/// pyo3 and then calls the C functions of a stream of this module. The count is positive then, and the thread is not
/// attached. The functions of CPython that are used here check the thread itself.
///
/// For the same reason a callback of a stream must drop a `Py` only within this function: pyo3 decrements the reference
/// count at once if it treats the thread as attached.
#[expect(unsafe_code, reason = "pyo3 has no call for this")]
pub(crate) fn attached<R>(work: impl FnOnce(Python<'_>) -> R) -> Option<R> {
    /// Restores the former state of the thread at the end, and after a panic of `work`.
    struct RestoreState(ffi::PyGILState_STATE);

    impl Drop for RestoreState {
        fn drop(&mut self) {
            // SAFETY: `PyGILState_Ensure` returned the state on this thread, because `RestoreState` does not leave the
            // function. Each state is released once, and inner states are released before.
            unsafe { ffi::PyGILState_Release(self.0) }
        }
    }

    // SAFETY: the function may be called at any time.
    if unsafe { ffi::Py_IsInitialized() } == 0 {
        return None;
    }
    let _call = Call::begin()?;
    // SAFETY: the interpreter is initialized, and both attached and detached threads may call the function. The
    // interpreter does not finalize before the call has ended, unless the call takes longer than `MAX_WAIT`.
    let _restore = RestoreState(unsafe { ffi::PyGILState_Ensure() });
    #[expect(clippy::disallowed_methods, reason = "the thread is attached, whatever the count of pyo3")]
    Python::try_attach(work)
}

/// The error for a call of a Python object when there is no interpreter any more.
pub(crate) fn gone() -> Error {
    Error::new(ErrorKind::Interrupted, "the interpreter has ended")
}
