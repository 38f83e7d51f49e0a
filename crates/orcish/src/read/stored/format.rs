//! Format strings of Arrow's C data interface.
//!
//! `arrow_schema::ffi` is not used: it panics for types that invalid bytes can describe.

use arrow_schema::{
    DECIMAL32_MAX_PRECISION, DECIMAL64_MAX_PRECISION, DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType,
    FieldRef, IntervalUnit, TimeUnit, UnionFields, UnionMode,
};

/// Types without parameters and children.
const PLAIN: [(&str, DataType); 32] = [
    ("n", DataType::Null),
    ("b", DataType::Boolean),
    ("c", DataType::Int8),
    ("C", DataType::UInt8),
    ("s", DataType::Int16),
    ("S", DataType::UInt16),
    ("i", DataType::Int32),
    ("I", DataType::UInt32),
    ("l", DataType::Int64),
    ("L", DataType::UInt64),
    ("e", DataType::Float16),
    ("f", DataType::Float32),
    ("g", DataType::Float64),
    ("z", DataType::Binary),
    ("Z", DataType::LargeBinary),
    ("vz", DataType::BinaryView),
    ("u", DataType::Utf8),
    ("U", DataType::LargeUtf8),
    ("vu", DataType::Utf8View),
    ("tdD", DataType::Date32),
    ("tdm", DataType::Date64),
    ("tts", DataType::Time32(TimeUnit::Second)),
    ("ttm", DataType::Time32(TimeUnit::Millisecond)),
    ("ttu", DataType::Time64(TimeUnit::Microsecond)),
    ("ttn", DataType::Time64(TimeUnit::Nanosecond)),
    ("tDs", DataType::Duration(TimeUnit::Second)),
    ("tDm", DataType::Duration(TimeUnit::Millisecond)),
    ("tDu", DataType::Duration(TimeUnit::Microsecond)),
    ("tDn", DataType::Duration(TimeUnit::Nanosecond)),
    ("tiM", DataType::Interval(IntervalUnit::YearMonth)),
    ("tiD", DataType::Interval(IntervalUnit::DayTime)),
    ("tin", DataType::Interval(IntervalUnit::MonthDayNano)),
];

const UNITS: [(&str, TimeUnit); 4] =
    [("s", TimeUnit::Second), ("m", TimeUnit::Millisecond), ("u", TimeUnit::Microsecond), ("n", TimeUnit::Nanosecond)];

/// The format string of a type, without its children; `None` for types that Arrow does not have, such as 32-bit times in
/// nanoseconds. The format of a dictionary is the format of its keys.
pub(super) fn format_of(data_type: &DataType) -> Option<String> {
    let ids = |fields: &UnionFields| fields.iter().map(|(id, _)| id.to_string()).collect::<Vec<_>>().join(",");
    Some(match data_type {
        DataType::FixedSizeBinary(width) => format!("w:{width}"),
        DataType::Decimal32(precision, scale) => format!("d:{precision},{scale},32"),
        DataType::Decimal64(precision, scale) => format!("d:{precision},{scale},64"),
        DataType::Decimal128(precision, scale) => format!("d:{precision},{scale}"),
        DataType::Decimal256(precision, scale) => format!("d:{precision},{scale},256"),
        DataType::Timestamp(unit, zone) => {
            let (letter, _) = UNITS.iter().find(|(_, of)| of == unit)?;
            format!("ts{letter}:{}", zone.as_deref().unwrap_or(""))
        }
        DataType::List(_) => "+l".to_owned(),
        DataType::LargeList(_) => "+L".to_owned(),
        DataType::ListView(_) => "+vl".to_owned(),
        DataType::LargeListView(_) => "+vL".to_owned(),
        DataType::FixedSizeList(_, length) => format!("+w:{length}"),
        DataType::Struct(_) => "+s".to_owned(),
        DataType::Map(_, _) => "+m".to_owned(),
        DataType::RunEndEncoded(_, _) => "+r".to_owned(),
        DataType::Union(fields, UnionMode::Dense) => format!("+ud:{}", ids(fields)),
        DataType::Union(fields, UnionMode::Sparse) => format!("+us:{}", ids(fields)),
        plain => PLAIN.iter().find(|(_, of)| of == plain)?.0.to_owned(),
    })
}

