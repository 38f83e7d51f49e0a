//! Folders whose partition columns have equal values, whatever the spelling of the values.

use std::collections::{BTreeSet, HashMap, HashSet};

use arrow_array::cast::AsArray as _;
use arrow_array::types::Float64Type;
use arrow_array::{Array, StringArray};
use arrow_schema::DataType;
use orcish_core::cast::{ExactCast, plain_values};
use orcish_core::types::value_type;
use orcish_io::hive_partitions_below;

use super::flavor::Flavor;
use super::parse::parse_values;
use crate::time::zone_offsets;

/// The time zone of instants whose texts in names of folders have no offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextZone {
    /// That of the type.
    OfType,
    /// This one.
    Named(String),
    /// None: such texts are no instants.
    Unknown,
}

/// The folders of `files` whose partition columns have the same values as those of the files `new`, and the folders of `new`.
/// Files and folders are paths below `location`.
///
/// `types` are the types in which values of columns are compared. Texts of other columns are compared.
pub fn equal_folders<'a>(
    location: &str,
    files: impl IntoIterator<Item = &'a str>,
    new: impl IntoIterator<Item = &'a str>,
    types: &HashMap<String, (DataType, TextZone)>,
) -> BTreeSet<String> {
    let mut values = Values { types, known: HashMap::new() };
    let own = folders(new);
    let there = folders(files);
    let mut key = |folder: &str| -> Vec<_> {
        let columns = hive_partitions_below(location, &format!("{location}/{folder}/-"));
        columns.into_iter().map(|(name, text)| (values.key(&name, text.as_deref()), name)).collect()
    };
    let wanted: HashSet<_> = own.iter().map(|folder| key(folder)).collect();
    let equal = there.into_iter().filter(|folder| wanted.contains(&key(folder)));
    own.iter().copied().chain(equal).map(str::to_owned).collect()
}

fn folders<'a>(files: impl IntoIterator<Item = &'a str>) -> BTreeSet<&'a str> {
    files.into_iter().map(|file| file.rsplit_once('/').map_or("", |(folder, _)| folder)).collect()
}

/// What is equal where values are equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Null,
    /// A text that is no value of the type, or of a column without a type.
    Text(String),
    /// The bytes of a value.
    Value(Vec<u8>),
}

struct Values<'a> {
    types: &'a HashMap<String, (DataType, TextZone)>,
    /// The keys of texts, by the columns.
    known: HashMap<(String, String), Key>,
}

impl Values<'_> {
    fn key(&mut self, column: &str, text: Option<&str>) -> Key {
        let Some(text) = text else { return Key::Null };
        let Some((kind, zone)) = self.types.get(column) else { return Key::Text(text.to_owned()) };
        let place = (column.to_owned(), text.to_owned());
        let key = || value_in_zone(text, kind, zone).map_or_else(|| Key::Text(text.to_owned()), Key::Value);
        self.known.entry(place).or_insert_with(key).clone()
    }
}

/// The bytes of the value of a text, which are equal where values are; `None` for a text that is no value.
fn value_in_zone(text: &str, kind: &DataType, zone: &TextZone) -> Option<Vec<u8>> {
    let DataType::Timestamp(unit, Some(_)) = kind else { return value(text, kind) };
    let within = |zone: &str| value(text, &DataType::Timestamp(*unit, Some(zone.into())));
    match zone {
        TextZone::OfType => value(text, kind),
        TextZone::Named(zone) => within(zone),
        // The zone decides only of texts without an offset.
        TextZone::Unknown => within("+00:00").filter(|utc| within("+01:00").as_ref() == Some(utc)),
    }
}

