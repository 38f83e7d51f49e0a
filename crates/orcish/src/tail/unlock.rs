//! What a tail gains from keys: the statistics of encrypted columns, and which columns can be read.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use orcish_core::error::{Error, Result};
use orcish_core::limits::Limits;

use super::{FileTail, undecodable};
use crate::codec::decompress_all;
use crate::encryption::{KeyProvider, Unlocked};
use crate::proto::{STATISTICS, check_decoded_size, decode_message, first_of_repeated_field, orc};

/// The stored statistics of the stripes, and the decrypted ones.
pub(crate) struct StoredStatistics {
    /// The stored section of the statistics in clear.
    pub(super) section: Bytes,
    /// The undecoded statistics of each stripe, by the id of the decrypted column.
    decrypted: BTreeMap<u32, Vec<Bytes>>,
}

impl StoredStatistics {
    /// The statistics of a section, without keys.
    pub(crate) fn of_section(section: Bytes) -> Self {
        StoredStatistics { section, decrypted: BTreeMap::new() }
    }

    /// The undecoded statistics of a decrypted column in a stripe: empty ones, which record nothing, where the writer stored
    /// none.
    pub(super) fn decrypted(&self, column: u32, stripe: usize) -> Bytes {
        match self.decrypted.get(&column).and_then(|stripes| stripes.get(stripe)) {
            Some(statistics) => statistics.clone(),
            None => Bytes::new(),
        }
    }
}

impl FileTail {
    /// The tail with the columns decrypted whose keys a provider has. Their statistics are those of the values, and no longer
    /// those of the masks.
    ///
    /// # Errors
    /// `Corrupt` where wrapped keys or encrypted statistics cannot be used, which a wrong key can cause; errors of the provider.
    pub(crate) fn unlock(&self, provider: Arc<dyn KeyProvider>) -> Result<Self> {
        let Some(variants) = &self.variants else { return Ok(self.clone()) };
        let unlocked = Unlocked::try_new(variants.clone(), self.schema.types().len(), provider)?;
        let mut tail = self.clone();
        for (number, stored) in unlocked.file_statistics()? {
            let decode = || {
                let statistics = self.decoded_file_statistics(stored, unlocked.columns_of(number)?.len())?;
                Ok(unlocked.columns_of(number)?.zip(statistics))
            };
            for (id, statistics) in decode().map_err(|error| unlocked.undecryptable(number, error))? {
                if unlocked.variant_of(id) == Some(number)
                    && let Some(column) = tail.statistics.get_mut(id as usize)
                {
                    *column = statistics;
                }
            }
        }
        tail.unlocked = Some(Arc::new(unlocked));
        Ok(tail)
    }

    /// Splits the decrypted statistics of the file of a variant with so many columns. Statistics that a writer left out are
    /// empty.
    fn decoded_file_statistics(&self, stored: Bytes, columns: usize) -> Result<Vec<Bytes>> {
        if stored.is_empty() {
            return Ok(vec![Bytes::new(); columns]);
        }
        let max = self.max_decoded_size;
        let statistics = first_of_repeated_field(decompress_all(stored, self.framing(), max)?, columns)?;
        if statistics.len() != columns {
            let count = statistics.len();
            return Err(Error::corrupt(format!("the encrypted statistics of {columns} columns are {count}")));
        }
        for bytes in &statistics {
            check_decoded_size(bytes, &STATISTICS, max)?;
            decode_message::<orc::ColumnStatistics>(bytes.clone())
                .map_err(|error| undecodable("encrypted statistics", error))?;
        }
        Ok(statistics)
    }

    /// The encrypted columns that can be read. `None` without keys, and for a file without encrypted columns.
    pub(crate) fn unlocked(&self) -> Option<&Unlocked> {
        self.unlocked.as_deref()
    }

    /// Whether the values of a column are decrypted.
    pub(crate) fn is_unlocked(&self, column: u32) -> bool {
        self.unlocked().is_some_and(|unlocked| unlocked.variant_of(column).is_some())
    }

    /// The name and the version of the key of an encrypted column; `None` where the file names none that can be used.
    pub(crate) fn key_of(&self, column: u32) -> Option<String> {
        self.variants.as_ref()?.key_of(column).map(ToString::to_string)
    }

    /// Whether a column is encrypted, with its key or without.
    pub(crate) fn is_encrypted(&self, column: u32) -> bool {
        self.encrypted_columns.binary_search(&column).is_ok()
    }

    /// Whether the masks of a column are read: it is encrypted, and its key is missing.
    pub(crate) fn is_masked(&self, column: u32) -> bool {
        self.is_encrypted(column) && !self.is_unlocked(column)
    }

    /// Ids of the encrypted columns whose masks are read.
    pub(crate) fn masked_columns(&self) -> impl Iterator<Item = u32> {
        self.encrypted_columns.iter().copied().filter(|&id| !self.is_unlocked(id))
    }

    /// Bytes of the encrypted statistics of the stripes, which end where the statistics in clear begin; 0 where they are not
    /// needed.
    pub(crate) fn encrypted_statistics_length(&self) -> u64 {
        self.unlocked().map_or(0, Unlocked::stripe_statistics_length)
    }

    /// The statistics of the stripes: `section` in clear, and of the columns of `wanted` the ones that are decrypted from
    /// `encrypted`.
    ///
    /// # Errors
    /// `Corrupt` where they cannot be decoded, `LimitExceeded` where they exceed `limits`.
    pub(crate) fn stored_statistics_of_stripes(
        &self,
        section: Bytes,
        encrypted: &Bytes,
        wanted: &dyn Fn(u32) -> bool,
        limits: &Limits,
    ) -> Result<StoredStatistics> {
        let Some(unlocked) = self.unlocked() else { return Ok(StoredStatistics::of_section(section)) };
        let mut decrypted = BTreeMap::new();
        let mut left = limits.tail;
        for (column, stored) in unlocked.stripe_statistics(encrypted, wanted)? {
            let split = || {
                let statistics = decompress_all(stored, self.framing(), left)?;
                left = left.saturating_sub(statistics.len() as u64);
                first_of_repeated_field(statistics, self.stripes.len())
            };
            let number = unlocked.variant_of(column);
            let with_cause = |error| match number {
                Some(number) => unlocked.undecryptable(number, error),
                None => error,
            };
            let statistics = split().map_err(with_cause).map_err(super::undecodable_statistics)?;
            decrypted.insert(column, statistics);
        }
        Ok(StoredStatistics { section, decrypted })
    }
}
