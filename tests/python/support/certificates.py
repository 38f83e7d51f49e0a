"""Certificates of an authority of the tests, and servers that have them."""

from __future__ import annotations

import contextlib
import datetime as dt
import ipaddress
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from socketserver import TCPServer

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = dt.timedelta(days=1)


class Authority:
    """Issues certificates.

    Args:
        folder: Where files are written.
        name: Name of the authority, and of its file.
    """

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder, self._key = folder, ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = self._builder(self._name, self._key.public_key(), DAY)
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        certificate = builder.sign(self._key, hashes.SHA256())
        self.path = folder / f"{name}.pem"
        """The certificate of the authority."""
        self.path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def _builder(self, name: x509.Name, key: ec.EllipticCurvePublicKey, valid: dt.timedelta) -> x509.CertificateBuilder:
        now = dt.datetime.now(dt.timezone.utc)
        builder = x509.CertificateBuilder().subject_name(name).issuer_name(self._name).public_key(key)
        builder = builder.serial_number(x509.random_serial_number())
        return builder.not_valid_before(now - 2 * DAY).not_valid_after(now + valid)

    def context(self, *hosts: str, valid: dt.timedelta = DAY) -> ssl.SSLContext:
        """What a server of some hosts needs: a certificate that is valid for a time from now on, and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        names: list[x509.GeneralName] = []
        for host in hosts:
            is_address = host[0].isdigit()
            names.append(x509.IPAddress(ipaddress.ip_address(host)) if is_address else x509.DNSName(host))
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hosts[0])])
        builder = self._builder(subject, key.public_key(), valid)
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        encoding, plain = serialization.Encoding.PEM, serialization.NoEncryption()
        path = self._folder / f"{certificate.serial_number}.pem"
        path.write_bytes(
            key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, plain) + certificate.public_bytes(encoding)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context


@contextlib.contextmanager
def encrypted(server: TCPServer, context: ssl.SSLContext) -> Iterator[list[object]]:
    """Lets a server run with TLS as long as the block; gives the addresses of the clients that have connected."""
    clients: list[object] = []
    plain = server.get_request

    def get_request() -> tuple[object, object]:
        connection, address = plain()
        clients.append(address)
        # The thread of the request shakes hands.
        return context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), address

    server.get_request = get_request  # type: ignore[assignment,method-assign]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    with server:
        thread.start()
        try:
            yield clients
        finally:
            server.shutdown()
            thread.join()
