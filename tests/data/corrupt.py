"""Makes the broken files of `corrupt/`, each of one fault; tests/rust/corrupt.rs has the error that each must give."""

from __future__ import annotations

import zlib

from generate import HERE, Message, varint

BOOLEAN, BYTE, SHORT, INT, LONG, FLOAT, DOUBLE, STRING, BINARY, TIMESTAMP, LIST, MAP, STRUCT, UNION, DECIMAL = range(15)
PRESENT, DATA, LENGTH, DICTIONARY_DATA, _, SECONDARY = range(6)
DIRECT, DICTIONARY, DIRECT_V2, DICTIONARY_V2 = range(4)
NONE, ZLIB, SNAPPY, LZO, LZ4, ZSTD, BROTLI = range(7)
# One run of version 2 with five times the number 1 (unsigned) or -1 (signed).
FIVE = bytes([0b00000010, 1])


def message(*pairs) -> bytes:
    return Message(pairs).bytes()


def kind(number: int, *children: int, names=(), precision=None, scale=None) -> bytes:
    pairs = [(1, number)]
    if children:
        pairs.append((2, b"".join(map(varint, children))))
    pairs += [(3, name.encode()) for name in names]
    pairs += [(5, precision)] if precision is not None else []
    pairs += [(6, scale)] if scale is not None else []
    return message(*pairs)


def one(number: int, **more) -> list[bytes]:
    """Types of a struct with one field."""
    return [kind(STRUCT, 1, names=["c"]), kind(number, **more)]


def make(
    types: list[bytes],
    streams=(),
    encodings=None,
    rows=5,
    codec=NONE,
    chunk_size=1000,
    footer_rows=None,
    stripe=(),
    stripe_footer=None,
    zone="UTC",
    footer=None,
    postscript=(),
    stripes=1,
    after=b"",
    extra=b"",
) -> bytes:
    """A file of one stripe. `streams` are (kind, column, bytes[, stated length]); fields of `stripe` and
    `postscript` replace those that are right."""

    def pack(data: bytes) -> bytes:
        return data if codec == NONE else (len(data) * 2 + 1).to_bytes(3, "little") + data

    encodings = [DIRECT_V2] * len(types) if encodings is None else encodings
    body = b"ORC" + b"".join(stream[2] for stream in streams)
    heads = [message((1, s[0]), (2, s[1]), (3, s[3] if len(s) > 3 else len(s[2]))) for s in streams]
    columns = [message((1, e)) if isinstance(e, int) else message((1, e[0]), (2, e[1])) for e in encodings]
    if stripe_footer is None:
        zone = zone if isinstance(zone, bytes) else zone.encode()
        pairs = [(1, head) for head in heads] + [(2, column) for column in columns] + [(3, zone)]
        stripe_footer = pack(message(*pairs))
    info = Message([(1, 3), (2, 0), (3, len(body) - 3), (4, len(stripe_footer)), (5, rows)])
    for field, value in stripe:
        info.set(field, value)
    out = body + stripe_footer + after
    if footer is None:
        total = rows * stripes if footer_rows is None else footer_rows
        pairs = [(1, 3), (2, len(out))] + [(3, info.bytes())] * stripes + [(4, type_) for type_ in types] + [(6, total)]
        footer = pack(message(*pairs) + extra)
    tail = Message([(1, len(footer)), (2, codec), (3, chunk_size), (4, bytes([0, 12])), (5, 0), (6, 9), (8000, b"ORC")])
    for field, value in postscript:
        tail.set(field, *([] if value is None else [value]))
    tail = tail.bytes()
    return out + footer + tail + bytes([len(tail)])


def chunk(data: bytes, original=False) -> bytes:
    return (len(data) * 2 + original).to_bytes(3, "little") + data


def deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return chunk(packer.compress(data) + packer.flush())


def strings(encoding, *streams, rows=5, **more) -> bytes:
    return make(one(STRING), streams, [DIRECT, encoding], rows=rows, **more)


