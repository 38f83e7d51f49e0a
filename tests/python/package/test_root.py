"""The root of the package: few names, which are loaded when they are asked for."""

from __future__ import annotations

import ast
import inspect
import pickle
import pydoc
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import orcish
import orcish.types
import pyarrow as pa
import pytest

LOADED = """
import sys, pyarrow
before = set(sys.modules)
import orcish
print(*sorted(set(sys.modules) - before))
"""


def modules_of(code: str) -> list[str]:
    """What a program prints, as words."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_the_import_loads_nothing_that_takes_time() -> None:
    """Modules of the standard library, which an import of pyarrow has not loaded, are few, too."""
    found = modules_of(LOADED)
    own = [name for name in found if name.split(".")[0] in ("orcish", "orcish_cli")]
    assert set(own) == {"orcish", "orcish.lazy", "orcish.process"}
    assert len(found) < 15, found


def test_reads_load_no_library_that_they_do_not_need(tmp_path: Path) -> None:
    """``pyarrow.compute`` takes as long to import as the rest of pyarrow."""
    path = tmp_path / "a.orc"
    orcish.write_table(pa.table({"id": [1, 2, 3]}), path)
    code = f"""
import sys, orcish
file = orcish.ORCFile({str(path)!r})
rows = [file.read(), orcish.read_table({str(path)!r}, filters="id > 1"), orcish.scan({str(path)!r}).to_table()]
assert [len(table) for table in rows] == [3, 2, 3]
print(*(name for name in sys.modules if name.startswith(("pyarrow.", "orcish.filters.", "polars", "fsspec", "asyncio"))))
"""
    found = set(modules_of(code))
    assert not found & {"pyarrow.compute", "pyarrow.dataset", "pyarrow.parquet", "pyarrow.fs"}
    assert not [name for name in found if name.split(".")[0] in ("polars", "fsspec", "asyncio")]
    assert "orcish.filters.foreign" not in found


OF_META = """
import sys, orcish.reading.file
before = set(sys.modules)
from orcish_cli import main
assert main(["meta", sys.argv[1]]) == 0
print("loaded:", *sorted(set(sys.modules) - before))
"""


def test_meta_loads_nothing_that_other_commands_need(tmp_path: Path) -> None:
    path = tmp_path / "a.orc"
    orcish.write_table(pa.table({"a": [1]}), path)
    done = subprocess.run([sys.executable, "-c", OF_META, path], capture_output=True, text=True, check=True)
    found = set(done.stdout.rpartition("loaded:")[2].split())
    assert "orcish_cli.meta" in found
    others = {"ast", "csv", "difflib", "gzip", "hashlib", "shlex", "traceback", "urllib.request"}
    assert found & others == set()
    own = {name for name in found if name.startswith(("orcish.", "orcish_cli."))}
    assert len(own) < 22, own
    assert not any(name.startswith(("orcish.tables.", "orcish_cli.fo")) for name in own), own


def test_the_root_is_small() -> None:
    assert len(set(orcish.__all__) - {"__version__"}) <= 35


@pytest.mark.parametrize("module", [orcish, orcish.types], ids=lambda module: module.__name__)
def test_names_for_type_checkers_are_those_that_are_loaded(module: ModuleType) -> None:
    tree = ast.parse(Path(str(module.__file__)).read_text())
    checked = next(node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    imports = {
        alias.name: str(node.module)
        for node in ast.walk(checked)
        if isinstance(node, ast.ImportFrom) and node.module != "orcish"
        for alias in node.names
    }
    homes = {name: home for home, names in vars(module)["_HOMES"].items() for name in names}
    assert imports == homes
    assert homes.keys() <= set(module.__all__)
    for name in module.__all__:
        found = getattr(module, name)
        assert name in vars(module), "it is loaded once"
        if inspect.isclass(found):
            assert pickle.loads(pickle.dumps(found)) is found
        assert name in dir(module)


def test_help_and_star_imports_have_all_names() -> None:
    text = pydoc.plain(pydoc.render_doc(orcish))
    names: dict[str, object] = {}
    exec("from orcish import *", names)
    for name in orcish.__all__:
        assert names[name] is getattr(orcish, name)
        assert name in text or name == "__version__"
