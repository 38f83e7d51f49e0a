//! The interpreter, for code that other code than Python's may call.

use orcish_core::{Error, ErrorKind};
use pyo3::ffi;
use pyo3::prelude::*;

/// Does something with the interpreter, on a thread that may be attached to it or not; `None` where there is no
/// interpreter any more, as at the end of the process.
///
/// `Python::attach` is not enough. pyo3 counts for each thread how often it has attached it, and takes a thread whose count
/// is above zero for an attached one. The count stays above zero while a method of ours calls Python code, such as the
/// `read` of a file object. That code may call another library, such as pyarrow, which detaches the thread without pyo3
/// and then calls the C functions of one of our streams: the count says "attached", and the thread is not. The
/// functions of CPython that are used here look at the thread itself.
///
/// For the same reason a `Py` must not be dropped in such a function but within this one: pyo3 changes its count
/// of references where it takes the thread for an attached one.
#[expect(unsafe_code, reason = "pyo3 has no call for this")]
pub(crate) fn attached<R>(work: impl FnOnce(Python<'_>) -> R) -> Option<R> {
    /// What attached the thread, which is taken back at the end, or where `work` panics.
    struct Hold(ffi::PyGILState_STATE);

    impl Drop for Hold {
        fn drop(&mut self) {
            // SAFETY: it is the state that `PyGILState_Ensure` gave on this thread, as `Hold` stays within the function;
            // each state is released once, and those within it are released before.
            unsafe { ffi::PyGILState_Release(self.0) }
        }
    }

    // SAFETY: it may be called at any time.
    if unsafe { ffi::Py_IsInitialized() } == 0 {
        return None;
    }
    // SAFETY: the interpreter is initialized. Threads that are attached may call it, and those that are not. Between
    // the two calls the interpreter may begin to end; CPython lets no such thread come back, whoever calls.
    let _hold = Hold(unsafe { ffi::PyGILState_Ensure() });
    #[expect(clippy::disallowed_methods, reason = "the thread is attached, whatever the count says")]
    Python::try_attach(work)
}

/// The error where there is no interpreter any more that a Python object could be called with.
pub(crate) fn gone() -> Error {
    Error::new(ErrorKind::Interrupted, "the interpreter has ended")
}
