//! The Arrow schema in the metadata of a file: a message of format strings of Arrow's C data interface.

mod format;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use arrow_schema::{DataType, Field, Metadata, Schema};
use bytes::Bytes;
use format::{format_of, type_of};
use orcish_core::error::{Error, Result};
use prost::Message as _;

use crate::proto::arrow::{ArrowField, ArrowSchema, Pair};
use crate::proto::{ARROW_SCHEMA, RawField, check_decoded_size, next_field};

/// Key of the user metadata with the Arrow schema of a file.
pub const ARROW_SCHEMA_KEY: &str = "orcish.arrow.schema";
/// Maximum nesting of a stored schema. pyarrow allows 64 levels.
const MAX_DEPTH: usize = 60;

/// Encodes a schema for the user metadata under [`ARROW_SCHEMA_KEY`].
///
/// # Errors
/// `Unsupported` for schemas of more than 60 levels, or with types without format string. A file without stored schema is
/// complete; its columns are read in their physical types.
pub(crate) fn encode(schema: &Schema) -> Result<Vec<u8>> {
    let fields = schema.fields().iter().map(|field| to_proto(field, 1));
    let field = fields.collect::<Result<_>>()?;
    Ok(ArrowSchema { field, metadata: to_pairs(schema.metadata()) }.encode_to_vec())
}

/// Decodes a schema of at most `max_fields` fields, nested ones included, and `memory` bytes.
///
/// # Errors
/// `Corrupt` for other bytes, `LimitExceeded` for larger schemas.
pub(crate) fn decode(bytes: &Bytes, max_fields: usize, memory: u64) -> Result<Schema> {
    let mut remaining_fields = max_fields;
    count(bytes.clone(), &[FIELD], 0, &mut remaining_fields)?;
    check_decoded_size(bytes, &ARROW_SCHEMA, memory)?;
    let undecodable = |error| Error::corrupt("the Arrow schema cannot be decoded").with_source(error);
    let ArrowSchema { field, metadata } = ArrowSchema::decode(bytes.clone()).map_err(undecodable)?;
    let fields = field.into_iter().map(from_proto).collect::<Result<Vec<_>>>()?;
    Ok(Schema::new_with_metadata(fields, from_pairs(metadata)))
}

/// Tags of nested fields: of a schema, and of a field.
const FIELD: u32 = 1;
const WITHIN: [u32; 2] = [7, 8];

/// Counts the fields of a message at `depth` levels. `remaining_fields` is the number of fields that are allowed.
fn count(message: Bytes, tags: &[u32], depth: usize, remaining_fields: &mut usize) -> Result<()> {
    if depth > MAX_DEPTH {
        return Err(Error::corrupt("the Arrow schema is nested too deeply"));
    }
    let mut rest = message;
    while let Some(RawField { tag, body }) = next_field(&mut rest)? {
        if let Some(value) = body.filter(|_| tags.contains(&tag)) {
            let too_many = || Error::corrupt("the Arrow schema has more fields than the file has columns");
            *remaining_fields = remaining_fields.checked_sub(1).ok_or_else(too_many)?;
            count(value, &WITHIN, depth + 1, remaining_fields)?;
        }
    }
    Ok(())
}

fn to_pairs(metadata: &Metadata) -> Vec<Pair> {
    // In order of the keys, so that a schema has the same bytes every time.
    metadata.iter().map(|(key, value)| Pair { key: key.clone(), value: value.clone() }).collect()
}

fn from_pairs(pairs: Vec<Pair>) -> Metadata {
    pairs.into_iter().map(|Pair { key, value }| (key, value)).collect()
}

fn to_proto(field: &Field, depth: usize) -> Result<ArrowField> {
    if depth > MAX_DEPTH {
        return Err(Error::unsupported(format!("the Arrow schema has more than {MAX_DEPTH} levels")));
    }
    let mut proto = ArrowField {
        name: field.name().clone(),
        nullable: field.is_nullable(),
        metadata: to_pairs(field.metadata()),
        dictionary_ordered: field.dict_is_ordered() == Some(true),
        ..ArrowField::default()
    };
    let mut kind = field.data_type();
    if let DataType::Dictionary(keys, values) = kind {
        let values = Field::new("", values.as_ref().clone(), true);
        proto.dictionary = Some(Box::new(to_proto(&values, depth + 1)?));
        kind = keys;
    }
    let unknown = || Error::unsupported(format!("Arrow has no name for the type {kind}"));
    proto.format = format_of(kind).ok_or_else(unknown)?;
    let child = |field: &Field| to_proto(field, depth + 1);
    proto.children = match kind {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _) => vec![child(item)?],
        DataType::Map(entries, is_sorted) => {
            proto.keys_sorted = *is_sorted;
            vec![child(entries)?]
        }
        DataType::Struct(fields) => fields.iter().map(|field| child(field)).collect::<Result<_>>()?,
        DataType::Union(fields, _) => fields.iter().map(|(_, field)| child(field)).collect::<Result<_>>()?,
        DataType::RunEndEncoded(ends, values) => vec![child(ends)?, child(values)?],
        _ => Vec::new(),
    };
    Ok(proto)
}

/// The recursion is bounded: [`count`] has checked the depth.
fn from_proto(proto: ArrowField) -> Result<Field> {
    // The order of dictionary values is not in a file: dictionaries that are read have none.
    let ArrowField { name, format, nullable, keys_sorted, dictionary_ordered: _, metadata, children, dictionary } =
        proto;
    let children = children.into_iter().map(|child| from_proto(child).map(Arc::new)).collect::<Result<Vec<_>>>()?;
    if name.contains('\0') || format.contains('\0') {
        // NUL ends strings in Arrow's C interface.
        return Err(Error::corrupt("the Arrow schema has a NUL in a name or a type"));
    }
    let unknown = || Error::corrupt(format!("the Arrow schema has a type {format:?}, which is none"));
    let mut kind = type_of(&format, children, keys_sorted).ok_or_else(unknown)?;
    if let Some(values) = dictionary {
        if !kind.is_integer() {
            return Err(Error::corrupt(format!("the Arrow schema has a dictionary with keys of type {kind}")));
        }
        kind = DataType::Dictionary(Box::new(wide_keys(kind)), Box::new(from_proto(*values)?.data_type().clone()));
    }
    Ok(Field::new(name, kind, nullable).with_metadata(from_pairs(metadata)))
}

/// The type of the keys of a dictionary that is read. A writer may have had batches of few values each, where a file, a
/// batch of another size, or a table of several files has more of them than 8 or 16 bits tell apart.
fn wide_keys(written: DataType) -> DataType {
    match written {
        DataType::Int8 | DataType::Int16 | DataType::UInt8 | DataType::UInt16 => DataType::Int32,
        wide => wide,
    }
}
