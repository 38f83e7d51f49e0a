"""What only Azure and Google Cloud Storage have: schemes, credentials, and their errors."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish import _native
from orcish_cli import main
from support.azure_store import Azurite, run_azurite
from support.gcs_store import Gcs, run_gcs
from support.servers import UnavailableError

TABLE = pa.table({"id": range(1000)})


def entered(running: Any) -> Iterator[Any]:
    """The store of a context manager, or none where it cannot be had."""
    try:
        store = running.__enter__()
    except UnavailableError as error:
        pytest.skip(str(error))
    try:
        yield store
    finally:
        running.__exit__(None, None, None)


@pytest.fixture(scope="module")
def azure() -> Iterator[Azurite]:
    yield from entered(run_azurite())


@pytest.fixture(scope="module")
def gcs() -> Iterator[Gcs]:
    yield from entered(run_gcs())


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("AZURE_", "GOOGLE_"))]:
        monkeypatch.delenv(name)


def test_schemes_of_azure(azure: Azurite) -> None:
    for scheme in ("az", "abfs", "abfss"):
        base = f"{scheme}://shelf/{scheme}"
        orcish.write_table(TABLE, f"{base}/a b.orc", storage_options=azure.options)
        assert orcish.read_table(f"{base}/a b.orc", storage_options=azure.options).equals(TABLE)
        assert [url for url, _ in _native.list_files(f"{base}/*", azure.options)] == [f"{base}/a b.orc"]
        assert orcish.scan(base, storage_options=azure.options).count() == 1000
    assert azure.objects() == ["abfs/a b.orc", "abfss/a b.orc", "az/a b.orc"]


def test_credentials_of_azure(azure: Azurite, monkeypatch: pytest.MonkeyPatch) -> None:
    url = "az://shelf/t.orc"
    orcish.write_table(TABLE, url, storage_options=azure.options)
    wrong = {**azure.options, "azure_storage_account_key": "aHVzaC1odXNo"}
    for call in (
        lambda: orcish.read_table(url, storage_options=wrong),
        lambda: orcish.write_table(TABLE, url, storage_options=wrong),
        lambda: _native.list_files("az://shelf", wrong),
    ):
        with pytest.raises(PermissionError, match="az://shelf") as raised:
            call()
        assert "aHVzaC1odXNo" not in str(raised.value)
    for name, value in azure.options.items():
        if name.startswith("azure_"):
            monkeypatch.setenv(name.upper(), str(value).lower() if isinstance(value, bool) else str(value))
    assert orcish.read_table(url).equals(TABLE)
    with pytest.raises(FileNotFoundError, match="az://nowhere"):
        orcish.read_table("az://nowhere/t.orc", storage_options=azure.options)
    with pytest.raises(FileNotFoundError, match="az://nowhere"):
        _native.list_files("az://nowhere/t", azure.options)


def test_credentials_of_google(gcs: Gcs, monkeypatch: pytest.MonkeyPatch) -> None:
    url = "gs://shelf/t.orc"
    orcish.write_table(TABLE, url, storage_options=gcs.options)
    key = str(gcs.options["google_service_account_key"])
    monkeypatch.setenv("GOOGLE_SERVICE_ACCOUNT_KEY", key)
    assert orcish.read_table(url).equals(TABLE)
    monkeypatch.delenv("GOOGLE_SERVICE_ACCOUNT_KEY")
    # A token and another server, or no credentials at all.
    base = f"http://127.0.0.1:{gcs.server_port}"
    for more in ({"google_bearer_token": "hush-hush"}, {"google_bearer_token": "", "google_skip_signature": True}):
        assert orcish.read_table(url, storage_options={"google_base_url": base, **more}).equals(TABLE)
    with pytest.raises(FileNotFoundError, match="gs://nowhere"):
        orcish.ORCFile("gs://nowhere/t.orc", storage_options=gcs.options)
    with pytest.raises(ValueError, match="google_wrong"):
        orcish.read_table(url, storage_options={**gcs.options, "google_wrong": "x"})


def test_schemes_of_google(gcs: Gcs) -> None:
    for scheme in ("gs", "gcs"):
        base = f"{scheme}://shelf/{scheme}"
        orcish.write_table(TABLE, f"{base}/a.orc", storage_options=gcs.options)
        assert orcish.read_table(f"{base}/a.orc", storage_options=gcs.options).equals(TABLE)
        assert orcish.scan(base, storage_options=gcs.options).files == [f"{base}/a.orc"]
    assert orcish.read_table("gs://shelf/gcs/a.orc", storage_options=gcs.options).equals(TABLE)


def test_a_callable_for_azure(azure: Azurite) -> None:
    calls: list[int] = []
    key = "azure_storage_account_key"

    def credentials() -> Any:
        calls.append(1)
        return {"azure_storage_account_key": azure.options[key]}

    options = {name: value for name, value in azure.options.items() if name != key}
    options["credentials"] = credentials
    orcish.write_table(TABLE, "az://shelf/c.orc", storage_options=options)
    assert orcish.read_table("az://shelf/c.orc", storage_options=options).equals(TABLE)
    assert len(calls) == 1


def test_a_callable_for_google(gcs: Gcs) -> None:
    calls: list[int] = []

    def credentials() -> Any:
        calls.append(1)
        return {"bearer_token": "ticket"}, dt.datetime.now(dt.timezone.utc) + dt.timedelta(hours=1)

    options = {**gcs.options, "credentials": credentials}
    orcish.write_table(TABLE, "gs://shelf/c.orc", storage_options=options)
    assert orcish.read_table("gs://shelf/c.orc", storage_options=options).equals(TABLE)
    assert len(calls) == 1


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl.gz", "arrow"])
def test_files_of_other_formats_are_read(ending: str, azure: Azurite, gcs: Gcs, tmp_path: Path) -> None:
    orcish.write_table(TABLE, tmp_path / "a.orc")
    assert main(["convert", str(tmp_path / "a.orc"), str(tmp_path / f"a.{ending}")]) == 0
    for base, options in (("az://shelf/others", azure.options), ("gs://shelf/others", gcs.options)):
        source = f"{base}/a.{ending}"
        _native.write_small(source, (tmp_path / f"a.{ending}").read_bytes(), dict(options), overwrite=True)
        storage = [f"--storage-option={name}={value}" for name, value in options.items()]
        target = tmp_path / f"{base[:2]}.orc"
        assert main(["convert", source, str(target), *storage]) == 0
        assert orcish.read_table(target)["id"].to_pylist() == TABLE["id"].to_pylist()
