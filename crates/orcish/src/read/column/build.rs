//! Construction of column readers from types and streams of a stripe.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, DurationMicrosecondType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, IntervalYearMonthType,
};
use arrow_schema::{DataType, FieldRef, Fields, UnionMode};
use orcish_core::error::{Error, Result};
use orcish_core::type_names::TypeName;
use orcish_core::types::{entries_of, is_text, value_type};

use super::binary::{DirectReader, Target, WIDEST};
use super::decimal::{DecimalReader, Digits};
use super::dictionary::{Dictionary, DictionaryReader, StoredDictionary};
use super::list::{Lengths, ListReader, MapReader};
use super::primitive::{
    BooleanReader, Dates, Float, Floats, Integers, MaskedIntegers, PrimitiveReader, TinyInts, Values,
};
use super::streams::Streams;
use super::text::TextForm;
use super::timestamp::{Decoder, Stored, TimestampReader};
use super::union::{Form, UnionReader};
use super::validity::{Pending, Present};
use super::{Budget, Column, ColumnReader, StructReader};
use crate::encoding::decimal::{DecimalDecoder, DecimalType};
use crate::encoding::int_rle::Integer;
use crate::layout::Coding;
use crate::options::{NullMapKeys, OutOfRange, ReadOptions};
use crate::projection::Projected;
use crate::read::schema::{SparkType, decimal, spark_type};
use crate::schema::{Kind, Type};
use crate::stripe::{StreamKind, Stripe};
use crate::tail::{Calendar, FileTail};
use crate::time::{InstantDecoder, TimestampDecoder, WriterZone};

/// Context of the readers of a stripe.
pub(crate) struct Context<'a> {
    pub(crate) tail: &'a Arc<FileTail>,
    pub(crate) stripe: &'a Stripe,
    pub(crate) options: &'a ReadOptions,
    /// The zone of the reader, if one is given.
    pub(crate) reader_zone: Option<&'a WriterZone>,
    /// Bounds of timestamps that a filter compares with all digits, ascending, by the ids of columns.
    pub(crate) bounds: Option<&'a BTreeMap<u32, Arc<[i128]>>>,
}

/// The reader of `children` of the root struct, with their Arrow types.
pub(crate) fn build_root(context: &Context<'_>, children: &[(&Projected, &DataType)]) -> Result<StructReader> {
    let pending = Pending::new(&Streams::try_new(context.tail, context.stripe, 0)?);
    let children = children.iter().map(|(child, arrow)| build(context, child, arrow)).collect::<Result<_>>()?;
    Ok(StructReader { pending, children, fields: Fields::empty() })
}

/// The reader of `column`, with the Arrow type `arrow`.
pub(crate) fn build(context: &Context<'_>, column: &Projected, arrow: &DataType) -> Result<Column> {
    let reader =
        context.reader(column, arrow).map_err(|error| error.in_column(&context.tail.schema.path(column.id)))?;
    Ok(Column { id: column.id, tail: context.tail.clone(), reader })
}

