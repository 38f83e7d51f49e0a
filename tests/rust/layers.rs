//! Modules import lower ranks only; those of one rank may not go in circles.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::data;

/// Top-level modules of a crate by rank. A module may use those of lower ranks, and those before it within its rank.
type Ranks = &'static [&'static [&'static str]];
/// Those of the core.
const RANKS: Ranks = &[
    &[
        "error",
        "proto",
        "expression",
        "memory",
        "noted",
        "options",
        "owner",
        "patience",
        "source",
        "threads",
        "tuning",
        "writer",
    ],
    &["io", "codec", "encoding", "time", "schema", "projection"],
    &["statistics", "bloom"],
    &["tail", "predicate", "distinct"],
    &["stripe", "index"],
    &["arrow"],
    &["shared"],
    &["scan", "write"],
];
/// Those of the crate that reads CarbonData.
const CARBON_RANKS: Ranks =
    &[&["bytes", "compress"], &["metadata"], &["page"], &["file"], &["stream", "table"], &["scan", "inspect"]];
/// Modules that stand outside: they may use all, and no other may use them.
const OUTSIDE: [&str; 2] = ["lib", "fuzzing"];
/// Names that the root of the crate re-exports, with the module that they are of.
const EXPORTED: [(&str, &str); 4] =
    [("Error", "error"), ("ErrorKind", "error"), ("Limits", "options"), ("NullMapKeys", "options")];

fn rust_files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
}

/// Code without comments and without the tests at its end.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// First segments of the paths that begin with `crate::`, of those in braces too.
fn uses(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let names: Vec<&str> = match rest.strip_prefix('{') {
            Some(group) => {
                let mut depth = 0;
                let end = group.find(|c| {
                    depth += i32::from(c == '{') - i32::from(c == '}');
                    depth < 0
                });
                top_level(&group[..end.expect("a brace that ends")])
            }
            None => vec![rest],
        };
        let first = |name: &str| name.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        found.extend(names.into_iter().map(first).filter(|name: &String| !name.is_empty()));
    }
    found
}

/// The parts between commas that are in no braces.
fn top_level(list: &str) -> Vec<&str> {
    let mut depth = 0;
    list.split(move |c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    })
    .collect()
}

fn place(ranks: Ranks, module: &str) -> Option<(usize, usize)> {
    let at = |modules: &&[&str]| modules.iter().position(|name| *name == module);
    ranks.iter().enumerate().find_map(|(rank, modules)| Some((rank, at(modules)?)))
}

/// What is wrong with the modules: pairs of a module and what it uses.
fn faults(ranks: Ranks, modules: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut faults = Vec::new();
    for (module, uses) in modules {
        if OUTSIDE.contains(&module.as_str()) {
            continue;
        }
        let Some(own) = place(ranks, module) else {
            faults.push(format!("{module} has no rank: give it one in tests/rust/layers.rs"));
            continue;
        };
        for used in uses.iter().filter(|used| *used != module) {
            let exported = EXPORTED.iter().find(|(name, _)| name == used).map(|&(_, module)| module);
            match place(ranks, exported.unwrap_or(used)) {
                None => faults.push(format!("{module} uses {used}, which has no rank")),
                Some(rank) if rank >= own => faults.push(format!("{module} uses {used}, which is not below it")),
                Some(_) => {}
            }
        }
    }
    faults
}

/// Names of the modules in files of their own that are compiled for tests only.
fn test_modules(text: &str) -> Vec<String> {
    let behind = text.split("#[cfg(test)]\n").skip(1).filter_map(|rest| rest.lines().next());
    let name =
        |line: &str| line.trim_start_matches("pub(crate) ").strip_prefix("mod ")?.strip_suffix(';').map(str::to_owned);
    behind.filter_map(|line| name(line.trim())).collect()
}

fn check(root: &str, ranks: Ranks) {
    let root = data::path(root).canonicalize().unwrap();
    let mut files = Vec::new();
    rust_files(&root, &mut files);
    let texts: Vec<_> = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    let of_tests: BTreeSet<String> = texts.iter().flat_map(|text| test_modules(text)).collect();
    let mut modules: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (file, text) in files.iter().zip(&texts) {
        let relative = file.strip_prefix(&root).unwrap();
        let name = |part: &std::ffi::OsStr| part.to_str().unwrap().trim_end_matches(".rs").to_owned();
        if of_tests.contains(&name(file.file_name().unwrap())) || relative.starts_with("proto/generated") {
            continue;
        }
        modules.entry(name(relative.iter().next().unwrap())).or_default().extend(uses(&code(text)));
    }
    let ranked = ranks.iter().map(|modules| modules.len()).sum::<usize>();
    assert!(modules.len() >= ranked, "modules found: {modules:?}");
    let faults = faults(ranks, &modules);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn modules_import_lower_ranks_only() {
    check("crates/orcish/src", RANKS);
}

#[test]
fn modules_of_carbondata_import_lower_ranks_only() {
    check("crates/carbondata/src", CARBON_RANKS);
}

#[test]
fn what_points_up_is_found() {
    let uses = |text: &str| uses(&code(text));
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(uses("use crate::io::{self, ReadAt};\nlet x = crate::tail::read();"), names(&["io", "tail"]));
    assert_eq!(uses("use crate::{a::{b, c}, d, e::f};"), names(&["a", "d", "e"]));
    assert_eq!(uses("// crate::a\n#[cfg(test)]\nmod tests { use crate::b; }"), names(&[]));
    let module = |uses: &[&str]| names(uses);
    let modules = [("codec", module(&["tail", "error"])), ("new", module(&[])), ("schema", module(&["projection"]))];
    let modules = modules.into_iter().map(|(name, uses)| (name.to_owned(), uses)).collect();
    assert_eq!(faults(RANKS, &modules).len(), 3);
    assert_eq!(
        test_modules("#[cfg(test)]\npub(crate) mod tests;\n    #[cfg(test)]\n    mod a;\nmod b;"),
        ["tests", "a"]
    );
}
