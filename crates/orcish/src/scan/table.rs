//! A table: its files, its schema, and what is read of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};

use super::file::FileScan;
use super::paths::{only, walk};
use super::{Matching, TableFile, partition};
use crate::arrow::OrcFile;
use crate::error::{Error, ErrorKind, Result};
use crate::io::{StorageOptions, display_name, open, requests};
use crate::options::{Columns, OutOfRange, ReadOptions};
use crate::patience::PATIENCE;
use crate::predicate::{Domain, Named};
use crate::tail::FileTail;

#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) files: Arc<Vec<TableFile>>,
    /// Columns that are in the files, all of them.
    pub(super) fields: Fields,
    /// Columns whose values are in the paths.
    pub(super) partition: Fields,
    /// Columns of the files that are read, with their places among `fields`.
    pub(super) wanted: Vec<(usize, FieldRef)>,
    /// Where the columns of the batches are from.
    pub(super) origins: Vec<Origin>,
    pub(super) output: SchemaRef,
    pub(super) options: ReadOptions,
    pub(super) matching: Matching,
    pub(super) storage: StorageOptions,
    /// Files that have been opened, by their indexes, and places of those that a thread is opening.
    open: Arc<Mutex<BTreeMap<usize, Option<OrcFile>>>>,
    /// What waits for these is told.
    opened: Arc<Condvar>,
}

/// Keeps the place of a file until it is there, or has failed to be opened.
struct Opening<'a> {
    table: &'a Table,
    at: usize,
    file: Option<OrcFile>,
}

impl Opening<'_> {
    fn finish(mut self) -> Result<OrcFile> {
        let file = self.table.open_source(self.at)?;
        Ok(self.file.insert(file).clone())
    }
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        let mut open = self.table.open.lock().unwrap_or_else(PoisonError::into_inner);
        match self.file.take() {
            Some(file) => _ = open.insert(self.at, Some(file)),
            // Who asks again may have more luck.
            None => _ = open.remove(&self.at),
        }
        drop(open);
        self.table.opened.notify_all();
    }
}

/// Where a column of the batches is from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Origin {
    /// Index among the wanted columns.
    File(usize),
    /// Index among the partition columns.
    Partition(usize),
    RowNumber,
}

impl Table {
    pub(super) fn new(
        files: Vec<TableFile>,
        schema: Option<SchemaRef>,
        options: ReadOptions,
        matching: Matching,
        storage: StorageOptions,
    ) -> Result<Self> {
        let partition = partition_fields(&files)?;
        let mut table = Table {
            files: Arc::new(files),
            fields: Fields::empty(),
            partition,
            wanted: Vec::new(),
            origins: Vec::new(),
            output: Arc::new(Schema::empty()),
            options,
            matching,
            storage,
            open: Arc::default(),
            opened: Arc::default(),
        };
        let all = match schema {
            Some(schema) => schema,
            None if table.files.is_empty() => Arc::new(Schema::empty()),
            None => table.orc_file(0)?.schema(&table.plain_options(Columns::All))?,
        };
        // A value in the path stands above what the file has of the same name.
        let in_path = |field: &FieldRef| table.partition.iter().any(|partition| partition.name() == field.name());
        table.fields = all.fields().iter().filter(|field| !in_path(field)).cloned().collect();
        table.choose_columns()?;
        table.check_filter()?;
        Ok(table)
    }

    /// The same table, of which something else is read.
    pub(super) fn with_options(&self, options: ReadOptions) -> Result<Self> {
        let mut table = Table { options, ..self.clone() };
        table.choose_columns()?;
        table.check_filter()?;
        Ok(table)
    }

    /// Options of reading, but for which rows.
    fn plain_options(&self, columns: Columns) -> ReadOptions {
        ReadOptions { columns, filter: None, limit: None, row_number: None, stripes: None, ..self.options.clone() }
    }

