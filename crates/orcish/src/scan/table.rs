//! A table: its files, its schema, and the columns that are read.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use arrow_schema::{DataType, FieldRef, Fields, Metadata, Schema, SchemaRef};
use orcish_core::calls::{Call, CallId};
use orcish_core::cancel::CHECK_INTERVAL;
use orcish_core::error::{Error, ErrorKind, Result};
use orcish_core::expression::Predicate;
use orcish_core::names::{ArrowNames, ColumnName, Selection, field_at};
use orcish_core::parallel::{decoding_threads, map};
use orcish_core::predicate::BatchFilter;
use orcish_core::process::PerProcess;
use orcish_core::types::{item_of, with_item};
use orcish_io::{StorageOptions, concurrency, display_name, open, within};

use super::conflict::Conflict;
use super::fields_by_name::FieldsByName;
use super::partition;
use super::table_file::{Matching, SchemaFile, SchemaSource, TableFile};
use crate::options::{Columns, ReadOptions};
use crate::projection::readable_columns;
use crate::read::{OrcFile, push_row_number};
use crate::tail::FileTail;

/// The files of a table, its schema, and the selection of its columns and rows.
#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) files: Arc<Vec<TableFile>>,
    /// The file whose schema the table has, if it is none of `files`.
    pub(super) schema_file: Option<SchemaFile>,
    /// All columns that are stored in files.
    pub(super) fields: Fields,
    /// Indexes of `fields` by name. Names need not be unique.
    pub(super) places: Arc<FieldsByName>,
    /// Resolves dotted names of `fields`.
    names: Arc<PerProcess<Mutex<ArrowNames>>>,
    /// Metadata of the schema.
    pub(super) metadata: Metadata,
    /// Partition columns.
    pub(super) partition: Fields,
    /// Stored columns that are read, with their indexes among `fields`.
    pub(super) wanted: Vec<(usize, FieldRef)>,
    /// Origin of each column of the batches.
    pub(super) origins: Vec<Origin>,
    pub(super) output: SchemaRef,
    pub(super) options: ReadOptions,
    /// The conjuncts of the filter of the options.
    pub(super) conjuncts: Arc<[Conjunct]>,
    pub(super) matching: Matching,
    pub(super) storage: StorageOptions,
    /// Whether the caller has given the schema. Values are converted to its types, where other tables only have types that
    /// hold all values.
    pub(super) is_schema_given: bool,
    /// Whether the table has the types of ORC, whatever Arrow types its files were written with.
    pub(super) has_types_of_orc: bool,
    /// Whether the types are those of a log or of the caller, which say what numbers of files without an Arrow schema are.
    pub(super) is_declared: bool,
    /// Whether the log of the table, or its first file, has an Arrow schema that counts. It is looked up where types are
    /// decided.
    pub(super) has_arrow_schema: bool,
    /// Columns that have no common type in all files.
    pub(super) conflicts: Arc<Vec<Conflict>>,
    /// The columns that cannot be read, where the table has the others.
    unreadable: Option<Unreadable>,
    /// The working directory that relative paths are in.
    folder: Option<PathBuf>,
    open: Arc<PerProcess<OpenFiles>>,
}

/// Columns of types that cannot be read, of the file whose schema a table has.
#[derive(Debug, Clone)]
struct Unreadable {
    file: OrcFile,
    /// The error of the first of the columns.
    fault: Error,
}

impl Unreadable {
    /// The error of a name that no column has which can be read.
    fn error_of(&self, name: &ColumnName, unknown: Error) -> Error {
        let schema = &self.file.tail().schema;
        match schema.column_id(name).ok().and_then(|id| schema.fault(id)) {
            Some(fault) => fault.in_file(self.file.name()),
            None if unknown.kind() == ErrorKind::UnknownColumn => {
                let text = format!("{}; not all columns can be read: {}", unknown.message(), self.fault);
                Error::new(ErrorKind::UnknownColumn, text)
            }
            None => unknown,
        }
    }
}

