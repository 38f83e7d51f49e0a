"""File logs of streams: whichever stream stops where, all streams have the files in one order."""

from __future__ import annotations

import contextlib
import json
import random
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from orcish.errors import OrcishError
from orcish.spark import file_log
from orcish.spark.file_log import FileLog
from orcish.tables.folder import FileInfo, Folder
from support.case_loops import each_case
from support.random_cases import random_cases


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_log, "FAN", 3)
    monkeypatch.setattr(file_log, "LEVELS", 3)


def log_of(folder: Path) -> FileLog:
    log = FileLog(Folder(str(folder)))
    log.load()
    return log


def add(log: FileLog, *names: str) -> None:
    """What a trigger does."""
    log.load()
    log.add(names)


def files_of(folder: Path) -> list[str]:
    return sorted(path.name.replace("0000000000", "") for path in folder.iterdir())


def test_lists_are_joined(tmp_path: Path) -> None:
    log = log_of(tmp_path)
    for at in range(29):
        add(log, f"{at}.orc")
        assert len(files_of(tmp_path)) <= 7
        assert log_of(tmp_path).names == log.names == [f"{at}.orc" for at in range(at + 1)]
    assert files_of(tmp_path) == ["01-27.json", "28.json", "29.json"]
    assert json.loads((tmp_path / "000000000001-000000000027.json").read_text()) == {
        "order": log.id,
        "files": log.names[:27],
    }
    # Nothing is written without new files.
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    add(log)
    add(log_of(tmp_path), "3.orc")
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


def test_lists_without_blocks(tmp_path: Path) -> None:
    """The state of earlier versions has lists only."""
    for at in range(1, 41):
        names = [f"{at}-{more}.orc" for more in range(2)]
        (tmp_path / f"{at:012d}.json").write_text(json.dumps({"order": "an order", "files": names}))
    log = log_of(tmp_path)
    assert (log.id, len(log.names)) == ("an order", 80)
    add(log)
    assert files_of(tmp_path) == ["01-27.json", "28-36.json", "37-39.json", "40.json"]
    assert log_of(tmp_path).names == log.names


def test_blocks_are_not_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_log, "BLOCK_BYTES", 200)
    log = log_of(tmp_path)
    for at in range(30):
        add(log, f"{at}.orc")
    # Three lists of about 60 bytes are small enough, nine are not.
    assert files_of(tmp_path) == [f"{at:02}-{at + 2:02}.json" for at in range(1, 31, 3)]
    assert log_of(tmp_path).names == [f"{at}.orc" for at in range(30)]


