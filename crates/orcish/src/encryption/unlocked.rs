//! The local keys of a file, as far as a provider has unwrapped them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use orcish_core::error::{Error, OrInternal as _, Result};

use super::cipher::{Cipher, FILE_STATISTICS, Iv, STRIPE_STATISTICS};
use super::key::KeyVersion;
use super::provider::KeyProvider;
use super::variants::{Variant, Variants};

/// The variants of a file that can be decrypted.
pub(crate) struct Unlocked {
    variants: Arc<Variants>,
    provider: Arc<dyn KeyProvider>,
    /// The ciphers of the statistics of variants whose keys the provider has, by the number of the variant.
    tails: BTreeMap<usize, Arc<Cipher>>,
    /// The number of the variant that each column is read from, by column id.
    columns: Vec<Option<usize>>,
    /// Ciphers of stripes by variant and wrapped key. A merged file has several for a variant.
    stripes: Mutex<BTreeMap<(usize, Bytes), Arc<Cipher>>>,
}

impl std::fmt::Debug for Unlocked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unlocked").field("variants", &self.tails.keys()).finish_non_exhaustive()
    }
}

impl Unlocked {
    /// Asks a provider for the keys of the statistics, which decide what can be read: of each of `num_columns` columns, the
    /// first variant with a key.
    ///
    /// # Errors
    /// `Corrupt` where a wrapped key has a wrong length; errors of the provider.
    pub(crate) fn try_new(variants: Arc<Variants>, num_columns: usize, provider: Arc<dyn KeyProvider>) -> Result<Self> {
        let (mut tails, mut columns) = (BTreeMap::new(), Columns::new(num_columns));
        // The first variant of a key decides whether the provider has it.
        let mut has_key = BTreeMap::new();
        for (number, variant) in variants.all.iter().enumerate() {
            let Some(Ok(key)) = variants.keys.get(variant.key) else { continue };
            // Of columns that another variant is read of, no key is needed.
            if has_key.get(&variant.key) == Some(&false) || !columns.has_room(variant.columns()) {
                continue;
            }
            let local = unwrapped(&*provider, key, &variant.wrapped_key)?;
            if has_key.insert(variant.key, local.is_some()) == Some(true) && local.is_none() {
                return Err(withdrawn(key));
            }
            let Some(cipher) = local else { continue };
            tails.insert(number, Arc::new(cipher));
            columns.fill(variant.columns(), number);
        }
        Ok(Unlocked { variants, provider, tails, columns: columns.variants, stripes: Mutex::default() })
    }

    /// Number of variants of the file.
    pub(crate) fn num_variants(&self) -> usize {
        self.variants.all.len()
    }

    /// The number of the variant that a column is read from; `None` for a column that is not encrypted, or whose key is
    /// missing.
    pub(crate) fn variant_of(&self, column: u32) -> Option<usize> {
        self.columns.get(usize::try_from(column).ok()?).copied().flatten()
    }

    /// The columns that are read from variants, ascending.
    pub(crate) fn columns(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.columns).filter(|(_, variant)| variant.is_some()).map(|(column, _)| column)
    }

    /// The ids of the columns of a variant.
    pub(crate) fn columns_of(&self, number: usize) -> Result<Range<u32>> {
        Ok(self.variant(number)?.columns())
    }

    fn variant(&self, number: usize) -> Result<&Variant> {
        self.variants.all.get(number).or_internal("a variant is none of the file")
    }

    fn key(&self, variant: &Variant) -> Result<&KeyVersion> {
        let key = self.variants.keys.get(variant.key).and_then(|key| key.as_ref().ok());
        key.or_internal("a variant was unlocked without a key")
    }

    /// The cipher of the streams of a variant in a stripe, and the id of the stripe for their vectors.
    ///
    /// # Errors
    /// `Corrupt` where the stripe has no key for the variant; errors of the provider.
    pub(crate) fn stripe_cipher(&self, number: usize, stripe: usize) -> Result<(Arc<Cipher>, u64)> {
        let keys = self.variants.stripes.get(stripe).or_internal("an encrypted stripe is none of the file")?;
        let wrapped = keys.wrapped.get(number).ok_or_else(|| {
            Error::corrupt(format!("{} encrypted keys for {} variants", keys.wrapped.len(), self.num_variants()))
        })?;
        let variant = self.variant(number)?;
        if *wrapped == variant.wrapped_key {
            return Ok((self.tail_cipher(number)?.clone(), keys.id));
        }
        let lock = || self.stripes.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = (number, wrapped.clone());
        let known = lock().get(&entry).cloned();
        if let Some(cipher) = known {
            return Ok((cipher, keys.id));
        }
        let key = self.key(variant)?;
        let cipher = Arc::new(unwrapped(&*self.provider, key, wrapped)?.ok_or_else(|| withdrawn(key))?);
        lock().insert(entry, cipher.clone());
        Ok((cipher, keys.id))
    }

    fn tail_cipher(&self, number: usize) -> Result<&Arc<Cipher>> {
        self.tails.get(&number).or_internal("a variant without a key is read")
    }

    /// The id of what is after the stripes, in initialization vectors.
    fn tail_id(&self) -> u64 {
        (self.variants.stripes.len() as u64).saturating_add(1)
    }

    /// The decrypted statistics of the file of each unlocked variant, as stored before encryption; none where a variant has
    /// none.
    ///
    /// # Errors
    /// `Unsupported` for more stripes than vectors can number.
    pub(crate) fn file_statistics(&self) -> Result<Vec<(usize, Bytes)>> {
        let decrypt = |(&number, cipher): (&usize, &Arc<Cipher>)| {
            let variant = self.variant(number)?;
            let mut bytes = variant.file_statistics.to_vec();
            cipher.apply(Iv::of_stream(variant.root, FILE_STATISTICS, self.tail_id())?, 0, &mut bytes)?;
            Ok((number, bytes.into()))
        };
        self.tails.iter().map(decrypt).collect()
    }

    /// Bytes of the encrypted statistics of the stripes of all variants, which are before those in clear.
    pub(crate) fn stripe_statistics_length(&self) -> u64 {
        self.variants.statistics_length
    }

    /// The decrypted statistics of the stripes for each column of `wanted` that is read from a variant, as stored before
    /// encryption. `section` has the encrypted ones of all variants.
    ///
    /// # Errors
    /// `Corrupt` where they are longer than the section.
    pub(crate) fn stripe_statistics(
        &self,
        section: &Bytes,
        wanted: &dyn Fn(u32) -> bool,
    ) -> Result<BTreeMap<u32, Bytes>> {
        let (mut found, mut at) = (BTreeMap::new(), 0usize);
        for (number, variant) in self.variants.all.iter().enumerate() {
            for &(column, length) in &variant.stripe_statistics {
                let end = usize::try_from(length).ok().and_then(|length| at.checked_add(length));
                let stored = end.and_then(|end| Some((section.get(at..end)?, end)));
                let (stored, end) = stored.ok_or_else(|| {
                    Error::corrupt("the encrypted statistics of stripes are longer than their section")
                })?;
                at = end;
                if self.variant_of(column) == Some(number) && wanted(column) {
                    let mut bytes = stored.to_vec();
                    let iv = Iv::of_stream(column, STRIPE_STATISTICS, self.tail_id())?;
                    self.tail_cipher(number)?.apply(iv, 0, &mut bytes)?;
                    found.insert(column, bytes.into());
                }
            }
        }
        Ok(found)
    }

    /// An error in decrypted bytes of a variant, with what may be its cause. A wrong key is not told from damaged bytes: the
    /// format has no authentication.
    pub(crate) fn undecryptable(&self, number: usize, error: Error) -> Error {
        if !error.kind().is_of_file() {
            return error;
        }
        let key = self.variant(number).and_then(|variant| self.key(variant)).map(ToString::to_string);
        match key {
            Ok(key) => Error::corrupt(format!(
                "what is decrypted cannot be decoded: the given key {key} is not that of the writer, or bytes are damaged"
            ))
            .with_source(error),
            Err(internal) => internal,
        }
    }
}

