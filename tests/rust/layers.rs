//! Imports have no cycles, between the files of a crate and between the modules of each folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::Visit;
use syn::{Attribute, Item, ItemMod, ItemUse, UseTree, Visibility};

use crate::data;

/// The crates of the workspace, in order of their dependencies.
pub(crate) const CRATES: [&str; 6] =
    ["orcish-core", "orcish-io", "orcish-table", "orcish", "carbondata", "orcish-python"];

/// The path of a module from the root of its crate.
pub(crate) type ModulePath = Vec<String>;
/// Files or modules, with the files or modules that each uses.
type Graph = BTreeMap<ModulePath, BTreeSet<ModulePath>>;

/// The imports and exports of a file.
#[derive(Default)]
pub(crate) struct Module {
    /// The path of the file.
    pub(crate) file: PathBuf,
    /// Absolute paths in the code of the file.
    used: Vec<Vec<String>>,
    /// Names that the file re-exports, with their paths. The name of a glob is `*`.
    exported: Vec<(String, Vec<String>)>,
    /// Names that the file imports, with their paths.
    imported: BTreeMap<String, Vec<String>>,
}

pub(crate) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg") && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    })
}

/// The attributes of an item that tests may be in.
pub(crate) fn attributes_of(item: &Item) -> &[Attribute] {
    match item {
        Item::Mod(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        _ => &[],
    }
}

/// Collects the paths in the code of a file.
struct Collector<'a> {
    /// The current module, which may be an inline module of the file.
    at: ModulePath,
    module: &'a mut Module,
    /// Child modules in other files.
    files: Vec<String>,
}

impl Collector<'_> {
    /// The path from the root of the crate. `None` for paths of other crates and of local names.
    fn resolve(&self, path: &[String]) -> Option<Vec<String>> {
        let (first, rest) = path.split_first()?;
        let up = |count: usize| self.at.get(..self.at.len().checked_sub(count)?);
        let supers = path.iter().take_while(|name| *name == "super").count();
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([&self.at, rest].concat()),
            "super" => Some([up(supers)?, path.get(supers..)?].concat()),
            // A child module.
            name if self.files.iter().any(|file| file == name) => Some([&self.at, path].concat()),
            name => {
                let import = self.module.imported.get(name)?;
                Some([import, rest].concat())
            }
        }
    }

    fn use_tree(&self, tree: &UseTree, prefix: &[String], out: &mut Vec<(String, Vec<String>)>) {
        let with = |name: &syn::Ident| [prefix, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.use_tree(&path.tree, &with(&path.ident), out),
            UseTree::Name(name) if name.ident == "self" => {
                out.extend(prefix.last().map(|last| (last.clone(), prefix.to_vec())));
            }
            UseTree::Name(name) => out.push((name.ident.to_string(), with(&name.ident))),
            UseTree::Rename(rename) => out.push((rename.rename.to_string(), with(&rename.ident))),
            UseTree::Glob(_) => out.push(("*".to_owned(), prefix.to_vec())),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.use_tree(tree, prefix, out)),
        }
    }
}

