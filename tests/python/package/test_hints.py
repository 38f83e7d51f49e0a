"""Attributes that are not there: the error says what is there in their place."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish import hints

ROWS = pa.table({"id": [1, 2, 3]})


@pytest.fixture(scope="module")
def owners(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    path = tmp_path_factory.mktemp("hints") / "a.orc"
    orcish.write_table(ROWS, path)
    return {"MODULE": orcish, "SCAN": orcish.scan(path), "FILE": orcish.ORCFile(path), "COLUMN": orcish.col("id")}


WORDS = [(owner, word) for owner in ("MODULE", "SCAN", "FILE", "COLUMN") for word in getattr(hints, owner)]


@pytest.mark.parametrize(("owner", "word"), WORDS)
def test_words_of_other_libraries(owners: Mapping[str, Any], owner: str, word: str) -> None:
    """They are no attributes, and what is meant is one."""
    if owner == "MODULE" and word in ("dask", "ray", "spark"):
        pytest.skip("the module may have been imported")
    meant = getattr(hints, owner)[word]
    with pytest.raises(AttributeError) as caught:
        getattr(owners[owner], word)
    assert str(caught.value).endswith(f" has no attribute {word!r}; did you mean {meant}?")
    name = meant.split("(")[0].split(".")[0].lstrip("~")
    assert name in ("polars", "pyarrow", "orcish", "column") or not name.isidentifier() or hasattr(owners[owner], name)


@pytest.mark.parametrize(
    ("owner", "word", "meant"),
    [
        ("MODULE", "read_tabel", "read_table"),
        ("MODULE", "OrcFile", "ORCFile"),
        ("SCAN", "to_panda", "to_pandas"),
        ("FILE", "num_row", "num_rows"),
        ("COLUMN", "is_nul", "is_null"),
    ],
)
def test_misspelt_names(owners: Mapping[str, Any], owner: str, word: str, meant: str) -> None:
    with pytest.raises(AttributeError, match=f"has no attribute '{word}'; did you mean {meant}\\?$"):
        getattr(owners[owner], word)


@pytest.mark.parametrize("owner", ["MODULE", "SCAN", "FILE", "COLUMN"])
def test_other_names(owners: Mapping[str, Any], owner: str) -> None:
    """Names that Python and other packages ask for are just missing."""
    found = owners[owner]
    for name in ("qqqqqqqq", "__array_interface__", "_repr_png_", "__wrapped__"):
        assert getattr(found, name, None) is None
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'$"):
            getattr(found, name)
    if owner == "COLUMN":
        assert pickle.loads(pickle.dumps(found)).equals(found)
    if owner != "MODULE":
        assert type(copy.copy(found)) is type(found)
        assert inspect.isclass(type(found))


def test_names_that_cannot_be_imported() -> None:
    with pytest.raises(ImportError, match="cannot import name 'read_orc'"):
        from orcish import read_orc  # type: ignore[attr-defined]  # noqa: F401


@pytest.mark.parametrize("name", ["new/", "there"])
def test_folders_are_no_files(name: str, tmp_path: Path) -> None:
    """A file is not written to a folder, which need not be there."""
    (tmp_path / "there").mkdir()
    target = f"{tmp_path}/{name}"
    for write in (
        lambda: orcish.write_table(ROWS, target),
        lambda: orcish.ORCWriter(f"file://{target}", ROWS.schema),
        lambda: orcish.merge([], target),
    ):
        with pytest.raises(IsADirectoryError, match=r"is a directory: orcish\.write_dataset writes"):
            write()
    assert [path.name for path in tmp_path.rglob("*")] == ["there"]
