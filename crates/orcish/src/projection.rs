//! Projection: which columns are read, in which order.

use crate::error::{Error, ErrorKind, Result};
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
                for name in names {
                    asked.add(&resolve(schema, name)?, true);
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
    Ok(resolve(schema, name)?.last().copied().unwrap_or_default())
}

fn resolve(schema: &Schema, name: &str) -> Result<Vec<u32>> {
    let mut way = Vec::new();
    if name == ROOT_COLUMN && schema.get(0)?.kind != Kind::Struct {
        return Ok(way);
    }
    match walk(schema, 0, name, &mut way)? {
        true => Ok(way),
        false => Err(unknown(schema, name)),
    }
}

/// Follows `name` down from column `id`. Field names may hold dots themselves: the longest that fits goes first.
fn walk(schema: &Schema, id: u32, name: &str, way: &mut Vec<u32>) -> Result<bool> {
    let this = schema.get(id)?;
    let mut steps: Vec<(usize, u32)> = Vec::new();
    for (index, &child) in this.children.iter().enumerate() {
        let step = this.child_name(index);
        let alias = if this.kind == Kind::List { Some("item") } else { None };
        for step in [Some(step.as_str()), alias].into_iter().flatten() {
            let rest = name.strip_prefix(step);
            if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) {
                steps.push((step.len(), child));
            }
        }
    }
    steps.sort_by_key(|&(length, _)| std::cmp::Reverse(length));
    for (length, child) in steps {
        way.push(child);
        match name.get(length..).and_then(|rest| rest.strip_prefix('.')) {
            None => return Ok(true),
            Some(rest) if walk(schema, child, rest, way)? => return Ok(true),
            Some(_) => way.pop(),
        };
    }
    // `list.b` and `map.b` stand for a field of the element or the value.
    if let (Kind::List | Kind::Map, Some(&inner)) = (this.kind, this.children.last())
        && matches!(schema.get(inner)?.kind, Kind::Struct | Kind::List | Kind::Map | Kind::Union)
    {
        way.push(inner);
        if walk(schema, inner, name, way)? {
            return Ok(true);
        }
        way.pop();
    }
    Ok(false)
}

/// Most names that an error suggests, and most that are compared.
const SUGGESTIONS: usize = 3;
const COMPARED: usize = 10_000;
/// Most characters of a name that is suggested.
const MOST_SHOWN: usize = 500;

fn unknown(schema: &Schema, name: &str) -> Error {
    let count = u32::try_from(schema.types().len()).unwrap_or(u32::MAX);
    let near = nearest(name, (1..count).map(|id| schema.start_of_path(id, MOST_SHOWN)));
    Error::new(ErrorKind::UnknownColumn, format!("no column is named {name:?}; {near}"))
}

/// The names that are nearest to `name`, as a hint in messages.
#[doc(hidden)]
pub fn nearest(name: &str, names: impl Iterator<Item = String>) -> String {
    let mut near: Vec<(usize, String)> = names.take(COMPARED).map(|other| (distance(name, &other), other)).collect();
    near.sort();
    let names: Vec<_> = near.into_iter().take(SUGGESTIONS).map(|(_, path)| path).collect();
    if names.is_empty() { "there is none".to_owned() } else { format!("nearest: {}", names.join(", ")) }
}

/// Edit distance without regard to case, of at most 100 characters.
fn distance(a: &str, b: &str) -> usize {
    let letters = |text: &str| text.chars().flat_map(char::to_lowercase).take(100).collect::<Vec<_>>();
    let (a, b) = (letters(a), letters(b));
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = i;
        let mut left = i + 1;
        for (y, cell) in b.iter().zip(row.iter_mut().skip(1)) {
            let best = (corner + usize::from(x != y)).min(left + 1).min(*cell + 1);
            corner = *cell;
            *cell = best;
            left = best;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("ID", "id"), 0);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
    }
}
