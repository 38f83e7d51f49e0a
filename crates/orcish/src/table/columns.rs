//! The columns of a table that rows are added to.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::new_empty_array;
use arrow_schema::{DataType, FieldRef, Fields, Schema, SchemaRef};
use orcish_core::cast::ExactCast;
use orcish_core::error::{Error, ErrorKind, Result};
use orcish_core::limits::Limits;
use orcish_core::type_names::TypeName;
use orcish_core::types::{is_null_type, map_fields, value_type, with_type};
use orcish_core::unify::CAST_ADVICE;
use orcish_io::display_name;

use super::added_columns::{schema_beside, with_columns_of_files};
use super::files::{TableFolder, is_other_or_gone};
use super::log_schema::{LoggedSchema, has_arrow_schema, is_text_type};
use super::timestamps::{StoredTimestamp, TimestampTypes, instants};
use super::twins::without_twins;
use crate::options::ReadOptions;
use crate::read::OrcFile;
use crate::schema::Kind;
use crate::time::{WriterZone, zone_offsets};
use crate::write::are_inferred;

/// Key of the metadata of the schema in a log with the time zone of writers.
pub(super) const TIMEZONE_KEY: &str = "orcish.timezone";

/// The columns of a table: those that its log has, or those of the first of its files that has columns.
#[derive(Debug, Clone)]
pub struct TableColumns {
    folder: TableFolder,
    schema: SchemaRef,
    /// Partition columns that have types: those that the log has, as first written, or else those that are inferred from the values.
    pub(super) partition: Fields,
    read_partition: Fields,
    timestamps: TimestampTypes,
    has_arrow_schema: bool,
    /// Whether the columns are those of the log. Files may have others.
    has_log: bool,
    /// The time zone of writers in the log.
    timezone: Option<String>,
}

impl TableColumns {
    /// The columns of the log of a table.
    ///
    /// # Errors
    /// As reading the schema.
    pub fn of_log(folder: TableFolder, schema: &LoggedSchema) -> Result<Self> {
        let (columns, read) = schema.read_schema()?;
        let written = schema.file.schema(&ReadOptions::default())?;
        let untyped = schema.untyped_columns()?;
        // Each reader infers the types of columns that have none in the log.
        let inferred = if untyped.is_empty() { Fields::empty() } else { folder.inferred_fields() };
        let own = |name: &String| {
            let found = inferred.iter().find(|field| field.name() == name && untyped.contains(name));
            found.or_else(|| written.fields().iter().find(|field| field.name() == name)).cloned()
        };
        let partition: Fields = schema.partition.iter().filter_map(own).collect();
        let is_typed = |field: &&FieldRef| !is_null_type(field.data_type());
        let read_type = |field: &FieldRef| match read.iter().find(|read| read.name() == field.name()) {
            Some(read) if !untyped.contains(field.name()) => read.clone(),
            _ => field.clone(),
        };
        let zone = schema.file.tail().metadata.iter().find(|(key, _)| key == TIMEZONE_KEY);
        Ok(TableColumns {
            folder,
            schema: columns,
            read_partition: partition.iter().filter(is_typed).map(read_type).collect(),
            partition,
            timestamps: TimestampTypes::of_file(&schema.file)?,
            has_arrow_schema: schema.has_arrow_schema(),
            has_log: true,
            timezone: zone.map(|(_, zone)| String::from_utf8_lossy(zone).into_owned()),
        })
    }

    /// The columns of the files of a table without a log: readers see those of the first file that has columns. `None` if no file
    /// has columns.
    ///
    /// Columns that are an earlier one to some readers, see [`without_twins`], are no columns of the table. With `keeps_twins`,
    /// those of the first file are.
    ///
    /// # Errors
    /// `InvalidArgument` if there are files, and none of them is an ORC file with columns, or if they have no common schema.
    pub fn of_files(folder: TableFolder, keeps_twins: bool) -> Result<Option<Self>> {
        let files = folder.locations();
        for (at, location) in files.iter().enumerate() {
            let Some(first) = folder.open(location)? else { continue };
            // Files before this one have no columns.
            let (schema, timestamps) =
                columns_of_files(&folder, files.iter().skip(at).cloned().collect(), &first, keeps_twins)?;
            // The types of readers are those of all files.
            let written = timestamps.applied_to(&schema);
            let has_arrow_schema = has_arrow_schema(&first) || !are_inferred(written.fields())?;
            let partition = folder.inferred_fields();
            return Ok(Some(TableColumns {
                folder,
                schema: Arc::new(schema),
                read_partition: partition.clone(),
                partition,
                timestamps,
                has_arrow_schema,
                has_log: false,
                timezone: None,
            }));
        }
        folder.check_empty()?;
        Ok(None)
    }

