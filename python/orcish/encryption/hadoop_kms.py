"""The key management server of Hadoop, by its REST interface."""

from __future__ import annotations

import base64
import binascii
import importlib
import json
import time
import urllib.parse
from typing import TYPE_CHECKING, Any, Literal

from orcish.terminal import printable

if TYPE_CHECKING:
    from urllib.error import HTTPError

__all__ = ["HadoopKMS", "KMSError"]

MAX_REPLY = 1 << 20
"""Bytes of a reply from which on it is none of a key."""
DENIED = 403
"""The status for a user who may not use a key."""
FIRST_FAULT = 500
"""The first status of faults that are the server's, which may be over soon."""
FIRST_PAUSE = 0.1
"""Seconds before the second try. Each further pause takes twice as long."""


class KMSError(OSError):
    """A key management server refuses a request, gives no valid reply, or cannot be reached."""


class HadoopKMS:
    """Unwraps local keys with the key management server of Hadoop, which master keys do not leave.

    A pickle has the arguments, and no key. Local keys are kept in memory while the object lives, so that the server is
    asked once for each key of a file.

    >>> kms = orcish.encryption.HadoopKMS("kms://https@kms.example.org:9600/kms", user="etl")
    >>> kms
    orcish.encryption.HadoopKMS('kms://https@kms.example.org:9600/kms', user='etl')

    Args:
        url: The server, as Hadoop writes it, ``kms://https@host1;host2:9600/kms`` with one or more hosts, or a plain
            URL, ``https://host:9600/kms``.
        user: Name of the user for simple authentication; none by default.
        authentication: ``"kerberos"`` authenticates by the tickets of the process, with the package ``pyspnego``.
        timeout: Seconds until a request fails.
        tries: How often a request is made where servers fail or cannot be reached, one host after the other.
        ca_file: The path of certificates of authorities, in place of those of the system.
    """

    def __init__(
        self,
        url: str,
        *,
        user: str | None = None,
        authentication: Literal["simple", "kerberos"] = "simple",
        timeout: float = 10,
        tries: int = 3,
        ca_file: str | None = None,
    ) -> None:
        if authentication not in ("simple", "kerberos"):
            raise ValueError(f"authentication={authentication!r} is neither 'simple' nor 'kerberos'")
        if tries < 1 or timeout <= 0:
            raise ValueError("tries must be at least 1, and timeout more than 0")
        self._url, self._user, self._authentication = url, user, authentication
        self._timeout, self._tries, self._ca_file = timeout, tries, ca_file
        self._servers = _servers(url)
        self._local_keys: dict[tuple[str, int, bytes], bytes] = {}
        self._cookies: dict[str, str] = {}

    def __repr__(self) -> str:
        user = "" if self._user is None else f", user={self._user!r}"
        return f"orcish.encryption.HadoopKMS({self._url!r}{user})"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_local_keys": {}, "_cookies": {}}

    def unwrap_local_key(self, name: str, version: int, algorithm: str, wrapped: bytes) -> bytes | None:  # noqa: ARG002
        """The local key whose wrapped form a file has; ``None`` where the server denies the use of the master key.

        Raises:
            KMSError: The server fails, or cannot be reached.
        """
        known = (name, version, wrapped)
        if known not in self._local_keys:
            local = self._unwrapped(name, version, wrapped)
            if local is None:
                return None
            self._local_keys[known] = local
        return self._local_keys[known]

    def current_version(self, name: str) -> tuple[int, str] | None:
        """The newest version of a key, with which files are written, and its algorithm; ``None`` where it is denied.

        Raises:
            KMSError: The server fails, or cannot be reached.
        """
        reply = self._request(f"v1/key/{urllib.parse.quote(name, safe='')}/_metadata", {}, None)
        if reply is None:
            return None
        try:
            version, bits = int(reply["versions"]) - 1, int(reply["length"])
        except (KeyError, TypeError, ValueError):
            raise KMSError(f"{self._title}: its reply for key {printable(name)} has no version") from None
        return version, f"AES_CTR_{bits}"

    def _unwrapped(self, name: str, version: int, wrapped: bytes) -> bytes | None:
        # The server takes the initialization vector with all bits flipped.
        vector = bytes(byte ^ 0xFF for byte in wrapped[:16])
        body = {"name": name, "iv": _encoded(vector), "material": _encoded(wrapped)}
        path = f"v1/keyversion/{urllib.parse.quote(f'{name}@{version}', safe='')}/_eek"
        reply = self._request(path, {"eek_op": "decrypt"}, body)
        if reply is None:
            return None
        try:
            return _decoded(reply["material"])
        except (KeyError, TypeError, ValueError, binascii.Error):
            raise KMSError(f"{self._title}: its reply for key {printable(name)}@{version} has no key") from None

    @property
    def _title(self) -> str:
        return f"the key management server {printable(self._url)}"

    def _request(self, path: str, query: dict[str, str], body: dict[str, str] | None) -> Any:
        """The reply to a request; ``None`` where it is denied."""
        # Few programs need these modules, which take long to import.
        import http.client
        import urllib.error

        pause, fault = FIRST_PAUSE, ""
        for at in range(self._tries):
            server = self._servers[at % len(self._servers)]
            try:
                return self._reply(server, path, query, body)
            except urllib.error.HTTPError as error:
                if error.code == DENIED:
                    return None
                fault = f"{error.code} {_reason(error)}"
                # Other requests of the client are wrong another time, too.
                if error.code < FIRST_FAULT:
                    break
            except (OSError, http.client.HTTPException, ValueError) as error:
                reason = getattr(error, "reason", error)
                fault = f"{type(reason).__name__}: {reason}" if str(reason) else type(reason).__name__
            if at + 1 < self._tries:
                time.sleep(pause)
                pause *= 2
        raise KMSError(f"{self._title}: {printable(fault)}")

    def _reply(self, server: str, path: str, query: dict[str, str], body: dict[str, str] | None) -> Any:
        import ssl
        import urllib.request

        if self._user is not None:
            query = {**query, "user.name": self._user}
        request = urllib.request.Request(
            f"{server}/{path}?{urllib.parse.urlencode(query)}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "Accept": "application/json", **self._authorization(server)},
        )
        context = ssl.create_default_context(cafile=self._ca_file) if server.startswith("https:") else None
        with urllib.request.urlopen(request, timeout=self._timeout, context=context) as response:
            if cookie := response.headers.get("Set-Cookie"):
                self._cookies[server] = cookie.partition(";")[0]
            text = response.read(MAX_REPLY + 1)
        if len(text) > MAX_REPLY:
            raise ValueError("the reply is too long for a key")
        return json.loads(text)

    def _authorization(self, server: str) -> dict[str, str]:
        """The headers that tell the server who asks."""
        if server in self._cookies:
            return {"Cookie": self._cookies[server]}
        if self._authentication == "simple":
            return {}
        try:
            spnego = importlib.import_module("spnego")
        except ImportError:
            raise ModuleNotFoundError("authentication='kerberos' takes the package pyspnego") from None
        client = spnego.client(hostname=urllib.parse.urlsplit(server).hostname, service="HTTP", protocol="kerberos")
        return {"Authorization": f"Negotiate {_encoded(client.step())}"}


def _servers(url: str) -> list[str]:
    """The plain URLs of the servers of a URL.

    Raises:
        ValueError: The URL is none of a server.
    """
    scheme, separator, rest = url.partition("://")
    if scheme == "kms" and separator:
        scheme, separator, rest = rest.partition("@")
    authority, _, path = rest.partition("/")
    hosts, _, port = authority.rpartition(":") if ":" in authority.rpartition("]")[2] else (authority, "", "")
    if scheme not in ("http", "https") or not separator or not hosts or "@" in rest:
        raise ValueError(
            f"{url!r} is no key management server: give kms://https@host:9600/kms, or https://host:9600/kms, without a "
            "password"
        )
    suffix = f":{port}" if port else ""
    return [f"{scheme}://{host}{suffix}/{path}".rstrip("/") for host in hosts.split(";")]


def _encoded(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _decoded(text: str) -> bytes:
    """Bytes of base64 of either alphabet, padded or not."""
    text = text.replace("-", "+").replace("_", "/")
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def _reason(error: HTTPError) -> str:
    """What a server says of an error."""
    try:
        return str(json.loads(error.read(MAX_REPLY))["RemoteException"]["message"])
    except (OSError, ValueError, KeyError, TypeError):
        return str(error.reason)
