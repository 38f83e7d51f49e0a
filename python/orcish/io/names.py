"""Names of locations for people, without credentials, and errors of file systems that have these names."""

from __future__ import annotations

import contextlib
import re
import urllib.parse
from collections.abc import Iterator

from orcish._native import display_name
from orcish.errors import OrcishError

__all__ = ["display_name", "errors_about", "errors_about_rows", "errors_with_name", "without_credentials"]

LINK = re.compile(r"::(?=[A-Za-z][A-Za-z0-9+.-]*://)")
"""What precedes the second and each further URL of a chain of fsspec."""
REFUSED = ("PermissionDeniedError", "UnauthenticatedError")
"""Errors of obstore for what may not be read or written."""
DEBUG = "\n\nDebug source"
"""What is in the text of an error of obstore before its structure."""
USER = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://(?P<user>[^/?#]*)@")
"""The beginning of a URL with credentials."""


def _link_name(url: str) -> str:
    """The name of a URL of a chain, whose host may be the name of a file."""
    found = display_name(url)
    return found if re.split("[?#]", url, maxsplit=1)[0].endswith("/") else found.removesuffix("/")


def without_credentials(text: str, location: str) -> str:
    """A text of another library about a location, without the credentials and queries of the location."""
    for url in LINK.split(location):
        shown = _link_name(url)
        text = text if shown == url else text.replace(url, shown)
        query = url.partition("#")[0].partition("?")[2] if "://" in url else ""
        text = text.replace(f"?{query}", "") if query else text
        found = USER.match(url)
        if found is None:
            continue
        user = found["user"]
        text = text.replace(f"{user}@", "")
        # A token is a user without a password.
        secret = user.partition(":")[2] if ":" in user else user
        for word in {secret, urllib.parse.unquote(secret)}:
            if word:
                text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", "***", text)
    return text


@contextlib.contextmanager
def errors_with_name(location: str) -> Iterator[None]:
    """Errors of a file system become errors of the system that name the location and have no credentials of it.

    Errors of orcish, errors of the system and ``TypeError`` keep their type. The text of others begins with it.
    """
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        named = _named(error, location)
        if named is error:
            raise
        # The text of the original exception is in tracebacks.
        text = f"{error!r} {error}"
        raise named from (error if without_credentials(text, location) == text else None)


@contextlib.contextmanager
def errors_about(name: str) -> Iterator[None]:
    """Errors of other libraries, to which rows or types of a file are given, keep their type and name the file. Errors
    of orcish have the name already.

    Args:
        name: What is read, for people. The text of an error begins with it, or a note has it where the text is no
            argument of the error.
    """
    try:
        yield
    except OrcishError:
        raise
    except Exception as error:
        text = str(error)
        if not _has_name(text, name):
            if error.args == (text,):
                error.args = (f"{name}: {text}",)
            elif hasattr(error, "add_note"):
                error.add_note(f"while {name} was read")
        raise


@contextlib.contextmanager
def errors_about_rows(source: str, folder: str) -> Iterator[None]:
    """Errors of values that a new file does not hold name what has the rows: the file is removed.

    Args:
        source: What the rows are of, for people.
        folder: The folder of the new files.
    """
    try:
        yield
    except ValueError as error:
        text = str(error)
        found = re.match(rf"(?:[^:]*/)?{re.escape(display_name(folder))}/[^:]+: (?=column .*: row \d+: )", text)
        if found and error.args == (text,):
            error.args = (f"{source}: {text[found.end() :]}",)
        raise


def _named(error: Exception, location: str) -> Exception:
    name, text = display_name(location), str(error)
    clean = without_credentials(text.partition(DEBUG)[0], location)
    if isinstance(error, OrcishError):
        return error if clean == text else type(error)(clean)
    if not isinstance(error, OSError):
        if isinstance(error, TypeError):
            # An argument of the file system is wrong.
            return TypeError(f"{name}: {clean}")
        if type(error).__module__.partition(".")[0] == "obstore":
            kind: type[Exception] = PermissionError if type(error).__name__ in REFUSED else OSError
            return kind(f"{name}: {clean}")
        return OSError(f"{name}: {type(error).__name__}{': ' if clean else ''}{clean}")
    if clean == text and _has_name(text, name):
        return error
    # Constructors of subclasses of other libraries take other arguments.
    kind = next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
    if isinstance(error.errno, int) and error.strerror is not None:
        reason = without_credentials(str(error.strerror), location)
        return kind(error.errno, reason if _has_name(reason, name) else f"{name}: {reason}")
    return kind(clean if _has_name(clean, name) else f"{name}: {clean or type(error).__name__}")


def _has_name(text: str, name: str) -> bool:
    """Whether a text has the name of a location, which may be short, as words of its own."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
