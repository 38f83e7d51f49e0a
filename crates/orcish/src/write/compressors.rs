//! Compressors of a thread, and the blocks that they write to.

use orcish_core::cancel::SharedCancellation;
use orcish_core::error::{OrInternal as _, Result};

use super::blocks::FreeBlocks;
use super::deferred::DeferredChunk;
use super::options::ColumnCompression;
use crate::codec::{Compression, Compressor};

/// How the chunks of a stream are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StreamCompression {
    codec: Compression,
    level: Option<i32>,
    is_text: bool,
    is_discarded: bool,
}

impl StreamCompression {
    /// Compression with `codec` at `level`, or at the default level of the codec.
    ///
    /// # Errors
    /// The errors of [`Compressor::try_new`].
    pub(super) fn try_new(codec: Compression, level: Option<i32>) -> Result<Self> {
        Compressor::try_new(codec, level)?;
        Ok(StreamCompression { codec, level, is_text: false, is_discarded: false })
    }

    /// The bytes of the stream are discarded, because only statistics are needed.
    pub(super) fn discard() -> Self {
        StreamCompression { codec: Compression::None, level: None, is_text: false, is_discarded: true }
    }

    pub(super) fn is_discarded(self) -> bool {
        self.is_discarded
    }

    /// The same compression for a stream of string data.
    pub(super) fn for_text(self) -> Self {
        StreamCompression { is_text: true, ..self }
    }

    /// The compression of a column with its own option, in a file with this compression.
    pub(super) fn for_column(self, column: ColumnCompression) -> Result<Self> {
        match column {
            ColumnCompression::None => Self::try_new(Compression::None, None),
            ColumnCompression::Level(level) => Self::try_new(self.codec, Some(level)),
        }
    }
}

/// The compressors of a thread. They are large, and have no state between chunks, so that streams share them.
#[derive(Debug, Default)]
pub(crate) struct Compressors {
    compressors: Vec<(StreamCompression, Compressor)>,
    free: FreeBlocks,
    cancellation: SharedCancellation,
    /// Chunks to compress later. `None` if chunks are compressed at once.
    deferred: Option<Vec<(StreamCompression, DeferredChunk)>>,
}

impl Compressors {
    /// Compressors of a thread, whose output is written to `free` blocks.
    pub(super) fn new(cancellation: SharedCancellation, free: FreeBlocks) -> Self {
        Compressors { cancellation, free, ..Compressors::default() }
    }

    /// The cancellation of the thread.
    pub(super) fn cancellation(&mut self) -> &mut SharedCancellation {
        &mut self.cancellation
    }

    /// The compressor for `compression`, and free blocks for its output.
    ///
    /// # Errors
    /// The error of the cancellation check once the write is cancelled.
    pub(super) fn get(&mut self, compression: StreamCompression) -> Result<(&mut Compressor, &FreeBlocks)> {
        self.cancellation.poll()?;
        let index = match self.compressors.iter().position(|(key, _)| *key == compression) {
            Some(index) => index,
            None => {
                let new = if compression.is_text { Compressor::for_text } else { Compressor::try_new };
                self.compressors.push((compression, new(compression.codec, compression.level)?));
                self.compressors.len() - 1
            }
        };
        let compressor = self.compressors.get_mut(index).map(|(_, compressor)| compressor);
        Ok((compressor.or_internal("a compressor that was made is missing")?, &self.free))
    }

    /// Begins to collect the chunks instead of compressing them.
    pub(crate) fn defer(&mut self) {
        self.deferred = Some(Vec::new());
    }

    /// Whether chunks are to be compressed later.
    pub(crate) fn is_deferring(&self) -> bool {
        self.deferred.is_some()
    }

    /// The chunks to compress later, to which streams add theirs. `None` if chunks are compressed at once.
    pub(crate) fn deferred(&mut self) -> Option<&mut Vec<(StreamCompression, DeferredChunk)>> {
        self.deferred.as_mut()
    }

    /// The chunks to compress. Further chunks are compressed at once.
    pub(crate) fn take_deferred(&mut self) -> Vec<(StreamCompression, DeferredChunk)> {
        self.deferred.take().into_iter().flatten().collect()
    }

    /// Compresses a deferred chunk.
    ///
    /// # Errors
    /// The errors of [`get`](Self::get) and of [`DeferredChunk::compress`].
    pub(crate) fn compress_deferred(
        &mut self,
        (compression, chunk): &(StreamCompression, DeferredChunk),
    ) -> Result<()> {
        chunk.compress(self.get(*compression)?.0)
    }

    /// Frees the memory of the compressors and of all free blocks. A dataset has many open files, which wait for rows.
    pub(super) fn release(&mut self) {
        self.compressors = Vec::new();
        self.free.release();
    }
}
