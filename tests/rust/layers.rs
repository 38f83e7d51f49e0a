//! Modules import lower ranks only; those of one rank may not go in circles.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::data;

/// Top-level modules of the core by rank. A module may use those of lower ranks, and those before it
/// within its rank.
const RANKS: [&[&str]; 8] = [
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

fn place(module: &str) -> Option<(usize, usize)> {
    let at = |modules: &&[&str]| modules.iter().position(|name| *name == module);
    RANKS.iter().enumerate().find_map(|(rank, modules)| Some((rank, at(modules)?)))
}

/// What is wrong with the modules: pairs of a module and what it uses.
fn faults(modules: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut faults = Vec::new();
    for (module, uses) in modules {
        if OUTSIDE.contains(&module.as_str()) {
            continue;
        }
        let Some(own) = place(module) else {
            faults.push(format!("{module} has no rank: give it one in tests/rust/layers.rs"));
            continue;
        };
        for used in uses.iter().filter(|used| *used != module) {
            let exported = EXPORTED.iter().find(|(name, _)| name == used).map(|&(_, module)| module);
            match place(exported.unwrap_or(used)) {
                None => faults.push(format!("{module} uses {used}, which has no rank")),
                Some(rank) if rank >= own => faults.push(format!("{module} uses {used}, which is not below it")),
                Some(_) => {}
            }
        }
    }
    faults
}

#[test]
fn modules_import_lower_ranks_only() {
    let root = data::path("crates/orcish/src").canonicalize().unwrap();
    let mut files = Vec::new();
    rust_files(&root, &mut files);
    let mut modules: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in files {
        let relative = file.strip_prefix(&root).unwrap();
        let is_test = relative.file_name().is_some_and(|name| name == "tests.rs");
        if is_test || relative.starts_with("proto/generated") {
            continue;
        }
        let module = relative.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs").to_owned();
        let found = uses(&code(&fs::read_to_string(&file).unwrap()));
        modules.entry(module).or_default().extend(found);
    }
    assert!(modules.len() > 10, "modules found: {modules:?}");
    let faults = faults(&modules);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
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
    assert_eq!(faults(&modules).len(), 3);
}
