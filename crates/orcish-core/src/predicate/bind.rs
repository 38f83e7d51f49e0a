//! Binding of predicates to columns: names are resolved to column ids, literals are converted to sets of values of the
//! columns, and negations are moved into the leaves.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_array::ArrayRef;

use super::condition::{Condition, Leaf, Node, Test, ValueSet};
use super::domain::Domain;
use super::evaluate::test_values;
use super::literal_position::{LiteralPosition, compare, decimal_digits, in_decimals, in_floats, in_integers};
use super::ranges::{NonNan, Ranges};
use super::text_conversion::TextConversion;
use crate::error::{Error, OrInternal as _, Result};
use crate::expression::{Comparison, Literal, Predicate};
use crate::names::ColumnName;
use crate::sql::{Meaning, read_string};
use crate::statistics::successor;
use crate::types::NANOSECONDS_OF_DAY;

const NANOS_PER_DAY: i128 = NANOSECONDS_OF_DAY as i128;

/// Binds `predicate` to columns. `resolve` returns the column of a name, and the source of its values.
///
/// # Errors
/// Errors of `resolve`, `InvalidArgument` where a column cannot be compared with a literal, or the predicate is nested deeper
/// than [`Predicate::MAX_LEVELS`].
pub fn bind_names(
    predicate: &Predicate,
    resolve: &mut dyn FnMut(&ColumnName) -> Result<(FilterColumn, ValueSource)>,
) -> Result<Condition> {
    predicate.check_levels()?;
    let mut binder = Binder { resolve, leaves: Vec::new() };
    let root = binder.bind(predicate, true)?;
    Ok(Condition { leaves: binder.leaves, root })
}

/// A column of a filter.
#[derive(Debug, Clone)]
pub struct FilterColumn {
    /// How values are compared.
    pub domain: Domain,
    /// The type for messages.
    pub type_string: String,
    /// Whether there may be values that the domain does not have. They are errors when they are read. A test that no value of
    /// the domain passes is made nevertheless, so that they are read.
    pub may_have_others: bool,
    /// Whether a stored value can be read as null.
    pub may_become_null: bool,
    /// How text is converted when it is read.
    pub conversion: TextConversion,
}

impl FilterColumn {
    /// A column whose values are those of the domain, and are read as they are stored.
    pub fn new(domain: Domain, type_string: String) -> Self {
        FilterColumn {
            domain,
            type_string,
            may_have_others: false,
            may_become_null: false,
            conversion: TextConversion::default(),
        }
    }
}

/// The source of the values of a column.
#[derive(Debug, Clone)]
pub enum ValueSource {
    /// A column with this id.
    Column(u32),
    /// The number of the row in its file, counted from 0.
    RowNumber,
    /// The same value in all rows.
    Constant(Constant),
}

/// A value that all rows have.
#[derive(Debug, Clone)]
pub enum Constant {
    /// Null.
    Null,
    /// A value, as an array of one row.
    Value(ArrayRef),
}

impl Constant {
    fn passes(&self, test: &Test) -> Result<bool> {
        match self {
            Constant::Null => Ok(*test == Test::IsNull),
            Constant::Value(value) => {
                test_values(test, value)?.iter().next().or_internal("the array of a constant is empty")
            }
        }
    }
}

impl Condition {
    /// The condition on rows in which some columns are constant: their tests are evaluated. `constant` returns the value of
    /// the column of a leaf, or `None` if it is not constant.
    ///
    /// # Errors
    /// Errors of `constant`, `InvalidArgument` where a constant has another type than its column.
    pub fn prune_constants(&self, constant: &mut dyn FnMut(&Leaf) -> Result<Option<Constant>>) -> Result<Self> {
        let mut leaves = Vec::new();
        let root = self.prune_constants_of(&self.root, constant, &mut leaves)?;
        Ok(Condition { leaves, root })
    }

    fn prune_constants_of(
        &self,
        node: &Node,
        constant: &mut dyn FnMut(&Leaf) -> Result<Option<Constant>>,
        leaves: &mut Vec<Leaf>,
    ) -> Result<Node> {
        match node {
            Node::Constant(value) => Ok(Node::Constant(*value)),
            Node::Leaf(index) => {
                let leaf = self.leaf(*index)?;
                match constant(leaf)? {
                    Some(constant) => constant.passes(&leaf.test).map(Node::Constant),
                    None => Ok(push_leaf(leaf.clone(), leaves)),
                }
            }
            Node::All(operands) | Node::Any(operands) => {
                let start = leaves.len();
                let nodes = operands.iter().map(|operand| self.prune_constants_of(operand, constant, leaves));
                let nodes = nodes.collect::<Result<Vec<_>>>()?;
                Ok(join(nodes, matches!(node, Node::All(_)), leaves, start))
            }
        }
    }
}

