//! Round trip of Arrow data. The input determines types, values and options.

#![no_main]

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int8Array,
    Int16Array, Int32Array, Int64Array, RecordBatch, StringArray, StructArray, TimestampMicrosecondArray, UInt64Array,
};
use arrow_schema::{Field, Schema};
use libfuzzer_sys::fuzz_target;
use orcish::io::{MemorySink, MemorySource};
use orcish::write::{DictionaryChoice, Version};
use orcish::{Compression, ErrorKind, FileWriter, Limits, OrcFile, ReadOptions, WriteOptions};

/// The remaining input, which is followed by zeros.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, remaining)) = self.0.split_first() else { return 0 };
        self.0 = remaining;
        first
    }

    fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end
    }

    /// A number of 0 to 8 bytes, so that small and large numbers are equally frequent.
    fn number(&mut self) -> i64 {
        let count = self.below(9);
        let value = (0..count).fold(0i64, |value, _| value << 8 | i64::from(self.byte()));
        if self.byte() & 1 == 1 { value.wrapping_neg() } else { value }
    }

    fn text(&mut self) -> String {
        let count = self.below(12);
        (0..count).map(|_| ['a', 'b', 'é', '日', '\0', ' ', 'z'][self.below(7)]).collect()
    }
}

/// Values with nulls and repetitions.
fn values<T: Clone>(input: &mut Input<'_>, rows: usize, mut value: impl FnMut(&mut Input<'_>) -> T) -> Vec<Option<T>> {
    let mut values = Vec::with_capacity(rows);
    while values.len() < rows {
        let control = input.byte();
        let next = (control & 3 != 0).then(|| value(input));
        let count = if control & 4 == 0 { 1 } else { 1 + usize::from(control >> 3) * 40 };
        values.extend(std::iter::repeat_n(next, count.min(rows - values.len())));
    }
    values
}

fn array(input: &mut Input<'_>, rows: usize, depth: usize) -> ArrayRef {
    match input.below(if depth < 3 { 16 } else { 14 }) {
        0 => Arc::new(BooleanArray::from(values(input, rows, |input| input.byte() & 1 == 1))),
        1 => Arc::new(Int8Array::from(values(input, rows, |input| input.number() as i8))),
        2 => Arc::new(Int16Array::from(values(input, rows, |input| input.number() as i16))),
        3 => Arc::new(Int32Array::from(values(input, rows, |input| input.number() as i32))),
        4 => Arc::new(Int64Array::from(values(input, rows, |input| input.number()))),
        5 => Arc::new(UInt64Array::from(values(input, rows, |input| input.number() as u64))),
        6 => Arc::new(Float32Array::from(values(input, rows, |input| f32::from_bits(input.number() as u32)))),
        7 => Arc::new(Float64Array::from(values(input, rows, |input| f64::from_bits(input.number() as u64)))),
        8 => Arc::new(StringArray::from(values(input, rows, |input| input.text()))),
        9 => {
            let values = values(input, rows, |input| input.text().into_bytes());
            Arc::new(values.iter().map(|value| value.as_deref()).collect::<BinaryArray>())
        }
        10 => Arc::new(Date32Array::from(values(input, rows, |input| input.number() as i32))),
        11 => Arc::new(TimestampMicrosecondArray::from(values(input, rows, |input| input.number()))),
        12 => {
            let values = values(input, rows, |input| i128::from(input.number()) * i128::from(input.number()));
            Arc::new(Decimal128Array::from(values).with_precision_and_scale(38, 9).expect("digits enough"))
        }
        13 => {
            let mut lists = ListBuilder::new(StringBuilder::new());
            for items in values(input, rows, |input| (0..input.below(4)).map(|_| input.text()).collect::<Vec<_>>()) {
                let is_valid = items.is_some();
                items.into_iter().flatten().for_each(|item| lists.values().append_value(item));
                lists.append(is_valid);
            }
            Arc::new(lists.finish())
        }
        _ => {
            let count = 1 + input.below(3);
            let children: Vec<ArrayRef> = (0..count).map(|_| array(input, rows, depth + 1)).collect();
            let validity: Vec<bool> = values(input, rows, |_| ()).iter().map(Option::is_some).collect();
            let fields = (0..).zip(&children);
            let fields: Vec<_> = fields
                .map(|(index, child)| Arc::new(Field::new(format!("f{index}"), child.data_type().clone(), true)))
                .collect();
            Arc::new(StructArray::new(fields.into(), children, Some(validity.into())))
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let input = &mut Input(data);
    let rows = 1 + input.below(256) * 17;
    use Compression::{Brotli, Lz4, None, Snappy, Zlib, Zstd};
    let is_old = input.below(4) == 0;
    let options = WriteOptions::default()
        .with_compression([None, None, Zlib, Snappy, Lz4, Zstd, Brotli][input.below(7)])
        .with_compression_block_size([Option::None, Some(1024)][input.below(2)])
        .with_version(if is_old { Version::V0_11 } else { Version::V0_12 })
        .with_dictionary([DictionaryChoice::Auto, DictionaryChoice::Always, DictionaryChoice::Never][input.below(3)])
        .with_row_index_stride([0, 1000, 1003, 10_000][input.below(4)])
        .with_stripe_size([1, 10_000, 1 << 26][input.below(3)])
        .with_verify(true)
        .with_threads(1);
    let count = 1 + input.below(3);
    let columns: Vec<ArrayRef> = (0..count).map(|_| array(input, rows, 0)).collect();
    let fields =
        (0..).zip(&columns).map(|(index, column)| Field::new(format!("c{index}"), column.data_type().clone(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let batch = RecordBatch::try_new(schema.clone(), columns).expect("columns of the same length");
    let sink = MemorySink::new();
    let mut writer = FileWriter::try_new(Box::new(sink.clone()), schema.clone(), &options).expect("types that are stored");
    let cut = input.below(256) * rows / 256;
    let written = writer.write(&batch.slice(0, cut)).and_then(|()| writer.write(&batch.slice(cut, rows - cut)));
    match written.and_then(|()| writer.finish()) {
        Ok(_) => {}
        // A timestamp that cannot be stored, or a decimal with too many digits.
        Err(error) if error.kind() == ErrorKind::InvalidArgument => return,
        Err(error) => panic!("{error}"),
    }
    let bytes = sink.take().expect("a finished file");
    let file = OrcFile::try_new(Arc::new(MemorySource::new(bytes)), &Limits::default()).expect("a file");
    let batches: Vec<_> =
        file.read(ReadOptions::default()).expect("a reader").map(|batch| batch.expect("rows")).collect();
    let mut row = 0;
    for read in &batches {
        let given = batch.slice(row, read.num_rows());
        row += read.num_rows();
        for (read, given) in read.columns().iter().zip(given.columns()) {
            assert_eq!(read.to_data(), given.to_data());
        }
    }
    assert_eq!(row, rows);
});
