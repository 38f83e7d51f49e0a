"""Profiles of AWS: the files ``~/.aws/credentials`` and ``~/.aws/config``."""

from __future__ import annotations

import configparser
import os
from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["Profile", "read_profile"]

FILES = (("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials"), ("AWS_CONFIG_FILE", "~/.aws/config"))
"""Environment variables with the paths of the files, and their default paths."""


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


def _sections(path: str) -> dict[str, dict[str, str]]:
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
    return _nested(services.get("s3", "")).get("endpoint_url") or settings.get("endpoint_url")


def _nested(text: str) -> dict[str, str]:
    """The settings of an indented block."""
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}
