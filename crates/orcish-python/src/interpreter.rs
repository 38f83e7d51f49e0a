//! Attaching threads to the interpreter.

use orcish_core::{Error, ErrorKind};
use pyo3::ffi;
use pyo3::prelude::*;

/// Calls `work` with the interpreter, on a thread that may or may not be attached to it. `None` if there is no
/// interpreter any more, as at the end of the process.
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
    // SAFETY: the interpreter is initialized, and both attached and detached threads may call the function. If the
    // interpreter begins to finalize between the two calls, CPython does not let the thread return.
    let _restore = RestoreState(unsafe { ffi::PyGILState_Ensure() });
    #[expect(clippy::disallowed_methods, reason = "the thread is attached, whatever the count of pyo3")]
    Python::try_attach(work)
}

/// The error for a call of a Python object when there is no interpreter any more.
pub(crate) fn gone() -> Error {
    Error::new(ErrorKind::Interrupted, "the interpreter has ended")
}
