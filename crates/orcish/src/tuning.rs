//! How large the windows are that readers and writers work in: what is read ahead, held, queued, or done at a time.
//!
//! None of them changes what is read or written, but for where stripes and chunks end, which strings are in a
//! dictionary, and how much statistics say. They are variables for the tests alone, which make them small, so that a few
//! rows are beyond each of them. What the format fixes, such as the length of runs, is no tuning, and stays where it is
//! used; so do the lengths of arrays in kernels.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A number that tests may change.
#[derive(Debug)]
pub struct Tuning {
    name: &'static str,
    value: AtomicUsize,
    standard: usize,
    least: usize,
    most: usize,
}

impl Tuning {
    const fn new(name: &'static str, standard: usize, small: &RangeInclusive<usize>) -> Self {
        Tuning { name, value: AtomicUsize::new(standard), standard, least: *small.start(), most: *small.end() }
    }

    /// What it is called.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The number.
    #[inline]
    pub fn get(&self) -> usize {
        #[cfg(test)]
        tests::read_environment();
        self.value.load(Ordering::Relaxed)
    }

    /// The number, of bytes or rows of a file.
    #[inline]
    pub fn wide(&self) -> u64 {
        self.get() as u64
    }

    /// What it is where no test has changed it.
    pub fn standard(&self) -> usize {
        self.standard
    }

    /// The values that tests give it.
    pub fn small(&self) -> RangeInclusive<usize> {
        self.least..=self.most
    }

    /// Changes it, for tests: to the least of [`small`](Self::small) where `value` is less, which loops may never end
    /// with. Readers and writers that are at work need not notice.
    pub fn set(&self, value: usize) {
        self.value.store(value.max(self.least), Ordering::Relaxed);
    }
}

