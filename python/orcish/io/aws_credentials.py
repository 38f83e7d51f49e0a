"""Credentials of a profile of AWS."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple

from orcish.errors import UnsupportedError
from orcish.io.aws_profile import Profile

__all__ = ["credentials_of"]

REFRESH = timedelta(minutes=5)
"""Credentials are obtained again this time before they expire."""
KEYS = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")


class Obtained(NamedTuple):
    """Credentials that a command gave."""

    options: dict[str, str]
    expiry: datetime | None


_of_commands: dict[str, Obtained] = {}
"""Credentials by commands."""
_sessions: dict[tuple[Any, ...], Any] = {}
"""Credentials of boto3, which it refreshes, by profiles and the times of their files."""


def credentials_of(profile: Profile) -> dict[str, str] | None:
    """The credentials of a profile as storage options; ``None`` if it has none. The order is that of the AWS CLI.

    Raises:
        PermissionError: The credentials cannot be obtained.
        UnsupportedError: They can only be obtained by boto3, which is not installed.
        ValueError: The profile has half of a pair of keys.
    """
    settings = profile.settings
    of_boto = next((name for name in settings if name == "role_arn" or name.startswith(("sso_", "login_"))), None)
    if of_boto is not None:
        return _from_boto(profile, of_boto)
    if KEYS[0] in settings or KEYS[1] in settings:
        missing = next((name for name in KEYS[:2] if not settings.get(name)), None)
        if missing is not None:
            raise ValueError(f"{profile.describe()} has no {missing}")
        return {name: settings[name] for name in KEYS if settings.get(name)}
    command = settings.get("credential_process")
    return None if command is None else _from_command(profile, command)


def _from_command(profile: Profile, command: str) -> dict[str, str]:
    found = _of_commands.get(command)
    if found is None or (found.expiry is not None and datetime.now(timezone.utc) > found.expiry - REFRESH):
        found = _of_commands[command] = _run(profile, command)
    return dict(found.options)


def _run(profile: Profile, command: str) -> Obtained:
    """Runs the command of ``credential_process``. Messages do not have its output, which may have secrets."""
    what = f"credential_process of {profile.describe()}"
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


def _from_boto(profile: Profile, reason: str) -> dict[str, str]:
    """The credentials of a profile with ``role_arn`` or ``sso_…``."""
    try:
        from botocore.exceptions import BotoCoreError, ClientError
        from botocore.session import Session
    except ImportError as error:
        raise UnsupportedError(
            f"{profile.describe()} has {reason}: `pip install boto3`, by which orcish obtains such credentials, or "
            "export them into the environment (`aws configure export-credentials --format env`)"
        ) from error
    key = profile.name, profile.files
    try:
        given = _sessions.get(key) or Session(profile=profile.name).get_credentials()
        found = None if given is None else given.get_frozen_credentials()
    except (BotoCoreError, ClientError) as error:
        raise PermissionError(f"{profile.describe()} has {reason}, and boto3 gets no credentials: {error}") from error
    if found is None:
        raise PermissionError(f"{profile.describe()} has {reason}, and boto3 gets no credentials")
    _sessions[key] = given
    values = (found.access_key, found.secret_key, found.token)
    return {name: value for name, value in zip(KEYS, values, strict=True) if value}
