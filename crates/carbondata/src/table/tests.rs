//! Tests with the tables of Apache's writers, in `ORCISH_CARBONDATA` or in a folder beside the repository.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use orcish_core::predicate::{Bound, ColumnBounds};
use serde_json::Value;

use super::indexed_files::IndexedFiles;
use super::*;
use crate::metadata::bounds::column_bounds;
use crate::metadata::index_file::IndexedFile;
use crate::metadata::schema::CarbonType;

fn folder() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/carbondata/tables");
    let folder = std::env::var_os("ORCISH_CARBONDATA").map_or(beside, PathBuf::from);
    if !folder.is_dir() {
        eprintln!("{} is missing: tables of Apache's writers are not looked at", folder.display());
        return None;
    }
    Some(folder)
}

fn table(folder: &Path, name: &str) -> Table {
    let location = folder.join(name).join("table");
    Table::open(location.to_str().unwrap(), &StorageOptions::default(), &Limits::default()).unwrap()
}

fn expected(folder: &Path, name: &str) -> Option<Vec<Value>> {
    let bytes = std::fs::read(folder.join(name).join("expected.jsonl.gz")).ok()?;
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn names(folder: &Path) -> Vec<String> {
    let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut all: Vec<_> = all.filter(|name| folder.join(name).join("table").is_dir() && name != "empty").collect();
    all.sort();
    all
}

#[test]
fn row_counts_of_index_files() {
    let Some(folder) = folder() else { return };
    let names = names(&folder);
    assert!(names.len() > 40, "{names:?}");
    for name in names {
        let table = table(&folder, &name);
        let storage = StorageOptions::default();
        assert!(is_table(table.location(), &storage).unwrap(), "{name}");
        assert_eq!(table.is_transactional(), Path::new(table.location()).join("Metadata").is_dir());
        for file in table.files() {
            assert!(Path::new(&file).is_file(), "{name}: {file}");
        }
        let rows = expected(&folder, &name).map(|rows| rows.len() as u64);
        let wanted = match name.as_str() {
            "spark_streamed" => None,
            "spark_empty_table" => Some(0),
            "spark_many_rows" => Some(120_000),
            "spark_altered" => table.num_rows().unwrap(),
            _ => rows,
        };
        assert_eq!(table.num_rows().unwrap(), wanted, "{name}");
        if table.is_transactional() && wanted.is_some() {
            let sum: Option<u64> = table.segments().iter().filter(|segment| segment.is_readable).map(|s| s.rows).sum();
            assert_eq!(sum, wanted, "{name}");
        }
    }
}

#[test]
fn segments_and_columns() {
    let Some(folder) = folder() else { return };
    let states = |name: &str| -> Vec<(String, String, bool, usize)> {
        let segment = |s: &Segment| (s.id.clone(), s.state.clone(), s.is_readable, s.files);
        table(&folder, name).segments().iter().map(segment).collect()
    };
    let state = |id: &str, state: &str, readable, files| (id.to_owned(), state.to_owned(), readable, files);
    let compacted = ["0", "1", "2"].map(|id| state(id, "Compacted", false, 0));
    let live = [state("0.1", "Success", true, 1), state("3", "Success", true, 1)];
    assert_eq!(states("spark_compacted"), [&compacted[..], &live[..]].concat());
    let overwritten = [state("0", "Marked for Delete", false, 0), state("1", "Success", true, 1)];
    assert_eq!(states("spark_overwritten"), overwritten);
    assert_eq!(states("v110_format1"), [state("0", "SUCCESS", true, 1)]);
    assert_eq!(states("spark_streamed"), [state("0", "Success", true, 1), state("1", "Streaming", true, 1)]);

    let streamed = table(&folder, "spark_streamed");
    let stream = &streamed.data_files()[1];
    assert_eq!((&stream.format, streamed.segments()[1].format.as_str()), (&FileFormat::Stream, "row_v1"));
    let on_disk = std::fs::metadata(&stream.location).unwrap().len();
    assert!(stream.size.is_some_and(|size| size > 0 && size <= on_disk));

    let partitioned = table(&folder, "spark_partitioned");
    assert_eq!(partitioned.partition_columns(), ["s", "dt"]);
    let schema = partitioned.schema();
    let columns: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!(columns, ["id", "d", "u", "s", "dt"]);
    let altered = table(&folder, "spark_altered").schema();
    assert!(altered.field_with_name("gone").is_err() && altered.field_with_name("n2").is_ok());

    let updated = table(&folder, "spark_updated");
    let deleted: Vec<_> = updated.segments().iter().map(|segment| segment.deleted_rows.unwrap()).collect();
    assert_eq!(deleted, [20, 20, 0]);
    assert_eq!(updated.data_files()[0].deletes.len(), 1);
    let versions = ["v110_format1", "v110_format2", "v110_format3"].map(|name| {
        let table = table(&folder, name);
        let file = &table.data_files()[0];
        (file.version, file.blocklets.is_none(), file.file_min_max.is_some())
    });
    assert_eq!(versions, [1, 2, 3].map(|version| (Some(version), true, true)));
}

#[test]
fn single_files_are_tables() {
    let Some(folder) = folder() else { return };
    let whole = table(&folder, "prim_nosort");
    let file = whole.files().remove(0);
    assert!(is_table(&file, &StorageOptions::default()).unwrap());
    let one = Table::open(&file, &StorageOptions::default(), &Limits::default()).unwrap();
    assert_eq!((one.schema(), one.files(), one.num_rows().unwrap()), (whole.schema(), vec![file], None));
    let small = Limits::default().with_tail(100);
    let error = Table::open(whole.location(), &StorageOptions::default(), &small).unwrap_err();
    assert_eq!(error.kind(), orcish_core::ErrorKind::LimitExceeded);
    let empty = std::env::temp_dir().join(format!("carbondata-none-{}", std::process::id()));
    std::fs::create_dir_all(&empty).unwrap();
    let error = Table::open(empty.to_str().unwrap(), &StorageOptions::default(), &Limits::default()).unwrap_err();
    assert_eq!(error.kind(), orcish_core::ErrorKind::InvalidArgument);
    std::fs::remove_dir(&empty).unwrap();
}

/// Columns and their bounds, by id.
type Columns = BTreeMap<String, (Column, ColumnBounds)>;

#[test]
fn map_keeps_the_order() {
    for root in ["/near", "s3://far/x"] {
        let context = OpenContext::new(root, StorageOptions::default(), Limits::default(), &[]);
        let all: Vec<u32> = (0..100).collect();
        let doubled = context.map(all.clone(), |_, at| Ok(at * 2)).unwrap();
        assert_eq!(doubled, (0..100).map(|at| at * 2).collect::<Vec<_>>());
        let error = context.map(all, |_, at| if at == 50 { Err(orcish_core::Error::corrupt("50")) } else { Ok(at) });
        assert_eq!(error.unwrap_err().message(), "50");
        assert!(context.map(Vec::new(), |_, at: u32| Ok(at)).unwrap().is_empty());
    }
}

#[test]
fn memory_of_columns_is_limited() {
    let limits = Limits::default().with_memory(1 << 20);
    let columns = |name: &str| (0..1000).map(|at| Column::sample(&format!("{name}{at}"), CarbonType::Int)).collect();
    let schemas: [Vec<Column>; 2] = [columns("a"), columns("b")];
    let read = |schema: &dyn Fn(usize) -> usize| {
        let context = OpenContext::new("/t", StorageOptions::default(), limits.clone(), &[]);
        let mut found = IndexedFiles::default();
        // Each index file has its own columns.
        (0..200).try_for_each(|at| {
            let columns = Some(Arc::new(schemas[schema(at)].clone()));
            found.add(vec![IndexedFile { name: at.to_string(), columns, ..IndexedFile::default() }], &context)
        })
    };
    assert!(read(&|_| 0).is_ok() && read(&|at| at / 100).is_ok());
    assert_eq!(read(&|at| at % 2).unwrap_err().kind(), orcish_core::ErrorKind::LimitExceeded);
}

/// Bounds of the columns of each blocklet, and its number of rows.
fn of_files(table: &Table) -> Vec<(Columns, u64)> {
    let mut all = Vec::new();
    for file in table.data_files() {
        let Some(columns) = &file.index_columns else { continue };
        for blocklet in file.blocklets.iter().flatten() {
            let has_unreliable_min_max = blocklet.info.as_ref().is_none_or(|info| info.page_rows.is_empty());
            let mut at = 0;
            let mut found = BTreeMap::new();
            let (dimensions, measures): (Vec<_>, Vec<_>) = columns.iter().partition(|column| column.is_dimension);
            for column in dimensions.into_iter().chain(measures) {
                let min_max = blocklet.min_max.as_ref().unwrap();
                found.insert(
                    column.id.clone(),
                    (column.clone(), column_bounds(min_max, at, column, has_unreliable_min_max)),
                );
                at += column.chunks();
            }
            let min_max = blocklet.min_max.as_ref().unwrap();
            assert_eq!((at, at), (min_max.min.len(), min_max.max.len()));
            all.push((found, blocklet.rows.unwrap()));
        }
    }
    all
}

fn days(text: &str) -> Option<i64> {
    let mut parts = text.splitn(3, '-').map(|part| part.parse::<i64>());
    let (year, month, day) = (parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?);
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    Some(365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468)
}

/// Microseconds of a timestamp such as `2026-11-22 13:00:00.123`.
fn ticks(text: &str) -> Option<f64> {
    let (date, time) = text.trim_end_matches('Z').split_once([' ', 'T'])?;
    let parts: Vec<f64> = time.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let [hours, minutes, seconds] = parts.as_slice() else { return None };
    let seconds = days(date)? as f64 * 86_400.0 + hours * 3600.0 + minutes * 60.0 + seconds;
    Some((seconds * 1000.0).round() * 1000.0)
}

/// Whether a value is within bounds; `None` for types that are not compared.
fn is_within(carbon_type: CarbonType, known: &ColumnBounds, value: &Value) -> Option<bool> {
    let number = |bound: &Option<Bound>| match bound {
        Some(Bound::Integer(value)) => Some(*value as f64),
        Some(Bound::Ticks(value)) => Some(*value as f64),
        Some(Bound::Number(value)) => Some(*value),
        Some(Bound::Decimal { unscaled, scale }) => Some(*unscaled as f64 / 10f64.powi(*scale as i32)),
        _ => None,
    };
    let within = |value: f64| {
        let lost = value.abs() * 1e-12;
        number(&known.min).is_none_or(|min| min <= value + lost)
            && number(&known.max).is_none_or(|max| max >= value - lost)
    };
    match (carbon_type, value) {
        (CarbonType::String | CarbonType::Varchar, Value::String(text)) => {
            let text = text.as_bytes();
            let min = known.min.as_ref().is_none_or(|min| matches!(min, Bound::Bytes(min) if min.as_slice() <= text));
            Some(min && known.max.as_ref().is_none_or(|max| matches!(max, Bound::Bytes(max) if max.as_slice() >= text)))
        }
        // Earlier dates are in another calendar.
        (CarbonType::Date, Value::String(text)) if text.as_str() > "1582-10-15" => {
            days(text).map(|days| within(days as f64))
        }
        (CarbonType::Timestamp, Value::String(text)) if text.as_str() > "1582-10-15" => ticks(text).map(within),
        (CarbonType::Decimal { .. }, Value::String(text)) => text.parse().ok().map(within),
        (CarbonType::Boolean, Value::Bool(value)) => Some(within(f64::from(*value))),
        (
            CarbonType::Float
            | CarbonType::Double
            | CarbonType::Short
            | CarbonType::Int
            | CarbonType::Long
            | CarbonType::Decimal { .. },
            Value::Number(value),
        ) => value.as_f64().map(within),
        _ => None,
    }
}

#[test]
fn bounds_contain_the_rows() {
    let Some(folder) = folder() else { return };
    let mut compared: BTreeMap<String, usize> = BTreeMap::new();
    for name in names(&folder) {
        let Some(rows) = expected(&folder, &name) else { continue };
        let table = table(&folder, &name);
        let files = of_files(&table);
        // Only for single blocklets it is known which rows they have.
        let [(known, _)] = files.as_slice() else { continue };
        if table.data_files().len() > 1 || name == "spark_default_all" {
            continue;
        }
        for column in table.columns() {
            let Some((in_file, known)) = known.get(&column.id) else { continue };
            let values: Vec<_> = rows.iter().map(|row| row.get(&column.name).unwrap_or(&Value::Null)).collect();
            for value in &values {
                if let Some(holds) = is_within(in_file.carbon_type, known, value) {
                    *compared.entry(format!("{:?}", in_file.carbon_type)).or_default() += 1;
                    assert!(holds, "{name}.{}: {value} is not within {known:?}", column.name);
                }
            }
            if known.nulls == Some(true) && name != "strings" {
                assert!(values.iter().any(|value| value.is_null()), "{name}.{}: {known:?}", column.name);
            }
        }
    }
    assert!(compared.len() > 9 && compared.values().sum::<usize>() > 100_000, "{compared:?}");
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (from, to) = {
            let name = entry.unwrap().file_name();
            (from.join(&name), to.join(&name))
        };
        if from.is_dir() { copy(&from, &to) } else { _ = std::fs::copy(&from, &to).unwrap() }
    }
}

