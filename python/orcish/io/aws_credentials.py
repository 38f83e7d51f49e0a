"""Credentials of a profile of AWS."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple

from orcish.errors import UnsupportedError
from orcish.io.aws_profile import Profile

__all__ = ["credentials_of"]

REFRESH = timedelta(minutes=5)
"""Credentials of commands are obtained again this time before they expire."""
BOTO_LIFE = timedelta(minutes=1)
"""How long credentials of boto3 are used before it is called again. It keeps them until shortly before they expire."""
KEYS = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")


class Obtained(NamedTuple):
    """Credentials for some time, as the native core takes them of a callable."""

    options: dict[str, str]
    expiry: datetime | None


@dataclass(frozen=True)
class OfCommand:
    """The credentials of ``credential_process``."""

    what: str
    command: str

    def __call__(self) -> Obtained:
        found = _of_commands.get(self.command)
        if found is None or (found.expiry is not None and datetime.now(timezone.utc) > found.expiry - REFRESH):
            found = _of_commands[self.command] = _run(f"credential_process of {self.what}", self.command)
        return found


@dataclass(frozen=True)
class OfBoto:
    """The credentials of a profile with ``role_arn``, ``sso_…`` or ``login_…``."""

    what: str
    reason: str
    name: str
    files: tuple[tuple[str, float | None], ...]

    def __call__(self) -> Obtained:
        return _from_boto(self)


_of_commands: dict[str, Obtained] = {}
"""Credentials by commands."""
_sessions: dict[OfBoto, Any] = {}
"""Credentials of boto3, which it refreshes."""


def credentials_of(profile: Profile) -> dict[str, Any] | None:
    """The credentials of a profile as storage options; ``None`` if it has none. The order is that of the AWS CLI.

    Credentials that expire are those of a callable, which has been called once, so that its errors come now.

    Raises:
        PermissionError: The credentials cannot be obtained.
        UnsupportedError: They can only be obtained by boto3, which is not installed.
        ValueError: The profile has half of a pair of keys.
    """
    settings = profile.settings
    of_boto = next((name for name in settings if name == "role_arn" or name.startswith(("sso_", "login_"))), None)
    if of_boto is not None:
        return _of_callable(OfBoto(profile.describe(), of_boto, profile.name, profile.files))
    if KEYS[0] in settings or KEYS[1] in settings:
        missing = next((name for name in KEYS[:2] if not settings.get(name)), None)
        if missing is not None:
            raise ValueError(f"{profile.describe()} has no {missing}")
        return {name: settings[name] for name in KEYS if settings.get(name)}
    command = settings.get("credential_process")
    return None if command is None else _of_callable(OfCommand(profile.describe(), command))


def _of_callable(obtain: Callable[[], Obtained]) -> dict[str, Any]:
    found = obtain()
    return dict(found.options) if found.expiry is None else {"credentials": obtain}


def _run(what: str, command: str) -> Obtained:
    """Runs a command that prints credentials. Messages do not have its output, which may have secrets."""
    try:
        done = subprocess.run(shlex.split(command), capture_output=True, check=False)
    except (OSError, ValueError) as error:
        raise PermissionError(f"{what} cannot be run: {error}") from error
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()[-300:]
        raise PermissionError(f"{what} failed with exit code {done.returncode}: {said}")
    try:
        given: Mapping[str, Any] = json.loads(done.stdout)
        if given["Version"] != 1:
            raise ValueError
        options = {KEYS[0]: str(given["AccessKeyId"]), KEYS[1]: str(given["SecretAccessKey"])}
        if given.get("SessionToken"):
            options[KEYS[2]] = str(given["SessionToken"])
        text = given.get("Expiration")
        expiry = None if text is None else datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    except (ValueError, KeyError, TypeError):
        raise PermissionError(
            f"{what} gave no credentials: JSON with Version 1, AccessKeyId and SecretAccessKey is expected"
        ) from None
    return Obtained(options, expiry if expiry is None or expiry.tzinfo else expiry.replace(tzinfo=timezone.utc))


def _from_boto(given: OfBoto) -> Obtained:
    profile = f"{given.what} has {given.reason}"
    try:
        from botocore.exceptions import BotoCoreError, ClientError
        from botocore.session import Session
    except ImportError as error:
        raise UnsupportedError(
            f"{profile}: `pip install boto3`, by which orcish obtains such credentials, or "
            "export them into the environment (`aws configure export-credentials --format env`)"
        ) from error
    try:
        session = _sessions.get(given) or Session(profile=given.name).get_credentials()
        found = None if session is None else session.get_frozen_credentials()
    except (BotoCoreError, ClientError) as error:
        raise PermissionError(f"{profile}, and boto3 gets no credentials: {error}") from error
    if found is None:
        raise PermissionError(f"{profile}, and boto3 gets no credentials")
    _sessions[given] = session
    values = (found.access_key, found.secret_key, found.token)
    options = {name: value for name, value in zip(KEYS, values, strict=True) if value}
    return Obtained(options, datetime.now(timezone.utc) + BOTO_LIFE)
