"""Identity of locations: which paths and URLs are one file or folder, whatever their spelling."""

from __future__ import annotations

import functools
import ipaddress
import os
import re
import socket
import urllib.parse
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from orcish.io.paths import is_http, local_path

__all__ = ["LOCAL", "Place", "place_of"]

LOCAL = ""
"""The kind of paths of the local disk."""
KINDS = {
    **dict.fromkeys(("s3", "s3a", "s3n"), "s3"),
    **dict.fromkeys(("gs", "gcs"), "gs"),
    **dict.fromkeys(("az", "azure", "adl", "abfs", "abfss", "wasb", "wasbs"), "az"),
    **dict.fromkeys(("hdfs", "arrow_hdfs", "webhdfs", "swebhdfs"), "hdfs"),
    **dict.fromkeys(("sftp", "ssh"), "sftp"),
    **{name: name for name in ("viewfs", "http", "https")},
}
"""Kinds of stores by the schemes of their URLs."""
HDFS_PORT = 8020
"""The port of a name node, where a URL has none."""
OTHER_PROTOCOLS = ("webhdfs", "swebhdfs")
"""Schemes of HDFS whose ports are those of other servers of the cluster."""
CACHES = ("simplecache", "filecache", "blockcache", "cached")
"""Protocols of fsspec that copy what the next URL of a chain names."""
LOGINS = {"sftp": 22, "ftp": 21, "smb": 445}
"""Stores whose URLs may have a user, and their usual ports."""
S3_HOST = re.compile(
    r"(?:(?P<bucket>.+?)\.)?s3(?:-[a-z0-9-]+)?(?:\.dualstack)?(?:\.[a-z0-9-]+)?\.amazonaws\.com(?:\.cn)?"
)
GOOGLE_HOST = re.compile(r"(?:(?P<bucket>.+)\.)?storage\.(?:googleapis|cloud\.google)\.com")
AZURE_HOST = re.compile(
    r"(?P<account>[^.]+?)(?:-secondary)?(?:\.z[0-9]+)?\.(?:blob|dfs)\."
    r"(?:storage\.azure\.net|core\.[a-z0-9.]+|fabric\.microsoft\.com)"
)
ENDPOINTS = (
    ("s3", re.compile(r"(?:aws_)?endpoint(?:_url)?(?:_s3)?")),
    ("gs", re.compile(r"(?:google_)?base_url")),
    ("az", re.compile(r"azure_(?:storage_)?endpoint|endpoint")),
)
"""Options with the URL of the server of a store."""
ACCOUNT = ("azure_storage_account_name", "account_name")
"""Options with the account of Azure."""
DEFAULT_CLUSTER = "fs.defaultfs"
"""The option with the cluster of URLs of HDFS that name none, in lower case."""


class Place(NamedTuple):
    """A file or folder. Two spellings of one location have equal places, but for what one of them leaves out."""

    kind: str
    """The kind of store; empty for the local disk."""
    server: str | None
    """The account, cluster or server. ``None`` if it is not known, or if names of buckets say it."""
    port: int | None
    """The port of the server; ``None`` if it is not known."""
    path: str
    """The path, without a slash at the end; that of a store begins with the bucket or container."""
    member: str = ""
    """What is meant within the file, such as a file of an archive."""

    def is_same(self, other: Place) -> bool:
        """Whether both are one file or folder, as far as is known."""
        is_whole = self.member == other.member or not self.member or not other.member
        return self._is_beside(other) and self.path == other.path and is_whole

    def is_below(self, folder: Place) -> bool:
        """Whether this is the folder or something in it, as far as is known."""
        return self._is_beside(folder) and f"{self.path}/".startswith(f"{folder.path}/" if folder.path else "")

    def _is_beside(self, other: Place) -> bool:
        """Whether the paths of both are those of one store. What is not known may be equal."""
        known = ((self.server, other.server), (self.port, other.port))
        return self.kind == other.kind and all(one is None or two is None or one == two for one, two in known)


def place_of(location: str, *storage: Mapping[str, Any] | None) -> Place:
    """The place of a path or URL. Links of local paths are resolved. No server is asked.

    Schemes of one store are equal, and so are URLs of HTTP of the stores of AWS, Google and Azure, and those of the
    endpoint in the options or in the environment.

    Args:
        location: The path or URL. That of a chain of fsspec is the place of its last URL, and of what is in it.
        storage: Options of the store, which say what the URL leaves out, and those of other stores of the call.
    """
    path = local_path(location)
    scheme, sign, rest = path.partition("://")
    if not sign:
        return Place(LOCAL, None, None, os.path.realpath(path).rstrip("/"))
    scheme = scheme.lower()
    kind = KINDS.get(scheme)
    if kind is None and "::" in path:
        *inner, last = path.split("::")
        outer = place_of(last, *storage)
        members = [each for each in inner if each.partition("://")[0].lower() not in CACHES]
        return outer._replace(member="::".join(members))
    kind = kind or _kind_of_fsspec(scheme)
    # Keys of stores may have the other signs.
    host, _, inside = rest.partition("/")
    if is_http(path):
        return _http_place(scheme, rest, storage)
    if kind == "az":
        container, at, server = host.rpartition("@")
        account = server.partition(".")[0] if at else _option(ACCOUNT, *storage[:1])
        return Place(kind, account.lower() or None, None, _joined(container.lower() or server.lower(), inside))
    if kind == "hdfs":
        return _hdfs_place(scheme, host or _cluster(*storage[:1]), inside)
    if kind in LOGINS:
        server, port = _address(host.rpartition("@")[2], LOGINS[kind])
        return Place(kind, server, port, _joined(inside))
    return Place(kind, None, None, _joined(host.lower() if scheme in KINDS else host, inside))