#[test]
fn changed_metadata() {
    let Some(folder) = folder() else { return };
    let root = std::env::temp_dir().join(format!("carbondata-changed-{}", std::process::id()));
    copy(&folder.join("spark_updated/table"), &root);
    let external = ["/elsewhere".to_owned()];
    let (storage, limits) = (StorageOptions::default(), Limits::default());
    let open = || Table::open_with_external(root.to_str().unwrap(), &storage, &limits, &external);
    let change = |file: &str, from: &str, to: &str| {
        let path = root.join("Metadata").join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        std::fs::write(path, text.replace(from, to)).unwrap();
    };
    let all = open().unwrap();
    let states =
        |table: &Table| -> Vec<_> { table.segments().iter().map(|s| (s.files, s.rows, s.deleted_rows)).collect() };
    let before = states(&all);

    // Tables before 1.4 have no segment files. Files that no index file names are ignored.
    change("tablestatus", r#","segmentFile":"0_1795250872873.segment""#, "");
    let segment = root.join("Fact/Part0/Segment_0");
    std::fs::write(segment.join("part-0-9_batchno0-0-0-1.snappy.carbondata"), b"no file").unwrap();
    assert_eq!(states(&open().unwrap()), before);
    // Delete deltas in a range of timestamps, without those outside.
    let update = "tableupdatestatus-1795250873483";
    let timestamp = r#""segmentName":"0","blockName":"part-0-0_batchno0-0-0","deleteDeltaEndTimestamp":""#;
    change(update, &format!("{timestamp}1795250873483"), &format!("{timestamp}1795250873484"));
    for time in ["1795250873482", "1795250873485"] {
        std::fs::write(segment.join(format!("part-0-0_batchno0-0-0-{time}.deletedelta")), b"{}").unwrap();
    }
    let ranged = open().unwrap();
    assert_eq!(ranged.data_files()[0].deletes.len(), 1);
    assert_eq!(ranged.num_rows().unwrap(), all.num_rows().unwrap());
    // A deleted file is left out, with its rows.
    change(update, r#"{"segmentName":"1","#, r#"{"segmentStatus":"Compacted","segmentName":"1","#);
    assert_eq!(states(&open().unwrap())[1], (0, Some(0), Some(0)));
    // The same holds for a file that is newer than its load, without an update.
    change("tablestatus", r#""loadStartTime":"1795250873483""#, r#""loadStartTime":"1795250873482""#);
    assert_eq!(states(&open().unwrap())[2], (0, Some(0), Some(0)));

    // Segments of other formats.
    change("tablestatus", r#""loadName":"1","#, r#""loadName":"1","fileFormat":"parquet","path":"/elsewhere/","#);
    let refused = Table::open(root.to_str().unwrap(), &storage, &limits).unwrap_err();
    assert!(refused.to_string().contains("outside of its folder"), "{refused}");
    let files_of_other_format = open().unwrap();
    let file = files_of_other_format.data_files().iter().find(|file| file.segment == Some(1)).unwrap();
    assert_eq!((&file.format, file.location.as_str()), (&FileFormat::Other("parquet".into()), "/elsewhere"));
    assert_eq!((files_of_other_format.num_rows().unwrap(), files_of_other_format.segments()[1].rows), (None, None));
    let elsewhere = root.join("elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    for name in ["a.orc", "_SUCCESS", "x.carbonindex"] {
        std::fs::write(elsewhere.join(name), b"x").unwrap();
    }
    let place = format!(r#"{{"file:{}":{{"files":["_SUCCESS","a.orc"],"status":"Success"}}}}"#, elsewhere.display());
    std::fs::write(root.join("Metadata/segments/o.segment"), format!(r#"{{"locationMap":{place}}}"#)).unwrap();
    change("tablestatus", "1_1795250873234.segment", "o.segment");
    change("tablestatus", "parquet", "orc");
    let file = open().unwrap().data_files().iter().find(|file| file.segment == Some(1)).unwrap().clone();
    assert_eq!((&file.format, Path::new(&file.location)), (&FileFormat::Orc, elsewhere.join("a.orc").as_path()));

    // The error names the missing file.
    std::fs::remove_file(root.join("Metadata").join(update)).unwrap();
    let error = open().unwrap_err().to_string();
    assert!(error.contains(update), "{error}");
    std::fs::remove_dir_all(&root).unwrap();
}

#[test]
fn delete_deltas_of_folders() {
    let Some(folder) = folder() else { return };
    let root = std::env::temp_dir().join(format!("carbondata-folder-{}", std::process::id()));
    copy(&folder.join("prim_nosort/table"), &root);
    let rows = r#"{"blockletDetailsMap":{"0_0":{"id":"0","pageId":0,"deletedRows":[1,2,2]}}}"#;
    std::fs::write(root.join("part-0-0_batchno0-0-null-1.deletedelta"), rows).unwrap();
    std::fs::write(root.join("part-0-1_batchno0-0-null-1.deletedelta"), rows).unwrap();
    let open = || Table::open(root.to_str().unwrap(), &StorageOptions::default(), &Limits::default()).unwrap();
    let whole = table(&folder, "prim_nosort").num_rows().unwrap().unwrap();
    assert_eq!(open().num_rows().unwrap(), Some(whole - 2));
    // Without an index file, the number of rows is not known.
    for entry in std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.extension().is_some_and(|ending| ending == "carbonindex") {
            std::fs::remove_file(entry).unwrap();
        }
    }
    let table = open();
    assert_eq!(
        (table.num_rows().unwrap(), table.data_files().len(), table.data_files()[0].deletes.len()),
        (None, 1, 1)
    );
    std::fs::remove_dir_all(&root).unwrap();
}