struct Binder<'a> {
    resolve: &'a mut dyn FnMut(&ColumnName) -> Result<(FilterColumn, ValueSource)>,
    leaves: Vec<Leaf>,
}

/// A resolved column with its name.
struct Column<'a> {
    name: &'a ColumnName,
    column: FilterColumn,
    source: ValueSource,
}

impl Binder<'_> {
    /// Binds `predicate`, or its negation if not `positive`.
    fn bind(&mut self, predicate: &Predicate, positive: bool) -> Result<Node> {
        match predicate {
            Predicate::Constant(None) => Ok(Node::Constant(false)),
            Predicate::Constant(Some(value)) => Ok(Node::Constant(*value == positive)),
            Predicate::Not(inner) => self.bind(inner, !positive),
            Predicate::And(operands) | Predicate::Or(operands) => {
                let is_and = matches!(predicate, Predicate::And(_)) == positive;
                let operands = with_lists(operands, positive, is_and);
                let start = self.leaves.len();
                let nodes = operands.iter().map(|(operand, positive)| self.bind(operand, *positive));
                let nodes = nodes.collect::<Result<Vec<_>>>()?;
                Ok(join(nodes, is_and, &mut self.leaves, start))
            }
            Predicate::IsNull { column } => {
                let column = self.column(column)?;
                let test = if positive { Test::IsNull } else { Test::NotNull };
                self.leaf(&column, test, format!("{} is {}null", column.name, if positive { "" } else { "not " }))
            }
            Predicate::IsNan { column } => {
                let column = self.column(column)?;
                if column.domain() == Domain::Null {
                    return Ok(Node::Constant(false));
                }
                if column.domain() != Domain::Float {
                    return Err(column.type_mismatch("be NaN"));
                }
                let ranges = if positive { Ranges::none() } else { Ranges::all() };
                let set = ValueSet::Floats { ranges, nan: positive };
                self.set(&column, Arc::new(set), predicate, positive)
            }
            Predicate::StartsWith { column, prefix } => {
                let column = self.column(column)?;
                let set = match (column.domain(), prefix) {
                    (Domain::Null, _) | (_, Literal::Null) => return Ok(Node::Constant(false)),
                    (Domain::Text { .. } | Domain::Binary, Literal::String(_) | Literal::Binary(_)) => {
                        let prefix = column.bytes(prefix)?;
                        let end = successor(&prefix);
                        column.bytes_set(Ranges::between(prefix, end))
                    }
                    _ => return Err(column.type_mismatch(&format!("begin with {} {prefix}", prefix.kind()))),
                };
                self.set(&column, Arc::new(set.complement_unless(positive)), predicate, positive)
            }
            Predicate::Like { column, pattern } => {
                let column = self.column(column)?;
                match column.domain() {
                    Domain::Null => return Ok(Node::Constant(false)),
                    Domain::Text { .. } | Domain::Binary => {}
                    _ => return Err(column.type_mismatch(&format!("be like the pattern '{pattern}'"))),
                }
                if let Some(text) = pattern.as_text() {
                    let Some(set) = column.compare(Comparison::Equal, &Literal::String(text.to_owned()))? else {
                        return Ok(Node::Constant(false));
                    };
                    return self.set(&column, Arc::new(set.complement_unless(positive)), predicate, positive);
                }
                let trimmed = column.domain() == Domain::Text { trimmed: true };
                let set = ValueSet::Matching { pattern: pattern.clone(), positive, trimmed };
                self.set(&column, Arc::new(set), predicate, positive)
            }
            Predicate::Compare { column, op, value } => {
                let column = self.column(column)?;
                let Some(set) = column.compare(*op, value)? else { return Ok(Node::Constant(false)) };
                self.set(&column, Arc::new(set.complement_unless(positive)), predicate, positive)
            }
            Predicate::In { column, values } => {
                let column = self.column(column)?;
                // The set is cached, as both the values and the files may be many.
                let is_match = |list: &InList| list.domain == column.domain() && list.positive == positive;
                let list = values.get_or_bind(is_match, || column.in_list(values, positive))?;
                match &list.set {
                    // `NOT IN` with a null is never true.
                    _ if list.has_null && !positive => Ok(Node::Constant(false)),
                    Some(set) => self.set(&column, set.clone(), predicate, positive),
                    None if positive => Ok(Node::Constant(false)),
                    // `NOT IN` without values is true, also for nulls.
                    None => Ok(Node::Constant(true)),
                }
            }
        }
    }

    fn set(&mut self, column: &Column<'_>, set: Arc<ValueSet>, predicate: &Predicate, positive: bool) -> Result<Node> {
        if set.is_empty() && !column.column.may_have_others {
            return Ok(Node::Constant(false));
        }
        self.leaf(column, Test::In(set), text(predicate, positive))
    }

    fn leaf(&mut self, column: &Column<'_>, test: Test, text: String) -> Result<Node> {
        let id = match &column.source {
            ValueSource::Column(id) => Some(*id),
            ValueSource::RowNumber => None,
            ValueSource::Constant(constant) => return constant.passes(&test).map(Node::Constant),
        };
        let FilterColumn { domain, may_become_null, conversion, .. } = column.column;
        let is_instant = matches!(domain, Domain::Timestamp { is_instant: true, .. });
        Ok(push_leaf(Leaf { column: id, test, may_become_null, is_instant, conversion, text }, &mut self.leaves))
    }

    fn column<'n>(&mut self, name: &'n ColumnName) -> Result<Column<'n>> {
        let (column, source) = (self.resolve)(name)?;
        Ok(Column { name, column, source })
    }
}

