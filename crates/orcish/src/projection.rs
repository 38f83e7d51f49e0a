//! Projection: which columns are read, in which order.

use orcish_core::error::{Error, ErrorKind, Result};
use orcish_core::names::{NameResolver, TypeTree, nearest};

use crate::options::Columns;
use crate::schema::{Kind, Schema};

/// A column that is read, with those of its children that are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Projected {
    /// Column id.
    pub id: u32,
    /// Children that are read: for a struct in the order asked for, else in file order. A list, map or
    /// union always has all its children, as far down as something is read.
    pub children: Vec<Projected>,
}

/// The columns that are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Projection {
    /// The root with what is read below it.
    pub root: Projected,
    /// Whether this is all of the file.
    pub all: bool,
    wanted: Vec<bool>,
}

/// A tree of what was asked for: a whole subtree, or parts of it in order.
#[derive(Debug)]
struct Asked {
    id: u32,
    whole: bool,
    parts: Vec<Asked>,
}

impl Asked {
    fn new(id: u32) -> Self {
        Asked { id, whole: false, parts: Vec::new() }
    }

    /// Adds the way down to a column: its ancestors below this one, and itself, with all that is below or without.
    fn add(&mut self, way: &[u32], whole: bool) {
        let Some((&id, rest)) = way.split_first() else {
            self.whole |= whole;
            return;
        };
        let at = self.parts.iter().position(|part| part.id == id).unwrap_or_else(|| {
            self.parts.push(Asked::new(id));
            self.parts.len() - 1
        });
        if let Some(part) = self.parts.get_mut(at) {
            part.add(rest, whole);
        }
    }
}

impl Projection {
    /// Finds the `columns` of `schema`.
    ///
    /// # Errors
    /// `UnknownColumn` with the nearest names when there is no such column.
    pub fn new(schema: &Schema, columns: &Columns) -> Result<Self> {
        let mut asked = Asked::new(0);
        match columns {
            Columns::All => asked.whole = true,
            Columns::Names(names) => {
                let mut resolver = ColumnNames::new(schema);
                for name in names {
                    asked.add(&resolver.path(name)?, true);
                }
            }
            Columns::Ids(ids) => {
                for &id in ids {
                    asked.add(&way_to(schema, id)?, true);
                }
            }
        }
        Ok(Self::of_root(schema, project(schema, &asked)?))
    }

    /// The columns that a filter asks: of structs no more than whether they are null.
    pub(crate) fn of_filter(schema: &Schema, ids: &[u32]) -> Result<Self> {
        let mut asked = Asked::new(0);
        for &id in ids {
            asked.add(&way_to(schema, id)?, schema.get(id)?.kind != Kind::Struct);
        }
        Ok(Self::of_root(schema, project(schema, &asked)?))
    }

    /// The projection to what is read below the root.
    pub(crate) fn of_root(schema: &Schema, root: Projected) -> Self {
        let mut wanted = vec![false; schema.types().len()];
        mark(&root, &mut wanted);
        let all = wanted.iter().all(|&wanted| wanted);
        Projection { root, all, wanted }
    }

    /// Number of columns that are read, nested ones and the root included.
    pub fn count(&self) -> usize {
        self.wanted.iter().filter(|&&wanted| wanted).count()
    }

    /// Whether column `id` is read.
    pub fn wants(&self, id: u32) -> bool {
        usize::try_from(id).ok().and_then(|id| self.wanted.get(id)).copied().unwrap_or(false)
    }
}

fn mark(projected: &Projected, wanted: &mut [bool]) {
    if let Some(flag) = usize::try_from(projected.id).ok().and_then(|id| wanted.get_mut(id)) {
        *flag = true;
    }
    projected.children.iter().for_each(|child| mark(child, wanted));
}