/// Columns that are given to variants. The roots of variants can be nested or repeated: each column is visited once.
struct Columns {
    variants: Vec<Option<usize>>,
    /// For each column the next one, itself included, that may have no variant.
    next: Vec<usize>,
}

impl Columns {
    fn new(count: usize) -> Self {
        Columns { variants: vec![None; count], next: (0..=count).collect() }
    }

    /// The first column from `at` on without a variant; the number of columns where all have one.
    fn first_without(&mut self, at: usize) -> usize {
        let mut found = at.min(self.variants.len());
        while let Some(&next) = self.next.get(found).filter(|&&next| next != found) {
            found = next;
        }
        // The columns that were passed lead to it at once.
        let mut passed = at;
        while let Some(next) = self.next.get_mut(passed).filter(|next| **next != found && passed != found) {
            passed = std::mem::replace(next, found);
        }
        found
    }

    /// Whether a column of a range has no variant.
    fn has_room(&mut self, range: Range<u32>) -> bool {
        let Range { start, end } = places(range);
        self.first_without(start) < end.min(self.variants.len())
    }

    /// Gives the columns of a range without a variant the one with a number.
    fn fill(&mut self, range: Range<u32>, number: usize) {
        let Range { start, end } = places(range);
        let mut at = self.first_without(start);
        while at < end
            && let Some(variant) = self.variants.get_mut(at)
        {
            *variant = Some(number);
            if let Some(next) = self.next.get_mut(at) {
                *next = at + 1;
            }
            at = self.first_without(at + 1);
        }
    }
}

fn places(range: Range<u32>) -> Range<usize> {
    let place = |id| usize::try_from(id).unwrap_or(usize::MAX);
    place(range.start)..place(range.end)
}

/// The cipher of a local key; `None` where the provider has no access to the master key.
fn unwrapped(provider: &dyn KeyProvider, key: &KeyVersion, wrapped: &[u8]) -> Result<Option<Cipher>> {
    let wrong_length = || {
        let (length, name) = (wrapped.len(), key.algorithm.name());
        Error::corrupt(format!("an encrypted key of {length} bytes, for key {key} of {name}"))
    };
    // Services have wrapped keys of other forms: of AWS, for example, they have any length.
    if wrapped.is_empty() {
        return Err(wrong_length());
    }
    let Some(local) = provider.unwrap_local_key(key, wrapped)? else { return Ok(None) };
    if local.algorithm() != key.algorithm {
        return Err(Error::invalid(format!(
            "the provider of key {key} gave a local key of {} bits",
            local.expose().len() * 8
        )));
    }
    Cipher::try_new(&local).map(Some)
}

fn withdrawn(key: &KeyVersion) -> Error {
    Error::invalid(format!("the provider of key {key} has unwrapped one local key of the file, and refuses another"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_the_first_of_its_variants() {
        let mut columns = Columns::new(10);
        for (number, range) in [3..5, 2..8, 4..6, 0..10, 0..10].into_iter().enumerate() {
            assert_eq!(columns.has_room(range.clone()), number != 2 && number != 4, "{range:?}");
            columns.fill(range, number);
        }
        let expected = [3, 3, 1, 0, 0, 1, 1, 1, 3, 3];
        assert_eq!(columns.variants, expected.map(Some));
    }
}
