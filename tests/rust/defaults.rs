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
    ("crates/carbondata/src/file/blocklet.rs", 1, "to be replaced"),
    ("crates/carbondata/src/file/footer.rs", 1, "to be replaced"),
    ("crates/carbondata/src/file/header.rs", 1, "to be replaced"),
    ("crates/carbondata/src/file/read_cost.rs", 2, "to be replaced"),
    ("crates/carbondata/src/fuzzing.rs", 2, "to be replaced"),
    ("crates/carbondata/src/fuzzing/mutate.rs", 8, "to be replaced"),
    ("crates/carbondata/src/fuzzing/tree.rs", 5, "to be replaced"),
    ("crates/carbondata/src/metadata/table_status.rs", 1, "to be replaced"),
    ("crates/carbondata/src/metadata/update_status.rs", 6, "to be replaced"),
    ("crates/carbondata/src/page/decimals.rs", 1, "to be replaced"),
    ("crates/carbondata/src/page/global_dictionary.rs", 2, "to be replaced"),
    ("crates/carbondata/src/page/inverted_index.rs", 3, "to be replaced"),
    ("crates/carbondata/src/page/length_prefixed.rs", 1, "to be replaced"),
    ("crates/carbondata/src/page/no_dictionary.rs", 1, "to be replaced"),
    ("crates/carbondata/src/page/truncated_lengths.rs", 1, "to be replaced"),
    ("crates/carbondata/src/scan/blocklet_plan.rs", 1, "to be replaced"),
    ("crates/carbondata/src/scan/config.rs", 1, "to be replaced"),
    ("crates/carbondata/src/scan/pruning.rs", 2, "to be replaced"),
    ("crates/carbondata/src/stream/mod.rs", 2, "to be replaced"),
    ("crates/carbondata/src/table/folder.rs", 1, "to be replaced"),
    ("crates/carbondata/src/table/transactional.rs", 1, "to be replaced"),
    ("crates/orcish-core/src/cast/list.rs", 2, "to be replaced"),
    ("crates/orcish-core/src/cast/mismatch.rs", 1, "to be replaced"),
    ("crates/orcish-core/src/cast/restore.rs", 1, "to be replaced"),
    ("crates/orcish-core/src/distinct/values.rs", 1, "to be replaced"),
    ("crates/orcish-core/src/expression.rs", 1, "to be replaced"),
    ("crates/orcish-core/src/names/nearest.rs", 2, "to be replaced"),
    ("crates/orcish-core/src/names/select.rs", 2, "to be replaced"),
    ("crates/orcish-core/src/pattern.rs", 1, "to be replaced"),
    ("crates/orcish-core/src/predicate/batch.rs", 3, "to be replaced"),
    ("crates/orcish-core/src/predicate/domain.rs", 2, "to be replaced"),
    ("crates/orcish-core/src/predicate/evaluate.rs", 1, "to be replaced"),
    ("crates/orcish-core/src/predicate/text_conversion.rs", 1, "to be replaced"),
    ("crates/orcish-core/src/sql/parser.rs", 1, "to be replaced"),
    ("crates/orcish-core/src/sql/string.rs", 2, "to be replaced"),
    ("crates/orcish-core/src/sql/token.rs", 8, "to be replaced"),
    ("crates/orcish-io/src/hive.rs", 1, "to be replaced"),
    ("crates/orcish-io/src/list.rs", 1, "to be replaced"),
    ("crates/orcish-io/src/local/buffer_pool.rs", 2, "to be replaced"),
    ("crates/orcish-io/src/local/file_ops.rs", 1, "to be replaced"),
    ("crates/orcish-io/src/local/lister.rs", 3, "to be replaced"),
    ("crates/orcish-io/src/local/sink.rs", 1, "to be replaced"),
    ("crates/orcish-io/src/location.rs", 4, "to be replaced"),
    ("crates/orcish-io/src/remote/address.rs", 1, "to be replaced"),
    ("crates/orcish-io/src/remote/client.rs", 3, "to be replaced"),
    ("crates/orcish-io/src/remote/client_options.rs", 1, "to be replaced"),
    ("crates/orcish-io/src/remote/credentials.rs", 1, "to be replaced"),
    ("crates/orcish-io/src/remote/error.rs", 2, "to be replaced"),
    ("crates/orcish-io/src/remote/hdfs/sink.rs", 1, "to be replaced"),
    ("crates/orcish-io/src/remote/hdfs_client.rs", 1, "to be replaced"),
    ("crates/orcish-io/src/remote/source.rs", 3, "to be replaced"),
    ("crates/orcish-io/src/remote/write_id.rs", 1, "to be replaced"),
    ("crates/orcish-python/src/folder.rs", 1, "to be replaced"),
    ("crates/orcish-python/src/node.rs", 1, "to be replaced"),
    ("crates/orcish-python/src/sink.rs", 1, "to be replaced"),
    ("crates/orcish-python/src/statistics.rs", 1, "to be replaced"),
    ("crates/orcish-python/src/stream.rs", 1, "to be replaced"),
    ("crates/orcish-python/src/table.rs", 2, "to be replaced"),
    ("crates/orcish-python/src/tuning.rs", 1, "to be replaced"),
    ("crates/orcish-table/src/entry.rs", 1, "to be replaced"),
    ("crates/orcish-table/src/links.rs", 1, "to be replaced"),
    ("crates/orcish-table/src/listing.rs", 1, "to be replaced"),
    ("crates/orcish-table/src/names.rs", 2, "to be replaced"),
    ("crates/orcish-table/src/sealed.rs", 1, "to be replaced"),
    ("crates/orcish/src/bloom/hasher.rs", 1, "to be replaced"),
    ("crates/orcish/src/bloom/mod.rs", 2, "to be replaced"),
    ("crates/orcish/src/codec/chunk.rs", 9, "to be replaced"),
    ("crates/orcish/src/codec/lzo.rs", 6, "to be replaced"),
    ("crates/orcish/src/codec/sparse.rs", 1, "to be replaced"),
    ("crates/orcish/src/dataset/codes.rs", 1, "to be replaced"),
    ("crates/orcish/src/dataset/split.rs", 2, "to be replaced"),
    ("crates/orcish/src/encoding/bitpack.rs", 1, "to be replaced"),
    ("crates/orcish/src/encoding/bool_rle.rs", 5, "to be replaced"),
    ("crates/orcish/src/encoding/decimal.rs", 4, "to be replaced"),
    ("crates/orcish/src/encoding/encode/bitpack.rs", 1, "to be replaced"),
    ("crates/orcish/src/encoding/encode/byte_rle.rs", 2, "to be replaced"),
    ("crates/orcish/src/encoding/encode/int_rle_v1.rs", 1, "to be replaced"),
    ("crates/orcish/src/encoding/encode/int_rle_v2.rs", 2, "to be replaced"),
    ("crates/orcish/src/encoding/encode/int_rle_v2/segment_stats.rs", 1, "to be replaced"),
    ("crates/orcish/src/encoding/encode/patched_base.rs", 2, "to be replaced"),
    ("crates/orcish/src/encoding/encode/run.rs", 1, "to be replaced"),
    ("crates/orcish/src/encoding/int_rle.rs", 2, "to be replaced"),
    ("crates/orcish/src/encoding/int_rle_v1.rs", 2, "to be replaced"),
    ("crates/orcish/src/encoding/int_rle_v2/delta.rs", 2, "to be replaced"),
    ("crates/orcish/src/encoding/int_rle_v2/patched_base.rs", 2, "to be replaced"),
    ("crates/orcish/src/encoding/int_rle_v2/run.rs", 1, "to be replaced"),
    ("crates/orcish/src/encoding/varint.rs", 1, "to be replaced"),
    ("crates/orcish/src/fuzzing.rs", 1, "to be replaced"),
    ("crates/orcish/src/index.rs", 2, "to be replaced"),
    ("crates/orcish/src/partition/duration.rs", 1, "to be replaced"),
    ("crates/orcish/src/partition/format.rs", 2, "to be replaced"),
    ("crates/orcish/src/predicate.rs", 1, "to be replaced"),
    ("crates/orcish/src/read/column/build.rs", 1, "to be replaced"),
    ("crates/orcish/src/read/column/decimal.rs", 1, "to be replaced"),
    ("crates/orcish/src/read/column/dictionary.rs", 2, "to be replaced"),
    ("crates/orcish/src/read/column/list.rs", 3, "to be replaced"),
    ("crates/orcish/src/read/column/primitive.rs", 2, "to be replaced"),
    ("crates/orcish/src/read/column/strings.rs", 1, "to be replaced"),
    ("crates/orcish/src/read/column/union.rs", 5, "to be replaced"),
    ("crates/orcish/src/read/column/validity.rs", 1, "to be replaced"),
    ("crates/orcish/src/read/filtered.rs", 1, "to be replaced"),
    ("crates/orcish/src/read/inspect.rs", 1, "to be replaced"),
    ("crates/orcish/src/read/prune.rs", 1, "to be replaced"),
    ("crates/orcish/src/read/restore/mod.rs", 1, "to be replaced"),
    ("crates/orcish/src/read/schema.rs", 5, "to be replaced"),
    ("crates/orcish/src/read/stored/format.rs", 1, "to be replaced"),
    ("crates/orcish/src/read/stored/mod.rs", 1, "to be replaced"),
    ("crates/orcish/src/scan/condition.rs", 1, "to be replaced"),
    ("crates/orcish/src/scan/matching.rs", 2, "to be replaced"),
    ("crates/orcish/src/scan/table.rs", 1, "to be replaced"),
    ("crates/orcish/src/scan/table_scan.rs", 1, "to be replaced"),
    ("crates/orcish/src/scan/types.rs", 1, "to be replaced"),
    ("crates/orcish/src/schema.rs", 4, "to be replaced"),
    ("crates/orcish/src/source.rs", 1, "to be replaced"),
    ("crates/orcish/src/stripe.rs", 4, "to be replaced"),
    ("crates/orcish/src/tail/decode.rs", 2, "to be replaced"),
    ("crates/orcish/src/tail/deviations.rs", 2, "to be replaced"),
    ("crates/orcish/src/tail/encryption.rs", 1, "to be replaced"),
    ("crates/orcish/src/tail/mod.rs", 3, "to be replaced"),
    ("crates/orcish/src/time/iana.rs", 1, "to be replaced"),
    ("crates/orcish/src/time/timestamp.rs", 1, "to be replaced"),
    ("crates/orcish/src/time/zone.rs", 2, "to be replaced"),
    ("crates/orcish/src/write/boolean_stream.rs", 2, "to be replaced"),
    ("crates/orcish/src/write/column/binary.rs", 1, "to be replaced"),
    ("crates/orcish/src/write/column/build.rs", 1, "to be replaced"),
    ("crates/orcish/src/write/column/bytes.rs", 3, "to be replaced"),
    ("crates/orcish/src/write/column/decimal.rs", 4, "to be replaced"),
    ("crates/orcish/src/write/column/dictionary.rs", 3, "to be replaced"),
    ("crates/orcish/src/write/column/float.rs", 2, "to be replaced"),
    ("crates/orcish/src/write/column/integer.rs", 5, "to be replaced"),
    ("crates/orcish/src/write/column/list.rs", 1, "to be replaced"),
    ("crates/orcish/src/write/column/mod.rs", 1, "to be replaced"),
    ("crates/orcish/src/write/column/string.rs", 5, "to be replaced"),
    ("crates/orcish/src/write/column/timestamp.rs", 3, "to be replaced"),
    ("crates/orcish/src/write/column/utf8.rs", 2, "to be replaced"),
    ("crates/orcish/src/write/merge.rs", 2, "an absent field of a message has the default value of its type"),
    ("crates/orcish/src/write/out_stream.rs", 1, "to be replaced"),
    ("crates/orcish/src/write/recover/mod.rs", 2, "to be replaced"),
    ("crates/orcish/src/write/recover/places.rs", 2, "to be replaced"),
    ("crates/orcish/src/write/recover/tails.rs", 1, "to be replaced"),
    ("crates/orcish/src/write/recover/walk.rs", 1, "to be replaced"),
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