/// The type of a format string with its children; `None` if there is no such type, or no array of it.
pub(super) fn type_of(format: &str, children: Vec<FieldRef>, keys_sorted: bool) -> Option<DataType> {
    let mut children = children;
    let (word, parameter) = format.split_once(':').unwrap_or((format, ""));
    if format.starts_with('+') {
        let data_type = match (word, &mut children[..]) {
            ("+s", _) => DataType::Struct(std::mem::take(&mut children).into()),
            ("+ud", _) => DataType::Union(variants(parameter, std::mem::take(&mut children))?, UnionMode::Dense),
            ("+us", _) => DataType::Union(variants(parameter, std::mem::take(&mut children))?, UnionMode::Sparse),
            ("+l", [item]) => DataType::List(item.clone()),
            ("+L", [item]) => DataType::LargeList(item.clone()),
            ("+vl", [item]) => DataType::ListView(item.clone()),
            ("+vL", [item]) => DataType::LargeListView(item.clone()),
            ("+w", [item]) => DataType::FixedSizeList(item.clone(), length(parameter)?),
            ("+m", [entries]) if is_entries(entries) => DataType::Map(entries.clone(), keys_sorted),
            ("+r", [ends, values]) if ends.data_type().is_run_ends_type() && !ends.is_nullable() => {
                DataType::RunEndEncoded(ends.clone(), values.clone())
            }
            _ => return None,
        };
        return Some(data_type);
    }
    if !children.is_empty() {
        return None;
    }
    match word {
        "w" => length(parameter).map(DataType::FixedSizeBinary),
        "d" => decimal(parameter),
        _ => match word.strip_prefix("ts").filter(|_| format.contains(':')) {
            Some(letter) => {
                let (_, unit) = UNITS.iter().find(|(of, _)| *of == letter)?;
                let zone = (!parameter.is_empty()).then(|| parameter.into());
                Some(DataType::Timestamp(*unit, zone))
            }
            None => PLAIN.iter().find(|(of, _)| *of == format).map(|(_, data_type)| data_type.clone()),
        },
    }
}

fn length(parameter: &str) -> Option<i32> {
    parameter.parse().ok().filter(|&length: &i32| length >= 0)
}

fn decimal(parameter: &str) -> Option<DataType> {
    let mut parts = parameter.splitn(3, ',');
    let (precision, scale): (u8, i8) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let (max_precision, make): (u8, fn(u8, i8) -> DataType) = match parts.next() {
        Some("32") => (DECIMAL32_MAX_PRECISION, DataType::Decimal32),
        Some("64") => (DECIMAL64_MAX_PRECISION, DataType::Decimal64),
        None | Some("128") => (DECIMAL128_MAX_PRECISION, DataType::Decimal128),
        Some("256") => (DECIMAL256_MAX_PRECISION, DataType::Decimal256),
        Some(_) => return None,
    };
    let fits = (1..=max_precision).contains(&precision) && scale.unsigned_abs() <= max_precision;
    fits.then(|| make(precision, scale))
}

fn variants(parameter: &str, fields: Vec<FieldRef>) -> Option<UnionFields> {
    let ids = parameter.split(',').filter(|id| !id.is_empty()).map(|id| id.parse().ok());
    // Negative and duplicate ids are refused.
    UnionFields::try_new(ids.collect::<Option<Vec<i8>>>()?, fields).ok()
}

/// Whether a field is the entries field of a map.
fn is_entries(field: &FieldRef) -> bool {
    !field.is_nullable() && matches!(field.data_type(), DataType::Struct(fields) if fields.len() == 2)
}
