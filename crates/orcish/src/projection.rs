//! Projection: the columns to read, in order.

use orcish_core::error::{Error, OrInternal as _, Result};
use orcish_core::names::{ColumnName, MAX_SHOWN, NameResolver, TypeTree, unknown_column};

use crate::options::Columns;
use crate::schema::{Kind, Schema};

/// A projected column with its projected children.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Projected {
    /// Column id.
    pub(crate) id: u32,
    /// Projected children. Fields of a struct are in the order of the selection. Lists, maps and unions have all their
    /// children, in the order of the file.
    pub(crate) children: Vec<Projected>,
}

/// The projected columns of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Projection {
    /// The root.
    pub(crate) root: Projected,
    /// Whether all columns of the file are projected.
    pub(crate) all: bool,
    /// For each column id, whether the column is projected.
    mask: Vec<bool>,
}

/// A tree of selected columns.
#[derive(Debug)]
struct Selected {
    id: u32,
    /// Whether all descendants are selected.
    all: bool,
    /// Selected children, in the order of the selection.
    children: Vec<Selected>,
}

impl Selected {
    fn new(id: u32) -> Self {
        Selected { id, all: false, children: Vec::new() }
    }

    /// Selects a column below this one, with or without all its descendants. `path` has the ids of its ancestors below this
    /// column, and its id.
    fn add(&mut self, path: &[u32], all: bool) {
        let Some((&id, rest)) = path.split_first() else {
            self.all |= all;
            return;
        };
        match self.children.iter_mut().find(|child| child.id == id) {
            Some(child) => child.add(rest, all),
            None => {
                let mut child = Selected::new(id);
                child.add(rest, all);
                self.children.push(child);
            }
        }
    }
}

impl Projection {
    /// The projection of `columns` of `schema`.
    ///
    /// # Errors
    /// `UnknownColumn` with the nearest names where there is no such column.
    pub(crate) fn try_new(schema: &Schema, columns: &Columns) -> Result<Self> {
        let mut selected = Selected::new(0);
        match columns {
            Columns::All => selected.all = true,
            Columns::Names(names) => {
                let mut resolver = ColumnNames::new(schema);
                for name in names {
                    selected.add(&resolver.path(name)?, true);
                }
            }
            Columns::Ids(ids) => {
                for &id in ids {
                    selected.add(&path_to(schema, id)?, true);
                }
            }
        }
        Self::from_root(schema, project(schema, &selected)?)
    }

    /// The projection of filter columns. Structs have no fields: a filter tests whether they are null.
    ///
    /// # Errors
    /// `UnknownColumn` where there is no such column.
    pub(crate) fn for_filter(schema: &Schema, ids: &[u32]) -> Result<Self> {
        let mut selected = Selected::new(0);
        for &id in ids {
            selected.add(&path_to(schema, id)?, schema.get(id)?.kind != Kind::Struct);
        }
        Self::from_root(schema, project(schema, &selected)?)
    }

    /// The projection with a root.
    ///
    /// # Errors
    /// `Internal` where the schema does not have a column of it.
    pub(crate) fn from_root(schema: &Schema, root: Projected) -> Result<Self> {
        let mut mask = vec![false; schema.types().len()];
        set_mask(&root, &mut mask)?;
        let all = mask.iter().all(|&is_projected| is_projected);
        Ok(Projection { root, all, mask })
    }

    /// The columns of the batches: the children of a struct root, or the root itself.
    pub(crate) fn columns(&self, is_struct: bool) -> Vec<Projected> {
        if is_struct { self.root.children.clone() } else { vec![self.root.clone()] }
    }

    /// Number of projected columns, including nested columns and the root.
    pub(crate) fn count(&self) -> usize {
        self.mask.iter().filter(|&&is_projected| is_projected).count()
    }

    /// Whether column `id` is projected. Columns that the file does not have are not.
    pub(crate) fn contains(&self, id: u32) -> bool {
        self.mask.get(id as usize).is_some_and(|&is_projected| is_projected)
    }
}

fn set_mask(projected: &Projected, mask: &mut [bool]) -> Result<()> {
    *mask.get_mut(projected.id as usize).or_internal("a projected column is not in the schema")? = true;
    projected.children.iter().try_for_each(|child| set_mask(child, mask))
}

