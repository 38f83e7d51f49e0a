//! `new` cannot fail: what can is `try_new` or `open`, as in arrow and parquet.

use std::fs;

use syn::visit::Visit;
use syn::{ReturnType, Signature, Type};

use crate::layers::{CRATES, attributes_of, is_for_tests, modules_of};

/// Collects functions called `new`, or `new_with_…`, that return a result.
#[derive(Default)]
struct Fallible(Vec<String>);

fn is_result(output: &ReturnType) -> bool {
    let ReturnType::Type(_, output) = output else { return false };
    let Type::Path(path) = &**output else { return false };
    path.path.segments.last().is_some_and(|last| last.ident.to_string().ends_with("Result"))
}

impl<'ast> Visit<'ast> for Fallible {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_for_tests(attributes_of(item)) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_signature(&mut self, signature: &'ast Signature) {
        let name = signature.ident.to_string();
        if (name == "new" || name.starts_with("new_with_")) && is_result(&signature.output) {
            self.0.push(name);
        }
        syn::visit::visit_signature(self, signature);
    }
}

fn fallible(code: &str) -> Vec<String> {
    let mut found = Fallible::default();
    found.visit_file(&syn::parse_file(code).expect("Rust code"));
    found.0
}

#[test]
fn new_cannot_fail() {
    // Constructors of classes of Python are called `new` in Rust, and may raise.
    let crates = CRATES.iter().filter(|name| **name != "orcish-python");
    for file in crates.flat_map(|name| modules_of(name).into_values()).map(|module| module.file) {
        let found = fallible(&fs::read_to_string(&file).expect("a source file"));
        assert!(found.is_empty(), "{}: {found:?} should be called try_new", file.display());
    }
}

#[test]
fn fallible_constructors_are_found() {
    let code = "
        impl A { fn new() -> Self { A } }
        impl B { pub async fn new_with_options(x: u8) -> crate::Result<Self> { todo!() } }
        trait C: Sized { fn new(x: u8) -> std::io::Result<Self>; }
        #[cfg(test)]
        mod tests { impl D { fn new() -> Result<D> { todo!() } } }
    ";
    assert_eq!(fallible(code), ["new_with_options", "new"]);
}
