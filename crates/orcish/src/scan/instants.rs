//! Tables some of whose files have wall clocks with the zone of their writer (`timestamp`), and others instants
//! (`timestamp with local time zone`): what both have are instants, and so has the table.
//!
//! Writers that differ make such tables: Spark stores instants as the one, and others, orcish among them, as the other.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields};
use bytes::Bytes;

use super::matching::Matcher;
use super::table::Table;
use crate::arrow::{SPARK_TYPE, item_of, with_item};
use crate::error::{ErrorKind, Result};
use crate::schema::Kind;

/// Most files that stay open after they were looked at.
const KEPT_OPEN: usize = 64;
/// Bytes of the tails of further files that are kept, so that they are not read again.
const KEPT_TAILS: usize = 32 << 20;

/// Where a column is: its place among those of the table, and those of what it is within.
type Path = Vec<usize>;

/// What is seen of a file.
struct Seen {
    /// Where it has instants, and the table wall clocks.
    instants: Vec<Path>,
    /// Its tail, where it is closed again.
    tail: Option<Bytes>,
}

impl Table {
    /// Makes columns instants that are such in some files, and wall clocks in the first one. The tails of all files are
    /// read for that, where columns are wall clocks.
    pub(super) fn unite(&mut self) -> Result<()> {
        if self.files.len() < 2 || !self.fields.iter().any(has_clock) {
            return Ok(());
        }
        let is_kept = self.files.len() <= KEPT_OPEN;
        let seen = Arc::new(self.clone()).each(move |table, at| {
            let seen = match table.seen(at, is_kept) {
                Err(error) if error.kind() != ErrorKind::Interrupted => {
                    // It comes again where the file is read.
                    Ok(Seen { instants: Vec::new(), tail: None })
                }
                seen => seen,
            };
            if !is_kept {
                table.close(at);
            }
            seen
        })?;
        let paths: BTreeSet<Path> = seen.iter().flat_map(|seen| seen.instants.iter().cloned()).collect();
        let mut left = KEPT_TAILS;
        if seen.iter().any(|seen| seen.tail.is_some()) {
            let mut files = self.files.to_vec();
            for (file, tail) in files.iter_mut().zip(seen.into_iter().map(|seen| seen.tail)) {
                let Some(tail) = tail.filter(|tail| tail.len() <= left) else { continue };
                left -= tail.len();
                file.tail.get_or_insert(tail);
            }
            self.files = Arc::new(files);
        }
        let fields = self.fields.iter().enumerate();
        self.fields = fields.map(|(place, field)| united(field, &mut vec![place], &paths)).collect();
        Ok(())
    }

    fn seen(&self, at: usize, is_kept: bool) -> Result<Seen> {
        let Some(file) = self.orc_file(at)? else { return Ok(Seen { instants: Vec::new(), tail: None }) };
        let matcher = Matcher::new(self, &file, &self.options);
        let mut instants = Vec::new();
        matcher.instants_of_fields(0, &self.fields, &mut Vec::new(), &mut instants)?;
        Ok(Seen { instants, tail: (!is_kept).then(|| file.tail().to_bytes().into()) })
    }
}

impl Matcher<'_> {
    /// Finds where `fields` of the table, which are children of column `parent` of the file, are wall clocks, and
    /// instants in the file.
    fn instants_of_fields(&self, parent: u32, fields: &Fields, path: &mut Path, found: &mut Vec<Path>) -> Result<()> {
        for (place, field) in fields.iter().enumerate().filter(|(_, field)| has_clock(field)) {
            // What is there twice is an error where it is read.
            if let Ok(Some(child)) = self.find(parent, place, field) {
                path.push(place);
                self.instants_of(child, field.data_type(), path, found)?;
                path.pop();
            }
        }
        Ok(())
    }

    fn instants_of(&self, id: u32, kind: &DataType, path: &mut Path, found: &mut Vec<Path>) -> Result<()> {
        let this = self.schema().get(id)?;
        let mut within = |place: usize, child: u32, field: &FieldRef, path: &mut Path| {
            path.push(place);
            let result =
                if has_clock(field) { self.instants_of(child, field.data_type(), path, found) } else { Ok(()) };
            path.pop();
            result
        };
        match (this.kind, kind, &this.children[..]) {
            (Kind::TimestampInstant, DataType::Timestamp(_, None), _) => found.push(path.clone()),
            (Kind::Struct, DataType::Struct(fields), _) => self.instants_of_fields(id, fields, path, found)?,
            (Kind::Map, DataType::Map(entries, _), &[key, value]) => {
                if let DataType::Struct(fields) = entries.data_type() {
                    for ((place, field), child) in fields.iter().enumerate().zip([key, value]) {
                        within(place, child, field, path)?;
                    }
                }
            }
            (Kind::List, list, &[element]) => {
                item_of(list).map_or(Ok(()), |item| within(0, element, item, path))?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// Whether there is a wall clock in a field which could be an instant: Spark's own are none.
fn has_clock(field: &FieldRef) -> bool {
    match field.data_type() {
        DataType::Timestamp(_, None) => field.metadata().get(SPARK_TYPE).is_none_or(|name| name != "timestamp_ntz"),
        DataType::Struct(fields) => fields.iter().any(has_clock),
        DataType::Map(entries, _) => has_clock(entries),
        list => item_of(list).is_some_and(has_clock),
    }
}

/// The field at `path`, with instants at the `paths`.
fn united(field: &FieldRef, path: &mut Path, paths: &BTreeSet<Path>) -> FieldRef {
    let kind = match field.data_type() {
        DataType::Timestamp(unit, None) if paths.contains(path) => DataType::Timestamp(*unit, Some("UTC".into())),
        DataType::Struct(fields) => DataType::Struct(all_united(fields, path, paths)),
        DataType::Map(entries, is_sorted) => {
            let DataType::Struct(fields) = entries.data_type() else { return field.clone() };
            let fields = all_united(fields, path, paths);
            DataType::Map(Arc::new(Field::clone(entries).with_data_type(DataType::Struct(fields))), *is_sorted)
        }
        list => match item_of(list) {
            None => return field.clone(),
            Some(item) => {
                path.push(0);
                let item = united(item, path, paths);
                path.pop();
                with_item(list, item)
            }
        },
    };
    Arc::new(Field::clone(field).with_data_type(kind))
}

fn all_united(fields: &Fields, path: &mut Path, paths: &BTreeSet<Path>) -> Fields {
    let mut united = Vec::with_capacity(fields.len());
    for (place, field) in fields.iter().enumerate() {
        path.push(place);
        united.push(self::united(field, path, paths));
        path.pop();
    }
    united.into()
}
