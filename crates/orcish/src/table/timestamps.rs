//! How timestamps are stored: as `timestamp` with the zone of the writer, as Spark does, or as `timestamp with local time zone`.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_schema::{DataType, FieldRef, Schema};
use orcish_core::error::Result;
use orcish_core::limits::Limits;
use orcish_core::types::{map_fields, value_type};

use crate::read::{OrcFile, TYPE_KEY};
use crate::schema::Kind;

/// The ORC type of a column of timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StoredTimestamp {
    /// `timestamp`: wall clocks, or instants in the zone of the writer.
    Wall,
    /// `timestamp with local time zone`.
    Instant,
}

impl StoredTimestamp {
    /// The name of the type in Hive's syntax.
    pub fn name(self) -> &'static str {
        match self {
            StoredTimestamp::Wall => "timestamp",
            StoredTimestamp::Instant => "timestamp with local time zone",
        }
    }

    /// The type of a name; `None` for other names.
    pub fn from_name(name: &str) -> Option<Self> {
        [StoredTimestamp::Wall, StoredTimestamp::Instant].into_iter().find(|stored| stored.name() == name)
    }
}

/// The ORC types of the columns of timestamps of one or more files, by their dotted names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TimestampTypes(BTreeMap<String, StoredTimestamp>);

impl TimestampTypes {
    /// The types of a file.
    ///
    /// # Errors
    /// `LimitExceeded` where the names of all columns are longer than the limits allow.
    pub fn of_file(file: &OrcFile) -> Result<Self> {
        let schema = &file.tail().schema;
        let is_there = |kind| matches!(kind, Kind::Timestamp | Kind::TimestampInstant);
        if !schema.types().iter().any(|this| is_there(this.kind)) {
            return Ok(TimestampTypes::default());
        }
        let paths = schema.paths(&Limits::default()).map_err(|error| error.in_file(file.name()))?;
        let stored = paths.into_iter().zip(schema.types()).filter_map(|(path, this)| match this.kind {
            Kind::Timestamp => Some((path, StoredTimestamp::Wall)),
            Kind::TimestampInstant => Some((path, StoredTimestamp::Instant)),
            _ => None,
        });
        Ok(stored.collect())
    }

    /// The type of a column; `None` if it is none of timestamps.
    pub fn get(&self, path: &str) -> Option<StoredTimestamp> {
        self.0.get(path).copied()
    }

    /// All columns with their types.
    pub fn iter(&self) -> impl Iterator<Item = (&str, StoredTimestamp)> {
        self.0.iter().map(|(path, stored)| (path.as_str(), *stored))
    }

    /// Whether a column is stored as `timestamp`.
    pub fn have_walls(&self) -> bool {
        self.0.values().any(|stored| *stored == StoredTimestamp::Wall)
    }

    /// Adds a column. One that a file stores as `timestamp with local time zone` stays so.
    pub fn add(&mut self, path: impl Into<String>, stored: StoredTimestamp) {
        self.0.entry(path.into()).and_modify(|own| *own = stored.max(*own)).or_insert(stored);
    }

    /// The schema with instants that are stored as in these files: as `timestamp` where all files that have the column do so, and
    /// as `timestamp with local time zone` where one does. Columns that no file has stay as they are.
    ///
    /// ```
    /// use arrow_schema::{DataType, Field, Schema, TimeUnit};
    /// use orcish::table::{StoredTimestamp, TimestampTypes};
    ///
    /// let instant = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    /// let rows = Schema::new(vec![Field::new("at", instant, true)]);
    /// let types: TimestampTypes = [("at", StoredTimestamp::Wall)].into_iter().collect();
    /// assert_eq!(types.applied_to(&rows).field(0).metadata()["orc.type"], "timestamp");
    /// ```
    #[must_use]
    pub fn applied_to(&self, schema: &Schema) -> Schema {
        if self.0.is_empty() {
            return schema.clone();
        }
        let fields = map_fields(schema.fields(), &mut |field, path| match self.get(path) {
            Some(stored) if is_instant(&field) => with_stored_type(&field, stored),
            _ => field,
        });
        Schema::new_with_metadata(fields, schema.metadata().clone())
    }
}

impl<P: Into<String>> FromIterator<(P, StoredTimestamp)> for TimestampTypes {
    fn from_iter<I: IntoIterator<Item = (P, StoredTimestamp)>>(columns: I) -> Self {
        let mut types = TimestampTypes::default();
        columns.into_iter().for_each(|(path, stored)| types.add(path, stored));
        types
    }
}

fn is_instant(field: &FieldRef) -> bool {
    matches!(value_type(field.data_type()), DataType::Timestamp(_, Some(_)))
}

fn with_stored_type(field: &FieldRef, stored: StoredTimestamp) -> FieldRef {
    let mut field = field.as_ref().clone();
    match stored {
        StoredTimestamp::Wall => _ = field.metadata_mut().insert(TYPE_KEY.to_owned(), stored.name().to_owned()),
        StoredTimestamp::Instant => _ = field.metadata_mut().remove(TYPE_KEY),
    }
    Arc::new(field)
}

/// The columns of instants of a schema, by their dotted names.
pub(super) fn instants(schema: &Schema) -> Vec<String> {
    let mut paths = Vec::new();
    map_fields(schema.fields(), &mut |field, path| {
        if is_instant(&field) {
            paths.push(path.to_owned());
        }
        field
    });
    paths
}
