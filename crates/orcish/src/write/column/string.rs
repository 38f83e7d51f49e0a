//! String columns (ORCv1, String, Char and VarChar Columns), with dictionary or direct encoding.
//!
//! With [`DictionaryChoice::Auto`] a stripe begins with a dictionary. At the end of row groups the number of distinct
//! strings is compared with the number of values. If too few values repeat, the stripe falls back to direct encoding.

use std::ops::Range;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayAccessor, ArrayRef, GenericStringArray, OffsetSizeTrait};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use orcish_core::error::{Error, OrInternal as _, Result};

use super::bytes::{BEYOND, DirectEncoder, StringStatistics, stored_length};
use super::dictionary::{Dictionary, MAX_CACHED, padded_prefix};
use super::keys::Keys;
use super::{
    AppendContext, AppendResult, Compressors, Detail, EncodedValues, StreamKind, ValueEncoder, utf8, valid_ranges,
    valid_slices,
};
use crate::bloom::BloomBuilder;
use crate::tuning;
use crate::write::append_error::AppendError;
use crate::write::options::DictionaryChoice;
use crate::write::rle_stream::IntegerStream;
use crate::write::stream_options::StreamOptions;

/// Maximum padding of a value. The length of a `char` is a number of the caller: up to 255 in Hive, 65,536 in Trino.
const MAX_PADDING: usize = 1 << 16;
/// Maximum padding of all values of an array, which has at most the rows of a row group.
const MAX_ARRAY_PADDING: usize = 1 << 30;
/// An Arrow dictionary key without an entry in the dictionary of the stripe yet.
const NO_ENTRY: u32 = u32::MAX;
const NO_ROW_GROUP: &str = "a row group begins behind the values of its stripe";

/// A string type of ORC, with its length in characters.
#[derive(Debug, Clone, Copy)]
pub(super) enum StringType {
    String,
    /// At most this many characters.
    Varchar(u32),
    /// Exactly this many characters. Shorter values are padded with blanks.
    Char(u32),
}

pub(super) struct StringEncoder {
    column: u32,
    options: StreamOptions,
    string_type: StringType,
    choice: DictionaryChoice,
    direct: DirectEncoder,
    dictionary: Dictionary,
    /// Whether the current stripe has a dictionary.
    is_dictionary: bool,
    /// Number of values of the stripe from which on the benefit of the dictionary is checked again.
    next_dictionary_check: usize,
    /// The dictionary entry of each value of the stripe.
    entries: Keys,
    /// Number of values of the stripe before each row group.
    row_group_starts: Vec<usize>,
    /// The last row group that has each dictionary entry, counted from 1.
    last_row_group: Vec<u32>,
    statistics: StringStatistics,
    /// Reused buffer for padded values.
    padded: Vec<u8>,
    /// Remaining padding of the current array.
    padding_left: usize,
    /// Expected number of values of the stripe.
    expected_values: usize,
}

impl StringEncoder {
    pub(super) fn new(column: u32, string_type: StringType, choice: DictionaryChoice, options: StreamOptions) -> Self {
        StringEncoder {
            column,
            options,
            string_type,
            choice,
            direct: DirectEncoder::new(options),
            dictionary: Dictionary::default(),
            is_dictionary: choice != DictionaryChoice::Never,
            next_dictionary_check: tuning::DICTIONARY_FIRST_CHECK.get(),
            entries: Keys::default(),
            row_group_starts: Vec::new(),
            last_row_group: Vec::new(),
            statistics: StringStatistics::default(),
            padded: Vec::new(),
            padding_left: 0,
            expected_values: tuning::DICTIONARY_EXPECTED_VALUES.get(),
        }
    }

    /// Number of the current row group, counted from 1.
    fn row_group(&self) -> u32 {
        u32::try_from(self.row_group_starts.len()).unwrap_or(u32::MAX)
    }

    /// Appends a padded value, and adds it to the statistics and the bloom filter.
    #[inline]
    fn push(&mut self, value: &[u8], bloom_filter: Option<&mut BloomBuilder>) {
        self.statistics.add_length(value.len());
        if self.is_dictionary {
            let entry = self.dictionary.insert(value);
            self.note_in_row_group(entry, value, bloom_filter);
            self.entries.push(entry);
        } else {
            self.statistics.update_bounds(value);
            if let Some(bloom_filter) = bloom_filter {
                bloom_filter.add_bytes(value);
            }
            self.direct.push(value);
        }
    }

    /// Notes that the row group has a dictionary entry. The first value of each entry in a row group updates bounds and bloom
    /// filter.
    #[inline(always)]
    fn note_in_row_group(&mut self, entry: u32, value: &[u8], bloom_filter: Option<&mut BloomBuilder>) {
        let row_group = self.row_group();
        match self.last_row_group.get(entry as usize) {
            Some(&last) if last == row_group => {}
            _ => self.add_to_row_group(entry, row_group, value, bloom_filter),
        }
    }

