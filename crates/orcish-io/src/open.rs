//! Sources by their locations.

use std::sync::Arc;

use orcish_core::Result;

use crate::file::FileSource;
use crate::location;
#[cfg(feature = "object-store")]
use crate::remote::ObjectSource;
use crate::source::ReadAt;
use crate::storage::StorageOptions;
use crate::{pattern, tuning};

/// The source at `location`: a path, a `file://` URL, or, with the feature `object-store`, a URL of S3
/// (`s3`, `s3a`), Google Cloud Storage (`gs`), Azure (`az`, `abfs`, `abfss`, `adl`, `azure`) or an HTTP server.
///
/// # Errors
/// Of kind `Io` when it cannot be opened, `InvalidArgument` when the URL or an option is wrong.
pub fn open(location: &str, options: &StorageOptions) -> Result<Arc<dyn ReadAt>> {
    match location::parse(location) {
        location::Location::Local(path) => Ok(Arc::new(FileSource::open(path)?)),
        #[cfg(feature = "object-store")]
        location::Location::Remote(_) => Ok(Arc::new(ObjectSource::open(location, options)?)),
        #[cfg(not(feature = "object-store"))]
        location::Location::Remote(url) => Err(url.no_feature(options)),
    }
}

/// A path or URL for messages: without credentials, and without a query, which may hold some.
pub fn display_name(location: &str) -> String {
    match location::parse(location) {
        location::Location::Local(_) => location.to_owned(),
        location::Location::Remote(url) => url.name(),
    }
}

/// Requests that are worth having under way at a time for files such as that at `location`.
pub fn requests(location: &str, options: &StorageOptions) -> usize {
    match location::parse(location) {
        location::Location::Local(_) => tuning::NEAR_REQUESTS.get(),
        #[cfg(feature = "object-store")]
        location::Location::Remote(_) => options.split().map_or(1, |(remote, _)| remote.concurrency),
        #[cfg(not(feature = "object-store"))]
        location::Location::Remote(_) => {
            let _ = options;
            1
        }
    }
}

/// The folders of a path or URL, without its query.
pub(crate) fn folders_of(location: &str) -> Vec<String> {
    let mut segments = location::segments(location);
    segments.pop();
    segments
}

/// Those of them that are below `base`: a folder, or the part of a pattern before its first sign.
pub(crate) fn folders_below(base: &str, location: &str) -> Vec<String> {
    let (mut base, found) = (location::segments(base), location::segments(location));
    if !found.starts_with(&base) {
        base.truncate(base.iter().position(|segment| pattern::is_pattern(segment)).unwrap_or(base.len()));
    }
    let above = if found.starts_with(&base) { base.len() } else { 0 };
    let end = found.len().saturating_sub(1);
    found.get(above..end).unwrap_or_default().to_vec()
}
