//! Changes of folders that outlast a crash.
#![expect(clippy::disallowed_types, reason = "this is where files are opened")]

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// The folder that a path is in.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes changes of names in a folder durable, where the system can: some cannot open folders.
pub(super) fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        // What has been changed is so in any case.
        let _ = folder.sync_all();
    }
}

/// Makes a change of a name durable.
pub(super) fn sync_folder_of(path: &Path) {
    sync_folder(folder_of(path));
}

/// Makes a folder, and those that it is in, where they are missing.
pub(super) fn create_folders(folder: &Path) -> io::Result<()> {
    let missing: Vec<_> =
        folder.ancestors().take_while(|above| !above.as_os_str().is_empty() && !above.is_dir()).collect();
    fs::create_dir_all(folder)?;
    missing.iter().for_each(|made| sync_folder_of(made));
    Ok(())
}
