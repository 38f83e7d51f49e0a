//! The trait of byte sinks.

use std::sync::Arc;

use orcish_core::Result;

use crate::source::ReadAt;

/// A file that is being written. The file becomes visible under its name when [`finish`](Self::finish) succeeds.
/// Dropping an unfinished sink discards the written bytes and leaves an existing file of the name unchanged.
pub trait Sink: Send {
    /// The name of the sink in messages, such as a path.
    fn name(&self) -> &str;

    /// Appends bytes.
    ///
    /// # Errors
    /// `Io` if the bytes cannot be written. The sink cannot be used afterwards.
    fn write(&mut self, bytes: &[u8]) -> Result<()>;

    /// Opens the bytes written so far for reading; `None` if the sink does not support this.
    ///
    /// # Errors
    /// `Io` if the bytes cannot be opened.
    fn reopen(&mut self) -> Result<Option<Arc<dyn ReadAt>>> {
        Ok(None)
    }

    /// Flushes the written bytes to durable storage, as far as the sink supports this before the file is visible. The
    /// call is optional; it takes the slow part out of a later [`finish`](Self::finish).
    ///
    /// # Errors
    /// `Io` if the bytes cannot be stored. The sink cannot be used afterwards.
    fn sync(&mut self) -> Result<()> {
        Ok(())
    }

    /// Makes the file durable and visible under its name, replacing an existing file.
    ///
    /// # Errors
    /// `Io` if this fails. An existing file of the name is unchanged then.
    fn finish(&mut self) -> Result<()>;
}

impl<S: Sink + ?Sized> Sink for Box<S> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        (**self).write(bytes)
    }

    fn reopen(&mut self) -> Result<Option<Arc<dyn ReadAt>>> {
        (**self).reopen()
    }

    fn sync(&mut self) -> Result<()> {
        (**self).sync()
    }

    fn finish(&mut self) -> Result<()> {
        (**self).finish()
    }
}
