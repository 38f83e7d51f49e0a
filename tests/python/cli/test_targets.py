"""Files that commands write: one set of rules for every command and format."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish.tables.folder import Folder
from orcish_cli.formats.places import open_output
from support.called_back import CalledBack
from support.processes import Run
from support.small_tables import in_stripes

ROWS = pa.table({"id": range(4000), "text": [f"t{number}" for number in range(4000)]})
OTHER = b"rows of another program"
FORMATS = ("orc", "parquet", "csv", "json", "arrow", "arrows")
COMMANDS: dict[str, Callable[[Path, Path], list[Any]]] = {
    **{
        f"convert to {form}": lambda source, target, form=form: ["convert", source, target, "--to", form]
        for form in FORMATS
    },
    "convert to csv.gz": lambda source, target: ["convert", source, target, "--to", "csv", "--compression", "gzip"],
    "rewrite": lambda source, target: ["rewrite", source, "-o", target],
    "rewrite --no-verify": lambda source, target: ["rewrite", source, "-o", target, "--no-verify"],
    "merge": lambda source, target: ["merge", source, "-o", target],
    "recover": lambda source, target: ["recover", source, "-o", target],
    "layout": lambda source, target: ["layout", source, "-o", target],
}
"""Commands that write one file."""


REPLACING = ["--existing-data", "overwrite"]
"""The arguments by which a command replaces its target."""


@pytest.fixture(params=COMMANDS)
def command(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return in_stripes(tmp_path / "source.orc", ROWS, 1000)


@pytest.fixture
def target(command: str, tmp_path: Path) -> Path:
    # The name says that it is a file, whatever its format.
    return tmp_path / ("target" if command == "convert to csv.gz" else "target.orc")


def arguments(command: str, source: Path, target: Path) -> list[Any]:
    return COMMANDS[command](source, target)


def assert_only(folder: Path, *names: str) -> None:
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)


def test_existing_targets(command: str, source: Path, target: Path, run: Run) -> None:
    target.write_bytes(OTHER)
    code, _, err = run(*arguments(command, source, target))
    assert (code != 0, str(target) in err, "is there already" in err) == (True, True, True)
    assert " ".join(REPLACING) in err
    assert target.read_bytes() == OTHER
    code, _, err = run(*arguments(command, source, target), *REPLACING)
    assert code == 0, err
    assert target.read_bytes() != OTHER
    assert_only(source.parent, "source.orc", target.name)


def test_dangling_links_are_targets(command: str, source: Path, target: Path, run: Run) -> None:
    target.symlink_to("nothing")
    code, _, err = run(*arguments(command, source, target))
    assert (code != 0, "is there already" in err) == (True, True)
    assert_only(source.parent, "source.orc", target.name)


@pytest.mark.parametrize("spelling", ["same", "URL", "dots", "link", "hard link"])
def test_sources_are_no_targets(command: str, spelling: str, source: Path, tmp_path: Path, run: Run) -> None:
    target: Any = source
    if spelling == "URL":
        target = source.as_uri()
    elif spelling == "dots":
        target = f"{tmp_path}/../{tmp_path.name}/./source.orc"
    elif spelling != "same":
        target = tmp_path / "again.orc"
        (target.symlink_to if spelling == "link" else target.hardlink_to)(source)
    before = source.read_bytes()
    code, _, err = run(*arguments(command, source, target), *REPLACING)
    # A page is refused as any ORC file is its target.
    text = "is an ORC file" if command == "layout" else "the target is one of the sources"
    assert (code != 0, text in err) == (True, True), err
    assert source.read_bytes() == before


def test_the_file_of_the_columns_is_no_target(source: Path, tmp_path: Path, run: Run) -> None:
    torn, before = tmp_path / "torn.orc", source.read_bytes()
    torn.write_bytes(before[: len(before) // 2])
    code, _, err = run("recover", torn, "--like", source, "-o", source, "--existing-data=overwrite")
    assert (code, "the target is one of the sources" in err) == (2, True)
    for target in (torn, source):
        with pytest.raises(ValueError, match="the target is one of the sources"):
            orcish.recover_file(torn, target, like=source)
    assert source.read_bytes() == before


def test_targets_that_appear_stay(source: Path, tmp_path: Path) -> None:
    """A file that another program writes meanwhile is not replaced."""
    target = tmp_path / "target"

    def written(begin: Callable[[], Any], end: Callable[[Any], object]) -> None:
        file = begin()
        target.write_bytes(OTHER)
        end(file)

    writes: dict[str, Callable[[], object]] = {
        "rows": lambda: written(lambda: orcish.ORCWriter(target, ROWS.schema), lambda file: file.close()),
        "stripes": lambda: orcish.merge([CalledBack(source.read_bytes(), lambda: target.write_bytes(OTHER))], target),
        "bytes": lambda: written(lambda: open_output(str(target), {}, "error"), lambda file: file.publish()),
    }
    for kind, write in writes.items():
        with pytest.raises(FileExistsError, match="target: cannot be written: another process has written the target"):
            write()
        assert target.read_bytes() == OTHER, kind
        assert_only(tmp_path, "source.orc", "target")
        target.unlink()


@pytest.mark.parametrize("kind", ["pipe", "link to a pipe", "device", "standard output", "descriptor"])
def test_pipes_and_devices_stay(command: str, kind: str, source: Path, tmp_path: Path, run: Run) -> None:
    target = tmp_path / "target.orc"
    if kind == "standard output":
        target = Path("/dev/stdout")
    elif kind == "descriptor":
        target = Path("/dev/fd/1")
    elif kind == "device":
        try:
            os.mknod(target, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        except OSError:
            pytest.skip("devices need rights")
    else:
        os.mkfifo(target if kind == "pipe" else tmp_path / "pipe")
        if kind != "pipe":
            target.symlink_to("pipe")
    before = os.lstat(target).st_mode
    for more in ([], REPLACING):
        code, _, err = run(*arguments(command, source, target), *more)
        text = ": cannot be written: the target is no regular file"
        if command.startswith("rewrite") and target.suffix != ".orc":
            # The name is that of a folder.
            text = ": the path is a file, and no folder"
        assert (code != 0, f"{target}{text}" in err) == (True, True), err
    assert os.lstat(target).st_mode == before


def test_links_and_permissions_stay(command: str, source: Path, target: Path, tmp_path: Path, run: Run) -> None:
    (tmp_path / "folder").mkdir()
    real = tmp_path / "folder" / "real"
    real.write_bytes(OTHER)
    real.chmod(0o600)
    target.symlink_to("folder/real")
    code, _, err = run(*arguments(command, source, target), *REPLACING)
    assert code == 0, err
    assert target.is_symlink()
    assert real.read_bytes() != OTHER
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert_only(real.parent, "real")


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk with hardly any room."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.system(f"mount -t tmpfs -o size=64k none '{folder}' 2>/dev/null") != 0:
        pytest.skip("mounts need rights")
    try:
        (folder / "fill").write_bytes(bytes(48 << 10))
        yield folder
    finally:
        os.system(f"umount '{folder}'")


def test_full_disks(command: str, source: Path, full_disk: Path, run: Run) -> None:
    """The old file stays, and the error names the target."""
    large = pa.table({"id": [f"{number * 7919 % 100_003}" for number in range(50_000)]})
    orcish.write_table(large, source, existing_data="overwrite")
    target = full_disk / "target.orc"
    target.write_bytes(OTHER)
    code, _, err = run(*arguments(command, source, target), *REPLACING)
    assert code != 0
    assert str(target) in err
    assert "No space left on device" in err
    assert target.read_bytes() == OTHER
    assert_only(full_disk, "fill", target.name)


def test_missing_folders(command: str, source: Path, tmp_path: Path, run: Run) -> None:
    target = tmp_path / "missing" / "target.orc"
    code, _, err = run(*arguments(command, source, target))
    assert (code != 0, str(target) in err, "No such file or directory" in err) == (True, True, True), err
    assert_only(tmp_path, "source.orc")


def write_slowly(target: Path, **options: Any) -> object:
    with orcish.ORCWriter(target, ROWS.schema, **options) as writer:
        writer.write(ROWS)
    return writer.close()


FUNCTIONS: dict[str, Callable[..., object]] = {
    "write_table": lambda source, target, **options: orcish.write_table(ROWS, target, **options),
    "ORCWriter": lambda source, target, **options: write_slowly(target, **options),
    "merge": lambda source, target, **options: orcish.merge([source], target, **options),
    "recover_file": orcish.recover_file,
}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", ["target", "caf\udce9"])
def test_functions(function: str, name: str, source: Path, tmp_path: Path) -> None:
    """Also with names that are no Unicode."""
    target = tmp_path / name
    FUNCTIONS[function](source, target)
    assert target.exists()
    target.write_bytes(OTHER)
    for given in ({}, {"existing_data": "error"}):
        with pytest.raises(FileExistsError, match="existing_data='overwrite' replaces it"):
            FUNCTIONS[function](source, target, **given)
    with pytest.raises(ValueError, match="existing_data='append': is of folders"):
        FUNCTIONS[function](source, target, existing_data="append")
    with pytest.raises(TypeError, match="no keyword argument 'overwrite'; did you mean 'existing_data'"):
        FUNCTIONS[function](source, target, overwrite=True)
    assert target.read_bytes() == OTHER
    FUNCTIONS[function](source, target, existing_data="overwrite")
    assert target.read_bytes() != OTHER
    assert_only(tmp_path, "source.orc", name)


def test_writers_that_are_given_up_leave_nothing(tmp_path: Path) -> None:
    for publish in (True, False):
        writer = orcish.ORCWriter(tmp_path / "a.orc", ROWS.schema, publish=publish)
        writer.write(ROWS)
        writer.abort()
    assert_only(tmp_path)


def test_files_that_are_published_later(tmp_path: Path) -> None:
    """The word is the same one. What has appeared meanwhile is replaced by who completes the file."""
    target = tmp_path / "a.orc"
    target.write_bytes(OTHER)
    with pytest.raises(FileExistsError, match="existing_data='overwrite' replaces it"):
        orcish.ORCWriter(target, ROWS.schema, publish=False)
    with orcish.ORCWriter(target, ROWS.schema, publish=False, existing_data="overwrite") as writer:
        writer.write(ROWS)
    assert target.read_bytes() == OTHER
    Folder(str(tmp_path)).complete("a.orc", writer.token)
    assert orcish.count_rows(target) == len(ROWS)
    assert_only(tmp_path, "a.orc")
