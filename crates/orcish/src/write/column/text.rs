//! Text (ORCv1, String, Char and VarChar Columns): as it is, or as references to a dictionary.
//!
//! A stripe begins with a dictionary, unless it is not to have one. After the first row groups it is looked whether
//! strings repeat; where they hardly do, what is there is written as it is, and so is what follows.

use std::ops::Range;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayAccessor, ArrayRef, GenericStringArray, OffsetSizeTrait};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use orcish_core::error::{Error, Result};

use super::bytes::{Bounds, DirectBytes};
use super::dictionary::Dictionary;
use super::{Compressors, Detail, Ended, Outcome, Starts, StreamKind, Tools, Values, utf8, valid_ranges};
use crate::bloom::BloomBuilder;
use crate::tuning;
use crate::write::fault::Fault;
use crate::write::options::DictionaryChoice;
use crate::write::streams::{IntStream, Layout};

/// Most blanks that are put behind a value, as its type is a number of the file or the caller: Hive's `char` has 255
/// characters, Trino's 65,536.
const MAX_PADDING: usize = 1 << 16;
/// Most blanks that are put behind the values that are handed over at a time: rows of a row group at most.
const MAX_PADDING_AT_ONCE: usize = 1 << 30;
/// The number of a string that is in no dictionary yet.
const UNSEEN: u32 = u32::MAX;

/// How many characters a value may have, and whether it is filled up with blanks.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// Any text.
    String,
    /// Characters, at most.
    Varchar(u32),
    /// Characters, exactly: blanks are put behind what has fewer.
    Char(u32),
}

pub(super) struct TextValues {
    column: u32,
    layout: Layout,
    shape: Shape,
    choice: DictionaryChoice,
    direct: DirectBytes,
    dictionary: Dictionary,
    /// Whether the stripe has, so far, a dictionary.
    is_dictionary: bool,
    /// Values after which it is looked again whether a dictionary pays.
    next_look: usize,
    /// The number of each value, where there is a dictionary.
    numbers: Vec<u32>,
    /// How many values there were when each row group began.
    group_starts: Vec<usize>,
    /// For each string of the dictionary the last row group that it was in, from 1.
    last_group: Vec<u32>,
    bounds: Bounds,
    padded: Vec<u8>,
    /// Blanks that may still be put behind values of the array that is taken.
    padding_left: usize,
    /// Rows of the last stripe, as what this one may have.
    expected: usize,
}

impl TextValues {
    pub(super) fn new(column: u32, shape: Shape, choice: DictionaryChoice, layout: Layout) -> Self {
        TextValues {
            column,
            layout,
            shape,
            choice,
            direct: DirectBytes::new(layout),
            dictionary: Dictionary::default(),
            is_dictionary: choice != DictionaryChoice::Never,
            next_look: tuning::DICTIONARY_FIRST_LOOK.get(),
            numbers: Vec::new(),
            group_starts: Vec::new(),
            last_group: Vec::new(),
            bounds: Bounds::default(),
            padded: Vec::new(),
            padding_left: 0,
            expected: tuning::DICTIONARY_EXPECTED.get(),
        }
    }

    fn group(&self) -> u32 {
        u32::try_from(self.group_starts.len()).unwrap_or(u32::MAX)
    }

    /// Takes a value as stored, of which statistics and filters are kept.
    #[inline]
    fn take(&mut self, value: &[u8], bloom: Option<&mut BloomBuilder>) {
        self.bounds.count(value.len());
        if self.is_dictionary {
            let number = self.number(value, bloom);
            self.numbers.push(number);
        } else {
            self.bounds.add_bounds(value);
            if let Some(bloom) = bloom {
                bloom.add_bytes(value);
            }
            self.direct.push(value);
        }
    }

    /// The number of a string, which is counted among those of the row group.
    #[inline]
    fn number(&mut self, value: &[u8], bloom: Option<&mut BloomBuilder>) -> u32 {
        let number = self.dictionary.insert(value);
        let group = self.group();
        match self.last_group.get(number as usize) {
            Some(&last) if last == group => number,
            _ => self.first_of_group(number, group, value, bloom),
        }
    }

