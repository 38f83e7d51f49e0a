//! How a table is opened: from its metadata to its files.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use orcish_core::{Error, ErrorKind, Limits, Result};
use orcish_io::{StorageOptions, display_name, hive_partitions, list_all, list_folder, open, read_small, stat};

use super::updates::Updates;
use super::watch::Watch;
use super::{FileEntry, FileFormat, Inner, SCHEMA, Segment};
use crate::file::DataFile;
use crate::metadata::deletes::DELETES;
use crate::metadata::format::TableInfo;
use crate::metadata::index::{self, INDEX, IndexedFile, MERGED};
use crate::metadata::names::{DATA, base, check_name, folder_of, name_of};
use crate::metadata::places::{Places, TableStorage};
use crate::metadata::schema::{Column, columns, schema_of};
use crate::metadata::segments::{self, Folder, absolute, join};
use crate::metadata::status::{self, COLUMNAR, Load, STREAM};
use crate::metadata::thrift::Reader;
use crate::tuning;

/// The index of a stream.
const STREAM_INDEX: &str = "0_batchno0-0-0-0.carbonindex";
/// What takes memory, in messages.
pub(super) const DELETE_DELTAS: &str = "indexes and names of delete deltas";
/// The kind of partitions that Hive has: folders.
const HIVE: i32 = 4;

/// The columns that users see, in their order.
fn visible(all: Vec<Column>) -> Vec<Column> {
    let mut all: Vec<_> = all.into_iter().filter(|column| !column.is_invisible).collect();
    let places: HashSet<_> = all.iter().filter_map(|column| column.ordinal.filter(|&place| place >= 0)).collect();
    // Where places are not told apart, the list is in the order of its own.
    if places.len() == all.len() {
        all.sort_by_key(|column| column.ordinal);
    }
    all
}

/// Whether columns can be told apart by their names, and have names that Arrow can have.
///
/// # Errors
/// `Corrupt` when two columns have one name, and `Unsupported` for a NUL, which ends names in Arrow's C interface.
fn check_names(columns: &[Column]) -> Result<()> {
    let mut names = HashSet::new();
    if let Some(column) = columns.iter().find(|column| !names.insert(&column.name)) {
        return Err(Error::corrupt(format!("two columns of the table are named {:?}", column.name)));
    }
    columns.iter().try_for_each(check_no_nul)
}

fn check_no_nul(column: &Column) -> Result<()> {
    if column.name.contains('\0') {
        return Err(Error::unsupported(format!(
            "the name {:?} of a column has a NUL, which Arrow has not",
            column.name
        )));
    }
    column.children.iter().try_for_each(check_no_nul)
}

/// Where a table is that is being opened.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) root: &'a str,
    pub(super) storage: &'a TableStorage,
    pub(super) limits: &'a Limits,
    pub(super) places: &'a Places,
    /// Bytes that indexes and names of delete deltas take that have been read.
    pub(super) held: &'a AtomicU64,
    pub(super) watch: &'a Watch,
}

