//! Options that the streams of a column share.

use orcish_core::error::Result;

use super::blocks::Blocks;
use super::compressors::{Compressors, StreamCompression};
use super::options::Version;
use super::out_stream::OutStream;
use crate::codec::Framing;
use crate::layout::Coding;
use crate::proto::orc::stream::Kind;

/// Chunk size, compression and format version of the streams of a column.
#[derive(Debug, Clone, Copy)]
pub(super) struct StreamOptions {
    pub(super) framing: Framing,
    pub(super) compression: StreamCompression,
    pub(super) version: Version,
}

impl StreamOptions {
    /// An empty stream of values with a coding.
    pub(super) fn new_stream(self, coding: Coding) -> OutStream {
        OutStream::new(coding, self.framing, self.compression)
    }

    /// An empty stream of string data.
    pub(super) fn new_text_stream(self) -> OutStream {
        OutStream::new(Coding::Raw, self.framing, self.compression.for_text())
    }

    /// The stored bytes of a protobuf message of the file, such as an index or a footer.
    pub(super) fn compress_message(self, message: &[u8], compressors: &mut Compressors) -> Result<Blocks> {
        let mut out = self.new_stream(Coding::Raw);
        out.buffer().extend_from_slice(message);
        Ok(out.finish(compressors)?.bytes)
    }
}

/// A complete stream of a stripe.
pub(super) struct EncodedStream {
    pub(super) column: u32,
    pub(super) kind: Kind,
    pub(super) bytes: Blocks,
}
