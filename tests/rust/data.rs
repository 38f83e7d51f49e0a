//! The files of `tests/data`.

use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use orcish::encryption::{Keys, MasterKeys, SecretKey};

/// A path from the root of the repository.
pub(crate) fn path(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(relative)
}

/// Names and bytes of the ORC files of a folder, sorted by name.
pub(crate) fn files(folder: &str) -> Vec<(String, Bytes)> {
    let entries = fs::read_dir(path(folder)).expect("an existing folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut files: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "orc"))
        .map(|path| {
            let name = path.file_name().expect("a name").to_str().expect("a plain name").to_owned();
            (name, Bytes::from(fs::read(&path).expect("a readable file")))
        })
        .collect();
    files.sort();
    files
}

/// The bytes of a file of `tests/data`.
pub(crate) fn file(name: &str) -> Bytes {
    fs::read(path("tests/data").join(name)).expect("an existing file").into()
}

/// The number of cases of a random test; see [`orcish_core::tuning::testing::cases`].
pub(crate) fn cases(number: u32) -> usize {
    orcish_core::tuning::testing::cases(number) as usize
}

/// The key of the encrypted columns of `masked.zstd.orc`.
pub(crate) fn keys() -> Keys {
    let key = SecretKey::try_new((0..16).collect()).expect("16 bytes");
    Keys::new(std::sync::Arc::new(MasterKeys::default().with_key("secret", 0, key)))
}
