//! Unions of objects with `tag`, the position of the variant, and `value`. A value without a tag is that of the first
//! variant that has it. Unions have no nulls: a null is one of the first variant.

use std::sync::Arc;

use arrow_array::{ArrayRef, UnionArray};
use arrow_buffer::ScalarBuffer;
use arrow_json::reader::{ArrayDecoder, DecoderContext, Tape, TapeElement};
use arrow_schema::{ArrowError, UnionFields, UnionMode};

use super::error::{is_of_value, wrong};
use super::maps::members;
use super::tape::{Decoder, not_one};

pub(super) struct UnionDecoder {
    fields: UnionFields,
    mode: UnionMode,
    codes: Vec<i8>,
    variants: Vec<Decoder>,
}

impl UnionDecoder {
    pub(super) fn new(ctx: &DecoderContext, fields: &UnionFields, mode: UnionMode) -> Result<Self, ArrowError> {
        let variants = fields.iter().map(|(_, field)| ctx.make_decoder(field, true)).collect::<Result<_, _>>()?;
        let codes = fields.iter().map(|(code, _)| code).collect();
        Ok(UnionDecoder { fields: fields.clone(), mode, codes, variants })
    }

    /// The variant of a value, and the place of the value.
    fn variant(&mut self, tape: &Tape<'_>, pos: u32) -> Result<(usize, u32), ArrowError> {
        if tape.get(pos) == TapeElement::Null {
            return Ok((0, pos));
        }
        if let Some([tag, value]) = members(tape, pos, ["tag", "value"])?
            && let TapeElement::Number(text) = tape.get(tag)
        {
            let text = tape.get_string(text);
            let found = text.parse().ok().filter(|tag| *tag < self.variants.len());
            let last = self.variants.len().saturating_sub(1);
            let shown: String = text.chars().take(40).collect();
            return Ok((found.ok_or_else(|| wrong(format!("the tag {shown} is none of 0 to {last}")))?, value));
        }
        for (tag, variant) in self.variants.iter_mut().enumerate() {
            match variant.decode(tape, &[pos]) {
                Ok(_) => return Ok((tag, pos)),
                Err(error) if is_of_value(&error) => {}
                Err(error) => return Err(error),
            }
        }
        let kinds: Vec<String> = self.fields.iter().map(|(_, field)| field.data_type().to_string()).collect();
        Err(not_one(tape, pos, &format!("the variants {}", kinds.join(", ").to_lowercase())))
    }
}

impl ArrayDecoder for UnionDecoder {
    fn decode(&mut self, tape: &Tape<'_>, pos: &[u32]) -> Result<ArrayRef, ArrowError> {
        let tagged = pos.iter().map(|pos| self.variant(tape, *pos)).collect::<Result<Vec<_>, _>>()?;
        let is_dense = self.mode == UnionMode::Dense;
        // The element at 0 is a null, which the variants have in rows of others.
        let mut places = vec![Vec::new(); self.variants.len()];
        let (mut codes, mut offsets) = (Vec::new(), Vec::new());
        for (tag, pos) in tagged {
            codes.push(*self.codes.get(tag).ok_or_else(|| wrong("a union without variants has no values"))?);
            for (at, own) in places.iter_mut().enumerate() {
                if at == tag {
                    offsets.push(i32::try_from(own.len()).map_err(|_| wrong("a union has too many values"))?);
                    own.push(pos);
                } else if !is_dense {
                    own.push(0);
                }
            }
        }
        let variants = self.variants.iter_mut().zip(&places).map(|(variant, pos)| variant.decode(tape, pos));
        let variants = variants.collect::<Result<Vec<_>, _>>()?;
        let offsets = is_dense.then(|| ScalarBuffer::from(offsets));
        Ok(Arc::new(UnionArray::try_new(self.fields.clone(), ScalarBuffer::from(codes), offsets, variants)?))
    }
}
