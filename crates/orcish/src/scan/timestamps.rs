//! Types of timestamps that all files of a table decide on.
//!
//! Files may have local times (`timestamp`) and instants (`timestamp with local time zone`) in the same column: the column of
//! the table has instants. Such tables have several writers: Spark stores instants as `timestamp`, and others, orcish among
//! them, as `timestamp with local time zone`.
//!
//! Under [`TimestampUnit::Auto`] and [`TimestampUnit::Exact`], a column has the finest unit of any file, but nanoseconds only
//! if the values of all files fit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_schema::{DataType, FieldRef, Fields, TimeUnit};
use bytes::Bytes;
use orcish_core::error::{ErrorKind, Result};
use orcish_core::types::{item_of, value_type, with_item, with_type};

use super::matching::{Matcher, Path, has_clock, has_timestamp};
use super::table::Table;
use crate::options::TimestampUnit;
use crate::read::{OrcFile, UnitOfFile};
use crate::schema::Kind;
use crate::tail::FileTail;
use crate::tuning;

/// What is looked for in the files.
#[derive(Debug, Clone, Copy)]
struct Questions {
    instants: bool,
    units: bool,
}

/// What was found, by the paths of columns.
#[derive(Debug, Default)]
struct Findings {
    /// Columns that are instants in a file, and local times in the table.
    instants: BTreeSet<Path>,
    units: BTreeMap<Path, UnitOfFile>,
}

impl Findings {
    fn merge(&mut self, other: Findings) {
        self.instants.extend(other.instants);
        for (path, found) in other.units {
            self.units.entry(path).and_modify(|unit| *unit = unit.merged(found)).or_insert(found);
        }
    }

    /// The type of the timestamps at `path`.
    fn data_type(&self, path: &Path, unit: TimeUnit, zone: Option<Arc<str>>) -> DataType {
        let unit = self.units.get(path).and_then(|found| found.of_table()).unwrap_or(unit);
        DataType::Timestamp(unit, if self.instants.contains(path) { Some("UTC".into()) } else { zone })
    }
}

/// The state of the inspection of all files.
struct Inspection {
    findings: Mutex<Findings>,
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
    /// Gives columns the types of timestamps that all files decide on. The tails of all files are read if there are columns
    /// of local times that could be instants, or timestamps whose unit is open.
    pub(super) fn decide_timestamps(&mut self) -> Result<()> {
        let questions = Questions {
            instants: self.options.timestamps.is_none() && self.fields.iter().any(has_clock),
            units: self.asks_for_units(),
        };
        self.ask_files(questions)
    }

    /// As [`decide_timestamps`](Self::decide_timestamps), only for units.
    pub(super) fn decide_units(&mut self) -> Result<()> {
        self.ask_files(Questions { instants: false, units: self.asks_for_units() })
    }

    /// Whether the files decide on the units of columns.
    pub(super) fn asks_for_units(&self) -> bool {
        let is_open = matches!(self.options.timestamp_unit, Some(TimestampUnit::Auto | TimestampUnit::Exact));
        is_open && self.fields.iter().any(has_timestamp)
    }

