"""What others may leave in the folder of a table: names, numbers, files that are none, and entries of great size."""

from __future__ import annotations

import functools
import json
import os
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish.errors import CommitError, CorruptFileError, LimitExceededError
from orcish.tables.commit import Job
from support.case_loops import each_case
from support.random_cases import seeded
from support.small_tables import put
from support.staged_commits import LOG, decide, entry, sealed, staged, staged_path

LAST = 999_999_999_999
"""The largest number of an entry."""


def ids_of(source: object, **options: Any) -> list[int]:
    return sorted(orcish.read_table(str(source), columns=["id"], **options)["id"].to_pylist())


def rows(at: int) -> pa.Table:
    return pa.table({"id": [at]})


def table_with_log(folder: Path, count: int = 2) -> Path:
    for at in range(count):
        orcish.write_dataset(rows(at), folder, existing_data="append")
    return folder


def forged(table: Path, number: int = 0, **more: Any) -> Path:
    """An entry that no job of orcish has made."""
    path = table / LOG / f"{number:012}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(sealed(entry(Job(str(table)), []) | more))
    return path


def test_vacuum_removes_what_killed_processes_leave(tmp_path: Path) -> None:
    table = tmp_path / "t"
    orcish.write_dataset(pa.table({"id": [1, 2], "k": [0, 1]}), table, partition_by=["k"])
    jobs = table / "_orcish" / "jobs"
    left = [
        table / LOG / ".000000000001.json.77-1880c5f-0.tmp",
        table / LOG / ".000000000000.done.77-1880c5f-1.tmp",
        table / "_orcish" / ".clock.77-1880c5f-0.tmp",
        table / f".{uuid.uuid4()}.probe",
        table / "k=0" / f".{uuid.uuid4()}.probe",
    ]
    kept = [table / "k=0" / ".mine.tmp", table / "k=1" / ".mine.probe", table / LOG / "notes"]
    for path in left:
        path.write_bytes(b"")
    for path in kept:
        path.write_bytes(b"mine")
    empty, begun = jobs / str(uuid.uuid4()), jobs / str(uuid.uuid4())
    for path in (empty / "attempt" / "inner", begun / "attempt"):
        path.mkdir(parents=True)
    assert orcish.vacuum(table) == 0
    assert all(path.exists() for path in (*left, *kept, empty, begun))
    for path in (*left, *kept, empty, empty / "attempt", empty / "attempt" / "inner", begun):
        os.utime(path, (time.time() - 8 * 86_400,) * 2)
    assert orcish.vacuum(table) == len(left)
    assert all(path.exists() for path in kept)
    assert not any(path.exists() for path in left)
    assert list(jobs.iterdir()) == [begun], "a task has made its folder lately"
    assert orcish.vacuum(table, older_than=timedelta(0)) == 0
    assert list(jobs.iterdir()) == []
    assert ids_of(table) == [1, 2]


OTHER_NAMES = [b"_orcish/log/\xff.json", b"_orcish/log/00000000000\xff.json", b"_orcish/jobs/\xff/x", b"_orcish/\xff"]
HIDDEN_NAMES = [b".\xff", b"_\xff/x.orc", b"k=1/.\xff.crc", b"_hidden/\xff.orc"]
CALLS: dict[str, Callable[[Path], object]] = {
    "read": ids_of,
    "scan": lambda table: orcish.scan(str(table)).count(),
    "append": lambda table: orcish.write_dataset(rows(9), table, existing_data="append"),
    "overwrite": lambda table: orcish.write_dataset(rows(9), table, existing_data="overwrite"),
    "compact": orcish.compact,
    "delete": lambda table: orcish.delete(table, "id = 0"),
}


