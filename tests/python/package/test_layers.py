"""Imports of the package go one way, and no module reaches into the private names of another."""

from __future__ import annotations

import ast
from pathlib import Path

from support.case_loops import each_case

PYTHON = Path(__file__).parents[3] / "python"
PACKAGES = ("orcish", "orcish_cli")
"""The library, and the command line, which stands apart."""

RANKS = [
    {"errors", "lazy", "process", "terminal", "_native"},
    {"file_systems", "hints", "sizes"},
    {"keywords", "arrow", "encryption", "notebook"},
    {"filters"},
    {"types"},
    {"asynchronous", "progress"},
    {"io"},
    {"tables.log"},
    {"reading"},
    {"carbon"},
    {"scanning"},
    {"datasets", "writing"},
    {"comparing", "dask", "glance", "polars", "tables"},
    {"advising", "ray"},
    {"spark"},
    {"compat"},
    {""},
    {"orcish_cli.terminal"},
    {"orcish_cli.moments", "orcish_cli.type_tree"},
    {"orcish_cli.merged_statistics"},
    {"orcish_cli.layout_page", "orcish_cli.readers"},
    {"orcish_cli"},
    {"__main__"},
]
"""Rooms of the packages, those that import nothing first. A module imports modules of its own room and of lower ranks.
Names of modules of ``orcish`` are those within it.
"""

ROOMS = {room: rank for rank, rooms in enumerate(RANKS) for room in rooms}
WITHOUT_SPARK = (
    "arrow",
    "carbon",
    "comparing",
    "compat",
    "dask",
    "datasets",
    "encryption",
    "file_systems",
    "filters",
    "io",
    "polars",
    "ray",
    "reading",
    "scanning",
    "tables",
    "tables.log",
    "types",
    "writing",
)
PUBLIC = {"orcish", "orcish.encryption", "orcish.errors", "orcish.spark", "orcish.types"}
"""Modules of the library whose names are public."""
SHARED = {
    "orcish.hints",
    "orcish.io.names",
    "orcish.process",
    "orcish.progress",
    "orcish.terminal",
    "orcish.types.table",
}
"""Modules of the library which are about its messages, its process and its options, and which the command line has in
common with it.
"""
NOT_PUBLIC = {
    *(f"orcish.arrow.{name}" for name in ("buffers", "casting", "exported", "nested")),
    *("orcish.carbon.detect", "orcish.datasets.columns", "orcish.datasets.dataset"),
    *(f"orcish.filters.{name}" for name in ("names", "pushdown", "residual", "text")),
    "orcish.io.temporary_folder",
    *(f"orcish.reading.{name}" for name in ("column_keys", "scan", "schema_file", "storage", "table_file")),
    *("orcish._native", "orcish.sizes", "orcish.spark.profiling", "orcish.spark.table"),
    *(f"orcish.tables.{name}" for name in ("all_columns", "apart", "rewrite", "stored")),
    *(f"orcish.tables.log.{name}" for name in ("listing", "schema", "table")),
    *("orcish.writing.target", "orcish.writing.writer"),
}
"""Other modules of the library that commands import, as the library has no public function for what they do. A command
that needs another one asks for a public function.
"""
NAMED_TUPLE = {"_asdict", "_fields", "_make", "_replace"}
"""Public methods of named tuples, whose names begin with an underscore so that they are no fields."""


def name_of(path: Path) -> str:
    """The dotted name of a module, as in ``RANKS``."""
    parts = path.relative_to(PYTHON).with_suffix("").parts
    return within(".".join(parts[:-1] if parts[-1] == "__init__" else parts))


def within(name: str) -> str:
    """A dotted name without that of the library."""
    return "" if name == "orcish" else name.removeprefix("orcish.")


OF_FSSPEC = {"_strip_protocol"}
"""Methods of file systems of fsspec that have no public name."""
OF_PYTHON = {"_exit", "_run_exitfuncs", "_shutdown"}
"""Functions that end a process, as the interpreter does."""

MODULES = {
    name_of(path): ast.parse(path.read_text())
    for package in PACKAGES
    for path in sorted((PYTHON / package).rglob("*.py"))
}


def room_of(module: str) -> str:
    """The longest room that a module is in."""
    found = module
    while found not in ROOMS:
        assert "." in found, f"{module} is in no room"
        found = found.rpartition(".")[0]
    return found