/// The node of a leaf, which is appended to `leaves`.
fn push_leaf(leaf: Leaf, leaves: &mut Vec<Leaf>) -> Node {
    leaves.push(leaf);
    Node::Leaf(leaves.len() - 1)
}

/// The set of the values of `IN`, or of `NOT IN` if not `positive`.
struct InList {
    domain: Domain,
    positive: bool,
    /// `None` for a list without values that are not null.
    set: Option<Arc<ValueSet>>,
    has_null: bool,
}

/// The operands of the conjunction that a predicate is, which can be bound one by one; the predicate itself if it is none.
/// Comparisons of a column with several values are one list of values, as in a conjunction that is bound as a whole.
pub fn conjuncts(predicate: &Predicate) -> Vec<Predicate> {
    let Predicate::And(operands) = predicate else { return vec![predicate.clone()] };
    let conjunct = |(operand, positive): (Cow<'_, Predicate>, bool)| {
        if positive { operand.into_owned() } else { Predicate::Not(Box::new(operand.into_owned())) }
    };
    with_lists(operands, true, true).into_iter().map(conjunct).collect()
}

/// The operands of a conjunction or disjunction, each with whether it is taken as it is, or negated. They are negated if not
/// `positive`. Comparisons of a column with several values are one list of values: `a = 1 or a = 2` is `a in (1, 2)`, and
/// `a != 1 and a != 2` its negation.
fn with_lists(operands: &[Predicate], positive: bool, is_and: bool) -> Vec<(Cow<'_, Predicate>, bool)> {
    let wanted = if positive == is_and { Comparison::NotEqual } else { Comparison::Equal };
    let mut lists: HashMap<&ColumnName, Vec<&Literal>> = HashMap::new();
    for operand in operands {
        if let Predicate::Compare { column, op, value } = operand
            && *op == wanted
        {
            lists.entry(column).or_default().push(value);
        }
    }
    lists.retain(|_, values| values.len() > 1);
    let (mut given, mut joined) = (HashSet::new(), Vec::new());
    for operand in operands {
        let list = match operand {
            Predicate::Compare { column, op, .. } if *op == wanted => lists.get_key_value(column),
            _ => None,
        };
        let Some((&column, values)) = list else {
            joined.push((Cow::Borrowed(operand), positive));
            continue;
        };
        if given.insert(column) {
            let list = Predicate::is_in(column, values.iter().map(|&value| value.clone()));
            joined.push((Cow::Owned(list), !is_and));
        }
    }
    joined
}

