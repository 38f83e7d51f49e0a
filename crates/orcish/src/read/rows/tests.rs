//! Any rows of any file are what they are among all rows, however a reader came to them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef};
use orcish_io::MemorySource;

use super::*;
use crate::options::{Masked, NullMapKeys, StringType, TimestampUnit, UnionType};
use crate::read::OrcFile;
use crate::read::indexes::index_columns;
use crate::read::opener::Opener;
use crate::{Limits, ReadOptions};

struct XorShift(u64);

impl XorShift {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % n.max(1) as u64).unwrap()
    }
}

fn files(folder: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(folder);
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "orc")).collect();
    paths.sort();
    let read = |path: PathBuf| (path.file_name().unwrap().display().to_string(), std::fs::read(path).unwrap());
    paths.into_iter().map(read).collect()
}

fn options(case: usize) -> ReadOptions {
    // So little memory that readers look at more rows than they may give, and those of ten thousand columns few.
    let limits = Limits::default().with_memory(1 << 20);
    let base = ReadOptions::default().with_threads(1).with_masked(Masked::Allow);
    match case {
        0 => base,
        1 => base.with_unions(UnionType::Sparse).with_strings(StringType::View).with_limits(limits),
        _ => base
            .with_unions(UnionType::Struct)
            .with_strings(StringType::Dictionary)
            .with_timestamp_unit(TimestampUnit::Millisecond)
            .with_null_map_keys(NullMapKeys::Dictionary)
            .with_trim_char(true),
    }
}

/// How a reader comes to a row.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    /// Only forwards, passing over what is between.
    Skip,
    /// By the row index, all bytes being in memory.
    Seek,
    /// By the row index, with the bytes in memory that the index says are needed.
    SeekInParts,
    /// By the row index; bytes are read when they turn out to be missing.
    SeekInNothing,
}

struct Opened {
    stripe: Stripe,
    reader: RowReader,
    groups: RowGroups,
    indexes: Indexes,
}

impl Opened {
    fn new(opener: &Opener, index: usize, way: Way) -> Self {
        let stripe = opener.begin(index).unwrap();
        let mut reader = opener.row_reader(&stripe, &opener.request.columns).unwrap();
        let (mut indexes, mut groups) = (Indexes::new(), RowGroups::single(stripe.rows));
        if way != Way::Skip {
            groups = RowGroups::new(stripe.rows, opener.tail().row_index_stride);
            let ids = reader.ids.clone();
            reader.can_seek = index_columns(opener, &stripe, groups, &ids, &mut indexes).unwrap();
        }
        Opened { stripe, reader, groups, indexes }
    }

    fn load(&mut self, opener: &Opener, runs: &[Range<usize>]) {
        let parts = self.reader.parts(&self.stripe, &self.indexes, runs, opener.tail()).unwrap();
        self.stripe.load(&parts, opener.limits()).unwrap();
    }

    /// Rows from `row`: up to `rows`, but as many as there are, in as many arrays as it takes.
    fn read(&mut self, opener: &Opener, row: usize, rows: usize, mut each: impl FnMut(usize, &[ArrayRef])) {
        self.reader.go_to(row as u64, &self.groups, &self.indexes).unwrap();
        let mut at = row;
        while at < row + rows {
            let arrays = self.reader.read(row + rows - at, opener.request.budget(1)).unwrap();
            each(at, &arrays);
            at += arrays.first().unwrap().len();
        }
    }
}

/// Ascending steps: where to, and how many rows are read there.
fn steps(rows: usize, stride: usize, random: &mut XorShift) -> Vec<(usize, usize)> {
    let (mut at, mut steps) = (0, Vec::new());
    let furthest = [stride / 2, stride * 2, rows / 2, 3][random.below(4)] + 1;
    let most = [1, 10, stride + stride / 3, stride * 3][random.below(4)] + 1;
    while at < rows && steps.len() < 40 {
        // Often exactly where a row group begins, or a row beside.
        let to = match random.below(4) {
            0 => (at + random.below(furthest)).div_ceil(stride) * stride,
            1 => ((at + random.below(furthest)).div_ceil(stride) * stride + 1).saturating_sub(random.below(3)),
            _ => at + random.below(furthest),
        };
        let to = to.max(at);
        if to >= rows {
            break;
        }
        let n = (1 + random.below(most)).min(rows - to);
        steps.push((to, n));
        at = to + n;
    }
    steps
}