def put_bytes(table: Path, name: bytes) -> None:
    path = os.path.join(os.fsencode(table), name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(b"x")


@each_case("call", [*CALLS, "vacuum", "recover"])
def test_names_that_are_not_utf8(tmp_path: Path, call: str) -> None:
    """They are passed over where all files are, and are errors that name them where rows may be."""
    calls = CALLS | {"vacuum": lambda table: orcish.vacuum(table, older_than=timedelta(0)), "recover": orcish.recover}
    table = table_with_log(tmp_path / "t")
    for name in OTHER_NAMES + HIDDEN_NAMES:
        put_bytes(table, name)
    calls[call](table)
    want = {"append": [0, 1, 9], "overwrite": [9], "delete": [1]}.get(call, [0, 1])
    assert ids_of(table) == want
    if call in CALLS:
        put_bytes(table, b"k=1/part-\xff.orc")
        with pytest.raises(OSError, match=r"k=1/part-\\xFF\.orc\\?\" is not UTF-8"):
            calls[call](table)
        os.unlink(os.path.join(os.fsencode(table), b"k=1/part-\xff.orc"))
        assert ids_of(table) == want


@each_case(
    "name", [2**64 - 1, 2**64, 2**63, 10**20, 10**40, LAST + 1, "0" * 13, "+00000000001", "٠" * 12, "00000000001 "]
)
def test_numbers_that_are_none(tmp_path: Path, name: object) -> None:
    """A number has twelve digits. Other names are of nothing."""
    table = table_with_log(tmp_path / "t")
    for ending in ("json", "done", "undone"):
        (table / LOG / f"{name}.{ending}").write_text("{")
    assert ids_of(table) == [0, 1]
    orcish.write_dataset(rows(2), table, existing_data="append")
    assert ids_of(table) == [0, 1, 2]
    assert orcish.recover(table) == "nothing"


@each_case("is_done", [False, True])
@each_case("number", [5, LAST - 1, LAST])
def test_gaps_between_numbers(tmp_path: Path, number: int, is_done: bool) -> None:
    """A log goes on after its largest number, until none is left."""
    table = table_with_log(tmp_path / "t")
    path = forged(table, number)
    if is_done:
        path.with_suffix(".done").write_text("")
    (table / LOG / "000000000003.json").write_text("{")
    for at, count in ((2, LAST - number), (3, LAST - number - 1)):
        assert len(ids_of(table)) == at
        if count > 0:
            orcish.write_dataset(rows(at), table, existing_data="append")
            continue
        for call in ("append", "overwrite", "compact", "delete"):
            with pytest.raises(CorruptFileError, match="the log has no number left"):
                CALLS[call](table)
        break
    assert orcish.recover(table) in ("nothing", "finished")


@each_case("number", [0, 1, LAST])
@each_case("ending", ["done", "undone"])
@each_case("count", [0, 1])
def test_markers_above_the_last_entry(tmp_path: Path, count: int, ending: str, number: int) -> None:
    """A writer would take such a marker for that of its own entry, and would not publish its files."""
    table = table_with_log(put(tmp_path / "t", {"a.orc": rows(9)}), count)
    marker = table / LOG / f"{max(number, count):012}.{ending}"
    marker.parent.mkdir(parents=True, exist_ok=True)
    marker.write_text("")
    before = ids_of(table)
    for call in ("append", "overwrite", "delete"):
        with pytest.raises(CorruptFileError, match=f"{marker.name}: .*no commit.*remove the file"):
            CALLS[call](table)
    with pytest.raises(CorruptFileError, match=f"{marker.name}: "):
        orcish.recover(table)
    assert ids_of(table) == before
    marker.unlink()
    orcish.write_dataset(rows(10), table, existing_data="append")
    assert ids_of(table) == [*before, 10]


def test_a_damaged_entry_that_is_finished_is_not_needed(tmp_path: Path) -> None:
    """The marker has what readers and the next commit need, and the entry the same where the marker is damaged."""
    table = table_with_log(tmp_path / "t", 3)
    last = table / LOG / f"{2:012}.json"
    text, marker = last.read_bytes(), last.with_suffix(".done")
    last.write_bytes(text[:-20])
    CALLS["append"](table)
    assert ids_of(table) == [0, 1, 2, 9]
    for at, damaged in enumerate((b"", b"{}", text[: len(text) // 2])):
        marker = max((table / LOG).glob("*.done"))
        marker.write_bytes(damaged)
        orcish.write_dataset(rows(10 + at), table, existing_data="append")
    assert ids_of(table) == [0, 1, 2, 9, 10, 11, 12]
    last = max((table / LOG).glob("*.json"))
    for path in (last, last.with_suffix(".done")):
        path.write_bytes(b"")
    for call in CALLS.values():
        with pytest.raises(CorruptFileError, match=f"{last.name}: this is no entry"):
            call(table)
    # As the docs say.
    last.unlink()
    last.with_suffix(".done").unlink()
    CALLS["append"](table)
    assert ids_of(table) == [0, 1, 2, 9, 9, 10, 11, 12]


def unfinished_overwrite(table: Path) -> tuple[Path, Path]:
    """A decided overwrite of a table with the row 1: its entry, and its staged file, which is not published."""
    put(table, {"old.orc": rows(1)})
    job = Job(str(table))
    added = staged(job, [2])
    return decide(job, [added], ["old.orc"]), staged_path(job, added)


def test_no_damaged_bit_changes_what_a_commit_does(tmp_path: Path) -> None:
    path, _ = unfinished_overwrite(tmp_path / "t")
    content = path.read_bytes()
    chance = seeded("damaged entries")
    for at in range(0, len(content), 3):
        damaged = bytearray(content)
        damaged[at] ^= 1 << chance.randrange(8)
        path.write_bytes(bytes(damaged))
        for call in (ids_of, orcish.recover, functools.partial(orcish.recover, undo=True)):
            with pytest.raises(CorruptFileError, match=f"{path.name}: this is no entry"):
                call(tmp_path / "t")
    path.write_bytes(content)
    assert orcish.recover(tmp_path / "t") == "finished"
    assert ids_of(tmp_path / "t") == [2]


@each_case("change", [-1, 1])
def test_staged_files_of_another_size_are_lost(tmp_path: Path, change: int) -> None:
    table = tmp_path / "t"
    _, path = unfinished_overwrite(table)
    content = path.read_bytes()
    path.write_bytes(content[:-1] if change < 0 else content + b"x")
    text = f"the staged file has {len(content) + change} bytes, and {len(content)} were written"
    with pytest.raises(CommitError, match=text):
        orcish.recover(table)
    with pytest.raises(CommitError, match=text):
        orcish.write_dataset(rows(3), table, existing_data="append")
    assert orcish.recover(table, undo=True) == "undone"
    assert ids_of(table) == [1]


@each_case("make", [os.symlink, os.link])
def test_a_link_in_place_of_a_probe_is_not_followed(tmp_path: Path, make: Callable[..., None]) -> None:
    table, victim = table_with_log(tmp_path / "t", 1), tmp_path / "victim"
    victim.write_text("precious")

    def batches() -> Iterator[pa.RecordBatch]:
        yield rows(2).to_batches()[0]
        (job,) = (table / "_orcish" / "jobs").iterdir()
        make(victim, table / f".{job.name}.probe")

    reader = pa.RecordBatchReader.from_batches(rows(2).schema, batches())
    with pytest.raises(FileExistsError, match="cannot be changed"):
        orcish.write_dataset(reader, table, existing_data="append")
    assert victim.read_text() == "precious"
    assert ids_of(table) == [0]


def test_a_file_of_the_last_number_is_not_brought_back(tmp_path: Path) -> None:
    table = table_with_log(tmp_path / "t")
    path = forged(table, LAST, added=[{"name": "gone.orc", "size": 1, "staged": {"file": "x"}}])
    path.with_suffix(".done").write_text("")
    assert ids_of(table) == [0, 1]


def make_file(path: Path) -> None:
    path.write_bytes(b"")


def make_dangling_link(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere")


@each_case("make", [make_file, os.mkfifo, make_dangling_link])
@each_case("name", ["_orcish", LOG])
@each_case("call", [*CALLS, "recover", "vacuum"])
def test_what_is_no_folder(tmp_path: Path, name: str, make: Callable[[Path], None], call: str) -> None:
    """Readers and writers say at once what is in the place of the log."""
    table = put(tmp_path / "t", {f"{at}.orc": rows(at) for at in range(2)})
    (table / name).parent.mkdir(parents=True, exist_ok=True)
    make(table / name)
    before = sorted(table.rglob("*"))
    calls = CALLS | {"recover": orcish.recover, "vacuum": orcish.vacuum}
    with pytest.raises(CorruptFileError, match=f"t/{name}: .*(no folder|a link)"):
        calls[call](table)
    with pytest.raises(CorruptFileError, match=f"t/{name}: .*(no folder|a link)"):
        ids_of(f"{table}/*.orc")
    assert sorted(table.rglob("*")) == before


@each_case("make", [os.mkfifo, os.mkdir])
@each_case("count", [0, 2])
def test_entries_that_are_no_files(tmp_path: Path, make: Callable[[Path], None], count: int) -> None:
    """They are of no commit, and the number is taken."""
    table = put(tmp_path / "t", {f"{at}.orc": rows(at) for at in range(2 - count)})
    table = table_with_log(table, count)
    (table / LOG).mkdir(parents=True, exist_ok=True)
    make(table / LOG / f"{count:012}.json")
    assert len(ids_of(table)) == 2
    for call in ("append", "overwrite"):
        with pytest.raises(OSError, match=rf"{count:012}\.json: .*(no regular file|(?i:is a directory)|is a folder)"):
            CALLS[call](table)
    assert len(ids_of(table)) == 2
    assert orcish.recover(table) == "nothing"


def test_a_marker_that_is_no_file(tmp_path: Path) -> None:
    table = table_with_log(tmp_path / "t")
    marker = table / LOG / f"{1:012}.done"
    marker.unlink()
    os.mkfifo(marker)
    assert ids_of(table) == [0, 1]
    for call in (orcish.recover, CALLS["append"]):
        with pytest.raises(CommitError, match=rf"commit 1 .*not finished.*{marker.name}: .*no regular file"):
            call(table)
    assert ids_of(table) == [0, 1]


def added(name: str, parts: list[str] | None = None) -> dict[str, Any]:
    place = {"file": "x"} if parts is None else {"upload": {"id": "", "parts": parts, "write_id": ""}}
    return {"name": name, "size": 1, "staged": place}


MANY = 2 << 20
HEAVY: dict[str, Callable[[], dict[str, Any]]] = {
    "removed": lambda: {"removed": ["a"] * MANY},
    "added": lambda: {"added": [added("a")] * (MANY // 3)},
    "parts": lambda: {"added": [added("a", [""] * MANY)]},
    "parts of many": lambda: {"added": [added("a", [""] * 2000)] * 1100},
    "streams": lambda: {"streams": {f"{at}": {"batch": 0, "entry": 0} for at in range(1001)}},
    "stream": lambda: {"streams": {"s" * 1025: {"batch": 0, "entry": 0}}},
    "batch": lambda: {"batch": {"stream": "s" * 1025, "batch": 0}},
    "added name": lambda: {"added": [added("n" * 4097)]},
    "removed name": lambda: {"removed": ["d=1/" * 2000 + "x"]},
    "staged name": lambda: {"added": [added("a") | {"staged": {"file": "n" * 4097}}]},
    "job": lambda: {"job": "j" * 1_000_000},
    "field": lambda: {"f" * 1_000_000: 1},
    "operation": lambda: {"operation": "o" * 1_000_000},
}


@each_case("case", HEAVY)
def test_heavy_entries(tmp_path: Path, case: str) -> None:
    """The bounds of an entry are checked before memory is used for it, and messages are short."""
    table = put(tmp_path / "t", {"0.orc": rows(0)})
    path = forged(table, **HEAVY[case]())
    for call in (ids_of, orcish.recover, CALLS["append"]):
        with pytest.raises((LimitExceededError, CorruptFileError), match=path.name) as error:
            call(table)
        assert len(str(error.value)) < 2000


def test_deep_entries(tmp_path: Path) -> None:
    table = put(tmp_path / "t", {"0.orc": rows(0)})
    path = forged(table)
    for text in ("[" * 1_000_000, '{"version": 1, "x": ' + "[" * 200 + "]" * 200 + "}"):
        path.write_text(text)
        with pytest.raises(LimitExceededError, match=r"000000000000\.json: .* values, at most 128 deep"):
            ids_of(table)


def test_commits_that_are_too_large(tmp_path: Path) -> None:
    """A job is told before its entry is written, and the table stays as it was."""
    table = table_with_log(tmp_path / "t")
    job = Job(str(table))
    with pytest.raises(ValueError, match="IDs of at most 1024 bytes"):
        job.commit([staged(job, [5])], stream=("s" * 1025, 0))
    assert ids_of(table) == [0, 1]
    assert len(list((table / LOG).glob("*.json"))) == 2


def test_many_files_that_are_not_visible(tmp_path: Path) -> None:
    """A reader lists them, and does not ask for each."""
    table = table_with_log(tmp_path / "t")
    forged(table, 2, added=[added(f"{at:x}") for at in range(300_000)])
    began = time.monotonic()
    assert ids_of(table, pending="before") == [0, 1]
    with pytest.raises(CommitError, match=r"commit 2 .* is not visible yet"):
        ids_of(table)
    assert time.monotonic() - began < 40


def test_undo_leaves_files_of_others(tmp_path: Path) -> None:
    """An entry that names a committed file of another size did not publish it."""
    table = table_with_log(tmp_path / "t")
    (victim, _) = sorted(path for path in table.iterdir() if path.is_file())
    forged(table, 2, added=[added(victim.name), added("ghost.orc")])
    assert ids_of(table, pending="before") == [0, 1]
    with pytest.raises(CommitError):
        orcish.recover(table)
    assert orcish.recover(table, undo=True) == "undone"
    assert victim.exists()
    assert ids_of(table) == [0, 1]


def test_tables_below_tables(tmp_path: Path) -> None:
    """Readers of a table would take the files of a table below it for its own."""
    table = table_with_log(tmp_path / "t")
    below = ["backup", "v[1]", "a/b/c", "k=1/x", "_orcish/x", "k=1/x/d=2"]
    before = sorted(table.rglob("*"))
    for name in below:
        for mode in ("error", "append", "overwrite"):
            with pytest.raises(ValueError, match=rf"is below the table {table}, whose readers"):
                orcish.write_dataset(rows(5), table / name, existing_data=mode)  # type: ignore[arg-type]
    assert sorted(table.rglob("*")) == before
    # A partition is one of the table, and a table beside it is another one.
    orcish.write_dataset(rows(5), tmp_path / "t2")
    orcish.write_dataset(rows(6), tmp_path / "t" / ".." / "t3")
    # Readers pass over hidden folders.
    for name in ("_backup", ".cache/deep"):
        orcish.write_dataset(rows(9), table / name)
        orcish.compact(table)
    assert ids_of(table) == [0, 1]
    (tmp_path / "link").symlink_to(table)
    with pytest.raises(ValueError, match="is below the table"):
        orcish.convert(tmp_path / "t2", tmp_path / "link" / "x")
    (tmp_path / "elsewhere").mkdir()
    # What is no log makes no table.
    (tmp_path / "elsewhere" / "_orcish").symlink_to(table / "_orcish")
    orcish.write_dataset(rows(7), tmp_path / "elsewhere" / "t")
    (tmp_path / "plain" / "_orcish" / "log").mkdir(parents=True)
    (tmp_path / "plain" / "_orcish" / "log" / "x.json").write_text("{}")
    orcish.write_dataset(rows(8), tmp_path / "plain" / "t")
    assert [ids_of(tmp_path / name) for name in ("t", "t2", "t3", "elsewhere/t", "plain/t")] == [
        [0, 1], [5], [6], [7], [8],
    ]  # fmt: skip


@each_case("mode", ["error", "append", "overwrite", "overwrite_partitions"])
@each_case("is_empty", [False, True])
def test_folders_above_tables(tmp_path: Path, mode: str, is_empty: bool) -> None:
    """A folder above tables becomes no table."""
    for name in ("a", "b/c"):
        table = table_with_log(tmp_path / "w" / name)
        if is_empty:
            orcish.delete(table, "true")
    data = pa.table({"id": [5], "k": [1]})
    with pytest.raises(
        (ValueError, FileExistsError), match=r"has another table below it, .*/w/(a|b/c)|has data already"
    ):
        orcish.write_dataset(data, tmp_path / "w", existing_data=mode, partition_by=["k"])  # type: ignore[arg-type]
    assert not (tmp_path / "w" / "_orcish" / "log").exists()
    assert ids_of(tmp_path / "w" / "a") == ([] if is_empty else [0, 1])
    orcish.write_dataset(rows(5), tmp_path / "w" / "a", existing_data="append")


def test_tables_that_are_below_others_already(tmp_path: Path) -> None:
    """A table that was there before the one above is read, and not changed."""
    inner = table_with_log(tmp_path / "t" / "inner")
    table_with_log(tmp_path / "other")
    (tmp_path / "other" / "_orcish").rename(tmp_path / "t" / "_orcish")
    assert ids_of(inner) == [0, 1]
    for call in ("append", "compact", "delete"):
        with pytest.raises(ValueError, match="is below the table"):
            CALLS[call](inner)
    assert ids_of(inner) == [0, 1]


def test_spark_writes_no_table_below_a_table(tmp_path: Path) -> None:
    pyspark = pytest.importorskip("pyspark.sql.types")
    from orcish.spark.options import WriterOptions
    from orcish.spark.writers import OrcishStreamWriter, OrcishWriter

    table = table_with_log(tmp_path / "t")
    schema = pyspark.StructType([pyspark.StructField("id", pyspark.LongType())])
    options = WriterOptions.of({"path": str(table / "below")})
    for make in (
        lambda: OrcishWriter(options, schema, False),
        lambda: OrcishWriter(options, schema, True),
        lambda: OrcishStreamWriter(options, schema),
    ):
        with pytest.raises(ValueError, match="is below the table"):
            make()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_folders_above_that_cannot_be_read(tmp_path: Path) -> None:
    above = tmp_path / "above"
    (above / "_orcish").mkdir(parents=True)
    (above / "_orcish").chmod(0)
    try:
        orcish.write_dataset(rows(1), above / "t")
    finally:
        (above / "_orcish").chmod(0o700)
    assert ids_of(above / "t") == [1]


@each_case(
    "name, where",
    [("u.orc", {"upload": {"id": "abc", "parts": ["e1"], "write_id": "w"}}), ("x" * 300 + ".orc", {"file": "a"})],
)
def test_commits_that_cannot_be_finished_can_be_undone(tmp_path: Path, name: str, where: dict[str, Any]) -> None:
    """The table was copied out of a store during a commit, or a name is too long for the disk."""
    table = tmp_path / "t"
    orcish.write_dataset(pa.table({"id": [1]}), table)
    (marker,) = table.glob("_orcish/log/*.done")
    last = json.loads(marker.read_text())
    job = Job(str(table))
    added = {"added": [{"name": name, "size": 5, "staged": where}], "previous": last["job"], "schema": last["schema"]}
    (table / "_orcish/log/000000000001.json").write_text(sealed(entry(job, []) | added))
    assert orcish.read_table(table, pending="before").num_rows == 1
    with pytest.raises(CommitError, match="is decided and not finished"):
        orcish.recover(table)
    assert orcish.recover(table, undo=True) == "undone"
    orcish.write_dataset(pa.table({"id": [2]}), table, existing_data="append")
    assert sorted(orcish.read_table(table)["id"].to_pylist()) == [1, 2]


def test_files_of_a_copied_table_that_are_there(tmp_path: Path) -> None:
    """All files of the commit had appeared when the table was copied out of a store."""
    table = tmp_path / "t"
    orcish.write_dataset(pa.table({"id": [1]}), table)
    (marker,) = table.glob("_orcish/log/*.done")
    last = json.loads(marker.read_text())
    orcish.write_table(pa.table({"id": [2]}), table / "u.orc")
    upload = {"upload": {"id": "abc", "parts": ["e1"], "write_id": "w"}}
    added = [{"name": "u.orc", "size": (table / "u.orc").stat().st_size, "staged": upload}]
    made = entry(Job(str(table)), []) | {"added": added, "previous": last["job"], "schema": last["schema"]}
    (table / "_orcish/log/000000000001.json").write_text(sealed(made))
    assert orcish.recover(table) == "finished"
    assert sorted(orcish.read_table(table)["id"].to_pylist()) == [1, 2]