    /// Path or URL of the table.
    pub fn location(&self) -> &str {
        &self.folder.location
    }

    /// The columns that can be read, without partition columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Partition columns whose types are known, with the types that readers see.
    pub fn partition_fields(&self) -> &Fields {
        &self.read_partition
    }

    /// The ORC types of the columns of timestamps.
    pub fn timestamp_types(&self) -> &TimestampTypes {
        &self.timestamps
    }

    /// Whether readers have types that only an Arrow schema keeps: that of the log, or of a file.
    pub fn has_arrow_schema(&self) -> bool {
        self.has_arrow_schema
    }

    /// The schema with which rows are appended: narrower types become those of the table, and partition columns have the types of
    /// the table. Text is made of values of any type when folders are named. Instants are stored as in `timestamps`, which are by
    /// default those of the table.
    ///
    /// `partition` are the partition columns of the rows.
    ///
    /// # Errors
    /// `InvalidArgument` if names differ only by case, or if a type of the table does not hold the values.
    pub fn appended_schema(
        &self,
        rows: &Schema,
        partition: &[String],
        timestamps: Option<&TimestampTypes>,
    ) -> Result<Schema> {
        let is_own = |field: &&FieldRef| !partition.contains(field.name());
        let own = rows.fields().iter().filter(is_own).cloned().collect::<Vec<_>>();
        let own = Schema::new_with_metadata(own, rows.metadata().clone());
        let beside = self.schema_beside(&own).map_err(|error| self.in_table(error))?;
        let mut columns = beside.fields().iter();
        let mut fields = Vec::with_capacity(rows.fields().len());
        for field in rows.fields() {
            if partition.contains(field.name()) {
                fields.push(self.partition_field(field)?);
                continue;
            }
            let column = columns.next().ok_or_else(|| Error::internal("a column of rows was lost"))?;
            self.check_cast(field, column.data_type())?;
            fields.push(column.clone());
        }
        let schema = Schema::new_with_metadata(fields, beside.metadata().clone());
        Ok(timestamps.unwrap_or(&self.timestamps).applied_to(&schema))
    }

    /// The columns of rows, which are no partition columns, with the types that the table has for them.
    fn schema_beside(&self, own: &Schema) -> Result<Schema> {
        let beside = schema_beside(&self.schema, own, self.has_arrow_schema)?;
        // The columns of a table without a log are those of all of its files.
        if !self.has_log {
            return Ok(beside);
        }
        let table = with_columns_of_files(&self.schema, own, &self.folder, self.has_arrow_schema)?;
        if table == *self.schema { Ok(beside) } else { schema_beside(&table, own, self.has_arrow_schema) }
    }

    /// An error of the rows with the location of the table.
    fn in_table(&self, error: Error) -> Error {
        match error.kind() {
            ErrorKind::InvalidArgument => Error::invalid(format!("{}: {error}", self.location())),
            _ => error,
        }
    }

    /// Checks that there are casts of all values of a type that the table has in place of those of the rows.
    fn check_cast(&self, rows: &FieldRef, to: &DataType) -> Result<()> {
        if rows.data_type().equals_datatype(to) {
            return Ok(());
        }
        let cast = ExactCast { zones: &zone_offsets, adds_fields: true };
        let Err(error) = cast.apply(&new_empty_array(rows.data_type()), to) else { return Ok(()) };
        let (name, own, kind) = (rows.name(), TypeName(rows.data_type()), TypeName(to));
        Err(self.in_table(Error::invalid(format!(
            "column {name} of the rows is {own}, and {kind} in the table, and is not converted: {error}{CAST_ADVICE}"
        ))))
    }

    /// A partition column of rows, with the type of the table.
    ///
    /// # Errors
    /// `InvalidArgument` if the rows have wall clocks, and the table has instants, or the other way round.
    fn partition_field(&self, field: &FieldRef) -> Result<FieldRef> {
        let known = self.read_partition.iter().find(|known| known.name() == field.name());
        let Some(kind) = known.map(|known| known.data_type()).filter(|kind| !is_text_type(kind)) else {
            return Ok(field.clone());
        };
        let own = field.data_type();
        let differ = || {
            let (name, own, kind) = (field.name(), TypeName(own), TypeName(kind));
            let text = format!("partition column {name} of the rows is {own}, and {kind} in the table");
            self.in_table(Error::invalid(format!("{text}{CAST_ADVICE}")))
        };
        let is_date = |kind: &DataType| matches!(kind, DataType::Date32 | DataType::Date64);
        match (kind, own) {
            (kind, DataType::Timestamp(_, Some(_))) if is_date(kind) => Err(differ()),
            (DataType::Timestamp(_, Some(_)), own) if is_date(own) || matches!(own, DataType::Timestamp(_, None)) => {
                Err(differ())
            }
            _ => Ok(Arc::new(with_type(field, kind.clone()))),
        }
    }

