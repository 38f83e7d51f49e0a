"""Credentials of stores that a callable obtains."""

from __future__ import annotations

import datetime as dt
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import orcish
import pyarrow as pa
import pytest

TABLE = pa.table({"a": range(1000)})
URL = "s3://shelf/t.orc"
KEYS = ("aws_access_key_id", "aws_secret_access_key")


class Service:
    """A service that gives a new key with each call."""

    def __init__(self, life: float | None = None) -> None:
        self.life, self.threads = life, [0]
        self.threads.clear()

    def __call__(self) -> Any:
        self.threads.append(threading.get_ident())
        keys = {KEYS[0]: f"key-{len(self.threads)}", KEYS[1]: "hush-hush", "aws_session_token": None}
        return keys if self.life is None else (keys, time.time() + self.life)

    def method(self) -> Any:
        return self()


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("AWS_", "AZURE_", "GOOGLE_"))]:
        monkeypatch.delenv(name)


@pytest.fixture
def options(store: Any) -> dict[str, Any]:
    """The options of the store without credentials."""
    return {key: value for key, value in store.options.items() if key not in KEYS}


@pytest.mark.parametrize("life", [None, 3600.0])
def test_one_call_for_many_requests(store: Any, options: dict[str, Any], life: float | None) -> None:
    """The callable is called on a thread of its own, and all verbs use what it has given."""
    service = Service(life)
    options["credentials"] = service
    orcish.write_table(TABLE, URL, storage_options=options)
    assert orcish.read_table(URL, storage_options=options).equals(TABLE)
    orcish.write_dataset(TABLE, "s3://shelf/d", storage_options=options)
    orcish.write_dataset(TABLE, "s3://shelf/d", existing_data="append", storage_options=options)
    assert orcish.scan("s3://shelf/d", storage_options=options).count() == 2000
    assert orcish.merge([URL, URL], "s3://shelf/b.orc", storage_options=options).rows == 2000
    assert len(service.threads) == 1
    assert service.threads[0] != threading.get_ident()
    assert set(store.between.keys) == {"key-1"}


@pytest.mark.parametrize("life", [0.0, -5.0, 1.0])
def test_credentials_that_expire_are_obtained_again(store: Any, options: dict[str, Any], life: float) -> None:
    """A file that is open goes on with new credentials."""
    service = Service(life)
    # More than the first requests read.
    table = pa.table({"a": [os.urandom(1000) for _ in range(3000)]})
    orcish.write_table(table, URL, storage_options=store.options)
    store.between.keys.clear()
    file = orcish.ORCFile(URL, storage_options={**options, "credentials": service, "orcish.first_read": 16})
    before = len(service.threads)
    time.sleep(max(life, 0))
    assert file.read().equals(table)
    assert len(service.threads) > before
    assert store.between.keys == sorted(store.between.keys, key=lambda key: int(key[4:]))
    assert len(set(store.between.keys)) > 1


def test_equal_callables_share_a_client(store: Any, options: dict[str, Any]) -> None:
    service = Service()
    orcish.write_table(TABLE, URL, storage_options=store.options)
    for _ in range(3):
        # Each access makes a new object of the method.
        assert orcish.read_table(URL, storage_options={**options, "credentials": service.method}).equals(TABLE)
    assert len(service.threads) == 1
    other = Service()
    assert orcish.read_table(URL, storage_options={**options, "credentials": other.method}).equals(TABLE)
    assert len(other.threads) == 1


def test_more_callables_than_are_kept(store: Any, options: dict[str, Any]) -> None:
    orcish.write_table(TABLE, URL, storage_options=store.options)
    services = [Service() for _ in range(40)]
    for service in [*services, *services]:
        assert orcish.read_table(URL, storage_options={**options, "credentials": service}).equals(TABLE)
    assert all(service.threads for service in services)