fn project(schema: &Schema, asked: &Asked) -> Result<Projected> {
    let this = schema.get(asked.id)?;
    let whole = |id: u32| project(schema, &Asked { id, whole: true, parts: Vec::new() });
    let part = |id: u32| asked.parts.iter().find(|part| part.id == id);
    let children: Result<_> = match this.kind {
        _ if asked.whole => this.children.iter().map(|&id| whole(id)).collect(),
        Kind::Struct => asked.parts.iter().map(|part| project(schema, part)).collect(),
        // The key of a map and the other variants of a union are needed to make sense of a part.
        _ => this.children.iter().map(|&id| part(id).map_or_else(|| whole(id), |part| project(schema, part))).collect(),
    };
    Ok(Projected { id: asked.id, children: children? })
}

/// Column ids from below the root down to `id`.
fn way_to(schema: &Schema, id: u32) -> Result<Vec<u32>> {
    let mut way = Vec::new();
    let mut id = id;
    while let Some(parent) = schema.get(id)?.parent {
        way.push(id);
        id = parent;
    }
    way.reverse();
    Ok(way)
}

/// Name of the one column of a file whose root is no struct.
pub const ROOT_COLUMN: &str = "value";

/// The id of the column of a dotted name.
///
/// # Errors
/// `UnknownColumn` with the nearest names when there is no such column.
pub fn find(schema: &Schema, name: &str) -> Result<u32> {
    Ok(ColumnNames::new(schema).path(name)?.last().copied().unwrap_or_default())
}

/// The types of an ORC file as a tree of names.
#[derive(Debug)]
struct OrcTypes<'a>(&'a Schema);

impl TypeTree for OrcTypes<'_> {
    type Node = u32;

    fn child_count(&self, node: &u32) -> usize {
        self.0.get(*node).map_or(0, |this| this.children.len())
    }

    fn child(&self, node: &u32, index: usize) -> Option<u32> {
        self.0.get(*node).ok()?.children.get(index).copied()
    }

    fn child_names(&self, node: &u32, index: usize, add: &mut dyn FnMut(&str)) {
        let Ok(this) = self.0.get(*node) else { return };
        add(&this.child_name(index));
        if this.kind == Kind::List {
            add("item");
        }
    }

    fn optional_child(&self, node: &u32) -> Option<usize> {
        let this = self.0.get(*node).ok()?;
        this.children.len().checked_sub(1).filter(|_| matches!(this.kind, Kind::List | Kind::Map))
    }
}

/// Resolves dotted names of the columns of a file.
#[derive(Debug)]
pub(crate) struct ColumnNames<'a> {
    schema: &'a Schema,
    resolver: NameResolver<OrcTypes<'a>>,
}

impl<'a> ColumnNames<'a> {
    pub(crate) fn new(schema: &'a Schema) -> Self {
        ColumnNames { schema, resolver: NameResolver::new(OrcTypes(schema), 0) }
    }

    /// Column ids from below the root down to the column of a dotted name. The name of the one column of a file whose root
    /// is no struct is [`ROOT_COLUMN`].
    ///
    /// # Errors
    /// `UnknownColumn` with the nearest names.
    pub(crate) fn path(&mut self, name: &str) -> Result<Vec<u32>> {
        if name == ROOT_COLUMN && self.schema.get(0)?.kind != Kind::Struct {
            return Ok(Vec::new());
        }
        let indexes = self.resolver.resolve(name).ok_or_else(|| unknown(self.schema, name))?;
        let mut id = 0;
        let child = |index: usize| {
            id = self.schema.get(id)?.children.get(index).copied().ok_or_else(|| unknown(self.schema, name))?;
            Ok(id)
        };
        indexes.into_iter().map(child).collect()
    }
}

/// Most characters of a name that is suggested.
const MAX_SHOWN: usize = 500;

fn unknown(schema: &Schema, name: &str) -> Error {
    let count = u32::try_from(schema.types().len()).unwrap_or(u32::MAX);
    let near = nearest(name, (1..count).map(|id| schema.start_of_path(id, MAX_SHOWN)));
    Error::new(ErrorKind::UnknownColumn, format!("no column is named {name:?}; {near}"))
}
