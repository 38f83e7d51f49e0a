"""What reports of layouts say, against the files."""

from __future__ import annotations

import collections
import contextlib
import datetime
import decimal
import html.parser
import json
import pathlib
import random
import re
from fractions import Fraction
from typing import Any

import fsspec
import orcish
import pyarrow as pa
import pytest
from orcish.terminal import printable
from orcish_cli import main
from orcish_cli.layout_page import columns, describe, description, page, ranges
from orcish_cli.layout_page.ranges import Part, described_ranges
from orcish_cli.layout_page.values import numbers_of, positions, runs
from orcish_cli.moments import Moment
from support.case_loops import each_case
from support.sample_files import write_sample
from support.small_tables import in_stripes

DATA = pathlib.Path(__file__).parents[2] / "data"
FILES = sorted(path for folder in (DATA, DATA / "odd") for path in folder.glob("*.orc"))
INDEXES = {"ROW_INDEX", "BLOOM_FILTER", "BLOOM_FILTER_UTF8"}


def readable(path: pathlib.Path) -> orcish.ORCFile | None:
    try:
        file = orcish.ORCFile(path)
        file.column_storage()
    except orcish.OrcishError:
        return None
    return file


@each_case("path", FILES, ids=lambda path: path.name)
def test_bytes_are_those_of_the_file(path: pathlib.Path) -> None:
    file = readable(path)
    if file is None:
        with pytest.raises(orcish.OrcishError):
            describe(path)
        return
    described = describe(path)
    (found,) = described["shown"]
    assert (
        (found["bytes"], found["rows"])
        == (path.stat().st_size, file.num_rows)
        == (described["bytes"], described["rows"])
    )
    parts = [stripe[part] for stripe in found["stripes"] for part in ("index", "data", "footer")]
    assert sum(parts) + found["tail"] == path.stat().st_size
    for stripe, info in zip(found["stripes"], file.stripes, strict=True):
        assert (stripe["rows"], stripe["first_row"], stripe["offset"]) == (info.num_rows, info.first_row, info.offset)
        assert (stripe["index"], stripe["data"]) == (info.index_length, info.data_length)
    for at, (stored, column) in enumerate(zip(file.column_storage(), described["columns"], strict=True)):
        assert (column["bytes"], column["data"], column["index"]) == (
            stored.total_bytes,
            stored.data_bytes,
            stored.index_bytes,
        )
        streams: collections.Counter[str] = collections.Counter()
        for stripe in found["stripes"]:
            streams.update(dict(stripe["columns"]).get(at, {}))
        assert streams == collections.Counter({kind: size for kind, size in stored.streams.items() if size})
        statistics = file.statistics(at)
        assert column["values"] == (statistics.values if statistics else None)
    json.dumps(described, allow_nan=False)


