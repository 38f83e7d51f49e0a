"""How often commands that write rows open the files of their source. Opening a small file is one request."""

import collections
import contextlib
import datetime
import io

import fsspec
import orcish
import pyarrow as pa
import pytest
from orcish_cli import main
from orcish_cli.formats import reading
from support.http_server import serve
from support.s3_store import BUCKET

COLUMNS = {
    "numbers": pa.array(range(100)),
    "timestamps": pa.array([datetime.datetime(2026, 1, 1)] * 100, pa.timestamp("us")),
}


def stored(columns):
    """The bytes of a file."""
    file = io.BytesIO()
    orcish.write_table(pa.table(columns), file)
    return file.getvalue()


@contextlib.contextmanager
def counted(files):
    """The URLs of files, and how often each is asked for."""
    found = collections.Counter()
    with serve(files) as server:
        server.rules.append(lambda handler, _: found.update([handler.path]))
        yield [server.url + name for name in files], found


def convert(urls, target):
    orcish.convert(urls, target / "table")


def convert_to_file(urls, target):
    assert main(["convert", *urls, str(target / "rows.jsonl"), "--json"]) == 0


def rewrite(urls, target):
    assert main(["rewrite", *urls, "-o", str(target / "table"), "--json"]) == 0


@pytest.mark.parametrize(
    ("run", "kind", "first", "others"),
    [
        # Files are opened for the columns and for the rows; their first one for its options, and for all digits.
        (convert, "numbers", 3, 2),
        (convert, "timestamps", 3, 2),
        # Files that decide on types stay open.
        (convert_to_file, "numbers", 1, 1),
        (convert_to_file, "timestamps", 1, 1),
        # Rows are counted before, as they are compared afterwards.
        (rewrite, "numbers", 2, 2),
        # Units that readers see are those of all files; the first one says whether they are inferred.
        (rewrite, "timestamps", 4, 3),
    ],
)
def test_a_source_is_opened_once_for_its_columns(run, kind, first, others, tmp_path):
    files = {f"/{at}.orc": stored({"column": COLUMNS[kind]}) for at in range(3)}
    with counted(files) as (urls, found):
        run(urls, tmp_path)
    assert found == {"/0.orc": first, "/1.orc": others, "/2.orc": others}


@pytest.mark.parametrize("run", [convert_to_file, rewrite])
def test_columns_of_other_files_need_no_further_scan(run, tmp_path):
    files = {f"/{at}.orc": stored({"column": COLUMNS["numbers"], f"column{at}": ["text"] * 100}) for at in range(3)}
    with counted(files) as (urls, found):
        run(urls, tmp_path)
    assert max(found.values()) <= 3


@pytest.mark.parametrize(("unit", "count"), [("us", 1), ("ns", 1), ("s", 2)])
def test_data_opens_a_file_once(unit, count):
    """Values of types that do not hold them are read as those of another schema."""
    column = pa.array([1] * 10, pa.timestamp(unit))
    with counted({"/0.orc": stored({"column": column})}) as (urls, found):
        assert main(["data", *urls]) == 0
    assert found == {"/0.orc": count}


@pytest.mark.parametrize("unit", ["s", "us"])
def test_data_of_a_file_that_fsspec_opens(unit, capsys):
    data = stored({"column": pa.array([1], pa.timestamp(unit))})
    fsspec.filesystem("memory").pipe(f"/{unit}.orc", data)
    assert main(["data", f"memory://{unit}.orc", "--json"]) == 0
    assert "1970-01-01T00:00:0" in capsys.readouterr().out


@pytest.mark.parametrize(("most", "counts"), [(100, [1]), (100, [1, 1, 1]), (1, [1, 2, 2])])
@pytest.mark.parametrize("ending", ["parquet", "arrow", "arrows"])
def test_files_of_other_formats_are_opened_once_unless_they_are_many(ending, most, counts, tmp_path, monkeypatch):
    pytest.importorskip("aiohttp")
    monkeypatch.setattr(reading, "MAX_OPEN", most)
    orcish.write_table(pa.table(COLUMNS), tmp_path / "rows.orc")
    assert main(["convert", str(tmp_path / "rows.orc"), str(tmp_path / f"rows.{ending}")]) == 0
    files = dict.fromkeys([f"/{at}.{ending}" for at in range(len(counts))], (tmp_path / f"rows.{ending}").read_bytes())
    found = collections.Counter()
    with serve(files) as server:
        # The size of a file is asked for where it is opened.
        server.rules.append(lambda handler, _: found.update([handler.path] if handler.command == "HEAD" else []))
        assert main(["convert", *[server.url + name for name in files], str(tmp_path / "all.orc")]) == 0
    assert found == dict(zip(files, counts, strict=True))
    assert orcish.scan(tmp_path / "all.orc").count() == 100 * len(files)


def test_a_table_is_scanned_twice_where_it_is_replaced(store):
    table = f"s3://{BUCKET}/table"
    for _ in range(2):
        orcish.write_dataset(pa.table(COLUMNS), table, existing_data="append", storage_options=store.options)
    options = [f"--storage-option={name}={value}" for name, value in store.options.items()]
    files = orcish.scan(table, storage_options=store.options).files
    store.between.log.clear()
    assert main(["rewrite", table, "--in-place", "--json", *options]) == 0
    asked = collections.Counter(path for method, path, _ in store.between.log if method == "GET")
    # For the columns, for the units of timestamps, for the options of the first one, for the count, and for the rows.
    assert all(asked[f"/{file.removeprefix('s3://')}"] in range(1, 7) for file in files)
