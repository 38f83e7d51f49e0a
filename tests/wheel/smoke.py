"""What an installed wheel has to do, without the tests' packages: `make wheel` and the release run it."""

from __future__ import annotations

import datetime
import io
import json
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

import orcish
import pyarrow as pa
import pyarrow.compute as pc

CODECS = ["zstd", "zlib", "snappy", "lz4", "brotli", "none"]


def rows(count: int) -> pa.Table:
    day = datetime.date(2026, 1, 1)
    return pa.table(
        {
            "id": pa.array(range(count), pa.int64()),
            "name": [None if at % 7 == 0 else f"name {at % 10}" for at in range(count)],
            "amount": pa.array([Decimal(at) / 4 for at in range(count)], pa.decimal128(12, 2)),
            "at": pa.array([at * 1_000_001 for at in range(count)], pa.timestamp("us", "UTC")),
            "items": [[at, None] if at % 3 else None for at in range(count)],
            "day": [day + datetime.timedelta(days=at % 3) for at in range(count)],
        }
    )


def main() -> None:
    table = rows(20_000)
    for codec in CODECS:
        file = io.BytesIO()
        orcish.write_table(table, file, compression=codec)
        assert orcish.read_table(file.getvalue()) == table, codec
    # Time zones are built in.
    zone = orcish.read_table(file.getvalue(), columns=["at"], timezone="Europe/Zurich")
    assert zone.num_rows == table.num_rows
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "orders"
        orcish.write_dataset(table, target, partition_by=["day"], bloom_filter_columns=["id"])
        orcish.write_dataset(table.slice(0, 5), target, partition_by=["day"], existing_data="append")
        orcish.delete(target, "id = 7")
        orcish.compact(target)
        scan = orcish.scan(target)
        assert scan.count() == 20_004
        assert scan.where("id = 3 and amount < 1").to_table()["name"].to_pylist() == ["name 3", "name 3"]
        dataset = orcish.dataset(target)
        assert dataset.to_table(["name"], pc.field("id") == 3).num_rows == 2
        # pyarrow evaluates this filter, which is true for no row.
        assert dataset.count_rows(pc.bit_wise_and(pc.field("id"), 1) == 2) == 0
        assert sorted(each.operation for each in orcish.history(target)) == ["append", "append", "compact", "delete"]
        shell = subprocess.run(
            [sys.executable, "-m", "orcish", "data", str(target), "--where", "id = 3", "--json"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert [json.loads(line)["name"] for line in shell.stdout.splitlines()] == ["name 3", "name 3"]
    print(f"orcish {orcish.__version__} works beside pyarrow {pa.__version__} on Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
