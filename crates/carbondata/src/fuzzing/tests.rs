//! Tests that a mutated file never causes a panic or an invalid array.

use std::path::Path;

use super::tree::Node;
use super::*;

/// Small files of all kinds, see `fuzz/carbon_seeds.py`.
fn seeds() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/carbon");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.map(|path| (path.display().to_string(), std::fs::read(&path).unwrap())).collect();
    files.sort();
    assert!(files.len() >= 5);
    files
}

#[test]
fn trees_round_trip() {
    for (name, bytes) in seeds() {
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let (node, length) = Node::read(rest).unwrap();
            assert_eq!(node.bytes(), rest[..length], "{name}");
            // The pages of a data file follow its header.
            rest = if name.ends_with(".carbondata") { &[] } else { &rest[length..] };
        }
    }
}

#[test]
fn nesting_is_bounded() {
    // Deeply nested lists, maps and structs.
    for (first, nested) in [(0x19, &[0x19][..]), (0x1b, &[1, 0xbb]), (0x1c, &[0x1c])] {
        let bytes = [&[first][..], &nested.repeat(1 << 20)].concat();
        assert_eq!(Node::read(&bytes), None, "{nested:?}");
        _ = mutate(&bytes, 1);
    }
    let shallow = [&[0x19][..], &[0x19; 10], &[0x05, 0]].concat();
    assert!(Node::read(&shallow).is_some());
}

#[test]
fn mutated_files_are_errors_or_valid_arrays() {
    let limits = Limits::default().with_memory(64 << 20).with_tail(1 << 20);
    let arrays = std::cell::Cell::new(0);
    let check = |array: &ArrayRef| {
        array.to_data().validate_full().unwrap();
        arrays.set(arrays.get() + 1);
    };
    let seeds = seeds();
    let cases = crate::fixtures::cases(1500);
    for case in 0..cases {
        let (_, bytes) = &seeds[usize::try_from(case).unwrap() % seeds.len()];
        let changed = mutate(bytes, case).unwrap();
        read(&Bytes::from(changed), &limits, &check);
    }
    // Most pages of a mutated file are unchanged.
    assert!(arrays.get() > cases, "{}", arrays.get());
}
