//! The plan of what is encrypted: validated options, and the keys of a file.

use std::collections::BTreeMap;
use std::sync::Arc;

use orcish_core::error::{Error, OrInternal as _, Result};

use super::mask::{ColumnMask, Mask};
use super::options::ColumnEncryption;
use crate::encryption::{Cipher, KeyProvider, KeyVersion, Keys, SecretKey};
use crate::proto::orc;
use crate::schema::{Kind, Schema};

/// The encrypted columns of a file, with the keys that were made for it.
#[derive(Debug)]
pub(in crate::write) struct EncryptionPlan {
    /// The variants, by the names of their keys and then by their columns, as in the file.
    pub(super) variants: Vec<VariantPlan>,
    pub(super) keys: Vec<KeyVersion>,
    masks: Arc<BTreeMap<u32, Mask>>,
    schema: Arc<Schema>,
}

/// A column that is encrypted with all columns below it.
#[derive(Debug)]
pub(super) struct VariantPlan {
    pub(super) root: u32,
    /// Number of columns.
    pub(super) columns: usize,
    /// Position of the key.
    pub(super) key: usize,
    /// The wrapped local key, which the file has.
    pub(super) wrapped: Vec<u8>,
    pub(super) cipher: Cipher,
    local: SecretKey,
}

/// The local keys of a file that is being written, with which it is verified.
struct LocalKeys(Vec<(Vec<u8>, SecretKey)>);

impl KeyProvider for LocalKeys {
    fn unwrap_local_key(&self, _: &KeyVersion, wrapped: &[u8]) -> Result<Option<SecretKey>> {
        Ok(self.0.iter().find(|(own, _)| own == wrapped).map(|(_, local)| local.clone()))
    }
}

impl EncryptionPlan {
    /// Makes a local key for each encrypted column. `None` where no column is encrypted.
    ///
    /// # Errors
    /// `InvalidArgument` for columns that cannot be encrypted, `UnknownColumn` for those that do not exist; errors of the provider
    /// of the keys.
    pub(in crate::write) fn try_new(options: &ColumnEncryption, schema: &Schema) -> Result<Option<Self>> {
        if options.is_empty() {
            return match options.masks.first() {
                Some((column, _)) => Err(Error::invalid(format!("mask: column {column} is not encrypted"))),
                None => Ok(None),
            };
        }
        options.check_keys()?;
        let mut roots: BTreeMap<u32, &str> = BTreeMap::new();
        for (column, key) in &options.columns {
            let root = schema.column_id(column)?;
            check_root(root, schema)?;
            roots.insert(root, key);
        }
        let mut last: Option<(u32, u32)> = None;
        for &root in roots.keys() {
            if let Some((outer, end)) = last.filter(|&(_, end)| root <= end) {
                let text = format!(
                    "encrypt: column {} is within {}, which is encrypted",
                    schema.path(root),
                    schema.path(outer)
                );
                let _ = end;
                return Err(Error::invalid(text));
            }
            last = Some((root, schema.get(root)?.last));
        }
        let mut by_key: Vec<(&str, u32)> = roots.iter().map(|(&root, &key)| (key, root)).collect();
        by_key.sort_unstable();
        let provider = options.keys.provider();
        let (mut keys, mut variants): (Vec<KeyVersion>, Vec<VariantPlan>) = (Vec::new(), Vec::new());
        for (name, root) in by_key {
            if keys.last().is_none_or(|key| key.name != name) {
                keys.push(provider.current_version(name)?);
            }
            let key = keys.last().or_internal("a variant has no key")?;
            let (local, wrapped) = provider.new_local_key(key)?;
            if local.algorithm() != key.algorithm {
                return Err(Error::invalid(format!("the provider of key {key} made a local key of another length")));
            }
            let columns = (schema.get(root)?.last - root + 1) as usize;
            let cipher = Cipher::try_new(&local)?;
            variants.push(VariantPlan { root, columns, key: keys.len() - 1, wrapped, cipher, local });
        }
        let masks = masks(options, &roots, schema)?;
        Ok(Some(EncryptionPlan { variants, keys, masks: Arc::new(masks), schema: Arc::new(schema.clone()) }))
    }

    /// The number of the variant whose column has an id, and its mask.
    pub(in crate::write) fn variant(&self, root: u32) -> Option<(usize, ColumnMask)> {
        let number = self.variants.iter().position(|variant| variant.root == root)?;
        Some((number, ColumnMask::new(root, self.masks.clone(), self.schema.clone())))
    }

    /// The wrapped keys of a stripe, one for each variant.
    pub(in crate::write) fn wrapped_keys(&self) -> Vec<bytes::Bytes> {
        self.variants.iter().map(|variant| variant.wrapped.clone().into()).collect()
    }

    /// The cipher of the variant with a number.
    pub(in crate::write) fn cipher(&self, number: usize) -> Result<&Cipher> {
        Ok(&self.variants.get(number).or_internal("a variant has no number")?.cipher)
    }

    /// The local keys of the file.
    pub(in crate::write) fn local_keys(&self) -> Keys {
        let keys = self.variants.iter().map(|variant| (variant.wrapped.clone(), variant.local.clone()));
        Keys::new(Arc::new(LocalKeys(keys.collect())))
    }

    /// The masks of the footer, with the columns that have them.
    pub(super) fn data_masks(&self) -> Vec<orc::DataMask> {
        let mut masks: Vec<(&Mask, Vec<u32>)> = Vec::new();
        for (&column, mask) in &*self.masks {
            match masks.iter_mut().find(|(other, _)| *other == mask) {
                Some((_, columns)) => columns.push(column),
                None => masks.push((mask, vec![column])),
            }
        }
        masks.into_iter().map(|(mask, columns)| mask.to_proto(columns)).collect()
    }
}

fn check_root(root: u32, schema: &Schema) -> Result<()> {
    let this = schema.get(root)?;
    match this.parent {
        None => Err(Error::invalid("encrypt: the root is not encrypted, but columns of it")),
        Some(parent) if schema.get(parent)?.kind == Kind::Union => {
            let text = format!("encrypt: {} is a variant of a union, which is encrypted as a whole", schema.path(root));
            Err(Error::invalid(text))
        }
        Some(_) => Ok(()),
    }
}

/// The mask of each encrypted column: its own, or that of the nearest column above it.
fn masks(options: &ColumnEncryption, roots: &BTreeMap<u32, &str>, schema: &Schema) -> Result<BTreeMap<u32, Mask>> {
    let mut given: BTreeMap<u32, &Mask> = BTreeMap::new();
    for (column, mask) in &options.masks {
        let id = schema.column_id(column)?;
        let is_encrypted =
            roots.iter().any(|(&root, _)| schema.get(root).is_ok_and(|this| (root..=this.last).contains(&id)));
        if !is_encrypted {
            return Err(Error::invalid(format!("mask: column {column} is not encrypted")));
        }
        if given.insert(id, mask).is_some_and(|other| other != mask) {
            return Err(Error::invalid(format!("mask: column {column} has two masks")));
        }
    }
    let mut masks: BTreeMap<u32, Mask> = BTreeMap::new();
    for &root in roots.keys() {
        for id in root..=schema.get(root)?.last {
            let above = if id == root { None } else { schema.get(id)?.parent.and_then(|parent| masks.get(&parent)) };
            let mask = given.get(&id).copied().or(above).cloned();
            masks.insert(id, mask.unwrap_or(Mask::Nullify));
        }
    }
    Ok(masks)
}