/// The conjunction or disjunction of nodes, simplified by constants. The leaves of the nodes are those from `start` on, which
/// are removed if they do not matter.
fn join(mut nodes: Vec<Node>, is_and: bool, leaves: &mut Vec<Leaf>, start: usize) -> Node {
    if nodes.contains(&Node::Constant(!is_and)) {
        leaves.truncate(start);
        return Node::Constant(!is_and);
    }
    nodes.retain(|node| *node != Node::Constant(is_and));
    match <[Node; 1]>::try_from(nodes) {
        Ok([only]) => only,
        Err(none) if none.is_empty() => Node::Constant(is_and),
        Err(operands) if is_and => Node::All(operands),
        Err(operands) => Node::Any(operands),
    }
}

fn text(predicate: &Predicate, positive: bool) -> String {
    match predicate {
        Predicate::Compare { column, op, value } if !positive => format!("{column} {} {value}", op.negated()),
        predicate if !positive => format!("not {predicate}"),
        predicate => predicate.to_string(),
    }
}

impl Column<'_> {
    fn domain(&self) -> Domain {
        self.column.domain
    }

    fn type_mismatch(&self, operation: &str) -> Error {
        Error::invalid(format!("column {} of type {} cannot {operation}", self.name, self.column.type_string))
    }

    fn bytes_set(&self, ranges: Ranges<Vec<u8>>) -> ValueSet {
        ValueSet::Bytes { ranges, trimmed: self.domain() == Domain::Text { trimmed: true } }
    }

    fn bytes(&self, value: &Literal) -> Result<Vec<u8>> {
        match (self.domain(), value) {
            (Domain::Text { .. }, Literal::String(text)) => Ok(text.as_bytes().to_vec()),
            (Domain::Binary, Literal::String(text)) => Ok(text.as_bytes().to_vec()),
            (Domain::Binary | Domain::Text { .. }, Literal::Binary(bytes)) => Ok(bytes.clone()),
            _ => Err(self.type_mismatch(&format!("be compared with {} {value}", value.kind()))),
        }
    }

    /// The value that a string stands for beside the column; `None` if the value stands for itself.
    ///
    /// # Errors
    /// `InvalidArgument` if the string is no value of the type of the column.
    fn read_string(&self, value: &Literal) -> Result<Option<Literal>> {
        let Literal::String(text) = value else { return Ok(None) };
        let meaning = match self.domain() {
            Domain::Boolean => Meaning::Boolean,
            Domain::Integer | Domain::Float | Domain::Decimal { .. } => Meaning::Number,
            Domain::Date => Meaning::Date,
            Domain::Timestamp { .. } => Meaning::Timestamp,
            Domain::Text { .. } | Domain::Binary | Domain::Null | Domain::Opaque => return Ok(None),
        };
        let wrong = |why| self.type_mismatch(&format!("be compared with {} {value}, which {why}", value.kind()));
        read_string(text, meaning).map(Some).map_err(wrong)
    }

    /// The values for which the comparison is true; `None` where it is unknown for all values.
    fn compare(&self, op: Comparison, given: &Literal) -> Result<Option<ValueSet>> {
        let read = self.read_string(given)?;
        let value = read.as_ref().unwrap_or(given);
        let type_mismatch = || Err(self.type_mismatch(&format!("be compared with {} {value}", value.kind())));
        Ok(Some(match (self.domain(), value) {
            (Domain::Opaque, _) => return Err(self.type_mismatch("be compared, only be null or not")),
            (Domain::Null, _) | (_, Literal::Null) => return Ok(None),
            (Domain::Boolean, Literal::Boolean(value)) => {
                ValueSet::Integers(compare(op, LiteralPosition::At(i64::from(*value), true)))
            }
            (Domain::Integer, _) => match self.integer_position(value)? {
                Some(position) => ValueSet::Integers(compare(op, position)),
                None if op == Comparison::NotEqual => ValueSet::Integers(Ranges::all()),
                None => ValueSet::Integers(Ranges::none()),
            },
            (Domain::Float, _) => {
                let position = match value {
                    Literal::Integer(value) => Some(in_floats(*value)),
                    Literal::Float(value) => NonNan::new(*value).map(|number| LiteralPosition::At(number, true)),
                    Literal::Decimal { .. } => {
                        let no_number =
                            |error| Error::internal("the text of a decimal is no number").with_source(error);
                        let nearest = value.to_string().parse().map_err(no_number)?;
                        NonNan::new(nearest).map(|number| LiteralPosition::At(number, true))
                    }
                    Literal::LongDecimal { nearest, .. } => {
                        NonNan::new(*nearest).map(|number| LiteralPosition::At(number, true))
                    }
                    _ => return type_mismatch(),
                };
                let ranges = match position {
                    Some(position) => compare(op, position),
                    None if op == Comparison::NotEqual => Ranges::all(),
                    None => Ranges::none(),
                };
                ValueSet::Floats { ranges, nan: op == Comparison::NotEqual }
            }
            (Domain::Decimal { scale }, _) => {
                let (digits, is_negative) = match value {
                    Literal::LongDecimal { floor, scale: from, .. } => {
                        let position = in_decimals(Some((*floor, *from)), *floor < 0, scale).above();
                        return Ok(Some(ValueSet::Decimals { ranges: compare(op, position), scale }));
                    }
                    Literal::Integer(value) => (Some((*value, 0)), *value < 0),
                    Literal::Decimal { unscaled, scale } => (Some((*unscaled, *scale)), *unscaled < 0),
                    Literal::Float(value) if value.is_nan() => {
                        let ranges = if op == Comparison::NotEqual { Ranges::all() } else { Ranges::none() };
                        return Ok(Some(ValueSet::Decimals { ranges, scale }));
                    }
                    Literal::Float(value) => (decimal_digits(*value), *value < 0.0),
                    _ => return type_mismatch(),
                };
                ValueSet::Decimals { ranges: compare(op, in_decimals(digits, is_negative, scale)), scale }
            }
            (Domain::Text { .. } | Domain::Binary, _) => {
                self.bytes_set(compare(op, LiteralPosition::At(self.bytes(value)?, true)))
            }
            (Domain::Date, Literal::Date(days)) => ValueSet::Integers(compare(op, LiteralPosition::At(*days, true))),
            (Domain::Date, Literal::Timestamp { nanoseconds, is_instant: false }) => {
                ValueSet::Integers(compare(op, in_integers(*nanoseconds, NANOS_PER_DAY)))
            }
            (Domain::Timestamp { nanoseconds, is_instant, compares_digits, .. }, _) => {
                let nanos = match value {
                    Literal::Timestamp { nanoseconds, is_instant: is_instant_literal }
                        if *is_instant_literal == is_instant =>
                    {
                        *nanoseconds
                    }
                    Literal::Date(days) if !is_instant => i128::from(*days) * NANOS_PER_DAY,
                    _ => return type_mismatch(),
                };
                let exact = (compares_digits && nanoseconds > 1).then(|| compare(op, LiteralPosition::At(nanos, true)));
                ValueSet::Ticks { ranges: compare(op, in_integers(nanos, nanoseconds.into())), nanoseconds, exact }
            }
            _ => return type_mismatch(),
        }))
    }

    /// The set of the values of the column that are in `values`, or of the other values if not `positive`.
    fn in_list(&self, values: &[Literal], positive: bool) -> Result<InList> {
        let (mut sets, mut has_null) = (Vec::with_capacity(values.len()), false);
        for value in values {
            match self.compare(Comparison::Equal, value)? {
                Some(set) => sets.push(set),
                None => has_null = true,
            }
        }
        let set = ValueSet::union(sets).map(|set| Arc::new(set.complement_unless(positive)));
        Ok(InList { domain: self.domain(), positive, set, has_null })
    }

    /// The position of a number among integers; `None` for NaN.
    fn integer_position(&self, value: &Literal) -> Result<Option<LiteralPosition<i64>>> {
        Ok(match value {
            Literal::Integer(value) => Some(in_integers(*value, 1)),
            Literal::Decimal { unscaled, scale } => Some(match 10i128.checked_pow(*scale) {
                Some(power) => in_integers(*unscaled, power),
                None => LiteralPosition::At(if *unscaled < 0 { -1 } else { 0 }, *unscaled == 0),
            }),
            Literal::LongDecimal { floor, scale, .. } => Some(match 10i128.checked_pow(*scale) {
                Some(power) => in_integers(*floor, power).above(),
                None => LiteralPosition::At(if *floor < 0 { -1 } else { 0 }, false),
            }),
            Literal::Float(value) if value.is_nan() => None,
            #[expect(clippy::cast_possible_truncation, reason = "the cast saturates beyond the range of 64 bits")]
            Literal::Float(value) => Some(match in_integers(value.floor() as i128, 1) {
                LiteralPosition::At(floor, _) => LiteralPosition::At(floor, value.fract() == 0.0),
                out_of_range => out_of_range,
            }),
            _ => return Err(self.type_mismatch(&format!("be compared with {} {value}", value.kind()))),
        })
    }
}
