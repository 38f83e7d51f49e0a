//! The executor of requests that are ready at once.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Runs a future of this crate over a [`FileStore`](crate::FileStore), whose requests block the thread. Functions of
/// this crate are asynchronous so that tests can stop them between any two requests.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
            return result;
        }
    }
}