def test_precedence(store: Any, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A callable goes before keys of the options and of the environment."""
    orcish.write_table(TABLE, URL, storage_options=store.options)
    store.between.keys.clear()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "env")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "env")
    given = {**options, KEYS[0]: "static", KEYS[1]: "static", "credentials": Service()}
    assert orcish.read_table(URL, storage_options=given).equals(TABLE)
    assert set(store.between.keys) == {"key-1"}


class TicketError(Exception):
    pass


def raising(error: BaseException) -> Callable[[], Any]:
    def credentials() -> Any:
        raise error

    return credentials


NOW = dt.datetime(2026, 1, 1)
WRONG: list[tuple[str, Any, type[Exception], str]] = [
    ("nothing", None, TypeError, r"credentials\(\) returned a NoneType: a dict is expected"),
    ("text", "hush", TypeError, r"credentials\(\) returned a str: a dict is expected"),
    ("triple", ({}, None, 1), TypeError, r"credentials\(\) returned a tuple"),
    (
        "number",
        {KEYS[0]: 1, KEYS[1]: "hush"},
        TypeError,
        r"returned a int for 'aws_access_key_id'|\"aws_access_key_id\"",
    ),
    ("half", {KEYS[0]: "hush"}, ValueError, r"s3://shelf/t\.orc: the credentials have no aws_secret_access_key"),
    ("empty", {}, ValueError, r"the credentials have no aws_access_key_id"),
    ("other", {"aws_region": "hush"}, ValueError, r"have the key \"aws_region\"; those of S3 are aws_access_key_id, "),
    ("naive", ({KEYS[0]: "hush"}, NOW), TypeError, r"the expiry datetime.*a datetime with a zone"),
    ("expiry", ({KEYS[0]: "hush"}, "tomorrow"), TypeError, r"the expiry 'tomorrow': seconds since 1970"),
    ("infinite", ({KEYS[0]: "hush"}, float("inf")), ValueError, r"out of the range of times"),
]


def test_wrong_results(options: dict[str, Any]) -> None:
    """Messages say what is expected, and have no values."""
    for name, given, error, message in WRONG:
        with pytest.raises(error, match=message) as raised:
            orcish.read_table(URL, storage_options={**options, "credentials": lambda given=given: given})
        assert "hush" not in str(raised.value), name


def test_exceptions_are_raised(store: Any, options: dict[str, Any]) -> None:
    """The exception is that of the callable, for readers and writers; the next call may succeed."""
    errors: list[BaseException] = [TicketError("no ticket"), KeyboardInterrupt()]
    for error in errors:
        given = {**options, "credentials": raising(error)}
        calls: list[Callable[[], object]] = [
            lambda given=given: orcish.read_table(URL, storage_options=given),
            lambda given=given: orcish.scan("s3://shelf/d/", storage_options=given).count(),
            lambda given=given: orcish.write_table(TABLE, URL, storage_options=given),
        ]
        for call in calls:
            with pytest.raises(type(error)):
                call()
    assert not store.objects()
    tries: list[int] = []

    def credentials() -> Any:
        tries.append(1)
        if len(tries) == 1:
            raise TicketError
        return dict.fromkeys(KEYS, "now")

    given = {**options, "credentials": credentials}
    with pytest.raises(TicketError):
        orcish.write_table(TABLE, URL, storage_options=given)
    orcish.write_table(TABLE, URL, storage_options=given)
    assert store.objects() == ["t.orc"]


@pytest.mark.parametrize("url", ["https://127.0.0.1:1/t.orc", "hdfs://127.0.0.1:1/t.orc"])
def test_stores_without(url: str) -> None:
    with pytest.raises(ValueError, match=r"a source of credentials is for S3, Google Cloud Storage and Azure"):
        orcish.read_table(url, storage_options={"credentials": dict})


def test_no_callable() -> None:
    with pytest.raises(TypeError, match=r"the storage option credentials is a dict, no callable"):
        orcish.read_table(URL, storage_options={"credentials": {}})  # type: ignore[dict-item]


def given_keys() -> dict[str, str]:
    return dict.fromkeys(KEYS, "pickled")


def test_pickles(store: Any, options: dict[str, Any]) -> None:
    """A pickle has the name of the callable, not what it has given."""
    orcish.write_table(TABLE, URL, storage_options=store.options)
    scan = orcish.scan(URL, storage_options={**options, "credentials": given_keys})
    assert scan.count() == 1000
    pickled = pickle.dumps([scan, scan.splits()])
    assert b"given_keys" in pickled
    read, splits = pickle.loads(pickled)
    assert read.count() == sum(split.scan().count() for split in splits) == 1000


def test_a_callable_that_waits_can_be_interrupted(options: dict[str, Any]) -> None:
    """A signal ends the wait for the callable."""
    begun = threading.Event()
    ends = threading.Event()

    def credentials() -> Any:
        begun.set()
        ends.wait(30)
        return dict.fromkeys(KEYS, "late")

    def interrupt() -> None:
        begun.wait(30)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        orcish.read_table(URL, storage_options={**options, "credentials": credentials})
    ends.set()
    thread.join()
