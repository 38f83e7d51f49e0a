"""Encrypted columns in Spark: workers get keys from a provider."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import orcish
import pyarrow as pa
import pytest

KEY = bytes(range(16))
ROWS = pa.table({"id": range(3000), "s": [f"secret {at}" for at in range(3000)]})


@pytest.fixture
def table(tmp_path: pathlib.Path) -> pathlib.Path:
    keys = {("pii", 0): KEY}
    for at in range(2):
        rows = ROWS.slice(1500 * at, 1500)
        orcish.write_dataset(rows, tmp_path / "t", existing_data="append", encrypt={"pii": ["s"]}, keys=keys)
    (tmp_path / "keys.json").write_text(json.dumps({"pii@0": KEY.hex()}))
    return tmp_path / "t"


def test_workers_get_keys_from_a_provider(spark: Any, table: pathlib.Path) -> None:
    provider = f"file:{table.parent / 'keys.json'}"
    frame = spark.read.format("orcish").option("keyProvider", provider).load(str(table))
    assert sorted(row.s for row in frame.where("s >= 'secret 2990'").collect()) == [
        text for text in sorted(ROWS["s"].to_pylist()) if text >= "secret 2990"
    ]
    assert KEY.hex() not in frame._jdf.queryExecution().toString()


def test_masks_are_read_on_request(spark: Any, table: pathlib.Path) -> None:
    frame = spark.read.format("orcish").option("masked", "allow").load(str(table))
    assert frame.where("s is null").count() == 3000
    with pytest.raises(Exception, match="encrypted with key pii@0, which is missing"):
        spark.read.format("orcish").load(str(table)).collect()
