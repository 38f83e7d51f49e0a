//! The type tree (ORCv1, Type Information). The column id of a type is its index in preorder.

use std::fmt::Write as _;

use orcish_core::error::{Error, ErrorKind, OrInternal as _, Result};
use orcish_core::limits::Limits;

use crate::proto::{orc, to_string_lossy};

/// The message of an internal error.
const NO_PATH: &str = "a type of the schema has no path";

/// Kind of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the specification's")]
#[non_exhaustive]
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
    /// A kind that the format does not have, or a malformed type. [`Schema::fault`] is the error.
    Unknown,
}

impl Kind {
    /// The name of the kind in Hive and the ORC tools.
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

/// A type of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Type {
    /// Kind of the type.
    pub kind: Kind,
    /// Column ids of the children, ascending: fields of a struct, variants of a union, the element of a list, key and value
    /// of a map.
    pub children: Vec<u32>,
    /// Names of the fields of a struct, one for each child. Invalid UTF-8 and NUL are replaced by U+FFFD.
    pub field_names: Vec<String>,
    /// Maximum length of char and varchar in characters.
    pub max_length: Option<u32>,
    /// Precision of a decimal. Decimals of Hive 0.11 have none.
    pub precision: Option<u32>,
    /// Scale of a decimal.
    pub scale: Option<u32>,
    /// Attributes of engines, such as `iceberg.id` and `spark.sql.catalyst.type`.
    pub attributes: Vec<(String, String)>,
    /// Coordinate reference system of geometry and geography.
    pub crs: Option<String>,
    /// Edge interpolation of geography.
    pub algorithm: Option<&'static str>,
    /// The last column id of the subtree of this type. The subtree is a range of ids from this type on.
    pub last: u32,
    /// Column id of the parent; `None` for the root.
    pub parent: Option<u32>,
    /// The error of reading a type of [`Kind::Unknown`].
    pub(crate) fault: Option<(ErrorKind, String)>,
}

impl Type {
    /// Precision and scale of a decimal. A decimal of Hive 0.11 has no precision, and is `decimal(38,10)` as in Java.
    pub fn decimal(&self) -> (u32, u32) {
        match self.precision {
            None | Some(0) => (38, 10),
            Some(precision) => (precision, self.scale.unwrap_or(0)),
        }
    }

    /// The index of a child among all children.
    ///
    /// # Errors
    /// `Internal` where column `id` is no child.
    pub(crate) fn index_of_child(&self, id: u32) -> Result<usize> {
        self.children.binary_search(&id).ok().or_internal("a column is not a child of its parent")
    }

    /// Name of the child with an id in dotted names.
    fn name_of_child(&self, id: u32) -> String {
        // A column that is not among the children of its parent is known by its id only.
        self.children.binary_search(&id).map_or_else(|_| format!("column {id}"), |index| self.child_name(index))
    }

    /// Name of the child at an index in dotted names.
    pub fn child_name(&self, index: usize) -> String {
        match (self.kind, self.field_names.get(index)) {
            (Kind::List, _) => "element".to_owned(),
            (Kind::Map, _) => (if index == 0 { "key" } else { "value" }).to_owned(),
            (Kind::Struct, Some(name)) => name.clone(),
            _ => format!("field{index}"),
        }
    }
}

/// The types of a file by column id. The root has id 0. A subtree is a range of ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    types: Vec<Type>,
}

impl Schema {
    /// The type of column `id`.
    ///
    /// # Errors
    /// `UnknownColumn` where there is no such column.
    pub fn get(&self, id: u32) -> Result<&Type> {
        let column_type = usize::try_from(id).ok().and_then(|id| self.types.get(id));
        column_type.ok_or_else(|| {
            Error::new(
                orcish_core::ErrorKind::UnknownColumn,
                format!("no column has id {id}; ids go from 0 to {}", self.types.len().saturating_sub(1)),
            )
        })
    }

    /// All types by column id.
    pub fn types(&self) -> &[Type] {
        &self.types
    }

    /// Decodes and checks the types of a footer: every type but the root is the child of exactly one type before it, in
    /// preorder. Types that are not reachable from the root are ignored, though they have columns.
    ///
    /// # Errors
    /// `Corrupt` where the types are not a tree, `LimitExceeded` where it exceeds `limits`.
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

    /// Traverses the tree in preorder, checks the ids, and sets `last` and `parent`.
    fn link(&mut self, limits: &Limits) -> Result<()> {
        let count = u32::try_from(self.types.len()).unwrap_or(u32::MAX);
        // The ancestors of the next type, each with the index of its next child.
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
        let column_type = usize::try_from(id).ok().and_then(|id| self.types.get_mut(id));
        column_type.ok_or_else(|| Error::corrupt(format!("no type {id}")))
    }

    /// The error of reading column `id`, if a type of its subtree has an unknown kind or is malformed, as a decimal of
    /// precision 99. Other columns of the file can be read.
    pub fn fault(&self, id: u32) -> Option<Error> {
        let last = self.get(id).ok()?.last;
        let faulty = |id: u32| self.get(id).ok()?.fault.as_ref().map(|fault| (id, fault));
        let (at, (kind, message)) = (id..=last).find_map(faulty)?;
        let name = if at == 0 { "with id 0".to_owned() } else { self.path(at) };
        Some(Error::new(*kind, message.clone()).in_column(&name))
    }