/// An operand of the conjunction that is the filter.
#[derive(Debug)]
pub(super) struct Conjunct {
    pub(super) predicate: Predicate,
    /// The predicate bound to the columns of [`Scan::table_schema`](super::Scan::table_schema), and to row numbers, whose index
    /// is [`ROW_NUMBER_PLACE`].
    pub(super) filter: BatchFilter,
}

/// The files of a table that a process has open.
#[derive(Debug, Default)]
struct OpenFiles {
    /// Open files and files that are being opened, by index.
    states: Mutex<BTreeMap<usize, FileState>>,
    /// Notified when a file has been opened.
    opened: Condvar,
}

impl OpenFiles {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, FileState>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The state of a file that has been asked for.
#[derive(Debug)]
enum FileState {
    /// A thread is opening the file, in this call.
    Opening(CallId),
    /// An open file; `None` for a file of zero bytes.
    Open(Option<OrcFile>),
}

/// Replaces the state of a file when it has been opened, or has failed to open.
struct Opening<'a> {
    table: &'a Table,
    at: usize,
    state: Option<FileState>,
    _call: Call,
}

impl Opening<'_> {
    fn finish(mut self) -> Result<Option<OrcFile>> {
        let file = self.table.open_source(self.at)?;
        self.state = Some(FileState::Open(file.clone()));
        Ok(file)
    }
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        let files = self.table.open_files();
        let mut open = files.lock();
        match self.state.take() {
            Some(state) => _ = open.insert(self.at, state),
            // The next caller tries again.
            None => _ = open.remove(&self.at),
        }
        drop(open);
        files.opened.notify_all();
    }
}

/// Origin of a column of the batches.
#[derive(Debug, Clone, Copy)]
pub(super) enum Origin {
    /// Index among the stored columns that are read.
    File(usize),
    /// Index among the partition columns.
    Partition(usize),
    RowNumber,
}

/// Stands for the column of row numbers in place of an index among the stored columns.
pub(super) const ROW_NUMBER_PLACE: usize = usize::MAX;

impl Table {
    pub(super) fn try_new(
        files: Vec<TableFile>,
        schema: SchemaSource,
        options: ReadOptions,
        matching: Matching,
        storage: StorageOptions,
    ) -> Result<Self> {
        let is_schema_given = matches!(schema, SchemaSource::Given(_));
        let is_declared = !matches!(schema, SchemaSource::FirstFile | SchemaSource::OfFiles(_));
        let has_types_of_orc = match &schema {
            SchemaSource::OtherFile(schema) => schema.file.stored().is_none(),
            schema => matches!(schema, SchemaSource::InferredOfOrc(_)),
        };
        let (schema, schema_file) = match schema {
            SchemaSource::FirstFile => (None, None),
            SchemaSource::OtherFile(file) => (None, Some(file)),
            SchemaSource::Given(schema)
            | SchemaSource::OfFiles(schema)
            | SchemaSource::Inferred(schema)
            | SchemaSource::InferredOfOrc(schema) => (Some(schema), None),
        };
        let partition = match &schema_file {
            Some(schema_file) => partition::fields_of(schema_file, &files)?,
            None => partition::fields(&files, schema.as_deref())?,
        };
        let mut table = Table {
            files: Arc::new(files),
            schema_file,
            fields: Fields::empty(),
            places: Arc::default(),
            names: Arc::default(),
            metadata: Metadata::default(),
            partition,
            wanted: Vec::new(),
            origins: Vec::new(),
            output: Arc::new(Schema::empty()),
            options,
            conjuncts: Arc::default(),
            matching,
            storage,
            is_schema_given,
            has_types_of_orc,
            is_declared,
            has_arrow_schema: false,
            conflicts: Arc::default(),
            unreadable: None,
            folder: std::env::current_dir().ok(),
            open: Arc::default(),
        };
        let has_schema = schema.is_some();
        let all = match schema {
            Some(schema) => Arc::new(normalized(&schema, false)),
            None => table.schema_of_files()?,
        };
        table.metadata = all.metadata().clone();
        // A partition column hides a stored column of the same name.
        let of_files = |field: &&FieldRef| table.partition_at(field.name()).is_none();
        table.fields = all.fields().iter().filter(of_files).cloned().collect();
        table.places = Arc::new(FieldsByName::of(&table.fields));
        if table.schema_file.is_some() {
            table.decide_timestamps_of_log()?;
        } else if !has_schema {
            if table.files.len() > 1 {
                // Files that contradict each other are errors when they are read.
                table.conflicts = Arc::new(table.decide_types()?);
            }
            table.decide_units()?;
        }
        table.names = Arc::default();
        table.choose_columns()?;
        table.conjuncts = table.bind_filter()?;
        Ok(table)
    }

