//! Stores that list in pages, of which each has to lead further.

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

/// Most pages of a list that follow each other and have nothing new. Stores give such pages where they look at many keys
/// and find none that is asked for.
const MOST_BARREN_PAGES: usize = 1000;

/// A store whose lists end: a page that is given again is an error, and so are too many without anything new.
#[derive(Debug, Clone)]
pub(super) struct Paged<S>(pub(super) S);

/// The pages of a list.
struct Pages<S> {
    store: S,
    prefix: Option<String>,
    delimiter: bool,
    progress: Progress,
    next: Next,
}

/// Which page comes next.
enum Next {
    First,
    Behind(String),
    Nothing,
}

/// What the pages of a list had until now.
#[derive(Default)]
struct Progress {
    tokens: HashSet<String>,
    /// The first file of the last page that had one.
    first: Option<Path>,
    folders: BTreeSet<Path>,
    /// Pages without anything new, since the last one that had something.
    barren: usize,
}

impl Progress {
    /// Takes a page into account; an error where it does not lead further.
    fn note(&mut self, page: &PaginatedListResult) -> Result<()> {
        let known = self.folders.len();
        self.folders.extend(page.result.common_prefixes.iter().cloned());
        let first = page.result.objects.first().map(|file| &file.location);
        if first.is_some() && first == self.first.as_ref() {
            return Err(endless("a page of the list has the files of the page before"));
        }
        let is_barren = first.is_none() && self.folders.len() == known;
        self.first = first.cloned().or(self.first.take());
        self.barren = if is_barren { self.barren + 1 } else { 0 };
        if self.barren > MOST_BARREN_PAGES {
            return Err(endless(&format!("more than {MOST_BARREN_PAGES} pages of the list have nothing new")));
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
        Pages { store, prefix, delimiter, progress: Progress::default(), next: Next::First }
    }

    async fn next(&mut self) -> Result<Option<ListResult>> {
        let page_token = match std::mem::replace(&mut self.next, Next::Nothing) {
            Next::First => None,
            Next::Behind(token) => Some(token),
            Next::Nothing => return Ok(None),
        };
        let delimiter = self.delimiter.then_some(DELIMITER.into());
        let options = PaginatedListOptions { delimiter, page_token, ..PaginatedListOptions::default() };
        let mut page = self.store.list_paginated(self.prefix.as_deref(), options).await?;
        page.page_token = page.page_token.filter(|token| !token.is_empty());
        self.progress.note(&page)?;
        self.next = page.page_token.map_or(Next::Nothing, Next::Behind);
        Ok(Some(page.result))
    }
}

impl<S: fmt::Display> fmt::Display for Paged<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[async_trait]
impl<S: ObjectStore + PaginatedListStore + Clone> ObjectStore for Paged<S> {
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use orcish_core::Error;

    use super::super::process::wait;
    use super::*;

    /// What is on a page, by its number: files, folders and the token of the next one.
    type Give = fn(usize) -> (Vec<String>, Vec<String>, Option<String>);

    #[derive(Clone)]
    struct Pages(Give, Arc<AtomicUsize>);

    #[async_trait]
    impl PaginatedListStore for Pages {
        async fn list_paginated(
            &self,
            prefix: Option<&str>,
            options: PaginatedListOptions,
        ) -> Result<PaginatedListResult> {
            let page = self.1.fetch_add(1, Ordering::Relaxed);
            assert_eq!((prefix, options.page_token.is_some()), (Some("t/"), page > 0));
            let (files, folders, page_token) = self.0(page);
            let file = |name: String| ObjectMeta {
                location: Path::from(name),
                last_modified: Default::default(),
                size: 1,
                e_tag: None,
                version: None,
            };
            let result = ListResult {
                common_prefixes: folders.into_iter().map(Path::from).collect(),
                objects: files.into_iter().map(file).collect(),
                extensions: Default::default(),
            };
            Ok(PaginatedListResult { result, page_token })
        }
    }

    /// How many files and folders the pages have, or what is wrong with them; and how many were asked for.
    fn listed(give: Give) -> (std::result::Result<(usize, usize), String>, usize) {
        let count = Arc::new(AtomicUsize::new(0));
        let store = Pages(give, count.clone());
        let result = wait(
            async move {
                let (mut files, mut pages) = (0, super::Pages::new(store, Some(&Path::from("t")), true));
                loop {
                    match pages.next().await {
                        Ok(Some(page)) => files += page.objects.len(),
                        Ok(None) => return Ok((files, pages.progress.folders.len())),
                        Err(error) => return Err(Error::invalid(error.to_string())),
                    }
                }
            },
            None,
        );
        (result.map_err(|error| error.to_string()), count.load(Ordering::Relaxed))
    }

    #[test]
    fn all_pages_are_read() {
        let give: Give = |page| match page {
            0..3 => (vec![format!("t/{page}")], vec!["t/a".into(), format!("t/b{page}")], Some(page.to_string())),
            // Some are empty.
            3..40 => (vec![], vec!["t/a".into()], Some(page.to_string())),
            _ => (vec!["t/z".into()], vec![], Some(String::new())),
        };
        assert_eq!(listed(give), (Ok((4, 4)), 41));
    }

    #[test]
    fn pages_that_lead_nowhere_are_an_error() {
        let wrong: [(Give, &str, usize); 4] = [
            (|page| (vec![format!("t/{page}")], vec![], Some("same".into())), "a page that was there before", 2),
            (|page| (vec![format!("t/{page}")], vec![], Some((page % 3).to_string())), "that was there before", 4),
            (|page| (vec!["t/a".into()], vec![], Some(page.to_string())), "the files of the page before", 2),
            (|page| (vec![], vec!["t/a".into()], Some(page.to_string())), "pages of the list have nothing new", 1002),
        ];
        for (give, message, pages) in wrong {
            let (found, asked) = listed(give);
            assert!(found.as_ref().is_err_and(|text| text.contains(message)), "{found:?} instead of {message}");
            assert_eq!(asked, pages);
        }
    }
}