    /// Adds an entry that the row group does not have yet to bounds and bloom filter.
    #[inline(never)]
    fn add_to_row_group(&mut self, entry: u32, row_group: u32, value: &[u8], bloom_filter: Option<&mut BloomBuilder>) {
        match self.last_row_group.get_mut(entry as usize) {
            Some(last) => *last = row_group,
            None => self.last_row_group.push(row_group),
        }
        self.statistics.update_bounds(value);
        if let Some(bloom_filter) = bloom_filter {
            bloom_filter.add_bytes(value);
        }
    }

    fn append_values<'a, A: ArrayAccessor<Item = &'a str>>(
        &mut self,
        array: A,
        valid: Option<&NullBuffer>,
        context: &mut AppendContext<'_>,
    ) -> AppendResult {
        for range in valid_ranges(array.len(), valid) {
            self.entries.reserve(if self.is_dictionary { range.len() } else { 0 });
            for index in range {
                let value = array.value(index);
                match self.string_type {
                    StringType::String => self.push(value.as_bytes(), context.bloom_filter.as_deref_mut()),
                    string_type => self.push_with_length(value, string_type, index, context)?,
                }
                self.direct.encode_if_large(context.compressors)?;
            }
        }
        Ok(())
    }

    /// Appends the valid values of an array with contiguous bytes.
    fn append_contiguous<O: OffsetSizeTrait>(
        &mut self,
        array: &GenericStringArray<O>,
        valid: Option<&NullBuffer>,
        context: &mut AppendContext<'_>,
    ) -> AppendResult {
        if !matches!(self.string_type, StringType::String) {
            return self.append_values(array, valid, context);
        }
        for range in valid_ranges(array.len(), valid) {
            let offsets = array.value_offsets().get(range.start..=range.end);
            let offsets = offsets.or_internal("an array has more valid slots than values")?;
            if self.is_dictionary {
                self.extend_dictionary(offsets, array.value_data(), context.bloom_filter.as_deref_mut())?;
                continue;
            }
            let (statistics, bloom_filter) = (&mut self.statistics, &mut context.bloom_filter);
            self.direct.extend(offsets, array.value_data(), |value| {
                statistics.add(value);
                if let Some(bloom_filter) = bloom_filter {
                    bloom_filter.add_bytes(value);
                }
            })?;
            self.direct.encode_if_large(context.compressors)?;
        }
        Ok(())
    }

    /// Appends the values that `offsets` delimit in `data` to a column with a dictionary.
    fn extend_dictionary<O: OffsetSizeTrait>(
        &mut self,
        offsets: &[O],
        data: &[u8],
        mut bloom_filter: Option<&mut BloomBuilder>,
    ) -> Result<()> {
        self.entries.reserve(offsets.len());
        for (start, end) in offsets.iter().zip(offsets.iter().skip(1)) {
            let (start, end) = (start.as_usize(), end.as_usize());
            let value = data.get(start..end).ok_or_else(|| Error::invalid(BEYOND))?;
            // The padding is made of the bytes behind the value: copies of a fixed length need no branch on the length.
            let entry = match data.get(start..).and_then(<[u8]>::first_chunk::<MAX_CACHED>) {
                Some(bytes) if value.len() <= MAX_CACHED => {
                    self.dictionary.insert_padded(value, &padded_prefix(bytes, value.len()))
                }
                _ => self.dictionary.insert(value),
            };
            self.statistics.add_length(value.len());
            self.note_in_row_group(entry, value, bloom_filter.as_deref_mut());
            self.entries.push(entry);
        }
        Ok(())
    }

    /// Appends a value of a `char` or `varchar` column: checks its length, and pads it.
    fn push_with_length(
        &mut self,
        value: &str,
        string_type: StringType,
        index: usize,
        context: &mut AppendContext<'_>,
    ) -> AppendResult {
        let (length, name) = match string_type {
            StringType::Char(length) => (length as usize, "char"),
            StringType::Varchar(length) => (length as usize, "varchar"),
            StringType::String => (usize::MAX, "string"),
        };
        let count = value.chars().count();
        if count > length {
            let message = format!("text of {count} characters in a column of {name}({length})");
            return Err(AppendError::Value { index, column: self.column, message });
        }
        let padding = if matches!(string_type, StringType::Char(_)) { length - count } else { 0 };
        if padding > MAX_PADDING.min(self.padding_left) {
            let message = if padding > MAX_PADDING {
                format!(
                    "text of {count} characters in a column of {name}({length}): more than {MAX_PADDING} blanks are \
                     missing"
                )
            } else {
                format!(
                    "a column of {name}({length}) in which more than {MAX_ARRAY_PADDING} blanks are missing in one \
                     row group"
                )
            };
            return Err(AppendError::Value { index, column: self.column, message });
        }
        self.padding_left -= padding;
        let mut padded = std::mem::take(&mut self.padded);
        padded.clear();
        padded.extend_from_slice(value.as_bytes());
        padded.resize(value.len() + padding, b' ');
        self.push(&padded, context.bloom_filter.as_deref_mut());
        self.padded = padded;
        // The size of the array does not bound the size of the padded values, so that the dictionary needs a bound.
        let is_too_large =
            self.is_dictionary && padding > 0 && self.dictionary.num_bytes() > tuning::MAX_DICTIONARY_BYTES.get();
        if is_too_large && self.choice == DictionaryChoice::Auto {
            self.fall_back_to_direct(context.compressors)?;
        }
        Ok(())
    }