    /// The same files with the columns of another schema, which are matched by name.
    pub(super) fn with_columns(&self, schema: &Schema, case_sensitive: bool) -> Self {
        let matching = if case_sensitive { Matching::Name } else { Matching::NameIgnoringCase };
        let fields = schema.fields().clone();
        let places = Arc::new(FieldsByName::of(&fields));
        Table { fields, places, names: Arc::default(), matching, ..self.clone() }
    }

    /// A table of other files with the same columns.
    pub(super) fn with_files(&self, files: Vec<TableFile>) -> Self {
        Table { files: Arc::new(files), open: Arc::default(), ..self.clone() }
    }

    /// The same table with other options of reading.
    pub(super) fn with_options(&self, options: ReadOptions) -> Result<Self> {
        // Open files have been decrypted with the keys of the table.
        let options = ReadOptions { keys: self.options.keys.clone(), ..options };
        let mut table = Table { options, ..self.clone() };
        table.choose_columns()?;
        table.conjuncts = table.bind_filter()?;
        Ok(table)
    }

    /// The schema of the other file, or of the first file that is not empty. In a table of several files, and in one whose
    /// schema is that of another file, all columns are nullable.
    fn schema_of_files(&mut self) -> Result<SchemaRef> {
        if let Some(SchemaFile { file, partition, .. }) = self.schema_file.clone() {
            let schema = self.schema_of(&file)?;
            return Ok(Arc::new(normalized(&without(&schema, &partition), true)));
        }
        for at in 0..self.files.len() {
            if let Some(file) = self.orc_file(at)? {
                let schema = self.schema_of(&file)?;
                return Ok(if self.files.len() > 1 { Arc::new(normalized(&schema, true)) } else { schema });
            }
            self.close(at);
        }
        if self.files.is_empty() {
            return Ok(Arc::new(Schema::empty()));
        }
        Err(Error::corrupt("it has no bytes, nor has any other file, and so no schema").in_file(&self.name(0)))
    }

    /// The options of reading the schema of `columns` of a file: the rows that are selected, and their numbers, are no part
    /// of it.
    pub(super) fn schema_options(&self, columns: Columns) -> ReadOptions {
        ReadOptions { columns, filter: None, limit: None, row_number: None, stripes: None, ..self.options.clone() }
    }

    /// The schema of the columns of a file that the table has: all, or, if some types are unknown and columns are selected by
    /// name, the columns of known types.
    fn schema_of(&mut self, file: &OrcFile) -> Result<SchemaRef> {
        let fault = match file.schema(&self.schema_options(Columns::All)) {
            Err(fault) if matches!(fault.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported) => fault,
            schema => return schema,
        };
        let Columns::Names(names) = &self.options.columns else { return Err(fault) };
        let schema = &file.tail().schema;
        let asked = names.iter().filter_map(|name| schema.column_id(name).ok());
        if let Some(fault) = asked.filter_map(|id| schema.fault(id)).next() {
            return Err(fault.in_file(file.name()));
        }
        let readable = file.schema(&self.schema_options(readable_columns(schema)?))?;
        self.unreadable = Some(Unreadable { file: file.clone(), fault });
        Ok(readable)
    }

    /// The error of the first column that cannot be read.
    pub(super) fn fault(&self) -> Option<&Error> {
        self.unreadable.as_ref().map(|unreadable| &unreadable.fault)
    }