    /// Kinds of the ancestors of a type, from its parent to the root.
    pub(crate) fn ancestor_kinds(&self, this: &Type) -> impl Iterator<Item = Kind> {
        let parent = |this: &Type| this.parent.and_then(|id| self.get(id).ok());
        std::iter::successors(parent(this), move |this| parent(this)).map(|this| this.kind)
    }

    /// Dotted name of column `id`: `a.b`, `list.element`, `map.key`. Empty for the root and for unknown ids.
    pub fn path(&self, id: u32) -> String {
        let mut names = Vec::new();
        let mut id = id;
        while let Ok(Type { parent: Some(parent_id), .. }) = self.get(id) {
            let Ok(parent) = self.get(*parent_id) else { break };
            names.push(parent.name_of_child(id));
            id = *parent_id;
        }
        names.reverse();
        names.join(".")
    }

    /// The dotted name of column `id`, truncated to `max` characters and an ellipsis. Names can be long, and are part of the
    /// dotted names of all descendants.
    pub(crate) fn truncated_path(&self, id: u32, max: usize) -> String {
        let parent = |id: &u32| self.get(*id).ok()?.parent;
        let mut ids: Vec<u32> = std::iter::successors(Some(id), parent).collect();
        ids.reverse();
        let mut path = String::new();
        let mut remaining_characters = max;
        for (parent, child) in ids.iter().zip(ids.iter().skip(1)) {
            let Ok(parent) = self.get(*parent) else { break };
            let name = parent.name_of_child(*child);
            let dot = if parent.parent.is_some() { "." } else { "" };
            for character in dot.chars().chain(name.chars()) {
                if remaining_characters == 0 {
                    return path + "…";
                }
                path.push(character);
                remaining_characters -= 1;
            }
        }
        path
    }

    /// Dotted names of all columns by column id.
    ///
    /// # Errors
    /// `LimitExceeded` where all names have more bytes than [`Limits::tail`]. A name is part of the names of all descendants.
    pub fn paths(&self, limits: &Limits) -> Result<Vec<String>> {
        let mut paths = vec![String::new(); self.types.len()];
        let mut bytes = 0;
        for (id, this) in self.types.iter().enumerate() {
            for (index, &child) in this.children.iter().enumerate() {
                let name = this.child_name(index);
                let Some(child) = usize::try_from(child).ok().filter(|&child| self.is_child(child, id)) else {
                    continue;
                };
                let parent_path = if this.parent.is_some() { paths.get(id).or_internal(NO_PATH)?.as_str() } else { "" };
                let dot = if this.parent.is_some() { "." } else { "" };
                add_text_length(&mut bytes, parent_path.len() + dot.len() + name.len(), "names", limits)?;
                let path = format!("{parent_path}{dot}{name}");
                *paths.get_mut(child).or_internal(NO_PATH)? = path;
            }
        }
        Ok(paths)
    }

    /// Whether the type at `child` has the type at `parent` as its parent.
    fn is_child(&self, child: usize, parent: usize) -> bool {
        let id = self.types.get(child).and_then(|this| this.parent);
        id.is_some_and(|id| usize::try_from(id) == Ok(parent))
    }

    /// All types in the notation of Hive and the ORC tools, by column id.
    ///
    /// # Errors
    /// `LimitExceeded` where all texts have more bytes than [`Limits::tail`]. A type is part of the texts of all ancestors.
    pub fn type_strings(&self, limits: &Limits) -> Result<Vec<String>> {
        let mut bytes = 0;
        let type_string = |(id, _)| {
            let text = self.type_string(id)?;
            add_text_length(&mut bytes, text.len(), "types", limits)?;
            Ok(text)
        };
        (0..).zip(&self.types).map(type_string).collect()
    }

    /// The type of column `id` in the notation of Hive and the ORC tools: `struct<a:int,b:array<string>>`.
    ///
    /// # Errors
    /// `UnknownColumn` where there is no such column.
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
                    let is_plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
                    let _ =
                        if is_plain { write!(out, "{name}:") } else { write!(out, "`{}`:", name.replace('`', "``")) };
                }
                self.write_type(child, out)?;
            }
            out.push('>');
        }
        Ok(())
    }
}

/// Adds the length of a name or type to the total, and checks the limit.
fn add_text_length(bytes: &mut usize, length: usize, what: &str, limits: &Limits) -> Result<()> {
    *bytes = bytes.saturating_add(length);
    if *bytes as u64 > limits.tail {
        let max = limits.tail;
        Err(Error::over("tail", format!("the {what} of all columns take more than the {max} bytes allowed")))
    } else {
        Ok(())
    }
}

/// Name of a field. Invalid UTF-8 and NUL are replaced by U+FFFD: names in Arrow's C data interface have no NUL.
fn field_name(text: &[u8]) -> String {
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
    let names = proto.field_names.iter().map(|text| field_name(text));
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

/// The kind of a type. Values of a column whose type has an error cannot be read.
///
/// # Errors
/// `Unsupported` for a kind that the format does not have, `Corrupt` for a wrong number of children, or an invalid precision
/// or scale.
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
