"""The examples of docstrings."""

import ast
import doctest
import io
from pathlib import Path
from typing import Any

import orcish
import polars

__all__ = ["PACKAGE", "examples", "run"]

PACKAGE = Path(orcish.__file__).parent
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def examples(files: list[Path]) -> list[doctest.DocTest]:
    """The docstrings of files that have examples. Decorated functions are not passed over, as doctest's finder does."""
    found = []
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            text = ast.get_docstring(node)
            if text and ">>>" in text:
                name = f"{file.relative_to(PACKAGE)}:{getattr(node, 'name', '')}"
                found.append(doctest.DocTestParser().get_doctest(text, {}, name, str(file), 0))
    return found


def run(example: doctest.DocTest, **names: Any) -> None:
    """Runs the examples of a docstring in the current directory.

    Args:
        example: The docstring.
        names: What it finds besides ``orcish``, ``pl``, and ``table``, which has the rows of ``orders``.
    """
    example.globs = {"orcish": orcish, "pl": polars, "table": orcish.read_table("orders"), **names}
    said = io.StringIO()
    result = doctest.DocTestRunner(optionflags=FLAGS).run(example, out=said.write)
    assert result.failed == 0, said.getvalue()
    assert result.attempted > 0