    /// The index of a partition column by name.
    pub(super) fn partition_at(&self, name: &str) -> Option<usize> {
        self.partition.iter().position(|field| field.name() == name)
    }

    /// The index of the partition column that a name leads to, and not to a stored column.
    pub(super) fn partition_of(&self, name: &ColumnName) -> Option<usize> {
        self.partition_at(name.as_str()).filter(|_| self.names().is_beside(name, name.as_str()))
    }

    /// Whether a name is that of the column of row numbers.
    pub(super) fn is_row_number(&self, name: &ColumnName) -> bool {
        self.options.row_number.as_deref().is_some_and(|other| self.names().is_beside(name, other))
    }

    /// Whether one column is selected, and is stored in files.
    pub(super) fn is_one_stored_column(&self) -> bool {
        matches!(self.origins[..], [Origin::File(_)])
    }

    /// Resolves the selected columns, in their order.
    fn choose_columns(&mut self) -> Result<()> {
        let mut choice = Selection::default();
        self.origins = Vec::new();
        match &self.options.columns {
            Columns::All => {
                if let Some(unreadable) = &self.unreadable {
                    return Err(unreadable.fault.clone());
                }
                self.origins.extend((0..self.fields.len()).filter_map(|place| choice.add(&[place])).map(Origin::File));
                self.origins.extend((0..self.partition.len()).map(Origin::Partition));
            }
            Columns::Names(names) => {
                for name in names {
                    if let Some(at) = self.partition_of(name) {
                        let again = |origin: &Origin| matches!(origin, Origin::Partition(other) if *other == at);
                        if !self.origins.iter().any(again) {
                            self.origins.push(Origin::Partition(at));
                        }
                        continue;
                    }
                    self.origins.extend(choice.add(&self.path(name)?).map(Origin::File));
                }
            }
            Columns::Ids(_) => return Err(Error::invalid("the columns of a table have names, and no ids")),
        }
        self.wanted = choice.fields(&self.fields);
        let field = |origin: &Origin| match origin {
            Origin::File(at) => self.wanted.get(*at).map(|(_, field)| field.clone()),
            Origin::Partition(at) => self.partition.get(*at).cloned(),
            Origin::RowNumber => None,
        };
        let mut fields: Vec<FieldRef> = self.origins.iter().filter_map(field).collect();
        if let Some(name) = self.options.shown_row_number() {
            push_row_number(&mut fields, name)?;
            self.origins.push(Origin::RowNumber);
        }
        self.output = Arc::new(Schema::new_with_metadata(fields, self.metadata.clone()));
        Ok(())
    }

    /// Indexes from the columns of the table down to the field of a name.
    ///
    /// # Errors
    /// `UnknownColumn` where there is no such column, `InvalidArgument` where several columns have the name; the error of a
    /// column that cannot be read.
    pub(super) fn path(&self, name: &ColumnName) -> Result<Vec<usize>> {
        self.names().path(name, &self.partition).map_err(|error| self.unknown_or_unreadable(name, error))
    }

    fn unknown_or_unreadable(&self, name: &ColumnName, error: Error) -> Error {
        match &self.unreadable {
            Some(unreadable) => unreadable.error_of(name, error),
            None => error,
        }
    }

    fn names(&self) -> MutexGuard<'_, ArrowNames> {
        let names = self.names.get_or_init(|| Mutex::new(ArrowNames::new(&self.fields)));
        names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The field at a path of indexes.
    pub(super) fn field_at(&self, path: &[usize]) -> Option<FieldRef> {
        field_at(&self.fields, path)
    }

    /// The file at an index.
    ///
    /// # Errors
    /// `InvalidArgument` if there is none.
    pub(super) fn file(&self, at: usize) -> Result<&TableFile> {
        self.files.get(at).ok_or_else(|| Error::invalid(format!("no file {at}, of {}", self.files.len())))
    }

    /// The name of the file at an index in messages.
    pub(super) fn name(&self, at: usize) -> String {
        self.files.get(at).map_or_else(String::new, |file| display_name(&file.location))
    }