impl Context<'_> {
    /// The readers of the children of `column`, with their fields.
    fn children<'f>(&self, column: &Projected, fields: impl IntoIterator<Item = &'f FieldRef>) -> Result<Vec<Column>> {
        let children = column.children.iter().zip(fields);
        children.map(|(child, field)| build(self, child, field.data_type())).collect()
    }

    /// Types are passed down: deriving the type of a subtree at each level would take time and memory proportional to depth
    /// times columns.
    fn reader(&self, column: &Projected, arrow: &DataType) -> Result<Box<dyn ColumnReader>> {
        let this = self.tail.schema.get(column.id)?;
        let hybrid = self.tail.calendar == Calendar::JulianGregorian;
        let streams = &Streams::try_new(self.tail, self.stripe, column.id)?;
        match this.kind {
            Kind::Boolean => {
                let bits = streams.booleans(StreamKind::Data)?;
                Ok(Box::new(BooleanReader { present: Present::new(streams), bits }))
            }
            Kind::Byte => Ok(primitive::<Int8Type>(streams, TinyInts(streams.byte_runs(StreamKind::Data)?))),
            Kind::Short => integer::<Int16Type>(streams),
            Kind::Int if spark_type(this).is_some() => integer::<IntervalYearMonthType>(streams),
            Kind::Int => integer::<Int32Type>(streams),
            Kind::Long => match spark_type(this) {
                None => integer::<Int64Type>(streams),
                Some(SparkType::TimestampNtz) => {
                    let stored_values = Stored::Micros(streams.integers(StreamKind::Data)?);
                    self.timestamp(streams, column, arrow, stored_values, false)
                }
                Some(_) => integer::<DurationMicrosecondType>(streams),
            },
            Kind::Float => float::<Float32Type>(streams),
            Kind::Double => float::<Float64Type>(streams),
            Kind::Date => {
                let dates = Dates { rle: streams.integers(StreamKind::Data)?, hybrid };
                Ok(primitive::<Date32Type>(streams, dates))
            }
            Kind::Timestamp | Kind::TimestampInstant => self.split_timestamp(streams, column, this, arrow),
            Kind::Decimal => self.decimal(streams, this),
            Kind::String | Kind::Char | Kind::Varchar | Kind::Binary | Kind::Geometry | Kind::Geography => {
                self.strings(streams, column, this, arrow)
            }
            Kind::Struct => {
                let DataType::Struct(fields) = arrow else { return Err(type_mismatch(this.kind, arrow)) };
                let pending = Pending::new(streams);
                Ok(Box::new(StructReader { pending, children: self.children(column, fields)?, fields: fields.clone() }))
            }
            Kind::List => self.list(streams, column, arrow),
            Kind::Map => self.map(streams, column, arrow),
            Kind::Union => self.union(streams, column, arrow),
            Kind::Unknown => Err(type_mismatch(this.kind, arrow)),
        }
    }

    fn decimal(&self, streams: &Streams<'_>, this: &Type) -> Result<Box<dyn ColumnReader>> {
        let (precision, scale) = decimal(this)?;
        let target = DecimalType { precision, scale };
        let keeps_going = self.options.decimal_out_of_range == OutOfRange::Null;
        let digits = if streams.has_decimal64() {
            Digits::Integers(streams.integers(StreamKind::Data)?)
        } else {
            let scales = streams.integers(StreamKind::Secondary)?;
            let data = streams.raw(StreamKind::Data, Coding::Varints)?;
            Digits::Varints { data, scales, decoder: DecimalDecoder::new(target).record_overflows(keeps_going) }
        };
        Ok(Box::new(DecimalReader { present: Present::new(streams), digits, target, keeps_going }))
    }

    /// The reader of strings or binaries, in either encoding.
    fn strings(
        &self,
        streams: &Streams<'_>,
        column: &Projected,
        this: &Type,
        arrow: &DataType,
    ) -> Result<Box<dyn ColumnReader>> {
        let form = TextForm::new(this, self.options, is_text(value_type(arrow)));
        let target = Target { arrow: arrow.clone(), form };
        let pending = Pending::new(streams);
        let encoding = self.stripe.encoding(column.id)?;
        let lengths = streams.integers(StreamKind::Length)?;
        Ok(if encoding.is_dictionary {
            Box::new(DictionaryReader {
                pending,
                references: streams.integers(StreamKind::Data)?,
                stored_dictionary: Some(StoredDictionary {
                    size: encoding.dictionary_size,
                    lengths,
                    data: streams.raw(StreamKind::DictionaryData, Coding::Raw)?,
                }),
                dictionary: Dictionary::default(),
                charge: self.stripe.memory().charge(),
                target,
            })
        } else {
            let data = streams.raw(StreamKind::Data, Coding::Raw)?;
            Box::new(DirectReader { pending, lengths, data, target, budget: WIDEST })
        })
    }

    fn lengths(&self, streams: &Streams<'_>) -> Result<Lengths> {
        let budget = Budget::new(&self.options.limits, 1, 1).of_one_value();
        Ok(Lengths { pending: Pending::new(streams), rle: streams.integers(StreamKind::Length)?, budget })
    }

    fn list(&self, streams: &Streams<'_>, column: &Projected, arrow: &DataType) -> Result<Box<dyn ColumnReader>> {
        let lengths = self.lengths(streams)?;
        let ([element], DataType::List(field)) = (&column.children[..], arrow) else {
            return Err(Error::corrupt("a list without its element"));
        };
        let element = build(self, element, field.data_type())?;
        Ok(Box::new(ListReader { lengths, element, field: field.clone() }))
    }

    fn map(&self, streams: &Streams<'_>, column: &Projected, arrow: &DataType) -> Result<Box<dyn ColumnReader>> {
        let lengths = self.lengths(streams)?;
        let children = (&column.children[..], arrow, entries_of(arrow));
        let ([key, value], DataType::Map(field, _), Some((key_field, value_field))) = children else {
            return Err(Error::corrupt("a map without its key and value"));
        };
        let null_keys = self.options.null_map_keys;
        let key_type = match (null_keys, key_field.data_type()) {
            (NullMapKeys::Dictionary, DataType::Dictionary(_, values)) => values,
            (_, arrow) => arrow,
        };
        let key = build(self, key, key_type)?;
        let value = build(self, value, value_field.data_type())?;
        let fields = vec![key_field.clone(), value_field.clone()].into();
        Ok(Box::new(MapReader { lengths, key, value, field: field.clone(), fields, null_keys }))
    }

    fn union(&self, streams: &Streams<'_>, column: &Projected, arrow: &DataType) -> Result<Box<dyn ColumnReader>> {
        let (form, variants) = match arrow {
            DataType::Union(fields, mode) => {
                let variants = self.children(column, fields.iter().map(|(_, field)| field))?;
                let form = match mode {
                    UnionMode::Dense => Form::Dense(fields.clone()),
                    UnionMode::Sparse => Form::Sparse(fields.clone()),
                };
                (form, variants)
            }
            // The first field is the tag.
            DataType::Struct(fields) => (Form::Struct(fields.clone()), self.children(column, fields.iter().skip(1))?),
            _ => return Err(type_mismatch(Kind::Union, arrow)),
        };
        let (pending, tags) = (Pending::new(streams), streams.byte_runs(StreamKind::Data)?);
        Ok(Box::new(UnionReader { pending, tags, variants, form }))
    }

    /// The reader of timestamps that are stored as seconds and nanoseconds.
    fn split_timestamp(
        &self,
        streams: &Streams<'_>,
        column: &Projected,
        this: &Type,
        arrow: &DataType,
    ) -> Result<Box<dyn ColumnReader>> {
        let hybrid = self.tail.calendar == Calendar::JulianGregorian;
        let is_instant = matches!(arrow, DataType::Timestamp(_, Some(_)));
        // An unknown zone is an error only if there is a value.
        let decoder = match this.kind {
            Kind::Timestamp if is_instant => self.instants().map(|(zone, instants)| Decoder {
                timestamps: TimestampDecoder::stored_instant(&zone),
                instants: Some(instants),
            }),
            Kind::Timestamp => WriterZone::parse(&self.stripe.writer_timezone)
                .map(|zone| Decoder { timestamps: TimestampDecoder::wall_clock(zone), instants: None }),
            _ => Ok(Decoder { timestamps: TimestampDecoder::instant(), instants: None }),
        };
        let (seconds, nanos) = (streams.integers(StreamKind::Data)?, streams.integers(StreamKind::Secondary)?);
        // Instants are rebased together with the conversion from local times.
        let hybrid = hybrid && (this.kind != Kind::Timestamp || !is_instant);
        self.timestamp(streams, column, arrow, Stored::Split { seconds, nanos, decoder: Box::new(decoder) }, hybrid)
    }

    /// The zone of the stored seconds, and the conversion to instants.
    fn instants(&self) -> Result<(WriterZone, InstantDecoder)> {
        let hybrid = self.tail.calendar == Calendar::JulianGregorian;
        let written = &self.stripe.writer_timezone;
        let Some(reader) = self.reader_zone.cloned() else {
            let writer = WriterZone::parse(written)?;
            return Ok((writer.clone(), InstantDecoder::new(writer, hybrid)));
        };
        if written.is_empty() {
            // Java assumes that the writer had the zone of the reader.
            return Ok((reader.clone(), InstantDecoder::new(reader, hybrid)));
        }
        let writer = WriterZone::parse(written)?;
        Ok((writer.clone(), InstantDecoder::new(writer, hybrid).with_reader_zone(reader)))
    }

    fn timestamp(
        &self,
        streams: &Streams<'_>,
        column: &Projected,
        arrow: &DataType,
        stored_values: Stored,
        hybrid: bool,
    ) -> Result<Box<dyn ColumnReader>> {
        let &DataType::Timestamp(unit, ref timezone) = arrow else {
            return Err(Error::invalid("a timestamp column without a timestamp type"));
        };
        let out_of_range = self.options.timestamp_out_of_range;
        let present = Present::new(streams);
        Ok(Box::new(TimestampReader {
            present,
            stored_values,
            unit,
            timezone: timezone.clone(),
            hybrid,
            out_of_range,
            keeps_digits: self.options.keeps_digits(),
            bounds: self.bounds.and_then(|bounds| bounds.get(&column.id)).cloned(),
            row: 0,
        }))
    }
}

fn primitive<A: ArrowPrimitiveType>(
    streams: &Streams<'_>,
    values: impl Values<Native = A::Native> + 'static,
) -> Box<dyn ColumnReader> {
    Box::new(PrimitiveReader::<A, _>::new(Present::new(streams), values))
}

fn integer<A: ArrowPrimitiveType<Native: Integer + Send>>(streams: &Streams<'_>) -> Result<Box<dyn ColumnReader>> {
    let rle = streams.integers(StreamKind::Data)?;
    Ok(if streams.is_masked() {
        primitive::<A>(streams, MaskedIntegers { rle, wide: Vec::new(), native: PhantomData })
    } else {
        primitive::<A>(streams, Integers { rle, native: PhantomData })
    })
}

fn float<A: ArrowPrimitiveType<Native: Float>>(streams: &Streams<'_>) -> Result<Box<dyn ColumnReader>> {
    let stream = streams.raw(StreamKind::Data, Coding::Fixed(A::Native::WIDTH))?;
    Ok(primitive::<A>(streams, Floats { stream, native: PhantomData }))
}

fn type_mismatch(kind: Kind, arrow: &DataType) -> Error {
    Error::invalid(format!("a {} column cannot become {}", kind.name(), TypeName(arrow)))
}
