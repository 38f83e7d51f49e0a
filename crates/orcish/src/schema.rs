//! The type tree (ORCv1, Type Information): types in preorder, a column id each.

use std::fmt::Write as _;

use orcish_core::error::{Error, ErrorKind, Result};
use orcish_core::limits::Limits;

use crate::proto::{orc, to_string_lossy};

/// Kind of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the specification's")]
pub enum Kind {
    Boolean,
    Byte,
    Short,
    Int,
    Long,
    Float,
    Double,
    String,
    Binary,
    Timestamp,
    List,
    Map,
    Struct,
    Union,
    Decimal,
    Date,
    Varchar,
    Char,
    TimestampInstant,
    Geometry,
    Geography,
    /// None of the format's, or one that is stated in a way that cannot be, which [`Schema::fault`] says.
    Unknown,
}

impl Kind {
    /// The name that Hive and the ORC tools print.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Boolean => "boolean",
            Kind::Byte => "tinyint",
            Kind::Short => "smallint",
            Kind::Int => "int",
            Kind::Long => "bigint",
            Kind::Float => "float",
            Kind::Double => "double",
            Kind::String => "string",
            Kind::Binary => "binary",
            Kind::Timestamp => "timestamp",
            Kind::List => "array",
            Kind::Map => "map",
            Kind::Struct => "struct",
            Kind::Union => "uniontype",
            Kind::Decimal => "decimal",
            Kind::Date => "date",
            Kind::Varchar => "varchar",
            Kind::Char => "char",
            Kind::TimestampInstant => "timestamp with local time zone",
            Kind::Geometry => "geometry",
            Kind::Geography => "geography",
            Kind::Unknown => "unknown",
        }
    }

    fn from_proto(number: i32) -> Option<Self> {
        use orc::r#type::Kind as Proto;
        Some(match Proto::try_from(number).ok()? {
            Proto::Boolean => Kind::Boolean,
            Proto::Byte => Kind::Byte,
            Proto::Short => Kind::Short,
            Proto::Int => Kind::Int,
            Proto::Long => Kind::Long,
            Proto::Float => Kind::Float,
            Proto::Double => Kind::Double,
            Proto::String => Kind::String,
            Proto::Binary => Kind::Binary,
            Proto::Timestamp => Kind::Timestamp,
            Proto::List => Kind::List,
            Proto::Map => Kind::Map,
            Proto::Struct => Kind::Struct,
            Proto::Union => Kind::Union,
            Proto::Decimal => Kind::Decimal,
            Proto::Date => Kind::Date,
            Proto::Varchar => Kind::Varchar,
            Proto::Char => Kind::Char,
            Proto::TimestampInstant => Kind::TimestampInstant,
            Proto::Geometry => Kind::Geometry,
            Proto::Geography => Kind::Geography,
        })
    }
}

/// One type of the tree. Files have types; nothing else makes one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Type {
    /// Kind of the type.
    pub kind: Kind,
    /// Column ids of the children, ascending: fields of a struct, variants of a union, the element of a list,
    /// key and value of a map.
    pub children: Vec<u32>,
    /// Names of a struct's fields, as many as children; what is not UTF-8 in them, and NUL, is U+FFFD.
    pub field_names: Vec<String>,
    /// Length of char and varchar, in characters.
    pub max_length: Option<u32>,
    /// Digits of a decimal; decimals of Hive 0.11 have none.
    pub precision: Option<u32>,
    /// Digits of a decimal behind the point.
    pub scale: Option<u32>,
    /// Attributes that engines attach, such as `iceberg.id` and `spark.sql.catalyst.type`.
    pub attributes: Vec<(String, String)>,
    /// Coordinate reference system of geometry and geography.
    pub crs: Option<String>,
    /// Edge interpolation of geography.
    pub algorithm: Option<&'static str>,
    /// The last column id at or below this one; ids from this to that are its subtree.
    pub last: u32,
    /// Column id of the type that has this one as a child; the root has none.
    pub parent: Option<u32>,
    /// Why values of the type cannot be read, where it is [`Kind::Unknown`].
    pub(crate) fault: Option<(ErrorKind, String)>,
}

impl Type {
    /// Precision and scale of a decimal; without precision it is Hive 0.11's, which Java reads as `decimal(38,10)`.
    pub fn decimal(&self) -> (u32, u32) {
        match self.precision {
            None | Some(0) => (38, 10),
            Some(precision) => (precision, self.scale.unwrap_or(0)),
        }
    }