macro_rules! tunings {
    ($($(#[$doc:meta])* $name:ident = $standard:expr, $small:expr;)*) => {
        $($(#[$doc])* pub static $name: Tuning = Tuning::new(stringify!($name), $standard, &$small);)*

        /// All of them.
        pub static ALL: &[&Tuning] = &[$(&$name),*];
    };
}

tunings! {
    // Reading: how far ahead.

    /// Rows whose condition is decided before the other columns of those are read.
    ROWS_AHEAD = 1 << 20, 1..=3000;
    /// Rows between two wanted ones that are decoded with them rather than passed over.
    ROWS_WORTH_SKIPPING = 128, 1..=20;
    /// Parts of a stripe that a group of columns may be ahead of the caller.
    PARTS_AHEAD = 4, 1..=3;
    /// Stripes that may be open at a time, where there are threads.
    OPEN_STRIPES = 2, 1..=3;
    /// Batches of a file, or of a part of another format's table, that may wait to be taken.
    BATCHES_AHEAD = 4, 1..=2;
    /// Stored bytes that are fetched ahead, by all readers that share a source.
    BYTES_AHEAD = 128 << 20, 0..=20_000;
    /// Stored bytes below which what is read of a file is not worth a second thread.
    BYTES_WORTH_A_THREAD = 256 << 10, 0..=1000;
    /// Groups of columns for each thread: enough that none waits long for the slowest.
    GROUPS_PER_THREAD = 4, 1..=3;

    // Reading: how much at a time.

    /// Bytes from which on a batch of filtered rows gets no more: less than offsets reach, and what is joined is there
    /// twice.
    BATCH_BYTES = 1 << 29, 1..=5000;
    /// Bytes that one array of a batch should have at most: as far as 32-bit offsets reach.
    ARRAY_BYTES = (1 << 31) - 1, 1..=5000;
    /// Rows of which present bits and tags are decoded at a time where they are passed over.
    ROWS_SKIPPED = 1 << 16, 1..=100;
    /// Bytes of a stream without compression that are taken at a time.
    PLAIN_BYTES_AHEAD = 16 << 10, 1..=500;
    /// Rows of what counts for a row group where a file has no index.
    ROWS_WITHOUT_INDEX = 10_000, 1..=700;
    /// Rows that `check` reads at a time.
    ROWS_INSPECTED = 65_536, 1..=500;
    /// Values that are looked up in bloom filters; of more none is.
    VALUES_LOOKED_UP = 1000, 1..=4;
    /// Blanks behind a text that are tried in bloom filters of `char`.
    PADDING_LOOKED_UP = 1 << 16, 0..=3;

    // Sources.

    /// Bytes that are read from the end of a file at first, where a request costs little.
    FIRST_READ = 16 << 10, 1..=600;
    /// Bytes that are read sooner than another request is made, where a request costs little.
    NEAR_GAP = 0, 0..=4000;
    /// Requests that are worth having under way at a time, where a request costs little.
    NEAR_REQUESTS = 1, 1..=3;
    /// Buffers of a local file that are used again.
    KEPT_BUFFERS = 2, 0..=2;
    /// Bytes of a buffer beyond which it is not used again.
    KEPT_BUFFER_BYTES = 512 << 20, 0..=3000;
    /// Stores that are kept, with their connections.
    KEPT_STORES = 16, 1..=2;
    /// Most files of a table that stay open after all of them were looked at.
    FILES_KEPT_OPEN = 64, 0..=2;
    /// Bytes of the tails of files that were looked at and closed, which are kept so that they are not read again.
    TAIL_BYTES_KEPT = 32 << 20, 0..=2000;

    // Writing.

    /// Row groups that are encoded together, columns side by side.
    GROUPS_QUEUED = 4, 1..=3;
    /// Bytes of rows that are encoded together.
    BYTES_QUEUED = 16 << 20, 1..=20_000;
    /// How often the size of a stripe its memory may be.
    STRIPE_MEMORY = 4, 1..=3;
    /// How often its size a stripe may become, so that it ends with a row group.
    STRIPE_OVERRUN = 2, 1..=2;
    /// Rows of a row group, at least.
    LEAST_STRIDE = 1000, 1..=20;
    /// Bytes of a chunk, at least, where the caller says how many.
    LEAST_CHUNK = 1 << 10, 16..=200;
    /// Bytes of a chunk, at least, where the caller does not say how many.
    LEAST_USUAL_CHUNK = 64 << 10, 64..=2000;
    /// Numbers, bytes and bits of a stream that wait to be encoded.
    VALUES_HELD = 1 << 16, 1..=2000;
    /// Decimals that wait for the scale of their row group.
    DECIMALS_HELD = 1 << 16, 1..=500;
    /// Bytes of a stream that are compressed together.
    BYTES_WORTH_COMPRESSING = 64 << 10, 1..=2000;
    /// Bytes of the blocks that streams are in, and that are used again.
    BLOCK_BYTES = 256 << 10, 64..=4000;
    /// Bytes of the first block of what may stay small.
    LEAST_BLOCK_BYTES = 4 << 10, 1..=64;
    /// Values of a stripe after which it is first asked whether a dictionary of texts pays.
    DICTIONARY_FIRST_LOOK = 8192, 1..=300;
    /// Values that a stripe is expected to have before one has ended.
    DICTIONARY_EXPECTED = 1 << 20, 1..=3000;
    /// Different texts among a thousand with which a dictionary pays at most.
    DICTIONARY_MOST_DISTINCT = 800, 100..=1000;
    /// Different texts among a thousand with which it pays in any case.
    DICTIONARY_FEW_DISTINCT = 400, 0..=600;
    /// Bytes of a dictionary beyond which it is given up.
    DICTIONARY_BYTES = 32 << 20, 1..=4000;
    /// Bytes of a text that statistics record; of a longer one they have the beginning.
    TEXT_RECORDED = 1024, 4..=40;
    /// Bytes of a stripe that are copied at a time where files are merged.
    BYTES_MERGED = 8 << 20, 1..=5000;
    /// Bytes of a file that are read at a time where it is read through to be verified.
    BYTES_VERIFIED = 8 << 20, 1..=5000;
    /// Faults of a file that are told.
    FINDINGS = 1000, 1..=20;

    // CarbonData.

    /// Wanted rows of a page below which they are put together with those of the next.
    FEW_ROWS_OF_PAGE = 8192, 1..=500;
    /// Bytes of a file of a stream that are read at a time, where a blocklet has fewer.
    STREAM_BYTES = 4 << 20, 1..=3000;
    /// Bytes of the beginning of a file that are read for its header at first.
    FIRST_HEADER = 32 << 10, 64..=400;
    /// Files of metadata that are read at a time from stores.
    METADATA_READERS = 8, 1..=3;
}

/// Makes each of them a random small value, and some what they are without that; the same for the same `seed`.
#[cfg(test)]
fn make_small(seed: u64) {
    let mut state = seed;
    let mut random = || {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ mixed >> 31) >> 1).unwrap_or(0)
    };
    for tuning in ALL {
        let (kind, value) = (random() % 8, random());
        tuning.set(match kind {
            0 => tuning.standard,
            1 => tuning.least,
            // The smaller the range is, the more windows a few rows have.
            2..5 => tuning.least + value % (tuning.most - tuning.least + 1).min(10),
            _ => tuning.least + value % (tuning.most - tuning.least + 1),
        });
    }
}

/// Makes each of them what it is without tests.
pub fn reset() {
    ALL.iter().for_each(|tuning| tuning.set(tuning.standard));
}

#[cfg(test)]
pub(crate) mod tests;
