//! Rows as text: every value of every array can be formatted.

#![no_main]

#[allow(dead_code, reason = "each target uses a part of the module")]
mod reading;

use arrow_cast::display::{ArrayFormatter, FormatOptions};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use orcish::ReadOptions;

/// Maximum number of formatted rows of a batch.
const MAX_ROWS: usize = 50;

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    reading::mutate(data, size, max_size, seed)
});

fuzz_target!(|data: &[u8]| reading::within_memory(2 * reading::MAX_MEMORY, || run(data)));

fn run(data: &[u8]) {
    let Some(file) = reading::open(data) else { return };
    for options in [reading::options(), reading::options().with_arrow_schema(false)] {
        let Ok(reader) = file.read(options.with_limit(1000)) else { return };
        for batch in reader {
            let Ok(batch) = batch else { return };
            for column in batch.columns() {
                format_values(column);
            }
        }
    }
}

fn format_values(column: &arrow_array::ArrayRef) {
    use arrow_array::Array as _;
    column.to_data().validate_full().expect("a valid array");
    // The text of a large array may need much memory.
    if column.get_array_memory_size() > 1 << 20 {
        return;
    }
    let options = FormatOptions::default().with_display_error(true);
    let Ok(formatter) = ArrayFormatter::try_new(column, &options) else { return };
    for row in 0..column.len().min(MAX_ROWS) {
        let _ = formatter.value(row).to_string().len();
    }
}
