//! Calls of foreign code that are running, such as the `read` of a file object. Such code may call the library again, and
//! then waits for it. What is called must not wait for the call in turn.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    /// The calls that wait for what this thread does.
    static CALLS: RefCell<Vec<CallId>> = const { RefCell::new(Vec::new()) };
}

/// The number of a call. No two calls of a process have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallId(u64);

impl CallId {
    /// Whether the call waits for what this thread does: the call is one of this thread, or of the thread that started it.
    ///
    /// ```
    /// use orcish_core::calls::Call;
    ///
    /// let call = Call::begin();
    /// let id = call.id();
    /// assert!(id.is_waited_for());
    /// assert!(!std::thread::spawn(move || id.is_waited_for()).join().unwrap());
    /// drop(call);
    /// assert!(!id.is_waited_for());
    /// ```
    pub fn is_waited_for(self) -> bool {
        CALLS.with_borrow(|calls| calls.contains(&self))
    }
}

/// A running call. It ends when it is dropped, on the thread that began it.
#[derive(Debug)]
pub struct Call {
    id: CallId,
    /// A call is one of its thread.
    of_thread: PhantomData<*const ()>,
}

impl Call {
    /// Begins a call.
    pub fn begin() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = CallId(NEXT.fetch_add(1, Ordering::Relaxed));
        CALLS.with_borrow_mut(|calls| calls.push(id));
        Call { id, of_thread: PhantomData }
    }

    /// The number of the call.
    pub fn id(&self) -> CallId {
        self.id
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        CALLS.with_borrow_mut(|calls| calls.retain(|&id| id != self.id));
    }
}

/// The calls that wait for what a thread does, for the threads that it starts.
#[derive(Debug, Clone)]
pub struct Calls(Vec<CallId>);

impl Calls {
    /// The calls that wait for this thread.
    pub fn of_this_thread() -> Self {
        Calls(CALLS.with_borrow(Clone::clone))
    }

    /// Makes them wait for this thread, which has just started.
    pub fn go_on(self) {
        CALLS.with_borrow_mut(|calls| calls.extend(self.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_a_thread_are_those_of_the_threads_that_it_starts() {
        let (outer, inner) = (Call::begin(), Call::begin());
        let ids = [outer.id(), inner.id()];
        drop(outer);
        assert_eq!(ids.map(CallId::is_waited_for), [false, true]);
        let calls = Calls::of_this_thread();
        let on_thread = move || {
            calls.go_on();
            let own = Call::begin();
            (ids.map(CallId::is_waited_for), own.id())
        };
        let (found, own) = std::thread::spawn(on_thread).join().unwrap();
        assert_eq!(found, [false, true]);
        assert!(!own.is_waited_for());
    }
}
