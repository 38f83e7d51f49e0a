//! Names of columns and of the fields within them.

use std::fmt;

/// The name of a column, or of a field within columns: the steps that lead to it, joined by dots.
///
/// A text is one step. Its dots can be those of a name, or lead from a column to its fields; see
/// [`NameResolver`](super::NameResolver). A dot between two steps leads from a column to its fields.
///
/// ```
/// use orcish_core::names::ColumnName;
///
/// let name = ColumnName::of_steps(["a.b", "c"]);
/// assert_eq!((name.as_str(), name.steps().collect()), ("a.b.c", vec!["a.b", "c"]));
/// assert_ne!(name, ColumnName::from("a.b.c"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColumnName {
    text: String,
    /// Positions of the dots between steps, in bytes.
    dots: Vec<usize>,
}

impl ColumnName {
    /// The name of a path: the name of a column, and the names of fields within it.
    pub fn of_steps<S: AsRef<str>>(steps: impl IntoIterator<Item = S>) -> Self {
        let mut steps = steps.into_iter();
        let mut name = ColumnName::from(steps.next().as_ref().map_or("", S::as_ref));
        for step in steps {
            name.dots.push(name.text.len());
            name.text.push('.');
            name.text.push_str(step.as_ref());
        }
        name
    }

    /// The steps, joined by dots.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The steps: the name of a column, and the names of fields within it.
    pub fn steps(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.dots.iter().map(|dot| dot + 1));
        let ends = self.dots.iter().copied().chain([self.text.len()]);
        starts.zip(ends).filter_map(|(start, end)| self.text.get(start..end))
    }

    /// Whether the name has one step, such as a text.
    pub fn is_one_step(&self) -> bool {
        self.dots.is_empty()
    }

    /// Positions of the dots between steps, in bytes.
    pub(super) fn dots(&self) -> &[usize] {
        &self.dots
    }
}

impl From<String> for ColumnName {
    fn from(text: String) -> Self {
        ColumnName { text, dots: Vec::new() }
    }
}

impl From<&str> for ColumnName {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&String> for ColumnName {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl From<&ColumnName> for ColumnName {
    fn from(name: &ColumnName) -> Self {
        name.clone()
    }
}

/// Whether the name is that of a text, which has one step.
impl PartialEq<str> for ColumnName {
    fn eq(&self, text: &str) -> bool {
        self.is_one_step() && self.text == text
    }
}

impl PartialEq<&str> for ColumnName {
    fn eq(&self, text: &&str) -> bool {
        *self == **text
    }
}

/// The steps, joined by dots.
impl fmt::Display for ColumnName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}