    /// Takes a string that the row group has not had so far.
    fn first_of_group(&mut self, number: u32, group: u32, value: &[u8], bloom: Option<&mut BloomBuilder>) -> u32 {
        match self.last_group.get_mut(number as usize) {
            Some(last) => *last = group,
            None => self.last_group.push(group),
        }
        self.bounds.add_bounds(value);
        if let Some(bloom) = bloom {
            bloom.add_bytes(value);
        }
        number
    }

    /// Takes the valid strings of an array.
    fn gather<'a, A: ArrayAccessor<Item = &'a str>>(
        &mut self,
        array: A,
        valid: Option<&NullBuffer>,
        tools: &mut Tools<'_>,
    ) -> Outcome {
        for range in valid_ranges(array.len(), valid) {
            self.numbers.reserve(if self.is_dictionary { range.len() } else { 0 });
            for index in range {
                let value = array.value(index);
                match self.shape {
                    Shape::String => self.take(value.as_bytes(), tools.bloom.as_deref_mut()),
                    shape => self.take_sized(value, shape, index, tools)?,
                }
                self.direct.relieve(tools.compressors)?;
            }
        }
        Ok(())
    }

    /// Takes the valid strings of an array that has them one behind the other.
    fn gather_offsets<O: OffsetSizeTrait>(
        &mut self,
        array: &GenericStringArray<O>,
        valid: Option<&NullBuffer>,
        tools: &mut Tools<'_>,
    ) -> Outcome {
        if self.is_dictionary || !matches!(self.shape, Shape::String) {
            return self.gather(array, valid, tools);
        }
        for range in valid_ranges(array.len(), valid) {
            let offsets = array.value_offsets().get(range.start..=range.end).unwrap_or_default();
            let (bounds, bloom) = (&mut self.bounds, &mut tools.bloom);
            self.direct.push_all(offsets, array.value_data(), |value| {
                bounds.add(value);
                if let Some(bloom) = bloom {
                    bloom.add_bytes(value);
                }
            });
            self.direct.relieve(tools.compressors)?;
        }
        Ok(())
    }

    fn take_sized(&mut self, value: &str, shape: Shape, index: usize, tools: &mut Tools<'_>) -> Outcome {
        let (length, name) = match shape {
            Shape::Char(length) => (length as usize, "char"),
            Shape::Varchar(length) => (length as usize, "varchar"),
            Shape::String => (usize::MAX, "string"),
        };
        let count = value.chars().count();
        if count > length {
            let message = format!("text of {count} characters in a column of {name}({length})");
            return Err(Fault::Value { index, column: self.column, message });
        }
        let missing = if matches!(shape, Shape::Char(_)) { length - count } else { 0 };
        if missing > MAX_PADDING.min(self.padding_left) {
            let message = match missing > MAX_PADDING {
                true => format!(
                    "text of {count} characters in a column of {name}({length}): more than {MAX_PADDING} blanks are missing"
                ),
                false => format!(
                    "a column of {name}({length}) in which more than {MAX_PADDING_AT_ONCE} blanks are missing in one row group"
                ),
            };
            return Err(Fault::Value { index, column: self.column, message });
        }
        self.padding_left -= missing;
        let mut padded = std::mem::take(&mut self.padded);
        padded.clear();
        padded.extend_from_slice(value.as_bytes());
        padded.resize(value.len() + missing, b' ');
        self.take(&padded, tools.bloom.as_deref_mut());
        self.padded = padded;
        // Blanks take no memory of what is handed over, so that nothing else bounds the dictionary.
        let is_too_large =
            self.is_dictionary && missing > 0 && self.dictionary.bytes() > tuning::DICTIONARY_BYTES.get();
        if is_too_large && self.choice == DictionaryChoice::Auto {
            self.give_up(tools.compressors)?;
        }
        Ok(())
    }