def imports(tree: ast.Module) -> list[tuple[str, list[str]]]:
    """Modules that are imported anywhere in a module, and the names that are taken from each."""
    found: list[tuple[str, list[str]]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, []) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            for alias in node.names:
                below = f"{node.module}.{alias.name}"
                is_module = within(below) in MODULES or below == "orcish._native"
                found.append((below, []) if is_module else (str(node.module), [alias.name]))
    return found


OF_RESULTS = "types"
"""The module whose names for type checkers are classes of higher rooms, which it loads when they are asked for."""


def own_imports(module: str) -> list[tuple[str, list[str]]]:
    """Imports of modules of the packages."""
    tree = MODULES[module]
    if module == OF_RESULTS:
        kept = [
            node for node in tree.body if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        ]
        tree = ast.Module(kept, tree.type_ignores)
    found = imports(tree)
    return [(within(name), names) for name, names in found if name.split(".")[0] in PACKAGES]


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Strongly connected components of more than one module, by Tarjan's algorithm."""
    numbers: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        numbers[module] = low[module] = len(numbers)
        stack.append(module)
        for other in graph[module]:
            if other not in numbers:
                visit(other)
                low[module] = min(low[module], low[other])
            elif other in stack:
                low[module] = min(low[module], numbers[other])
        if low[module] == numbers[module]:
            component = [stack.pop()]
            while component[-1] != module:
                component.append(stack.pop())
            if len(component) > 1 or module in graph[module]:
                found.append(sorted(component))

    for module in graph:
        if module not in numbers:
            visit(module)
    return found


def test_circles_are_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a", "d"}}) == [["b", "c"], ["d"]]


def test_modules_import_each_other_without_circles() -> None:
    graph = {module: {name for name, _ in own_imports(module) if name in MODULES} for module in MODULES}
    assert sum(map(len, graph.values())) > 200
    assert circles(graph) == []


@each_case("module", MODULES)
def test_imports_go_to_lower_rooms(module: str) -> None:
    room = room_of(module)
    for name, _ in own_imports(module):
        other = room_of(name)
        assert other == room or ROOMS[other] < ROOMS[room], f"{module} ({room}) imports {name} ({other})"


@each_case("module", [name for name in MODULES if room_of(name) in WITHOUT_SPARK])
def test_only_the_room_of_spark_needs_spark(module: str) -> None:
    for name, _ in imports(MODULES[module]):
        assert name.split(".")[0] not in ("pyspark", "orcish_cli")
        assert name.split(".")[:2] != ["orcish", "spark"]


def test_commands_import_public_modules() -> None:
    """Modules of formats, readers and pages have readers and writers of their own, which are no commands."""
    others = ("orcish_cli.formats", "orcish_cli.layout_page", "orcish_cli.readers")
    commands = [name for name in MODULES if name.startswith("orcish_cli") and not name.startswith(others)]
    found = {other for name in commands for other, _ in imports(MODULES[name]) if other.split(".")[0] == "orcish"}
    assert found - PUBLIC - SHARED - NOT_PUBLIC == set()
    assert NOT_PUBLIC - found == set(), "these are imported no more: take them out of the list"


def is_private(name: str) -> bool:
    """Whether a name begins with one underscore."""
    return name.startswith("_") and not name.startswith("__") and name != "_native"


@each_case("module", MODULES)
def test_private_names_are_not_imported(module: str) -> None:
    for name, names in own_imports(module):
        assert not any(map(is_private, names)), f"{module} imports {names} of {name}"


def defined(tree: ast.Module) -> set[str]:
    """Private names that a module defines: functions, classes, fields, slots, and attributes of ``self``."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
    return found


@each_case("module", MODULES)
def test_private_attributes_are_those_of_the_module_itself(module: str) -> None:
    own = defined(MODULES[module])
    for node in ast.walk(MODULES[module]):
        if not isinstance(node, ast.Attribute) or not is_private(node.attr):
            continue
        if node.attr in NAMED_TUPLE | OF_FSSPEC | OF_PYTHON:
            continue
        is_self = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        assert is_self or node.attr in own, f"{module}:{node.lineno}: {ast.unparse(node)}"
