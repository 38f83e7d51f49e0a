//! Tables whose files have local times (`timestamp`) and instants (`timestamp with local time zone`) in the same column: the
//! column of the table has instants.
//!
//! Such tables have several writers: Spark stores instants as `timestamp`, and others, orcish among them, as `timestamp with
//! local time zone`.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_schema::{DataType, FieldRef, Fields};
use bytes::Bytes;
use orcish_core::error::{ErrorKind, Result};
use orcish_core::types::{item_of, with_item, with_type};

use super::matching::{Matcher, Path, has_clock};
use super::table::Table;
use crate::tail::FileTail;
use crate::tuning;

/// Findings over all files.
struct Inspection {
    /// Paths of columns that are instants in a file, and local times in the table.
    instants: Mutex<BTreeSet<Path>>,
    /// Bytes that are left for the tails of files that do not stay open.
    left: AtomicUsize,
}

impl Inspection {
    /// The tail in encoded form, if there are bytes left for it.
    fn keep_tail(&self, tail: &FileTail) -> Option<Bytes> {
        if self.left.load(Ordering::Relaxed) < tail.encoded_len() {
            return None;
        }
        let tail = tail.to_bytes();
        let taken = |left: usize| left.checked_sub(tail.len());
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).is_ok().then(|| tail.into())
    }
}

impl Table {
    /// Makes columns instants that are local times in the first file and instants in others. If there are columns of local
    /// times, the tails of all files are read.
    pub(super) fn find_instants(&mut self) -> Result<()> {
        if self.files.len() < 2 || !self.fields.iter().any(has_clock) {
            return Ok(());
        }
        let is_kept = self.files.len() <= tuning::FILES_KEPT_OPEN.get();
        let inspection =
            Arc::new(Inspection { instants: Mutex::default(), left: AtomicUsize::new(tuning::TAIL_BYTES_KEPT.get()) });
        let of_files = inspection.clone();
        let tails = Arc::new(self.clone()).map_open_files(move |table, at| {
            let tail = match table.inspect(at, &of_files, is_kept) {
                // The error is returned when the file is read.
                Err(error) if error.kind() != ErrorKind::Interrupted => Ok(None),
                tail => tail,
            };
            if !is_kept {
                table.close(at);
            }
            tail
        })?;
        if tails.iter().any(Option::is_some) {
            let mut files = self.files.to_vec();
            for (file, tail) in files.iter_mut().zip(tails) {
                file.tail = file.tail.take().or(tail);
            }
            self.files = Arc::new(files);
        }
        let paths = inspection.instants.lock().unwrap_or_else(PoisonError::into_inner);
        let fields = self.fields.iter().enumerate();
        self.fields = fields.map(|(place, field)| with_instants(field, &mut vec![place], &paths)).collect();
        Ok(())
    }

    /// Inspects a file. Returns its tail, if the tail is kept and the file is closed.
    fn inspect(&self, at: usize, inspection: &Inspection, is_kept: bool) -> Result<Option<Bytes>> {
        let Some(file) = self.orc_file(at)? else { return Ok(None) };
        let matcher = Matcher::new(self, &file, &self.options);
        let mut instants = Vec::new();
        matcher.instants_of_fields(0, &self.fields, &mut Vec::new(), &mut instants)?;
        inspection.instants.lock().unwrap_or_else(PoisonError::into_inner).extend(instants);
        Ok(if is_kept || self.files.get(at).is_some_and(|file| file.tail.is_some()) {
            None
        } else {
            inspection.keep_tail(file.tail())
        })
    }
}

/// The field at `path`, with instants at the `paths`.
fn with_instants(field: &FieldRef, path: &mut Path, paths: &BTreeSet<Path>) -> FieldRef {
    let kind = match field.data_type() {
        DataType::Timestamp(unit, None) if paths.contains(path) => DataType::Timestamp(*unit, Some("UTC".into())),
        DataType::Struct(fields) => DataType::Struct(fields_with_instants(fields, path, paths)),
        DataType::Map(entries, is_sorted) => {
            let DataType::Struct(fields) = entries.data_type() else { return field.clone() };
            let fields = fields_with_instants(fields, path, paths);
            DataType::Map(Arc::new(with_type(entries, DataType::Struct(fields))), *is_sorted)
        }
        list => match item_of(list) {
            None => return field.clone(),
            Some(item) => {
                path.push(0);
                let item = with_instants(item, path, paths);
                path.pop();
                with_item(list, item)
            }
        },
    };
    Arc::new(with_type(field, kind))
}

fn fields_with_instants(fields: &Fields, path: &mut Path, paths: &BTreeSet<Path>) -> Fields {
    let mut result = Vec::with_capacity(fields.len());
    for (place, field) in fields.iter().enumerate() {
        path.push(place);
        result.push(with_instants(field, path, paths));
        path.pop();
    }
    result.into()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::read::OrcFile;

    #[test]
    fn tails_are_kept_while_there_is_room() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/spark.zlib.orc");
        let file = OrcFile::open(path).unwrap();
        let tail = file.tail().to_bytes();
        let inspection = Inspection { instants: Mutex::default(), left: AtomicUsize::new(2 * tail.len() + 1) };
        let kept: Vec<_> = (0..4).map(|_| inspection.keep_tail(file.tail())).collect();
        assert_eq!(kept, [Some(Bytes::from(tail.clone())), Some(tail.into()), None, None]);
        assert_eq!(inspection.left.into_inner(), 1);
    }
}
