"""Profiles of AWS: what is in neither the options nor the environment comes from ``~/.aws``."""

from __future__ import annotations

import json
import os
import pickle
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish._native import complete_storage

TABLE = pa.table({"a": [1, 2, 3]})
URL = "s3://shelf/t/a.orc"
KEYS = "aws_access_key_id = {0}-id\naws_secret_access_key = {0}-secret\n"


def keys(name: str) -> dict[str, Any]:
    return {"aws_access_key_id": f"{name}-id", "aws_secret_access_key": f"{name}-secret"}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder ``.aws`` of a user, who has no credentials elsewhere."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    (tmp_path / ".aws").mkdir()
    return tmp_path / ".aws"


def write(home: Path, credentials: str = "", config: str = "") -> None:
    (home / "credentials").write_text(credentials)
    (home / "config").write_text(config)


def test_static_keys(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(
        home,
        f"[default]\n{KEYS.format('first')}\n[dev]\n{KEYS.format('dev')}aws_session_token = dev-token\n",
        f"[default]\nregion = eu-west-1\n[profile dev]\nregion=us-west-2\n[profile 'a b']\n{KEYS.format('ab')}",
    )
    dev = {**keys("dev"), "aws_session_token": "dev-token", "aws_region": "us-west-2"}
    assert complete_storage(URL, None) == {**keys("first"), "aws_region": "eu-west-1"}
    assert complete_storage(["t.orc", "S3A://shelf/t"], {"timeout": "3s"}) == {
        **keys("first"),
        "aws_region": "eu-west-1",
        "timeout": "3s",
    }
    assert complete_storage(URL, {"aws_profile": "dev"}) == dev
    monkeypatch.setenv("AWS_PROFILE", "dev")
    assert complete_storage(URL, {}) == dev
    monkeypatch.setenv("AWS_PROFILE", "a b")
    assert complete_storage(URL, {}) == keys("ab")
    for skip in (False, "false"):
        assert complete_storage(URL, {"aws_skip_signature": skip}) == {**keys("ab"), "aws_skip_signature": skip}
    for location in ("t.orc", "gs://shelf/t.orc", [], "https://s3.amazonaws.com/t.orc"):
        assert complete_storage(location, {"timeout": "3s"}) == {"timeout": "3s"}
        assert complete_storage(location, None) is None


def test_files_by_the_environment(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "c").write_text(f"[default]\n{KEYS.format('c')}")
    (home / "d").write_text("[default]\nregion = x-1\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(home / "c"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(home / "d"))
    assert complete_storage(URL, None) == {**keys("c"), "aws_region": "x-1"}


@pytest.mark.parametrize(
    ("options", "environment"),
    [
        (keys("own"), {}),
        ({"access_key_id": "a", "secret_access_key": "b"}, {}),
        ({"aws_skip_signature": True}, {}),
        ({"AWS_ACCESS_KEY_ID": "a"}, {}),
        ({}, {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}),
        ({}, {"AWS_WEB_IDENTITY_TOKEN_FILE": "/t", "AWS_ROLE_ARN": "arn"}),
        ({}, {"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/x"}),
        ({}, {"AWS_SKIP_SIGNATURE": "true"}),
    ],
)
def test_precedence(
    home: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], environment: dict[str, str]
) -> None:
    """Options and the environment take precedence, for each setting."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert complete_storage(URL, options) == options
    write(home, f"[default]\n{KEYS.format('first')}", "[default]\nregion = eu-west-1\nendpoint_url = http://h:1\n")
    added = {"aws_region": "eu-west-1", "aws_endpoint": "http://h:1", "aws_allow_http": True}
    assert complete_storage(URL, options) == {**added, **options}
    monkeypatch.setenv("AWS_DEFAULT_REGION", "other")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://i:2")
    assert complete_storage(URL, options) == options
    write(home, "no sections")
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    assert complete_storage(URL, options) == options


def test_a_profile_of_the_options_is_chosen(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment has credentials of another account."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "env")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "env")
    write(home, f"[dev]\n{KEYS.format('dev')}")
    assert complete_storage(URL, {"aws_profile": "dev"}) == keys("dev")
    with pytest.raises(ValueError, match=r"no such profile: the profile 'none' of .*/\.aws/credentials and .*/config$"):
        complete_storage(URL, {"aws_profile": "none"})


def test_endpoints(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = "[default]\nservices = own\nendpoint_url = https://all\n"
    services = "[services own]\ndynamodb =\n  endpoint_url = https://d\ns3 =\n  endpoint_url = https://s3\n"
    write(home, f"[default]\n{KEYS.format('k')}", profile + services)
    assert complete_storage(URL, None) == {**keys("k"), "aws_endpoint": "https://s3"}
    write(home, f"[default]\n{KEYS.format('k')}", profile)
    assert complete_storage(URL, None) == {**keys("k"), "aws_endpoint": "https://all"}
    monkeypatch.setenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true")
    assert complete_storage(URL, None) == keys("k")


def obtained(options: dict[str, Any] | None) -> dict[str, Any]:
    """Options with the credentials of their callable, if they have one."""
    assert options is not None
    credentials = options.pop("credentials", None)
    given = options if credentials is None else options | credentials()[0]
    return {key: value for key, value in given.items() if value is not None}


def process(home: Path, answer: str) -> str:
    """A command that prints an answer."""
    (home / "give.py").write_text(f"print({answer!r})\n")
    return f"'{sys.executable}' '{home}/give.py'"


def test_a_process(home: Path) -> None:
    """botocore runs the command with the first request, and not where options are parsed."""
    answer = json.dumps({"Version": 1, "AccessKeyId": "p-id", "SecretAccessKey": "p-secret", "SessionToken": "p"})
    write(home, config=f"[default]\ncredential_process = {process(home, answer)}\n")
    assert obtained(complete_storage(URL, None)) == {**keys("p"), "aws_session_token": "p"}
    write(home, config=f"[default]\ncredential_process = {process(home, '{}')}\n")
    assert complete_storage(URL, None) is not None
    with pytest.raises(PermissionError, match=r"^the profile 'default' .* has credential_process, and boto3"):
        orcish.scan(URL).to_table()


OF_BOTO = [
    "role_arn = arn:aws:iam::1:role/r\nsource_profile = base\n",
    "sso_session = s\nsso_account_id = 1\nsso_role_name = r\n",
]


@pytest.mark.parametrize("settings", OF_BOTO)
def test_what_botocore_obtains(home: Path, monkeypatch: pytest.MonkeyPatch, settings: str) -> None:
    sso = "[sso-session s]\nsso_region = us-east-1\nsso_start_url = https://127.0.0.1:1\n"
    write(home, config=f"[default]\nregion = us-east-1\n{settings}\n{sso}")
    name = settings.partition(" ")[0]
    with pytest.raises(PermissionError, match=rf"profile 'default' .* has {name}, and boto3 gets no credentials: "):
        orcish.scan(URL).to_table()
    monkeypatch.setitem(sys.modules, "botocore.session", None)
    with pytest.raises(orcish.UnsupportedError, match=rf"has {name}: `pip install boto3`"):
        orcish.scan(URL)


def test_a_role(home: Path, store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials of a role are those that the server of tokens gives."""
    endpoint = f"http://{store.between.host}:{store.between.port}"
    write(
        home,
        f"[base]\n{KEYS.format('base')}",
        f"[default]\nregion = us-east-1\nrole_arn = arn:aws:iam::123456789012:role/reader\nsource_profile = base\n"
        f"endpoint_url = {endpoint}\n",
    )
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    assert complete_storage(URL, None) == complete_storage(URL, None)
    found = obtained(complete_storage(URL, None))
    assert found["aws_access_key_id"] not in ("", "base-id")
    assert found["aws_session_token"]
    orcish.write_table(TABLE, URL)
    assert orcish.read_table(URL).equals(TABLE)


def test_half_a_pair(home: Path) -> None:
    write(home, "[default]\naws_access_key_id = secret-id\n")
    with pytest.raises(ValueError, match=r"the profile 'default' .* has no aws_secret_access_key$"):
        orcish.scan(URL)


def test_files_that_are_none(home: Path) -> None:
    write(home, "secret words\n")
    with pytest.raises(ValueError, match=r"/\.aws/credentials: is no file of profiles of AWS") as error:
        orcish.scan(URL)
    assert "secret" not in str(error.value)


CALLS: list[Callable[[], object]] = [
    lambda: orcish.ORCFile(URL),
    lambda: orcish.read_table(URL),
    lambda: orcish.scan("s3://shelf/t/"),
    lambda: orcish.scan([URL, URL]),
    lambda: orcish.write_table(TABLE, URL),
    lambda: orcish.merge([URL], URL),
    lambda: orcish.write_dataset(TABLE, "s3://shelf/t"),
    lambda: orcish.compact("s3://shelf/t"),
    lambda: orcish.delete("s3://shelf/t", "a = 1"),
    lambda: orcish.history("s3://shelf/t"),
    lambda: orcish.recover("s3://shelf/t"),
    lambda: orcish.vacuum("s3://shelf/t"),
    lambda: orcish.CarbonFile("s3://shelf/t/a.carbondata"),
    lambda: orcish.CarbonTable("s3://shelf/t"),
]


def test_no_credentials(home: Path) -> None:
    """The error says where they were looked for, and how a public bucket is read."""
    for call in CALLS:
        with pytest.raises(PermissionError) as error:
            call()
        text = str(error.value)
        assert text.startswith(
            "s3://shelf: no credentials found, in storage_options, the environment (AWS_ACCESS_KEY_ID"
        )
        assert f"the profile 'default' of {home}/credentials (not there) and {home}/config (not there)" in text
        assert "aws_skip_signature" in text


def test_no_connection_while_options_are_parsed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The native core asks for the role of the machine, with its first request."""

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a socket")

    monkeypatch.delenv("AWS_EC2_METADATA_DISABLED")
    monkeypatch.setattr(socket, "socket", refuse)
    assert complete_storage(URL, None) == {}
    write(home, config=f"[default]\nregion = us-east-1\n{OF_BOTO[0]}")
    assert set(complete_storage(URL, None) or ()) == {"aws_region", "credentials"}


def test_all_of_orcish(home: Path, store: Any) -> None:
    """Tables and files are written and read with a profile."""
    credentials = "[default]\naws_access_key_id = tester\naws_secret_access_key = hush-hush\n"
    write(home, credentials, f"[default]\nregion = us-east-1\nendpoint_url = {store.options['aws_endpoint']}\n")
    orcish.write_table(TABLE, URL)
    assert orcish.read_table(URL).equals(TABLE)
    assert orcish.merge([URL, URL], "s3://shelf/b.orc").rows == 6
    orcish.write_dataset(TABLE, "s3://shelf/d")
    orcish.write_dataset(TABLE, "s3://shelf/d", existing_data="append")
    orcish.compact("s3://shelf/d")
    orcish.delete("s3://shelf/d", "a = 1")
    assert orcish.scan("s3://shelf/d").count() == 4
    assert len(orcish.history("s3://shelf/d")) == 4
    pickled = pickle.dumps([orcish.scan("s3://shelf/d").splits(), orcish.ORCFile(URL)])
    assert b"hush" not in pickled
    splits, file = pickle.loads(pickled)
    assert sum(split.scan().count() for split in splits) == 4
    assert file.read().equals(TABLE)