    /// Takes a dictionary array: each of its values is looked up once.
    fn gather_references(&mut self, array: &ArrayRef, valid: Option<&NullBuffer>, tools: &mut Tools<'_>) -> Outcome {
        let dictionary = array.as_any_dictionary_opt().ok_or_else(|| Error::invalid("no dictionary array"))?;
        let values = arrow_cast::cast(dictionary.values(), &DataType::LargeUtf8);
        let values = values.map_err(|error| Error::invalid("a dictionary that is no text").with_source(error))?;
        let values = values.as_string::<i64>();
        if values.is_empty() {
            // All is null.
            return Ok(());
        }
        let keys = dictionary.normalized_keys();
        utf8::check_references(values, &keys, valid, self.column)?;
        let mut known = vec![UNSEEN; values.len()];
        let group = self.group();
        for range in valid_ranges(keys.len(), valid) {
            for index in range {
                let key = keys.get(index).copied().unwrap_or_default();
                let seen = known.get(key).copied().unwrap_or(UNSEEN);
                // Of this row group, where it stays the same while an array is taken.
                if self.is_dictionary && seen != UNSEEN && self.last_group.get(seen as usize) == Some(&group) {
                    self.numbers.push(seen);
                    self.bounds.count(self.dictionary.get(seen).len());
                    continue;
                }
                let value = values.value(key);
                match self.shape {
                    Shape::String => self.take(value.as_bytes(), tools.bloom.as_deref_mut()),
                    shape => self.take_sized(value, shape, index, tools)?,
                }
                if let (true, Some(known), Some(&number)) =
                    (self.is_dictionary, known.get_mut(key), self.numbers.last())
                {
                    *known = number;
                }
                self.direct.relieve(tools.compressors)?;
            }
        }
        Ok(())
    }

    /// Whether a dictionary pays, as far as can be seen.
    fn pays(&self) -> bool {
        let (values, distinct) = (self.numbers.len() as f64, self.dictionary.len() as f64);
        if self.dictionary.bytes() > tuning::DICTIONARY_BYTES.get() {
            return false;
        }
        let (most, few) = (share(&tuning::DICTIONARY_MOST_DISTINCT), share(&tuning::DICTIONARY_FEW_DISTINCT));
        if distinct <= few * values {
            return true;
        }
        // Of so many strings, each as frequent as any other, would there be as many repetitions: n² / 2 of them.
        let repeated = values - distinct;
        let all = values * values / (2.0 * repeated.max(0.5));
        let stripe = (self.expected as f64).max(values);
        let expected = all * (1.0 - (-stripe / all).exp());
        distinct <= most * values && expected <= most * stripe || expected <= few * stripe
    }

    /// Writes what there is as it is, and gives the dictionary up. The last row group has not ended then.
    fn give_up(&mut self, compressors: &mut Compressors) -> Result<()> {
        let numbers = std::mem::take(&mut self.numbers);
        for (at, group) in groups(&self.group_starts, numbers.len()).enumerate() {
            if at > 0 {
                self.direct.end_group(compressors)?;
            }
            self.direct.begin_group();
            for &number in numbers.get(group).unwrap_or_default() {
                self.direct.push(self.dictionary.get(number));
                self.direct.relieve(compressors)?;
            }
        }
        self.is_dictionary = false;
        self.last_group = Vec::new();
        self.dictionary = Dictionary::default();
        Ok(())
    }

    fn end_dictionary(&mut self, compressors: &mut Compressors) -> Result<Ended> {
        let order = self.dictionary.sorted();
        let mut place = vec![0i64; order.len()];
        let mut bytes = self.layout.text_stream();
        let mut lengths = IntStream::of_integers(self.layout, false);
        for (at, &number) in (0i64..).zip(&order) {
            let string = self.dictionary.get(number);
            bytes.raw().extend_from_slice(string);
            lengths.held().push(i64::try_from(string.len()).unwrap_or(i64::MAX));
            place.get_mut(number as usize).into_iter().for_each(|place| *place = at);
        }
        bytes.settle(compressors)?;
        let mut data = IntStream::of_integers(self.layout, false);
        let mut starts = Starts::default();
        for group in groups(&self.group_starts, self.numbers.len()) {
            starts.push(|position| data.position(position));
            let group = self.numbers.get(group).unwrap_or_default();
            let places = group.iter().map(|&number| place.get(number as usize).copied().unwrap_or_default());
            data.held().extend(places);
            data.end_run(compressors)?;
        }
        Ok(Ended {
            streams: vec![
                (StreamKind::Data, data.take(compressors)?),
                (StreamKind::Length, lengths.take(compressors)?),
                (StreamKind::DictionaryData, bytes.take(compressors)?),
            ],
            is_dictionary: true,
            has_integers: true,
            dictionary_size: u32::try_from(order.len()).ok(),
            positions: starts.take(),
        })
    }
}