def rows(count: int = 20_000) -> pa.Table:
    shuffled = random.Random(1).sample(range(count), count)
    start = datetime.date(2026, 1, 1)
    return pa.table(
        {
            "id": range(count),
            "down": range(count, 0, -1),
            "random": shuffled,
            "text": [f"n{number % 7}" if number % 4 else None for number in range(count)],
            "day": [start + datetime.timedelta(days=number // 1000) for number in range(count)],
            "nest": [{"a": number % 3, "b": [number % 2, number % 5]} for number in range(count)],
            "flat": [5] * count,
        }
    )


@pytest.fixture
def path(tmp_path: pathlib.Path) -> pathlib.Path:
    """A file of ten stripes."""
    return in_stripes(tmp_path / "a.orc", rows(), 2000, bloom_filter_columns=["id"], row_index_stride=1000)


def of(described: dict[str, Any], name: str) -> dict[str, Any]:
    return next(column for column in described["columns"] if column["path"] == name)


def range_of(described: dict[str, Any], name: str) -> dict[str, Any]:
    at = next(at for at, column in enumerate(described["columns"]) if column["path"] == name)
    return next(found for found in described["ranges"] if found["column"] == at)


def test_order_of_values(path: pathlib.Path) -> None:
    described = describe(path)
    orders = {described["columns"][found["column"]]["path"]: found["order"] for found in described["ranges"]}
    assert orders == {
        "id": "ascending",
        "down": "descending",
        "random": "unordered",
        "text": "unordered",
        "day": "ascending",
        "nest.a": "unordered",
        "nest.b.element": "unordered",
        "flat": "constant",
    }
    found = range_of(described, "id")
    assert (found["low"], found["high"], found["depth"], found["parts"]) == ("0", "19999", 1, 20)
    label = "stripe 3, row group 1"
    near = pytest.approx
    assert found["bars"][7] == [label, near(0.35, abs=0.001), near(0.4, abs=0.001), "7000", "7999"]
    assert range_of(described, "random")["depth"] > 19
    text = of(described, "text")
    assert (text["min"], text["max"], text["nulls"], text["values"]) == ("n0", "n6", 5000, 15_000)
    assert of(described, "id")["distinct"] is None


def test_bloom_filters(path: pathlib.Path) -> None:
    described = describe(path)
    (found,) = described["blooms"]
    filters = [group.bloom_filter for group in orcish.ORCFile(path).row_groups("id")]
    bits, kept = (sum(getattr(each, name) for each in filters) for name in ("bits", "bits_set"))
    assert described["columns"][found["column"]]["path"] == "id"
    assert (found["filters"], found["row_groups"], found["bits"]) == (20, 20, bits)
    assert found["fill"] == pytest.approx(kept / bits)
    assert found["least"] <= found["fill"] <= found["most"]
    assert 0 < found["false_positives"] < 0.02
    streams = orcish.ORCFile(path).column_storage()[1].streams
    assert found["bytes"] == streams["BLOOM_FILTER_UTF8"]


def test_stripes_where_there_are_many_row_groups(path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "MAX_INDEXES", 5)
    described = describe(path)
    found = range_of(described, "id")
    assert (found["level"], found["parts"], found["bars"][3][0]) == ("stripe", 10, "stripe 3")
    (bloom,) = described["blooms"]
    assert (bloom["fill"], bloom["filters"]) == (None, None)
    page(described)


def test_stripes_where_there_is_no_row_index(tmp_path: pathlib.Path) -> None:
    orcish.write_table(rows(), tmp_path / "a.orc", row_index_stride=0)
    found = range_of(describe(tmp_path / "a.orc"), "id")
    assert (found["level"], found["parts"]) == ("stripe", 1)


def test_row_indexes_that_cannot_be_read(path: pathlib.Path) -> None:
    """Other parts of the report are there, and the error is in it."""
    data = bytearray(path.read_bytes())
    stripe = orcish.ORCFile(path).stripes[1]
    data[stripe.offset : stripe.offset + stripe.index_length] = b"\xff" * stripe.index_length
    described = describe(bytes(data))
    assert described["faults"]
    assert range_of(described, "id")["level"] == "stripe"


def test_distinct_values(path: pathlib.Path) -> None:
    described = describe(path, distinct=True)
    found = {column["path"]: column["distinct"] for column in described["columns"]}
    for name, count in {"id": 20_000, "text": 7, "day": 20, "nest.a": 3, "nest.b.element": 5, "flat": 1}.items():
        assert found[name] == pytest.approx(count, rel=0.03), name
    assert (found["nest"], found["(root)"]) == (None, None)


def test_ratio(tmp_path: pathlib.Path) -> None:
    table = pa.table({"a": range(10_000)})
    orcish.write_table(table, tmp_path / "a.orc", compression="none")
    described = describe(tmp_path / "a.orc")
    assert of(described, "a")["ratio"] == pytest.approx(80_000 / of(described, "a")["data"])


def test_files_of_a_table(path: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = rows()
    table = tmp_path / "t"
    orcish.write_dataset(
        data.append_column("k", [[number % 3 for number in range(len(data))]]), table, partition_by="k"
    )
    described = describe(table)
    assert (described["files"], described["rows"], len(described["shown"])) == (3, 20_000, 3)
    assert [file["label"].split("/")[0] for file in described["shown"]] == ["k=0", "k=1", "k=2"]
    assert of(described, "id")["files"] == 3
    assert range_of(described, "id")["bars"][0][0] == "file 0, stripe 0, row group 0"
    # Only the largest files are drawn, and the others are counted.
    monkeypatch.setattr(description, "MAX_FILES", 1)
    described = describe([path, table])
    assert [file["name"] for file in described["shown"]] == [str(path)]
    assert described["hidden_files"]["files"] == 3
    assert described["hidden_files"]["rows"] == 20_000
    assert described["bytes"] == described["hidden_files"]["bytes"] + path.stat().st_size


def test_files_that_fail(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "b.orc").write_bytes(b"ORC and nothing else, but some bytes")
    described = describe(f"{tmp_path}/*.orc", distinct=True)
    assert [each["name"] for each in described["failed"]] == [str(tmp_path / "b.orc")]
    assert (described["rows"], len(described["shown"])) == (20_000, 1)
    with pytest.raises(orcish.CorruptFileError):
        describe(tmp_path / "b.orc")
    with pytest.raises(FileNotFoundError):
        describe(tmp_path / "none.orc")


@each_case("path", sorted((DATA / "corrupt").glob("*.orc")), ids=lambda path: path.name)
def test_damaged_files_are_errors_of_orcish(path: pathlib.Path) -> None:
    with contextlib.suppress(orcish.OrcishError):
        page(describe(path))


def test_columns_and_stripes_are_bounded(path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "MAX_COLUMNS", 3)
    monkeypatch.setattr(description, "MAX_TILES", 3 * len(orcish.ORCFile(path).column_paths))
    described = describe(path)
    assert len(described["columns"]) == 3
    assert described["hidden_columns"] == len(orcish.ORCFile(path).column_paths) - 3
    (file,) = described["shown"]
    assert [stripe["count"] for stripe in file["stripes"]] == [3, 3, 4]
    for stripe in file["stripes"]:
        drawn = sum(size for _, kinds in stripe["columns"] for size in kinds.values())
        assert drawn + sum(stripe["others"].values()) == stripe["index"] + stripe["data"]


def test_columns_of_one_name(tmp_path: pathlib.Path) -> None:
    """Names may have dots, be empty, and be repeated."""
    data = [pa.array([{"b": 1, "": 2, "c": {"d": 1}}]), *(pa.array([number]) for number in range(5))]
    names = ["a", "a.b", "", "e", "e", "a.c.d"]
    orcish.write_table(pa.Table.from_arrays(data, names), tmp_path / "a.orc")
    described = describe([tmp_path / "a.orc", tmp_path / "a.orc"], distinct=True)
    paths = [column["path"] for column in described["columns"]]
    assert paths == ["(root)", "a", "a.b", "a.", "a.c", "a.c.d", "a.b", "(no name)", "e", "e", "a.c.d"]
    assert {column["files"] for column in described["columns"]} == {2}
    assert [column["parent"] for column in described["columns"]] == [None, 0, 1, 1, 1, 4, 0, 0, 0, 0, 0]


def test_wide_files_have_pages_of_bounded_size(tmp_path: pathlib.Path) -> None:
    table = pa.table({f"column {number}": [number] for number in range(3000)})
    for name in "abc":
        orcish.write_table(table, tmp_path / f"{name}.orc")
    text = page(describe(f"{tmp_path}/*.orc"))
    assert len(text) < 1_000_000


def test_file_systems(path: pathlib.Path) -> None:
    """Files of other file systems have the names of their paths."""
    memory = fsspec.filesystem("memory")
    for name in ("layout/a.orc", "layout/b.orc"):
        memory.pipe(name, path.read_bytes())
    described = describe("memory://layout/*.orc")
    assert [file["label"] for file in described["shown"]] == ["a.orc", "b.orc"]
    assert described["rows"] == 40_000
    for source, options in (("layout", {"filesystem": memory}), ("memory://layout/*.orc", {})):
        advice = orcish.advise(source, runs=1, sample_size="10KB", **options)
        assert advice.stripes[0][0].endswith(".orc")


def test_carbon_is_refused(tmp_path: pathlib.Path) -> None:
    write_sample(tmp_path)
    for source in (tmp_path / "sales", [tmp_path / "sales"]):
        with pytest.raises(orcish.UnsupportedError, match=r"orcish\.convert writes its tables as ORC"):
            describe(source)


@pytest.mark.parametrize(
    ("parts", "order", "depth"),
    [
        ([(1, 2), (2, 3), (4, 5)], "ascending", 1),
        ([("b", "c"), ("a", "a")], "descending", 1),
        ([(decimal.Decimal(1), decimal.Decimal(9))] * 4, "unordered", 4),
        ([(Moment("timestamp", 0), Moment("timestamp", 10**15))], "single", 1),
        ([(b"\x00", b"\xff"), (b"", b"\x01")], None, None),
        ([(-(2**63), 2**63 - 1), (0, 1)], None, None),
        ([("", ""), ("", "")], "constant", 2),
    ],
)
def test_ranges(parts: list[tuple[Any, Any]], order: str | None, depth: float | None) -> None:
    found = described_ranges([Part(str(at), *each) for at, each in enumerate(parts)], "stripe")
    assert found is not None
    assert all(0 <= start <= end <= 1 for _, start, end, *_ in found["bars"])
    if order is not None:
        assert (found["order"], found["depth"]) == (order, depth)


def test_values_without_order_have_no_ranges() -> None:
    nan = float("nan")
    for bounds_of in ((nan, nan), (float("-inf"), 1.0), ("a", 1), (None, None)):
        assert described_ranges([Part("0", *bounds_of)], "stripe") is None
    assert described_ranges([], "stripe") is None


def test_many_parts_are_drawn_together() -> None:
    found = described_ranges([Part(f"stripe {at}", at, at + 1) for at in range(1001)], "stripe")
    assert found is not None
    assert len(found["bars"]) == ranges.MAX_PARTS
    assert (found["together"], found["parts"], found["bars"][0][0]) == (3, 1001, "stripe 0 to stripe 1")


def test_runs() -> None:
    assert [*map(len, runs(10, 3))] == [3, 3, 4]
    assert [*map(len, runs(2, 5))] == [1, 1]
    assert runs(0, 5) == []


def test_positions_of_texts() -> None:
    values = ["prefix a", "prefix b", "prefix c"]
    found = numbers_of(values)
    assert found is not None
    assert positions(found) == [0, 0.5, 1]
    assert positions([Fraction(3), Fraction(3)]) == [0, 0]


HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]>",
    "'\"&amp;&lt;",
    "\u2028\u2029",
    "\u202egro.evil",
    "\x00\x1b[31m",
    "@@script@@",
    "${x}`",
    "\\u003c/script\\u003e",
    "é中😀",
    "__proto__",
    "constructor",
]


class Scripts(html.parser.HTMLParser):
    """Elements of a page, and the texts of its scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        assert not {"src", "onload", "onerror"} & {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        if self.tags[-1:] == ["script"]:
            self.texts.append(data)


def test_hostile_names(tmp_path: pathlib.Path) -> None:
    names = [name.partition("\0")[0] for name in HOSTILE]
    table = pa.table(
        {name: [f"{text}{number}" for number in range(2)] for name, text in zip(names, HOSTILE, strict=True)}
    )
    folder = tmp_path / "<img src=x onerror=alert(1)>"
    folder.mkdir()
    file = folder / "&lt;<b>'\"\u202e.orc"
    orcish.write_table(table, file)
    assert main(["layout", str(file), "-o", str(tmp_path / "report.html")]) == 0
    text = (tmp_path / "report.html").read_bytes().decode("ascii")
    plain = Scripts()
    plain.feed(page(describe(DATA / "java.v2.orc")))
    found = Scripts()
    found.feed(text)
    assert found.tags == plain.tags
    assert re.findall(r"https?://", text) == []
    stored = json.loads(found.texts[0])
    assert stored == json.loads(json.dumps(describe(file)))
    assert [column["path"] for column in stored["columns"][1:]] == [printable(name) or "(no name)" for name in names]
    assert all(column["path"].isprintable() for column in stored["columns"])


def test_data_of_pages_are_no_markup() -> None:
    described = {"title": "", "names": HOSTILE}
    found = Scripts()
    found.feed(page(described))
    assert found.texts[0].isascii()
    assert not set("<>&") & set(found.texts[0])
    assert json.loads(found.texts[0]) == described


def test_resources_are_ascii() -> None:
    """The page is ASCII, and the policy has digests of these texts as they are."""
    folder = pathlib.Path(description.__file__).parent / "template"
    files = {path.name: path.read_text(encoding="ascii") for path in folder.iterdir()}
    assert {"page.html", "page.css", "page.js"} < files.keys()
    for name, text in files.items():
        assert "</script" not in text or name == "page.html"
        assert "\r" not in text
        assert len(text.splitlines()) < 400
