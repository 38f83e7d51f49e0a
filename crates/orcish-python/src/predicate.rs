//! Predicates as Python passes them: nested tuples, which `orcish.expression` makes.

use orcish_core::{Comparison, Literal, Predicate};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};

fn malformed(node: &Bound<'_, PyAny>) -> PyErr {
    PyValueError::new_err(format!("not a predicate: {node}"))
}

/// A predicate that has been taken over, with all its values.
#[pyclass(frozen, module = "orcish._native")]
pub(crate) struct Filter(Predicate);

#[pymethods]
impl Filter {
    #[new]
    fn new(tree: &Bound<'_, PyAny>) -> PyResult<Self> {
        of_tree(tree).map(Filter)
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
    part_of(tree, Predicate::MAX_DEPTH)
}

/// The predicate of a tree of up to `depth` levels, the leaves included.
fn part_of(tree: &Bound<'_, PyAny>, depth: usize) -> PyResult<Predicate> {
    let Some(below) = depth.checked_sub(1) else {
        return Err(PyValueError::new_err(format!("a filter of more than {} levels", Predicate::MAX_DEPTH)));
    };
    let node = tree.cast::<PyTuple>().map_err(|_| malformed(tree))?;
    let word: String = node.get_item(0)?.extract()?;
    let part = |at: usize| node.get_item(at);
    let column = || part(1)?.extract::<String>();
    let parts = || part(1)?.try_iter()?.map(|part| part_of(&part?, below)).collect::<PyResult<Vec<_>>>();
    Ok(match word.as_str() {
        "and" => Predicate::And(parts()?),
        "or" => Predicate::Or(parts()?),
        "not" => Predicate::Not(Box::new(part_of(&part(1)?, below)?)),
        "constant" => Predicate::Constant(part(1)?.extract()?),
        "is_null" => Predicate::IsNull { column: column()? },
        "is_nan" => Predicate::IsNan { column: column()? },
        "starts_with" => Predicate::StartsWith { column: column()?, prefix: literal(&part(2)?)? },
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
            Predicate::Compare { column: part(2)?.extract()?, op, value: literal(&part(3)?)? }
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
        "decimal" => decimal(&part(1)?.extract::<String>()?).ok_or_else(|| malformed(tagged))?,
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

/// A decimal written without exponent, such as `-12.50`.
fn decimal(text: &str) -> Option<Literal> {
    let (is_negative, number) = match text.strip_prefix('-') {
        Some(number) => (true, number),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    let unscaled = |digits: String| {
        let digits = if digits.is_empty() { "0" } else { digits.as_str() };
        digits.parse::<i128>().ok().map(|number| if is_negative { -number } else { number })
    };
    if let (Some(unscaled), Ok(scale)) = (unscaled(format!("{whole}{fraction}")), u32::try_from(fraction.len())) {
        return Some(Literal::Decimal { unscaled, scale });
    }
    let nearest: f64 = text.parse().ok()?;
    let Some(places) = 38usize.checked_sub(whole.len()) else {
        // Beyond all columns but those of floating point numbers.
        return Some(Literal::Float(nearest));
    };
    let cut = unscaled(format!("{whole}{}", fraction.get(..places)?))?;
    let floor = if is_negative { cut - 1 } else { cut };
    Some(Literal::LongDecimal { floor, scale: u32::try_from(places).ok()?, nearest })
}
