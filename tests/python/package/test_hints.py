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
from support.case_loops import each_case

ROWS = pa.table({"id": [1, 2, 3]})


@pytest.fixture(scope="module")
def owners(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    path = tmp_path_factory.mktemp("hints") / "a.orc"
    orcish.write_table(ROWS, path)
    return {"MODULE": orcish, "SCAN": orcish.scan(path), "FILE": orcish.ORCFile(path), "COLUMN": orcish.col("id")}


WORDS = [(owner, word) for owner in ("MODULE", "SCAN", "FILE", "COLUMN") for word in getattr(hints, owner)]


@each_case(("owner", "word"), WORDS)
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


@each_case(
    ("owner", "word", "meant"),
    [
        ("MODULE", "read_tabel", "read_table"),
        ("MODULE", "OrcFile", "ORCFile"),
        ("MODULE", "RowGroup", "orcish.types.RowGroup"),
        ("MODULE", "CommitError", "orcish.errors.CommitError"),
        ("SCAN", "to_panda", "to_pandas"),
        ("FILE", "num_row", "num_rows"),
        ("COLUMN", "is_nul", "is_null"),
    ],
)
def test_misspelt_names(owners: Mapping[str, Any], owner: str, word: str, meant: str) -> None:
    with pytest.raises(AttributeError, match=f"has no attribute '{word}'; did you mean {meant}\\?$"):
        getattr(owners[owner], word)


@each_case("owner", ["MODULE", "SCAN", "FILE", "COLUMN"])
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


@each_case("name", ["new/", "there"])
def test_folders_are_no_files(name: str, tmp_path: Path) -> None:
    """A file is not written to a folder, which need not be there."""
    (tmp_path / "there").mkdir()
    target = f"{tmp_path}/{name}"
    for write in (
        lambda: orcish.write_table(ROWS, target),
        lambda: orcish.ORCWriter(f"file://{target}", ROWS.schema),
        lambda: orcish.merge([], target),
    ):
        with pytest.raises(IsADirectoryError, match=r"is a folder: .*; orcish\.write_dataset writes"):
            write()
    assert [path.name for path in tmp_path.rglob("*")] == ["there"]


ENDPOINT = {"aws_access_key_id": "a", "aws_secret_access_key": "b", "aws_region": "r"}


@each_case(
    ("url", "options", "said"),
    [
        ("s3://b/x", {"anon": True}, "did you mean aws_skip_signature?"),
        ("s3a://b/x", {"key": "k"}, "did you mean aws_access_key_id?"),
        ("s3://b/x", {"secret": "k"}, "did you mean aws_secret_access_key?"),
        ("s3://b/x", {"client_kwargs": {}}, "did you mean aws_endpoint and aws_region?"),
        ("gs://b/x", {"token": "anon"}, "did you mean google_service_account?"),
        ("az://b/x", {"anon": True}, "did you mean azure_skip_signature?"),
        ("abfss://b/x", {"connection_string": "c"}, "did you mean azure_storage_account_name and "),
        *(
            ("s3://b/x", {**ENDPOINT, key: "http://127.0.0.1:9"}, 'without TLS: .*"allow_http": True')
            for key in ("aws_endpoint", "endpoint_url", "AWS_ENDPOINT_URL")
        ),
    ],
)
def test_options_of_other_file_systems(url: str, options: Mapping[str, Any], said: str) -> None:
    for call in (
        lambda: orcish.read_table(url, storage_options=options),
        lambda: orcish.scan(f"{url}/", storage_options=options),
        lambda: orcish.write_table(ROWS, url, storage_options=options),
    ):
        with pytest.raises(ValueError, match=said):
            call()


def test_lists_of_names_may_be_arrays(tmp_path: Path) -> None:
    """Indexes of pandas and arrays of numpy."""
    import numpy as np
    import pandas as pd

    path = tmp_path / "a.orc"
    rows = pa.table({"id": [1], "k": [2]})
    for at, made in enumerate((pd.Index, np.array, tuple)):
        names: Any = made(["id"])
        orcish.write_table(rows, path, bloom_filter_columns=names, existing_data="overwrite")
        assert orcish.read_table(path, columns=names).column_names == ["id"]
        assert orcish.ORCFile(path).read(columns=names).column_names == ["id"]
        orcish.write_dataset(rows, tmp_path / str(at), partition_by=names)
        assert orcish.scan(tmp_path / str(at)).schema.names == ["k", "id"]


def test_metadata_is_a_mapping(tmp_path: Path) -> None:
    """The names in the metadata of Arrow are bytes."""
    path = tmp_path / "a.orc"
    orcish.write_table(ROWS, path, metadata={b"\xc3\xa9": b"v", "w": "x"})
    assert orcish.ORCFile(path).metadata["é"] == b"v"
    with pytest.raises(ValueError, match="is no UTF-8"):
        orcish.write_table(ROWS, path, metadata={b"\xff": b"v"}, existing_data="overwrite")
    for wrong in ("x", ["x"]):
        with pytest.raises(TypeError, match="metadata: must be a mapping"):
            orcish.write_table(ROWS, path, metadata=wrong, existing_data="overwrite")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="stripes=0: must be a list of numbers"):
        orcish.ORCFile(path).read(stripes=0)  # type: ignore[arg-type]


@each_case(("word", "meant"), [("npartitions", "split_size"), ("blocksize", "split_size")])
def test_keywords_of_dask(word: str, meant: str) -> None:
    from orcish.dask import read

    with pytest.raises(TypeError, match=f"did you mean '{meant}'"):
        read("t", **{word: 2})


def test_what_cannot_be_written_says_what_can(tmp_path: Path) -> None:
    import dask.dataframe as dd

    with pytest.raises(TypeError, match="compute\\(\\) gives its rows"):
        orcish.write_dataset(dd.from_pandas(ROWS.to_pandas(), npartitions=1), tmp_path / "t")
    with (
        pytest.raises(TypeError, match="write\\(table\\) takes tables"),
        orcish.ORCWriter(tmp_path / "w.orc", ROWS.schema) as writer,
    ):
        writer.write_batch(ROWS)


def test_names_of_the_module() -> None:
    """Internal modules are not among them."""
    assert {name for name in dir(orcish) if not name.startswith("_")} == {
        *(name for name in orcish.__all__ if not name.startswith("_")),
        *("dask", "encryption", "errors", "ray", "spark", "types"),
    }