fn is_same(got: &ArrayRef, want: &ArrayRef) -> bool {
    got.to_data() == want.to_data()
}

/// Row groups of which a step reads something.
fn runs(steps: &[(usize, usize)], groups: RowGroups) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for &(row, n) in steps {
        let (first, last) = (groups.group_of(row as u64), groups.group_of((row + n - 1) as u64));
        match runs.last_mut() {
            Some(run) if first <= run.end => run.end = run.end.max(last + 1),
            _ => runs.push(first..last + 1),
        }
    }
    runs
}

/// Compares rows that were come to in any way with all rows; says how often a row index was used.
fn check(name: &str, bytes: Vec<u8>, times: usize, random: &mut XorShift) -> usize {
    let file = OrcFile::try_new(Arc::new(MemorySource::new(bytes)), &Limits::default()).unwrap();
    let mut sought = 0;
    for case in 0..3 {
        let opener = file.read(options(case)).unwrap().opener;
        for index in 0..file.tail().stripes.len() {
            let mut whole = Opened::new(&opener, index, Way::Skip);
            let rows = usize::try_from(whole.stripe.rows).unwrap();
            let all_groups = std::slice::from_ref(&(0..1));
            whole.load(&opener, all_groups);
            let mut want: Vec<(usize, Vec<ArrayRef>)> = Vec::new();
            whole.read(&opener, 0, rows, |at, arrays| want.push((at, arrays.to_vec())));
            for time in 0..times {
                let way = [Way::Skip, Way::Seek, Way::SeekInParts, Way::SeekInNothing][time % 4];
                let mut opened = Opened::new(&opener, index, way);
                sought += usize::from(opened.reader.can_seek && opened.groups.count() > 1);
                let stride = usize::try_from(opened.groups.rows(0).end).unwrap();
                let steps = steps(rows, if way == Way::Skip { rows.div_ceil(3) } else { stride }, random);
                match way {
                    Way::Skip => opened.load(&opener, all_groups),
                    Way::Seek => opened.load(&opener, std::slice::from_ref(&(0..opened.groups.count()))),
                    Way::SeekInParts => opened.load(&opener, &runs(&steps, opened.groups)),
                    Way::SeekInNothing => {}
                }
                for &(row, n) in &steps {
                    opened.read(&opener, row, n, |at, arrays| {
                        let mut done = 0;
                        let length = arrays.first().unwrap().len();
                        while done < length {
                            let from = at + done;
                            let part = want.partition_point(|(start, _)| *start <= from) - 1;
                            let (start, of_part) = &want[part];
                            let n = (length - done).min(start + of_part.first().unwrap().len() - from);
                            for (column, (got, want)) in arrays.iter().zip(of_part).enumerate() {
                                let (got, want) = (got.slice(done, n), want.slice(from - start, n));
                                let what = || format!("{name}, options {case}, stripe {index}, {way:?}, {steps:?}");
                                assert!(
                                    is_same(&got, &want),
                                    "{}: column {column} from {from} is {got:?} instead of {want:?}",
                                    what()
                                );
                            }
                            done += n;
                        }
                    });
                }
            }
        }
    }
    sought
}

#[test]
fn rows_of_small_files() {
    let mut random = XorShift(0x5eed_0001);
    for (name, bytes) in files("") {
        check(&name, bytes, 12, &mut random);
    }
}

#[test]
fn rows_of_files_with_row_groups() {
    let mut random = XorShift(0x5eed_0002);
    for (name, bytes) in files("groups") {
        // Three of four ways use the row index, in the one stripe that has more than one row group.
        let times = 120;
        let sought = check(&name, bytes, times, &mut random);
        assert_eq!(sought, times / 4 * 3 * 3, "{name}");
    }
}
