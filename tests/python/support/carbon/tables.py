"""Transactional tables: segments in all states, deletes, updates, partitions, and schemas that changed."""

import urllib.parse
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from support.carbon import metadata, stream
from support.carbon.columns import BOOLEAN, DATE, DECIMAL, TIMESTAMP, Column, column_id, columns_of, stored_order
from support.carbon.columns import column as make_column
from support.carbon.deletes import Deletes
from support.carbon.encodings import big_endian
from support.carbon.files import CLOCK, DataFile, FileOptions, index_bytes, merged_index, one_array, sort, write_data
from support.carbon.normal import as_read, read_column, read_type
from support.carbon.pages import DATE_ZERO

READABLE = ("success", "partial success", "marked for update", "streaming", "streaming finish")
NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"


@dataclass
class Segment:
    """A segment: what ``tablestatus`` says of it, its files, and its rows in the order of the files."""

    status: dict[str, str]
    table: pa.Table
    ids: list[str]
    files: list[DataFile] = field(default_factory=list)
    deleted: set[int] = field(default_factory=set)

    @property
    def live(self) -> pa.Table:
        """The rows that are not deleted."""
        return self.table.take(
            pa.array([row for row in range(self.table.num_rows) if row not in self.deleted], pa.int64())
        )


def default_bytes(column: Column, value) -> bytes:
    """A default value as schemas have it: a text, but for decimals, days and instants."""
    if column.kind == DECIMAL:
        return bytes([column.type.scale]) + big_endian(int(value.scaleb(column.type.scale)))
    number = pa.scalar(value, column.type)
    if column.kind == DATE:
        return str(number.cast(pa.int32()).as_py() + DATE_ZERO).encode()
    if column.kind == TIMESTAMP:
        millis = number.cast(pa.timestamp("ms", column.type.tz)).cast(pa.int64()).as_py()
        return ((millis + (1 << 63)) & (1 << 64) - 1).to_bytes(8, "big")
    return (str(value).lower() if column.kind == BOOLEAN else str(value)).encode()