    /// Name of the child at `index` in dotted names.
    pub fn child_name(&self, index: usize) -> String {
        match (self.kind, index) {
            (Kind::List, _) => "element".to_owned(),
            (Kind::Map, 0) => "key".to_owned(),
            (Kind::Map, _) => "value".to_owned(),
            (Kind::Struct, _) => self.field_names.get(index).cloned().unwrap_or_default(),
            _ => format!("field{index}"),
        }
    }
}

/// The types of a file, by column id. The root has id 0; a subtree is a range of ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    types: Vec<Type>,
}

impl Schema {
    /// The type of column `id`.
    ///
    /// # Errors
    /// `InvalidArgument` when there is no such column.
    pub fn get(&self, id: u32) -> Result<&Type> {
        let found = usize::try_from(id).ok().and_then(|id| self.types.get(id));
        found.ok_or_else(|| {
            Error::new(
                orcish_core::ErrorKind::UnknownColumn,
                format!("no column has id {id}; ids go from 0 to {}", self.types.len().saturating_sub(1)),
            )
        })
    }

    /// All types, by column id.
    pub fn types(&self) -> &[Type] {
        &self.types
    }

    /// Checks the tree that a footer holds: every type but the root is the child of exactly one type before it, in
    /// preorder. Types behind those that the root reaches are left out; they have columns all the same.
    pub(crate) fn from_proto(types: Vec<orc::Type>, limits: &Limits) -> Result<Self> {
        if types.is_empty() {
            return Err(Error::corrupt("the footer has no types"));
        }
        if types.len() > limits.columns || u32::try_from(types.len()).is_err() {
            return Err(Error::over(
                "columns",
                format!("{} columns, more than the {} allowed", types.len(), limits.columns),
            ));
        }
        let mut schema = Schema { types: types.into_iter().map(from_proto).collect() };
        schema.link(limits)?;
        Ok(schema)
    }

    /// Walks the tree, which must meet every type once and in order; fills in `last` and `parent`.
    fn link(&mut self, limits: &Limits) -> Result<()> {
        let count = u32::try_from(self.types.len()).unwrap_or(u32::MAX);
        // Types that are open, each with the next of its children to visit.
        let mut open: Vec<(u32, usize)> = vec![(0, 0)];
        let mut next = 1;
        while let Some((id, index)) = open.pop() {
            let parent = self.get(id)?;
            let Some(&child) = parent.children.get(index) else {
                self.type_mut(id)?.last = next - 1;
                continue;
            };
            if child != next || child >= count {
                return Err(Error::corrupt(format!("type {id} has child {child} where {next} comes next")));
            }
            if open.len() + 2 > limits.depth {
                return Err(Error::over(
                    "depth",
                    format!("types are nested deeper than the {} levels allowed", limits.depth),
                ));
            }
            self.type_mut(child)?.parent = Some(id);
            open.push((id, index + 1));
            open.push((child, 0));
            next += 1;
        }
        self.types.truncate(usize::try_from(next).unwrap_or(usize::MAX));
        Ok(())
    }

    fn type_mut(&mut self, id: u32) -> Result<&mut Type> {
        let found = usize::try_from(id).ok().and_then(|id| self.types.get_mut(id));
        found.ok_or_else(|| Error::corrupt(format!("no type {id}")))
    }

    /// The error of reading column `id`, where a type at or below it cannot be read: its kind is none of the format's, or
    /// it is stated in a way that cannot be, such as a decimal of 99 digits. Other columns of the file can be read.
    pub fn fault(&self, id: u32) -> Option<Error> {
        let last = self.get(id).ok()?.last;
        let faulty = |id: u32| self.get(id).ok()?.fault.as_ref().map(|fault| (id, fault));
        let (at, (kind, message)) = (id..=last).find_map(faulty)?;
        let name = if at == 0 { "with id 0".to_owned() } else { self.path(at) };
        Some(Error::new(*kind, message.clone()).in_column(&name))
    }

    /// Kinds of the types that hold `this`, from its parent to the root.
    pub(crate) fn kinds_above(&self, this: &Type) -> impl Iterator<Item = Kind> {
        let above = |this: &Type| this.parent.and_then(|id| self.get(id).ok());
        std::iter::successors(above(this), move |this| above(this)).map(|this| this.kind)
    }