    fn ask_files(&mut self, questions: Questions) -> Result<()> {
        let is_decided = self.schema_file.is_none() && self.files.len() < 2;
        if is_decided || !(questions.instants || questions.units) {
            return Ok(());
        }
        let is_kept = self.files.len() <= tuning::FILES_KEPT_OPEN.get();
        let inspection =
            Arc::new(Inspection { findings: Mutex::default(), left: AtomicUsize::new(tuning::TAIL_BYTES_KEPT.get()) });
        let of_files = inspection.clone();
        let tails = Arc::new(self.clone()).map_open_files(move |table, at| {
            let tail = match table.inspect(at, questions, &of_files, is_kept) {
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
        let findings = inspection.findings.lock().unwrap_or_else(PoisonError::into_inner);
        self.fields = fields_with_timestamps(&self.fields, &mut Vec::new(), &findings);
        Ok(())
    }

    /// Inspects a file. Returns its tail, if the tail is kept and the file is closed.
    fn inspect(
        &self,
        at: usize,
        questions: Questions,
        inspection: &Inspection,
        is_kept: bool,
    ) -> Result<Option<Bytes>> {
        let Some(file) = self.orc_file(at)? else { return Ok(None) };
        let found = self.findings(&file, questions)?;
        inspection.findings.lock().unwrap_or_else(PoisonError::into_inner).merge(found);
        Ok(if is_kept || self.files.get(at).is_some_and(|file| file.tail.is_some()) {
            None
        } else {
            inspection.keep_tail(file.tail())
        })
    }

    /// What a file says of the timestamps of the table.
    fn findings(&self, file: &OrcFile, questions: Questions) -> Result<Findings> {
        let matcher = Matcher::new(self, file, &self.options);
        let types = &file.tail().schema;
        // Units of `Auto` do not depend on Arrow schemas.
        let stored = file.stored().filter(|_| self.options.arrow_schema && self.options.keeps_digits());
        let recorded = |id: u32| match stored.and_then(|stored| stored.data_type(types, id)).map(value_type) {
            Some(DataType::Timestamp(unit, _)) => Some(*unit),
            _ => None,
        };
        let mut found = Findings::default();
        matcher.timestamps_of_fields(0, &self.fields, &mut Vec::new(), &mut |path, id, field| {
            let kind = types.get(id)?.kind;
            if questions.instants && kind == Kind::TimestampInstant && has_clock(field) {
                found.instants.insert(path.clone());
            }
            if questions.units && matches!(kind, Kind::Timestamp | Kind::TimestampInstant | Kind::Long | Kind::Date) {
                found.units.insert(path.clone(), UnitOfFile::of(&matcher.mapping, id, recorded(id))?);
            }
            Ok(())
        })?;
        Ok(found)
    }
}

/// The type at `path`, with the timestamps of the `findings`.
fn with_timestamps(kind: &DataType, path: &mut Path, findings: &Findings) -> DataType {
    let mut below = |place: usize, field: &FieldRef| {
        path.push(place);
        let kind = with_timestamps(field.data_type(), path, findings);
        path.pop();
        Arc::new(with_type(field, kind))
    };
    match kind {
        DataType::Timestamp(unit, zone) => findings.data_type(path, *unit, zone.clone()),
        DataType::Struct(fields) => DataType::Struct(fields_with_timestamps(fields, path, findings)),
        DataType::Map(entries, is_sorted) => {
            let DataType::Struct(fields) = entries.data_type() else { return kind.clone() };
            let fields = fields_with_timestamps(fields, path, findings);
            DataType::Map(Arc::new(with_type(entries, DataType::Struct(fields))), *is_sorted)
        }
        DataType::Union(fields, mode) => {
            let variants = fields.iter().enumerate().map(|(place, (id, field))| (id, below(place, field)));
            DataType::Union(variants.collect(), *mode)
        }
        DataType::Dictionary(keys, values) => {
            DataType::Dictionary(keys.clone(), Box::new(with_timestamps(values, path, findings)))
        }
        DataType::RunEndEncoded(ends, values) => {
            let kind = with_timestamps(values.data_type(), path, findings);
            DataType::RunEndEncoded(ends.clone(), Arc::new(with_type(values, kind)))
        }
        list => item_of(list).map_or_else(|| list.clone(), |item| with_item(list, below(0, item))),
    }
}

fn fields_with_timestamps(fields: &Fields, path: &mut Path, findings: &Findings) -> Fields {
    let mut result = Vec::with_capacity(fields.len());
    for (place, field) in fields.iter().enumerate() {
        path.push(place);
        let kind = with_timestamps(field.data_type(), path, findings);
        result.push(if kind == *field.data_type() { field.clone() } else { Arc::new(with_type(field, kind)) });
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
    fn the_finest_unit_that_has_all_values() {
        let file = |unit, fits_nanoseconds| UnitOfFile { unit, fits_nanoseconds };
        let (s, us, ns) = (Some(TimeUnit::Second), Some(TimeUnit::Microsecond), Some(TimeUnit::Nanosecond));
        for (files, expected) in [
            (vec![file(ns, true), file(us, true)], ns),
            (vec![file(ns, true), file(us, false)], us),
            (vec![file(ns, true), file(s, false)], us),
            (vec![file(s, false), file(us, false)], us),
            (vec![file(s, false), file(None, true)], s),
            (vec![file(None, true), file(ns, true), file(None, true)], ns),
            (vec![file(None, false), file(ns, true)], us),
            (vec![file(None, true), file(None, false)], None),
        ] {
            let merged = |files: &mut dyn Iterator<Item = &UnitOfFile>| files.copied().reduce(UnitOfFile::merged);
            for found in [merged(&mut files.iter()), merged(&mut files.iter().rev())] {
                assert_eq!(found.unwrap().of_table(), expected, "{files:?}");
            }
        }
    }

    #[test]
    fn tails_are_kept_while_there_is_room() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/spark.zlib.orc");
        let file = OrcFile::open(path).unwrap();
        let tail = file.tail().to_bytes();
        let inspection = Inspection { findings: Mutex::default(), left: AtomicUsize::new(2 * tail.len() + 1) };
        let kept: Vec<_> = (0..4).map(|_| inspection.keep_tail(file.tail())).collect();
        assert_eq!(kept, [Some(Bytes::from(tail.clone())), Some(tail.into()), None, None]);
        assert_eq!(inspection.left.into_inner(), 1);
    }
}