def _http_place(scheme: str, rest: str, storage: tuple[Mapping[str, Any] | None, ...]) -> Place:
    """The place of a URL of HTTP, which may be that of an object of another kind of store."""
    bare = re.split("[?#]", rest, maxsplit=1)[0]
    host, _, inside = bare.partition("/")
    server, port = _address(host.rpartition("@")[2], 443 if scheme == "https" else 80)
    path = _joined(urllib.parse.unquote(inside))
    for kind, pattern in (("s3", S3_HOST), ("gs", GOOGLE_HOST)):
        found = pattern.fullmatch(server)
        if found is not None:
            return Place(kind, None, None, _joined(found["bucket"] or "", path))
    found = AZURE_HOST.fullmatch(server)
    if found is not None:
        return Place("az", found["account"], None, path)
    for kind, url in _endpoints(storage):
        place = _endpoint_place(kind, url, server, port, path)
        if place is not None:
            return place if kind != "az" else place._replace(server=_option(ACCOUNT, *storage) or None)
    return Place(scheme, server, port, path)


def _endpoint_place(kind: str, url: str, server: str, port: int, path: str) -> Place | None:
    """The place of a path of a server, if an endpoint is there; the bucket may be a part of the name of the server."""
    scheme, sign, rest = url.partition("://")
    host, _, above = rest.partition("/")
    if not sign or not host:
        return None
    own, own_port = _address(host, 443 if scheme.lower() == "https" else 80)
    prefix = _joined(above)
    if own_port != port or not f"{path}/".startswith(f"{prefix}/" if prefix else ""):
        return None
    if own == server:
        return Place(kind, None, None, path[len(prefix) :].strip("/"))
    bucket = server.removesuffix(f".{own}")
    return Place(kind, None, None, _joined(bucket, path)) if bucket != server else None


def _endpoints(storage: tuple[Mapping[str, Any] | None, ...]) -> Iterator[tuple[str, str]]:
    around = {key: value for key, value in os.environ.items() if key.startswith(("AWS_", "AZURE_", "GOOGLE_"))}
    for options in (*storage, around):
        for key, value in (options or {}).items():
            yield from ((kind, str(value)) for kind, names in ENDPOINTS if names.fullmatch(str(key).lower()))


def _hdfs_place(scheme: str, host: str, inside: str) -> Place:
    server, port = _address(host, HDFS_PORT)
    is_other = scheme in OTHER_PROTOCOLS
    return Place("hdfs", server or None, port if server and not is_other else None, _joined(inside))


def _cluster(storage: Mapping[str, Any] | None = None) -> str:
    """The cluster of URLs that name none; empty where the options do not say it."""
    return _option((DEFAULT_CLUSTER,), storage).partition("://")[2].partition("/")[0]


def _option(names: tuple[str, ...], *storage: Mapping[str, Any] | None) -> str:
    """The value of an option, or of the variable of the environment of its first name; empty if there is none."""
    for options in storage:
        for key, value in (options or {}).items():
            if str(key).lower() in names:
                return str(value)
    return os.environ.get(names[0].upper(), "")


def _address(host: str, usual_port: int) -> tuple[str, int]:
    """The server and the port of the authority of a URL. Names of this machine are equal; none is looked up."""
    name, sign, port = host.lower().rpartition(":")
    if not sign or not port.isdigit() or (":" in name and not name.endswith("]")):
        name, port = host.lower(), str(usual_port)
    name = name.strip("[]").rstrip(".")
    return "localhost" if _is_loopback(name) else name, int(port)


def _is_loopback(name: str) -> bool:
    if name in ("localhost", "0.0.0.0", "::", socket.gethostname().lower()):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


@functools.cache
def _kind_of_fsspec(scheme: str) -> str:
    """The kind of a scheme that fsspec knows: schemes of one class are one kind."""
    try:
        from fsspec.registry import known_implementations
    except ImportError:
        return scheme
    own = known_implementations.get(scheme, {}).get("class")
    same = (name for name, found in known_implementations.items() if own is not None and found["class"] == own)
    first = next(same, scheme)
    return KINDS.get(first, first)


def _joined(*parts: str) -> str:
    """A path without empty parts."""
    return "/".join(name for part in parts for name in part.split("/") if name not in ("", "."))
