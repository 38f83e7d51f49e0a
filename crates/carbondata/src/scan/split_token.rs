//! Serialized splits: a data file with the required metadata of its table, as JSON.

use std::sync::Arc;

use orcish_core::{Error, Limits, Result};
use orcish_io::{FileVersion, StorageOptions};
use serde_json::{Map, Value, json};

use super::snapshot::TableSnapshot;
use crate::metadata::index_file::IndexedBlocklet;
use crate::metadata::schema::{CarbonType, Column, schema_of};
use crate::metadata::table_storage::TableStorage;
use crate::table::{FileEntry, FileFormat};

/// Version of the tokens.
const VERSION: u64 = 2;
/// Maximum nesting of columns.
const MAX_DEPTH: usize = 64;

/// The token of blocklets of a file, or of a whole file of another format.
pub(super) fn write(
    snapshot: &TableSnapshot,
    entry: &FileEntry,
    blocklets: &[usize],
    version: Option<&FileVersion>,
) -> Result<Vec<u8>> {
    let format = match &entry.format {
        FileFormat::Columnar => "columnar",
        FileFormat::Stream => "stream",
        FileFormat::Orc => "orc",
        FileFormat::Other(name) => return Err(Error::unsupported(format!("files of {name} are not read"))),
    };
    let token = json!({
        "version": VERSION,
        "table": snapshot.location,
        "transactional": snapshot.is_transactional,
        "columns": snapshot.columns.iter().map(column_to_json).collect::<Vec<_>>(),
        "file": entry.location,
        "format": format,
        "size": entry.size,
        "blocklets": blocklets,
        "file_version": version.map(FileVersion::to_bytes),
        "deletes": &entry.deletes[..],
        "dictionaries": entry.dictionaries,
        "partition": entry.partition,
    });
    serde_json::to_vec(&token).map_err(|error| Error::invalid(format!("a split: {error}")))
}

/// The snapshot with the file of a token.
pub(super) fn read(token: &[u8], storage: StorageOptions, limits: &Limits) -> Result<TableSnapshot> {
    let invalid = || Error::invalid("this is no token of a split, or one of another version of orcish");
    let token: Value = serde_json::from_slice(token).map_err(|_| invalid())?;
    let token = token.as_object().filter(|token| token.get("version") == Some(&json!(VERSION))).ok_or_else(invalid)?;
    let array = |name: &str| token.get(name).and_then(Value::as_array).ok_or_else(invalid);
    let text = |name: &str| token.get(name).and_then(Value::as_str).map(str::to_owned).ok_or_else(invalid);
    let columns: Option<Vec<Column>> = array("columns")?.iter().map(|column| column_from_json(column, 1)).collect();
    let columns = columns.ok_or_else(invalid)?;
    let format = match text("format")?.as_str() {
        "columnar" => FileFormat::Columnar,
        "stream" => FileFormat::Stream,
        "orc" => FileFormat::Orc,
        _ => return Err(invalid()),
    };
    // Number of rows and min/max index are read from the file.
    let blocklet = |id: &Value| {
        let id = usize::try_from(id.as_u64()?).ok()?;
        Some(IndexedBlocklet { id, rows: None, info: None, min_max: None, footer_offset: 0 })
    };
    let blocklets: Option<Vec<_>> = array("blocklets")?.iter().map(blocklet).collect();
    let partition = |pair: &Value| {
        let name = pair.get(0)?.as_str()?.to_owned();
        Some((name, pair.get(1)?.as_str().map(str::to_owned)))
    };
    let version = match token.get("file_version") {
        Some(Value::Null) => None,
        version => Some(version.and_then(bytes_from_json).ok_or_else(invalid)?),
    };
    let deletes: Option<Arc<[String]>> = array("deletes")?.iter().map(|at| Some(at.as_str()?.to_owned())).collect();
    let partition: Option<Vec<_>> = array("partition")?.iter().map(partition).collect();
    let entry = FileEntry {
        location: text("file")?,
        segment: None,
        size: token.get("size").and_then(Value::as_u64),
        blocklets: (format == FileFormat::Columnar).then(|| blocklets.ok_or_else(invalid)).transpose()?,
        format,
        deletes: deletes.ok_or_else(invalid)?,
        dictionaries: text("dictionaries")?,
        partition: partition.ok_or_else(invalid)?,
        rows: None,
        file_min_max: None,
        index_columns: None,
        version: None,
        split_version: version.as_deref().map(FileVersion::from_bytes).transpose()?,
    };
    let location = text("table")?;
    Ok(TableSnapshot {
        storage: TableStorage::new(&location, storage),
        location,
        schema: schema_of(&columns),
        columns,
        is_transactional: token.get("transactional").and_then(Value::as_bool).ok_or_else(invalid)?,
        files: vec![Arc::new(entry)],
        segments: Vec::new(),
        limits: limits.clone(),
    })
}

/// Names of types in tokens.
const TYPE_NAMES: [(&str, CarbonType); 15] = [
    ("boolean", CarbonType::Boolean),
    ("byte", CarbonType::Byte),
    ("short", CarbonType::Short),
    ("int", CarbonType::Int),
    ("long", CarbonType::Long),
    ("float", CarbonType::Float),
    ("double", CarbonType::Double),
    ("string", CarbonType::String),
    ("varchar", CarbonType::Varchar),
    ("binary", CarbonType::Binary),
    ("date", CarbonType::Date),
    ("timestamp", CarbonType::Timestamp),
    ("array", CarbonType::Array),
    ("struct", CarbonType::Struct),
    ("map", CarbonType::Map),
];

fn column_to_json(column: &Column) -> Value {
    let carbon_type = match column.carbon_type {
        CarbonType::Decimal { precision, scale } => json!([precision, scale]),
        carbon_type => json!(TYPE_NAMES.iter().find(|(_, other)| *other == carbon_type).map(|(name, _)| name)),
    };
    let mut this = Map::new();
    this.insert("id".into(), json!(column.id));
    this.insert("name".into(), json!(column.name));
    this.insert("kind".into(), carbon_type);
    if !column.children.is_empty() {
        this.insert("children".into(), column.children.iter().map(column_to_json).collect());
    }
    if let Some(default) = &column.default {
        this.insert("default".into(), json!(default));
    }
    Value::Object(this)
}

fn bytes_from_json(value: &Value) -> Option<Vec<u8>> {
    value.as_array()?.iter().map(|byte| u8::try_from(byte.as_u64()?).ok()).collect()
}

fn column_from_json(value: &Value, depth: usize) -> Option<Column> {
    if depth > MAX_DEPTH {
        return None;
    }
    let carbon_type = match value.get("kind")? {
        Value::String(name) => TYPE_NAMES.iter().find(|(other, _)| other == name)?.1,
        digits => CarbonType::Decimal {
            precision: u8::try_from(digits.get(0)?.as_u64()?).ok()?,
            scale: i8::try_from(digits.get(1)?.as_i64()?).ok()?,
        },
    };
    let children = value.get("children").and_then(Value::as_array);
    Some(Column {
        id: value.get("id")?.as_str()?.to_owned(),
        name: value.get("name")?.as_str()?.to_owned(),
        carbon_type,
        children: children
            .into_iter()
            .flatten()
            .map(|child| column_from_json(child, depth + 1))
            .collect::<Option<_>>()?,
        default: value.get("default").map(bytes_from_json).map_or(Some(None), |bytes| bytes.map(Some))?,
        encoders: Vec::new(),
        is_dimension: true,
        is_sorted_by: false,
        is_invisible: false,
        ordinal: None,
    })
}
