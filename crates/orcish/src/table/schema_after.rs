//! The schema of a table after rows are added.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Schema};
use bytes::Bytes;
use orcish_core::error::{Error, ErrorKind, Result};
use orcish_core::limits::Limits;
use orcish_core::types::is_null_type;
use orcish_core::unify::extended_schema;

use super::columns::{TIMEZONE_KEY, TableColumns};
use super::log_schema::LoggedSchema;
use super::names::check_names;
use super::timestamps::TimestampTypes;
use crate::write::{OrcWriter, WriteOptions, unwritten_file};

/// The columns that a table has after rows are added, partition columns that have types last, and whether its log has an Arrow
/// schema.
///
/// `table` are the columns before; `None` if there were none. `rows` is the schema with which the rows are written, partition
/// columns included. `partition` are the names of all partition columns. `arrow_schema` is whether files of a new table have an
/// Arrow schema.
///
/// # Errors
/// `InvalidArgument` if columns of a new table have one name, without regard to case.
pub fn schema_with_rows(
    table: Option<&TableColumns>,
    rows: &Schema,
    partition: &[String],
    arrow_schema: bool,
) -> Result<(Schema, bool)> {
    let is_own = |field: &&FieldRef| !partition.contains(field.name());
    let own = |schema: &Schema| {
        let fields = schema.fields().iter().filter(is_own).cloned().collect::<Vec<_>>();
        Schema::new_with_metadata(fields, schema.metadata().clone())
    };
    let arrow_schema = table.map_or(arrow_schema, TableColumns::has_arrow_schema);
    let of_rows = |name: &str| rows.fields().iter().find(|field| field.name() == name);
    let (columns, mut typed) = match table {
        None => {
            check_names(rows.fields())?;
            (own(rows), Vec::new())
        }
        Some(table) => {
            // A stored column of the name of a partition column is hidden by it.
            let extended = extended_schema(&own(table.schema()), &own(rows));
            // Where all values of a partition column were null, it has the type of the rows.
            let typed = |field: &FieldRef| match of_rows(field.name()).filter(|_| is_null_type(field.data_type())) {
                Some(row) => Arc::new(row.as_ref().clone().with_metadata(arrow_schema::Metadata::default())),
                None => field.clone(),
            };
            (table.timestamp_types().applied_to(&extended), table.partition.iter().map(typed).collect())
        }
    };
    for field in rows.fields().iter().filter(|field| !is_own(field)) {
        let is_known = typed.iter().any(|known: &FieldRef| known.name() == field.name());
        if let Some(kind) = logged_type(field.data_type(), arrow_schema).filter(|_| !is_known) {
            typed.push(Arc::new(Field::new(field.name(), kind, true)));
        }
    }
    let fields = columns.fields().iter().cloned().chain(typed).collect::<Vec<_>>();
    Ok((Schema::new_with_metadata(fields, columns.metadata().clone()), arrow_schema))
}

/// The type of a partition column in a log, given that of the rows; `None` if the log has no type.
///
/// Without an Arrow schema, the types of the log are those of ORC, which has no times of day, no durations, and whose timestamps
/// have the unit of the reader.
fn logged_type(kind: &DataType, arrow_schema: bool) -> Option<DataType> {
    Some(match kind {
        kind if arrow_schema => kind.clone(),
        DataType::Null => return None,
        DataType::Date64 => DataType::Date32,
        DataType::Time32(_) | DataType::Time64(_) | DataType::Duration(_) | DataType::Timestamp(_, _) => DataType::Utf8,
        kind => kind.clone(),
    })
}

/// The ORC file with a schema for the log of a table.
///
/// `table` are the columns before; `None` if there were none. `schema` and `arrow_schema` are those of [`schema_with_rows`].
/// `timezone` is the time zone of the writer of the rows. The log has that of the files, or of the rows where no file has one, for
/// rows that are added after all others are gone.
///
/// # Errors
/// `InvalidArgument` if a type cannot be stored, or if there are too many columns.
pub fn schema_file(
    table: Option<&TableColumns>,
    schema: &Schema,
    arrow_schema: bool,
    timezone: Option<&str>,
) -> Result<Bytes> {
    let mut options = WriteOptions::default().with_arrow_schema(arrow_schema);
    if TimestampTypes::of_file(&unwritten_file(schema)?)?.have_walls()
        && let Some(zone) = timezone_after(table, timezone)?
    {
        options = options.with_metadata(TIMEZONE_KEY, zone);
    }
    let file: Bytes = OrcWriter::try_new(Vec::new(), Arc::new(schema.clone()), &options)?.into_inner()?.into();
    match LoggedSchema::open(file.clone(), "the schema in the log", Vec::new(), &Limits::default()) {
        Ok(_) => Ok(file),
        Err(error) if error.kind() == ErrorKind::LimitExceeded => Err(Error::invalid(format!(
            "the table would have {} columns, whose names and types take more room than the log has for them: write fewer columns",
            schema.fields().len()
        ))),
        Err(error) => Err(error),
    }
}

/// The time zone of the writers of a table, given that of rows that are added.
fn timezone_after(table: Option<&TableColumns>, timezone: Option<&str>) -> Result<Option<String>> {
    let rows = timezone.map(str::to_owned);
    match table.map_or(Ok(None), TableColumns::writer_timezone) {
        Ok(zone) => Ok(zone.or(rows)),
        // Zones that are not known are no zones of rows.
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(rows),
        Err(error) => Err(error),
    }
}