impl<'ast> Visit<'ast> for Collector<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_for_tests(attributes_of(item)) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_for_tests(&item.attrs) {
            syn::visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if item.content.is_some() {
            self.at.push(item.ident.to_string());
            syn::visit::visit_item_mod(self, item);
            self.at.pop();
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let mut names = Vec::new();
        self.use_tree(&item.tree, &[], &mut names);
        for (name, path) in names {
            let Some(path) = self.resolve(&path) else { continue };
            match item.vis {
                Visibility::Inherited => {
                    self.module.used.push(path.clone());
                    self.module.imported.insert(name, path);
                }
                _ => self.module.exported.push((name, path)),
            }
        }
    }

    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {
        // A path in a visibility is not an import.
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        // A single name may be a local variable.
        if names.len() > 1 || self.module.imported.contains_key(names.first().map_or("", String::as_str)) {
            self.module.used.extend(self.resolve(&names));
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, found: &'ast syn::Macro) {
        // Arguments of macros have no syntax tree. What looks like a path is treated as one.
        let text = code(found.tokens.clone());
        for root in ["crate::", "super::"] {
            for (at, _) in text.match_indices(root) {
                let end = text[at..].find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
                let path: Vec<String> =
                    text[at..end.map_or(text.len(), |end| at + end)].split("::").map(str::to_owned).collect();
                self.module.used.extend(self.resolve(&path));
            }
        }
        syn::visit::visit_macro(self, found);
    }
}

/// Tokens without literals, such as documentation.
fn code(tokens: TokenStream) -> String {
    let text = |token| match token {
        TokenTree::Group(group) => format!("({})", code(group.stream())),
        TokenTree::Literal(_) => String::new(),
        other => other.to_string(),
    };
    tokens.into_iter().map(text).collect()
}

/// Parses the file of a module, and the files of all modules below.
fn read(file: &Path, at: &ModulePath, modules: &mut BTreeMap<ModulePath, Module>) {
    let parsed = syn::parse_file(&fs::read_to_string(file).expect("a source file")).expect("Rust code");
    let name = file.file_stem().and_then(|name| name.to_str()).expect("a name");
    let folder = file.parent().expect("a folder");
    let below = if ["lib", "mod"].contains(&name) { folder.to_path_buf() } else { folder.join(name) };
    let mut files = Vec::new();
    for item in &parsed.items {
        let Item::Mod(item) = item else { continue };
        if item.content.is_some() || is_for_tests(&item.attrs) {
            continue;
        }
        let child = item.ident.to_string();
        let places = [below.join(format!("{child}.rs")), below.join(&child).join("mod.rs")];
        let place = places.iter().find(|place| place.exists()).expect("the file of a module");
        read(place, &[&at[..], std::slice::from_ref(&child)].concat(), modules);
        files.push(child);
    }
    let mut module = Module { file: file.to_path_buf(), ..Module::default() };
    let mut collector = Collector { at: at.clone(), module: &mut module, files };
    collector.visit_file(&parsed);
    modules.insert(at.clone(), module);
}

/// The file that defines the item of a path. Follows re-exports.
fn home(path: &[String], modules: &BTreeMap<ModulePath, Module>, depth: usize) -> ModulePath {
    let longest = (0..=path.len()).rev().find(|&length| modules.contains_key(&path[..length])).unwrap_or_default();
    let (at, rest) = (path[..longest].to_vec(), &path[longest..]);
    let (Some(name), Some(module)) = (rest.first().filter(|_| depth < 16), modules.get(&at)) else { return at };
    let exported = module.exported.iter().find(|(exported, _)| exported == name);
    if let Some((_, target)) = exported {
        return home(&[target, &rest[1..]].concat(), modules, depth + 1);
    }
    // The file that defines a name of a glob export is not known. The exporting module is used.
    at
}

/// The graph of imports between files.
fn graph(modules: &BTreeMap<ModulePath, Module>) -> Graph {
    let mut graph = Graph::new();
    for (at, module) in modules {
        let used = module.used.iter().map(|path| home(path, modules, 0));
        graph.insert(at.clone(), used.filter(|used| used != at).collect());
    }
    graph
}

/// Sets of nodes that use each other, directly or indirectly.
fn cycles(graph: &Graph) -> Vec<Vec<String>> {
    let reach = |from: &ModulePath| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(at) = next.pop() {
            next.extend(graph.get(&at).into_iter().flatten().filter(|used| seen.insert((*used).clone())).cloned());
        }
        seen
    };
    let all: BTreeMap<_, _> = graph.keys().map(|node| (node, reach(node))).collect();
    let cycle = |node: &ModulePath| {
        let mutual = all[node].iter().filter(|other| all.get(*other).is_some_and(|back| back.contains(node)));
        mutual.map(|other| other.join("::")).collect::<Vec<_>>()
    };
    let found: BTreeSet<Vec<String>> = graph.keys().map(cycle).filter(|cycle| !cycle.is_empty()).collect();
    found.into_iter().collect()
}