    fn open_files(&self) -> &OpenFiles {
        self.open.get_or_init(OpenFiles::default)
    }

    /// The file at an index, whose tail is read once. `None` for a file of zero bytes, which Hive writes for no rows.
    pub(super) fn orc_file(&self, at: usize) -> Result<Option<OrcFile>> {
        let files = self.open_files();
        let (mut open, mut cancellation) = (files.lock(), self.storage.cancellation());
        while let Some(state) = open.get(&at) {
            match state {
                FileState::Open(file) => return Ok(file.clone()),
                FileState::Opening(call) if call.is_waited_for() => {
                    let error = Error::invalid("the source of the file reads the table that it is opened for");
                    return Err(error.in_file(&self.name(at)));
                }
                FileState::Opening(_) => {}
            }
            drop(files.opened.wait_timeout(open, CHECK_INTERVAL).unwrap_or_else(PoisonError::into_inner));
            cancellation.poll()?;
            open = files.lock();
        }
        self.begin_to_open(at, open).finish()
    }

    /// Opens a file ahead of its use, unless it is open or being opened. An error is returned when the file is read.
    pub(super) fn open_ahead(&self, at: usize) {
        let open = self.open_files().lock();
        if !open.contains_key(&at) {
            let _ = self.begin_to_open(at, open).finish();
        }
    }

    fn begin_to_open(&self, at: usize, mut open: MutexGuard<'_, BTreeMap<usize, FileState>>) -> Opening<'_> {
        let call = Call::begin();
        open.insert(at, FileState::Opening(call.id()));
        Opening { table: self, at, state: None, _call: call }
    }

    /// A location in the present working directory, which may be another one than that of the scan.
    fn location_now(&self, location: &str) -> String {
        match &self.folder {
            Some(folder) if std::env::current_dir().ok().as_ref() != Some(folder) => within(folder, location),
            _ => location.to_owned(),
        }
    }

    fn open_source(&self, at: usize) -> Result<Option<OrcFile>> {
        let this = self.file(at)?;
        let source = match &this.source {
            Some(source) => source.clone(),
            None => open(&self.location_now(&this.location), &self.storage).map_err(|error| with_hint(error, this))?,
        };
        if let Some(version) = &this.version {
            source.expect_version(version).map_err(|error| error.in_file(&self.name(at)))?;
        }
        let watched = |file: OrcFile| match self.storage.cancel_check() {
            Some(check) => file.with_cancel_check(check.clone()),
            None => file,
        };
        let Some(tail) = &this.tail else {
            let file = OrcFile::try_new(source.clone(), &self.options.limits).and_then(|file| self.unlocked(file));
            // Remote sources know their size after a request for their end.
            let is_corrupt = file.as_ref().is_err_and(|error| error.kind() == ErrorKind::Corrupt);
            let is_empty = is_corrupt && source.size().is_ok_and(|size| size == 0);
            let file = file.map(watched).map_err(|error| with_hint(error, this));
            return if is_empty { Ok(None) } else { file.map(Some) };
        };
        let tail = FileTail::from_bytes(tail, &self.options.limits);
        let tail = tail.map_err(|error| error.in_file(&self.name(at)))?;
        let file = OrcFile::try_with_tail(source, tail);
        let file = file.map_err(|error| error.in_file(&self.name(at)))?;
        Ok(Some(watched(self.unlocked(file)?)))
    }

    /// The file with its encrypted columns, as far as the options have their keys.
    fn unlocked(&self, file: OrcFile) -> Result<OrcFile> {
        match &self.options.keys {
            Some(keys) => file.with_keys(keys),
            None => Ok(file),
        }
    }

    /// Closes a file, to bound the number of open files.
    pub(super) fn close(&self, at: usize) {
        let mut open = self.open_files().lock();
        // The first file stays open, as its schema may be asked for again.
        if at > 0 && matches!(open.get(&at), Some(FileState::Open(_))) {
            open.remove(&at);
        }
    }

    /// Calls `task` for each file, several at a time. The results are in order of the files. Each file is closed afterwards.
    ///
    /// # Errors
    /// The error of the first file that has one, and cancellation.
    pub(super) fn map_files<T: Send + 'static>(
        self: &Arc<Self>,
        task: impl Fn(&Self, usize) -> Result<T> + Send + Sync + 'static,
    ) -> Result<Vec<T>> {
        self.map_open_files(move |table, at| {
            let result = task(table, at);
            table.close(at);
            result
        })
    }

