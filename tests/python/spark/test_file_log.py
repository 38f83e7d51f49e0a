"""The file log of streams: every stream finds the same order, whoever writes, compacts, sleeps or dies when."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path
from typing import Any

import pytest
from orcish.errors import OrcishError
from orcish.spark.source import file_log
from orcish.spark.source.file_log import FileLog
from orcish.tables.folder import Folder
from support.random_cases import random_cases


class Died(BaseException):
    """The end of a process."""


def new_log(folder: Path) -> FileLog:
    return FileLog(Folder(str(folder)))


def names_of(folder: Path) -> list[str]:
    log = new_log(folder)
    log.load()
    return log.names


def stored(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_log, "CHECKPOINT_LISTS", 4)
    log = new_log(tmp_path)
    for at in range(11):
        log.load()
        log.add([*log.names, f"{at:02}.orc"])
    assert stored(tmp_path) == [*(f"{at:012}.json" for at in (9, 10, 11)), "checkpoint-000000000008.json.gz"]
    assert names_of(tmp_path) == log.names == [f"{at:02}.orc" for at in range(11)]
    again = new_log(tmp_path)
    again.load()
    assert again.id == log.id
    with gzip.open(tmp_path / "checkpoint-000000000008.json.gz") as file:
        assert json.load(file) == {"order": log.id, "files": log.names[:8]}


def test_lists_of_an_earlier_version(tmp_path: Path) -> None:
    """Lists without checkpoint are read, and compacted by the next stream that adds names."""
    for at in range(1, 201):
        (tmp_path / f"{at:012}.json").write_text(json.dumps({"order": "x", "files": [f"{at}.orc"]}))
    log = new_log(tmp_path)
    log.load()
    assert log.names == [f"{at}.orc" for at in range(1, 201)]
    log.add([*log.names, "new.orc"])
    assert stored(tmp_path) == ["checkpoint-000000000201.json.gz"]
    assert names_of(tmp_path) == [*(f"{at}.orc" for at in range(1, 201)), "new.orc"]


@pytest.mark.parametrize("damage", ["lost", "text", "gzip", "order", "files"])
def test_what_is_damaged_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str) -> None:
    monkeypatch.setattr(file_log, "CHECKPOINT_LISTS", 4)
    log = new_log(tmp_path)
    for at in range(7):
        log.add([*log.names, f"{at}.orc"])
    path = tmp_path / {"lost": "000000000005.json", "gzip": "checkpoint-000000000004.json.gz"}.get(
        damage, "000000000006.json"
    )
    text = {"text": b"[1", "gzip": b"\x1f\x8bno", "order": b'{"order": "y", "files": []}', "files": b'{"order": 1}'}
    if damage == "lost":
        path.unlink()
    else:
        path.write_bytes(text[damage])
    with pytest.raises(OrcishError, match=path.name):
        names_of(tmp_path)


def interleaved(folder: Path, chance: Any, monkeypatch: pytest.MonkeyPatch) -> list[FileLog]:
    """Runs several logs whose requests are interrupted by whole runs of others, or by their death."""
    logs = [new_log(folder) for _ in range(3)]
    counter = iter(range(10_000))
    depth = 0
    plain = {name: getattr(Folder, name) for name in ("files", "read", "write", "delete")}

    def run(log: FileLog) -> None:
        log.load()
        log.add([*log.names, *(f"{next(counter)}.orc" for _ in range(chance.randrange(3)))])

    def request(name: str) -> Any:
        def called(self: Folder, *args: Any, **more: Any) -> Any:
            nonlocal depth
            # Others run before and after each request.
            if depth < 2 and chance.random() < 0.15:
                depth += 1
                try:
                    for _ in range(chance.randrange(1, 6)):
                        others = [each for each in logs if each not in active]
                        if others:
                            once(chance.choice(others))
                finally:
                    depth -= 1
            if chance.random() < 0.02:
                raise Died
            found = plain[name](self, *args, **more)
            if chance.random() < 0.02:
                raise Died
            return found

        return called

    active: list[FileLog] = []

    def once(log: FileLog) -> None:
        active.append(log)
        try:
            run(log)
        except Died:
            # A process that has died begins again.
            logs[logs.index(log)] = new_log(folder)
        finally:
            active.remove(log)

    with monkeypatch.context() as patch:
        for name in plain:
            patch.setattr(Folder, name, request(name))
        for _ in range(30):
            once(chance.choice(logs))
            check(logs)
    return logs


def check(logs: list[FileLog]) -> None:
    """All logs have the same order, as far as they know it."""
    longest = max((log.names for log in logs), key=len)
    for log in logs:
        assert log.names == longest[: len(log.names)]
        assert len(set(log.names)) == len(log.names)


def test_streams_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Streams that sleep and die between any two requests: no name is lost, none is twice, and their order stays."""
    monkeypatch.setattr(file_log, "CHECKPOINT_LISTS", 3)
    monkeypatch.setattr(file_log, "LIST_FILES", 2)
    # Requests in threads would be interrupted there.
    monkeypatch.setattr(file_log.concurrent.futures, "ThreadPoolExecutor", InTurn)
    has_checkpoint = False
    for number, chance in random_cases("streams at a time", 40):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        logs = interleaved(folder, chance, monkeypatch)
        final = new_log(folder)
        final.load()
        check([*logs, final])
        assert len(final.names) >= max(len(log.names) for log in logs)
        has_checkpoint |= any(name.startswith("checkpoint") for name in stored(folder))
    assert has_checkpoint


def test_a_stream_that_sleeps_until_its_list_is_compacted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of a list is free again, as a checkpoint has replaced the list. What is written there is void."""
    monkeypatch.setattr(file_log, "CHECKPOINT_LISTS", 2)
    slow, other = new_log(tmp_path), new_log(tmp_path)
    slow.load()
    write = Folder.write

    def late(self: Folder, name: str, data: bytes, **more: Any) -> None:
        monkeypatch.setattr(Folder, "write", write)
        for at in range(5):
            other.load()
            other.add([f"other-{at}.orc"])
        write(self, name, data, **more)

    monkeypatch.setattr(Folder, "write", late)
    slow.add(["slow.orc"])
    assert slow.names == [*(f"other-{at}.orc" for at in range(5)), "slow.orc"]
    assert names_of(tmp_path) == slow.names


class InTurn:
    """A pool of threads without threads."""

    def __init__(self, *_: Any) -> None:
        pass

    def __enter__(self) -> InTurn:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    map = staticmethod(map)


@pytest.mark.long
def test_a_year_of_triggers(tmp_path: Path) -> None:
    """Half a million names are read at a restart in about a second, and the folder has few files."""
    triggers = 365 * 24 * 60
    order = "0" * 32
    names = [f"day=2026-01-01/part-{at:08}-0123456789abcdef0123456789abcdef.zstd.orc" for at in range(triggers)]
    data = gzip.compress(json.dumps({"order": order, "files": names[:-63]}).encode(), 1, mtime=0)
    (tmp_path / f"checkpoint-{triggers - 63:012}.json.gz").write_bytes(data)
    for at in range(triggers - 62, triggers + 1):
        (tmp_path / f"{at:012}.json").write_text(json.dumps({"order": order, "files": [names[at - 1]]}))
    start = time.perf_counter()
    log = new_log(tmp_path)
    log.load()
    print(f"{time.perf_counter() - start:.2f} s, {len(data):,} bytes")
    assert log.names == names
    log.add(["new.orc"])
    assert len(stored(tmp_path)) == 1
