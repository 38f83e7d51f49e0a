//! Questions to all files of a table when it is opened. The tails that are read for them are not read again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use orcish_core::error::{ErrorKind, Result};

use super::table::Table;
use crate::read::OrcFile;
use crate::tail::FileTail;
use crate::tuning;

/// Bytes that are left for the tails of files that do not stay open.
struct TailBytes(AtomicUsize);

impl TailBytes {
    /// The tail in encoded form, if there are bytes left for it.
    fn keep(&self, tail: &FileTail) -> Option<Bytes> {
        if self.0.load(Ordering::Relaxed) < tail.encoded_len() {
            return None;
        }
        let tail = tail.to_bytes();
        let taken = |remaining_bytes: usize| remaining_bytes.checked_sub(tail.len());
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).is_ok().then(|| tail.into())
    }
}

impl Table {
    /// Calls `ask` for each file, with its index, several at a time. The answers are in order of the files. There is none of a file of zero
    /// bytes, and of a file with an error, which is returned when the file is read.
    ///
    /// # Errors
    /// Cancellation.
    pub(super) fn ask_each_file<T: Send + 'static>(
        &mut self,
        ask: impl Fn(&Self, usize, &OrcFile) -> Result<T> + Send + Sync + 'static,
    ) -> Result<Vec<Option<T>>> {
        let stay_open = self.files.len() <= tuning::FILES_KEPT_OPEN.get();
        let tail_bytes = TailBytes(AtomicUsize::new(tuning::TAIL_BYTES_KEPT.get()));
        let inspected = Arc::new(self.clone()).map_open_files(move |table, at| {
            let answer = match table.orc_file(at) {
                Ok(Some(file)) => ask(table, at, &file).map(|answer| {
                    let is_kept = stay_open || table.files.get(at).is_some_and(|file| file.tail.is_some());
                    (Some(answer), if is_kept { None } else { tail_bytes.keep(file.tail()) })
                }),
                Ok(None) => Ok((None, None)),
                Err(error) => Err(error),
            };
            if !stay_open {
                table.close(at);
            }
            match answer {
                Err(error) if error.kind() != ErrorKind::Interrupted => Ok((None, None)),
                answer => answer,
            }
        })?;
        let (answers, tails): (Vec<_>, Vec<_>) = inspected.into_iter().unzip();
        if tails.iter().any(Option::is_some) {
            let mut files = self.files.to_vec();
            for (file, tail) in files.iter_mut().zip(tails) {
                file.tail = file.tail.take().or(tail);
            }
            self.files = Arc::new(files);
        }
        Ok(answers)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn tails_are_kept_while_there_is_room() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/spark.zlib.orc");
        let file = OrcFile::open(path).unwrap();
        let tail = file.tail().to_bytes();
        let left = TailBytes(AtomicUsize::new(2 * tail.len() + 1));
        let kept: Vec<_> = (0..4).map(|_| left.keep(file.tail())).collect();
        assert_eq!(kept, [Some(Bytes::from(tail.clone())), Some(tail.into()), None, None]);
        assert_eq!(left.0.into_inner(), 1);
    }
}
