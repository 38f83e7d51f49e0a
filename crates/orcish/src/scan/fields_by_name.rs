//! Fields by name.

use std::collections::HashMap;

use arrow_schema::Fields;

/// Indexes of the columns of each name. Names need not be unique.
#[derive(Debug, Default)]
pub(super) struct FieldsByName(HashMap<String, Vec<usize>>);

impl FieldsByName {
    pub(super) fn of(fields: &Fields) -> Self {
        let mut places = HashMap::<_, Vec<_>>::new();
        for (place, field) in fields.iter().enumerate() {
            places.entry(field.name().clone()).or_default().push(place);
        }
        FieldsByName(places)
    }

    pub(super) fn get(&self, name: &str) -> Option<&[usize]> {
        self.0.get(name).map(Vec::as_slice)
    }
}
