//! The types of the values of JSON documents.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, NullArray};
use arrow_json::ReaderBuilder;
use arrow_json::reader::{ArrayDecoder, DecoderContext, DecoderFactory, Tape, TapeElement};
use arrow_schema::{ArrowError, DataType, Field, FieldRef};
use orcish_core::Result;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::blocks::Blocks;
use super::decoders::NOT_FINITE;
use super::error::{in_row, wrong};
use super::numbers::{is_digits, is_number};
use super::tape::text_at;
use crate::errors::to_python;

/// Digits of the decimals of ORC.
const MAX_DIGITS: usize = 38;
/// Documents that are parsed at a time.
const BATCH: usize = 1024;

/// The type of the values of JSON documents, nulls aside.
#[pyclass(frozen, module = "orcish._native")]
pub(crate) struct JsonTypes {
    seen: Arc<Mutex<Seen>>,
}

#[pymethods]
impl JsonTypes {
    /// With `dates`, text that has the form of a date in all values is a date; with `hexadecimal`, text of hexadecimal
    /// digits is binary.
    #[new]
    #[pyo3(signature = (*, dates=false, hexadecimal=false))]
    fn new(dates: bool, hexadecimal: bool) -> Self {
        let root = Type { options: Options { dates, hexadecimal }, ..Type::default() };
        JsonTypes { seen: Arc::new(Mutex::new(Seen { root, fine: Vec::new() })) }
    }

    /// Adds documents of a file, of which `read` is the method: those of the first `blocks`, at most `limit`.
    #[pyo3(signature = (read, *, block_size, blocks=None, limit=None))]
    fn add(
        &self,
        py: Python<'_>,
        read: Py<PyAny>,
        block_size: usize,
        blocks: Option<u64>,
        limit: Option<u64>,
    ) -> PyResult<u64> {
        let seen = self.seen.clone();
        let add = || add(&seen, &mut Blocks::new(read, block_size), blocks, limit.unwrap_or(u64::MAX));
        py.detach(add).map_err(|error| to_python(py, &error))
    }

    /// The type: its name, and the name and the type of each field, variant or element. `null` is that of values that are
    /// all null.
    fn column(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).root.column(py)
    }

    /// The columns that have text of a time with digits beyond microseconds.
    fn fine(&self) -> Vec<String> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).fine.clone()
    }
}

/// Adds documents, and gives their number.
fn add(seen: &Arc<Mutex<Seen>>, blocks: &mut Blocks, most: Option<u64>, limit: u64) -> Result<u64> {
    let mut count = 0;
    let mut left = most.unwrap_or(u64::MAX);
    while left > 0 && count < limit {
        left -= 1;
        let Some(block) = blocks.next()? else { break };
        let mut at = 0;
        while at < block.len() && count < limit {
            let rows = usize::try_from(limit - count).unwrap_or(BATCH).min(BATCH);
            let text = block.get(at..).unwrap_or_default();
            let (used, rows) = add_documents(seen, text, rows).or_else(|_| one_by_one(seen, text, count))?;
            at += used;
            count += rows;
        }
    }
    Ok(count)
}

/// Adds documents of a text, and gives the bytes and the number of them.
fn add_documents(seen: &Arc<Mutex<Seen>>, text: &[u8], rows: usize) -> std::result::Result<(usize, u64), ArrowError> {
    let builder = ReaderBuilder::new_with_field(Field::new("", DataType::Null, true));
    let mut decoder = builder.with_batch_size(rows).with_decoder_factory(seen_factory(seen)).build_decoder()?;
    let used = decoder.decode(text)?;
    let rows = decoder.flush()?.map_or(0, |batch| batch.num_rows());
    Ok((used, rows as u64))
}

/// As [`add_documents`], with an error that names the document.
fn one_by_one(seen: &Arc<Mutex<Seen>>, text: &[u8], before: u64) -> Result<(usize, u64)> {
    let (mut at, mut count) = (0, 0);
    while at < text.len() {
        let found = add_documents(seen, text.get(at..).unwrap_or_default(), 1);
        let (used, rows) = found.map_err(|error| in_row(error, before + count + 1, ""))?;
        at += used;
        count += rows;
    }
    Ok((at, count))
}

/// What was seen of all documents.
#[derive(Default)]
struct Seen {
    root: Type,
    fine: Vec<String>,
}

fn seen_factory(seen: &Arc<Mutex<Seen>>) -> Arc<dyn DecoderFactory> {
    Arc::new(Factory(seen.clone()))
}

struct Factory(Arc<Mutex<Seen>>);

impl std::fmt::Debug for Factory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Factory")
    }
}

impl DecoderFactory for Factory {
    fn make_default_decoder(
        &self,
        _: &DecoderContext,
        _: &FieldRef,
        _: bool,
    ) -> std::result::Result<Option<Box<dyn ArrayDecoder>>, ArrowError> {
        Ok(Some(Box::new(Looks(self.0.clone()))))
    }
}

