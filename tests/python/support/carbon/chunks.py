"""Chunks: the pages of one column in one blocklet, with a local dictionary, as bytes."""

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from support.carbon import bounds, thrift
from support.carbon import columns as c
from support.carbon import encodings as e
from support.carbon.nested import parts_of
from support.carbon.pages import (
    LONG_PLAIN,
    PLAIN,
    Page,
    PageOptions,
    bytes_page,
    child_page,
    date_page,
    filled,
    text_page,
    value_page,
)


@dataclass
class Chunk:
    """The chunk of a column: its struct, its pages, and the bounds of the blocklet."""

    head: bytes
    body: bytes
    low: bytes
    high: bytes
    present: bool


@dataclass
class Dictionary:
    """The values of a chunk by their keys; each page has its keys."""

    values: pa.Array
    used: np.ndarray
    keys: list[np.ndarray] = field(default_factory=list)


def compress(data: bytes, codec: str) -> bytes:
    return pa.compress(data, codec=codec, asbytes=True)


def local_dictionary(column: c.Column, pages: list[pa.Array], threshold: int) -> Dictionary | None:
    """The dictionary of a chunk of texts, if it has few enough values: keys from 2 on, and 1 for null."""
    whole = pa.chunked_array(pages).combine_chunks()
    whole = pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole
    whole = filled(column, whole) if column.child else whole
    coded = whole.dictionary_encode()
    if len(coded.dictionary) > threshold:
        return None
    nulls = whole.null_count > 0
    keys = np.asarray(coded.indices.fill_null(-1)).astype(np.int64) + 2
    used = np.ones(len(coded.dictionary) + 2, bool)
    used[:2] = False, nulls
    null = filled(column, pa.nulls(int(nulls), whole.type))
    dictionary = Dictionary(pa.concat_arrays([null, coded.dictionary]), used)
    at = 0
    for page in pages:
        dictionary.keys.append(keys[at : at + len(page)])
        at += len(page)
    return dictionary


def dictionary_struct(column: c.Column, dictionary: Dictionary, codec: str) -> bytes:
    """The struct ``LocalDictionaryChunk``."""
    wide = column.kind == c.VARCHAR and not column.child
    meta = e.meta(column.name, e.T_BYTES, LONG_PLAIN if wide else PLAIN, e.T_BYTES, 0, b"", codec)
    described = thrift.struct({1: thrift.i32s([e.DIRECT_COMPRESS]), 2: thrift.binaries([meta])})
    return thrift.struct(
        {
            1: thrift.nested(described),
            2: thrift.binary(compress(e.length_values(dictionary.values, 4 if wide else 2, cut=column.child), codec)),
            3: thrift.binary(compress(e.bitset(dictionary.used), codec)),
        }
    )


def page_struct(column: c.Column, page: Page, data: bytes, codec: str) -> bytes:
    """The struct ``DataChunk2`` of a page whose data is compressed."""
    size = len(data) + len(page.ids) + len(page.runs)
    codecs = {1: thrift.i32(1), 2: thrift.i64(len(page.data)), 3: thrift.i64(size), 4: thrift.binary(codec)}
    presence = {1: thrift.flag(False), 2: thrift.binary(compress(page.nulls, codec))}
    low, high, good = bounds.pair(column, page.low, page.high, page=True)
    adaptive = page.meta is not None and page.encoders[0] != e.DIRECT_COMPRESS
    fields = {
        1: thrift.nested(thrift.struct(codecs)),
        2: thrift.flag(False),
        3: thrift.i32(len(data)),
        4: thrift.i32(len(page.ids)) if page.ids or adaptive else None,
        5: thrift.i32(len(page.runs)) if page.runs else None,
        6: thrift.nested(thrift.struct(presence)),
        7: thrift.i32(page.state) if page.state else None,
        8: thrift.i32s(page.encoders),
        9: thrift.binaries([page.meta] if page.meta is not None else []),
        10: thrift.nested(min_max([low], [high], [good])),
        11: thrift.i32(page.rows),
    }
    return thrift.struct(fields)


def min_max(lows, highs, good) -> bytes:
    """The struct ``BlockletMinMaxIndex``."""
    return thrift.struct({1: thrift.binaries(lows), 2: thrift.binaries(highs), 3: thrift.flags(good)})


def chunk(column: c.Column, pages: list[Page], dictionary: Dictionary | None, codec: str) -> Chunk:
    structs, bodies = [], []
    for page in pages:
        data = compress(page.data, codec)
        structs.append(page_struct(column, page, data, codec))
        bodies.append(data + page.ids + page.runs)
    lengths = [len(body) for body in bodies]
    head = {
        1: thrift.structs(structs),
        2: thrift.i32s(np.cumsum([0, *lengths])[:-1]),
        3: thrift.i32s(lengths),
        4: thrift.nested(dictionary_struct(column, dictionary, codec)) if dictionary else None,
    }
    if pages[0].low is None:
        low, high, good = *bounds.NO_BOUNDS, True
    else:
        low, high = min(page.low for page in pages), max(page.high for page in pages)
        low, high, good = bounds.pair(column, low, high, page=False)
    return Chunk(thrift.struct(head), b"".join(bodies), low, high, good)


def chunks_of(column: c.Column, pages: list[pa.Array], options: PageOptions, threshold: int) -> list[Chunk]:
    """The chunks of a column, one for itself and one for each descendant; no dictionary if ``threshold`` is 0."""
    codec = options.compressor
    if column.kind in c.COMPLEX:
        return complex_chunks(column, pages, options, threshold)
    dictionary = None
    if column.kind in c.TEXTS and threshold:
        dictionary = local_dictionary(column, pages, threshold)
    made = []
    for number, array in enumerate(pages):
        if column.kind in (*c.TEXTS, c.BINARY):
            keys = dictionary.keys[number] if dictionary else None
            made.append(text_page(column, array, options, keys))
        elif column.kind == c.DATE:
            made.append(date_page(column, array, options))
        else:
            made.append(value_page(column, array, options))
    return [chunk(column, made, dictionary, codec)]


def complex_chunks(column: c.Column, pages: list[pa.Array], options: PageOptions, threshold: int) -> list[Chunk]:
    """The chunks of a complex column, depth first."""
    by_page = [list(parts_of(column, array)) for array in pages]
    out = []
    for parts in zip(*by_page, strict=True):
        part = parts[0].column
        if parts[0].place is not None:
            made = [bytes_page(part, p.place, p.rows, p.data, options) for p in parts]
            out.append(chunk(part, made, None, options.compressor))
            continue
        arrays, dictionary = [p.array for p in parts], None
        if part.kind in c.TEXTS and threshold and any(map(len, arrays)):
            dictionary = local_dictionary(part, arrays, threshold)
        made = []
        for number, array in enumerate(arrays):
            keys = dictionary.keys[number] if dictionary else None
            made.append(child_page(part, array, options, keys))
        out.append(chunk(part, made, dictionary, options.compressor))
    return out