    /// Appends a dictionary array. Each of its values is inserted into the dictionary of the stripe once.
    fn append_dictionary(
        &mut self,
        array: &ArrayRef,
        valid: Option<&NullBuffer>,
        context: &mut AppendContext<'_>,
    ) -> AppendResult {
        let dictionary = array.as_any_dictionary_opt().ok_or_else(|| Error::invalid("no dictionary array"))?;
        let values = arrow_cast::cast(dictionary.values(), &DataType::LargeUtf8);
        let values = values.map_err(|error| Error::invalid("a dictionary that is no text").with_source(error))?;
        let values = values.as_string::<i64>();
        if values.is_empty() {
            // All slots are null.
            return Ok(());
        }
        let keys = dictionary.normalized_keys();
        utf8::check_dictionary(values, &keys, valid, self.column)?;
        let mut entry_of_key = vec![NO_ENTRY; values.len()];
        let row_group = self.row_group();
        for slice in valid_slices(&keys, valid) {
            let (start, keys) = slice?;
            for (index, &key) in (start..).zip(keys) {
                let &mut entry = entry_of_key.get_mut(key).or_internal("a key is not normalized")?;
                // An array belongs to one row group, so that bounds and bloom filter have the entry already.
                if self.is_dictionary
                    && entry != NO_ENTRY
                    && self.last_row_group.get(entry as usize) == Some(&row_group)
                {
                    self.entries.push(entry);
                    self.statistics.add_length(self.dictionary.get(entry).len());
                    continue;
                }
                let value = values.value(key);
                match self.string_type {
                    StringType::String => self.push(value.as_bytes(), context.bloom_filter.as_deref_mut()),
                    string_type => self.push_with_length(value, string_type, index, context)?,
                }
                if self.is_dictionary {
                    let of_key = entry_of_key.get_mut(key).or_internal("a key is not normalized")?;
                    *of_key = self.entries.last().or_internal("a value has no entry")?;
                }
                self.direct.encode_if_large(context.compressors)?;
            }
        }
        Ok(())
    }

    /// Whether the stripe has a dictionary that may be dropped, and its strings hardly repeat so far.
    fn has_useless_dictionary(&self) -> bool {
        let may_be_dropped = self.is_dictionary && self.choice == DictionaryChoice::Auto;
        may_be_dropped && self.dictionary.has_too_many_entries(self.entries.len())
    }

    /// Encodes the values of the stripe directly, and drops the dictionary. The last row group is not ended.
    fn fall_back_to_direct(&mut self, compressors: &mut Compressors) -> Result<()> {
        let entries = std::mem::take(&mut self.entries);
        for (number, row_group) in row_group_ranges(&self.row_group_starts, entries.len()).enumerate() {
            if number > 0 {
                self.direct.end_row_group(compressors)?;
            }
            self.direct.begin_row_group();
            for index in row_group {
                self.direct.push(self.dictionary.get(entries.get(index).or_internal(NO_ROW_GROUP)?));
                self.direct.encode_if_large(compressors)?;
            }
        }
        self.is_dictionary = false;
        self.last_row_group = Vec::new();
        self.dictionary = Dictionary::default();
        Ok(())
    }

