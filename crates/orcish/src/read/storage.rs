//! Sizes of columns and time zones of writers, from stripe footers.

use std::collections::BTreeMap;
use std::ops::Range;

use orcish_core::error::{Error, OrInternal as _, Result};
use orcish_core::limits::Limits;
use orcish_io::read_with_limits;

use super::file::OrcFile;
use crate::stripe::StripeFooter;
use crate::tail::StripeInfo;

/// Stored sizes of a column in some stripes of a file, without its descendants.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ColumnStorage {
    /// Stored bytes of the data streams.
    pub data: u64,
    /// Stored bytes of the row indexes and bloom filters.
    pub index: u64,
    /// Stored bytes of data and index streams by kind, such as `PRESENT` and `ROW_INDEX`.
    pub streams: BTreeMap<&'static str, u64>,
    /// Entries of the dictionaries of all stripes.
    pub dictionary_entries: u64,
    /// Encodings, and the number of stripes with each.
    pub encodings: BTreeMap<&'static str, u64>,
}

impl ColumnStorage {
    /// Adds the bytes of a stream to those of its kind and to a total.
    fn add_stream(&mut self, kind: &'static str, bytes: u64, total: impl Fn(&mut Self) -> &mut u64) {
        let of_kind = self.streams.entry(kind).or_default();
        *of_kind = of_kind.saturating_add(bytes);
        let total = total(self);
        *total = total.saturating_add(bytes);
    }
}

fn column_of(columns: &mut [ColumnStorage], id: u32) -> Result<&mut ColumnStorage> {
    columns.get_mut(id as usize).or_internal("a footer has a column of no type")
}

impl OrcFile {
    /// Stored sizes of the columns in some stripes, or in all, by column id. Stripe footers are read.
    ///
    /// # Errors
    /// `InvalidArgument` if a stripe does not exist; `Io` and `Corrupt`.
    pub fn column_storage(&self, stripes: Option<&[usize]>, limits: &Limits) -> Result<Vec<ColumnStorage>> {
        self.storage_of(stripes, limits).map_err(|error| error.in_file(self.name()))
    }

    /// The time zones of the writers of some stripes, or of all: `timestamp` columns are local times in these zones. A zone
    /// is empty if the stripe names none. Stripe footers are read.
    ///
    /// # Errors
    /// As [`column_storage`](Self::column_storage).
    pub fn writer_timezones(&self, stripes: Option<&[usize]>, limits: &Limits) -> Result<Vec<String>> {
        let mut zones = Vec::new();
        let footers = self.each_footer(stripes, limits, |footer| {
            zones.push(footer.writer_timezone);
            Ok(())
        });
        footers.map_err(|error| error.in_file(self.name()))?;
        Ok(zones)
    }

    fn storage_of(&self, stripes: Option<&[usize]>, limits: &Limits) -> Result<Vec<ColumnStorage>> {
        let mut columns = vec![ColumnStorage::default(); self.tail().schema.types().len()];
        self.each_footer(stripes, limits, |footer| {
            let length = |range: &Range<u64>| range.end - range.start;
            for ((id, kind), range) in &footer.streams {
                column_of(&mut columns, *id)?.add_stream(kind.name(), length(range), |column| &mut column.data);
            }
            for ((id, kind), range) in &footer.index {
                column_of(&mut columns, *id)?.add_stream(kind.name(), length(range), |column| &mut column.index);
            }
            for (id, encoding) in &footer.encodings {
                let column = column_of(&mut columns, *id)?;
                *column.encodings.entry(encoding.name()).or_default() += 1;
                if encoding.is_dictionary {
                    column.dictionary_entries += u64::from(encoding.dictionary_size);
                }
            }
            Ok(())
        })?;
        Ok(columns)
    }

    /// Some stripes, or all, with their indexes.
    ///
    /// # Errors
    /// `InvalidArgument` if a stripe does not exist.
    pub(super) fn chosen_stripes(&self, stripes: Option<&[usize]>) -> Result<Vec<(usize, &StripeInfo)>> {
        let Some(chosen) = stripes else { return Ok(self.tail().stripes.iter().enumerate().collect()) };
        chosen.iter().map(|&index| Ok((index, self.tail().stripe(index)?))).collect()
    }

