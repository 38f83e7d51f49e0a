//! Sizes of the windows that readers and writers of ORC files work in: what is read ahead, kept, queued, or processed at a time.
//!
//! No window changes the rows that are read or written. Some decide where stripes and chunks end, which columns get a
//! dictionary, and how long recorded bounds are. Windows are variables for tests alone, which make them small, so that a few rows cross each
//! of them. Constants of the format, and the lengths of arrays in kernels, are not windows.

orcish_core::tunings! {
    // Reading: how far ahead.

    /// Rows whose condition is decided before the other columns of those are read.
    ROWS_AHEAD = 1 << 20, 1..=3000;
    /// Rows between two wanted ones that are decoded with them rather than passed over.
    ROWS_WORTH_SKIPPING = 128, 1..=20;
    /// Number of times that a column group is decoded before the caller takes its rows.
    DECODED_AHEAD = 4, 1..=3;
    /// Stripes that may be open at a time, where there are threads.
    OPEN_STRIPES = 2, 1..=3;
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

    // Files of a table.

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
    MIN_STRIDE = 1000, 1..=20;
    /// Bytes of a chunk, at least, where the caller says how many.
    MIN_CHUNK = 1 << 10, 16..=200;
    /// Bytes of a chunk, at least, where the caller does not say how many.
    MIN_USUAL_CHUNK = 64 << 10, 64..=2000;
    /// Numbers, bytes and bits of a stream that wait to be encoded.
    VALUES_HELD = 1 << 16, 1..=2000;
    /// Decimals that wait for the scale of their row group.
    DECIMALS_HELD = 1 << 16, 1..=500;
    /// Bytes of a stream that are compressed together.
    BYTES_WORTH_COMPRESSING = 64 << 10, 1..=2000;
    /// Bytes of the blocks that streams are in, and that are used again.
    BLOCK_BYTES = 256 << 10, 64..=4000;
    /// Bytes of the first block of what may stay small.
    MIN_BLOCK_BYTES = 4 << 10, 1..=64;
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
}