    /// Dotted name of column `id`: `a.b`, `list.element`, `map.key`; empty for the root and for unknown ids.
    pub fn path(&self, id: u32) -> String {
        let mut names = Vec::new();
        let mut id = id;
        while let Ok(Type { parent: Some(parent), .. }) = self.get(id) {
            let Ok(above) = self.get(*parent) else { break };
            let index = above.children.binary_search(&id).unwrap_or_default();
            names.push(above.child_name(index));
            id = *parent;
        }
        names.reverse();
        names.join(".")
    }

    /// The first `most` characters of the dotted name of column `id`, and an ellipsis where there are more: names may be
    /// long, and are in those of all columns below.
    pub(crate) fn start_of_path(&self, id: u32, most: usize) -> String {
        let parent = |id: &u32| self.get(*id).ok()?.parent;
        let mut way: Vec<u32> = std::iter::successors(Some(id), parent).collect();
        way.reverse();
        let mut start = String::new();
        let mut left = most;
        for (above, this) in way.iter().zip(way.iter().skip(1)) {
            let Ok(above) = self.get(*above) else { break };
            let index = above.children.binary_search(this).unwrap_or_default();
            let name = above.child_name(index);
            let dot = if above.parent.is_some() { "." } else { "" };
            for letter in dot.chars().chain(name.chars()) {
                if left == 0 {
                    return start + "…";
                }
                start.push(letter);
                left -= 1;
            }
        }
        start
    }

    /// Dotted names of all columns, by column id.
    ///
    /// # Errors
    /// `LimitExceeded` when they take more bytes together than [`Limits::tail`]: a name is in those of all columns below.
    pub fn paths(&self, limits: &Limits) -> Result<Vec<String>> {
        let mut paths = vec![String::new(); self.types.len()];
        let mut bytes = 0;
        for (id, this) in self.types.iter().enumerate() {
            for (index, &child) in this.children.iter().enumerate() {
                let name = this.child_name(index);
                let Some(place) = usize::try_from(child).ok().filter(|&at| self.is_child(at, id)) else { continue };
                let above = if this.parent.is_some() { paths.get(id).map_or("", String::as_str) } else { "" };
                let dot = if this.parent.is_some() { "." } else { "" };
                add_text(&mut bytes, above.len() + dot.len() + name.len(), "names", limits)?;
                let path = format!("{above}{dot}{name}");
                if let Some(place) = paths.get_mut(place) {
                    *place = path;
                }
            }
        }
        Ok(paths)
    }

    /// Whether the root reaches the type at `child` by way of that at `parent`.
    fn is_child(&self, child: usize, parent: usize) -> bool {
        let above = self.types.get(child).and_then(|this| this.parent);
        above.is_some_and(|above| usize::try_from(above) == Ok(parent))
    }

    /// All types as Hive and the ORC tools write them, by column id.
    ///
    /// # Errors
    /// `LimitExceeded` when they take more bytes together than [`Limits::tail`]: a type is in all those that hold it.
    pub fn type_strings(&self, limits: &Limits) -> Result<Vec<String>> {
        let mut bytes = 0;
        let one = |(id, _)| {
            let text = self.type_string(id)?;
            add_text(&mut bytes, text.len(), "types", limits)?;
            Ok(text)
        };
        (0..).zip(&self.types).map(one).collect()
    }

    /// The id of the column that has this dotted name, and no other spelling of it; that of the root is empty.
    pub fn id_of_path(&self, path: &str) -> Option<u32> {
        (0..).zip(&self.types).find(|(id, _)| self.has_path(*id, path)).map(|(id, _)| id)
    }

    /// Whether column `id` has this dotted name.
    fn has_path(&self, id: u32, path: &str) -> bool {
        let (mut id, mut rest) = (id, Some(path));
        while let Ok(Type { parent: Some(parent), .. }) = self.get(id) {
            let Ok(above) = self.get(*parent) else { return false };
            let index = above.children.binary_search(&id).unwrap_or_default();
            rest = rest.and_then(|rest| rest.strip_suffix(&above.child_name(index)));
            if above.parent.is_some() {
                rest = rest.and_then(|rest| rest.strip_suffix('.'));
            }
            if rest.is_none() {
                return false;
            }
            id = *parent;
        }
        rest == Some("")
    }

