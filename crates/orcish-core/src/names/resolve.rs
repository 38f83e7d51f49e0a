//! Resolution of dotted names in a tree of nested types.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::column_name::ColumnName;
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
/// * The names of fields can hold dots themselves: the longest field name that matches is tried first, which is at most a step
///   of the [`ColumnName`]. So the steps of a path lead to the field at its end.
/// * Steps that lead nowhere are a text: a dot between them can also be one of a field name.
/// * A name that several fields have is an error.
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

/// A walk along a name.
#[derive(Debug)]
struct Walk<'n> {
    text: &'n str,
    /// Positions of the dots that are part of no field name.
    dots: &'n [usize],
    path: Vec<Step>,
    /// The pairs of a type and the start of a rest of the name that were tried without success.
    failed: HashSet<(usize, usize)>,
}

impl<'n> Walk<'n> {
    /// The text from `start` to the end of the step.
    fn rest_of_step(&self, start: usize) -> &'n str {
        let next = self.dots.partition_point(|&dot| dot < start);
        let end = self.dots.get(next).copied().unwrap_or(self.text.len());
        self.text.get(start..end).unwrap_or_default()
    }
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

    /// The path of child indexes from the root to the type with a name; `None` where there is no such type.
    ///
    /// # Errors
    /// `InvalidArgument` where several columns or fields have the name.
    pub fn resolve(&mut self, name: &ColumnName) -> Result<Option<Vec<usize>>> {
        let Some(steps) = self.find(name) else { return Ok(None) };
        if steps.iter().any(|step| step.is_repeated) {
            let message = format!("column {:?}: several columns have this name", shortened(name.as_str()));
            return Err(Error::invalid(message));
        }
        Ok(Some(steps.into_iter().map(|step| step.index).collect()))
    }

    /// Whether a name is that of a column `other` which is not in the tree, and stands beside the columns in it: the steps of
    /// the name, if it has several, do not lead to a type of the tree.
    pub fn is_beside(&mut self, name: &ColumnName, other: &str) -> bool {
        name.as_str() == other && (name.is_one_step() || self.walk_whole(name.as_str(), name.dots()).is_none())
    }

    fn find(&mut self, name: &ColumnName) -> Option<Vec<Step>> {
        let path = self.walk_whole(name.as_str(), name.dots());
        if path.is_some() || name.is_one_step() { path } else { self.walk_whole(name.as_str(), &[]) }
    }

    fn walk_whole(&mut self, text: &str, dots: &[usize]) -> Option<Vec<Step>> {
        let mut walk = Walk { text, dots, path: Vec::new(), failed: HashSet::new() };
        self.walk(0, 0, &mut walk).then_some(walk.path)
    }

    /// Appends the path from a visited type to the rest of the name that begins at `start`.
    fn walk(&mut self, at: usize, start: usize, walk: &mut Walk<'_>) -> bool {
        if walk.failed.contains(&(at, start)) {
            return false;
        }
        let Some(visited) = self.visited.get(at) else { return false };
        let name = walk.rest_of_step(start);
        // Only prefixes up to the length of the longest name are hashed: a name of n dots has n prefixes.
        let ends = name.match_indices('.').map(|(dot, _)| dot).take_while(|&dot| dot <= visited.longest);
        let ends = ends.chain((name.len() <= visited.longest).then_some(name.len()));
        let step = |end: usize| {
            let (field, _) = name.split_at(end);
            let is_repeated = visited.repeated.contains(field);
            Some((Step { index: *visited.by_name.get(field)?, is_repeated }, start + end))
        };
        let mut steps: Vec<(Step, usize)> = ends.filter_map(step).collect();
        steps.reverse();
        let optional = self.tree.optional_child(&visited.node);
        for (step, end) in steps {
            walk.path.push(step);
            if end >= walk.text.len() {
                return true;
            }
            if self.child(at, step.index).is_some_and(|child| self.walk(child, end + 1, walk)) {
                return true;
            }
            walk.path.pop();
        }
        if let Some(index) = optional {
            walk.path.push(Step { index, is_repeated: false });
            if self.child(at, index).is_some_and(|child| self.walk(child, start, walk)) {
                return true;
            }
            walk.path.pop();
        }
        walk.failed.insert((at, start));
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
