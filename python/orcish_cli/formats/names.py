"""Names of formats, the endings of their files, and their codecs."""

from __future__ import annotations

from typing import NamedTuple

from orcish._native import Location
from orcish.errors import UnsupportedError
from orcish.io.names import display_name

__all__ = ["COMPRESSED", "ENDINGS", "FORMATS", "ORC", "TEXT", "Named", "codec_of", "named", "unknown_ending"]

ORC = "orc"
ENDINGS = {
    "orc": ORC,
    "parquet": "parquet",
    "parq": "parquet",
    "pq": "parquet",
    "csv": "csv",
    "tsv": "csv",
    "jsonl": "json",
    "ndjson": "json",
    "json": "json",
    "arrow": "arrow",
    "feather": "arrow",
    "ipc": "arrow",
    "arrows": "arrows",
}
"""Formats by the endings of names."""
FORMATS = tuple(dict.fromkeys(ENDINGS.values()))
TEXT = ("csv", "json")
"""Formats of text."""
ENDING_OF = {"csv": "csv", "json": "jsonl"}
"""Usual endings of formats of text."""
COMPRESSED = {"gz": "gzip", "zst": "zstd", "bz2": "bz2"}
"""Codecs by the endings of compressed files of text."""
CODECS: dict[str, dict[str, str]] = {
    ORC: {name: name for name in ("zstd", "zlib", "snappy", "lz4", "brotli", "none")},
    "parquet": {name: name for name in ("zstd", "gzip", "snappy", "lz4", "brotli", "none")} | {"zlib": "gzip"},
    "csv": {name: name for name in ("gzip", "zstd", "bz2", "none")} | {"zlib": "gzip"},
    "json": {name: name for name in ("gzip", "zstd", "bz2", "none")} | {"zlib": "gzip"},
    "arrow": {name: name for name in ("zstd", "lz4", "none")},
    "arrows": {name: name for name in ("zstd", "lz4", "none")},
}
"""Names of the codecs of each format, and what pyarrow calls them."""
LEVELS = {("parquet", "zstd"), ("parquet", "gzip"), ("parquet", "brotli"), ("arrow", "zstd"), ("arrows", "zstd")}
"""Formats and codecs that have levels."""


class Named(NamedTuple):
    """What a name says of a file."""

    format: str | None
    """``None`` if it has no known ending."""
    compressed: str
    """The codec of a whole file of text; ``none`` elsewhere."""
    delimiter: str
    """What separates the cells of CSV."""


def named(name: str) -> Named:
    """What the name of a file, or a pattern, says of it."""
    parts = _last(name).lower().split(".")[1:]
    compressed = COMPRESSED.get(parts[-1], "none") if len(parts) > 1 else "none"
    if compressed != "none":
        parts.pop()
    ending = parts[-1] if parts else ""
    found = ENDINGS.get(ending)
    if compressed != "none" and found not in TEXT:
        return Named(None, "none", ",")
    return Named(found, compressed, "\t" if ending == "tsv" else ",")


def unknown_ending(name: str) -> str:
    """The ending of a name without a known one, such as ``xlsx``; empty if there is none."""
    last = _last(name)
    ending = last.rpartition(".")[2] if "." in last.lstrip(".") else ""
    return ending if ending.isalnum() and not ending.isdigit() and named(name).format is None else ""


def _last(name: str) -> str:
    # Queries of URLs follow the name.
    path = name.partition("?")[0] if Location(name).is_http else name
    return "" if path.endswith("/") else path.rpartition("/")[2]


def codec_of(target: str, form: str, given: str | None, level: int | None, default: str) -> str:
    """The codec that pyarrow writes a file with.

    Args:
        target: The name of the file.
        form: Its format.
        given: The codec that is asked for.
        level: The level that is asked for.
        default: The codec where none is asked for.

    Raises:
        UnsupportedError: The format does not have the codec, or the codec has no levels.
        ValueError: The name of a file of text says that it has another codec.
    """
    codecs = CODECS[form]
    if given is not None and given not in codecs:
        known = ", ".join(sorted(set(codecs.values())))
        raise UnsupportedError(f"{display_name(target)}: {form} has no codec {given}: it has {known}")
    found = default if given is None else codecs[given]
    own = named(target)
    if own.format == form and form in TEXT and found != own.compressed:
        endings = {codec: f".{ending}" for ending, codec in COMPRESSED.items()}
        raise ValueError(
            f"{display_name(target)}: the codec of {form} is known by its name, which says {own.compressed}: a file "
            f"of {found} has the ending .{ENDING_OF[form]}{endings.get(found, '')}"
        )
    if form != ORC and level is not None and (form, found) not in LEVELS:
        codec = f"{form} that is not compressed" if found == "none" else f"{found} of {form}"
        raise UnsupportedError(f"{display_name(target)}: {codec} has no levels: leave the level out")
    return found
