"""Names of URLs that fsspec opens, in messages and texts: they are there, and have no credentials."""

from __future__ import annotations

import traceback
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import orcish
import pyarrow as pa
import pytest
from orcish.io.names import display_name, errors_with_name, without_credentials
from orcish_cli import main
from support.far_system import FarSystem
from support.http_server import serve

TABLE = pa.table({"a": list(range(3000)), "s": [f"text {i}" for i in range(3000)]})
LARGE = pa.table({f"c{at}": [(i * 2654435761 + at) % 2**40 for i in range(20_000)] for at in range(12)})
NAMES = {
    "simplecache::s3://key:hush@bucket/a.orc": "simplecache::s3://bucket/a.orc",
    "zip://a.orc::https://user:hush@host/x.zip?sig=hush2": "zip://a.orc::https://host/x.zip",
    "zip://*.orc::simplecache::sftp://user:hush@host/x.zip": "zip://*.orc::simplecache::sftp://host/x.zip",
    "zip://a.orc::zip://b.zip::s3://key:hush@bucket/c.zip": "zip://a.orc::zip://b.zip::s3://bucket/c.zip",
    "sftp://user:hu::sh@host/a.orc": "sftp://host/a.orc",
    "s3://key:hush@bucket/a::b@c.orc": "s3://bucket/a::b@c.orc",
    "http://[::1]:80/a.orc": "http://[::1]:80/a.orc",
    "/folder/a::b@c.orc": "/folder/a::b@c.orc",
}


def test_display_names() -> None:
    for location, shown in NAMES.items():
        assert display_name(location) == shown
        assert without_credentials(f"no such file: {location}", location) == f"no such file: {shown}"
        if "hush" in location:
            assert "hush" not in without_credentials(f"'hush' is wrong for {location}", location)


def test_secrets_within_words_are_other_words() -> None:
    assert without_credentials("bat: p@ss, p%40ss, b", "x://b:p%40ss@h/a") == "bat: ***, ***, b"
    assert without_credentials("token: to", "x://to@h/a") == "token: ***"


class OddError(OSError):
    """An error of a library whose constructor has other arguments."""

    def __init__(self, place: str, port: int, reason: str) -> None:
        super().__init__(f"{place}:{port}: {reason}")


ERRORS: dict[str, tuple[type[Exception], Callable[[], Exception]]] = {
    "plain": (OSError, lambda: OSError("it broke")),
    "empty": (TimeoutError, TimeoutError),
    "number": (PermissionError, lambda: OSError(13, "it broke")),
    "file": (FileNotFoundError, lambda: FileNotFoundError(2, "it broke", "/user:hush@host/a.orc")),
    "odd": (OSError, lambda: OddError("host", 22, "it broke with hush")),
    "value": (OSError, lambda: ValueError("far://user:hush@host/a.orc is odd")),
    "type": (TypeError, lambda: TypeError("an argument is odd")),
    "end": (OSError, EOFError),
    "orcish": (orcish.UnsupportedError, lambda: orcish.UnsupportedError("far://host/: hush is odd")),
}


def test_errors_keep_their_type() -> None:
    for name, (kind, make) in ERRORS.items():
        with pytest.raises(kind, match="far://host/") as error, errors_with_name("far://user:hush@host/a.orc"):
            raise make()
        lines = traceback.format_exception(error.value)
        assert "hush" not in "".join(line for line in lines if not line.startswith("  File")), name


def test_short_names_are_words() -> None:
    for text in ("it broke", "no such file: tab"):
        with pytest.raises(OSError, match=f"^t: {text}$"), errors_with_name("t"):
            raise OSError(text)
    with pytest.raises(OSError, match=r"^no such file: /x/t$"), errors_with_name("t"):
        raise OSError("no such file: /x/t")


def test_signals_and_exhausted_memory_pass() -> None:
    for kind in (KeyboardInterrupt, MemoryError):
        with pytest.raises(kind, match=r"^$"), errors_with_name("far://user:hush@host/a.orc"):
            raise kind


@pytest.fixture
def far() -> FarSystem:
    """The file system of URLs ``far://``, empty."""
    fsspec.register_implementation("far", FarSystem, clobber=True)
    system: FarSystem = fsspec.filesystem("far")
    system.store.clear()
    system.reset()
    return system


