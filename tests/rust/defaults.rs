//! Each `unwrap_or_default()` of the crates has a reason. A value that cannot be absent is an error of kind `Internal`
//! instead, see `orcish_core::error::OrInternal`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use syn::visit::Visit;

use crate::data;
use crate::layers::{CRATES, attributes_of, is_for_tests, modules_of};

const METHOD: &str = "unwrap_or_default";
/// Stands for a reason that is still to be given.
const NO_REASON: &str = "";

/// Files with the number of their calls, and the reason why the default is meant.
#[rustfmt::skip]
const ALLOWED: &[(&str, usize, &str)] = &[
    ("crates/carbondata/src/metadata/table_status.rs", 1, "a segment without a state is one that cannot be read"),
    ("crates/carbondata/src/metadata/update_status.rs", 5, "writers leave out the fields that an update does not need"),
    ("crates/carbondata/src/scan/pruning.rs", 2, "the default of bounds is that nothing is known"),
    ("crates/carbondata/src/table/transactional.rs", 1, "segments that are not read have no files"),
    ("crates/orcish-io/src/local/sink.rs", 1, "a clock before 1970 makes a name less random, and no other name"),
    ("crates/orcish-io/src/remote/write_id.rs", 1, "a clock before 1970 makes a name less random, and no other name"),
    ("crates/orcish-python/src/tuning.rs", 1, "a call without sizes sets the standard sizes"),
    ("crates/orcish/src/tail/decode.rs", 1, "an absent field of a message has the default value of its type"),
    ("crates/orcish/src/write/merge.rs", 1, "an absent field of a message has the default value of its type"),
    ("crates/orcish/src/read/schema.rs", 3, "an option that is not given has the default of its type"),
];

/// Counts the calls outside of tests.
#[derive(Default)]
struct Counter(usize);

impl<'ast> Visit<'ast> for Counter {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_for_tests(attributes_of(item)) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_for_tests(&item.attrs) {
            syn::visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_ident(&mut self, name: &'ast syn::Ident) {
        self.0 += usize::from(name == METHOD);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        // Arguments of macros have no syntax tree.
        self.0 += call.tokens.to_string().matches(METHOD).count();
    }
}

fn count(code: &str) -> usize {
    let mut counter = Counter::default();
    counter.visit_file(&syn::parse_file(code).expect("Rust code"));
    counter.0
}

/// The number of calls in each file that has some, by the path from the root of the repository.
fn counts() -> BTreeMap<String, usize> {
    let root = data::path("");
    let name = |file: &Path| {
        let parts = file.strip_prefix(&root).expect("a file of the repository").components();
        parts.map(|part| part.as_os_str().to_str().expect("a plain name")).collect::<Vec<_>>().join("/")
    };
    let files = CRATES.iter().flat_map(|crate_name| modules_of(crate_name).into_values()).map(|module| module.file);
    let counted = files.map(|file| (name(&file), count(&fs::read_to_string(&file).expect("a source file"))));
    counted.filter(|(_, count)| *count > 0).collect()
}

#[test]
fn each_default_has_a_reason() {
    let counts = counts();
    let allowed = ALLOWED.iter().map(|&(file, count, _)| (file.to_owned(), count)).collect();
    let reasons: BTreeMap<_, _> = ALLOWED.iter().map(|&(file, _, reason)| (file, reason)).collect();
    let line = |(file, count): (&String, &usize)| {
        format!("    ({file:?}, {count}, {:?}),\n", reasons.get(file.as_str()).unwrap_or(&NO_REASON))
    };
    // assert_eq! would print both maps.
    assert!(
        counts == allowed && ALLOWED.iter().all(|&(_, _, reason)| reason != NO_REASON),
        "calls of `{METHOD}` have changed. Where a value cannot be absent, `or_internal` says what does not hold. Where \
         the default is meant, ALLOWED in {} has the reason. The list of the files as they are is:\n{}",
        file!(),
        counts.iter().map(line).collect::<String>()
    );
}

#[test]
fn calls_are_counted_outside_of_tests() {
    let code = "
        fn f(a: Option<u8>) -> u8 { g(a.map(Vec::<u8>::new), Option::unwrap_or_default); a.unwrap_or_default() }
        fn g() { println!(\"{}\", a.unwrap_or_default()) }
        #[cfg(test)]
        fn h() { a.unwrap_or_default(); }
        #[cfg(test)]
        mod tests { fn i() { a.unwrap_or_default(); } }
    ";
    assert_eq!(count(code), 3);
}