/// The graph of imports between the modules of each folder.
fn folders(graph: &Graph) -> BTreeMap<ModulePath, Graph> {
    let mut folders = BTreeMap::<ModulePath, Graph>::new();
    for (from, used) in graph {
        for to in used {
            let common = from.iter().zip(to).take_while(|(a, b)| a == b).count();
            if let (Some(a), Some(b)) = (from.get(common), to.get(common)) {
                let folder = folders.entry(from[..common].to_vec()).or_default();
                folder.entry(vec![a.clone()]).or_default().insert(vec![b.clone()]);
            }
        }
    }
    folders
}

/// The modules of a crate without those for tests, each in a file of its own.
pub(crate) fn modules_of(name: &str) -> BTreeMap<ModulePath, Module> {
    let mut modules = BTreeMap::new();
    read(&data::path(&format!("crates/{name}/src/lib.rs")), &Vec::new(), &mut modules);
    modules
}

#[test]
fn no_cycles_between_files() {
    let mut found = Vec::new();
    for name in CRATES {
        found.extend(cycles(&graph(&modules_of(name))).into_iter().map(|cycle| format!("{name}: {cycle:?}")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn no_cycles_between_modules_of_a_folder() {
    let mut found = Vec::new();
    for name in CRATES {
        for (folder, graph) in folders(&graph(&modules_of(name))) {
            found.extend(cycles(&graph).into_iter().map(|cycle| format!("{name}::{}: {cycle:?}", folder.join("::"))));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn graphs_have_files_and_imports() {
    for name in CRATES {
        let graph = graph(&modules_of(name));
        let used: usize = graph.values().map(BTreeSet::len).sum();
        assert!(graph.len() > 10 && used > graph.len(), "{name}: {} files, {used} imports", graph.len());
    }
}

/// The graph of imports between modules with this code.
fn graph_of(files: &[(&str, &str)]) -> Graph {
    let mut modules = BTreeMap::new();
    for (path, code) in files {
        let at: ModulePath = path.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let below = |other: &&(&str, &str)| other.0.strip_prefix(&format!("{path}::")).is_some();
        let children = files.iter().filter(|other| path.is_empty() || below(other));
        let last = |path: &str| path.rsplit("::").next().unwrap_or_default().to_owned();
        let mut module = Module::default();
        let files = children.map(|(path, _)| last(path)).collect();
        Collector { at: at.clone(), module: &mut module, files }.visit_file(&syn::parse_file(code).unwrap());
        modules.insert(at, module);
    }
    graph(&modules)
}

#[test]
fn cycles_through_re_exports_are_found() {
    let code = [
        ("", "mod a; mod b; pub use b::Thing;"),
        ("a", "use crate::Thing; fn f(_: Thing) {}"),
        ("b", "pub struct Thing; fn g() { crate::a::f() }"),
    ];
    assert_eq!(cycles(&graph_of(&code)), [["a", "b"]]);
    let code = [
        ("", "mod a; mod b; pub use b::Thing;"),
        ("a", "use crate::Thing;"),
        ("b", "#[cfg(test)] mod tests { use crate::a; }"),
    ];
    assert!(cycles(&graph_of(&code)).is_empty());
    // The file of a module and the file of its child module are two nodes.
    let code = [("a", "mod b; use b::f; pub struct S;"), ("a::b", "use super::S; pub fn f() {}")];
    assert_eq!(cycles(&graph_of(&code)), [["a", "a::b"]]);
}

#[test]
fn cycles_between_folders_are_found() {
    let code = [
        ("", ""),
        ("a", ""),
        ("a::x", "use crate::b::y;"),
        ("a::z", ""),
        ("b", ""),
        ("b::y", ""),
        ("b::w", "use crate::a::z;"),
    ];
    let graph = graph_of(&code);
    assert!(cycles(&graph).is_empty());
    assert_eq!(cycles(&folders(&graph)[&Vec::new()]), [["a", "b"]]);
}
