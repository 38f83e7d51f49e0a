//! Deviations of a tail from the specification that readers tolerate, as they change no value.

use bytes::Bytes;
use orcish_core::OrInternal as _;
use orcish_core::error::{Error, Result};

use super::FileTail;
use crate::proto::{ODD_FIELDS, count_fields, decode_message, lazy, orc, to_string_lossy, without_odd_fields};
use crate::schema::Kind;

/// The tag of the types in a footer.
const TYPES: u32 = 4;

impl FileTail {
    /// The deviations of the tail from the specification, each with the id of its column. The column of the file is the root.
    ///
    /// # Errors
    /// `Internal` where the tail cannot be decoded again.
    pub(crate) fn deviations(&self) -> Result<Vec<(u32, String)>> {
        let stored_postscript = self.raw.postscript.clone().or_internal("a decoded tail has no postscript")?;
        let stored_footer = self.stored_footer()?;
        let again = |error: prost::DecodeError| Error::internal("a tail is decoded twice").with_source(error);
        let mut deviations = Vec::new();
        let has_odd_fields = without_odd_fields::<orc::PostScript>(&stored_postscript).is_some()
            || without_odd_fields::<lazy::Footer>(&stored_footer).is_some();
        let postscript = decode_message::<orc::PostScript>(stored_postscript).map_err(again)?;
        let footer = decode_message::<lazy::Footer>(stored_footer).map_err(again)?;
        if has_odd_fields {
            deviations.push((0, ODD_FIELDS.to_owned()));
        }
        self.check_postscript(&postscript, &mut deviations);
        self.check_footer(&footer, &mut deviations);
        for (id, this) in (0u32..).zip(&footer.types) {
            self.check_type(id, this, &mut deviations);
        }
        Ok(deviations)
    }

    /// Number of types in the footer, including types that are not reachable from the root. Reads the fields of the footer.
    ///
    /// # Errors
    /// `Corrupt` where the footer is not a message.
    pub(crate) fn listed_types(&self) -> Result<usize> {
        count_fields(&self.stored_footer()?, TYPES)
    }

    fn check_postscript(&self, postscript: &orc::PostScript, deviations: &mut Vec<(u32, String)>) {
        if postscript.magic.is_some() && postscript.magic() != b"ORC" {
            deviations.push((0, format!("the magic of the postscript is {:?}", to_string_lossy(postscript.magic()))));
        }
        let end = self.file_length.saturating_sub(self.tail_length);
        if postscript.metadata_length() > end {
            let length = postscript.metadata_length();
            deviations.push((0, format!("stripe statistics of {length} bytes do not fit into the file")));
        }
    }

    fn check_footer(&self, footer: &lazy::Footer, deviations: &mut Vec<(u32, String)>) {
        let stated = footer.number_of_rows.unwrap_or(0);
        if stated != self.rows {
            deviations.push((0, format!("the footer states {stated} rows, and its stripes have {}", self.rows)));
        }
        let (listed, reached) = (footer.types.len(), self.schema.types().len());
        if reached < listed {
            deviations.push((0, format!("of {listed} types the root reaches {reached}")));
        }
        for item in &footer.metadata {
            deviations.extend(describe_invalid_utf8("a key of the user metadata", item.name()).map(|text| (0, text)));
        }
        if let Some(version) = &footer.software_version {
            deviations.extend(describe_invalid_utf8("the version of the software", version).map(|text| (0, text)));
        }
        for variant in footer.encryption.iter().flat_map(|encryption| &encryption.variants) {
            if self.schema.get(variant.root()).is_err() {
                deviations.push((0, format!("column {} is encrypted, which is none", variant.root())));
            }
        }
    }

    fn check_type(&self, id: u32, this: &orc::Type, deviations: &mut Vec<(u32, String)>) {
        let Ok(read) = self.schema.get(id) else { return };
        let (children, names) = (this.subtypes.len(), this.field_names.len());
        let needed = if read.kind == Kind::Struct { children } else { 0 };
        if let Some((_, fault)) = &read.fault {
            deviations.push((id, format!("its type cannot be read: {fault}")));
        } else if names > needed {
            deviations
                .push((id, format!("a {} with {names} names of fields, where it has {needed}", read.kind.name())));
        }
        let nuls = this.field_names.iter().filter(|name| name.contains(&0));
        deviations.extend(nuls.map(|name| (id, format!("the name of a field has a NUL: {:?}", to_string_lossy(name)))));
        let texts = this.field_names.iter().map(|name| ("the name of a field", name));
        let pair = |pair: &orc::StringPair| [pair.key.clone(), pair.value.clone()];
        let attributes: Vec<Bytes> = this.attributes.iter().flat_map(pair).flatten().collect();
        let texts = texts.chain(attributes.iter().map(|text| ("an attribute", text)));
        let texts = texts.chain(this.crs.iter().map(|text| ("the coordinate system", text)));
        deviations.extend(texts.filter_map(|(what, text)| Some((id, describe_invalid_utf8(what, text)?))));
    }
}

/// The description of a text that is not UTF-8; `None` for valid UTF-8.
pub(crate) fn describe_invalid_utf8(what: &str, text: &[u8]) -> Option<String> {
    std::str::from_utf8(text).is_err().then(|| format!("{what} is not UTF-8: {:?}", to_string_lossy(text)))
}
