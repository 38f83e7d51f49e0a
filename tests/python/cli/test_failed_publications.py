"""Files of stores that cannot be published leave no upload."""

from collections.abc import Callable
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish.types import ExistingFile
from support.random_cases import pairs

Run = Callable[..., Any]
ROWS = pa.table({"id": range(10)})
LARGE = 6 << 20
"""Bytes of a file that has several parts."""

COMMANDS: dict[str, list[str]] = {
    "rewrite --in-place": ["rewrite", "s3://shelf/a.orc", "--in-place"],
    "rewrite": ["rewrite", "s3://shelf/a.orc", "-o", "s3://shelf/new.orc"],
    "rewrite and replace": ["rewrite", "s3://shelf/a.orc", "-o", "s3://shelf/b.orc", "--existing-data=overwrite"],
    "merge": ["merge", "s3://shelf/a.orc", "-o", "s3://shelf/new.orc"],
    "merge and replace": ["merge", "s3://shelf/a.orc", "-o", "s3://shelf/b.orc", "--existing-data=overwrite"],
    "recover": ["recover", "s3://shelf/a.orc", "-o", "s3://shelf/new.orc"],
    "recover and replace": ["recover", "s3://shelf/a.orc", "-o", "s3://shelf/b.orc", "--existing-data=overwrite"],
    "convert": ["convert", "s3://shelf/a.orc", "s3://shelf/new.orc"],
    "convert overwrite": ["convert", "s3://shelf/a.orc", "s3://shelf/b.orc", "--existing-data", "overwrite"],
}


def written(target: str, existing_data: ExistingFile) -> Callable[[Any, dict[str, Any]], object]:
    return lambda rows, options: orcish.write_table(
        rows, target, existing_data=existing_data, storage_options=options, compression="none"
    )


FUNCTIONS: dict[str, Callable[[Any, dict[str, Any]], object]] = {
    "write_table": written("s3://shelf/new.orc", "error"),
    "write_table overwrite": written("s3://shelf/b.orc", "overwrite"),
    "merge": lambda _, options: orcish.merge(
        ["s3://shelf/a.orc"], "s3://shelf/b.orc", existing_data="overwrite", storage_options=options
    ),
    "recover_file": lambda _, options: orcish.recover_file(
        "s3://shelf/a.orc", "s3://shelf/b.orc", existing_data="overwrite", storage_options=options
    ),
    "write_dataset": lambda rows, options: orcish.write_dataset(rows, "s3://shelf/t", storage_options=options),
}


@pytest.fixture
def large(store: Any) -> pa.Table:
    """Rows of a file of several parts; ``a.orc`` has them."""
    text = [f"{number * 7919 % 1_000_003:0100}" for number in range(LARGE // 100)]
    rows = pa.table({"text": text})
    orcish.write_table(rows, "s3://shelf/a.orc", storage_options=store.options, compression="none", dictionary=False)
    orcish.write_table(ROWS, "s3://shelf/b.orc", storage_options=store.options)
    return rows


def completes(method: str, path: str) -> bool:
    return method == "POST" and "uploadId" in path


def puts(method: str, path: str) -> bool:
    return method == "PUT" and not path.endswith("/a.orc?uploads")


@pytest.mark.parametrize(("size", "command", "fails"), pairs(["small", "large"], COMMANDS, [completes, puts]))
def test_commands(
    size: str, command: str, fails: Callable[[str, str], bool], store: Any, request: pytest.FixtureRequest, run: Run
) -> None:
    if size == "large":
        request.getfixturevalue("large")
    else:
        for name in ("a", "b"):
            orcish.write_table(ROWS, f"s3://shelf/{name}.orc", storage_options=store.options)
    before = store.objects()
    store.between.fails = fails
    store.between.log.clear()
    storage = [f"--storage-option={name}={value}" for name, value in store.options.items()]
    code, lines, err = run(*COMMANDS[command], *storage)
    store.between.fails = lambda method, path: False
    has_failed = any(fails(method, path) for method, path, _ in store.between.log)
    assert (code != 0) == has_failed, (code, err, store.between.log)
    assert store.uploads() == []
    if has_failed:
        assert lines == []
        assert "s3://shelf/" in err
        assert store.objects() == before


@pytest.mark.parametrize("fails", [completes, puts], ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions(function: str, fails: Callable[[str, str], bool], store: Any, large: pa.Table) -> None:
    before = store.objects()
    store.between.fails = fails
    store.between.log.clear()
    try:
        FUNCTIONS[function](large, store.options)
        is_written = True
    except (OSError, orcish.errors.UnfinishedCommitError):
        is_written = False
    store.between.fails = lambda method, path: False
    assert is_written != any(fails(method, path) for method, path, _ in store.between.log)
    if function == "write_dataset" and fails is completes:
        # The log has the commit, which recover finishes.
        assert orcish.recover("s3://shelf/t", storage_options=store.options) == "finished"
        assert orcish.scan("s3://shelf/t", storage_options=store.options).count() == large.num_rows
    elif not is_written:
        assert store.objects() == before
    assert store.uploads() == []
