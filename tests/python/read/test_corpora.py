"""Files that fuzzing found: what one verb of Python says of such a file, the others say too."""

import hashlib
import pathlib
import re
import tarfile

import orcish
import pyarrow as pa
from support.case_loops import each_case

CORPORA = pathlib.Path(__file__).parents[3] / "fuzz" / "corpora"
TARGETS = ["check", "convert", "file", "filter", "json", "merge", "tail"]
ERRORS = (orcish.OrcishError, OSError)
LIMITS = {"tail": 1 << 20, "chunk": 1 << 20, "depth": 32, "columns": 1_000, "stripes": 1_000, "memory": 32 << 20}
MAX_ROWS = 5_000


def inputs(target):
    with tarfile.open(CORPORA / f"{target}.tar.xz") as archive:
        return [archive.extractfile(member).read() for member in archive]


def answer(ask):
    """What a question gives, or None where the file cannot be read."""
    try:
        return ask()
    except orcish.errors.NullMapKeyError:
        raise
    except ERRORS:
        return None


def shown(table):
    """The schema and each column as text: NaN is like NaN, and times that Python does not have are numbers."""
    return [str(table.schema.remove_metadata()), *(text(column) for column in table.columns)]


def text(column):
    try:
        return column.combine_chunks().to_string(window=10**6, container_window=10**6)
    except pa.ArrowNotImplementedError:  # unions
        return str(column.to_pylist())


def rows_of(batches, schema):
    return pa.Table.from_batches(batches, schema)


def agree(content, path):
    """Asks each verb of a file; how many rows it has, or None where it cannot be read or has too many."""
    file = answer(lambda: orcish.ORCFile(content, limits=LIMITS))
    scan = answer(lambda: orcish.scan(content, limits=LIMITS))
    if file is None or file.num_rows > MAX_ROWS:
        assert file or not scan
        return None
    table = answer(lambda: file.read())
    findings = answer(lambda: file.check())
    others = {
        "batches": lambda: rows_of(file.iter_batches(batch_size=7, threads=2), file.schema),
        "scan": lambda: scan and scan.to_table(),
        "parts": lambda: scan and rows_of((batch for part in scan.splits(1) for batch in part.scan()), scan.schema),
    }
    if table is None:
        assert findings is None or findings
    else:
        table.validate(full=True)
        assert scan.count() == table.num_rows
        if can_be_written(table, path):
            others["rewritten"] = lambda: orcish.read_table(path)
    for name, ask in others.items():
        try:
            other = answer(ask)
        except orcish.errors.NullMapKeyError:
            # Tables hold such maps with dictionaries as keys, which batches do only where `null_map_keys` says so.
            assert name in ("batches", "parts")
            assert table is None or "dictionary<" in str(table.schema)
            continue
        assert (other is None) == (table is None), name
        assert other is None or shown(other) == shown(table), name
    for name in [] if table is None else set(table.schema.names):
        if table.schema.names.count(name) == 1:
            assert shown(file.read(columns=[name])) == shown(table.select([name])), name
    return table and table.num_rows


def can_be_written(table, path):
    """Writes the table. Null keys of maps, lengths of types that are none, and millions of blanks are refused."""
    try:
        orcish.write_table(table, path, existing_data="overwrite")
    except ValueError as refusal:
        if not re.search("a null in a field that has none|no column of text can be|more than 65536", str(refusal)):
            raise
        return False
    return True


@each_case("target", TARGETS)
def test_verbs_agree_on_files_that_fuzzing_found(target, tmp_path):
    seen, read = set(), 0
    for content in inputs(target):
        digest = hashlib.sha1(content).hexdigest()
        try:
            rows = agree(content, tmp_path / "again.orc")
        except BaseException:
            (tmp_path / digest).write_bytes(content)
            print("input", tmp_path / digest)
            raise
        seen.add(digest)
        read += rows is not None
    assert len(seen) >= 50
