"""Locations of several spellings: a target that is a source is refused, whatever it is called."""

import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish._native import Location, Place
from support.azure_store import ACCOUNT, Azurite, run_azurite
from support.servers import UnavailableError

Run = Callable[..., Any]
ROWS = pa.table({"id": range(10), "k": [number % 2 for number in range(10)]})

OVER_A_FILE: dict[str, Callable[[str, str], list[str]]] = {
    "convert": lambda source, target: ["convert", source, target, "--existing-data", "overwrite", "--where", "id<3"],
    "rewrite": lambda source, target: ["rewrite", source, "-o", target, "--existing-data=overwrite", "--where", "id<3"],
    "merge": lambda source, target: ["merge", source, "-o", target, "--existing-data=overwrite"],
    "recover": lambda source, target: ["recover", source, "-o", target, "--existing-data=overwrite"],
}
OVER_A_FOLDER: dict[str, Callable[[str, str], list[str]]] = {
    "convert": lambda source, target: ["convert", source, target, "--existing-data", "overwrite", "--where", "id<3"],
    "append": lambda source, target: ["convert", source, target, "--existing-data", "append"],
    "rewrite": lambda source, target: ["rewrite", source, "-o", target, "--existing-data=overwrite", "--where", "id<3"],
}
AZURE = [f"{scheme}://shelf" for scheme in ("az", "azure", "adl", "abfs", "abfss", "ABFS")]
AZURE += [f"{scheme}://shelf@{ACCOUNT}.{api}.core.windows.net" for scheme in ("abfss", "az") for api in ("dfs", "blob")]


def given(options: dict[str, Any]) -> list[str]:
    return [f"--storage-option={name}={value}" for name, value in options.items()]


@pytest.fixture(scope="module")
def running_azurite() -> Iterator[Azurite]:
    try:
        with run_azurite() as azurite:
            yield azurite
    except UnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture
def azurite(running_azurite: Azurite) -> Azurite:
    running_azurite.clear()
    for name in ("a", "b", "p/x"):
        orcish.write_table(ROWS, f"az://shelf/{name}.orc", storage_options=running_azurite.options)
    return running_azurite


@pytest.mark.parametrize("spelling", AZURE)
@pytest.mark.parametrize("verb", [*OVER_A_FILE, *(f"{verb} of a folder" for verb in OVER_A_FOLDER)])
def test_schemes_of_azure(verb: str, spelling: str, azurite: Azurite, run: Run) -> None:
    if verb in OVER_A_FILE:
        arguments = OVER_A_FILE[verb]("az://shelf/a.orc", f"{spelling}/a.orc")
    else:
        arguments = OVER_A_FOLDER[verb.removesuffix(" of a folder")]("az://shelf/p/x.orc", f"{spelling}/p")
    code, lines, err = run(*arguments, *given(azurite.options))
    assert (code != 0, lines) == (True, [])
    target = arguments[2] if arguments[0] == "convert" else arguments[3]
    assert f"{target}: the ".lower() in err
    for name in ("a", "b", "p/x"):
        assert orcish.scan(f"az://shelf/{name}.orc", storage_options=azurite.options).count() == 10


@pytest.mark.parametrize(
    "url",
    ["s3://shelf//a.orc", "S3A://shelf///a.orc", "s3://shelf//tab/k=0/z.orc", "s3://shelf//p", "s3://shelf//*.orc"],
)
@pytest.mark.parametrize("verb", [*OVER_A_FILE, "in place", "append", "source", "delete", "vacuum", "csv"])
def test_keys_that_begin_with_a_slash(verb: str, url: str, store: Any, run: Run) -> None:
    """They are those of other objects."""
    for name in ("a", "p/x"):
        orcish.write_table(ROWS, f"s3://shelf/{name}.orc", storage_options=store.options)
    orcish.write_dataset(ROWS, "s3://shelf/tab", partition_by=["k"], storage_options=store.options)
    before = store.objects()
    source = "s3://shelf/a.orc"
    arguments = {
        **{name: make(source, url) for name, make in OVER_A_FILE.items()},
        "in place": ["rewrite", url, "--in-place"],
        "append": ["convert", source, url, "--existing-data", "append"],
        "source": ["data", url],
        "delete": ["delete", url, "--where", "id<3"],
        "vacuum": ["vacuum", url],
        "csv": ["convert", source, url, "--to", "csv"],
    }[verb]
    code, lines, err = run(*arguments, *given(store.options))
    assert (code != 0, lines) == (True, [])
    # Other errors say what else is wrong.
    assert any(text in err for text in ("empty path segment", "the target is", "the source", "a pattern", "of folders"))
    assert store.objects() == before
    assert orcish.scan(source, storage_options=store.options).count() == 10


