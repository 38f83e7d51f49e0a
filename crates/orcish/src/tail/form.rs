//! What of a tail is not as the format says, and is passed over by who reads: it changes no value.

use bytes::Bytes;
use orcish_core::error::Result;
use prost::Message as _;

use super::FileTail;
use crate::proto::{count_fields, lazy, orc, to_string_lossy};
use crate::schema::Kind;

/// The tag of the types in a footer.
const TYPES: u32 = 4;

impl FileTail {
    /// What of the tail is not as the format says, and of which column; the root stands for the file.
    pub(crate) fn oddities(&self) -> Vec<(u32, String)> {
        let raw = &self.raw;
        let postscript = raw.postscript.clone().and_then(|bytes| orc::PostScript::decode(bytes).ok());
        let footer = raw.footer.clone().and_then(|bytes| lazy::Footer::decode(bytes).ok());
        let (Some(postscript), Some(footer)) = (postscript, footer) else { return Vec::new() };
        let mut found = Vec::new();
        self.of_postscript(&postscript, &mut found);
        self.of_footer(&footer, &mut found);
        for (id, this) in (0u32..).zip(&footer.types) {
            self.of_type(id, this, &mut found);
        }
        found
    }

    /// How many types the footer lists, those that the root does not reach included. The footer is gone through for it.
    ///
    /// # Errors
    /// `Corrupt` when it is no message.
    pub(crate) fn listed_types(&self) -> Result<usize> {
        count_fields(self.raw.footer.as_deref().unwrap_or_default(), TYPES)
    }

    fn of_postscript(&self, postscript: &orc::PostScript, found: &mut Vec<(u32, String)>) {
        if postscript.magic.is_some() && postscript.magic() != b"ORC" {
            found.push((0, format!("the magic of the postscript is {:?}", to_string_lossy(postscript.magic()))));
        }
        let end = self.file_length.saturating_sub(self.tail_length);
        if postscript.metadata_length() > end {
            let length = postscript.metadata_length();
            found.push((0, format!("stripe statistics of {length} bytes do not fit into the file")));
        }
    }

    fn of_footer(&self, footer: &lazy::Footer, found: &mut Vec<(u32, String)>) {
        let stated = footer.number_of_rows.unwrap_or(0);
        if stated != self.rows {
            found.push((0, format!("the footer states {stated} rows, and its stripes have {}", self.rows)));
        }
        let (listed, reached) = (footer.types.len(), self.schema.types().len());
        if reached < listed {
            found.push((0, format!("of {listed} types the root reaches {reached}")));
        }
        for item in &footer.metadata {
            found.extend(not_text("a key of the user metadata", item.name()).map(|text| (0, text)));
        }
        let version = footer.software_version.as_deref().unwrap_or_default();
        found.extend(not_text("the version of the software", version).map(|text| (0, text)));
        for variant in footer.encryption.iter().flat_map(|encryption| &encryption.variants) {
            if self.schema.get(variant.root()).is_err() {
                found.push((0, format!("column {} is encrypted, which is none", variant.root())));
            }
        }
    }

    fn of_type(&self, id: u32, this: &orc::Type, found: &mut Vec<(u32, String)>) {
        let Ok(read) = self.schema.get(id) else { return };
        let (children, names) = (this.subtypes.len(), this.field_names.len());
        let needed = if read.kind == Kind::Struct { children } else { 0 };
        if let Some((_, fault)) = &read.fault {
            found.push((id, format!("its type cannot be read: {fault}")));
        } else if names > needed {
            found.push((id, format!("a {} with {names} names of fields, where it has {needed}", read.kind.name())));
        }
        let nuls = this.field_names.iter().filter(|name| name.contains(&0));
        found.extend(nuls.map(|name| (id, format!("the name of a field has a NUL: {:?}", to_string_lossy(name)))));
        let texts = this.field_names.iter().map(|name| ("the name of a field", name));
        let pair = |pair: &orc::StringPair| [pair.key.clone(), pair.value.clone()];
        let attributes: Vec<Bytes> = this.attributes.iter().flat_map(pair).flatten().collect();
        let texts = texts.chain(attributes.iter().map(|text| ("an attribute", text)));
        let texts = texts.chain(this.crs.iter().map(|text| ("the coordinate system", text)));
        found.extend(texts.filter_map(|(what, text)| Some((id, not_text(what, text)?))));
    }
}

/// What is to be said of text that is not UTF-8.
pub(crate) fn not_text(what: &str, text: &[u8]) -> Option<String> {
    std::str::from_utf8(text).is_err().then(|| format!("{what} is not UTF-8: {:?}", to_string_lossy(text)))
}
