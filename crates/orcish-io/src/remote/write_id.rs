//! Random IDs in the metadata of objects, which identify their writers.

use std::borrow::Cow;

use object_store::{Attribute, Attributes};
use orcish_core::process::unique_id;

/// The name of the metadata entry. All stores support names of lower-case letters.
const ATTRIBUTE: Attribute = Attribute::Metadata(Cow::Borrowed("orcishmark"));

/// A unique ID of a write. A writer whose request has been retried finds out with it whether an existing object is its
/// own. The empty ID matches no object.
#[derive(Debug, Clone, Default)]
pub(super) struct WriteId(String);

impl WriteId {
    /// Creates a random ID.
    pub(super) fn random() -> Self {
        WriteId(unique_id())
    }

    /// The ID of a staged file.
    pub(super) fn from_text(text: &str) -> Self {
        WriteId(text.to_owned())
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The metadata of an object with this ID.
    pub(super) fn to_attributes(&self) -> Attributes {
        Attributes::from_iter([(ATTRIBUTE, self.0.clone())])
    }

    /// Whether the metadata of an object contains this ID.
    pub(super) fn matches(&self, attributes: &Attributes) -> bool {
        !self.is_empty() && attributes.get(&ATTRIBUTE).is_some_and(|value| value.as_ref() == self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ() {
        let ids: std::collections::HashSet<_> = (0..1000).map(|_| WriteId::random().0).collect();
        assert_eq!(ids.len(), 1000);
    }
}