def test_functions_refuse_keys_that_begin_with_a_slash(store: Any) -> None:
    url, options = "s3://shelf//a.orc", store.options
    for name in ("a", "b"):
        orcish.write_table(ROWS, f"s3://shelf/{name}.orc", storage_options=options)
    calls: list[Callable[[], object]] = [
        lambda: orcish.write_table(ROWS, url, storage_options=options),
        lambda: orcish.ORCWriter(url, ROWS.schema, storage_options=options),
        lambda: orcish.write_dataset(ROWS, url, storage_options=options),
        lambda: orcish.merge(["s3://shelf/a.orc"], url, storage_options=options),
        lambda: orcish.recover_file("s3://shelf/b.orc", url, storage_options=options),
        lambda: orcish.convert("s3://shelf/b.orc", url, storage_options=options),
        lambda: orcish.read_table(url, storage_options=options),
        lambda: orcish.ORCFile(url, storage_options=options),
        lambda: orcish.scan(url, storage_options=options).count(),
        lambda: orcish.scan([url, url], storage_options=options).count(),
        lambda: orcish.compact(url, storage_options=options),
        lambda: orcish.history(url, storage_options=options),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"s3://shelf//a\.orc.*contained empty path segment"):
            call()
    assert store.objects() == ["a.orc", "b.orc"]