    /// Finds the columns that are asked for, in their order.
    fn choose_columns(&mut self) -> Result<()> {
        let names: Vec<String> = match &self.options.columns {
            Columns::All => self.fields.iter().chain(&self.partition).map(|field| field.name().clone()).collect(),
            Columns::Names(names) => names.clone(),
            Columns::Ids(_) => return Err(Error::invalid("the columns of a table have names, and no ids")),
        };
        // Names may ask for several parts of one column.
        let mut chosen: Vec<(usize, Vec<Vec<usize>>)> = Vec::new();
        let mut order: Vec<Origin> = Vec::new();
        for name in &names {
            if let Some(at) = self.partition.iter().position(|field| field.name() == name) {
                order.push(Origin::Partition(at));
                continue;
            }
            let path = self.path(name)?;
            let Some((&top, below)) = path.split_first() else { continue };
            match chosen.iter_mut().find(|(place, _)| *place == top) {
                Some((_, paths)) => paths.push(below.to_vec()),
                None => {
                    order.push(Origin::File(chosen.len()));
                    chosen.push((top, vec![below.to_vec()]));
                }
            }
        }
        let wanted = |(place, paths): &(usize, Vec<Vec<usize>>)| Some((*place, only(self.fields.get(*place)?, paths)));
        self.wanted = chosen.iter().filter_map(wanted).collect();
        let mut fields: Vec<FieldRef> = Vec::new();
        self.origins = Vec::new();
        for origin in order {
            let field = match origin {
                Origin::File(at) => self.wanted.get(at).map(|(_, field)| field.clone()),
                Origin::Partition(at) => self.partition.get(at).cloned(),
                Origin::RowNumber => None,
            };
            let is_new = |field: &FieldRef| fields.iter().all(|other| other.name() != field.name());
            if let Some(field) = field.filter(is_new) {
                fields.push(field);
                self.origins.push(origin);
            }
        }
        if let Some(name) = &self.options.row_number {
            if fields.iter().any(|field| field.name() == name) {
                return Err(Error::invalid(format!("row_number: there is a column {name:?} already")));
            }
            fields.push(Arc::new(Field::new(name, DataType::Int64, false)));
            self.origins.push(Origin::RowNumber);
        }
        self.output = Arc::new(Schema::new(fields));
        Ok(())
    }

    /// Indexes from the columns of the table down to the field of a dotted name.
    pub(super) fn path(&self, name: &str) -> Result<Vec<usize>> {
        let fields: Vec<_> = self.fields.iter().map(|field| (vec![field.name().clone()], field)).collect();
        walk(&fields, name).ok_or_else(|| {
            let names = self.fields.iter().chain(&self.partition).map(|field| field.name().clone());
            let near = crate::projection::nearest(name, names);
            Error::new(ErrorKind::UnknownColumn, format!("no column of the table is named {name:?}; {near}"))
        })
    }

    /// The field at a path of indexes.
    pub(super) fn field_at(&self, path: &[usize]) -> Option<FieldRef> {
        let (first, rest) = path.split_first()?;
        let mut field = self.fields.get(*first)?.clone();
        for &at in rest {
            let DataType::Struct(fields) = field.data_type() else { return None };
            let inner = fields.get(at)?.clone();
            field = inner;
        }
        Some(field)
    }

    /// Whether the filter fits to the types of the table.
    fn check_filter(&self) -> Result<()> {
        let Some(filter) = &self.options.filter else { return Ok(()) };
        if self.files.is_empty() && self.fields.is_empty() {
            return Ok(());
        }
        crate::predicate::bind_names(filter, &|name| self.named(name, None)).map(|_| ())
    }

    /// What a name stands for in the table; of a partition column in a file, its value.
    pub(super) fn named(&self, name: &str, file: Option<&TableFile>) -> Result<Named> {
        use crate::predicate::Held;
        if let Some(field) = self.partition.iter().find(|field| field.name() == name) {
            let value = file.and_then(|file| file.partition.iter().find(|(of, _)| of == name));
            let held = match (file, value) {
                (None, _) => Held::Column(0),
                (Some(_), value) => partition::held(value.and_then(|(_, value)| value.as_deref()), field.data_type())?,
            };
            return Ok(Named {
                domain: self.domain(field.data_type()),
                type_string: field.data_type().to_string(),
                held,
            });
        }
        let field = self.field_at(&self.path(name)?).ok_or_else(|| {
            Error::invalid(format!("{name:?} is within a list or a map: a filter needs one value a row"))
        })?;
        let domain = self.domain(field.data_type());
        Ok(Named { domain, type_string: field.data_type().to_string(), held: Held::Column(0) })
    }

    /// What values of an Arrow type are compared as.
    fn domain(&self, kind: &DataType) -> Domain {
        match kind {
            DataType::Boolean => Domain::Boolean,
            kind if kind.is_integer() => Domain::Integer,
            DataType::Float32 | DataType::Float64 => Domain::Float,
            DataType::Decimal128(_, scale) => Domain::Decimal { scale: u32::try_from(*scale).unwrap_or_default() },
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Domain::Text { trimmed: false },
            DataType::Dictionary(_, values) => self.domain(values),
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Domain::Binary,
            DataType::Date32 => Domain::Date,
            DataType::Timestamp(unit, zone) => Domain::Timestamp {
                nanoseconds: match unit {
                    TimeUnit::Second => 1_000_000_000,
                    TimeUnit::Millisecond => 1_000_000,
                    TimeUnit::Microsecond => 1_000,
                    TimeUnit::Nanosecond => 1,
                },
                is_instant: zone.is_some(),
                may_become_null: self.options.timestamp_out_of_range == OutOfRange::Null,
            },
            _ => Domain::Opaque,
        }
    }

