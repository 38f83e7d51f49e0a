//! The compressors of a thread: one for each way in which columns are compressed.

use super::options::ColumnCompression;
use crate::codec::{Compression, Compressor};
use crate::error::Result;

/// How chunks are compressed: with the codec of the file at a level, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Choice {
    codec: Compression,
    level: Option<i32>,
}

impl Choice {
    /// With a codec, at a level or its default.
    ///
    /// # Errors
    /// Those of [`Compressor::new`].
    pub(super) fn new(codec: Compression, level: Option<i32>) -> Result<Self> {
        Compressor::new(codec, level)?;
        Ok(Choice { codec, level })
    }

    /// That of a column of a file which is compressed like this.
    pub(super) fn of_column(self, own: ColumnCompression) -> Result<Self> {
        match own {
            ColumnCompression::None => Self::new(Compression::None, None),
            ColumnCompression::Level(level) => Self::new(self.codec, Some(level)),
        }
    }
}

/// Compressors by what they do. They are large, and hold nothing between chunks: each thread has its own.
#[derive(Debug, Default)]
pub(super) struct Compressors {
    made: Vec<(Choice, Compressor)>,
}

impl Compressors {
    pub(super) fn get(&mut self, choice: Choice) -> Result<&mut Compressor> {
        let at = match self.made.iter().position(|(made, _)| *made == choice) {
            Some(at) => at,
            None => {
                self.made.push((choice, Compressor::new(choice.codec, choice.level)?));
                self.made.len() - 1
            }
        };
        self.made.get_mut(at).map(|(_, compressor)| compressor).ok_or_else(|| crate::Error::invalid("no compressor"))
    }
}