def test_a_year_of_triggers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a batch a minute, few files are left, and few are read or written by a trigger."""
    monkeypatch.undo()
    count = 525_600
    names = [f"day=2026-11-24/part-00000-{at:032x}-c000.zstd.orc" for at in range(count)]
    at = 0
    while at < count:
        spans = [(first, last) for first, last in file_log.block_spans(at + 1) if first == at + 1 and last <= count]
        piece = file_log.Piece(spans[-1] if spans else (at + 1, at + 1))
        some = names[at : piece.span[1]]
        (tmp_path / piece.name).write_text(json.dumps({"order": "an order", "files": some}))
        at = piece.span[1]
    assert len(list(tmp_path.iterdir())) < 40
    start = time.monotonic()
    log = log_of(tmp_path)
    assert log.names == names
    # It takes less than a second on a machine that does nothing else.
    assert time.monotonic() - start < 10
    add(log, "new.orc")
    assert len(list(tmp_path.iterdir())) < 40


def test_few_files_are_removed_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_log, "MOST_DELETED", 4)
    for at in range(1, 10):
        (tmp_path / f"{at:012d}.json").write_text(json.dumps({"order": "an order", "files": [f"{at}.orc"]}))
    log = log_of(tmp_path)
    for count in (6, 2, 1, 1):
        add(log)
        assert len(files_of(tmp_path)) == count
        assert log_of(tmp_path).names == [f"{at}.orc" for at in range(1, 10)]


def test_a_suspended_stream(tmp_path: Path) -> None:
    """A list whose number was used and removed does not count, before and after its stream finds out."""
    log = log_of(tmp_path)
    add(log, "0.orc")
    suspended = log_of(tmp_path)
    for at in range(1, 12):
        add(log, f"{at}.orc")
    order = [*log.names]
    (tmp_path / "000000000002.json").write_text(json.dumps({"order": log.id, "files": ["late.orc"]}))
    other = FileLog(Folder(str(tmp_path)))
    other.load()
    assert other.names == order
    suspended.load()
    assert suspended.names == order
    (tmp_path / "000000000002.json").unlink()
    suspended = FileLog(Folder(str(tmp_path)))
    suspended.id, suspended.names, suspended._known = log.id, ["0.orc"], {"0.orc"}
    suspended._pieces = [file_log.Piece((1, 1), 50, 1)]
    suspended.add(["late.orc"])
    assert suspended.names == [*order, "late.orc"]
    assert log_of(tmp_path).names == suspended.names


class HookedFolder(Folder):
    """A folder in which something happens before some calls."""

    hooks: dict[str, Callable[[], None]]

    def stat(self, name: str) -> FileInfo | None:
        self.hooks.pop(f"stat {name}", lambda: None)()
        return super().stat(name)

    def read(self, name: str, *, limit: int = 1 << 20) -> bytes:
        self.hooks.pop(f"read {name}", lambda: None)()
        return super().read(name, limit=limit)


def hooked_log(folder: Path, hooks: dict[str, Callable[[], None]]) -> FileLog:
    base = HookedFolder(str(folder))
    object.__setattr__(base, "hooks", hooks)
    return FileLog(base)


@each_case("at", ["01-000000000003", "01-000000000009", "01-000000000027"])
def test_blocks_are_joined_while_they_are_looked_for(tmp_path: Path, at: str) -> None:
    log = log_of(tmp_path)
    add(log, "0.orc")

    def go_on() -> None:
        for at in range(len(log.names), 10):
            add(log, f"{at}.orc")

    hooks: dict[str, Callable[[], None]] = {}
    suspended = hooked_log(tmp_path, hooks)
    suspended.load()
    hooks[f"stat 0000000000{at}.json"] = go_on
    for number in range(1, 4):
        add(log, f"{number}.orc")
    suspended.add(["late.orc"])
    assert suspended.names == [*log.names, "late.orc"]
    assert log_of(tmp_path).names == suspended.names


def test_a_list_that_is_replaced_before_it_is_read(tmp_path: Path) -> None:
    log = log_of(tmp_path)
    for at in range(2):
        add(log, f"{at}.orc")

    def replace() -> None:
        add(log, "2.orc")
        (tmp_path / "000000000002.json").write_text(json.dumps({"order": log.id, "files": ["late.orc"]}))

    for call in ("read 000000000002", "stat 000000000001-000000000003"):
        late = hooked_log(tmp_path, {f"{call}.json": replace})
        late.load()
        assert late.names == log.names[: len(late.names)]


def test_lost_lists(tmp_path: Path) -> None:
    log = log_of(tmp_path)
    for at in range(5):
        add(log, f"{at}.orc")
    assert files_of(tmp_path) == ["01-03.json", "04.json", "05.json"]
    (tmp_path / "000000000004.json").unlink()
    with pytest.raises(OrcishError, match=r"is lost: lists are missing.*new checkpoints"):
        log_of(tmp_path)
    for path in tmp_path.iterdir():
        path.unlink()
    with pytest.raises(OrcishError, match=r"is lost: lists are missing"):
        add(log, "5.orc")
    # Another order of as many lists.
    other = log_of(tmp_path)
    for at in range(5):
        add(other, f"other-{at}.orc")
    with pytest.raises(OrcishError, match="was replaced"):
        add(log, "5.orc")


class Stopped(BaseException):
    """A stream that is killed."""


class MemoryFolder:
    """A folder in memory. Each of its operations is a step; a listing is two steps."""

    base = "memory"

    def __init__(self, files: dict[str, bytes], step: Callable[[], None]) -> None:
        self._all = files
        self._step = step

    def location(self, name: str) -> str:
        return f"memory/{name}"

    def files(self, name: str = "") -> list[FileInfo]:
        self._step()
        names = sorted(self._all)
        half = [name for name in names if name < names[len(names) // 2]]
        found = {name: len(self._all[name]) for name in half}
        bound = names[len(names) // 2] if names else ""
        self._step()
        found.update({name: len(data) for name, data in self._all.items() if name >= bound})
        return [FileInfo(name, size, 0) for name, size in sorted(found.items())]

    def read(self, name: str) -> bytes:
        self._step()
        if name not in self._all:
            raise FileNotFoundError(name)
        return self._all[name]

    def stat(self, name: str) -> FileInfo | None:
        self._step()
        return FileInfo(name, len(self._all[name]), 0) if name in self._all else None

    def write(self, name: str, data: bytes) -> None:
        self._step()
        if name in self._all:
            raise FileExistsError(name)
        self._all[name] = data
        self._step()

    def delete(self, names: Iterable[str]) -> None:
        for name in names:
            self._step()
            self._all.pop(name, None)


class Streams:
    """Streams of one folder, of which one makes a step at a time, by chance. Some are killed, and begin again."""

    def __init__(self, chance: random.Random, count: int, triggers: int, kills: float) -> None:
        self.files: dict[str, bytes] = {}
        self._chance = chance
        self._kills = kills
        self._turn = threading.Condition()
        self._running = list(range(count))
        self._next = 0
        """The stream whose turn it is."""
        self._left = 1
        """How many steps it makes."""
        self._triggers = triggers
        self.table: set[str] = set()
        self.seen: list[list[str]] = []
        self.faults: list[BaseException] = []

    def run(self) -> None:
        threads = [threading.Thread(target=self._stream, args=(at,), daemon=True) for at in self._running]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert not self._running
        if self.faults:
            raise self.faults[0]

    def _step(self, stream: int) -> None:
        with self._turn:
            if self._next == stream:
                self._left -= 1
                if self._left <= 0:
                    self._choose()
            self._turn.wait_for(lambda: self._next == stream)
            if self._chance.random() < self._kills:
                raise Stopped

    def _choose(self) -> None:
        """Lets a stream make some steps: few, or so many that others are suspended for long."""
        self._next = self._chance.choice(self._running) if self._running else -1
        self._left = self._chance.choice([1, 1, 2, 5, 200])
        self._turn.notify_all()

    def _stream(self, stream: int) -> None:
        try:
            self._follow(stream)
        except BaseException as error:
            self.faults.append(error)
        with self._turn:
            self._running.remove(stream)
            self._choose()

    def _follow(self, stream: int) -> None:
        folder: Any = MemoryFolder(self.files, lambda: self._step(stream))
        log = FileLog(folder)
        for trigger in range(self._triggers):
            try:
                log.load()
                # A table whose files every stream lists, and files that one stream has just found.
                self.table.add(f"{stream}-{trigger}.orc")
                found = self._chance.sample(sorted(self.table), min(len(self.table), 5))
                log.add(found)
                assert set(found) <= set(log.names)
                self.seen.append([*log.names])
            except Stopped:
                log = FileLog(folder)
                with contextlib.suppress(Stopped):
                    log.load()


@each_case("kills", [0, 0.02])
def test_interleaved_streams(kills: float) -> None:
    """All streams see prefixes of one order, and no name twice."""
    for _, chance in random_cases(f"interleaved streams {kills}", 300):
        streams = Streams(chance, chance.randint(2, 4), chance.randint(5, 25), kills)
        streams.run()
        last = FileLog(MemoryFolder(streams.files, lambda: None))  # type: ignore[arg-type]
        last.load()
        assert len(set(last.names)) == len(last.names)
        for names in streams.seen:
            assert names == last.names[: len(names)]
        last.add(sorted(streams.table))
        assert sorted(last.names) == sorted(streams.table)