URL, CLEAN = "far://user:hush@host", "far://host"
CALLS: dict[str, Callable[[str], object]] = {
    "ORCFile": lambda url: orcish.ORCFile(f"{url}/t/a.orc"),
    "ORCFile.read": lambda url: orcish.ORCFile(f"{url}/t/a.orc").read(),
    "ORCFile.check": lambda url: orcish.ORCFile(f"{url}/t/a.orc").check(),
    "iter_batches": lambda url: list(orcish.ORCFile(f"{url}/t/a.orc").iter_batches(columns=["c1"])),
    "read_table": lambda url: orcish.read_table(f"{url}/t/a.orc", columns=["c1", "c7"]),
    "read_table-filter": lambda url: orcish.read_table(f"{url}/t/a.orc", filters="c1 < 9000000000"),
    "read_table-folder": lambda url: orcish.read_table(f"{url}/t"),
    "read_table-pattern": lambda url: orcish.read_table(f"{url}/t/*.orc", columns=["c1"]),
    "scan": lambda url: orcish.scan([f"{url}/t/a.orc", f"{url}/t/b.orc"]).select("c3").to_table(),
    "explain": lambda url: orcish.scan(f"{url}/t").where("c1 < 9").explain(),
    "splits": lambda url: [split.scan().to_table() for split in orcish.scan(f"{url}/t").splits()],
    "count_rows": lambda url: orcish.count_rows(f"{url}/t", filters="c1 < 9"),
    "dataset": lambda url: orcish.dataset(f"{url}/t").to_table(columns=["c2"]),
    "scan_polars": lambda url: orcish.scan_polars(f"{url}/t").select("c2").collect(),
    "write_table": lambda url: orcish.write_table(TABLE, f"{url}/out.orc"),
    "merge": lambda url: orcish.merge([f"{url}/t/a.orc", f"{url}/t/b.orc"], f"{url}/out.orc"),
}


def test_each_request_that_fails_is_named(far: FarSystem) -> None:
    for at in ("a", "b"):
        orcish.write_table(LARGE, f"{URL}/t/{at}.orc", compression="none")
    for name, call in CALLS.items():
        far.reset()
        call(URL)
        calls = far.calls
        assert calls > 0, name
        for number in range(calls):
            for path in [path for path in far.store if path.endswith("/out.orc")]:
                del far.store[path]
            far.reset(number, lambda: OSError("it broke at user:hush@host"))
            with pytest.raises(Exception, match=f"{CLEAN}/.*it broke") as error:
                call(URL)
            assert "hush" not in str(error.value), name
    far.reset()


def shown(url_of: Callable[[str], str], capsys: Any) -> Iterator[str]:
    """Texts about files ``a.orc``, ``b.orc`` of other columns, and ``bad.orc``, by the functions of names."""
    url, other, bad, none, folder = map(url_of, ("a.orc", "b.orc", "bad.orc", "none.orc", ""))
    file, scan, data = orcish.ORCFile(url), orcish.scan(url), orcish.dataset(url)
    yield from (repr(file), file._repr_html_(), repr(scan), scan._repr_html_(), repr(data), data._repr_html_())
    yield from (repr(scan.splits()[0]), repr(scan.splits()))
    yield from (str(scan.where("a < 3").explain()), repr(scan.where("a < 3").explain()))
    file.close()
    yield repr(file)
    calls: list[Callable[[], object]] = [
        file.read,
        lambda: orcish.ORCFile(none),
        lambda: orcish.read_table(none),
        lambda: orcish.scan(none),
        lambda: orcish.scan(url_of("none-*.orc")),
        lambda: orcish.scan([url, none]),
        lambda: orcish.read_table(bad),
        lambda: orcish.scan(bad),
        lambda: orcish.read_table([url, other]),
        lambda: orcish.read_table([url, bad]),
        lambda: orcish.merge([url, other], url_of("out.orc")),
        lambda: orcish.read_table(url, columns=["none"]),
        lambda: orcish.read_table(url, limits={"memory": 1}),
        lambda: orcish.write_table(TABLE, url_of("out/")),
        lambda: orcish.write_dataset(TABLE, folder),
        lambda: orcish.compact(folder),
        lambda: orcish.delete(folder, "a = 1"),
        lambda: orcish.history(folder),
        lambda: orcish.recover(folder),
        lambda: orcish.vacuum(folder),
        lambda: orcish.convert(bad, "/nowhere/x"),
    ]
    for call in calls:
        with pytest.raises(Exception) as error:  # noqa: PT011
            call()
        yield str(error.value)
    for arguments in (["meta", url], ["data", bad], ["data", none], ["meta", none]):
        main(arguments)
        out = capsys.readouterr()
        yield out.out + out.err


@pytest.fixture
def files(tmp_path: Path) -> dict[str, bytes]:
    """Files by their names, and an archive of these."""
    found = {"bad.orc": b"no file of ORC" * 100}
    for name, table in (("a.orc", TABLE), ("b.orc", pa.table({"a": ["x"], "z": [1.5]}))):
        orcish.write_table(table, tmp_path / name)
        found[name] = (tmp_path / name).read_bytes()
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for name, data in found.items():
            archive.writestr(name, data)
    return {**found, "all.zip": (tmp_path / "all.zip").read_bytes()}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("start", ["", "simplecache::", "zip://", "zip-http"])
def test_no_text_has_credentials(start: str, far: FarSystem, files: dict[str, bytes], capsys: Any) -> None:
    for name, data in files.items():
        far.pipe(f"{URL}/{name}", data)
    with serve({f"/{name}": data for name, data in files.items()}) as server:
        archives = {
            "zip://": f"{URL}/all.zip",
            "zip-http": f"{server.url}/all.zip?sig=hush".replace("//", "//me:hush@"),
        }
        archive = archives.get(start)
        url_of = (lambda name: f"zip://{name}::{archive}") if archive else (lambda name: f"{start}{URL}/{name}")
        for text in shown(url_of, capsys):
            assert "hush" not in text