/// Looks at values, and decodes none.
struct Looks(Arc<Mutex<Seen>>);

impl ArrayDecoder for Looks {
    fn decode(&mut self, tape: &Tape<'_>, pos: &[u32]) -> std::result::Result<ArrayRef, ArrowError> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for &pos in pos {
            let Seen { root, fine } = &mut *seen;
            root.add(tape, pos)?;
            if let TapeElement::StartObject(end) = tape.get(pos) {
                let mut at = pos + 1;
                while at < end {
                    let next = tape.next(at + 1, "a value")?;
                    let name = text_at(tape, at)?;
                    let is_fine = (at + 1..next).any(
                        |at| matches!(tape.get(at), TapeElement::String(text) if has_fine_time(tape.get_string(text))),
                    );
                    if is_fine && !fine.iter().any(|own| own == name) {
                        fine.push(name.to_owned());
                    }
                    at = next;
                }
            }
        }
        Ok(Arc::new(NullArray::new(pos.len())))
    }
}

#[derive(Clone, Copy, Default)]
struct Options {
    dates: bool,
    hexadecimal: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Boolean,
    Number,
    Text,
    Struct,
    Array,
}

/// The type of values.
#[derive(Default)]
struct Type {
    options: Options,
    /// Kinds of values, in the order of their appearance.
    kinds: Vec<Kind>,
    least: i128,
    greatest: i128,
    digits: usize,
    scale: usize,
    is_double: bool,
    texts: Vec<&'static str>,
    /// Whether there is a text that is not the name of a number which is not finite.
    has_other_text: bool,
    names: Vec<String>,
    fields: Vec<Type>,
    element: Option<Box<Type>>,
}