class CarbonTableWriter:
    """Writes a table below ``path`` step by step; :meth:`rows` says what a reader must then find.

    The options beside those of :class:`FileOptions`: ``partition_by`` and ``flat`` for where the files are,
    ``merge_index`` for one index per folder, ``segment_files`` (old tables have none), ``versioned`` for names of
    ``tablestatus`` that change, ``properties`` for the schema.
    """

    def __init__(
        self,
        path: Path | str,
        schema: pa.Schema,
        *,
        partition_by: tuple[str, ...] = (),
        flat: bool = False,
        merge_index: bool = True,
        segment_files: bool = True,
        versioned: bool = False,
        properties: dict[str, str] | None = None,
        **options,
    ):
        self.path, self.options = Path(path), FileOptions(**options)
        self.partition_by, self.flat, self.merge_index = tuple(partition_by), flat, merge_index
        self.segment_files, self.versioned = segment_files, versioned
        self.properties = {"sort_columns": ",".join(self.options.sort_columns), "comment": "", **(properties or {})}
        self.columns = columns_of(
            schema,
            sort_columns=self.options.sort_columns,
            inverted_index=self.options.inverted,
            salt=self.path.name,
        )
        self.segments: dict[str, Segment] = {}
        self.deletes = Deletes(self.path)
        self.clock = CLOCK
        self._save()

    @property
    def schema(self) -> pa.Schema:
        """What readers see, in the user's order."""
        return pa.schema([(column.name, read_type(column.type)) for column in self._visible])

    @property
    def _visible(self) -> list[Column]:
        return [column for column in self.columns if not column.invisible]

    def load(
        self, table: pa.Table, *, state: str = "Success", files: int = 1, id: str | None = None, **more: str
    ) -> str:
        """Adds a segment and gives its id; ``more`` is said in ``tablestatus`` too."""
        id, clock = id or self._next_id(), self._tick()
        columns = stored_order(self._visible, self.options.sort_columns)
        table = table.select([column.name for column in self._visible])
        parts, locations, written, indexes = [], {}, [], 0
        for task, (where, names, part) in enumerate(self._folders(id, table, files)):
            folder = self.path / where.strip("/")
            folder.mkdir(parents=True, exist_ok=True)
            part = sort(part, self.options.sort_columns)
            stem = f"{task}_batchno0-0-{id}-{clock}"
            data = folder / f"part-0-{stem}.{self.options.compressor}.carbondata"
            file = write_data(data, part, columns, self.options, clock=clock)
            index = {
                f"{stem}.carbonindex": index_bytes(
                    columns, [file], sorted_by=bool(self.options.sort_columns), clock=clock
                )
            }
            parts.append(part)
            written.append(file)
            indexes += sum(map(len, index.values()))
            locations.setdefault(where, (names, {}))[1].update(index)
        status = {
            "loadName": id,
            "loadStatus": state,
            "loadStartTime": str(clock),
            "timestamp": str(clock + 200),
            "dataSize": str(sum(file.size for file in written)),
            "indexSize": str(indexes),
        }
        described = {where: self._write_indexes(where, id, clock, *found) for where, found in locations.items()}
        if self.segment_files:
            status["segmentFile"] = f"{id}_{clock}.segment"
            text = metadata.segment_file(described)
            metadata.write_text(self.path / "Metadata/segments" / status["segmentFile"], text)
        rows = pa.concat_tables(parts) if parts else table
        self.segments[id] = Segment({**status, **more}, rows, [column.id for column in self._visible], written)
        self._save()
        return id

    def mark(self, id: str, state: str, **more: str) -> None:
        """Changes the state of a segment."""
        when = {"modificationOrDeletionTimestamp": str(self._tick())}
        self.segments[id].status.update({"loadStatus": state, **when, **more})
        self._save()

    def overwrite(self, table: pa.Table) -> str:
        """What INSERT OVERWRITE does: all segments are marked as deleted, and one is added."""
        for id in self.segments:
            self.segments[id].status["loadStatus"] = "Marked for Delete"
        return self.load(table)

    def compact(self, ids: list[str]) -> str:
        """Writes the live rows of segments as a new one, such as ``0.1``, and marks them as compacted."""
        tables = [self._current(self.segments[id]) for id in ids]
        named, levels = ids[0].split(".")[0], (int(id.split(".")[1]) if "." in id else 0 for id in ids)
        made = f"{named}.{max(levels) + 1}"
        for id in ids:
            self.segments[id].status.update(loadStatus="Compacted", mergedLoadName=made)
        return self.load(pa.concat_tables(tables), id=made, majorCompacted="true")

    def delete(self, id: str, rows, *, listed: bool = False) -> None:
        """Deletes rows of a segment, by their numbers in its ``table``; ``listed`` names each delta file in the status."""
        self._delete(id, rows, listed=listed)

    def update(self, id: str, rows, table: pa.Table) -> str:
        """What UPDATE does: deletes rows and adds a segment with the new ones."""
        self._delete(id, rows)
        return self.load(table)

    def stream(
        self, table: pa.Table, *, block_rows: int = 1000, finished: bool = False, uncommitted: bytes = b""
    ) -> str:
        """Adds a streaming segment; ``uncommitted`` bytes follow those that the index knows."""
        id, clock = self._next_id(), self._tick()
        columns = stored_order(self._visible, self.options.sort_columns)
        data = stream.stream_bytes(table, columns, self.options.compressor, block_rows=block_rows, clock=clock)
        folder = self.path / f"Fact/Part0/Segment_{id}"
        name = f"part-0-0_batchno0-0-{id}-0.{self.options.compressor}.carbondata"
        metadata.write_text(folder / name, data + uncommitted)
        index = stream.stream_index(name, table.num_rows, len(data))
        metadata.write_text(folder / "0_batchno0-0-0-0.carbonindex", index)
        status = {
            "loadName": id,
            "loadStatus": "Streaming Finish" if finished else "Streaming",
            "loadStartTime": str(clock),
            "fileFormat": "row_v1",
        }
        table = table.select([column.name for column in self._visible])
        self.segments[id] = Segment(status, table, [column.id for column in self._visible])
        self._save()
        return id

    def add_segment(self, folder: Path, table: pa.Table, *, kind: str = "orc") -> str:
        """Adds a folder of other files, which hold the rows of ``table``, as ALTER TABLE ADD SEGMENT does."""
        id, clock = self._next_id(), self._tick()
        names = sorted(path.name for path in folder.iterdir())
        segment = metadata.segment_file({str(folder): metadata.location(files=names, relative=False)})
        metadata.write_text(self.path / f"Metadata/segments/{id}_{clock}.segment", segment)
        status = {
            "loadName": id,
            "loadStatus": "Success",
            "loadStartTime": str(clock),
            "timestamp": str(clock + 200),
            "segmentFile": f"{id}_{clock}.segment",
            "fileFormat": kind,
            "path": str(folder),
        }
        table = table.select([column.name for column in self._visible])
        self.segments[id] = Segment(status, table, [column.id for column in self._visible])
        self._save()
        return id

    def alter_add(self, name: str, of: pa.DataType, default=None) -> None:
        """Adds a column; rows that were there before have the default, or null."""
        new = make_column(name, of, column_id(self.path.name, name, self._tick()), ordinal=len(self.columns))
        new.default = None if default is None else default_bytes(new, default)
        new.fallback = default
        self.columns.append(new)
        self._save()

    def alter_rename(self, old: str, new: str) -> None:
        self._find(old).name = new
        self._save()

    def alter_drop(self, name: str) -> None:
        self._find(name).invisible = True
        self._save()

    def alter_widen(self, name: str, of: pa.DataType) -> None:
        """Changes int to long, or the precision of a decimal."""
        self._find(name).type = of
        self._save()

    def rows(self) -> pa.Table:
        """All live rows as readers give them, in the order of the segments, with the partition columns at the end."""
        readable = [s for s in self.segments.values() if s.status["loadStatus"].lower() in READABLE]
        tables = [as_read(self._current(segment)) for segment in readable]
        found = pa.concat_tables(tables) if tables else self.schema.empty_table()
        plain = [name for name in found.column_names if name not in self.partition_by]
        return found.select([*plain, *self.partition_by])

    def _find(self, name: str) -> Column:
        return next(column for column in self._visible if column.name == name)

    def _tick(self) -> int:
        self.clock += 1000
        return self.clock

    def _next_id(self) -> str:
        return str(1 + max((int(id.split(".")[0]) for id in self.segments), default=-1))

    def _current(self, segment: Segment) -> pa.Table:
        """The live rows of a segment in the columns that the table has now."""
        live = segment.live
        columns = {}
        for column in self._visible:
            if column.id in segment.ids:
                values = live.column(segment.ids.index(column.id)).cast(column.type)
            else:
                default = pa.scalar(column.fallback, column.type)
                values = pa.chunked_array([pa.repeat(default, live.num_rows)])
            columns[column.name] = values
        return pa.table(columns)

    def _folders(self, id: str, table: pa.Table, files: int):
        """Where the parts of a segment go: folder, partition, rows."""
        if self.partition_by:
            for names, part in self._partitions(table):
                yield "/" + "/".join(names), names, part
            return
        where = "" if self.flat else f"/Fact/Part0/Segment_{id}"
        share = -(-table.num_rows // files) or 1
        for start in range(0, table.num_rows, share):
            yield where, [], table.slice(start, share)

    def _partitions(self, table: pa.Table):
        keys = [one_array(read_column(table.column(name))).to_pylist() for name in self.partition_by]
        found: dict[tuple, list[int]] = {}
        for row, key in enumerate(zip(*keys, strict=True)):
            found.setdefault(key, []).append(row)
        for key, rows in found.items():
            values = [NO_PARTITION if value is None else urllib.parse.quote(str(value), safe=" -_.") for value in key]
            names = [f"{name}={value}" for name, value in zip(self.partition_by, values, strict=True)]
            yield names, table.take(pa.array(rows))

    def _write_indexes(self, where: str, id: str, clock: int, names: list[str], indexes: dict[str, bytes]) -> dict:
        """Writes the index files of a folder and gives what the segment file says of it."""
        folder = self.path / where.strip("/")
        if not self.merge_index:
            for name, data in indexes.items():
                metadata.write_text(folder / name, data)
            return metadata.location(files=list(indexes), partitions=names)
        merged = f"{id}_{clock}.carbonindexmerge"
        metadata.write_text(folder / merged, merged_index(indexes))
        return metadata.location(merged=merged, partitions=names)

    def _delete(self, id: str, rows, *, listed: bool = False) -> None:
        segment = self.segments[id]
        wanted = sorted(set(rows) - segment.deleted)
        self.deletes.add(id, segment.files, wanted, self._tick(), listed=listed)
        segment.deleted.update(wanted)
        self._save()

    def _save(self) -> None:
        """Writes the schema and the status of the segments."""
        name, properties = "tablestatus", dict(self.properties)
        if self.versioned:
            properties["latestversion"] = str(self._tick())
            name = f"tablestatus_{properties['latestversion']}"
        info = metadata.table_info(
            self.path.name,
            self.columns,
            self.options.sort_columns,
            properties,
            partition_by=self.partition_by,
            clock=self.clock,
        )
        metadata.write_text(self.path / "Metadata/schema", info)
        if not self.segments:
            return
        statuses = [dict(segment.status) for segment in self.segments.values()]
        if self.deletes.status:
            statuses[0]["updateStatusFileName"] = self.deletes.status
        metadata.write_text(self.path / "Metadata" / name, metadata.json_text(statuses))
