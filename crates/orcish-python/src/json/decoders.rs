//! Decoders of the types of which arrow-json would change values, or has none.

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use arrow_array::builder::{PrimitiveBuilder, StringBuilder};
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, StringArray, StructArray};
use arrow_buffer::NullBuffer;
use arrow_json::reader::{ArrayDecoder, DecoderContext, DecoderFactory, Tape, TapeElement};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema};
use pyo3::prelude::*;

use super::error::{in_column, of_python, wrong};
use super::maps::MapDecoder;
use super::numbers::{Exact, is_number};
use super::tape::{Decoder, KEY, not_one, text_at, value_at};
use super::unions::UnionDecoder;
use crate::capsule::{self, Pair};
use crate::interpreter::attached;

/// The texts of floating point numbers of which JSON has no number.
pub(super) const NOT_FINITE: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

type Decoded<T> = std::result::Result<T, ArrowError>;

/// Makes the decoders. `cast` is a function of Python: it takes the capsules of an array of texts and of a schema of one
/// field, and gives those of the values of the type of the field.
pub(super) struct Factory {
    cast: Arc<Py<PyAny>>,
}

impl Factory {
    pub(super) fn new(cast: Py<PyAny>) -> Self {
        Factory { cast: Arc::new(cast) }
    }
}

impl fmt::Debug for Factory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Factory")
    }
}

impl DecoderFactory for Factory {
    fn make_default_decoder(
        &self,
        ctx: &DecoderContext,
        field: &FieldRef,
        is_nullable: bool,
    ) -> Decoded<Option<Decoder>> {
        if let DataType::Struct(fields) = field.data_type()
            && field.name().is_empty()
            && !is_nullable
        {
            return Ok(Some(Box::new(Object::new(ctx, fields, true)?)));
        }
        let inner = self.decoder(ctx, field, is_nullable)?;
        Ok(Some(Box::new(Column { inner, name: field.name().clone() })))
    }
}

impl Factory {
    fn decoder(&self, ctx: &DecoderContext, field: &FieldRef, is_nullable: bool) -> Decoded<Decoder> {
        use DataType as T;
        let is_key = field.metadata().contains_key(KEY);
        Ok(match field.data_type() {
            T::Struct(fields) => Box::new(Object::new(ctx, fields, false)?),
            T::Map(entries, is_sorted) => Box::new(MapDecoder::new(ctx, entries, *is_sorted)?),
            T::Union(fields, mode) => Box::new(UnionDecoder::new(ctx, fields, *mode)?),
            T::Int8 => Box::new(Numbers::<Int8Type>::new(is_key)),
            T::Int16 => Box::new(Numbers::<Int16Type>::new(is_key)),
            T::Int32 => Box::new(Numbers::<Int32Type>::new(is_key)),
            T::Int64 => Box::new(Numbers::<Int64Type>::new(is_key)),
            T::UInt8 => Box::new(Numbers::<UInt8Type>::new(is_key)),
            T::UInt16 => Box::new(Numbers::<UInt16Type>::new(is_key)),
            T::UInt32 => Box::new(Numbers::<UInt32Type>::new(is_key)),
            T::UInt64 => Box::new(Numbers::<UInt64Type>::new(is_key)),
            T::Float32 => Box::new(Numbers::<Float32Type>::new(is_key)),
            T::Float64 => Box::new(Numbers::<Float64Type>::new(is_key)),
            T::Dictionary(_, values) => {
                let texts = Arc::new(Field::new(field.name(), values.as_ref().clone(), true));
                let inner = self.decoder(ctx, &texts, true)?;
                Box::new(Cast { inner, field: field.clone(), from: texts, cast: self.cast.clone() })
            }
            T::Null
            | T::Boolean
            | T::Utf8
            | T::LargeUtf8
            | T::Utf8View
            | T::List(_)
            | T::LargeList(_)
            | T::ListView(_)
            | T::LargeListView(_)
            | T::FixedSizeList(..) => ctx.make_builtin_decoder(field, is_nullable)?,
            kind => {
                let takes_numbers = kind.is_decimal() || matches!(kind, T::Duration(_) | T::Float16);
                let inner = Box::new(Texts { kind: kind.clone(), takes_numbers });
                let from = Arc::new(Field::new(field.name(), T::Utf8, true));
                Box::new(Cast { inner, field: field.clone(), from, cast: self.cast.clone() })
            }
        })
    }
}

/// A column, whose errors have its name.
struct Column {
    inner: Decoder,
    name: String,
}

impl ArrayDecoder for Column {
    fn decode(&mut self, tape: &Tape<'_>, pos: &[u32]) -> Decoded<ArrayRef> {
        self.inner.decode(tape, pos).map_err(|error| in_column(error, &self.name))
    }
}

/// The name of a type in errors.
fn shown(kind: &DataType) -> String {
    match kind {
        DataType::Float32 => "float".to_owned(),
        DataType::Float64 => "double".to_owned(),
        other => other.to_string().to_lowercase(),
    }
}

/// Objects. arrow-json takes the last one of several values of one name.
struct Object {
    fields: Fields,
    decoders: Vec<Decoder>,
    places: HashMap<String, usize>,
    is_root: bool,
}

impl Object {
    fn new(ctx: &DecoderContext, fields: &Fields, is_root: bool) -> Decoded<Self> {
        let decoders = fields.iter().map(|field| ctx.make_decoder(field, true)).collect::<Decoded<_>>()?;
        let places = fields.iter().enumerate().map(|(at, field)| (field.name().clone(), at)).collect();
        Ok(Object { fields: fields.clone(), decoders, places, is_root })
    }