    /// Passes the footers of some stripes, or of all, to a function.
    fn each_footer(
        &self,
        stripes: Option<&[usize]>,
        limits: &Limits,
        mut each: impl FnMut(StripeFooter) -> Result<()>,
    ) -> Result<()> {
        let (tail, columns) = (self.tail(), self.tail().schema.types().len());
        let infos = self.chosen_stripes(stripes)?;
        if let Some((index, info)) = infos.iter().find(|(_, info)| info.footer_length > limits.tail) {
            let text = format!("a footer of {} bytes, more than allowed", info.footer_length);
            return Err(Error::over("tail", text).in_section("stripe", *index));
        }
        let end = tail.file_length.saturating_sub(tail.tail_length);
        let within = |(index, info): &(usize, &StripeInfo)| {
            info.check_within(end).map_err(|error| error.in_section("stripe", *index))
        };
        infos.iter().try_for_each(within)?;
        let ranges: Vec<Range<u64>> = infos.iter().map(|(_, info)| info.footer()).collect();
        let mut cancellation = self.cancellation();
        let footers = read_with_limits(&**self.source(), &ranges, limits)?;
        for ((index, info), stored_footer) in infos.into_iter().zip(footers) {
            cancellation.poll()?;
            // A footer may have encodings of more columns than there are.
            let footer = StripeFooter::parse(stored_footer, (index, info), tail, limits, &|id| (id as usize) < columns);
            footer.and_then(&mut each).map_err(|error| error.in_section("stripe", index))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray, StructArray};
    use orcish_io::{MemorySink, MemorySource};

    use super::*;
    use crate::write::{FileWriter, WriteOptions};

    fn file() -> OrcFile {
        let ids: ArrayRef = Arc::new(Int64Array::from_iter((0..5000).map(|n| (n % 7 > 0).then_some(n * n))));
        let words: ArrayRef = Arc::new(StringArray::from_iter_values((0..5000).map(|n| format!("word {}", n % 9))));
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..5000).map(|n| format!("{:x}", n * 7919))));
        let nest = StructArray::try_from(vec![("words", words), ("texts", texts)]).unwrap();
        let batch = RecordBatch::try_from_iter([("ids", ids), ("nest", Arc::new(nest) as ArrayRef)]).unwrap();
        let sink = MemorySink::new();
        let mut writer = FileWriter::try_new(Box::new(sink.clone()), batch.schema(), &WriteOptions::default()).unwrap();
        for _ in 0..3 {
            writer.write(&batch).unwrap();
            writer.end_stripe().unwrap();
        }
        writer.finish().unwrap();
        OrcFile::try_new(Arc::new(MemorySource::new(sink.take().unwrap())), &Limits::default()).unwrap()
    }

    #[test]
    fn columns_add_up_to_the_stripes() {
        let file = file();
        let limits = Limits::default();
        let all = file.column_storage(None, &limits).unwrap();
        let stripes = &file.tail().stripes;
        assert_eq!((all.len(), stripes.len()), (5, 3));
        let sum = |of: fn(&ColumnStorage) -> u64| all.iter().map(of).sum::<u64>();
        assert_eq!(sum(|column| column.data), stripes.iter().map(|stripe| stripe.data_length).sum::<u64>());
        assert_eq!(sum(|column| column.index), stripes.iter().map(|stripe| stripe.index_length).sum::<u64>());
        let encodings = |id: usize| all[id].encodings.iter().map(|(name, count)| (*name, *count)).collect::<Vec<_>>();
        assert_eq!(encodings(1), [("DIRECT_V2", 3)]);
        assert_eq!(encodings(2), [("DIRECT", 3)]);
        assert_eq!(encodings(3), [("DICTIONARY_V2", 3)]);
        assert_eq!(encodings(4), [("DIRECT_V2", 3)]);

        let parts = [&[0usize][..], &[2, 1]].map(|stripes| file.column_storage(Some(stripes), &limits).unwrap());
        for (id, whole) in all.iter().enumerate() {
            assert_eq!(whole.data, parts[0][id].data + parts[1][id].data);
            assert_eq!(whole.index, parts[0][id].index + parts[1][id].index);
        }
        assert_eq!(file.column_storage(Some(&[]), &limits).unwrap(), vec![ColumnStorage::default(); 5]);
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let file = file();
        let error = file.column_storage(Some(&[3]), &Limits::default()).unwrap_err();
        assert_eq!(error.kind(), orcish_core::ErrorKind::InvalidArgument);
        let tight = Limits::default().with_tail(5);
        assert_eq!(file.column_storage(None, &tight).unwrap_err().kind(), orcish_core::ErrorKind::LimitExceeded);
    }
}
