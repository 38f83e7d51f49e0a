"""Servers of files for the tests, on this machine."""

import contextlib
import http.server
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
import urllib.parse


class Files(http.server.BaseHTTPRequestHandler):
    """Gives the files of its server, whole or by range, and writes down what it was asked for."""

    protocol_version = "HTTP/1.1"
    encoding = None

    def do_HEAD(self):
        self._answer(head=True)

    def do_GET(self):
        self._answer(head=False)

    def do_PUT(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._answer(head=False)

    def do_POST(self):
        self.do_PUT()

    def do_PROPFIND(self):
        self._answer(head=False)

    def _answer(self, *, head):
        asked = self.headers.get("Range")
        server = self.server
        server.log.append((self.command, asked))
        server.headers.append(self.headers)
        for rule in server.rules:
            if rule(self, asked):
                return
        data = server.files.get(urllib.parse.unquote(urllib.parse.urlsplit(self.path).path))
        if data is None:
            self.send_error(404)
            return
        span = self._span(asked, len(data))
        if span == "outside":
            self.send_error(416)
            return
        part = data if span is None else data[span[0] : span[1]]
        self.send_response(200 if span is None else 206)
        if span is not None:
            self.send_header("Content-Range", f"bytes {span[0]}-{span[1] - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(part)))
        if self.encoding is not None:
            self.send_header("Content-Encoding", self.encoding)
        if server.etags:
            self.send_header("ETag", f'"{hash(data)}"')
        if not head:
            # Before the client can have seen it.
            server.sent.append(len(part))
        self.end_headers()
        if not head:
            self.wfile.write(part)

    def _span(self, asked, size):
        if asked is None or not self.server.ranges:
            return None
        first, last = re.fullmatch(r"bytes=(\d*)-(\d*)", asked).groups()
        if not first:
            if not self.server.suffixes:
                return None
            return (max(0, size - int(last)), size) if size else "outside"
        return (int(first), min(int(last) + 1, size)) if int(first) < size else "outside"

    def send_error(self, code, message=None, explain=None):
        body = b"no"
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def redirect(self, status, url):
        """Sends the request on, which a rule says by being true."""
        self.send_response(status)
        self.send_header("Location", url)
        self.send_header("Content-Length", "0")
        self.end_headers()
        return True

    def log_message(self, *arguments):
        pass


class FileServer(http.server.ThreadingHTTPServer):
    """A server of files; ``log`` has the requests, ``sent`` the bytes of each answer."""

    daemon_threads = True

    def __init__(self, files, *, ranges=True, suffixes=True, etags=False):
        super().__init__(("127.0.0.1", 0), Files)
        self.files, self.ranges, self.suffixes, self.etags = files, ranges, suffixes, etags
        self.log, self.sent, self.headers, self.rules = [], [], [], []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def take(self):
        """The ranges of the requests since the last call, and the bytes of their answers."""
        log, sent = list(self.log), sum(self.sent)
        self.log.clear()
        self.sent.clear()
        return log, sent

    def handle_error(self, request, client_address):
        """Clients may go away."""


class Crowd:
    """A rule that makes requests take a while, and counts how many are under way at a time."""

    def __init__(self, delay=0.02):
        self.delay, self.busy, self.most, self.lock = delay, 0, 0, threading.Lock()

    def __call__(self, handler, asked):
        with self.lock:
            self.busy += 1
            self.most = max(self.most, self.busy)
        time.sleep(self.delay)
        with self.lock:
            self.busy -= 1


def seconds_to_interrupt(server, urls, setup, call, *, hold, settle=0.0):
    """Seconds from SIGINT to the end of ``call``, in a process of its own that the server keeps waiting.

    Args:
        server: Answers at once until ``setup`` is done, and later in ``hold`` seconds.
        urls: What ``setup`` finds in ``sys.argv[1:]``.
        setup: A line of Python before.
        call: What is interrupted, once it has asked the server for something.
        hold: Seconds that the server takes.
        settle: Seconds to wait before the signal, so that all threads wait.
    """
    code = f"""
        import os, sys, orcish
        {setup}
        print("reading", flush=True)
        sys.stdin.readline()
        try:
            {call}
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            os._exit(0)
    """
    asked, end = threading.Event(), threading.Event()
    command = [sys.executable, "-c", textwrap.dedent(code), *urls]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "reading\n"
            server.rules.append(lambda handler, _: asked.set() or end.wait(hold))
            process.stdin.write("go\n")
            process.stdin.flush()
            assert asked.wait(20)
            time.sleep(settle)
            start = time.monotonic()
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "interrupted\n"
            return time.monotonic() - start
        finally:
            end.set()
            process.kill()


@contextlib.contextmanager
def serve(files, **options):
    """A server that runs as long as the block."""
    with FileServer(files, **options) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
