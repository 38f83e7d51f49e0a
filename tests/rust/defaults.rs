//! Each `unwrap_or_default()` of the crates, and each value in the place of an element that `get` does not find, has a
//! reason. A value that cannot be absent is an error of kind `Internal` instead, see `orcish_core::error::OrInternal`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use syn::visit::Visit;

use crate::data;
use crate::layers::{CRATES, attributes_of, is_for_tests, modules_of};

const METHOD: &str = "unwrap_or_default";
/// Methods that give another value where an element is absent.
const FALLBACKS: [&str; 4] = ["unwrap_or", "unwrap_or_else", "map_or", "map_or_else"];
/// Methods of an option that keep it absent.
const ADAPTERS: [&str; 7] = ["as_deref", "as_ref", "and_then", "cloned", "copied", "filter", "map"];
/// Stands for a reason that is still to be given.
const NO_REASON: &str = "";

/// Files with the number of their calls, and the reason why the default is meant.
#[rustfmt::skip]
const ALLOWED: &[(&str, usize, &str)] = &[
    ("crates/carbondata/src/file/blocklet.rs", 1, "a column without chunks has no pages, and is an error where it is decoded"),
    ("crates/carbondata/src/file/metadata.rs", 1, "no chunk has the index, so that it is an error where it is decoded"),
    ("crates/carbondata/src/file/v3.rs", 1, "a chunk without a byte behind it ends where it starts, which is an error"),
    ("crates/carbondata/src/fuzzing/mutate.rs", 1, "without a number to choose the value stays"),
    ("crates/carbondata/src/metadata/file_names.rs", 1, "a name is the end of its location, so that its start is there"),
    ("crates/carbondata/src/metadata/index_file.rs", 1, "a file that was not met yet is the next one"),
    ("crates/carbondata/src/scan/pruning.rs", 2, "the default of bounds is that nothing is known"),
    ("crates/carbondata/src/scan/split_token.rs", 1, "a column without a default value has none in a token"),
    ("crates/carbondata/src/stream/rows.rs", 1, "an error of a column that the file has not does not name it"),
    ("crates/carbondata/src/table/transactional.rs", 1, "segments that are not read have no files"),
    ("crates/orcish-core/src/names/resolve.rs", 2, "behind the last step is the end of the name, where a step may start"),
    ("crates/orcish-core/src/predicate/pruning.rs", 1, "before the first proof nothing is known of a leaf"),
    ("crates/orcish-core/src/sql/parser.rs", 3, "behind the last token is the end of the text"),
    ("crates/orcish-io/src/local/sink.rs", 1, "a clock before 1970 makes a name less random, and no other name"),
    ("crates/orcish-io/src/remote/body.rs", 1, "a slice that is too short is taken whole"),
    ("crates/orcish-python/src/json/blocks.rs", 2, "behind the last byte that was read there is none"),
    ("crates/orcish-python/src/json/rows.rs", 1, "behind the last byte of a block there is none"),
    ("crates/orcish-python/src/json/types.rs", 2, "behind the last byte of a text there is none"),
    ("crates/orcish-python/src/tuning.rs", 2, "a call without sizes, or without one of them, sets the standard sizes"),
    ("crates/orcish/src/codec/sparse.rs", 2, "a slice that is too short is taken whole, and behind the last range is the end"),
    ("crates/orcish/src/encoding/encode/byte_rle.rs", 1, "a slice that is too short is taken whole"),
    ("crates/orcish/src/encoding/encode/int_rle_v1.rs", 1, "a slice that is too short is taken whole"),
    ("crates/orcish/src/encoding/encode/int_rle_v2/segments.rs", 1, "a single value has no delta, and is as if it had one of 0"),
    ("crates/orcish/src/encryption/variants.rs", 2, "an absent field of a message has the default value of its type"),
    ("crates/orcish/src/index.rs", 2, "a column without an index, and the end of a stripe, have no positions, and decoders refuse too few"),
    ("crates/orcish/src/projection.rs", 1, "a column that is not in the schema has no children to be found by name"),
    ("crates/orcish/src/read/request.rs", 1, "a list that is shorter is taken whole"),
    ("crates/orcish/src/read/schema.rs", 3, "an option that is not given has the default of its type"),
    ("crates/orcish/src/scan/matching.rs", 1, "a file may have no column of a name"),
    ("crates/orcish/src/scan/table.rs", 1, "an error about a file that is not there does not name it"),
    ("crates/orcish/src/scan/timestamps.rs", 1, "a column that no file has keeps the unit of the table"),
    ("crates/orcish/src/tail/decode.rs", 1, "an absent field of a message has the default value of its type"),
    ("crates/orcish/src/write/column/utf8.rs", 1, "a slice that is too short is taken whole"),
    ("crates/orcish/src/write/merge.rs", 1, "an absent field of a message has the default value of its type"),
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

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.0 += usize::from(FALLBACKS.iter().any(|name| call.method == name) && is_look_up(&call.receiver));
        syn::visit::visit_expr_method_call(self, call);
    }

    fn visit_ident(&mut self, name: &'ast syn::Ident) {
        self.0 += usize::from(name == METHOD);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        // Arguments of macros have no syntax tree.
        self.0 += call.tokens.to_string().matches(METHOD).count();
    }
}

/// Whether an expression is the element of a collection for a key or an index.
fn is_look_up(expression: &syn::Expr) -> bool {
    let syn::Expr::MethodCall(call) = expression else { return false };
    if ADAPTERS.iter().any(|name| call.method == name) {
        return is_look_up(&call.receiver);
    }
    (call.method == "get" || call.method == "get_mut") && !call.args.is_empty()
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
        "calls of `{METHOD}`, or of {FALLBACKS:?} behind `get`, have changed. Where a value cannot be absent, `or_internal` says what does not hold. Where \
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
    let code = "
        fn f(a: &[u8]) -> u8 { a.get(1).copied().unwrap_or(7) + a.get(2).map_or(0, |b| b + 1) }
        fn g(a: &[u8], b: &OnceLock<u8>) { a.first().copied().unwrap_or(0); b.get().copied().unwrap_or(0); a.get(1)? }
    ";
    assert_eq!(count(code), 2);
}
