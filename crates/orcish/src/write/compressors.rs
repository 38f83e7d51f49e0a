//! The tools of a thread: a compressor for each way in which columns are compressed, and blocks to fill.

use orcish_core::cancel::SharedCancellation;
use orcish_core::error::Result;

use super::blocks::{Blocks, Spare};
use super::options::ColumnCompression;
use crate::codec::{Compression, Compressor};

/// How chunks are compressed: with the codec of the file at a level, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choice {
    codec: Compression,
    level: Option<i32>,
    is_text: bool,
    is_kept: bool,
}

impl Choice {
    /// With a codec, at a level or its default.
    ///
    /// # Errors
    /// Those of [`Compressor::new`].
    pub(super) fn new(codec: Compression, level: Option<i32>) -> Result<Self> {
        Compressor::new(codec, level)?;
        Ok(Choice { codec, level, is_text: false, is_kept: true })
    }

    /// Of bytes that nobody wants: they are dropped.
    pub(super) fn dropped() -> Self {
        Choice { codec: Compression::None, level: None, is_text: false, is_kept: false }
    }

    /// Whether the bytes are kept.
    pub(super) fn is_kept(self) -> bool {
        self.is_kept
    }

    /// The same, for the bytes of text.
    pub(super) fn of_text(self) -> Self {
        Choice { is_text: true, ..self }
    }

    /// That of a column of a file which is compressed like this.
    pub(super) fn of_column(self, own: ColumnCompression) -> Result<Self> {
        match own {
            ColumnCompression::None => Self::new(Compression::None, None),
            ColumnCompression::Level(level) => Self::new(self.codec, Some(level)),
        }
    }
}

/// The tools of a thread: compressors by what they do, which are large and hold nothing between chunks, and blocks that
/// nobody uses.
#[derive(Debug, Default)]
pub(crate) struct Compressors {
    made: Vec<(Choice, Compressor)>,
    spare: Spare,
    cancellation: SharedCancellation,
}

impl Compressors {
    /// Compressors of a thread.
    pub(super) fn new(cancellation: SharedCancellation) -> Self {
        Compressors { cancellation, ..Compressors::default() }
    }

    /// The cancellation of the thread.
    pub(super) fn cancellation(&mut self) -> &mut SharedCancellation {
        &mut self.cancellation
    }

    /// A compressor, and blocks for what comes out of it.
    ///
    /// # Errors
    /// That of the interruption, where the write has been interrupted.
    pub(super) fn get(&mut self, choice: Choice) -> Result<(&mut Compressor, &mut Spare)> {
        self.cancellation.poll()?;
        let at = match self.made.iter().position(|(made, _)| *made == choice) {
            Some(at) => at,
            None => {
                let new = if choice.is_text { Compressor::of_text } else { Compressor::new };
                self.made.push((choice, new(choice.codec, choice.level)?));
                self.made.len() - 1
            }
        };
        let found = self.made.get_mut(at).map(|(_, compressor)| compressor);
        Ok((found.ok_or_else(|| orcish_core::Error::invalid("no compressor"))?, &mut self.spare))
    }

    /// Gives the blocks back that nobody uses.
    pub(super) fn release(&mut self) {
        self.spare = Spare::default();
    }

    /// Has the blocks of what is done used again.
    pub(super) fn reuse(&mut self, blocks: Blocks) {
        self.spare.put(blocks);
    }
}