    /// Encodes the sorted dictionary, and the values as positions in it.
    fn encode_dictionary(&mut self, compressors: &mut Compressors) -> Result<EncodedValues> {
        let order = self.dictionary.sorted();
        let mut rank_of_entry = vec![0i64; order.len()];
        let mut bytes = self.options.new_text_stream();
        let mut lengths = IntegerStream::unsigned(self.options);
        for (rank, &entry) in (0i64..).zip(&order) {
            let string = self.dictionary.get(entry);
            bytes.buffer().extend_from_slice(string);
            lengths.buffer().push(stored_length(string));
            *rank_of_entry.get_mut(entry as usize).or_internal("a sorted entry is not in the dictionary")? = rank;
        }
        bytes.compress_full_chunks(compressors)?;
        let mut data = IntegerStream::unsigned(self.options);
        for row_group in row_group_ranges(&self.row_group_starts, self.entries.len()) {
            data.begin_row_group();
            for start in row_group.clone().step_by(tuning::ENTRIES_ENCODED.get()) {
                let part = start..row_group.end.min(start + tuning::ENTRIES_ENCODED.get());
                self.entries.append_mapped(part, &rank_of_entry, data.buffer())?;
                data.encode_if_large(compressors)?;
            }
            data.end_run(compressors)?;
        }
        Ok(EncodedValues {
            streams: vec![
                (StreamKind::Data, data.finish(compressors)?),
                (StreamKind::Length, lengths.finish(compressors)?),
                (StreamKind::DictionaryData, bytes.finish(compressors)?),
            ],
            dictionary_size: Some(u32::try_from(order.len()).or_internal("a dictionary has more entries than keys")?),
        })
    }
}

impl ValueEncoder for StringEncoder {
    fn append(&mut self, array: &ArrayRef, valid: Option<&NullBuffer>, mut context: AppendContext<'_>) -> AppendResult {
        self.padding_left = MAX_ARRAY_PADDING;
        utf8::check(array, valid, self.column)?;
        match array.data_type() {
            DataType::Utf8 => self.append_contiguous(array.as_string::<i32>(), valid, &mut context),
            DataType::LargeUtf8 => self.append_contiguous(array.as_string::<i64>(), valid, &mut context),
            DataType::Utf8View => self.append_values(array.as_string_view(), valid, &mut context),
            DataType::Dictionary(_, _) => self.append_dictionary(array, valid, &mut context),
            other => Err(Error::internal(format!("{other} is no text")).into()),
        }
    }

    fn begin_row_group(&mut self) {
        self.row_group_starts.push(self.entries.len());
        if !self.is_dictionary {
            self.direct.begin_row_group();
        }
    }

    fn end_row_group(&mut self, compressors: &mut Compressors) -> Result<Detail> {
        if !self.is_dictionary {
            self.direct.end_row_group(compressors)?;
        } else if self.choice == DictionaryChoice::Auto && self.entries.len() >= self.next_dictionary_check {
            if self.dictionary.is_worthwhile(self.entries.len(), self.expected_values) {
                self.next_dictionary_check = self.entries.len() * 2;
            } else {
                self.fall_back_to_direct(compressors)?;
                self.direct.end_row_group(compressors)?;
            }
        }
        Ok(self.statistics.take())
    }

    fn size(&self) -> usize {
        if !self.is_dictionary {
            return self.direct.size();
        }
        let bits = usize::BITS - self.dictionary.len().leading_zeros();
        self.dictionary.num_bytes() + self.dictionary.len() + self.entries.len() * bits as usize / 8
    }

    fn memory_size(&self) -> usize {
        let row_groups = size_of_val(self.last_row_group.as_slice());
        self.direct.memory_size() + self.dictionary.memory_size() + self.entries.num_bytes() + row_groups
    }

    /// Drops a dictionary of strings that hardly repeat so far.
    fn save_memory(&mut self, compressors: &mut Compressors) -> Result<()> {
        if self.has_useless_dictionary() { self.fall_back_to_direct(compressors) } else { Ok(()) }
    }

    fn end_stripe(&mut self, compressors: &mut Compressors) -> Result<EncodedValues> {
        // The stripe is complete, so that no estimate is needed.
        let is_unchecked = self.entries.len() < tuning::DICTIONARY_FIRST_CHECK.get();
        if is_unchecked && self.has_useless_dictionary() {
            self.fall_back_to_direct(compressors)?;
            self.direct.end_row_group(compressors)?;
        }
        let encoded = if self.is_dictionary {
            self.encode_dictionary(compressors)?
        } else {
            self.direct.end_stripe(compressors)?
        };
        if self.is_dictionary {
            self.expected_values = self.entries.len().max(tuning::DICTIONARY_FIRST_CHECK.get());
        }
        self.dictionary.clear();
        self.entries.clear();
        self.last_row_group.clear();
        self.row_group_starts.clear();
        self.next_dictionary_check = tuning::DICTIONARY_FIRST_CHECK.get();
        self.is_dictionary = self.choice != DictionaryChoice::Never;
        Ok(encoded)
    }
}

/// The ranges of values of the row groups, from the start of each row group and the number of values.
fn row_group_ranges(starts: &[usize], num_values: usize) -> impl Iterator<Item = Range<usize>> {
    let ends = starts.iter().copied().skip(1).chain(std::iter::once(num_values));
    starts.iter().zip(ends).map(|(&start, end)| start..end)
}
