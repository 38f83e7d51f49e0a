use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use orcish_core::Error;

use super::super::runtime::block_on;
use super::*;

/// Returns the page of a number: its files, its folders, and the token of the next page.
type MakePage = fn(usize) -> (Vec<String>, Vec<String>, Option<String>);

#[derive(Clone)]
struct Pages(MakePage, Arc<AtomicUsize>);

#[async_trait]
impl PaginatedListStore for Pages {
    async fn list_paginated(&self, prefix: Option<&str>, options: PaginatedListOptions) -> Result<PaginatedListResult> {
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

/// The numbers of listed files and folders, or the error, and the number of requested pages.
fn listed(make_page: MakePage) -> (std::result::Result<(usize, usize), String>, usize) {
    let count = Arc::new(AtomicUsize::new(0));
    let store = Pages(make_page, count.clone());
    let result = block_on(
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
    let make_page: MakePage = |page| match page {
        0..3 => (vec![format!("t/{page}")], vec!["t/a".into(), format!("t/b{page}")], Some(page.to_string())),
        // Pages without new entries.
        3..40 => (vec![], vec!["t/a".into()], Some(page.to_string())),
        _ => (vec!["t/z".into()], vec![], Some(String::new())),
    };
    assert_eq!(listed(make_page), (Ok((4, 4)), 41));
}

#[test]
fn endless_listings_are_an_error() {
    let wrong: [(MakePage, &str, usize); 4] = [
        (|page| (vec![format!("t/{page}")], vec![], Some("same".into())), "a page that was there before", 2),
        (|page| (vec![format!("t/{page}")], vec![], Some((page % 3).to_string())), "that was there before", 4),
        (|page| (vec!["t/a".into()], vec![], Some(page.to_string())), "the files of the page before", 2),
        (|page| (vec![], vec!["t/a".into()], Some(page.to_string())), "pages of the list have nothing new", 1002),
    ];
    for (make_page, message, pages) in wrong {
        let (found, requested) = listed(make_page);
        assert!(found.as_ref().is_err_and(|text| text.contains(message)), "{found:?} instead of {message}");
        assert_eq!(requested, pages);
    }
}