    /// The type at `id` as Hive and the ORC tools write it: `struct<a:int,b:array<string>>`.
    pub fn type_string(&self, id: u32) -> Result<String> {
        let mut text = String::new();
        self.write_type(id, &mut text)?;
        Ok(text)
    }

    fn write_type(&self, id: u32, out: &mut String) -> Result<()> {
        let this = self.get(id)?;
        out.push_str(this.kind.name());
        // Writing to a string cannot fail.
        let _ = match this.kind {
            Kind::Char | Kind::Varchar => write!(out, "({})", this.max_length.unwrap_or(0)),
            Kind::Decimal => {
                let (precision, scale) = this.decimal();
                write!(out, "({precision},{scale})")
            }
            Kind::Geometry | Kind::Geography => match (&this.crs, this.algorithm) {
                (Some(crs), Some(algorithm)) => write!(out, "({crs},{algorithm})"),
                (Some(crs), None) => write!(out, "({crs})"),
                _ => Ok(()),
            },
            _ => Ok(()),
        };
        if matches!(this.kind, Kind::List | Kind::Map | Kind::Struct | Kind::Union) {
            out.push('<');
            for (index, &child) in this.children.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                if let Some(name) = this.field_names.get(index) {
                    let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
                    let _ = if plain { write!(out, "{name}:") } else { write!(out, "`{}`:", name.replace('`', "``")) };
                }
                self.write_type(child, out)?;
            }
            out.push('>');
        }
        Ok(())
    }
}

/// Counts bytes of a text about a column.
fn add_text(bytes: &mut usize, more: usize, what: &str, limits: &Limits) -> Result<()> {
    *bytes = bytes.saturating_add(more);
    match *bytes as u64 > limits.tail {
        true => {
            let most = limits.tail;
            Err(Error::over("tail", format!("the {what} of all columns take more than the {most} bytes allowed")))
        }
        false => Ok(()),
    }
}

/// Name of a field: what is not UTF-8 and NUL, which names in Arrow's C interface cannot have, become U+FFFD.
fn name(text: &[u8]) -> String {
    to_string_lossy(text).replace('\0', "\u{fffd}")
}

fn from_proto(proto: orc::Type) -> Type {
    use orc::r#type::EdgeInterpolationAlgorithm as Algorithm;
    let (kind, fault) = match kind_of(&proto) {
        Ok(kind) => (kind, None),
        Err(error) => (Kind::Unknown, Some((error.kind(), error.message().to_owned()))),
    };
    let algorithm = proto.algorithm.and_then(|number| Algorithm::try_from(number).ok());
    let attribute = |pair: &orc::StringPair| (to_string_lossy(pair.key()), to_string_lossy(pair.value()));
    let names = proto.field_names.iter().map(|text| name(text));
    Type {
        kind,
        field_names: names.take(if kind == Kind::Struct { proto.subtypes.len() } else { 0 }).collect(),
        children: proto.subtypes,
        max_length: proto.maximum_length,
        precision: proto.precision,
        scale: proto.scale,
        attributes: proto.attributes.iter().map(attribute).collect(),
        crs: proto.crs.as_deref().map(to_string_lossy),
        algorithm: algorithm.map(|algorithm| algorithm.as_str_name()),
        last: 0,
        parent: None,
        fault,
    }
}

/// The kind of a type.
///
/// # Errors
/// `Unsupported` for a kind that the format does not have, `Corrupt` for one with too few or too many children, or with
/// digits that it cannot have: values of such a column cannot be read.
fn kind_of(proto: &orc::Type) -> Result<Kind> {
    let number = proto.kind.unwrap_or(0);
    let kind = Kind::from_proto(number).ok_or_else(|| Error::unsupported(format!("unknown type kind {number}")))?;
    let (children, names) = (proto.subtypes.len(), proto.field_names.len());
    let fits = match kind {
        Kind::List => children == 1,
        Kind::Map => children == 2,
        Kind::Struct => children <= names,
        Kind::Union => children <= 256,
        _ => children == 0,
    };
    if !fits {
        return Err(Error::corrupt(format!("a {} with {children} children and {names} names", kind.name())));
    }
    if kind == Kind::Decimal {
        let (precision, scale) = (proto.precision.unwrap_or(0), proto.scale.unwrap_or(0));
        if precision > 38 || (precision > 0 && scale > precision) {
            return Err(Error::corrupt(format!("a decimal of precision {precision} and scale {scale}")));
        }
    }
    Ok(kind)
}
