//! The types that a file has for readers, as a function of the types with which it is written.

use std::sync::Arc;

use arrow_schema::{DataType, FieldRef, Schema, SchemaRef};
use orcish_core::error::Result;
use orcish_core::types::{is_extension_key, item_of};
use orcish_io::MemorySource;

use super::types::orc_types;
use crate::options::ReadOptions;
use crate::read::OrcFile;
use crate::tail::FileTail;

/// The schema that readers see of a file with the columns of `schema` which is written without an Arrow schema, and has no rows.
///
/// # Errors
/// `InvalidArgument` for a type that cannot be stored; as reading the file.
///
/// ```
/// use arrow_schema::{DataType, Field, Schema};
/// use orcish::ReadOptions;
/// use orcish::write::stored_schema;
///
/// let schema = |kind| Schema::new(vec![Field::new("id", kind, true)]);
/// assert_eq!(*stored_schema(&schema(DataType::UInt8), &ReadOptions::default())?, schema(DataType::Int16));
/// # Ok::<(), orcish::Error>(())
/// ```
pub fn stored_schema(schema: &Schema, options: &ReadOptions) -> Result<SchemaRef> {
    unwritten_file(schema)?.schema(options)
}

/// The file of [`stored_schema`], which is never written.
pub(crate) fn unwritten_file(schema: &Schema) -> Result<OrcFile> {
    let (types, _) = orc_types(schema)?;
    let source = MemorySource::new(Vec::new()).named("the schema");
    Ok(OrcFile::of_parts(Arc::new(source), FileTail::of_types(types)?))
}

/// Whether readers of a file without an Arrow schema see the types of `fields`.
///
/// # Errors
/// As [`stored_schema`].
pub fn are_inferred(fields: &[FieldRef]) -> Result<bool> {
    let read = stored_schema(&Schema::new(fields.to_vec()), &ReadOptions::default())?;
    let is_same = |(field, other): (&FieldRef, &FieldRef)| {
        !has_extension(field) && field.data_type().equals_datatype(other.data_type())
    };
    Ok(fields.iter().zip(read.fields()).all(is_same))
}

/// Whether a field, or one below it, has an extension type, which only an Arrow schema keeps.
fn has_extension(field: &FieldRef) -> bool {
    let is_below = match field.data_type() {
        DataType::Struct(fields) => fields.iter().any(has_extension),
        DataType::Map(entries, _) => has_extension(entries),
        DataType::Union(variants, _) => variants.iter().any(|(_, variant)| has_extension(variant)),
        list => item_of(list).is_some_and(has_extension),
    };
    is_below || field.metadata().keys().any(|key| is_extension_key(key))
}

#[cfg(test)]
mod tests {
    use arrow_schema::{Field, IntervalUnit, TimeUnit};

    use super::*;
    use crate::read::TYPE_KEY;
    use crate::write::{OrcWriter, WriteOptions};

    fn fields() -> Vec<FieldRef> {
        let field = |name: &str, kind| Arc::new(Field::new(name, kind, true));
        let instant = DataType::Timestamp(TimeUnit::Nanosecond, Some("Asia/Tokyo".into()));
        let metadata = std::collections::HashMap::from([(TYPE_KEY.to_owned(), "timestamp".to_owned())]);
        let stored_instant = Field::new("stored", instant.clone(), true).with_metadata(metadata);
        let length = std::collections::HashMap::from([(TYPE_KEY.to_owned(), "char(3)".to_owned())]);
        vec![
            field("null", DataType::Null),
            field("byte", DataType::Int8),
            field("unsigned", DataType::UInt64),
            field("half", DataType::Float16),
            field("day", DataType::Date64),
            field("time", DataType::Time32(TimeUnit::Second)),
            field("clock", DataType::Timestamp(TimeUnit::Second, None)),
            field("instant", instant),
            Arc::new(stored_instant),
            Arc::new(Field::new("code", DataType::Utf8, true).with_metadata(length)),
            field("interval", DataType::Interval(IntervalUnit::MonthDayNano)),
            field("list", DataType::LargeList(field("x", DataType::Utf8View))),
            field("codes", DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8))),
        ]
    }

    #[test]
    fn types_are_those_of_a_written_file() {
        let schema = Arc::new(Schema::new(fields()));
        let options = WriteOptions::default().with_arrow_schema(false);
        let bytes = OrcWriter::try_new(Vec::new(), schema.clone(), &options).unwrap().into_inner().unwrap();
        let written = OrcFile::try_new(Arc::new(MemorySource::new(bytes)), &orcish_core::Limits::default()).unwrap();
        for options in [
            ReadOptions::default(),
            ReadOptions::default().with_timestamps(crate::options::Timestamps::Instant),
            ReadOptions::default().with_timestamp_unit(crate::options::TimestampUnit::Auto),
            ReadOptions::default().with_strings(crate::options::StringType::View),
        ] {
            assert_eq!(stored_schema(&schema, &options).unwrap(), written.schema(&options).unwrap());
        }
    }

    #[test]
    fn types_that_are_inferred() {
        let field = |kind| Arc::new(Field::new("x", kind, true));
        let is_inferred = |kind| are_inferred(&[field(kind)]).unwrap();
        for kind in [DataType::Int8, DataType::Utf8, DataType::Date32, DataType::new_list(DataType::Int64, true)] {
            assert!(is_inferred(kind.clone()), "{kind}");
        }
        for kind in [DataType::UInt8, DataType::LargeUtf8, DataType::Date64, DataType::new_list(DataType::Int64, false)]
        {
            assert!(!is_inferred(kind.clone()), "{kind}");
        }
        let metadata = std::collections::HashMap::from([("ARROW:extension:name".to_owned(), "arrow.json".to_owned())]);
        let json = Arc::new(Field::new("item", DataType::Utf8, true).with_metadata(metadata));
        assert!(!are_inferred(std::slice::from_ref(&json)).unwrap());
        assert!(!is_inferred(DataType::List(json)));
    }
}
