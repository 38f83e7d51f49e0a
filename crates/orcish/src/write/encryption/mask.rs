//! Masks: what readers without a key see of an encrypted column.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef, BinaryArray, StringArray, StructArray, new_null_array};
use arrow_schema::{DataType, Field, Fields};
use orcish_core::cast::plain_values;
use orcish_core::error::{Error, OrInternal as _, Result};
use orcish_core::types::{is_binary, is_text};
use sha2::{Digest as _, Sha256};

use crate::proto::orc;
use crate::schema::{Kind, Schema};

/// What readers without the key of a column see in place of its values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mask {
    /// Nulls.
    #[default]
    Nullify,
    /// The SHA-256 digest of strings, as upper-case hexadecimal digits that are cut to the length of the type, and of binary
    /// values, as its 32 bytes. Values of other types are null. Digests of values that can be guessed can be computed by anybody.
    Sha256,
}

impl Mask {
    /// The name of the mask in files.
    pub fn name(&self) -> &'static str {
        match self {
            Mask::Nullify => "nullify",
            Mask::Sha256 => "sha256",
        }
    }

    pub(super) fn to_proto(&self, columns: Vec<u32>) -> orc::DataMask {
        orc::DataMask { name: Some(self.name().into()), mask_parameters: Vec::new(), columns }
    }
}

/// The masks of an encrypted column and of the columns below it.
#[derive(Debug, Clone)]
pub(in crate::write) struct ColumnMask {
    root: u32,
    /// The mask of each column, by its id.
    masks: Arc<BTreeMap<u32, Mask>>,
    schema: Arc<Schema>,
}

impl ColumnMask {
    pub(super) fn new(root: u32, masks: Arc<BTreeMap<u32, Mask>>, schema: Arc<Schema>) -> Self {
        ColumnMask { root, masks, schema }
    }

    /// The mask of an array of values of the column.
    ///
    /// # Errors
    /// `Unsupported` for arrays that Arrow cannot take apart.
    pub(in crate::write) fn apply(&self, array: &ArrayRef) -> Result<ArrayRef> {
        self.masked(self.root, array)
    }

    fn masked(&self, id: u32, array: &ArrayRef) -> Result<ArrayRef> {
        let array = plain_values(array)?;
        match self.masks.get(&id).or_internal("an encrypted column has no mask")? {
            Mask::Nullify => Ok(new_null_array(&nullable(array.data_type()), array.len())),
            Mask::Sha256 => self.digests(id, &array),
        }
    }

    /// Digests of texts and binary values, and nulls of other values. Structs keep their nulls and lists their lengths.
    fn digests(&self, id: u32, array: &ArrayRef) -> Result<ArrayRef> {
        let this = self.schema.get(id)?;
        let kind = array.data_type();
        if is_text(kind) {
            let texts = arrow_cast::cast(array, &DataType::LargeUtf8).or_internal("text is not cast to text")?;
            let length = match this.kind {
                Kind::Char | Kind::Varchar => this.max_length.and_then(|length| usize::try_from(length).ok()),
                _ => None,
            };
            let digest = |text: &str| hexadecimal(text.as_bytes(), length.unwrap_or(usize::MAX));
            let digests = texts.as_string::<i64>().iter().map(|text| text.map(digest));
            let digests: ArrayRef = Arc::new(digests.collect::<StringArray>());
            return arrow_cast::cast(&digests, kind).or_internal("text is not cast to text");
        }
        if is_binary(kind) {
            let values = arrow_cast::cast(array, &DataType::LargeBinary).or_internal("binary is not cast to binary")?;
            let digests =
                values.as_binary::<i64>().iter().map(|value| value.map(|value| Sha256::digest(value).to_vec()));
            let digests: ArrayRef = Arc::new(digests.collect::<BinaryArray>());
            return arrow_cast::cast(&digests, kind).or_internal("binary is not cast to binary");
        }
        match kind {
            DataType::Struct(fields) if this.kind == Kind::Struct && this.children.len() == fields.len() => {
                let values = array.as_struct();
                let children = this.children.iter().zip(values.columns());
                let columns =
                    children.map(|(&child, column)| self.masked(child, column)).collect::<Result<Vec<_>>>()?;
                // Masks have no dictionaries and runs.
                let fields = fields.iter().zip(&columns).map(|(field, column)| {
                    field.as_ref().clone().with_data_type(column.data_type().clone()).with_nullable(true)
                });
                let masked = StructArray::try_new(fields.collect(), columns.clone(), values.nulls().cloned());
                Ok(Arc::new(masked.or_internal("the fields of a mask are none of its struct")?))
            }
            _ => Ok(new_null_array(&nullable(kind), array.len())),
        }
    }
}

/// The type with fields that may be null: a mask of a value may be null where no value is.
fn nullable(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Struct(fields) => DataType::Struct(nullable_fields(fields)),
        other => other.clone(),
    }
}

fn nullable_fields(fields: &Fields) -> Fields {
    let field = |field: &Arc<Field>| {
        let kind = nullable(field.data_type());
        Arc::new(field.as_ref().clone().with_data_type(kind).with_nullable(true))
    };
    fields.iter().map(field).collect()
}

/// The digest of bytes as at most `length` upper-case digits.
fn hexadecimal(bytes: &[u8], length: usize) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02X}");
    }
    text.truncate(length);
    text
}

impl std::str::FromStr for Mask {
    type Err = Error;

    /// The mask of its name in files.
    fn from_str(name: &str) -> Result<Self> {
        match name {
            "nullify" => Ok(Mask::Nullify),
            "sha256" => Ok(Mask::Sha256),
            other => Err(Error::invalid(format!("mask: there is no mask {}", other.escape_debug()))),
        }
    }
}