impl Type {
    fn add(&mut self, tape: &Tape<'_>, pos: u32) -> std::result::Result<(), ArrowError> {
        match tape.get(pos) {
            TapeElement::True | TapeElement::False => self.see(Kind::Boolean),
            TapeElement::Number(at) => {
                self.see(Kind::Number);
                self.add_number(tape.get_string(at))?;
            }
            TapeElement::String(at) => {
                self.see(Kind::Text);
                self.has_other_text |= !NOT_FINITE.contains(&tape.get_string(at));
                if !self.texts.contains(&"string") {
                    let found = text_type(tape.get_string(at), self.options);
                    if !self.texts.contains(&found) {
                        self.texts.push(found);
                    }
                }
            }
            TapeElement::StartObject(end) => {
                self.see(Kind::Struct);
                let (mut at, mut next) = (pos + 1, 0);
                while at < end {
                    next = self.field(text_at(tape, at)?, next) + 1;
                    if let Some(field) = self.fields.get_mut(next - 1) {
                        field.add(tape, at + 1)?;
                    }
                    at = tape.next(at + 1, "a value")?;
                }
            }
            TapeElement::StartList(end) => {
                self.see(Kind::Array);
                let options = self.options;
                let element = self.element.get_or_insert_with(|| Box::new(Type { options, ..Type::default() }));
                let mut at = pos + 1;
                while at < end {
                    element.add(tape, at)?;
                    at = tape.next(at, "a value")?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn see(&mut self, kind: Kind) {
        if !self.kinds.contains(&kind) {
            self.kinds.push(kind);
        }
    }

    /// The place of a field; `next` is likely.
    fn field(&mut self, name: &str, next: usize) -> usize {
        if self.names.get(next).is_some_and(|own| own == name) {
            return next;
        }
        self.names.iter().position(|own| own == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.fields.push(Type { options: self.options, ..Type::default() });
            self.names.len() - 1
        })
    }

    fn add_number(&mut self, text: &str) -> std::result::Result<(), ArrowError> {
        if !is_number(text) {
            let shown: String = text.chars().take(40).collect();
            return Err(wrong(format!("JSON parse error: {shown} is no number")));
        }
        let plain = text.strip_prefix('-').unwrap_or(text);
        let (whole, fraction) = plain.split_once('.').unwrap_or((plain, ""));
        if !is_digits(whole) || !(fraction.is_empty() || is_digits(fraction)) {
            self.is_double = true;
            return Ok(());
        }
        self.digits = self.digits.max(whole.len());
        self.scale = self.scale.max(fraction.len());
        if fraction.is_empty()
            && let Ok(value) = text.parse()
        {
            self.least = self.least.min(value);
            self.greatest = self.greatest.max(value);
        }
        Ok(())
    }

    /// The name of the type, and the types in it with their names.
    fn column(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let kinds = match &self.kinds[..] {
            [] => return of(py, "null", Vec::new()),
            [kind] => return self.of_kind(py, *kind),
            // Numbers that are not finite are texts, as JSON has no other form of them.
            [Kind::Number, Kind::Text] | [Kind::Text, Kind::Number] if !self.has_other_text => {
                return of(py, "double", Vec::new());
            }
            kinds => kinds,
        };
        let variants = kinds.iter().enumerate();
        let variants = variants.map(|(at, kind)| Ok((at.to_string(), self.of_kind(py, *kind)?)));
        of(py, "uniontype", variants.collect::<PyResult<_>>()?)
    }

    fn of_kind(&self, py: Python<'_>, kind: Kind) -> PyResult<Py<PyAny>> {
        match kind {
            Kind::Boolean => of(py, "boolean", Vec::new()),
            Kind::Number => of(py, &self.number_type(), Vec::new()),
            Kind::Text => of(py, if let [only] = &self.texts[..] { only } else { "string" }, Vec::new()),
            Kind::Struct => {
                let fields = self.names.iter().zip(&self.fields);
                let fields = fields.map(|(name, field)| Ok((name.clone(), field.column(py)?)));
                of(py, "struct", fields.collect::<PyResult<_>>()?)
            }
            Kind::Array => {
                let element = match &self.element {
                    Some(element) => element.column(py)?,
                    None => of(py, "null", Vec::new())?,
                };
                of(py, "array", vec![("element".to_owned(), element)])
            }
        }
    }

    fn number_type(&self) -> String {
        let precision = self.digits + self.scale;
        if self.is_double || precision > MAX_DIGITS {
            return "double".to_owned();
        }
        if self.scale > 0 {
            return format!("decimal({precision},{})", self.scale);
        }
        for (name, bits) in [("tinyint", 8), ("smallint", 16), ("int", 32), ("bigint", 64)] {
            let most = 1_i128 << (bits - 1);
            if -most <= self.least && self.greatest < most {
                return name.to_owned();
            }
        }
        format!("decimal({precision},0)")
    }
}

/// A type as Python has it.
fn of(py: Python<'_>, name: &str, children: Vec<(String, Py<PyAny>)>) -> PyResult<Py<PyAny>> {
    Ok((name, PyList::new(py, children)?).into_pyobject(py)?.into_any().unbind())
}

/// The type of a text.
fn text_type(text: &str, options: Options) -> &'static str {
    if let Some((date, time)) = text.split_once(['T', ' '])
        && is_date(date)
        && let Some(zone) = zone_of(time)
        && is_zone(zone)
    {
        return if zone.is_empty() { "timestamp" } else { "timestamp with local time zone" };
    }
    if options.dates && is_date(text) {
        return "date";
    }
    let is_hexadecimal =
        || !text.is_empty() && text.len().is_multiple_of(2) && text.bytes().all(|each| each.is_ascii_hexdigit());
    if options.hexadecimal && is_hexadecimal() { "binary" } else { "string" }
}

/// Whether a text is a day that there is, as `2026-01-31`. The year 0 is a leap year.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts[..] else { return false };
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2)) else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// The text behind a time of day, as `12:30:00.5`; `None` if there is no such time.
fn zone_of(text: &str) -> Option<&str> {
    let (time, rest) = text.split_at_checked(8)?;
    let parts: Vec<&str> = time.split(':').collect();
    let [hour, minute, second] = parts[..] else { return None };
    let is_time = number(hour, 2)? < 24 && number(minute, 2)? < 60 && number(second, 2)? < 60;
    let zone = match rest.strip_prefix('.') {
        Some(rest) => {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            if !(1..=9).contains(&digits) {
                return None;
            }
            rest.get(digits..)?
        }
        None => rest,
    };
    is_time.then_some(zone)
}

/// Whether a text is a zone: nothing, `Z`, or an offset such as `+01`, `+0130` and `+01:30`.
fn is_zone(text: &str) -> bool {
    let Some(offset) = text.strip_prefix(['+', '-']) else { return text.is_empty() || text == "Z" };
    let Some((hour, minute)) = offset.split_at_checked(2) else { return false };
    let minute = minute.strip_prefix(':').unwrap_or(minute);
    let is_minute = offset.len() == 2 || number(minute, 2).is_some_and(|minute| minute < 60);
    number(hour, 2).is_some_and(|hour| hour < 24) && is_minute
}

/// A number of so many digits.
fn number(text: &str, digits: usize) -> Option<u32> {
    if text.len() == digits && is_digits(text) { text.parse().ok() } else { None }
}

/// Whether a text has seconds with digits beyond microseconds.
fn has_fine_time(text: &str) -> bool {
    let Some((before, fraction)) = text.rsplit_once(['.', ',']) else { return false };
    let digits = fraction.bytes().take_while(u8::is_ascii_digit);
    let is_second = before.len() > 2 && before.get(before.len() - 2..).is_some_and(is_digits);
    is_second
        && before.get(..before.len() - 2).is_some_and(|rest| rest.ends_with(':'))
        && digits.skip(6).any(|digit| digit != b'0')
}
