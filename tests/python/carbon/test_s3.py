"""Tables of CarbonData in a store, and what it takes to find out that something is none."""

import os
import pickle

import orcish
import pyarrow as pa
import pytest
from orcish import col
from support.carbon import CarbonTableWriter, write_folder
from support.s3_store import BUCKET

TABLE = pa.table({"id": pa.array(range(300), pa.int64()), "text": [f"text {i}" for i in range(300)]})


def upload(store, folder, key):
    """Puts a folder into the store, and forgets the requests."""
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            store.client.upload_file(path, BUCKET, f"{key}/{os.path.relpath(path, folder)}")
    store.between.log.clear()


def asked(store):
    found = [(method, path.partition("?")[0]) for method, path, _ in store.between.log]
    store.between.log.clear()
    return found


@pytest.mark.parametrize("name", ["db/sales", "db/sales/", "sales.v2"])
def test_tables(store, tmp_path, name):
    written = CarbonTableWriter(tmp_path / "t", TABLE.schema, page_rows=50, blocklet_rows=100)
    written.load(TABLE)
    upload(store, written.path, name.rstrip("/"))
    url = f"s3://{BUCKET}/{name}"
    assert orcish.read_table(url, storage_options=store.options).equals(TABLE)
    assert orcish.CarbonTable(url, storage_options=store.options).num_rows == 300
    scan = orcish.scan(url, storage_options=store.options, filters=col("id") >= 250)
    assert scan.count() == 50
    (split,) = scan.splits()
    asked(store)
    assert pickle.loads(pickle.dumps(split)).scan().to_table()["id"].to_pylist() == list(range(250, 300))
    assert not [path for _, path in asked(store) if "Metadata" in path]
    orcish.convert(url, f"s3://{BUCKET}/orc", storage_options=store.options, filters=col("id") < 5)
    assert orcish.read_table(f"s3://{BUCKET}/orc", storage_options=store.options).num_rows == 5
    for target in (url, f"s3a://{BUCKET}/{name.rstrip('/')}/orc"):
        with pytest.raises(ValueError, match="target"):
            orcish.convert(url, target, storage_options=store.options)


def test_folders_and_files_without_metadata(store, tmp_path):
    (file,) = write_folder(tmp_path / "t", TABLE)
    upload(store, tmp_path / "t", "loose")
    for url in (f"s3://{BUCKET}/loose", f"s3://{BUCKET}/loose/{file.name}"):
        assert orcish.read_table(url, storage_options=store.options).equals(TABLE)
        assert orcish.scan(url, storage_options=store.options).count() == 300


def test_what_orc_files_take(store, tmp_path):
    """Finding out that a path is no CarbonData table takes one request for a folder, and none for a file."""
    (tmp_path / "t").mkdir()
    orcish.write_table(TABLE, tmp_path / "t" / "00000.orc")
    upload(store, tmp_path / "t", "orc")
    folder = f"s3://{BUCKET}/orc"
    for source, more in [
        (f"{folder}/00000.orc", 0),
        (f"{folder}/*.orc", 0),
        ([f"{folder}/00000.orc"], 0),
        (folder, 1),
        (f"{folder}/", 1),
    ]:
        assert orcish.scan(source, storage_options=store.options).schema == TABLE.schema
        assert [path for _, path in asked(store)].count(f"/{BUCKET}/orc/Metadata/schema") == more
    assert orcish.read_table(f"{folder}/00000.orc", storage_options=store.options).equals(TABLE)
    assert all(path.endswith(".orc") for _, path in asked(store))