fn project(schema: &Schema, selected: &Selected) -> Result<Projected> {
    let this = schema.get(selected.id)?;
    let project_all = |id: u32| project(schema, &Selected { id, all: true, children: Vec::new() });
    let find = |id: u32| selected.children.iter().find(|child| child.id == id);
    let children: Result<_> = match this.kind {
        _ if selected.all => this.children.iter().map(|&id| project_all(id)).collect(),
        Kind::Struct => selected.children.iter().map(|child| project(schema, child)).collect(),
        // A map needs its keys, and a union all its variants.
        _ => {
            let child = |&id: &u32| find(id).map_or_else(|| project_all(id), |child| project(schema, child));
            this.children.iter().map(child).collect()
        }
    };
    Ok(Projected { id: selected.id, children: children? })
}

/// Column ids from the child of the root to `id`.
fn path_to(schema: &Schema, id: u32) -> Result<Vec<u32>> {
    let mut path = Vec::new();
    let mut id = id;
    while let Some(parent) = schema.get(id)?.parent {
        path.push(id);
        id = parent;
    }
    path.reverse();
    Ok(path)
}

/// Name of the column of a file whose root is not a struct.
pub(crate) const ROOT_COLUMN: &str = "value";

impl Schema {
    /// The id of the column with a name.
    ///
    /// # Errors
    /// `UnknownColumn` with the nearest names where there is no such column.
    pub fn column_id(&self, name: &ColumnName) -> Result<u32> {
        // The path of the root is empty.
        Ok(ColumnNames::new(self).path(name)?.last().map_or(0, |&id| id))
    }
}

/// The columns of known types: all, or, if some types are unknown, the children of the root without unknown types.
pub(crate) fn readable_columns(schema: &Schema) -> Result<Columns> {
    if schema.fault(0).is_none() {
        return Ok(Columns::All);
    }
    let children = schema.get(0)?.children.iter().copied();
    Ok(Columns::Ids(children.filter(|&id| schema.fault(id).is_none()).collect()))
}

/// The type tree of an ORC file as a tree of names.
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

/// Resolves names of the columns of a file.
#[derive(Debug)]
pub(crate) struct ColumnNames<'a> {
    schema: &'a Schema,
    resolver: NameResolver<OrcTypes<'a>>,
}

impl<'a> ColumnNames<'a> {
    pub(crate) fn new(schema: &'a Schema) -> Self {
        ColumnNames { schema, resolver: NameResolver::new(OrcTypes(schema), 0) }
    }

    /// Column ids from the child of the root to the column with a name. The column of a file whose root is not a struct has
    /// the name [`ROOT_COLUMN`].
    ///
    /// # Errors
    /// `UnknownColumn` with the nearest names where there is no such column, `InvalidArgument` where there are several.
    pub(crate) fn path(&mut self, name: &ColumnName) -> Result<Vec<u32>> {
        if self.is_root(name)? {
            return Ok(Vec::new());
        }
        let indexes = self.resolver.resolve(name)?;
        self.ids(name, indexes)
    }

    /// As [`NameResolver::is_beside`].
    pub(crate) fn is_beside(&mut self, name: &ColumnName, other: &str) -> bool {
        self.resolver.is_beside(name, other)
    }

    fn is_root(&self, name: &ColumnName) -> Result<bool> {
        Ok(name == ROOT_COLUMN && self.schema.get(0)?.kind != Kind::Struct)
    }

    fn ids(&self, name: &ColumnName, indexes: Option<Vec<usize>>) -> Result<Vec<u32>> {
        let indexes = indexes.ok_or_else(|| unknown(self.schema, name))?;
        let mut id = 0;
        let child = |index: usize| {
            id = self.schema.get(id)?.children.get(index).copied().ok_or_else(|| unknown(self.schema, name))?;
            Ok(id)
        };
        indexes.into_iter().map(child).collect()
    }
}

fn unknown(schema: &Schema, name: &ColumnName) -> Error {
    let ids = (0u32..).zip(schema.types()).map(|(id, _)| id);
    unknown_column(name.as_str(), ids.skip(1).map(|id| schema.truncated_path(id, MAX_SHOWN)))
}
