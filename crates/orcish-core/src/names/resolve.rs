//! Resolution of dotted names in a tree of nested types.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::nearest::shortened;
use crate::error::{Error, Result};

/// A tree of nested types.
pub trait TypeTree {
    /// A type of the tree.
    type Node: Clone;

    /// Number of the children of a type.
    fn child_count(&self, node: &Self::Node) -> usize;

    /// The child at an index.
    fn child(&self, node: &Self::Node, index: usize) -> Option<Self::Node>;

    /// Calls `add` with each name of the child at an index: the elements of lists have two, `element` and `item`.
    fn child_names(&self, node: &Self::Node, index: usize, add: &mut dyn FnMut(&str));

    /// Index of the child whose name can be left out: the element of a list, the value of a map.
    fn optional_child(&self, node: &Self::Node) -> Option<usize>;
}

/// Resolves dotted names in a [`TypeTree`].
///
/// * The names of fields can hold dots themselves: the longest field name that matches is tried first.
/// * The first of several fields of the same name is found by [`resolve`](Self::resolve), and an error of
///   [`resolve_single`](Self::resolve_single).
/// * `list.a` and `map.a` stand for `list.element.a` and `map.value.a`, unless the list or map has a child `a` itself.
///
/// The resolver hashes the names below each type once. Resolving a name takes time in proportion to its length.
#[derive(Debug)]
pub struct NameResolver<T: TypeTree> {
    tree: T,
    /// The types on the paths of resolved names. The first is the root.
    visited: Vec<Visited<T::Node>>,
}

/// A step of a path.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// The index of the child.
    index: usize,
    /// Whether another child has the same name.
    is_repeated: bool,
}

/// A type of the tree with an index of its children.
#[derive(Debug)]
struct Visited<N> {
    node: N,
    /// For each name, the index of the first child with the name.
    by_name: HashMap<String, usize>,
    /// Names that several children have.
    repeated: HashSet<String>,
    /// Length of the longest name in bytes.
    longest: usize,
    /// For each visited child, its index in the list of visited types.
    children: HashMap<usize, usize>,
}

impl<T: TypeTree> NameResolver<T> {
    /// A resolver of names below `root`.
    pub fn new(tree: T, root: T::Node) -> Self {
        let mut resolver = NameResolver { tree, visited: Vec::new() };
        resolver.visit(root);
        resolver
    }

    /// The path of child indexes from the root to the type with a dotted name; `None` where there is no such type.
    pub fn resolve(&mut self, name: &str) -> Option<Vec<usize>> {
        let mut steps = Vec::new();
        self.walk(0, name, &mut steps, &mut HashSet::new()).then(|| steps.into_iter().map(|step| step.index).collect())
    }

    /// As [`resolve`](Self::resolve), for a name that has to be that of one column: of a filter, or of an aggregate.
    ///
    /// # Errors
    /// `InvalidArgument` where several columns or fields have the name.
    pub fn resolve_single(&mut self, name: &str) -> Result<Option<Vec<usize>>> {
        let mut steps = Vec::new();
        if !self.walk(0, name, &mut steps, &mut HashSet::new()) {
            return Ok(None);
        }
        if steps.iter().any(|step| step.is_repeated) {
            let message = format!("column {:?}: several columns have this name", shortened(name));
            return Err(Error::invalid(message));
        }
        Ok(Some(steps.into_iter().map(|step| step.index).collect()))
    }

    /// Appends the path from a visited type to `name` to `path`. `failed` has the pairs of a type and the length of a rest of
    /// the name that were tried without success.
    fn walk(&mut self, at: usize, name: &str, path: &mut Vec<Step>, failed: &mut HashSet<(usize, usize)>) -> bool {
        if failed.contains(&(at, name.len())) {
            return false;
        }
        let Some(visited) = self.visited.get(at) else { return false };
        // Only prefixes up to the length of the longest name are hashed: a name of n dots has n prefixes.
        let ends = name.match_indices('.').map(|(dot, _)| dot).take_while(|&dot| dot <= visited.longest);
        let ends = ends.chain((name.len() <= visited.longest).then_some(name.len()));
        let step = |end: usize| {
            let (field, _) = name.split_at(end);
            Some((Step { index: *visited.by_name.get(field)?, is_repeated: visited.repeated.contains(field) }, end))
        };
        let mut steps: Vec<(Step, usize)> = ends.filter_map(step).collect();
        steps.reverse();
        let optional = self.tree.optional_child(&visited.node);
        for (step, end) in steps {
            path.push(step);
            let Some(rest) = name.get(end + 1..) else { return true };
            if self.child(at, step.index).is_some_and(|child| self.walk(child, rest, path, failed)) {
                return true;
            }
            path.pop();
        }
        if let Some(index) = optional {
            path.push(Step { index, is_repeated: false });
            if self.child(at, index).is_some_and(|child| self.walk(child, name, path, failed)) {
                return true;
            }
            path.pop();
        }
        failed.insert((at, name.len()));
        false
    }

    /// The index of the child of a visited type in the list of visited types.
    fn child(&mut self, at: usize, index: usize) -> Option<usize> {
        let visited = self.visited.get(at)?;
        if let Some(&child) = visited.children.get(&index) {
            return Some(child);
        }
        let child = self.tree.child(&visited.node, index)?;
        let child = self.visit(child);
        self.visited.get_mut(at)?.children.insert(index, child);
        Some(child)
    }

    fn visit(&mut self, node: T::Node) -> usize {
        let (mut by_name, mut repeated, mut longest) = (HashMap::new(), HashSet::new(), 0);
        for index in 0..self.tree.child_count(&node) {
            self.tree.child_names(&node, index, &mut |name| {
                longest = longest.max(name.len());
                match by_name.entry(name.to_owned()) {
                    Entry::Vacant(place) => _ = place.insert(index),
                    Entry::Occupied(_) => _ = repeated.insert(name.to_owned()),
                }
            });
        }
        self.visited.push(Visited { node, by_name, repeated, longest, children: HashMap::new() });
        self.visited.len() - 1
    }
}
