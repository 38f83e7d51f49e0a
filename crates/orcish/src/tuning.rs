//! Sizes of the windows of readers and writers of ORC files: how much is read ahead, buffered, or processed at a time.
//!
//! No window changes the rows that are read or written. Some windows decide where stripes and chunks end, which columns
//! have a dictionary, and how long recorded bounds are. Windows are variables only for tests, which make them small, so
//! that a few rows cross each of them. Constants of the format and array lengths of kernels are not windows.

orcish_core::tunings! {
    // Reading: prefetch.

    /// Rows for which filter columns are evaluated before the payload columns of the same rows are read.
    ROWS_AHEAD = 1 << 20, 1..=3000;
    /// Length of a gap between selected rows up to which the gap is decoded rather than skipped.
    ROWS_WORTH_SKIPPING = 128, 1..=20;
    /// Number of times that a column group is decoded before the caller takes its rows.
    DECODED_AHEAD = 4, 1..=3;
    /// Decoded bytes from which on only rows are decoded that the caller waits for.
    BATCHES_BYTES_AHEAD = 256 << 20, 1..=5000;
    /// Stripes that are open at a time if there are several threads.
    OPEN_STRIPES = 2, 1..=3;
    /// Stored bytes that all readers of a source prefetch.
    BYTES_AHEAD = 128 << 20, 0..=20_000;
    /// Stored bytes of a read from which on a second thread is used.
    BYTES_WORTH_A_THREAD = 256 << 10, 0..=1000;
    /// Column groups for each thread. More groups balance columns of different cost.
    GROUPS_PER_THREAD = 4, 1..=3;

    // Reading: sizes of batches and blocks.

    /// Bytes at which a batch ends. It is less than the maximum of 32-bit offsets, because concatenation needs twice the
    /// memory.
    BATCH_BYTES = 128 << 20, 1..=5000;
    /// Maximum bytes of an array of a batch: the maximum of 32-bit offsets.
    ARRAY_BYTES = (1 << 31) - 1, 1..=5000;
    /// Rows whose present bits and tags are decoded at a time while rows are skipped.
    ROWS_SKIPPED = 1 << 16, 1..=100;
    /// Bytes of an uncompressed stream that are read at a time.
    PLAIN_BYTES_AHEAD = 16 << 10, 1..=500;
    /// Rows of a row group in a file without a row index.
    ROWS_WITHOUT_INDEX = 10_000, 1..=700;
    /// Rows that `check` reads at a time.
    ROWS_INSPECTED = 65_536, 1..=500;
    /// Maximum number of values of a predicate that are looked up in bloom filters. With more values none is.
    VALUES_LOOKED_UP = 1000, 1..=4;
    /// Maximum padding with which a string is looked up in bloom filters of `char` columns.
    PADDING_LOOKED_UP = 1 << 16, 0..=3;

    // Files of a table.

    /// Files of a table that stay open after all tails were read.
    FILES_KEPT_OPEN = 64, 0..=2;
    /// Bytes of tails of closed files that are kept, so that they are not read again.
    TAIL_BYTES_KEPT = 32 << 20, 0..=2000;

    // Writing.

    /// Row groups that are encoded together.
    ROW_GROUPS_QUEUED = 4, 1..=3;
    /// Bytes of rows from which on they are encoded.
    BYTES_QUEUED = 16 << 20, 1..=20_000;
    /// Maximum memory of a stripe, as a multiple of the stripe size.
    STRIPE_MEMORY_FACTOR = 2, 1..=3;
    /// Maximum memory of the rows of a stripe that is verified, as a multiple of the stripe size.
    VERIFIED_MEMORY_FACTOR = 8, 1..=8;
    /// How many times as large as its bounds the stored size and the memory of a stripe are until it ends within a row
    /// group.
    STRIPE_OVERRUN_FACTOR = 2, 1..=2;
    /// Minimum number of rows of a row group.
    MIN_STRIDE = 1000, 1..=20;
    /// Minimum of the option for the chunk size, in bytes.
    MIN_CHUNK_SIZE = 1 << 10, 16..=200;
    /// Minimum of the default chunk size, in bytes.
    MIN_DEFAULT_CHUNK_SIZE = 64 << 10, 64..=2000;
    /// Values of a run length encoded stream that are buffered before complete runs are encoded. A run has 512 values at
    /// most. A file of thousands of columns has a buffer for each.
    VALUES_BUFFERED = 1 << 10, 1..=2000;
    /// Entries of a dictionary that are encoded at a time. A row group has any number of them where lists have strings.
    ENTRIES_ENCODED = 1 << 16, 1..=2000;
    /// Decimals that are buffered to find their common scale.
    DECIMALS_BUFFERED = 1 << 10, 1..=500;
    /// Bytes of a stream that are buffered before full chunks are compressed.
    MIN_COMPRESS_BYTES = 64 << 10, 1..=2000;
    /// Size of the reusable blocks of stored streams, in bytes.
    BLOCK_BYTES = 256 << 10, 64..=4000;
    /// Size of the first block of a stored stream, in bytes.
    MIN_BLOCK_BYTES = 4 << 10, 1..=64;
    /// Values of a stripe after which the benefit of a dictionary is checked first.
    DICTIONARY_FIRST_CHECK = 8192, 1..=300;
    /// Expected number of values of the first stripe.
    DICTIONARY_EXPECTED_VALUES = 1 << 20, 1..=3000;
    /// Maximum of distinct strings per thousand values of a dictionary.
    DICTIONARY_MAX_DISTINCT = 800, 100..=1000;
    /// Distinct strings per thousand values up to which a dictionary is always kept.
    DICTIONARY_FEW_DISTINCT = 400, 0..=600;
    /// Maximum bytes of a dictionary.
    MAX_DICTIONARY_BYTES = 32 << 20, 1..=4000;
    /// Maximum bytes of a string bound in statistics. Longer bounds are truncated.
    MAX_BOUND_BYTES = 1024, 4..=40;
    /// Bytes of a stripe that are copied at a time when files are merged.
    MERGE_COPY_BYTES = 8 << 20, 1..=5000;
    /// Number of runs on disk, of rows that wait for the file of their partition, at which they are merged.
    RUNS_MERGED = 64, 2..=3;
    /// Blocks of such a run, if its rows have half of the memory of a dataset that is written.
    BLOCKS_OF_WAITING = 1024, 1..=20;
    /// Minimum bytes of rows in such a block.
    MIN_WAITING_BLOCK = 64 << 10, 1..=500;
    /// Bytes of a file that are read at a time when its checksum is verified.
    VERIFY_READ_BYTES = 8 << 20, 1..=5000;
    /// Maximum number of findings of a check.
    MAX_FINDINGS = 1000, 1..=20;
}
