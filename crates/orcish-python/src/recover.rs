//! Recovery of torn and damaged files.

use orcish::tail::read_tail;
use orcish::write::{Lost, Recovery};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{signals, to_python};
use crate::options::{limits, storage_options};
use crate::sink::{Publication, create};
use crate::source;

/// A part of a file that is lost: its first byte, the byte after its last, rows, and why.
type LostSpec = (u64, u64, Option<u64>, String);

/// What of a file can be read: rows, stripes, stripes that no tail lists, the end of the last tail, the length of the file,
/// whether the file is whole, what is lost, and what is in doubt.
type RecoverySpec = (u64, usize, usize, Option<u64>, u64, bool, Vec<LostSpec>, Vec<String>);

/// Rows, bytes and stripes of a new file.
type WrittenSpec = (u64, u64, usize);

/// Finds what of a file can be read, and writes it to `target`, if one is given: rows, bytes and stripes of the new file.
/// `like` is a file of the same writer, for a file without a tail.
#[pyfunction]
#[pyo3(signature = (source, target=None, *, like=None, storage_options=None, limits=None, overwrite=false))]
pub(crate) fn recover_file(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    target: Option<&Bound<'_, PyAny>>,
    like: Option<&Bound<'_, PyAny>>,
    storage_options: Option<&Bound<'_, PyDict>>,
    limits: Option<&Bound<'_, PyDict>>,
    overwrite: bool,
) -> PyResult<(RecoverySpec, Option<WrittenSpec>)> {
    let limits = self::limits(limits)?;
    let storage = self::storage_options(storage_options)?;
    let source = source::open(source, &storage, None)?;
    let like = like.map(|like| source::open(like, &storage, None)).transpose()?;
    let check = signals();
    let find = || {
        let like = like.map(|like| read_tail(&*like, &limits)).transpose()?;
        Recovery::find(source, like.as_ref(), &limits, Some(&check))
    };
    let recovery = py.detach(find).map_err(|error| to_python(py, &error))?;
    let written = match target {
        Some(target) => {
            let (sink, _) = create(target, &storage, &Publication::immediate(overwrite))?;
            let written = py.detach(|| recovery.write(sink, &limits, Some(&check)));
            let written = written.map_err(|error| to_python(py, &error))?;
            Some((written.rows, written.bytes, written.stripes))
        }
        None => None,
    };
    let lost = |lost: &Lost| (lost.range.start, lost.range.end, lost.rows, lost.reason.clone());
    let spec = (
        recovery.rows(),
        recovery.stripes.len(),
        recovery.unlisted,
        recovery.tail_end,
        recovery.file_length,
        recovery.is_whole(),
        recovery.lost.iter().map(lost).collect(),
        recovery.doubts.clone(),
    );
    Ok((spec, written))
}