    /// As [`map_files`](Self::map_files), with files that stay open.
    pub(super) fn map_open_files<T: Send + 'static>(
        self: &Arc<Self>,
        task: impl Fn(&Self, usize) -> Result<T> + Send + Sync + 'static,
    ) -> Result<Vec<T>> {
        let (table, threads) = (self.clone(), self.threads().max(self.requests()));
        map(0..self.files.len(), threads, self.storage.cancel_check().cloned(), move |_, at| task(&table, at))
    }

    /// Number of concurrent requests that the store of the first file recommends.
    pub(super) fn requests(&self) -> usize {
        self.files.first().map_or(1, |file| match &file.source {
            Some(source) => source.concurrency(),
            None => concurrency(&file.location, &self.storage),
        })
    }

    /// Number of threads of the scan.
    pub(super) fn threads(&self) -> usize {
        decoding_threads(self.options.threads, &self.options.limits)
    }
}

/// The schema without columns of some names.
pub(super) fn without(schema: &Schema, names: &[String]) -> Schema {
    let fields: Fields = schema.fields().iter().filter(|field| !names.contains(field.name())).cloned().collect();
    Schema::new_with_metadata(fields, schema.metadata().clone())
}

/// The error of opening a file, which may have been removed since the files were listed. HTTP servers are not listed.
fn with_hint(error: Error, file: &TableFile) -> Error {
    match error.io_kind() {
        Some(std::io::ErrorKind::NotFound) if !file.location.starts_with("http") => {
            error.with_remark("the table may have changed since its files were listed; make the scan again")
        }
        _ => error,
    }
}

/// The schema with unordered dictionaries, as files do not store their order, and optionally with nullable fields wherever
/// Arrow allows them.
fn normalized(schema: &Schema, make_nullable: bool) -> Schema {
    let fields: Fields = schema.fields().iter().map(|field| normalized_field(field, make_nullable)).collect();
    Schema::new_with_metadata(fields, schema.metadata().clone())
}

pub(super) fn normalized_field(field: &FieldRef, make_nullable: bool) -> FieldRef {
    let is_nullable = make_nullable || field.is_nullable();
    let data_type = normalized_type(field.data_type(), make_nullable);
    Arc::new(field.as_ref().clone().with_data_type(data_type).with_nullable(is_nullable).with_dict_is_ordered(false))
}

fn normalized_type(data_type: &DataType, make_nullable: bool) -> DataType {
    let of_field = |field: &FieldRef| normalized_field(field, make_nullable);
    match data_type {
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(of_field).collect()),
        // Keys are never null.
        DataType::Map(entries, is_sorted) => {
            let DataType::Struct(fields) = entries.data_type() else { return data_type.clone() };
            let keys = fields.iter().take(1).map(|key| {
                let is_nullable = key.is_nullable();
                Arc::new(of_field(key).as_ref().clone().with_nullable(is_nullable))
            });
            let fields = keys.chain(fields.iter().skip(1).map(of_field)).collect();
            DataType::Map(Arc::new(entries.as_ref().clone().with_data_type(DataType::Struct(fields))), *is_sorted)
        }
        DataType::Union(fields, mode) => {
            DataType::Union(fields.iter().map(|(id, field)| (id, of_field(field))).collect(), *mode)
        }
        DataType::Dictionary(keys, values) => {
            DataType::Dictionary(keys.clone(), Box::new(normalized_type(values, make_nullable)))
        }
        DataType::RunEndEncoded(ends, values) => DataType::RunEndEncoded(ends.clone(), of_field(values)),
        list => item_of(list).map_or_else(|| list.clone(), |item| with_item(list, of_field(item))),
    }
}
