use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array as _, ArrayRef};
use orcish_io::{FileSource, MemorySource};

use super::*;
use crate::fixtures;
use crate::metadata::format::{BlockIndex, Encoding};
use crate::metadata::schema::CarbonType;

fn column(name: &str, carbon_type: CarbonType, is_dimension: bool, children: Vec<Column>) -> Column {
    Column { is_dimension, children, ..Column::sample(name, carbon_type) }
}

fn short(bytes: &[u8]) -> Vec<u8> {
    [&u16::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat()
}

fn int(bytes: &[u8]) -> Vec<u8> {
    [&u32::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat()
}

fn decode(bytes: &[u8], rows: usize, columns: &[Column], wanted: &[usize]) -> Result<Vec<ArrayRef>> {
    super::rows::decode(bytes, rows, columns, wanted, None, &Limits::default())
}

#[test]
fn fields_are_dimensions_then_complex_columns_then_measures() {
    let columns = [
        column("m", CarbonType::Int, false, Vec::new()),
        column("a", CarbonType::Array, true, vec![column("item", CarbonType::Int, true, Vec::new())]),
        column("s", CarbonType::String, true, Vec::new()),
        column("d", CarbonType::Date, true, Vec::new()),
        column("v", CarbonType::Varchar, true, Vec::new()),
    ];
    let list = [&[0, 0, 0, 2][..], &short(&[0x80, 0, 0, 7]), &short(&[])].concat();
    let no_list = [&[0, 0, 0, 1][..], &short(&[])].concat();
    let mut bytes = short(&[]);
    bytes.extend([short(b"x"), (1_073_741_823u32 + 5).to_be_bytes().to_vec(), int(b"yy"), short(&list)].concat());
    bytes.extend(9i32.to_be_bytes());
    // The date and the measure are null.
    bytes.extend(short(&[0b1_0010]));
    bytes.extend([short(b"@NU#LL$!"), int(b""), short(&no_list)].concat());
    let all = decode(&bytes, 2, &columns, &[2, 0, 1]).unwrap();
    assert_eq!(all[0].as_string::<i32>().iter().collect::<Vec<_>>(), [Some("x"), None]);
    assert_eq!(all[1].as_primitive::<Int32Type>().iter().collect::<Vec<_>>(), [Some(9), None]);
    let lists = all[2].as_list::<i32>();
    assert_eq!(lists.value(0).as_primitive::<Int32Type>().iter().collect::<Vec<_>>(), [Some(7), None]);
    assert!(lists.is_null(1));
    let all = decode(&bytes, 2, &columns, &[4, 3]).unwrap();
    assert_eq!(all[0].as_string::<i32>().iter().collect::<Vec<_>>(), [Some("yy"), Some("")]);
    assert_eq!(all[1].as_primitive::<arrow_array::types::Date32Type>().iter().collect::<Vec<_>>(), [Some(5), None]);
    for end in 0..bytes.len() {
        assert!(decode(&bytes[..end], 2, &columns, &[0, 1, 2, 3, 4]).is_err(), "{end}");
    }
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0xff;
        _ = decode(&changed, 2, &columns, &[0, 1, 2, 3, 4]);
    }
    assert!(decode(&bytes, 1, &columns, &[0]).is_err());
    assert!(decode(&bytes, usize::MAX, &columns, &[0]).is_err());
    assert!(decode(&bytes, 2, &columns, &[0, 0]).is_err());
}

#[test]
fn lengths_of_two_or_four_bytes() {
    let entry =
        vec![column("key", CarbonType::String, true, Vec::new()), column("value", CarbonType::Int, true, Vec::new())];
    let columns =
        [column("map", CarbonType::Map, true, entry.clone()), column("struct", CarbonType::Struct, true, entry)];
    let nine = short(&[0x80, 0, 0, 9]);
    for text in [short, int] {
        let map = [&[0, 0, 0, 2, 0, 2][..], &text(b"a"), &nine, &[0, 2], &text(b""), &short(&[])].concat();
        let no_map = [&[0, 0, 0, 1, 0, 2][..], &text(b"@NU#LL$!"), &short(&[])].concat();
        let structure = [&[0, 2][..], &text(b"b"), &nine].concat();
        let no_structure = [&[0, 2][..], &text(b"@NU#LL$!"), &short(&[])].concat();
        let rows = [[&map, &structure], [&no_map, &no_structure], [&vec![0; 4], &structure]];
        let bytes: Vec<u8> = rows.iter().flat_map(|row| [short(&[]), short(row[0]), short(row[1])].concat()).collect();
        let all = decode(&bytes, 3, &columns, &[0, 1]).unwrap();
        let maps = all[0].as_map();
        let nulls = |array: &dyn arrow_array::Array| (0..3).map(|row| array.is_null(row)).collect::<Vec<_>>();
        assert_eq!(nulls(maps), [false, true, false]);
        assert_eq!(maps.value_length(0), 2);
        assert_eq!(maps.value_length(2), 0);
        assert_eq!(maps.keys().as_string::<i32>().iter().collect::<Vec<_>>(), [Some("a"), Some("")]);
        assert_eq!(maps.values().as_primitive::<Int32Type>().iter().collect::<Vec<_>>(), [Some(9), None]);
        assert_eq!(nulls(&all[1]), [false, true, false]);
    }
    let null_key = [&[0, 0, 0, 1, 0, 2][..], &int(b"@NU#LL$!"), &nine].concat();
    let bytes = [short(&[1 << 1]), short(&null_key)].concat();
    assert_eq!(decode(&bytes, 1, &columns, &[0]).unwrap_err().kind(), orcish_core::ErrorKind::NullMapKey);
}

#[test]
fn keys_need_a_global_dictionary() {
    let key = Column { encoders: vec![Encoding::Dictionary], ..column("k", CarbonType::Long, true, Vec::new()) };
    let bytes = [0, 0, 0, 0, 0, 2, 0, 1, 1];
    let columns = [key];
    assert_eq!(decode(&bytes, 2, &columns, &[0]).unwrap_err().kind(), orcish_core::ErrorKind::Unsupported);
    let dictionaries: Dictionaries =
        Arc::new(|_| Ok(Arc::new(arrow_array::Int64Array::from(vec![None, None, Some(77)])) as ArrayRef));
    let all = super::rows::decode(&bytes, 2, &columns, &[0], Some(&dictionaries), &Limits::default()).unwrap();
    assert_eq!(all[0].as_primitive::<Int64Type>().iter().collect::<Vec<_>>(), [Some(77), None]);
}

#[test]
fn streaming_files_have_the_expected_rows() {
    let Some(table) = fixtures::table("spark_streamed") else { return };
    let folder = table.join("table/Fact/Part0/Segment_1");
    let index = std::fs::read(fixtures::files(&folder, ".carbonindex").pop().unwrap()).unwrap();
    let index: BlockIndex = ThriftReader::new(&index, &Limits::default()).read_struct().unwrap();
    let committed = u64::try_from(index.file_size.unwrap()).unwrap();
    let path = fixtures::files(&folder, ".carbondata").pop().unwrap();
    let source = Arc::new(FileSource::open(&path).unwrap());
    let file = StreamFile::open(source, committed, &Limits::default()).unwrap();
    let wanted: Vec<usize> = (0..file.columns().len()).collect();
    let mut parts: Vec<Vec<ArrayRef>> = vec![Vec::new(); wanted.len()];
    for blocklet in file.blocklets() {
        let blocklet = blocklet.unwrap();
        let id = file.columns().iter().position(|column| column.name == "id").unwrap();
        let bounds = blocklet.min_max().unwrap();
        assert_eq!(bounds.min[file.bounds_of(id).unwrap()].len(), 8);
        for (part, array) in parts.iter_mut().zip(file.decode(&blocklet, &wanted).unwrap()) {
            assert_eq!(array.len(), blocklet.rows());
            part.push(array);
        }
    }
    let joined = parts.iter().map(|parts| {
        let parts: Vec<&dyn arrow_array::Array> = parts.iter().map(|part| &**part).collect();
        arrow_select::concat::concat(&parts).unwrap()
    });
    let names = file.columns().iter().map(|column| column.name.clone());
    let columns: Vec<(String, ArrayRef)> = names.zip(joined).collect();
    let rows: Vec<serde_json::Value> = fixtures::rows(&table.join("readback.jsonl.gz"))
        .into_iter()
        .filter(|row| row["id"].as_i64() < Some(1000))
        .collect();
    assert!(!rows.is_empty());
    fixtures::assert_rows(&columns, &rows);

    // Uncommitted bytes are ignored. A truncated blocklet is an error.
    let bytes = std::fs::read(&path).unwrap();
    let longer = MemorySource::new([&bytes[..], b"@carbo"].concat());
    let file = StreamFile::open(Arc::new(longer), committed, &Limits::default()).unwrap();
    assert!(file.blocklets().all(|blocklet| blocklet.is_ok()));
    let shorter = StreamFile::open(Arc::new(MemorySource::new(bytes)), committed - 1, &Limits::default()).unwrap();
    assert!(shorter.blocklets().any(|blocklet| blocklet.is_err()));
}
