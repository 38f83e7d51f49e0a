"""Files of S3, as moto's server has it."""

import datetime as dt
import json
import os
import pickle

import orcish
import pyarrow as pa
import pytest
from orcish import _native, col
from support.cpp_writers import write_arrow
from support.processes import run_python
from support.s3_store import BUCKET

TABLE = pa.table({"a": list(range(5000)), "s": [f"text {i}" for i in range(5000)]})
DATA = write_arrow(TABLE)
KEYS = [
    "t/dt=2026-01-01/part-0.orc",
    "t/dt=2026-01-01/part-1.orc",
    "t/dt=2026-01-01/_SUCCESS",
    "t/dt=2026-02-01/part-0.orc",
    "t/dt=2025-01-01/part-0.orc",
    "t/_temporary/0/part-9.orc",
    "t/.part-8.orc.crc",
    "other/a b%3A ü?.orc",
]


@pytest.fixture(scope="module")
def s3(running_store):
    """Options for the store, whose bucket has these objects and no others."""
    running_store.clear()
    for key in KEYS:
        running_store.client.put_object(Bucket=BUCKET, Key=key, Body=DATA)
    running_store.client.put_object(Bucket=BUCKET, Key="t/dt=2026-02-01/", Body=b"")
    return running_store.options


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)


def urls(*numbers):
    return [(f"s3://shelf/{KEYS[number]}", len(DATA)) for number in numbers]


def test_read(s3):
    for scheme in ("s3", "s3a"):
        url = f"{scheme}://shelf/{KEYS[0]}"
        assert orcish.read_table(url, storage_options=s3).equals(TABLE)
    file = orcish.ORCFile(url, storage_options=s3)
    assert file.read(columns=["s"]).equals(TABLE.select(["s"]))
    again = orcish.ORCFile(url, tail=file.tail_bytes(), storage_options=s3)
    assert again.read(columns=["a"]).equals(TABLE.select(["a"]))


def test_keys_are_taken_as_they_are(s3):
    assert orcish.read_table(f"s3://shelf/{KEYS[7]}", storage_options=s3).equals(TABLE)
    assert _native.list_files("s3://shelf/other", s3) == urls(7)


def test_credentials_of_the_environment(s3, monkeypatch):
    for name in ("endpoint", "access_key_id", "secret_access_key", "region"):
        monkeypatch.setenv(f"AWS_{name.upper()}", s3[f"aws_{name}"])
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    assert orcish.read_table(f"s3://shelf/{KEYS[0]}").equals(TABLE)
    # What is given goes before what is there.
    with pytest.raises(OSError, match="shelf"):
        orcish.read_table(
            f"s3://shelf/{KEYS[0]}", storage_options={"aws_endpoint": "http://127.0.0.1:1", "orcish.max_retries": "0"}
        )


def test_what_is_missing(s3):
    with pytest.raises(FileNotFoundError, match="s3://shelf/none"):
        orcish.read_table("s3://shelf/none.orc", storage_options=s3)
    with pytest.raises(FileNotFoundError, match="s3://nowhere/t") as error:
        orcish.read_table("s3://nowhere/t.orc", storage_options=s3)
    assert "hush" not in str(error.value)
    for location in ("s3://shelf/none", "s3://nowhere/t"):
        with pytest.raises(FileNotFoundError, match=location):
            _native.list_files(location, s3)
    with pytest.raises(FileNotFoundError, match="s3://nowhere/"):
        _native.list_files("s3://nowhere/*.orc", s3)


def test_options_are_checked(s3):
    with pytest.raises(ValueError, match="client_kwargs"):
        orcish.ORCFile("s3://shelf/t.orc", storage_options={**s3, "client_kwargs": "x"})
    with pytest.raises(ValueError, match=r"s3://shelf/t\.orc: .*without TLS: .*`allow_http`"):
        orcish.ORCFile("s3://shelf/t.orc", storage_options={**s3, "aws_allow_http": False})


