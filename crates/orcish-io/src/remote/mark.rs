//! What tells a file from another of the same name: a random text in its metadata.

use std::borrow::Cow;
use std::hash::{BuildHasher as _, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

use object_store::{Attribute, Attributes};

/// Name of the metadata; all stores take small letters.
const NAME: Attribute = Attribute::Metadata(Cow::Borrowed("orcishmark"));

/// A text that no other file has.
#[derive(Debug, Clone, Default)]
pub(super) struct Mark(String);

impl Mark {
    pub(super) fn new() -> Self {
        // Random by process and thread; children of a fork have what their parent had, and another number.
        let random = RandomState::new().hash_one(());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        Mark(format!("{random:016x}{now:x}-{}", std::process::id()))
    }

    /// The mark that is in a token; the empty one is of no file.
    pub(super) fn of(text: &str) -> Self {
        Mark(text.to_owned())
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn attributes(&self) -> Attributes {
        Attributes::from_iter([(NAME, self.0.clone())])
    }

    /// Whether a file of these attributes has this mark.
    pub(super) fn is_in(&self, attributes: &Attributes) -> bool {
        !self.is_empty() && attributes.get(&NAME).is_some_and(|found| found.as_ref() == self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_differ() {
        let marks: std::collections::HashSet<_> = (0..1000).map(|_| Mark::new().0).collect();
        assert_eq!(marks.len(), 1000);
    }
}