def files() -> dict[str, bytes]:
    whole = (HERE / "pyorc.none.orc").read_bytes()
    good = make(one(INT), [(DATA, 1, FIVE)])
    deep = [kind(LIST, i + 1) for i in range(128)] + [kind(INT)]
    struct = kind(STRUCT, 1, 2, names=["a", "b"])
    lists = [kind(STRUCT, 1, names=["c"]), kind(LIST, 2), kind(INT)]
    maps = [kind(STRUCT, 1, names=["c"]), kind(MAP, 2, 3), kind(INT), kind(INT)]
    unions = [kind(STRUCT, 1, names=["c"]), kind(UNION, 2, 3), kind(INT), kind(INT)]
    longest = bytes([0b00000000 | 3 << 3 | 2]) + (2**32 - 1).to_bytes(4, "big")
    beyond = bytes([0b00000000 | 7 << 3 | 2]) + b"\xff" * 8
    word = [(LENGTH, 1, FIVE), (DICTIONARY_DATA, 1, b"abcde")]
    garbage = bytes(range(200, 250))
    small = one(DECIMAL, precision=3, scale=0)
    scales = (SECONDARY, 1, bytes([2, 0]))
    result = {
        # The tail.
        "nothing": b"",
        "three-bytes": b"ORC",
        "text": b"a,b,c\n1,2,3\n" * 9,
        "truncated-head": whole[len(whole) // 2 :],
        "truncated-end": whole[:-20],
        "postscript-of-0": good[:-1] + b"\0",
        "postscript-too-long": good[-40:-1] + b"\xfe",
        "postscript-cut": good[:-10] + good[-4:],
        "magic-missing": b"PAR" + make(one(INT), [(DATA, 1, FIVE)], postscript=[(8000, None)])[3:],
        "dwrf": make(one(INT), postscript=[(8000, None), (4, bytes([1]))]),
        "footer-too-long": make(one(INT), postscript=[(1, 5000)]),
        "footer-huge": make(one(INT), postscript=[(1, 2**63)]),
        "footer-garbage": make([], footer=garbage),
        "footer-cut": make([], footer=message((4, kind(INT)), (6, 0))[:-3]),
        "codec-unknown": make(one(INT), postscript=[(2, 77)]),
        "chunk-size-huge": make(one(INT), codec=ZLIB, chunk_size=2**40),
        "footer-chunk-too-long": make([], codec=ZLIB, footer=b"\xff\xff\xff" + garbage),
        "footer-chunk-cut": make([], codec=ZLIB, footer=b"\xff\xff"),
        "footer-bomb": make([], codec=ZLIB, footer=deflate(bytes(5000))),
        # The types.
        "types-none": make([], footer_rows=0),
        "types-kind-unknown": make([kind(99)]),
        "types-cycle": make([kind(STRUCT, 1, names=["a"]), kind(LIST, 0)]),
        "types-own-child": make([kind(LIST, 0)]),
        "types-unordered": make([kind(STRUCT, 2, 1, names=["a", "b"]), kind(INT), kind(INT)]),
        "types-shared": make([kind(STRUCT, 1, 1, names=["a", "b"]), kind(INT)]),
        "types-beyond": make([struct, kind(INT)]),
        "types-unreachable": make([kind(STRUCT, 1, names=["a"]), kind(INT), kind(INT)]),
        "types-too-deep": make(deep),
        "types-list-of-two": make([kind(LIST, 1, 2), kind(INT), kind(INT)]),
        "types-map-of-one": make([kind(MAP, 1), kind(INT)]),
        "types-int-with-child": make([kind(INT, 1), kind(INT)]),
        "types-names-missing": make([kind(STRUCT, 1, 2, names=["a"]), kind(INT), kind(INT)]),
        "types-precision-99": make(one(DECIMAL, precision=99, scale=1)),
        "types-scale-9-of-5": make(one(DECIMAL, precision=5, scale=9)),
        "types-union-of-257": make([kind(UNION, *range(1, 258))] + [kind(INT)] * 257),
        # The stripes.
        "rows-overflow": make(one(INT), [(DATA, 1, FIVE)], rows=2**62, stripes=3),
        "stripe-outside": make(one(INT), [(DATA, 1, FIVE)], stripe=[(1, 5000)]),
        "stripe-too-long": make(one(INT), [(DATA, 1, FIVE)], stripe=[(3, 5000)]),
        "stripe-overflow": make(one(INT), [(DATA, 1, FIVE)], stripe=[(1, 2**64 - 4), (2, 8)]),
        "stripe-footer-garbage": make(one(INT), stripe_footer=garbage),
        "stripe-footer-empty": make(one(INT), stripe_footer=b""),
        "encodings-too-few": make(one(INT), [(DATA, 1, FIVE)], [DIRECT]),
        "encodings-too-many": make(one(INT), [(DATA, 1, FIVE)], [DIRECT] * 3),
        "encoding-unknown": make(one(INT), [(DATA, 1, FIVE)], [DIRECT, 9]),
        "stream-too-long": make(one(INT), [(DATA, 1, FIVE, 5000)]),
        "stream-overflow": make(one(INT), [(DATA, 1, FIVE), (DATA, 1, b"", 2**64 - 1)]),
        "stream-of-no-column": make(one(INT), [(DATA, 7, FIVE)]),
        "zone-unknown": make(one(TIMESTAMP), [(DATA, 1, FIVE), (SECONDARY, 1, FIVE)], zone="Mars/Olympus"),
        # Chunks.
        "chunk-too-long": make(one(INT), [(DATA, 1, b"\xfe\xff\x00" + FIVE)], codec=ZLIB),
        "chunk-header-cut": make(one(INT), [(DATA, 1, b"\xfe\xff")], codec=ZLIB),
        "chunk-larger-than-stated": make(one(INT), [(DATA, 1, deflate(FIVE * 800))], codec=ZLIB),
        "chunk-empty": make(one(INT), [(DATA, 1, chunk(b""))], codec=ZLIB),
        # Encodings.
        "data-missing": make(one(INT)),
        "data-too-short": make(one(INT), [(DATA, 1, FIVE)], rows=6),
        "data-cut": make(one(INT), [(DATA, 1, FIVE[:1])]),
        "rows-huge": make(one(INT), [(DATA, 1, FIVE)], rows=2**62),
        "rows-huge-boolean": make(one(BOOLEAN), [(DATA, 1, b"\x7f\xff")], rows=2**62),
        "rows-huge-list": make(lists, [(LENGTH, 1, FIVE)], rows=2**62),
        "varint-unended": make(one(INT), [(DATA, 1, b"\xfb" + b"\xff" * 20)], [DIRECT, DIRECT]),
        "varint-cut": make(one(INT), [(DATA, 1, b"\xfb" + b"\xff")], [DIRECT, DIRECT]),
        "direct-cut": make(one(INT), [(DATA, 1, bytes([0b01111110, 4, 1, 2, 3]))]),
        "delta-cut": make(one(INT), [(DATA, 1, bytes([0b11111110, 4, 1, 2, 3]))]),
        "patches-none": make(one(INT), [(DATA, 1, bytes([0b10001110, 4, 0, 0] + [0] * 50))]),
        "patch-too-wide": make(one(INT), [(DATA, 1, bytes([0b10001110, 4, 31, 0b11100001] + [0] * 50))]),
        "short-too-large": make(one(SHORT), [(DATA, 1, longest)]),
        "present-cut": make(one(INT), [(PRESENT, 1, b"\xff"), (DATA, 1, FIVE)]),
        "present-too-short": make(one(INT), [(PRESENT, 1, b"\xff\xff"), (DATA, 1, FIVE)], rows=9),
        "float-cut": make(one(FLOAT), [(DATA, 1, b"\0" * 18)]),
        "decimal-too-many-digits": make(small, [(DATA, 1, b"\xff\x7f" * 5), scales]),
        "decimal-varint-unended": make(small, [(DATA, 1, b"\xff" * 90), scales]),
        "decimal-scale-huge": make(one(DECIMAL, precision=9, scale=2),
                                   [(DATA, 1, b"\x02" * 5), (SECONDARY, 1, beyond)]),
        # Strings and dictionaries.
        "utf8-invalid": strings(DIRECT_V2, (LENGTH, 1, FIVE), (DATA, 1, b"ab\xffde")),
        "utf8-straddles-values": strings(DIRECT_V2, (LENGTH, 1, FIVE), (DATA, 1, "aäöb".encode()[:5])),
        "utf8-invalid-entry": strings(
            (DICTIONARY_V2, 5), (DATA, 1, FIVE), (LENGTH, 1, FIVE), (DICTIONARY_DATA, 1, b"ab\xffde")
        ),
        "string-bytes-missing": strings(DIRECT_V2, (LENGTH, 1, FIVE), (DATA, 1, b"ab")),
        "string-length-huge": strings(DIRECT_V2, (LENGTH, 1, longest), (DATA, 1, b"ab")),
        "string-length-beyond-32-bits": strings(DIRECT_V2, (LENGTH, 1, beyond), (DATA, 1, b"ab")),
        "dictionary-entry-beyond": strings((DICTIONARY_V2, 5), (DATA, 1, bytes([2, 5])), *word),
        "dictionary-empty": strings((DICTIONARY_V2, 0), (DATA, 1, FIVE)),
        "dictionary-size-huge": strings((DICTIONARY_V2, 2**32 - 1), (DATA, 1, FIVE), *word),
        "dictionary-lengths-huge": strings(
            (DICTIONARY_V2, 5), (DATA, 1, FIVE), (LENGTH, 1, longest), (DICTIONARY_DATA, 1, b"abcde")
        ),
        "dictionary-bytes-missing": strings(
            (DICTIONARY_V2, 5), (DATA, 1, FIVE), (LENGTH, 1, FIVE), (DICTIONARY_DATA, 1, b"ab")
        ),
        "dictionary-of-int": make(one(INT), [(DATA, 1, FIVE)], [DIRECT, DICTIONARY_V2]),
        # Nested.
        "list-length-huge": make(lists, [(LENGTH, 1, longest), (DATA, 2, FIVE)]),
        "list-elements-missing": make(lists, [(LENGTH, 1, FIVE), (DATA, 2, FIVE[:1])]),
        "map-key-null": make(maps, [(LENGTH, 1, FIVE), (PRESENT, 2, b"\xff\xf0"), (DATA, 2, FIVE), (DATA, 3, FIVE)]),
        "union-tag-beyond": make(unions, [(DATA, 1, b"\x02\x02"), (DATA, 2, FIVE), (DATA, 3, FIVE)]),
    }  # fmt: skip
    for number, name in enumerate(["zlib", "snappy", "lzo", "lz4", "zstd", "brotli"], 1):
        result[f"chunk-garbage-{name}"] = make(one(INT), [(DATA, 1, chunk(garbage))], codec=number)
    return result


def odd() -> dict[str, bytes]:
    """Files that are not as the format says, in what changes no value: column `c` has five times -1."""
    data = (DATA, 1, FIVE)
    whole = make(one(INT), [data])
    two = [kind(STRUCT, 1, 2, names=["c", "d"]), kind(INT)]
    deep = [kind(STRUCT, 1, 2, names=["c", "d"]), kind(INT), kind(LIST, 3, 4), kind(INT), kind(INT)]
    times = [kind(STRUCT, 1, 2, names=["c", "d"]), kind(INT), kind(TIMESTAMP)]
    attribute = kind(INT) + message((7, message((1, b"k\xff"), (2, b"\xfe"))))
    named = kind(STRUCT, 1, names=["c"]).replace(b"\x1a\x01c", b"\x1a\x02c\xff")
    patched = bytes([0b10001110, 4, 0, 0b11100001, 0x81]) + bytes(5) + b"\xff" * 9
    encrypted = message((10, message((3, message((1, 9), (2, 0))))))
    metadata = message((5, message((1, b"\xffkey"), (2, b"value")))) + message((12, b"1.\xff"))
    return {
        "magic-wrong": whole.replace(b"\x82\xf4\x03\x03ORC", b"\x82\xf4\x03\x03CRO"),
        "metadata-too-long": make(one(INT), [data], postscript=[(5, 2**40)]),
        "footer-text": make(one(INT), [data], extra=metadata),
        "encrypted-no-column": make(one(INT), [data], extra=encrypted),
        "types-unreachable": make([*one(INT), kind(INT)], [data]),
        "types-names-of-int": make([kind(STRUCT, 1, names=["c"]), kind(INT, names=["x"])], [data]),
        "types-names-too-many": make([kind(STRUCT, 1, names=["c", "d"]), kind(INT)], [data]),
        "types-name-not-text": make([named, kind(INT)], [data]),
        "types-attribute-not-text": make([kind(STRUCT, 1, names=["c"]), attribute], [data]),
        "types-kind-unknown": make([*two, kind(99)], [data]),
        "types-kind-with-children": make([two[0], kind(INT), kind(99, 3), kind(INT)], [data]),
        "types-precision-99": make([*two, kind(DECIMAL, precision=99, scale=1)], [data]),
        "types-list-of-two": make(deep, [data]),
        "rows-mismatch": make(one(INT), [data], footer_rows=6),
        "rows-of-footer-0": make(one(INT), [data], footer_rows=0),
        "encodings-too-many": make(one(INT), [data], [DIRECT, DIRECT_V2, DIRECT_V2]),
        "encodings-too-few": make([*two, kind(INT)], [data], [DIRECT, DIRECT_V2]),
        "encoding-unknown": make([*two, kind(INT)], [data], [DIRECT, DIRECT_V2, 9]),
        "stream-twice": make(one(INT), [(DATA, 1, b"\x02\x05"), data]),
        "stream-of-no-column": make(one(INT), [(DATA, 7, b"abc"), data]),
        "stream-too-long": make([*two, kind(INT)], [data, (DATA, 2, FIVE, 5000)]),
        "zone-unknown": make(times, [data, (PRESENT, 2, b"\xff\x00")], zone="Mars/Olympus"),
        "zone-not-text": make(times, [data, (PRESENT, 2, b"\xff\x00")], zone=b"\xff"),
        "chunk-empty": make(one(INT), [(DATA, 1, chunk(b"") + deflate(FIVE) + chunk(b""))], codec=ZLIB),
        "chunk-unended": make(one(INT), [(DATA, 1, chunk(unended_of(FIVE)))], codec=ZLIB),
        "chunks-unended": make(
            one(INT), [(DATA, 1, b"".join(chunk(unended_of(FIVE[i : i + 1])) for i in range(2)))], codec=ZLIB
        ),
        "patch-beyond-run": make(one(INT), [(DATA, 1, patched)]),
    }


def unended_of(data: bytes) -> bytes:
    """Deflated, without a block that is marked as the last one."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush(zlib.Z_FULL_FLUSH)


def steady(rows: int) -> bytes:
    """`rows` equal numbers, 1 unsigned and -1 signed, in runs of 512 of four bytes."""
    run = bytes([0b11000001, 0xFF, 1, 0])
    return run * (rows // 512)


def heavy() -> dict[str, bytes]:
    """Files that are as they should be, but say much in few bytes."""
    rows = 65536

    def columns(n: int, field: list[bytes], streams) -> tuple[list[bytes], list]:
        types, parts, ids = [], [], []
        for _ in range(n):
            at = len(types) + 1
            ids.append(at)
            types += [kind(field[0], *(at + 1 + i for i in range(len(field) - 1)))] + [kind(k) for k in field[1:]]
            parts += [(stream, at + offset, body) for stream, offset, body in streams]
        return [kind(STRUCT, *ids, names=["c"] * n), *types], parts

    numbers = steady(rows)
    long = (rows).to_bytes(4, "big")
    lengths = bytes([3 << 3 | 2]) + long + bytes([0b11000001, 0xFD, 0, 0]) + bytes([0b11000001, 0xFF, 0, 0]) * 127
    wide, wide_streams = columns(300, [LONG], [(DATA, 0, deflate(numbers))])
    lists, list_streams = columns(
        24, [LIST, LONG], [(LENGTH, 0, deflate(numbers)), (DATA, 1, deflate(numbers))]
    )  # a list of one element a row: twice the memory of a number
    huge, huge_streams = columns(40, [LIST, STRUCT], [(LENGTH, 0, deflate(lengths))])
    words, word_streams = columns(
        24,
        [STRING],
        [(DATA, 0, deflate(b"\xc1\xff\x00\x00" * 16)), (LENGTH, 0, chunk(bytes([1 << 3 | 0, 15, 160]), original=True)),
         (DICTIONARY_DATA, 0, deflate(b"w" * 12000))],
    )  # fmt: skip

    def encodings(types, of_string=DIRECT_V2):
        return [of_string if type_ == kind(STRING) else DIRECT_V2 for type_ in types]

    def packed(types, streams, rows=rows):
        return make(types, streams, encodings(types, (DICTIONARY_V2, 3)), rows=rows, codec=ZLIB, chunk_size=65536)

    deep = [kind(STRUCT, i + 1, names=["s"]) for i in range(100)]
    deep += [kind(STRUCT, *range(101, 1101), names=["c"] * 1000)] + [kind(STRUCT)] * 1000
    return {
        "wide": packed(wide, wide_streams),
        "lists": packed(lists, list_streams),
        "hollow-lists": packed(huge, huge_streams),
        # Five lists of 2³¹-1 elements each, of which nothing is stored.
        "longest-lists": make(
            [kind(STRUCT, 1, names=["c"]), kind(LIST, 2), kind(STRUCT)],
            [(LENGTH, 1, bytes([3 << 3 | 2]) + (2**31 - 1).to_bytes(4, "big"))],
            rows=5,
        ),
        "words": packed(words, word_streams, 8192),
        "rows-without-columns": make([kind(STRUCT)], rows=2**62),
        "rows-of-hollow-structs": make([kind(STRUCT, 1, names=["a"]), kind(STRUCT)], rows=2**62),
        "deep-and-wide": make(deep, rows=1),
    }


def main() -> None:
    for folder, contents in [("corrupt", files()), ("odd", odd()), ("heavy", heavy())]:
        folder = HERE / folder
        folder.mkdir(exist_ok=True)
        for path in folder.glob("*.orc"):
            path.unlink()
        for name, data in contents.items():
            (folder / f"{name}.orc").write_bytes(data)
