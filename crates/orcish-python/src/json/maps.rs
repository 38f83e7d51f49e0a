//! Maps of objects, of arrays of `[key, value]`, and of arrays of objects with `key` and `value`. arrow-json has the
//! first only, and keeps several values of a key.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, MapArray, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_json::reader::{ArrayDecoder, DecoderContext, Tape, TapeElement};
use arrow_ord::ord::make_comparator;
use arrow_schema::{ArrowError, DataType, FieldRef, Fields, SortOptions};

use super::error::wrong;
use super::tape::{Decoder, KEY, not_one, text_at};

pub(super) struct MapDecoder {
    entries: FieldRef,
    fields: Fields,
    is_sorted: bool,
    keys: Decoder,
    values: Decoder,
}

impl MapDecoder {
    pub(super) fn new(ctx: &DecoderContext, entries: &FieldRef, is_sorted: bool) -> Result<Self, ArrowError> {
        let DataType::Struct(fields) = entries.data_type() else { return Err(wrong("a map has no entries")) };
        let [key, value] = &fields[..] else { return Err(wrong("a map has no key and value")) };
        let key = key.as_ref().clone().with_metadata([(KEY.to_owned(), String::new())]);
        let (keys, values) = (ctx.make_decoder(&Arc::new(key), true)?, ctx.make_decoder(value, true)?);
        Ok(MapDecoder { entries: entries.clone(), fields: fields.clone(), is_sorted, keys, values })
    }
}

impl ArrayDecoder for MapDecoder {
    fn decode(&mut self, tape: &Tape<'_>, pos: &[u32]) -> Result<ArrayRef, ArrowError> {
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        let (mut sizes, mut valid) = (Vec::with_capacity(pos.len()), Vec::with_capacity(pos.len()));
        for &pos in pos {
            let before = keys.len();
            match tape.get(pos) {
                TapeElement::Null => {}
                TapeElement::StartObject(end) => {
                    let mut at = pos + 1;
                    while at < end {
                        keys.push(at);
                        values.push(at + 1);
                        at = tape.next(at + 1, "a value")?;
                    }
                }
                TapeElement::StartList(end) => {
                    let mut at = pos + 1;
                    while at < end {
                        let (key, value) = entry(tape, at)?;
                        keys.push(key);
                        values.push(value);
                        at = tape.next(at, "an entry")?;
                    }
                }
                _ => return Err(not_one(tape, pos, "a map")),
            }
            sizes.push(keys.len() - before);
            valid.push(tape.get(pos) != TapeElement::Null);
        }
        let (keys, values) = (self.keys.decode(tape, &keys)?, self.values.decode(tape, &values)?);
        if keys.null_count() > 0 {
            return Err(wrong("a map has a null key"));
        }
        check_keys(&keys, &sizes)?;
        let entries = StructArray::try_new(self.fields.clone(), vec![keys, values], None)?;
        let nulls = Some(NullBuffer::from(valid)).filter(|nulls| nulls.null_count() > 0);
        let offsets = OffsetBuffer::from_lengths(sizes);
        Ok(Arc::new(MapArray::try_new(self.entries.clone(), offsets, entries, nulls, self.is_sorted)?))
    }
}

/// The places of the key and the value of an entry that is `[key, value]`, or an object of both.
fn entry(tape: &Tape<'_>, pos: u32) -> Result<(u32, u32), ArrowError> {
    let wrong_entry = || wrong("an entry of a map is [key, value]");
    match tape.get(pos) {
        TapeElement::StartList(end) if end > pos + 1 => {
            let value = tape.next(pos + 1, "a key")?;
            if value < end && tape.next(value, "a value")? == end { Ok((pos + 1, value)) } else { Err(wrong_entry()) }
        }
        TapeElement::StartObject(_) => {
            let [key, value] = members(tape, pos, ["key", "value"])?.ok_or_else(wrong_entry)?;
            Ok((key, value))
        }
        _ => Err(wrong_entry()),
    }
}

/// The places of the values of an object that has these names, and no others.
pub(super) fn members(tape: &Tape<'_>, pos: u32, names: [&str; 2]) -> Result<Option<[u32; 2]>, ArrowError> {
    let TapeElement::StartObject(end) = tape.get(pos) else { return Ok(None) };
    let mut found = [0; 2];
    let mut at = pos + 1;
    while at < end {
        let text = text_at(tape, at)?;
        let place = names.iter().position(|name| *name == text);
        match place.and_then(|place| found.get_mut(place)) {
            Some(place) if *place == 0 => *place = at + 1,
            _ => return Ok(None),
        }
        at = tape.next(at + 1, "a value")?;
    }
    Ok(Some(found).filter(|found| !found.contains(&0)))
}

/// Checks that each map has a key once.
fn check_keys(keys: &ArrayRef, sizes: &[usize]) -> Result<(), ArrowError> {
    if sizes.iter().all(|size| *size < 2) {
        return Ok(());
    }
    let compare = make_comparator(keys, keys, SortOptions::default())?;
    let mut begin = 0;
    for size in sizes {
        let mut places: Vec<usize> = (begin..begin + size).collect();
        places.sort_unstable_by(|a, b| compare(*a, *b));
        if places.is_sorted_by(|a, b| compare(*a, *b) == Ordering::Less) {
            begin += size;
        } else {
            return Err(wrong("a map has two values of one key"));
        }
    }
    Ok(())
}