fn value(text: &str, kind: &DataType) -> Option<Vec<u8>> {
    let array = parse_values(&StringArray::from_iter_values([text]), value_type(kind), Flavor::Hive).ok()?;
    let array = plain_values(&array).ok()?;
    Some(match array.data_type() {
        DataType::Boolean => vec![array.as_boolean().value(0).into()],
        kind if kind.is_floating() => {
            let exact = ExactCast { zones: &zone_offsets, adds_fields: false };
            let number = exact.apply(&array, &DataType::Float64).ok()?;
            let number = number.as_primitive::<Float64Type>().value(0);
            // Both zeros are equal, and so are all values that are no numbers.
            let same = if number.is_nan() { f64::NAN } else { number + 0.0 };
            same.to_bits().to_le_bytes().to_vec()
        }
        kind => match kind.primitive_width() {
            Some(width) => {
                let data = array.to_data();
                let start = data.offset() * width;
                data.buffers().first()?.as_slice().get(start..start + width)?.to_vec()
            }
            // Texts and binary values.
            None => text.as_bytes().to_vec(),
        },
    })
}

#[cfg(test)]
mod tests {
    use arrow_schema::TimeUnit;

    use super::*;

    fn equal(kind: DataType, zone: TextZone, new: &str, there: &[&str]) -> Vec<String> {
        let types = HashMap::from([("k".to_owned(), (kind, zone))]);
        let file = |text: &str| format!("k={text}/a.orc");
        let (new, files) = (file(new), there.iter().map(|text| file(text)).collect::<Vec<_>>());
        let found = equal_folders("t", files.iter().map(String::as_str), [new.as_str()], &types);
        found.iter().filter_map(|folder| folder.strip_prefix("k=")).map(str::to_owned).collect()
    }

    #[test]
    fn spellings_of_a_value_are_equal() {
        let instant = || DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
        let decimal = DataType::Decimal128(5, 2);
        let codes = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Int64));
        for (kind, zone, new, there, expected) in [
            (DataType::Int64, TextZone::OfType, "7", vec!["07", "8", "x"], vec!["07", "7"]),
            (codes, TextZone::OfType, "7", vec!["07", "8"], vec!["07", "7"]),
            (DataType::Float64, TextZone::OfType, "0.0", vec!["-0.0", "1"], vec!["-0.0", "0.0"]),
            (DataType::Float32, TextZone::OfType, "NaN", vec!["nan", "1"], vec!["NaN"]),
            (DataType::Boolean, TextZone::OfType, "true", vec!["True", "false"], vec!["True", "true"]),
            (decimal, TextZone::OfType, "1.5", vec!["1.50", "1"], vec!["1.5", "1.50"]),
            (DataType::Utf8, TextZone::OfType, "a", vec!["A", "b"], vec!["a"]),
            (DataType::Int64, TextZone::OfType, "x", vec!["x", "y"], vec!["x"]),
            (
                instant(),
                TextZone::Unknown,
                "2026-01-01 00:00:00%2B00:00",
                vec!["2026-01-01 01:00:00%2B01:00", "2026-01-01 00:00:00"],
                vec!["2026-01-01 00:00:00%2B00:00", "2026-01-01 01:00:00%2B01:00"],
            ),
            (
                instant(),
                TextZone::Named("+02:00".to_owned()),
                "2026-01-01 00:00:00",
                vec!["2025-12-31 22:00:00Z"],
                vec!["2025-12-31 22:00:00Z", "2026-01-01 00:00:00"],
            ),
        ] {
            assert_eq!(equal(kind.clone(), zone, new, &there), expected, "{kind} {new}");
        }
    }

    #[test]
    fn folders_of_null_and_of_the_table() {
        let types = HashMap::from([("k".to_owned(), (DataType::Int64, TextZone::OfType))]);
        let null = "k=__HIVE_DEFAULT_PARTITION__";
        let files = [format!("{null}/a.orc"), "k=1/a.orc".to_owned(), "a.orc".to_owned()];
        let equal = |new: &str| equal_folders("t", files.iter().map(String::as_str), [new], &types);
        assert_eq!(equal(&format!("{null}/b.orc")), BTreeSet::from([null.to_owned()]));
        assert_eq!(equal("b.orc"), BTreeSet::from([String::new()]));
    }
}
