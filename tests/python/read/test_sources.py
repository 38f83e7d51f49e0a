"""What files can be read from."""

import errno
import io
import os
import pathlib
import socket

import fsspec
import orcish
import pyarrow as pa
import pytest
from support.case_loops import each_case
from support.cpp_writers import write_arrow
from support.processes import run_python

TABLE = pa.table({"a": list(range(20_000)), "s": [f"text {i}" for i in range(20_000)]})
DATA = write_arrow(TABLE, stripe_size=10_000, batch_size=1000)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "t ü.orc"
    path.write_bytes(DATA)
    return path


def test_paths(path):
    class Like(os.PathLike):
        def __fspath__(self):
            return str(path)

    for source in (str(path), path, Like()):
        assert orcish.read_table(source).equals(TABLE)
        assert "t ü.orc" in repr(orcish.ORCFile(source))


def test_relative_paths(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    assert orcish.read_table(path.name).equals(TABLE)
    assert orcish.read_table(pathlib.Path(path.name)).equals(TABLE)


def test_paths_below_the_home_folder(tmp_path, monkeypatch):
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    home.mkdir()
    elsewhere.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(elsewhere)
    rows = pa.table({"a": [1, 2]})
    orcish.write_table(rows, "~/a.orc")
    with orcish.ORCWriter("~/b.orc", rows.schema) as writer:
        writer.write(rows)
    orcish.merge(["~/a.orc", pathlib.Path("~/b.orc")], pathlib.Path("~/c.orc"))
    assert sorted(path.name for path in home.iterdir()) == ["a.orc", "b.orc", "c.orc"]
    assert orcish.ORCFile("~/c.orc").num_rows == orcish.scan("~/[ab].orc").count() == 4
    for _ in range(2):
        orcish.write_dataset(rows, "~/t", existing_data="append")
    assert len(orcish.compact("~/t")) == 1
    assert orcish.delete(pathlib.Path("~/t"), "a = 1").rows == 2
    orcish.convert("~/t", "~/u")
    assert (orcish.recover("~/u"), orcish.vacuum("~/u")) == ("nothing", 0)
    assert orcish.read_table("~/u/")["a"].to_pylist() == [2, 2]
    assert list(elsewhere.iterdir()) == []
    for name in ("~a.orc", "a~.orc", "./~"):
        orcish.write_table(rows, name)
        assert orcish.read_table(name).num_rows == 2
    assert sorted(path.name for path in elsewhere.iterdir()) == ["a~.orc", "~", "~a.orc"]


@each_case("kind", [bytes, bytearray, memoryview, pa.py_buffer])
def test_bytes(kind):
    file = orcish.ORCFile(kind(DATA))
    assert file.file_length == len(DATA)
    assert file.read().equals(TABLE)
    assert file.read(threads=1).equals(TABLE)


def test_parts_of_buffers():
    padded = b"xx" + DATA + b"yyy"
    assert orcish.read_table(memoryview(padded)[2:-3]).equals(TABLE)
    assert orcish.read_table(pa.py_buffer(padded).slice(2, len(DATA))).equals(TABLE)


def test_file_objects(path):
    assert orcish.read_table(io.BytesIO(DATA)).equals(TABLE)
    with path.open("rb") as file:
        assert orcish.read_table(file).equals(TABLE)
        file.seek(17)  # Where the object stands does not matter.
        assert orcish.read_table(file).equals(TABLE)
    with path.open("rb", buffering=0) as file:
        assert orcish.read_table(file).equals(TABLE)
    with pa.OSFile(str(path)) as file:
        assert orcish.read_table(file).equals(TABLE)


def test_fsspec():
    memory = fsspec.filesystem("memory")
    memory.pipe("/orcish-test/t.orc", DATA)
    try:
        with memory.open("/orcish-test/t.orc", "rb") as file:
            assert orcish.read_table(file, columns=["s"]).equals(TABLE.select(["s"]))
    finally:
        memory.rm("/orcish-test", recursive=True)


class Short(io.RawIOBase):
    """Gives a few bytes at a time, as files of networks do."""

    def __init__(self):
        self.inner = io.BytesIO(DATA)
        self.calls = 0

    def readable(self):
        return True

    def seekable(self):
        return True

    def seek(self, offset, whence=0, /):
        return self.inner.seek(offset, whence)

    def read(self, size=-1, /):
        self.calls += 1
        return self.inner.read(min(size, 1 + self.calls % 1000))


def test_short_reads():
    source = Short()
    assert orcish.read_table(source).equals(TABLE)
    assert source.calls > 100


def test_reads_that_end_early():
    class Ends(Short):
        def read(self, size=-1, /):
            return super().read(size) if self.calls < 100 else b""

    with pytest.raises(OSError, match=r"<file object>: read.*gave 0 bytes"):
        orcish.read_table(Ends())


def test_a_file_object_that_becomes_shorter():
    source = io.BytesIO(DATA)
    source.name = "short.orc"
    file = orcish.ORCFile(source)
    source.truncate(100)
    with pytest.raises(OSError, match=r"short\.orc: read\(\d+\) at \d+ gave 0 bytes"):
        file.read()


class Odd(io.BytesIO):
    """A file object of which a call gives something else once the file has been opened, or from the first call on."""

    def __init__(self, call, gave, after=0):
        super().__init__(DATA)
        self.odd, self.gave, self.after = call, gave, after

    def _called(self, call, *args):
        usual = getattr(super(), call)(*args)
        if call != self.odd:
            return usual
        self.after -= 1
        return self.gave(usual) if self.after < 0 else usual

    def read(self, size=-1, /):
        return self._called("read", size)

    def seek(self, offset, whence=0, /):
        return self._called("seek", offset, whence)

    def tell(self):
        return self._called("tell")


@each_case("after", [0, 3])
def test_reads_that_give_no_bytes(after):
    for gave, error, match in (
        (lambda data: data + b"x", ValueError, r"read\(\d+\) at \d+ gave \d+ bytes"),
        (lambda data: data.decode("latin-1"), TypeError, "open for text.*'rb'"),
        (lambda data: None, TypeError, "read gave an object of type NoneType, where it gives bytes"),
        (lambda data: [1, 2], TypeError, "read gave an object of type list, where it gives bytes"),
    ):
        with pytest.raises(error, match=match):
            orcish.read_table(Odd("read", gave, after), threads=1)
    assert orcish.read_table(Odd("read", bytearray)).equals(TABLE)


def test_files_that_are_open_for_text(tmp_path, path):
    with pytest.raises(TypeError, match=r"open for text.*'rb'"):
        orcish.ORCFile(io.StringIO("ORC"))
    with pytest.raises(TypeError, match=r"open for text.*'rb'"), open(path, encoding="latin-1") as file:
        orcish.read_table(file)


def test_places_that_are_none():
    for gave, error, match in (
        (lambda place: -1, ValueError, r"seek\(.*\) gave -1, which is no place"),
        (lambda place: 1 << 80, ValueError, "which is no place"),
        (lambda place: str(place), TypeError, r"seek\(.*\) gave '\d+', where it gives a place in the file"),
        (lambda place: True, TypeError, "gave True"),
    ):
        for after in (0, 1):
            with pytest.raises(error, match=match):
                orcish.read_table(Odd("seek", gave, after), threads=1)
    with pytest.raises(ValueError, match=r"seek\(\d+\) went to \d+"):
        orcish.read_table(Odd("seek", lambda place: place + 1, 1), threads=1)

    class Silent(Odd):
        def seek(self, offset, whence=0, /):
            super().seek(offset, whence)

    assert orcish.read_table(Silent("none", None)).equals(TABLE)
    with pytest.raises(ValueError, match=r"tell\(\) gave -5"):
        orcish.read_table(Silent("tell", lambda place: -5))
    with pytest.raises(TypeError, match=r"tell\(\) gave None"):
        orcish.read_table(Silent("tell", lambda place: None))


@each_case("is_raw", [True, False])
def test_pipes_that_have_no_bytes_now(is_raw):
    read, write = os.pipe()
    os.set_blocking(read, False)
    with open(read, "rb", buffering=0) as pipe, open(write, "wb"):
        base = io.RawIOBase if is_raw else object

        class Pipe(base):
            def seek(self, offset, whence=0, /):
                return 1000 if whence == 2 else offset

            def read(self, size=-1, /):
                return pipe.read(size)

            def fileno(self):
                return pipe.fileno()

        with pytest.raises(BlockingIOError, match="does not block") as raised:
            orcish.ORCFile(Pipe())
        assert raised.value.errno == errno.EAGAIN


class BrokenError(Exception):
    pass


@each_case("threads", [1, 2])
@each_case("after", [0, 1, 5])
def test_exceptions_of_file_objects_come_out(threads, after):
    class Broken(io.BytesIO):
        calls = 0

        def read(self, size=-1, /):
            Broken.calls += 1
            if Broken.calls > after:
                raise BrokenError("the line is dead")
            return super().read(size)

    with pytest.raises(BrokenError, match="the line is dead"):
        orcish.read_table(Broken(DATA), threads=threads)
    Broken.calls = 0
    with pytest.raises(BrokenError):
        for _ in orcish.ORCFile(Broken(DATA)).iter_batches(threads=threads):
            pass


def test_files_that_are_not_there(tmp_path):
    for missing in (tmp_path / "none.orc", str(tmp_path / "none.orc")):
        with pytest.raises(FileNotFoundError, match=r"none\.orc"):
            orcish.ORCFile(missing)
    with pytest.raises(IsADirectoryError):
        orcish.ORCFile(tmp_path)
    # A folder is a table, for which this one has no files.
    with pytest.raises(FileNotFoundError):
        orcish.read_table(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no such files")
@each_case("call", ["ORCFile(path)", "read_table(path)", "merge([path], path + '.orc')", "CarbonFile(path)"])
def test_what_has_no_ranges(tmp_path, call):
    """Opening a pipe blocks until a writer opens it, and signals do not interrupt this."""
    pipe, listening = tmp_path / "pipe", tmp_path / "socket"
    os.mkfifo(pipe)
    code = f"""
        import socket, sys, orcish
        for path, text in zip(sys.argv[1:], ["it is a pipe (FIFO), of which", "it is a socket, of which"]):
            try:
                orcish.{call}
            except OSError as error:
                assert path in str(error) and text in str(error), error
                print("refused")
    """
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(listening))
        assert run_python(code, str(pipe), str(listening), timeout=30) == "refused\n" * 2


def test_what_is_no_source():
    for wrong in (None, 1, object(), ["a.orc"]):
        with pytest.raises(TypeError):
            orcish.ORCFile(wrong)


def test_empty_files_and_other_files(tmp_path):
    for data in (b"", b"O", b"ORC", b"\x00" * 100, b"PAR1" * 10, DATA[:-1]):
        with pytest.raises(orcish.CorruptFileError):
            orcish.ORCFile(data)
        path = tmp_path / "x.orc"
        path.write_bytes(data)
        with pytest.raises(orcish.CorruptFileError, match=r"x\.orc"):
            orcish.ORCFile(path)


def test_tails_are_used_again_in_other_processes(path):
    """With a given tail, nothing behind the last stripe is read."""
    tail = orcish.ORCFile(path).tail_bytes()
    (path.parent / "tail").write_bytes(tail)
    out = run_python(
        """
        import io, sys, pathlib, orcish
        folder = pathlib.Path(sys.argv[1])
        class Logged(io.FileIO):
            ends = []
            def read(self, size=-1):
                data = super().read(size)
                self.ends.append(self.tell())
                return data
        with Logged(str(folder / "t ü.orc")) as source:
            file = orcish.ORCFile(source, tail=(folder / "tail").read_bytes())
            assert not source.ends, "opening read something"
            last = file.stripes[-1]
            end = last.offset + last.index_length + last.data_length + last.footer_length
            table = file.read()
            assert max(source.ends) <= end < file.file_length
            print(table.num_rows, file.num_stripes, file.statistics("a").max)
        """,
        str(path.parent),
    )
    assert out.split() == ["20000", str(orcish.ORCFile(path).num_stripes), "19999"]


def test_tails_that_are_none():
    tail = orcish.ORCFile(DATA).tail_bytes()
    for wrong in (b"", b"x", tail[:-1], tail[:20]):
        with pytest.raises(orcish.OrcishError):
            orcish.ORCFile(DATA, tail=wrong)


def test_wrong_options():
    file = orcish.ORCFile(DATA)
    for options in (
        {"batch_size": 0},
        {"stripes": [99]},
        {"strings": "utf16"},
        {"timestamp_unit": "m"},
    ):
        with pytest.raises(ValueError, match=next(iter(options))):
            file.read(**options)
    with pytest.raises(TypeError, match="unknown"):
        file.read(unknown=1)
    with pytest.raises(ValueError, match="speed"):
        orcish.ORCFile(DATA, limits={"speed": 1})