    /// The place of a field; `next` is likely.
    fn place(&self, name: &str, next: usize) -> Decoded<usize> {
        if self.fields.get(next).is_some_and(|field| field.name() == name) {
            return Ok(next);
        }
        let found = self.places.get(name).copied();
        found.ok_or_else(|| {
            let shown: String = name.chars().take(40).collect();
            let which = if self.is_root { "columns are those of the first rows" } else { "type has none" };
            wrong(format!("unexpected field '{shown}': the {which}"))
        })
    }
}

impl ArrayDecoder for Object {
    fn decode(&mut self, tape: &Tape<'_>, pos: &[u32]) -> Decoded<ArrayRef> {
        // The element at 0 is a null.
        let mut places = vec![vec![0; pos.len()]; self.fields.len()];
        let mut valid = Vec::with_capacity(pos.len());
        for (row, &pos) in pos.iter().enumerate() {
            let end = match tape.get(pos) {
                TapeElement::StartObject(end) => end,
                TapeElement::Null if !self.is_root => pos,
                _ if self.is_root => {
                    return Err(wrong(format!("a row is an object, and not {}", value_at(tape, pos)?)));
                }
                _ => return Err(not_one(tape, pos, "an object")),
            };
            valid.push(end != pos);
            let (mut at, mut next) = (pos + 1, 0);
            while at < end {
                let name = text_at(tape, at)?;
                let field = self.place(name, next)?;
                if let Some(place) = places.get_mut(field).and_then(|all| all.get_mut(row)) {
                    if *place != 0 {
                        let shown: String = name.chars().take(40).collect();
                        return Err(wrong(format!("an object has two values of the name '{shown}'")));
                    }
                    *place = at + 1;
                }
                next = field + 1;
                at = tape.next(at + 1, "a value")?;
            }
        }
        let children = self.decoders.iter_mut().zip(&places).map(|(decoder, pos)| decoder.decode(tape, pos));
        let children = children.collect::<Decoded<Vec<_>>>()?;
        let nulls = Some(NullBuffer::from(valid)).filter(|nulls| nulls.null_count() > 0);
        Ok(Arc::new(StructArray::try_new_with_length(self.fields.clone(), children, nulls, pos.len())?))
    }
}

/// Numbers, which arrow-json rounds. Keys of objects are strings, also those that are numbers.
struct Numbers<T> {
    is_key: bool,
    kind: PhantomData<fn() -> T>,
}

impl<T> Numbers<T> {
    fn new(is_key: bool) -> Self {
        Numbers { is_key, kind: PhantomData }
    }
}

impl<T: ArrowPrimitiveType> ArrayDecoder for Numbers<T>
where
    T::Native: Exact,
{
    fn decode(&mut self, tape: &Tape<'_>, pos: &[u32]) -> Decoded<ArrayRef> {
        let mut made = PrimitiveBuilder::<T>::with_capacity(pos.len());
        for &pos in pos {
            let text = match tape.get(pos) {
                TapeElement::Null => {
                    made.append_null();
                    continue;
                }
                TapeElement::Number(at) => tape.get_string(at),
                TapeElement::String(at) if T::DATA_TYPE.is_floating() && NOT_FINITE.contains(&tape.get_string(at)) => {
                    let value = tape.get_string(at).parse().ok();
                    made.append_option(value);
                    continue;
                }
                TapeElement::String(at) if self.is_key => tape.get_string(at),
                _ => return Err(not_one(tape, pos, &shown(&T::DATA_TYPE))),
            };
            let value = Some(text).filter(|text| is_number(text)).and_then(T::Native::exact);
            made.append_value(value.ok_or_else(|| {
                let kind = shown(&T::DATA_TYPE);
                let text: String = text.chars().take(60).collect();
                if T::DATA_TYPE.is_floating() && is_number(&text) {
                    wrong(format!("{text} has more digits than values of {kind}, or is out of their range"))
                } else {
                    wrong(format!("{text} is not one of {kind}"))
                }
            })?);
        }
        Ok(Arc::new(made.finish()))
    }
}

/// Texts that a cast makes values of, such as those of dates.
struct Texts {
    kind: DataType,
    takes_numbers: bool,
}

impl ArrayDecoder for Texts {
    fn decode(&mut self, tape: &Tape<'_>, pos: &[u32]) -> Decoded<ArrayRef> {
        let mut made = StringBuilder::with_capacity(pos.len(), 0);
        for &pos in pos {
            match tape.get(pos) {
                TapeElement::Null => made.append_null(),
                TapeElement::String(at) => made.append_value(tape.get_string(at)),
                TapeElement::Number(at) if self.takes_numbers && is_number(tape.get_string(at)) => {
                    made.append_value(tape.get_string(at));
                }
                _ => return Err(not_one(tape, pos, &shown(&self.kind))),
            }
        }
        let made: StringArray = made.finish();
        Ok(Arc::new(made))
    }
}

/// Values of another type, which the function of Python casts.
struct Cast {
    inner: Decoder,
    field: FieldRef,
    from: FieldRef,
    cast: Arc<Py<PyAny>>,
}

impl ArrayDecoder for Cast {
    fn decode(&mut self, tape: &Tape<'_>, pos: &[u32]) -> Decoded<ArrayRef> {
        let array = self.inner.decode(tape, pos)?;
        let cast = |py: Python<'_>| {
            let call = || -> PyResult<ArrayRef> {
                let pair = (capsule::field(py, &self.from)?, capsule::array(py, array.to_data())?);
                let field = Schema::new(vec![self.field.clone()]);
                let made: Pair<'_> = self.cast.bind(py).call1((pair, capsule::schema(py, &field)?))?.extract()?;
                capsule::read_array(&made)
            };
            call().map_err(|error| of_python(py, error))
        };
        attached(cast).unwrap_or_else(|| Err(ArrowError::ComputeError("the interpreter has ended".to_owned())))
    }
}
