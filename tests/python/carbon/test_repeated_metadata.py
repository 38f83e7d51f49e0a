"""Metadata of CarbonData that say the same often: what opening a table holds and reads does not grow with their product."""

import json
import sys

import orcish
import pytest
from support.carbon import write_folder
from support.carbon_tables import some, writer
from support.case_loops import each_case
from support.processes import run_python
from support.protobuf import varint

MIB = 1 << 20
BLOCK = "b" * 150
# An index of version 3 without columns.
HEADER = bytes([0x15, 6, 0x19, 0x0C, 0])


def entry(name):
    """An entry of an index: a row, the name, the offset of the footer, bounds that are missing, and a blocklet."""
    return bytes([0x16, 2, 0x18]) + varint(len(name)) + name + bytes([0x16, 14, 0x1C, 0, 0x1C, 0x15, 2, 0, 0])


def deleted(tmp_path, files, stamps):
    """A table of one segment, which has so many files of one block, with so many delete deltas, none of which is there."""
    written = writer(tmp_path, merge_index=False)
    written.load(some())
    written.delete("0", [1, 2])
    (index,) = written.path.rglob("*.carbonindex")
    index.write_bytes(HEADER + b"".join(entry(f"{BLOCK}-{at}.carbondata".encode()) for at in range(files)))
    status = written.path / "Metadata" / written.deletes.status
    update = {
        "segmentName": "0",
        "blockName": BLOCK,
        "actualBlockName": f"{BLOCK}-0.carbondata",
        "deleteDeltaStartTimestamp": "1",
        "deleteDeltaEndTimestamp": "2",
        "deltaFileStamps": [str(at) for at in range(stamps)],
        "deletedRowsInBlock": "0",
    }
    status.write_text(json.dumps([update]))
    return str(written.path)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak of memory is of Linux")
def test_delete_deltas_of_many_files_of_one_block(tmp_path):
    """Delete deltas are shared by the files of a block: 4,000,000 names would take 800 MiB."""
    path = deleted(tmp_path, 2000, 2000)
    code = """
        import sys, orcish
        table = orcish.CarbonTable(sys.argv[1], limits={"memory": 64 << 20})
        with open("/proc/self/status") as status:
            peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
        print(len(table.files), peak)
    """
    files, peak = run_python(code, path).split()
    assert int(files) == 2000
    assert int(peak) < 400 * MIB


def test_delete_deltas_are_charged(tmp_path):
    path = deleted(tmp_path, 10, 10_000)
    assert len(orcish.CarbonTable(path, limits={"memory": 16 * MIB}).files) == 10
    with pytest.raises(orcish.LimitExceededError, match=r"names of delete deltas of more than.*memory"):
        orcish.CarbonTable(path, limits={"memory": MIB})


def test_delete_deltas_of_folders_are_charged(tmp_path):
    """In folders without metadata, a delete delta belongs to all files with the same prefix."""
    folder = tmp_path / "t"
    write_folder(folder, some(), files=3)
    for at in range(5000):
        (folder / f"part-0-0_{'x' * 150}{at:06d}.deletedelta").write_text('{"blockletDetailsMap":{}}')
    assert orcish.CarbonTable(str(folder), limits={"memory": 16 * MIB}).num_rows == 100
    with pytest.raises(orcish.LimitExceededError, match="names of delete deltas"):
        orcish.CarbonTable(str(folder), limits={"memory": MIB})


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bytes that are read are counted by Linux")
@each_case("merge_index", [True, False])
def test_an_index_that_is_named_often_is_read_once(tmp_path, merge_index):
    written = writer(tmp_path, merge_index=merge_index)
    written.load(some())
    (segment,) = (written.path / "Metadata/segments").iterdir()
    whole = json.loads(segment.read_text())
    for folder in whole["locationMap"].values():
        folder["files"] = [folder.pop("mergeFileName", None) or folder["files"][0]] * 50_000
    segment.write_text(json.dumps(whole))
    (index,) = (path for path in written.path.rglob("*.carbonindex*") if path.is_file())
    code = """
        import sys, orcish
        def read():
            with open("/proc/self/io") as counts:
                return int(counts.readline().split()[1])
        # Its modules are read when it is asked for.
        opened = orcish.CarbonTable
        before = read()
        table = opened(sys.argv[1])
        print(read() - before, len(table.files))
    """
    count, files = map(int, run_python(code, str(written.path)).split())
    assert files == 1
    assert count < segment.stat().st_size + 100 * index.stat().st_size
