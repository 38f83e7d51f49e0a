//! Chunks that several threads compress after the values of all columns are encoded. If the thread of a column compressed
//! its chunks, the other threads would wait for the column that takes longest.

use std::sync::{Arc, Mutex, PoisonError};

use orcish_core::error::{OrInternal as _, Result};

use crate::codec::{Compressor, append_chunk};

/// A chunk of a stream, which holds its place in the stream until it is compressed.
#[derive(Debug, Clone)]
pub(crate) struct DeferredChunk(Arc<Mutex<State>>);

#[derive(Debug)]
enum State {
    /// Uncompressed bytes.
    Raw(Vec<u8>),
    /// The chunk with its header.
    Stored(Vec<u8>),
}

impl DeferredChunk {
    /// A chunk of uncompressed bytes.
    pub(crate) fn new(raw: &[u8]) -> Self {
        DeferredChunk(Arc::new(Mutex::new(State::Raw(raw.to_vec()))))
    }

    fn with_state<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Compresses the bytes.
    ///
    /// # Errors
    /// The errors of [`append_chunk`].
    pub(crate) fn compress(&self, compressor: &mut Compressor) -> Result<()> {
        self.with_state(|state| {
            let State::Raw(raw) = state else { return Ok(()) };
            let mut stored = Vec::new();
            append_chunk(raw, compressor, |bytes| stored.extend_from_slice(bytes))?;
            *state = State::Stored(stored);
            Ok(())
        })
    }

    /// Bytes of the chunk: stored bytes once it is compressed.
    pub(crate) fn len(&self) -> usize {
        self.with_state(|state| match state {
            State::Raw(bytes) | State::Stored(bytes) => bytes.len(),
        })
    }

    /// Whether the chunk is compressed.
    pub(crate) fn is_compressed(&self) -> bool {
        self.with_state(|state| matches!(state, State::Stored(_)))
    }

    /// Calls `work` with the compressed chunk and its header.
    ///
    /// # Errors
    /// `Internal` where the chunk is not compressed.
    pub(crate) fn with_stored<T>(&self, work: impl FnOnce(&[u8]) -> T) -> Result<T> {
        self.with_state(|state| match state {
            State::Stored(stored) => Some(work(stored)),
            State::Raw(_) => None,
        })
        .or_internal("a deferred chunk is not compressed")
    }
}
