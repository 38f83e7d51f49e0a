//! Listings in pages, with protection against servers that return pages endlessly.

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use object_store::list::{PaginatedListOptions, PaginatedListResult, PaginatedListStore};
use object_store::path::{DELIMITER, Path};
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions,
    PutOptions, PutPayload, PutResult, RenameOptions, Result,
};

/// Maximum number of consecutive pages without new entries. Stores return empty pages when they scan many keys without
/// a match.
const MAX_EMPTY_PAGES: usize = 1000;

/// A store whose listings terminate: a repeated page is an error, and so are more than [`MAX_EMPTY_PAGES`] empty pages.
#[derive(Debug, Clone)]
pub(super) struct PaginatedStore<S>(pub(super) S);

/// The pages of a listing.
struct Pages<S> {
    store: S,
    prefix: Option<String>,
    delimiter: bool,
    progress: Progress,
    next: NextPage,
}

/// The next page of a listing.
enum NextPage {
    First,
    Token(String),
    End,
}

/// The state of a listing, for the detection of repeated pages.
#[derive(Default)]
struct Progress {
    tokens: HashSet<String>,
    /// The first file of the last page with files.
    first_file: Option<Path>,
    folders: BTreeSet<Path>,
    /// The number of consecutive pages without new entries.
    empty_pages: usize,
}

impl Progress {
    /// Adds a page.
    ///
    /// # Errors
    /// An error if the listing does not progress.
    fn add(&mut self, page: &PaginatedListResult) -> Result<()> {
        let known_folders = self.folders.len();
        self.folders.extend(page.result.common_prefixes.iter().cloned());
        let first_file = page.result.objects.first().map(|file| &file.location);
        if first_file.is_some() && first_file == self.first_file.as_ref() {
            return Err(endless("a page of the list has the files of the page before"));
        }
        let is_empty = first_file.is_none() && self.folders.len() == known_folders;
        self.first_file = first_file.cloned().or(self.first_file.take());
        self.empty_pages = if is_empty { self.empty_pages + 1 } else { 0 };
        if self.empty_pages > MAX_EMPTY_PAGES {
            return Err(endless(&format!("more than {MAX_EMPTY_PAGES} pages of the list have nothing new")));
        }
        match &page.page_token {
            Some(token) if !self.tokens.insert(token.clone()) => {
                Err(endless("the list goes on with a page that was there before"))
            }
            _ => Ok(()),
        }
    }
}

fn endless(text: &str) -> object_store::Error {
    object_store::Error::Generic { store: "list", source: text.into() }
}

impl<S: PaginatedListStore> Pages<S> {
    fn new(store: S, prefix: Option<&Path>, delimiter: bool) -> Self {
        let prefix = prefix.filter(|path| !path.as_ref().is_empty()).map(|path| format!("{path}{DELIMITER}"));
        Pages { store, prefix, delimiter, progress: Progress::default(), next: NextPage::First }
    }

    async fn next(&mut self) -> Result<Option<ListResult>> {
        let page_token = match std::mem::replace(&mut self.next, NextPage::End) {
            NextPage::First => None,
            NextPage::Token(token) => Some(token),
            NextPage::End => return Ok(None),
        };
        let delimiter = self.delimiter.then_some(DELIMITER.into());
        let options = PaginatedListOptions { delimiter, page_token, ..PaginatedListOptions::default() };
        let mut page = self.store.list_paginated(self.prefix.as_deref(), options).await?;
        page.page_token = page.page_token.filter(|token| !token.is_empty());
        self.progress.add(&page)?;
        self.next = page.page_token.map_or(NextPage::End, NextPage::Token);
        Ok(Some(page.result))
    }
}

impl<S: fmt::Display> fmt::Display for PaginatedStore<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[async_trait]
impl<S: ObjectStore + PaginatedListStore + Clone> ObjectStore for PaginatedStore<S> {
    async fn put_opts(&self, location: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.0.put_opts(location, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.0.put_multipart_opts(location, options).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.0.get_opts(location, options).await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.0.get_ranges(location, ranges).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.0.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let pages = Pages::new(self.0.clone(), prefix, false);
        let next = |mut pages: Pages<S>| async move {
            let page = pages.next().await?;
            Ok::<_, object_store::Error>(page.map(|page| (page.objects, pages)))
        };
        let files = |files: Vec<ObjectMeta>| stream::iter(files.into_iter().map(Ok));
        stream::try_unfold(pages, next).map_ok(files).try_flatten().boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let mut pages = Pages::new(self.0.clone(), prefix, true);
        let (mut objects, mut extensions) = (Vec::new(), Default::default());
        while let Some(page) = pages.next().await? {
            objects.extend(page.objects);
            extensions = page.extensions;
        }
        Ok(ListResult { common_prefixes: pages.progress.folders.into_iter().collect(), objects, extensions })
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.0.copy_opts(from, to, options).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.0.rename_opts(from, to, options).await
    }
}