impl Values for TextValues {
    fn append(&mut self, array: &ArrayRef, valid: Option<&NullBuffer>, mut tools: Tools<'_>) -> Outcome {
        self.padding_left = MAX_PADDING_AT_ONCE;
        utf8::check(array, valid, self.column)?;
        match array.data_type() {
            DataType::Utf8 => self.gather_offsets(array.as_string::<i32>(), valid, &mut tools),
            DataType::LargeUtf8 => self.gather_offsets(array.as_string::<i64>(), valid, &mut tools),
            DataType::Utf8View => self.gather(array.as_string_view(), valid, &mut tools),
            DataType::Dictionary(_, _) => self.gather_references(array, valid, &mut tools),
            other => Err(Error::invalid(format!("{other} is no text")).into()),
        }
    }

    fn begin_group(&mut self) {
        self.group_starts.push(self.numbers.len());
        if !self.is_dictionary {
            self.direct.begin_group();
        }
    }

    fn end_group(&mut self, compressors: &mut Compressors) -> Result<Detail> {
        if !self.is_dictionary {
            self.direct.end_group(compressors)?;
        } else if self.choice == DictionaryChoice::Auto && self.numbers.len() >= self.next_look {
            if self.pays() {
                self.next_look = self.numbers.len() * 2;
            } else {
                self.give_up(compressors)?;
                self.direct.end_group(compressors)?;
            }
        }
        Ok(self.bounds.take_text())
    }

    fn size(&self) -> usize {
        if !self.is_dictionary {
            return self.direct.size();
        }
        let bits = usize::BITS - self.dictionary.len().leading_zeros();
        self.dictionary.bytes() + self.dictionary.len() + self.numbers.len() * bits as usize / 8
    }

    fn memory(&self) -> usize {
        let strings = self.dictionary.bytes() + self.dictionary.len() * 4 * size_of::<u64>();
        self.direct.size() + strings + self.numbers.len() * size_of::<u32>()
    }

    fn end_stripe(&mut self, compressors: &mut Compressors) -> Result<Ended> {
        let is_small = self.numbers.len() < tuning::DICTIONARY_FIRST_LOOK.get();
        if self.is_dictionary && self.choice == DictionaryChoice::Auto && is_small {
            // Too few values to tell before: of these, all are there.
            let (values, distinct) = (self.numbers.len() as f64, self.dictionary.len() as f64);
            if distinct > share(&tuning::DICTIONARY_MOST_DISTINCT) * values {
                self.give_up(compressors)?;
                self.direct.end_group(compressors)?;
            }
        }
        let ended =
            if self.is_dictionary { self.end_dictionary(compressors)? } else { self.direct.end_stripe(compressors)? };
        if self.is_dictionary {
            self.expected = self.numbers.len().max(tuning::DICTIONARY_FIRST_LOOK.get());
        }
        self.dictionary.clear();
        self.numbers.clear();
        self.last_group.clear();
        self.group_starts.clear();
        self.next_look = tuning::DICTIONARY_FIRST_LOOK.get();
        self.is_dictionary = self.choice != DictionaryChoice::Never;
        Ok(ended)
    }
}

/// Of what is so many among a thousand.
fn share(tuning: &orcish_core::tuning::Tuning) -> f64 {
    tuning.get() as f64 / 1000.0
}

/// The row groups of so many values, by where each begins.
fn groups(starts: &[usize], values: usize) -> impl Iterator<Item = Range<usize>> {
    let ends = starts.iter().copied().skip(1).chain(std::iter::once(values));
    starts.iter().zip(ends).map(|(&start, end)| start..end)
}
