"""Profiles of AWS: the files ``~/.aws/credentials`` and ``~/.aws/config``. botocore obtains all other credentials."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from orcish.errors import UnsupportedError

__all__ = ["Profile", "credentials_of", "read_profile"]

FILES = (("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials"), ("AWS_CONFIG_FILE", "~/.aws/config"))
"""Environment variables with the paths of the files, and their default paths."""
KEYS = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
LIFE = 60.0
"""Seconds after which botocore is asked again. It keeps credentials until shortly before they expire."""


class Profile(NamedTuple):
    """A profile."""

    name: str
    settings: Mapping[str, str]
    """Settings of both files; those of the file of credentials take precedence."""
    endpoint: str | None
    """The endpoint of S3."""
    exists: bool
    """Whether a file has the profile."""
    files: tuple[tuple[str, float | None], ...]
    """Paths of the files, and the times of their last changes; ``None`` where a file is not there."""

    def describe(self) -> str:
        """Where the profile was looked for."""
        paths = [f"{path}{'' if time is not None else ' (not there)'}" for path, time in self.files]
        return f"the profile {self.name!r} of {' and '.join(paths)}"


def read_profile(name: str | None = None) -> Profile:
    """Reads a profile; by default that of the environment variable ``AWS_PROFILE``, or ``default``.

    Raises:
        ValueError: A file cannot be parsed.
        OSError: A file cannot be read.
    """
    name = name or os.environ.get("AWS_PROFILE") or os.environ.get("AWS_DEFAULT_PROFILE") or "default"
    paths = [os.path.expanduser(os.environ.get(variable) or path) for variable, path in FILES]
    credentials, config = map(_sections, paths)
    sections = [section for section in (credentials.get(name), _of_config(config, name)) if section is not None]
    settings: dict[str, str] = {}
    for section in reversed(sections):
        settings |= section
    files = tuple((path, os.stat(path).st_mtime if os.path.exists(path) else None) for path in paths)
    return Profile(name, settings, _endpoint(settings, config), bool(sections), files)


def credentials_of(profile: Profile) -> dict[str, Any] | None:
    """The credentials of a profile as storage options: its keys, or a callable; ``None`` if it has none. The order is
    that of the AWS CLI.

    Raises:
        UnsupportedError: Only botocore obtains them, and it is not installed.
        ValueError: The profile has half of a pair of keys.
    """
    settings = profile.settings
    of_botocore = [name for name in settings if name == "role_arn" or name.startswith(("sso_", "login_"))]
    if not of_botocore and (KEYS[0] in settings or KEYS[1] in settings):
        missing = next((name for name in KEYS[:2] if not settings.get(name)), None)
        if missing is not None:
            raise ValueError(f"{profile.describe()} has no {missing}")
        return {name: settings[name] for name in KEYS if settings.get(name)}
    reason = next((name for name in (*of_botocore, "credential_process") if name in settings), None)
    if reason is None:
        return None
    what = f"{profile.describe()} has {reason}"
    try:
        import botocore.session  # noqa: F401
    except ImportError as error:
        raise UnsupportedError(
            f"{what}: `pip install boto3`, by which orcish obtains such credentials, or "
            "export them into the environment (`aws configure export-credentials --format env`)"
        ) from error
    return {"credentials": OfBotocore(profile.name, what, profile.files)}


@dataclass(frozen=True)
class OfBotocore:
    """The callable that obtains the credentials of a profile. Two of one profile are equal while its files stay."""

    name: str
    what: str
    files: tuple[tuple[str, float | None], ...]

    def __call__(self) -> tuple[dict[str, str | None], float]:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            found = _found_by_botocore(self).get_frozen_credentials()
        except (BotoCoreError, ClientError) as error:
            raise PermissionError(f"{self.what}, and boto3 gets no credentials: {error}") from error
        values = (found.access_key, found.secret_key, found.token)
        return dict(zip(KEYS, values, strict=True)), time.time() + LIFE


@functools.lru_cache(maxsize=16)
def _found_by_botocore(given: OfBotocore) -> Any:
    """Credentials of botocore, which obtain new ones before they expire."""
    from botocore.session import Session

    found = Session(profile=given.name).get_credentials()
    if found is None:
        raise PermissionError(f"{given.what}, and boto3 gets no credentials")
    return found


def _sections(path: str) -> dict[str, dict[str, str]]:
    import configparser

    parser = configparser.RawConfigParser(default_section="", strict=False)
    try:
        with open(path, encoding="utf-8") as file:
            parser.read_file(file)
    except FileNotFoundError:
        return {}
    except (configparser.Error, UnicodeDecodeError) as error:
        # The message of the parser has the line, which may be a secret.
        raise ValueError(f"{path}: is no file of profiles of AWS: {type(error).__name__}") from None
    return {name: dict(parser.items(name)) for name in parser.sections()}


def _of_config(config: Mapping[str, dict[str, str]], name: str) -> dict[str, str] | None:
    """A profile of the configuration. Names may have quotes."""
    for header, section in config.items():
        kind, _, rest = header.partition(" ")
        if (kind == "profile" and rest.strip().strip("\"'") == name) or (header == name == "default"):
            return section
    return None


def _endpoint(settings: Mapping[str, str], config: Mapping[str, dict[str, str]]) -> str | None:
    """The endpoint of S3: that of the services of the profile, or that of the profile."""
    ignored = os.environ.get("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS") or settings.get("ignore_configured_endpoint_urls")
    if (ignored or "").lower() == "true":
        return None
    services = config.get(f"services {settings.get('services')}", {})
    block = (line.partition("=") for line in services.get("s3", "").splitlines())
    nested = {name.strip().lower(): value.strip() for name, _, value in block}
    return nested.get("endpoint_url") or settings.get("endpoint_url")
