//! Units of timestamps that the values of all files of a table decide on, and instants among the local times of a log.
//!
//! Files may have local times (`timestamp`) and instants (`timestamp with local time zone`) in the same column: the column of
//! the table has instants. Such tables have several writers: Spark stores instants as `timestamp`, and others, orcish among
//! them, as `timestamp with local time zone`. This holds for a table whose log has local times; those of folders without a log
//! are in [`super::types`].
//!
//! If files have a column in different units, it has the finest unit of any file, but nanoseconds only if the values of all
//! files fit. Under [`TimestampUnit::Auto`] and [`TimestampUnit::Exact`], this holds for all columns.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_schema::{DataType, TimeUnit};
use orcish_core::error::Result;
use orcish_core::types::{value_type, with_type};

use super::matching::{Matcher, Path, has_clock, has_timestamp};
use super::replaced_fields::replaced_fields;
use super::table::Table;
use crate::options::TimestampUnit;
use crate::read::{OrcFile, UnitOfFile};
use crate::schema::Kind;

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
        for (path, other_unit) in other.units {
            self.units.entry(path).and_modify(|unit| *unit = unit.merged(other_unit)).or_insert(other_unit);
        }
    }

    /// The type of the timestamps at `path`.
    fn data_type(&self, path: &Path, unit: TimeUnit, zone: Option<Arc<str>>) -> DataType {
        let unit = self.units.get(path).and_then(|unit_of_file| unit_of_file.of_table()).unwrap_or(unit);
        DataType::Timestamp(unit, if self.instants.contains(path) { Some("UTC".into()) } else { zone })
    }
}

impl Table {
    /// Gives the columns of a log the types of timestamps that all files decide on. The tails of all files are read if there
    /// are columns of local times that could be instants, or timestamps whose unit is open.
    pub(super) fn decide_timestamps_of_log(&mut self) -> Result<()> {
        let questions = Questions {
            instants: self.options.timestamps.is_none() && self.fields.iter().any(has_clock),
            units: self.asks_for_units(),
        };
        self.ask_files(questions)
    }

    /// Gives timestamps the units that the values of all files decide on, where these are open.
    pub(super) fn decide_units(&mut self) -> Result<()> {
        self.ask_files(Questions { instants: false, units: self.asks_for_units() })
    }

    /// Whether the files decide on the units of columns.
    pub(super) fn asks_for_units(&self) -> bool {
        let is_open = matches!(self.options.timestamp_unit, Some(TimestampUnit::Auto | TimestampUnit::Exact));
        is_open && self.fields.iter().any(|field| has_timestamp(field.data_type()))
    }

    /// Gives timestamps the finest unit of any file, but nanoseconds only if the values of all files fit.
    pub(super) fn decide_finest_units(&mut self) -> Result<()> {
        self.ask_files(Questions { instants: false, units: true })
    }

    fn ask_files(&mut self, questions: Questions) -> Result<()> {
        let is_decided = self.schema_file.is_none() && self.files.len() < 2;
        if is_decided || !(questions.instants || questions.units) {
            return Ok(());
        }
        let mut findings = Findings::default();
        let of_files = self.ask_each_file(move |table, _, file| table.findings(file, questions))?;
        for of_file in of_files.into_iter().flatten() {
            findings.merge(of_file);
        }
        self.fields = replaced_fields(&self.fields, &|path, field| match field.data_type() {
            DataType::Timestamp(unit, zone) => {
                Some(Arc::new(with_type(field, findings.data_type(path, *unit, zone.clone()))))
            }
            _ => None,
        });
        Ok(())
    }

    /// What a file says of the timestamps of the table.
    fn findings(&self, file: &OrcFile, questions: Questions) -> Result<Findings> {
        let matcher = Matcher::new(self, file, &self.options);
        let types = &file.tail().schema;
        // Units of `Auto` do not depend on Arrow schemas.
        let counts = self.options.arrow_schema && self.options.timestamp_unit != Some(TimestampUnit::Auto);
        let stored_schema = file.stored().filter(|_| counts);
        let recorded = |id: u32| match stored_schema.and_then(|schema| schema.data_type(types, id)).map(value_type) {
            Some(DataType::Timestamp(unit, _)) => Some(*unit),
            _ => None,
        };
        let mut findings = Findings::default();
        matcher.timestamps_of_fields(0, &self.fields, &mut Vec::new(), &mut |path, id, field| {
            let kind = types.get(id)?.kind;
            if questions.instants && kind == Kind::TimestampInstant && has_clock(field) {
                findings.instants.insert(path.clone());
            }
            if questions.units && matches!(kind, Kind::Timestamp | Kind::TimestampInstant | Kind::Long | Kind::Date) {
                findings.units.insert(path.clone(), UnitOfFile::of(&matcher.mapping, id, recorded(id))?);
            }
            Ok(())
        })?;
        Ok(findings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