    pub(super) fn name(&self, at: usize) -> String {
        self.files.get(at).map(|file| display_name(&file.location)).unwrap_or_default()
    }

    /// The file at an index; its tail is read once.
    pub(super) fn orc_file(&self, at: usize) -> Result<OrcFile> {
        let lock = || self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut open, mut patience) = (lock(), self.storage.patience());
        while let Some(slot) = open.get(&at) {
            if let Some(file) = slot {
                return Ok(file.clone());
            }
            // Another thread is opening it.
            drop(self.opened.wait_timeout(open, PATIENCE).unwrap_or_else(PoisonError::into_inner));
            patience.look()?;
            open = lock();
        }
        self.begin_to_open(at, open).finish()
    }

    /// Opens a file before it is wanted, unless somebody does or has. Errors come again where it is read.
    pub(super) fn open_ahead(&self, at: usize) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if !open.contains_key(&at) {
            let _ = self.begin_to_open(at, open).finish();
        }
    }

    fn begin_to_open(&self, at: usize, mut open: MutexGuard<'_, BTreeMap<usize, Option<OrcFile>>>) -> Opening<'_> {
        open.insert(at, None);
        Opening { table: self, at, file: None }
    }

    fn open_source(&self, at: usize) -> Result<OrcFile> {
        let Some(this) = self.files.get(at) else { return Err(Error::invalid(format!("no file {at}"))) };
        let source = match &this.source {
            Some(source) => source.clone(),
            None => open(&this.location, &self.storage)?,
        };
        let Some(tail) = &this.tail else { return OrcFile::new(source, &self.options.limits) };
        let tail = FileTail::from_bytes(tail, &self.options.limits);
        Ok(OrcFile::with_tail(source, tail.map_err(|error| error.in_file(&self.name(at)))?))
    }

    /// Forgets a file, so that many need not be open at a time.
    pub(super) fn close(&self, at: usize) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        // The first stays, for its schema may be asked for again.
        if at > 0 && open.get(&at).is_some_and(Option::is_some) {
            open.remove(&at);
        }
    }

    /// What is read of a file; none where its partition has no wanted row.
    pub(super) fn open_file(&self, at: usize) -> Result<Option<FileScan>> {
        FileScan::open(self, at).map_err(|error| error.in_file(&self.name(at)))
    }

    /// Requests that are worth having under way at a time, by the first file.
    pub(super) fn requests(&self) -> usize {
        self.files.first().map_or(1, |file| match &file.source {
            Some(source) => source.requests(),
            None => requests(&file.location, &self.storage),
        })
    }

    /// Threads for the whole scan.
    pub(super) fn threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        if self.options.threads == 0 { cores() } else { self.options.threads }
    }

    /// Rows of a file, or of the stripes of it that belong to the table.
    pub(super) fn rows(&self, at: usize) -> Result<u64> {
        let file = self.orc_file(at)?;
        let stripes = &file.tail().stripes;
        Ok(match self.files.get(at).and_then(|file| file.stripes.as_ref()) {
            None => file.tail().rows,
            Some(chosen) => chosen.iter().filter_map(|&at| stripes.get(at)).map(|stripe| stripe.rows).sum(),
        })
    }
}

/// The partition columns, which all files have alike.
fn partition_fields(files: &[TableFile]) -> Result<Fields> {
    let Some(first) = files.first() else { return Ok(Fields::empty()) };
    let names = |file: &TableFile| file.partition.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let wanted = names(first);
    if let Some(other) = files.iter().find(|file| names(file) != wanted) {
        let (theirs, ours) = (names(other).join(", "), wanted.join(", "));
        let text = format!("its partition columns are ({theirs}), those of {} are ({ours})", first.location);
        return Err(Error::invalid(text).in_file(&other.location));
    }
    let field = |(at, name): (usize, &String)| {
        let values = files.iter().filter_map(move |file| file.partition.get(at)?.1.as_deref());
        partition::field(name, partition::infer(values))
    };
    Ok(wanted.iter().enumerate().map(field).collect())
}
