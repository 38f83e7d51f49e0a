//! The stream of the batches of a reader.

use std::fmt;
use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use futures_core::Stream;
use orcish_core::error::Result;
use orcish_io::{Blocking, spawn_blocking};

use super::cancel::CancelOnDrop;
use crate::read::BatchReader;
use crate::scan::ScanReader;

type Batches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// A stream of batches, see [`stream`](super). An error ends the batches.
///
/// A stream of a [`ScanReader`] or a [`BatchReader`] replaces the cancellation check of the reader.
pub struct OrcRecordBatchStream {
    schema: SchemaRef,
    state: ReadState,
    _cancel: CancelOnDrop,
}

enum ReadState {
    /// The reader of a stream that has not been polled.
    Idle(Batches),
    /// The next batch is being read on another thread, which returns the reader too.
    Reading(Blocking<(Batches, Option<Result<RecordBatch>>)>),
    End,
}

impl fmt::Debug for OrcRecordBatchStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OrcRecordBatchStream").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl OrcRecordBatchStream {
    /// The stream of a reader whose work ends when `cancel` is dropped.
    pub(super) fn with_cancel(schema: SchemaRef, mut reader: BatchReader, cancel: CancelOnDrop) -> Self {
        reader.set_cancel_check(cancel.check(None));
        OrcRecordBatchStream { schema, state: ReadState::Idle(Box::new(reader)), _cancel: cancel }
    }

    /// Schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn poll_batch(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<RecordBatch>>> {
        loop {
            match std::mem::replace(&mut self.state, ReadState::End) {
                ReadState::Idle(batches) => self.state = read_next(batches)?,
                ReadState::Reading(mut next) => {
                    let Poll::Ready(read) = Pin::new(&mut next).poll(context) else {
                        self.state = ReadState::Reading(next);
                        return Poll::Pending;
                    };
                    let (batches, batch) = read?;
                    if matches!(batch, Some(Ok(_))) {
                        self.state = read_next(batches)?;
                    } else {
                        drop_elsewhere(batches);
                    }
                    return Poll::Ready(batch);
                }
                ReadState::End => return Poll::Ready(None),
            }
        }
    }
}

/// Begins to read the next batch.
fn read_next(mut batches: Batches) -> Result<ReadState> {
    let read = move || {
        let batch = batches.next();
        (batches, batch)
    };
    Ok(ReadState::Reading(spawn_blocking(read)?))
}

/// Drops a reader on another thread, as it waits for its threads for a moment.
fn drop_elsewhere<T: Send + 'static>(value: T) {
    // Without a thread, the value is dropped here.
    let _ = spawn_blocking(move || drop(value));
}

impl From<BatchReader> for OrcRecordBatchStream {
    fn from(reader: BatchReader) -> Self {
        Self::with_cancel(reader.schema(), reader, CancelOnDrop::default())
    }
}

impl From<ScanReader> for OrcRecordBatchStream {
    fn from(mut reader: ScanReader) -> Self {
        let cancel = CancelOnDrop::default();
        reader.set_cancel_check(cancel.check(None));
        OrcRecordBatchStream { schema: reader.schema(), state: ReadState::Idle(Box::new(reader)), _cancel: cancel }
    }
}

impl Stream for OrcRecordBatchStream {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(ready!(self.poll_batch(context)).map(|batch| batch.map_err(ArrowError::from)))
    }
}

impl Drop for OrcRecordBatchStream {
    fn drop(&mut self) {
        match std::mem::replace(&mut self.state, ReadState::End) {
            ReadState::End => {}
            state => drop_elsewhere(state),
        }
    }
}
