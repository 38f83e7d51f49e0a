//! Predicates of Python: nested tuples, see `orcish.filters.expression.tree_of`.

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, BooleanArray, RecordBatch};
use arrow_schema::{DataType, Field};
use orcish_core::error::OrInternal as _;
use orcish_core::predicate::BatchFilter;
use orcish_core::{Comparison, Literal, Predicate};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyTuple};

use crate::capsule::{self, Pair};
use crate::errors::to_python;
use crate::names::{Name, to_object};

fn malformed(node: &Bound<'_, PyAny>) -> PyErr {
    PyValueError::new_err(format!("not a predicate: {node}"))
}

/// A predicate of the core.
#[pyclass(frozen, module = "orcish._native")]
pub(crate) struct Filter(Predicate);

#[pymethods]
impl Filter {
    /// Maximum number of levels.
    #[classattr]
    const MAX_LEVELS: usize = Predicate::MAX_LEVELS;

    #[new]
    fn new(tree: &Bound<'_, PyAny>) -> PyResult<Self> {
        of_tree(tree).map(Filter)
    }

    /// Parses a predicate in the syntax of SQL.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str) -> PyResult<Self> {
        let predicate = py.detach(|| text.parse::<Predicate>());
        predicate.map(Filter).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The predicate as nested tuples.
    fn tree<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        to_tree(py, &self.0)
    }

    /// For which rows of a batch the predicate is true. Batch and result are capsules of a schema and an array.
    fn mask<'py>(&self, py: Python<'py>, batch: Pair<'py>) -> PyResult<Pair<'py>> {
        let rows = RecordBatch::from(capsule::read_array(&batch)?.as_struct().clone());
        let evaluate = || -> orcish_core::Result<BooleanArray> {
            let filter = BatchFilter::try_new(&self.0, &rows.schema())?;
            let column = |at: usize| rows.columns().get(at).cloned().or_internal("a filter is of another schema");
            filter.evaluate(&column, rows.num_rows())
        };
        let mask = py.detach(evaluate).map_err(|error| to_python(py, &error))?;
        Ok((capsule::field(py, &Field::new("", DataType::Boolean, false))?, capsule::array(py, mask.to_data())?))
    }
}

/// The predicate that is given: a [`Filter`], or a tree.
pub(crate) fn predicate(given: &Bound<'_, PyAny>) -> PyResult<Predicate> {
    match given.cast::<Filter>() {
        Ok(filter) => Ok(filter.get().0.clone()),
        Err(_) => of_tree(given),
    }
}

fn of_tree(tree: &Bound<'_, PyAny>) -> PyResult<Predicate> {
    // Python makes trees from the leaves up, without recursion, as deep as memory has room for.
    part_of(tree, Predicate::MAX_LEVELS)
}

/// The predicate of a tree of up to `depth` levels, the leaves included.
fn part_of(tree: &Bound<'_, PyAny>, depth: usize) -> PyResult<Predicate> {
    let Some(below) = depth.checked_sub(1) else {
        return Err(PyValueError::new_err(format!("a filter of more than {} levels", Predicate::MAX_LEVELS)));
    };
    let node = tree.cast::<PyTuple>().map_err(|_| malformed(tree))?;
    let word: String = node.get_item(0)?.extract()?;
    let part = |at: usize| node.get_item(at);
    let column = || part(1)?.extract::<Name>().map(|name| name.0);
    let parts = || part(1)?.try_iter()?.map(|part| part_of(&part?, below)).collect::<PyResult<Vec<_>>>();
    Ok(match word.as_str() {
        "and" => Predicate::And(parts()?),
        "or" => Predicate::Or(parts()?),
        "not" => Predicate::Not(Box::new(part_of(&part(1)?, below)?)),
        "constant" => Predicate::Constant(part(1)?.extract()?),
        "is_null" => Predicate::IsNull { column: column()? },
        "is_nan" => Predicate::IsNan { column: column()? },
        "starts_with" => Predicate::StartsWith { column: column()?, prefix: literal(&part(2)?)? },
        "like" => {
            let pattern = part(2)?.extract::<String>()?.parse().map_err(|error| to_python(node.py(), &error))?;
            Predicate::like(column()?, pattern)
        }
        "in" => {
            let values = part(2)?.try_iter()?.map(|value| literal(&value?)).collect::<PyResult<Vec<_>>>()?;
            Predicate::In { column: column()?, values: values.into() }
        }
        "compare" => {
            let op = match part(1)?.extract::<String>()?.as_str() {
                "=" => Comparison::Equal,
                "!=" => Comparison::NotEqual,
                "<" => Comparison::Less,
                "<=" => Comparison::LessOrEqual,
                ">" => Comparison::Greater,
                ">=" => Comparison::GreaterOrEqual,
                _ => return Err(malformed(tree)),
            };
            Predicate::Compare { column: part(2)?.extract::<Name>()?.0, op, value: literal(&part(3)?)? }
        }
        _ => return Err(malformed(tree)),
    })
}