    /// The time zone with which rows of a schema are written beside the files: readers show either the wall clocks or the instants of
    /// all files, which are consistent only within one zone. `None` if any zone will do.
    ///
    /// # Errors
    /// As [`writer_timezone`](Self::writer_timezone).
    pub fn timezone_beside(&self, rows: &Schema) -> Result<Option<String>> {
        let mut have_timestamps = false;
        map_fields(rows.fields(), &mut |field, _| {
            have_timestamps |= matches!(value_type(field.data_type()), DataType::Timestamp(_, _));
            field
        });
        if have_timestamps && self.timestamps.have_walls() { self.writer_timezone() } else { Ok(None) }
    }

    /// The time zone of the writer of the first file that has rows and a column of type `timestamp`, or that of the log if no file
    /// has; `None` if that file has several zones, and if no zone is recorded.
    ///
    /// # Errors
    /// `Unsupported` if the zone is not known.
    pub fn writer_timezone(&self) -> Result<Option<String>> {
        for location in self.folder.locations() {
            let Some(file) = self.folder.open(&location)? else { continue };
            if !file.tail().schema.types().iter().any(|this| this.kind == Kind::Timestamp) {
                continue;
            }
            let zones: HashSet<String> = file.writer_timezones(None, &Limits::default())?.into_iter().collect();
            let mut zones = zones.into_iter();
            match (zones.next(), zones.next()) {
                (None, _) => continue,
                (Some(zone), None) if !zone.is_empty() => {
                    if WriterZone::parse(&zone).is_err() {
                        let text = format!("writer time zone '{zone}' is not known");
                        return Err(Error::unsupported(text).in_file(&display_name(&location)));
                    }
                    return Ok(Some(zone));
                }
                _ => return Ok(None),
            }
        }
        Ok(self.timezone.clone())
    }
}

/// The union of the columns of files, of which readers see those of the first one until the table has a log; and the ORC types of
/// its timestamps.
///
/// # Errors
/// `InvalidArgument` if a column has no common type.
fn columns_of_files(
    folder: &TableFolder,
    mut files: Vec<String>,
    first: &OrcFile,
    keeps_twins: bool,
) -> Result<(Schema, TimestampTypes)> {
    let union = |files: &[String]| {
        let scan = folder.scan(files, ReadOptions::default())?;
        let unified = scan.unified_schema(true)?;
        match unified.conflicts.into_iter().next() {
            Some((_, error)) => Err(error),
            None => Ok((scan, unified.schema)),
        }
    };
    let (scan, schema) = loop {
        let error = match union(&files) {
            Ok(found) => break found,
            Err(error) => error,
        };
        if error.kind() == ErrorKind::Unsupported {
            let text = format!("the files of {} have no common schema: {error}", folder.location);
            return Err(Error::invalid(text));
        }
        if !is_other_or_gone(&error) {
            return Err(error);
        }
        // Another file is no ORC file, or was just removed.
        let mut others = Vec::new();
        for file in &files {
            if folder.open(file)?.is_some() {
                others.push(file.clone());
            }
        }
        if others.len() == files.len() {
            return Err(error);
        }
        files = others;
    };
    let mut stored = HashSet::new();
    if keeps_twins {
        map_fields(scan.table_schema().fields(), &mut |field, path| {
            stored.insert(path.to_owned());
            field
        });
    }
    // Columns that are an earlier one to readers that ignore case, or that compare ids, stay hidden.
    let columns = without_twins(&schema, &stored);
    let mut timestamps = TimestampTypes::of_file(first)?;
    // Where one file does not store instants as `timestamp`, readers that ignore Arrow types see instants, too.
    if instants(&columns).iter().any(|path| timestamps.get(path) == Some(StoredTimestamp::Wall)) {
        let stored = folder.scan(&files, ReadOptions::default().with_arrow_schema(false))?;
        for path in instants(&stored.table_schema()) {
            timestamps.add(path, StoredTimestamp::Instant);
        }
    }
    Ok((columns, timestamps))
}
