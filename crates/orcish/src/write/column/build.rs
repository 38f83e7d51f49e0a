//! Makes the writers of columns.

use orcish_core::error::{Error, OrInternal as _, Result};

use super::binary::BinaryEncoder;
use super::boolean::BooleanEncoder;
use super::float::FloatEncoder;
use super::integer::{ByteEncoder, IntegerEncoder};
use super::list::ListEncoder;
use super::string::{StringEncoder, StringType};
use super::structs::StructEncoder;
use super::timestamp::TimestampEncoder;
use super::union::UnionEncoder;
use super::{
    BloomBuilder, BloomFilters, BooleanStream, ColumnStatistics, ColumnWriter, StreamOptions, ValueEncoder, Variant,
    decimal,
};
use crate::schema::{Kind, Schema};
use crate::time::WriterZone;
use crate::write::plan::WritePlan;

/// The writers of the children of column `id`. `nullable` has an item for each column id.
///
/// # Errors
/// The errors of [`column_writer`].
pub(in crate::write) fn child_writers(
    plan: &WritePlan,
    schema: &Schema,
    nullable: &[bool],
    id: u32,
) -> Result<Vec<ColumnWriter>> {
    schema.get(id)?.children.iter().map(|&child| column_writer(plan, schema, nullable, child)).collect()
}

/// The writer of column `id` with its children. An encrypted column has a writer of its values beside that of its masks.
///
/// # Errors
/// `Unsupported` for a column of an unknown type.
pub(in crate::write) fn column_writer(
    plan: &WritePlan,
    schema: &Schema,
    nullable: &[bool],
    id: u32,
) -> Result<ColumnWriter> {
    let Some((number, mask)) = plan.encryption.as_ref().and_then(|encryption| encryption.variant(id)) else {
        return plain_writer(plan, schema, nullable, id);
    };
    // Any mask may be null.
    let mut writer = plain_writer(plan, schema, &vec![true; nullable.len()], id)?;
    writer.visit(&mut |column| column.bloom_filters = None);
    let values = plain_writer(plan, schema, nullable, id)?;
    writer.variant = Some(Box::new(Variant { number, mask, values }));
    Ok(writer)
}

fn plain_writer(plan: &WritePlan, schema: &Schema, nullable: &[bool], id: u32) -> Result<ColumnWriter> {
    let orc_type = schema.get(id)?;
    let column = plan.column(id)?;
    let options = StreamOptions { framing: plan.framing, compression: column.compression, version: plan.version };
    let string = |string_type| Box::new(StringEncoder::new(id, string_type, column.dictionary, options));
    // A `char` or `varchar` without a length holds empty texts only.
    let length = orc_type.max_length.unwrap_or(0);
    let values: Box<dyn ValueEncoder> = match orc_type.kind {
        Kind::Boolean => Box::new(BooleanEncoder::new(options)),
        Kind::Byte => Box::new(ByteEncoder::new(options)),
        Kind::Short | Kind::Int | Kind::Long => Box::new(IntegerEncoder::new(id, false, options)),
        Kind::Date => Box::new(IntegerEncoder::new(id, true, options)),
        Kind::Float => Box::new(FloatEncoder::new(4, options)),
        Kind::Double => Box::new(FloatEncoder::new(8, options)),
        Kind::String => string(StringType::String),
        Kind::Varchar => string(StringType::Varchar(length)),
        Kind::Char => string(StringType::Char(length)),
        Kind::Binary => Box::new(BinaryEncoder::new(true, options)),
        Kind::Geometry | Kind::Geography => Box::new(BinaryEncoder::new(false, options)),
        Kind::Timestamp => Box::new(TimestampEncoder::new(id, plan.zone.clone(), plan.is_strict, options)),
        Kind::TimestampInstant => Box::new(TimestampEncoder::new(id, WriterZone::utc(), plan.is_strict, options)),
        Kind::Decimal => {
            let (precision, scale) = orc_type.decimal();
            let digits = |number: u32| u8::try_from(number).unwrap_or(38);
            decimal::encoder(id, digits(precision), digits(scale), options)
        }
        Kind::List | Kind::Map => Box::new(ListEncoder::new(child_writers(plan, schema, nullable, id)?, options)),
        Kind::Struct => Box::new(StructEncoder::new(child_writers(plan, schema, nullable, id)?)),
        Kind::Union => Box::new(UnionEncoder::new(child_writers(plan, schema, nullable, id)?, options)),
        Kind::Unknown => {
            return Err(schema.fault(id).unwrap_or_else(|| Error::unsupported("a column of unknown type")));
        }
    };
    let bloom_filter =
        column.has_bloom_filter.then(|| BloomBuilder::new(plan.row_index_stride.into(), plan.bloom_filter_fpp));
    Ok(ColumnWriter {
        id,
        kind: orc_type.kind,
        options,
        has_index: plan.has_index,
        is_nullable: nullable.get(id as usize).copied().or_internal("a column is neither nullable nor not")?,
        records_parent_nulls: plan.records_parent_nulls,
        values,
        present: BooleanStream::new(),
        has_null: false,
        bloom_filters: bloom_filter.map(BloomFilters::new),
        num_values: 0,
        num_nulls: 0,
        row_groups: Vec::new(),
        stripe: ColumnStatistics::EMPTY,
        variant: None,
    })
}
