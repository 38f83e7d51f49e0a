"""The files and tables that pages and docstrings speak of."""

import datetime
import shutil
from decimal import Decimal
from pathlib import Path

import orcish
import pyarrow as pa
import pyarrow.parquet
import pyorc

from support.carbon import CarbonTableWriter

__all__ = ["write_sample"]


def write_sample(folder: Path) -> None:
    """Writes ``orders.orc``, ``people.orc`` with encrypted columns, ``orders``, ``parquet`` and, of CarbonData, ``sales``."""
    shutil.copyfile(Path(__file__).parents[2] / "data" / "masked.zstd.orc", folder / "people.orc")
    schema = "struct<id:bigint,placed:timestamp,customer:struct<name:string>,total:decimal(12,2)>"
    placed = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)
    with (folder / "orders.orc").open("wb") as file, pyorc.Writer(file, schema) as writer:
        for number in range(100):
            writer.write((number, placed, (f"customer {number % 7}",), Decimal(number)))
    orders = orcish.read_table(folder / "orders.orc")
    days = pa.array([datetime.date(2026, 11, 20 + number % 2) for number in range(100)])
    by_day = orders.append_column("day", days)
    orcish.write_dataset(by_day, folder / "orders", partition_by=["day"])
    (folder / "parquet").mkdir()
    pyarrow.parquet.write_table(by_day, folder / "parquet" / "part-0.parquet")
    cities = ["Bern", "Chur", "Genf"]
    sales = pa.table(
        {"id": range(100), "city": [cities[i % 3] for i in range(100)], "total": [i / 4 for i in range(100)]}
    )
    CarbonTableWriter(folder / "sales", sales.schema, partition_by=("city",)).load(sales)
