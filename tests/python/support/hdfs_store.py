"""HDFS for the tests: a cluster of Hadoop's own servers, in a JVM."""

from __future__ import annotations

import contextlib
import fcntl
import getpass
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark

HERE = Path(__file__).parent
JARS = Path(pyspark.__file__).parent / "jars"
CACHE = HERE.parents[2] / "target" / "hadoop"
"""Folder of the jar of the servers, which git ignores."""
ARTIFACT = "hadoop-client-minicluster"


class MissingError(Exception):
    """The servers cannot be started here."""


class Hdfs:
    """A cluster, with another client than that of orcish: the one of HTTP."""

    def __init__(self, process: subprocess.Popen[str], port: int, http_port: int, errors: Path) -> None:
        self._process, self._http_port, self._errors = process, http_port, errors
        self.url = f"hdfs://127.0.0.1:{port}"
        self.options: dict[str, str | int | bool] = {"orcish.max_retries": 0}

    def command(self, *words: object) -> None:
        """Lets the cluster run a command of ``MiniHdfs.java``."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(*words, file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        assert answer == "done\n", f"{answer}{self._process.poll()} {self.log()[-4000:]}"

    def _ask(self, method: str, path: str, operation: str, body: bytes | None = None, **more: str) -> bytes:
        query = urllib.parse.urlencode({"op": operation, "user.name": getpass.getuser(), **more})
        address, target = f"127.0.0.1:{self._http_port}", f"/webhdfs/v1{urllib.parse.quote(path)}?{query}"
        for _ in range(2):
            connection = http.client.HTTPConnection(address, timeout=30)
            connection.request(method, target, body)
            response = connection.getresponse()
            data = response.read()
            connection.close()
            if response.status != 307:
                break
            # A data node has the bytes.
            found = urllib.parse.urlsplit(response.headers["Location"])
            address, target = f"127.0.0.1:{found.port}", f"{found.path}?{found.query}"
        if response.status == 404:
            raise FileNotFoundError(path)
        assert response.status < 300, data
        return data

    def tree(self, path: str) -> dict[str, int | None]:
        """Everything below a folder, with the sizes of files; those of folders are ``None``."""
        found: dict[str, int | None] = {}
        folders = [path.rstrip("/")]
        while folders:
            folder = folders.pop()
            try:
                listed: Any = json.loads(self._ask("GET", folder or "/", "LISTSTATUS"))
            except FileNotFoundError:
                continue
            for status in listed["FileStatuses"]["FileStatus"]:
                name = f"{folder}/{status['pathSuffix']}"
                is_folder = status["type"] == "DIRECTORY"
                found[name] = None if is_folder else status["length"]
                folders += [name] if is_folder else []
        return dict(sorted(found.items()))

    def files(self, path: str) -> list[str]:
        """All files below a folder, by their paths below it."""
        start = len(path.rstrip("/")) + 1
        return [name[start:] for name, size in self.tree(path).items() if size is not None]

    def put(self, path: str, data: bytes) -> None:
        """Writes a file."""
        self._ask("PUT", path, "CREATE", data, overwrite="true")

    def get(self, path: str) -> bytes:
        """Reads a file."""
        return self._ask("GET", path, "OPEN")

    def make_folder(self, path: str) -> None:
        """Creates a folder."""
        self._ask("PUT", path, "MKDIRS")

    def delete(self, path: str) -> None:
        """Deletes a file or folder."""
        self._ask("DELETE", path, "DELETE", recursive="true")

    def data_node(self, path: str) -> tuple[str, int]:
        """Host and port of the server that has the first block of a file."""
        found: Any = json.loads(self._ask("GET", path, "GETFILEBLOCKLOCATIONS"))
        host, _, port = found["BlockLocations"]["BlockLocation"][0]["names"][0].rpartition(":")
        return host, int(port)

    def log(self) -> str:
        """What the servers have logged so far."""
        return self._errors.read_text()

    def clear(self) -> None:
        """Deletes everything, and lets nothing fail."""
        self.command("safemode", "LEAVE")
        for path in self.tree("/"):
            if path.count("/") == 1:
                self.delete(path)

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """A block in which the servers do not answer."""
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def losing(hdfs: Hdfs, method: str, *, is_sent: bool = True) -> Iterator[str]:
    """A URL of the cluster for which the first answer to a method of the name node is lost, or else the request."""
    to = int(hdfs.url.rpartition(":")[2])
    left = [method.encode()]
    sockets: list[socket.socket] = []

    def pump(source: socket.socket, target: socket.socket, muted: threading.Event, is_request: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if is_request and left and left[0] in data:
                    left.clear()
                    muted.set()
                    if not is_sent:
                        break
                elif not is_request and muted.is_set():
                    # The name node has done what it was asked for.
                    break
                target.sendall(data)
        for each in (source, target):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def accept(listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.create_connection(("127.0.0.1", to))
                sockets.extend((client, server))
                muted = threading.Event()
                for ends in ((client, server, muted, True), (server, client, muted, False)):
                    threading.Thread(target=pump, args=ends, daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=accept, args=[listener], daemon=True)
        thread.start()
        try:
            yield f"hdfs://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
            for each in sockets:
                each.close()
    assert not left, "the method was not called"


def servers() -> Path:
    """The jar with the servers, of the version of Spark's client. It is downloaded once.

    Raises:
        MissingError: There is no jar, and it cannot be downloaded.
    """
    client = next(JARS.glob("hadoop-client-api-*.jar"), None)
    if client is None:
        raise MissingError("PySpark has no client of Hadoop")
    version = client.stem.removeprefix("hadoop-client-api-")
    jar = CACHE / f"{ARTIFACT}-{version}.jar"
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        # Other processes of pytest want it, too.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not jar.exists():
            _download(f"org.apache.hadoop:{ARTIFACT}:{version}", jar)
    return jar


def _download(artifact: str, jar: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise MissingError("the servers of HDFS are downloaded by Maven, and mvn is not on the PATH")
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        command = [maven, "-q", "-B", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=folder)
        except subprocess.TimeoutExpired:
            raise MissingError("the servers of HDFS were not downloaded in time") from None
        if done.returncode != 0:
            raise MissingError(f"the servers of HDFS cannot be downloaded: {done.stdout[-500:]}")
        (Path(folder) / jar.name).replace(jar)


@contextlib.contextmanager
def run_hdfs() -> Iterator[Hdfs]:
    """A cluster that is there as long as the block.

    Raises:
        MissingError: The servers cannot be started here.
    """
    home = os.environ.get("JAVA_HOME")
    java = shutil.which(f"{home}/bin/java" if home else "java")
    if java is None:
        raise MissingError("there is no java")
    jars = [servers(), *JARS.glob("*.jar")]
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "errors").open("w+") as errors:
        options = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m", "-cp", os.pathsep.join(map(str, jars))]
        process = subprocess.Popen(
            [java, *options, str(HERE / "MiniHdfs.java"), f"{folder}/data"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=folder,
        )
        with process:
            assert process.stdout is not None
            ports = process.stdout.readline().split()
            if len(ports) != 2:
                process.kill()
                raise AssertionError(Path(errors.name).read_text()[-4000:])
            try:
                yield Hdfs(process, int(ports[0]), int(ports[1]), Path(errors.name))
            finally:
                assert process.stdin is not None
                process.stdin.close()
                try:
                    process.wait(30)
                except subprocess.TimeoutExpired:
                    process.kill()