@pytest.mark.parametrize("form", ["orc", "csv", "parquet"])
@pytest.mark.parametrize("verb", [*OVER_A_FILE, *(f"{verb} of a folder" for verb in OVER_A_FOLDER), "in a table"])
def test_local_urls(verb: str, form: str, tmp_path: pathlib.Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    orcish.write_dataset(ROWS, "tab", partition_by=["k"])
    (tmp_path / "p").mkdir()
    orcish.write_table(ROWS, "rows.orc")
    for name in (f"a.{form}", f"p/x.{form}"):
        assert run("convert", "rows.orc", name)[0] == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    if form != "orc" and not verb.startswith(("convert", "append")):
        pytest.skip("of ORC files")
    for url in (f"local://{tmp_path}", "local:/" + "/.", f"LOCAL://{tmp_path}"):
        if verb in OVER_A_FILE:
            arguments = OVER_A_FILE[verb](f"a.{form}", f"{url}/a.{form}")
        elif verb == "in a table":
            arguments = ["convert", f"a.{form}", f"{url}/tab/k=0/z.orc", "-c", "id"]
        else:
            arguments = OVER_A_FOLDER[verb.removesuffix(" of a folder")](f"p/x.{form}", f"{url}/p")
        code, lines, err = run(*arguments)
        assert (code != 0, lines) == (True, []), err
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_local_urls_are_read_and_written(tmp_path: pathlib.Path, run: Run) -> None:
    """As paths are: nothing in them is encoded."""
    url = f"local://{tmp_path}"
    orcish.write_table(ROWS, f"{url}/a%20b.orc")
    orcish.write_dataset(ROWS, f"{url}/tab", partition_by=["k"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a%20b.orc", "tab"]
    assert orcish.ORCFile(f"{url}/a%20b.orc").num_rows == orcish.scan(f"{url}/tab").count() == 10
    assert orcish.scan(f"{url}/*.orc").count() == orcish.read_table(f"LOCAL://{tmp_path}/a%20b.orc").num_rows
    assert orcish.delete(f"{url}/tab", "k = 1").rows == 5
    for arguments in (["compact"], ["history"], ["vacuum"], ["count"], ["check"], ["recover"]):
        assert run(*arguments, f"{url}/tab")[0] == 0


SAME = [
    ("s3://b/t/a.orc", "s3a://b/t/a.orc"),
    ("S3://b/t/", "s3n://b/t"),
    ("s3://b/t/a b", "https://b.s3.amazonaws.com/t/a%20b?versionId=1"),
    ("s3://b/t", "https://b.s3.eu-central-1.amazonaws.com/t"),
    ("s3://b.c/t", "https://s3.dualstack.eu-central-1.amazonaws.com/b.c/t"),
    ("s3://b/t", "https://b.s3-eu-west-1.amazonaws.com/t"),
    ("s3://b/t", "http://127.0.0.1:9000/b/t"),
    ("s3://b/t", "http://b.localhost:9000/t"),
    ("gs://b/t", "gcs://b/t"),
    ("gs://b/t", "https://storage.googleapis.com/b/t"),
    ("gs://b/t", "https://b.storage.googleapis.com/t"),
    *((f"{one}/t", f"{other}/t") for one in AZURE[:5] for other in AZURE),
    ("az://c/t", "https://any.blob.core.windows.net/c/t?sig=x"),
    ("abfss://c@a.dfs.core.windows.net/t", "https://a.dfs.core.windows.net:443/c/t"),
    ("wasbs://c@a.blob.core.windows.net/t", "az://c/t"),
    ("hdfs://Host/t", "hdfs://host:8020/t/"),
    ("hdfs://host/t", "hdfs:///t"),
    ("hdfs://localhost:8020/t", "hdfs://127.0.0.1/t"),
    ("hdfs://[::1]:8020/t", "hdfs://localhost//t"),
    ("hdfs://host/t", "webhdfs://host:9870/t"),
    ("HTTP://host:80/a%20b", "http://user:word@HOST/a b"),
    ("sftp://user@host/t", "ssh://host:22/t"),
    ("memory://t/a", "memory:///t/a"),
    ("simplecache::s3://b/t", "s3a://b/t"),
    ("zip://a.orc::s3://b/t.zip", "s3://b/t.zip"),
    ("local:///t/a", "file:///t/a"),
    ("file:///t/a%20b", "/t/a b"),
]
DIFFERENT = [
    ("s3://b/t", "s3://b/t2"),
    ("s3://b/t", "gs://b/t"),
    ("s3://b/t", "/b/t"),
    ("s3://b/t", "https://c.s3.amazonaws.com/t"),
    ("s3://b/t", "http://other:9000/b/t"),
    ("abfs://c@a.dfs.core.windows.net/t", "az://c@b.blob.core.windows.net/t"),
    ("abfs://c@a.dfs.core.windows.net/t", "https://b.blob.core.windows.net/c/t"),
    ("az://c/t", "az://d/t"),
    ("hdfs://host/t", "hdfs://host:9000/t"),
    ("hdfs://host/t", "hdfs://other/t"),
    ("http://host/t", "http://host:8080/t"),
    ("sftp://host/t", "sftp://other/t"),
    ("zip://a.orc::s3://b/t.zip", "zip://b.orc::s3://b/t.zip"),
    ("memory://t/a", "memory://t/A"),
]


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AZURE_STORAGE_ACCOUNT_NAME", "HADOOP_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://localhost:9000/")


def place_of(location: str, *storage: dict[str, str] | None) -> Place:
    return Location(location).place(*storage)


@pytest.mark.usefixtures("endpoint")
@pytest.mark.parametrize(("one", "other"), SAME)
def test_equal_places(one: str, other: str) -> None:
    assert place_of(one).is_same(place_of(other))
    assert place_of(other).is_below(place_of(one.rpartition("/")[0] if "::" not in one else one))


@pytest.mark.usefixtures("endpoint")
@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_places(one: str, other: str) -> None:
    assert not place_of(one).is_same(place_of(other))
    assert not place_of(other).is_same(place_of(one))


def test_options_say_what_a_url_leaves_out(endpoint: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Accounts that are known to differ are two stores."""
    del endpoint
    url, own, others = "az://c/t", {"account_name": "a"}, {"azure_storage_account_name": "b"}
    assert place_of(url, own).is_same(place_of(url))
    assert not place_of(url, own).is_same(place_of(url, others))
    assert place_of("az://c@b.dfs.core.windows.net/t", own).is_same(place_of(url, others))
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "b")
    assert not place_of(url, own).is_same(place_of(url))
    blob = "http://127.0.0.1:10000/a/c/t"
    assert place_of(blob, None, {**own, "azure_endpoint": "http://127.0.0.1:10000/a"}).is_same(place_of(url, own))
    cluster = {"fs.defaultFS": "hdfs://one:9000"}
    assert place_of("hdfs:///t", cluster).is_same(place_of("hdfs://one:9000/t"))
    assert not place_of("hdfs:///t", cluster).is_same(place_of("hdfs://two:9000/t"))