def test_an_endpoint_of_the_environment_without_tls(s3, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", str(s3["aws_endpoint"]))
    options = {key: value for key, value in s3.items() if key not in ("aws_endpoint", "aws_allow_http")}
    rows = pa.table({"a": [1]})
    for call in (
        lambda: orcish.ORCFile("s3://shelf/t.orc", storage_options=options),
        lambda: orcish.scan("s3://shelf/t", storage_options=options),
        lambda: orcish.write_table(rows, "s3://shelf/new.orc", storage_options=options),
        lambda: orcish.write_dataset(rows, "s3://shelf/new", storage_options=options),
    ):
        with pytest.raises(ValueError, match=r"without TLS: .*allow_http"):
            call()


def test_listing(s3):
    def found(location):
        return _native.list_files(location, s3)

    assert found("s3://shelf/t") == found("s3://shelf/t/") == urls(4, 0, 1, 3)
    assert found("s3://shelf/t/dt=2026-*/part-*.orc") == urls(0, 1, 3)
    assert found("s3://shelf/t/dt=2026-*") == urls(0, 1, 3)
    assert found("s3://shelf/t/**/part-0.orc") == urls(4, 0, 3)
    assert found("s3://shelf/*/dt=2026-01-01/part-?.orc") == urls(0, 1)
    assert found("s3://shelf/t/dt=202[!5]-01-01/*") == urls(0, 1)
    assert found("s3://shelf/t/dt=3*") == []
    assert found(f"s3://shelf/{KEYS[2]}") == urls(2)
    assert found("s3://shelf") == sorted(urls(7, 4, 0, 1, 3))
    for url, _ in found("s3://shelf/t"):
        assert orcish.ORCFile(url, storage_options=s3).num_rows == 5000


def test_scans(s3):
    table = orcish.scan("s3://shelf/t/dt=2026-*/", storage_options=s3)
    assert table.files == [url for url, _ in urls(0, 1, 3)]
    assert table.schema.field("dt").type == pa.date32()
    day = dt.date(2026, 1, 1)
    kept = table.where((col("dt") == day) & (col("a") == 17)).to_table()
    assert kept.to_pylist() == [{"a": 17, "s": "text 17", "dt": day}] * 2
    assert [len(file.stripes) for file in table.where(col("dt") > day).explain().files] == [0, 0, 1]
    for folder in ("s3://shelf/t", "s3a://shelf/t/"):
        assert orcish.scan(folder, storage_options=s3).count() == 4 * 5000
        assert orcish.read_table(folder, storage_options=s3).num_rows == 4 * 5000
    for scheme in ("s3", "s3a"):
        file = orcish.scan(f"{scheme}://shelf/{KEYS[0]}", storage_options=s3)
        assert file.schema.names == ["a", "s"]
    split = pickle.loads(pickle.dumps(table.where(col("a") < 3).splits()[-1]))
    assert split.scan().to_table().num_rows == 3
    with pytest.raises(FileNotFoundError, match="s3://shelf/t/dt=1999"):
        orcish.scan("s3://shelf/t/dt=1999-*/", storage_options=s3)
    with pytest.raises(FileNotFoundError, match="s3://shelf/nothing"):
        orcish.read_table("s3://shelf/nothing/", storage_options=s3)


def test_fork(s3):
    """A forked child opens its own connections."""
    out = run_python(
        """
        import json, os, sys, warnings, orcish
        warnings.simplefilter("ignore")
        url, options = sys.argv[1], json.loads(sys.argv[2])
        want = orcish.read_table(url, storage_options=options)
        child = os.fork()
        if child == 0:
            os._exit(0 if orcish.read_table(url, storage_options=options).equals(want) else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """,
        f"s3://shelf/{KEYS[0]}",
        json.dumps(s3),
    )
    assert out.strip() == "0"
