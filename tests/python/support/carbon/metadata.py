"""The files of a table beside its data: schema, status of segments, segment files, deletes."""

import base64
import gzip
import json
from pathlib import Path

from support.carbon import thrift
from support.carbon.columns import Column, column_id, schema_list, stored_order


def table_info(
    name: str, columns: list[Column], sort_columns, properties: dict[str, str], *, partition_by=(), clock: int
) -> bytes:
    """The struct ``TableInfo`` of ``Metadata/schema``."""
    stored = stored_order(columns, sort_columns)
    history = thrift.struct({1: thrift.i64(clock), 2: thrift.structs([]), 3: thrift.structs([])})
    partitions = [next(column for column in stored if column.name == name) for name in partition_by]
    fact = {
        1: thrift.binary(column_id("table", name)),
        2: schema_list(stored),
        3: thrift.nested(thrift.struct({1: thrift.structs([history])})),
        4: thrift.texts(properties),
    }
    if partitions:
        fact[6] = thrift.nested(thrift.struct({1: schema_list(partitions), 2: thrift.i32(4)}))
    return thrift.struct({1: thrift.nested(thrift.struct(fact)), 2: thrift.structs([])})


def json_text(value) -> str:
    """JSON as Gson writes it."""
    text = json.dumps(value, separators=(",", ":"))
    for character in "=<>&'":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def segment_file(locations: dict[str, dict]) -> str:
    """A segment file: the folders of a segment, with their index files."""
    bounds = base64.b64encode(gzip.compress(b"{}", mtime=0)).decode()
    return json_text({"locationMap": locations, "segmentMetaDataInfo": bounds})


def location(*, files=(), merged: str | None = None, partitions=(), relative: bool = True) -> dict:
    """A folder of a segment file."""
    found = {"files": list(files), "partitions": list(partitions), "status": "Success"}
    return {**found, **({"mergeFileName": merged} if merged else {}), "isRelative": relative}


def delete_delta(block: str, places: list[tuple[int, int, int]]) -> str:
    """A delete delta: rows of a file by blocklet and page."""
    pages: dict[str, dict] = {}
    for blocklet, page, row in places:
        found = {"id": str(blocklet), "pageId": page, "deletedRows": []}
        pages.setdefault(f"{blocklet}_{page}", found)["deletedRows"].append(row)
    return json_text({"blockletDetailsMap": pages, "blockName": block})


def write_text(path: Path, text: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