fn literal(tagged: &Bound<'_, PyAny>) -> PyResult<Literal> {
    let value = tagged.cast::<PyTuple>().map_err(|_| malformed(tagged))?;
    let word: String = value.get_item(0)?.extract()?;
    let part = |at: usize| value.get_item(at);
    Ok(match word.as_str() {
        "null" => Literal::Null,
        "bool" => Literal::Boolean(part(1)?.extract()?),
        // Beyond 128 bits it is beyond all columns but those of floating point numbers.
        "int" => match (part(1)?.extract::<i128>(), part(1)?.extract::<f64>()) {
            (Ok(value), _) => Literal::Integer(value),
            (_, Ok(nearest)) => Literal::Float(nearest),
            _ => Literal::Float(if part(1)?.lt(0)? { f64::NEG_INFINITY } else { f64::INFINITY }),
        },
        "float" => Literal::Float(part(1)?.extract()?),
        "decimal" => Literal::decimal(&part(1)?.extract::<String>()?).ok_or_else(|| malformed(tagged))?,
        "string" => Literal::String(part(1)?.extract()?),
        "binary" => Literal::Binary(part(1)?.extract()?),
        // Beyond 64 bits it is as far from all columns as at their end.
        "date" => match part(1)?.extract::<i64>() {
            Ok(days) => Literal::Date(days),
            Err(_) if part(1)?.is_instance_of::<PyInt>() => {
                Literal::Date(if part(1)?.lt(0)? { i64::MIN } else { i64::MAX })
            }
            Err(error) => return Err(error),
        },
        "timestamp" => Literal::Timestamp { nanoseconds: part(1)?.extract()?, is_instant: part(2)?.extract()? },
        _ => return Err(malformed(tagged)),
    })
}

/// The nested tuples of a predicate that was parsed, which has at most [`Predicate::MAX_LEVELS`] levels.
fn to_tree<'py>(py: Python<'py>, predicate: &Predicate) -> PyResult<Bound<'py, PyTuple>> {
    let operands =
        |operands: &[Predicate]| operands.iter().map(|operand| to_tree(py, operand)).collect::<PyResult<Vec<_>>>();
    match predicate {
        Predicate::Compare { column, op, value } => {
            ("compare", op.to_string(), to_object(py, column)?, to_tagged(py, value)?).into_pyobject(py)
        }
        Predicate::In { column, values } => {
            let values = values.iter().map(|value| to_tagged(py, value)).collect::<PyResult<Vec<_>>>()?;
            ("in", to_object(py, column)?, values).into_pyobject(py)
        }
        Predicate::StartsWith { column, prefix } => {
            ("starts_with", to_object(py, column)?, to_tagged(py, prefix)?).into_pyobject(py)
        }
        Predicate::Like { column, pattern } => ("like", to_object(py, column)?, pattern.to_string()).into_pyobject(py),
        Predicate::IsNull { column } => ("is_null", to_object(py, column)?).into_pyobject(py),
        Predicate::IsNan { column } => ("is_nan", to_object(py, column)?).into_pyobject(py),
        Predicate::And(conjunction) => ("and", operands(conjunction)?).into_pyobject(py),
        Predicate::Or(disjunction) => ("or", operands(disjunction)?).into_pyobject(py),
        Predicate::Not(inner) => ("not", to_tree(py, inner)?).into_pyobject(py),
        Predicate::Constant(value) => ("constant", value).into_pyobject(py),
        other => Err(PyValueError::new_err(format!("{other} has no form in Python"))),
    }
}

fn to_tagged<'py>(py: Python<'py>, value: &Literal) -> PyResult<Bound<'py, PyTuple>> {
    match value {
        Literal::Null => ("null",).into_pyobject(py),
        Literal::Boolean(value) => ("bool", value).into_pyobject(py),
        Literal::Integer(value) => ("int", value).into_pyobject(py),
        Literal::Float(value) => ("float", value).into_pyobject(py),
        Literal::Decimal { .. } | Literal::LongDecimal { .. } => ("decimal", value.decimal_text()).into_pyobject(py),
        Literal::String(value) => ("string", value).into_pyobject(py),
        Literal::Binary(value) => ("binary", PyBytes::new(py, value)).into_pyobject(py),
        Literal::Date(days) => ("date", days).into_pyobject(py),
        Literal::Timestamp { nanoseconds, is_instant } => ("timestamp", nanoseconds, is_instant).into_pyobject(py),
        other => Err(PyValueError::new_err(format!("{other:?} has no form in Python"))),
    }
}