impl Place<'_> {
    pub(super) fn open(self) -> Result<Inner> {
        let is_file = self.root.ends_with(DATA) && stat(self.root, self.storage.of_table())?.is_some();
        match !is_file && stat(&join(self.root, SCHEMA), self.storage.of_table())?.is_some() {
            true => self.transactional(),
            false => self.folder(is_file),
        }
    }

    fn read(&self, location: &str) -> Result<bytes::Bytes> {
        read_small(location, self.limits.tail, self.storage_of(location)?.as_ref())
    }

    /// The options for a file or folder that the table names, if it may be read.
    pub(super) fn storage_of(&self, location: &str) -> Result<Cow<'_, StorageOptions>> {
        self.places.check(location).map_err(|error| error.in_file(&display_name(self.root)))?;
        Ok(self.storage.of(location))
    }

    /// Counts bytes that are held.
    ///
    /// # Errors
    /// `LimitExceeded`, which says `what` it is, where all together are more than is allowed.
    pub(super) fn hold(&self, bytes: usize, what: &str) -> Result<()> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let before = self.held.fetch_add(bytes, Ordering::Relaxed);
        let most = self.limits.memory;
        match before.saturating_add(bytes) > most {
            true => Err(Error::over("memory", format!("{what} of more than the {most} bytes that are allowed"))),
            false => Ok(()),
        }
    }

    fn is_there(&self, location: &str) -> Result<bool> {
        Ok(stat(location, self.storage_of(location)?.as_ref())?.is_some())
    }

    /// Reads and parses a file; errors name it.
    fn parse<T>(&self, location: &str, parse: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        parse(&self.read(location)?).map_err(|error| error.in_file(location))
    }

    fn metadata(&self, name: &str) -> String {
        join(&join(self.root, "Metadata"), name)
    }

    fn inner(self, all: Vec<Column>, is_transactional: bool) -> Result<Inner> {
        let columns = visible(all);
        check_names(&columns).map_err(|error| error.in_file(&display_name(self.root)))?;
        Ok(Inner {
            location: self.root.to_owned(),
            storage: self.storage.clone(),
            limits: self.limits.clone(),
            is_transactional,
            schema: schema_of(&columns),
            sort_columns: Vec::new(),
            columns,
            partition_columns: Vec::new(),
            properties: BTreeMap::new(),
            segments: Vec::new(),
            files: Vec::new(),
        })
    }

    /// What becomes of each, in order. In stores several are waited for at a time.
    pub(super) fn each<T: Sync, R: Send>(self, all: &[T], work: impl Fn(&T) -> Result<R> + Sync) -> Result<Vec<R>> {
        let is_far = self.root.contains("://") && !self.root.starts_with("file:");
        let threads = if is_far { tuning::METADATA_READERS.get().min(all.len()) } else { 1 };
        self.watch.each(threads, all, work)
    }

    /// A table with metadata.
    fn transactional(self) -> Result<Inner> {
        let schema = join(self.root, SCHEMA);
        let (info, all) = self.parse(&schema, |bytes| {
            let info: TableInfo = Reader::new(bytes, self.limits).structure()?;
            let all = columns(&info.table.columns, self.limits)?;
            Ok((info, all))
        })?;
        // The list has the columns that rows are sorted by in their order, which is not that of users.
        let sorted = all.iter().filter(|column| column.is_sorted_by && !column.is_invisible);
        let sort_columns = sorted.map(|column| column.name.clone()).collect();
        let mut inner = self.inner(all, true)?;
        inner.sort_columns = sort_columns;
        inner.properties = info.table.properties.into_iter().collect();
        let hive = info.table.partition.filter(|partition| partition.kind == HIVE);
        let hive = hive.into_iter().flat_map(|partition| partition.columns);
        inner.partition_columns = hive.map(|column| column.name).collect();

        let version = inner.properties.iter().find(|(key, _)| key.eq_ignore_ascii_case("latestversion"));
        let name = version.map(|(_, version)| version.trim()).filter(|version| !version.is_empty());
        let name = name.map_or("tablestatus".to_owned(), |version| format!("tablestatus_{version}"));
        check_name(&name).map_err(|error| error.in_file(&schema))?;
        let status = self.metadata(&name);
        // A table that nothing was loaded into has none.
        let loads = match self.is_there(&status)? {
            true => self.parse(&status, |bytes| status::loads(bytes, self.limits))?,
            false => Vec::new(),
        };
        // The one that has a name says it for all.
        let updates = match loads.iter().find_map(|load| load.update_file.as_deref()) {
            Some(name) => {
                check_name(name).map_err(|error| error.in_file(&status))?;
                self.parse(&self.metadata(name), |bytes| status::updates(bytes, self.limits))?
            }
            None => Vec::new(),
        };
        let mut updates = Updates::new(&updates, !inner.partition_columns.is_empty());
        let live: Vec<_> = loads.iter().enumerate().filter(|(_, load)| load.is_readable()).collect();
        let files = self.each(&live, |(at, load)| self.segment(load, *at, &inner.partition_columns))?;
        let mut live: BTreeMap<_, _> = live.iter().map(|(at, _)| *at).zip(files).collect();
        for (at, load) in loads.iter().enumerate() {
            let mut files = live.remove(&at).unwrap_or_default();
            for file in &files {
                self.watch.look()?;
                self.storage_of(&file.location)?;
            }
            let deleted = updates.apply(load, &mut files, self)?;
            let rows = files.iter().try_fold(0u64, |sum, file| Some(sum.saturating_add(file.rows?)));
            inner.segments.push(Segment {
                id: load.id.clone(),
                state: load.state.clone(),
                is_readable: load.is_readable(),
                format: load.format.clone(),
                started: load.started,
                ended: load.ended,
                merged_into: load.merged_into.clone(),
                modified: load.modified,
                rows: rows.filter(|_| load.is_readable()).map(|rows| rows.saturating_sub(deleted)),
                deleted_rows: load.is_readable().then_some(deleted),
                data_bytes: load.data_bytes,
                index_bytes: load.index_bytes,
                files: files.len(),
            });
            inner.files.extend(files.into_iter().map(Arc::new));
        }
        Ok(inner)
    }

    /// The files of a segment, as its index has them.
    fn segment(self, load: &Load, at: usize, partition_columns: &[String]) -> Result<Vec<FileEntry>> {
        let folder = match &load.path {
            Some(path) => absolute(self.root, path),
            None => join(self.root, &format!("Fact/Part0/Segment_{}", load.id)),
        };
        if load.format == STREAM {
            return self.stream(&folder, at);
        }
        let folders = match &load.segment_file {
            Some(name) => {
                let location = self.metadata(&format!("segments/{name}"));
                check_name(name).map_err(|error| error.in_file(&location))?;
                Some(self.parse(&location, |bytes| segments::folders(bytes, self.root, self.limits))?)
            }
            None => None,
        };
        if load.format != COLUMNAR {
            return self.foreign(load, at, &folder, folders, partition_columns);
        }
        let mut files = Vec::new();
        match folders {
            Some(folders) => {
                let indexes = self.each(&folders, |folder| self.indexes_of(folder))?;
                for (folder, indexed) in folders.iter().zip(indexes) {
                    files.extend(indexed.into_iter().map(|file| self.indexed(file, &folder.location, None)));
                }
            }
            None => files = self.listed(list_all(&folder, self.storage_of(&folder)?.as_ref())?, false)?,
        }
        for file in &mut files {
            file.segment = Some(at);
        }
        Ok(files)
    }

    /// What the index files say that a segment file names.
    fn indexes_of(self, folder: &Folder) -> Result<Vec<IndexedFile>> {
        let mut found = Found::default();
        let mut merged = false;
        // An index that is named again has nothing new.
        let mut read = HashSet::new();
        if let Some(name) = &folder.merged {
            let location = join(&folder.location, name);
            // Single files may be named still, and be what there is.
            if folder.files.is_empty() || self.is_there(&location)? {
                self.merged(&location, &mut found)?;
                merged = true;
                read.insert(name);
            }
        }
        for name in &folder.files {
            self.watch.look()?;
            if !read.insert(name) {
                continue;
            }
            let location = join(&folder.location, name);
            // What was merged may be deleted.
            if merged && !self.is_there(&location)? {
                continue;
            }
            if name.ends_with(MERGED) {
                self.merged(&location, &mut found)?;
            } else {
                self.index(&location, &mut found)?;
            }
        }
        Ok(found.files)
    }

    /// Adds the files of an index file.
    fn index(self, location: &str, found: &mut Found) -> Result<()> {
        found.add(self.parse(location, |bytes| index::files(bytes, self.limits))?, self)
    }

    /// Adds the files of the index files that were merged into one; their names.
    fn merged(self, location: &str, found: &mut Found) -> Result<Vec<String>> {
        let parts = self.parse(location, |bytes| index::parts(bytes, self.limits))?;
        let mut names = Vec::new();
        for (name, part) in parts {
            found.add(index::files(&part, self.limits).map_err(|error| error.in_file(location))?, self)?;
            names.push(name);
        }
        Ok(names)
    }

    /// A data file of a folder, as the index has it; `location` where it is known under another name.
    fn indexed(self, file: IndexedFile, folder: &str, location: Option<&str>) -> FileEntry {
        FileEntry {
            location: location.map_or_else(|| join(folder, &file.name), str::to_owned),
            size: file.size,
            rows: Some(file.rows),
            blocklets: file.blocklets,
            file_min_max: file.min_max,
            index_columns: file.columns,
            version: Some(file.version),
            ..self.entry(String::new(), FileFormat::Columnar)
        }
    }

    fn entry(self, location: String, format: FileFormat) -> FileEntry {
        FileEntry {
            location,
            segment: None,
            format,
            size: None,
            rows: None,
            blocklets: None,
            file_min_max: None,
            index_columns: None,
            version: None,
            deletes: Arc::default(),
            dictionaries: join(self.root, "Metadata"),
            partition: Vec::new(),
        }
    }

    /// The data files among those that were listed: those that an index names, and, where `with_all`, the others too.
    fn listed(self, all: Vec<(String, orcish_io::FileStatus)>, with_all: bool) -> Result<Vec<FileEntry>> {
        let all = all.into_iter().map(|(location, status)| (location, status.size));
        self.by_indexes(&all.collect::<Vec<_>>(), with_all)
    }

    fn by_indexes(self, all: &[(String, u64)], with_all: bool) -> Result<Vec<FileEntry>> {
        // Data files by folder and name, without what indexes may lack of it.
        let mut data: BTreeMap<(&str, String), (&str, u64)> = BTreeMap::new();
        for (location, size) in all.iter().filter(|(location, _)| location.ends_with(DATA)) {
            data.insert((folder_of(location), base(name_of(location)).to_owned()), (location, *size));
        }
        let mut indexed: BTreeMap<&str, Found> = BTreeMap::new();
        let mut merged: HashSet<(&str, String)> = HashSet::new();
        // Empty ones were never finished.
        let indexes = || all.iter().filter(|(_, size)| *size > 0).map(|(location, _)| location.as_str());
        for location in indexes().filter(|location| location.ends_with(MERGED)) {
            self.watch.look()?;
            let folder = folder_of(location);
            let names = self.merged(location, indexed.entry(folder).or_default())?;
            merged.extend(names.into_iter().map(|name| (folder, name)));
        }
        for location in indexes().filter(|location| location.ends_with(INDEX)) {
            self.watch.look()?;
            let folder = folder_of(location);
            if !merged.contains(&(folder, name_of(location).to_owned())) {
                self.index(location, indexed.entry(folder).or_default())?;
            }
        }
        let mut files = Vec::new();
        for (folder, found) in indexed {
            for file in found.files {
                // A file that is named and not there was deleted together with all its rows.
                if let Some((location, size)) = data.remove(&(folder, base(&file.name).to_owned())) {
                    let fits = file.size.is_none_or(|known| known == size);
                    match fits || !with_all {
                        true => files.push(self.indexed(file, folder, Some(location))),
                        // Written again under its name: what the index says is of another file.
                        false => files.push(self.unindexed(location, size)),
                    }
                }
            }
        }
        if with_all {
            files.extend(data.into_values().map(|(location, size)| self.unindexed(location, size)));
        }
        files.sort_by(|one, other| one.location.cmp(&other.location));
        Ok(files)
    }

    fn unindexed(self, location: &str, size: u64) -> FileEntry {
        FileEntry { size: Some(size), ..self.entry(location.to_owned(), FileFormat::Columnar) }
    }

    /// The files of a stream: those that its index names, as far as they are committed.
    fn stream(self, folder: &str, at: usize) -> Result<Vec<FileEntry>> {
        let location = join(folder, STREAM_INDEX);
        if !self.is_there(&location)? {
            return Ok(Vec::new());
        }
        let files = self.parse(&location, |bytes| index::streams(bytes, self.limits))?;
        let entry = |(name, size): (String, u64)| FileEntry {
            segment: Some(at),
            size: Some(size),
            ..self.entry(join(folder, &name), FileFormat::Stream)
        };
        Ok(files.into_iter().filter(|(_, size)| *size > 0).map(entry).collect())
    }

    /// The files of a segment that is of another format.
    fn foreign(
        self,
        load: &Load,
        at: usize,
        folder: &str,
        folders: Option<Vec<Folder>>,
        partition_columns: &[String],
    ) -> Result<Vec<FileEntry>> {
        if load.format != "orc" {
            let entry = self.entry(folder.to_owned(), FileFormat::Foreign(load.format.clone()));
            return Ok(vec![FileEntry { segment: Some(at), ..entry }]);
        }
        let is_data =
            |name: &str| !name.starts_with(['_', '.']) && !name.contains(".carbon") && !name.ends_with(".crc");
        let named = folders.iter().flatten().flat_map(|folder| {
            folder.files.iter().filter(|name| is_data(name)).map(|name| (join(&folder.location, name), None))
        });
        let mut files: Vec<(String, Option<u64>)> = named.collect();
        if files.is_empty() {
            let listed = list_folder(folder, self.storage_of(folder)?.as_ref())?.into_iter();
            files = listed.filter(|(file, _)| is_data(name_of(file))).map(|(file, size)| (file, Some(size))).collect();
        }
        let is_partition = |name: &str| partition_columns.iter().any(|column| column.eq_ignore_ascii_case(name));
        let entry = |(location, size): (String, Option<u64>)| FileEntry {
            segment: Some(at),
            size,
            partition: hive_partitions(&location).into_iter().filter(|(name, _)| is_partition(name)).collect(),
            ..self.entry(location, FileFormat::Orc)
        };
        Ok(files.into_iter().map(entry).collect())
    }

    /// A table without metadata: every data file counts.
    fn folder(self, is_file: bool) -> Result<Inner> {
        let all = list_folder(self.root, self.storage.of_table())?;
        // Which data files of a table are read, its metadata says.
        let table_of = |location: &str| Some(location.strip_suffix(SCHEMA)?.strip_suffix('/')?.to_owned());
        if let Some(table) = all.iter().find_map(|(location, _)| table_of(location)) {
            let message = format!("a table of CarbonData is in the folder, and is read alone: {table:?}");
            return Err(Error::new(ErrorKind::Unsupported, message).in_file(self.root));
        }
        let mut files = match is_file {
            true => all.iter().map(|(location, size)| self.unindexed(location, *size)).collect(),
            false => self.by_indexes(&all, true)?,
        };
        let folder = if is_file { folder_of(self.root) } else { self.root };
        for file in &mut files {
            folder.clone_into(&mut file.dictionaries);
        }
        // Here a delete delta belongs to the data files that it shares the beginning of the name with.
        let deltas: Vec<_> = match is_file {
            // What servers have beside a file cannot be found out.
            true if folder.starts_with("http://") || folder.starts_with("https://") => Vec::new(),
            true => list_folder(if folder.is_empty() { "." } else { folder }, self.storage.of_table())?,
            false => all,
        };
        let start = |location: &str| name_of(location).split_once('_').map(|(start, _)| start.to_owned());
        let mut by_start: HashMap<String, Vec<String>> = HashMap::new();
        for (delta, _) in deltas.into_iter().filter(|(location, size)| location.ends_with(DELETES) && *size > 0) {
            self.watch.look()?;
            if let Some(start) = start(&delta) {
                self.hold(size_of::<String>() + delta.len(), DELETE_DELTAS)?;
                by_start.entry(start).or_default().push(delta);
            }
        }
        let by_start: HashMap<String, Arc<[String]>> =
            by_start.into_iter().map(|(start, deltas)| (start, deltas.into())).collect();
        for file in &mut files {
            self.watch.look()?;
            file.deletes = start(&file.location).and_then(|start| by_start.get(&start).cloned()).unwrap_or_default();
        }
        let Some(first) = files.first() else {
            let message = "there is no table: neither Metadata/schema nor files of CarbonData";
            return Err(Error::invalid(message).in_file(self.root));
        };
        // Files of one writer have the same columns.
        let columns = DataFile::open(open(&first.location, self.storage.of_table())?, self.limits)?.columns().to_vec();
        let sorted = columns.iter().filter(|column| column.is_sorted_by);
        let sort_columns = sorted.map(|column| column.name.clone()).collect();
        let mut inner = self.inner(columns, false)?;
        inner.sort_columns = sort_columns;
        inner.files = files.into_iter().map(Arc::new).collect();
        Ok(inner)
    }
}

/// The data files that the indexes of a folder name.
#[derive(Default)]
pub(super) struct Found {
    files: Vec<IndexedFile>,
    names: HashSet<String>,
}

impl Found {
    /// Adds those that are not there yet: an index may be there twice, alone and merged.
    ///
    /// # Errors
    /// `LimitExceeded` where the indexes of the table have become too large.
    pub(super) fn add(&mut self, files: Vec<IndexedFile>, table: Place<'_>) -> Result<()> {
        for mut file in files {
            if !self.names.insert(file.name.clone()) {
                continue;
            }
            // Thousands of files have the same columns.
            let columns = match self.files.last().filter(|last| last.columns == file.columns) {
                Some(last) => {
                    file.columns.clone_from(&last.columns);
                    0
                }
                None => file.columns.iter().flat_map(|columns| columns.iter()).map(Column::weight).sum(),
            };
            table.hold(file.weight().saturating_add(columns), "indexes")?;
            self.files.push(file);
        }
        Ok(())
    }
}
