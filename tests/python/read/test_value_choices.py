"""Values that are not as their types say: text that is not UTF-8, text that is too long, decimals that are too wide.

Whatever is chosen for them, filters, counts and bounds are those of the values as they are read: in all encodings, and
with statistics and bloom filters, which know the values as they are stored.
"""

import decimal
import io
import random

import orcish
import pyarrow as pa
import pyorc
import pytest
from orcish import col
from pyarrow import orc
from support import orc_builder
from support.case_loops import each_case
from support.random_cases import random_cases

PARTS = [b"a", b"b ", "ä".encode(), "😀".encode(), "\ufffd".encode(), b"\xff", b"\xf0\x9f", b"\x80", b"\xee\x80"]
PAD = 9


def text(values):
    """An array of text, of any bytes."""
    offsets = pa.array([0, *_sums(len(value or b"") for value in values)], pa.int32())
    valid = pa.array([value is not None for value in values])
    buffers = [valid.buffers()[1], offsets.buffers()[1], pa.py_buffer(b"".join(value or b"" for value in values))]
    return pa.Array.from_buffers(pa.string(), len(values), buffers)


def decimals(values, kind):
    """An array of decimals, of any unscaled numbers."""
    valid = pa.array([value is not None for value in values])
    data = b"".join((value or 0).to_bytes(16, "little", signed=True) for value in values)
    return pa.Array.from_buffers(kind, len(values), [valid.buffers()[1], pa.py_buffer(data)])


def _sums(lengths):
    total = 0
    for length in lengths:
        total += length
        yield total


def written(table, chance, **options):
    """A file of ORC C++, with many row groups."""
    out = io.BytesIO()
    blooms = list(range(table.num_columns)) if chance.random() < 0.5 else None
    orc.write_table(
        table,
        out,
        row_index_stride=chance.choice([16, 50, 1000]),
        dictionary_key_size_threshold=chance.choice([0.0, 1.0]),
        compression=chance.choice(["uncompressed", "zlib"]),
        bloom_filter_columns=blooms,
        **options,
    )
    return out.getvalue()


def word(chance):
    return b"".join(chance.choice(PARTS) for _ in range(chance.randrange(4)))


def conditions(chance, literals):
    """A condition on column `v`, and the same in Python."""
    value, other = chance.choice(literals), chance.choice(literals)
    made = [
        (col("v") == value, lambda v: v is not None and v == value),
        (col("v") != value, lambda v: v is not None and v != value),
        (col("v") < value, lambda v: v is not None and v < value),
        (col("v") >= value, lambda v: v is not None and v >= value),
        (col("v").is_in([value, other]), lambda v: v is not None and v in (value, other)),
        (~(col("v") > value), lambda v: v is not None and v <= value),
        (col("v").is_null(), lambda v: v is None),
        (~col("v").is_null(), lambda v: v is not None),
        ((col("v") > value) | (col("v") == other), lambda v: v is not None and (v > value or v == other)),
    ]
    return chance.choice(made)


def check(data, options, want, chance, literals):
    """Reads a file in all ways, whose column `v` has these values."""
    assert orcish.read_table(data, columns=["v"], **options)["v"].to_pylist() == want
    for _ in range(4):
        condition, holds = conditions(chance, literals)
        rows = [at for at, value in enumerate(want) if holds(value)]
        scan = orcish.scan(data, filters=condition, **options)
        table = scan.to_table()
        assert table["i"].to_pylist() == rows, (condition, options)
        assert table["v"].to_pylist() == [want[at] for at in rows]
        assert scan.count() == len(rows)
        assert orcish.ORCFile(data).read(filters=condition, columns=["i"], **options)["i"].to_pylist() == rows
        parts = [part.scan().to_table()["i"].to_pylist() for part in scan.splits(1)]
        assert [row for part in parts for row in part] == rows
    some = [value for value in want if value is not None]
    scan = orcish.scan(data, **options)
    assert (scan.min("v"), scan.max("v")) == ((min(some), max(some)) if some else (None, None))


@each_case("strings", ["utf8", "large", "view", "dictionary"])
def test_text_that_is_not_utf8(strings):
    for _, chance in random_cases(f"text {strings}", 6):
        words = [word(chance) for _ in range(chance.choice([3, 60]))]
        values = [None if chance.random() < 0.1 else chance.choice(words) for _ in range(chance.choice([40, 300]))]
        if chance.random() < 0.6:
            values.sort(key=lambda value: (value is None, value))
        table = pa.table({"i": list(range(len(values))), "v": text(values)})
        data = written(table, chance)
        texts = [value.decode(errors="replace") for value in words]
        replaced = [None if value is None else value.decode(errors="replace") for value in values]
        check(data, {"invalid_utf8": "replace", "strings": strings}, replaced, chance, texts)
        nulled = [None if value is None or not is_text(value) else value.decode() for value in values]
        check(data, {"invalid_utf8": "null", "strings": strings}, nulled, chance, texts)
        check(data, {"invalid_utf8": "binary", "strings": strings}, values, chance, words)
        is_whole = all(value is None or is_text(value) for value in values)
        if is_whole:
            check(data, {"strings": strings}, replaced, chance, texts)
        else:
            with pytest.raises(orcish.CorruptFileError, match="not valid UTF-8"):
                orcish.read_table(data, strings=strings)


def is_text(value):
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_types_of_binary_text():
    data = written(pa.table({"v": text([b"a", b"\xff", None])}), random.Random(1))
    kinds = {
        None: pa.binary(),
        "utf8": pa.binary(),
        "binary": pa.binary(),
        "large": pa.large_binary(),
        "view": pa.binary_view(),
        "dictionary": pa.dictionary(pa.int32(), pa.binary()),
    }
    for strings, kind in kinds.items():
        for choice in ("binary", *(["error", "replace", "null"] if strings == "binary" else [])):
            column = orcish.read_table(data, strings=strings, invalid_utf8=choice)["v"]
            assert column.type == kind
            assert column.to_pylist() == [b"a", b"\xff", None]


def test_text_within_other_columns():
    """Text in structs, lists, map keys, map values and unions is converted."""
    schema = "struct<s:struct<t:string>,l:array<string>,m:map<string,string>,u:uniontype<int,string>>"
    rows = [(("a",), ["b", "@@"], [("@@", "c"), ("d", "@@")], "@@"), (("@@",), [], [], 5)]
    out = io.BytesIO()
    with pyorc.Writer(out, schema, compression=pyorc.CompressionKind.NONE, converters=None) as writer:
        for row in rows:
            writer.write((row[0], row[1], dict(row[2]), row[3]))
    data = out.getvalue().replace(b"@@", b"\xff@")
    table = orcish.read_table(data, invalid_utf8="replace")
    bad = "\ufffd@"
    assert table.to_pylist() == [
        {"s": {"t": "a"}, "l": ["b", bad], "m": [(bad, "c"), ("d", bad)], "u": bad},
        {"s": {"t": bad}, "l": [], "m": [], "u": 5},
    ]
    with pytest.raises(orcish.errors.NullMapKeyError):
        list(orcish.ORCFile(data).iter_batches(invalid_utf8="null"))
    table = orcish.read_table(data, invalid_utf8="null")
    assert table.to_pylist() == [
        {"s": {"t": "a"}, "l": ["b", None], "m": [(None, "c"), ("d", None)], "u": None},
        {"s": {"t": None}, "l": [], "m": [], "u": 5},
    ]
    binary = orcish.read_table(data, invalid_utf8="binary").to_pylist()
    assert binary[0] == {
        "s": {"t": b"a"},
        "l": [b"b", b"\xff@"],
        "m": [(b"\xff@", b"c"), (b"d", b"\xff@")],
        "u": b"\xff@",
    }


def test_schemas_that_were_kept():
    """Values may contradict the stored Arrow schema: nulls in required columns, text without dictionary."""
    fields = [pa.field("d", pa.dictionary(pa.int16(), pa.string())), pa.field("v", pa.large_string(), nullable=False)]
    arrays = [
        pa.array(["a@", "b@", "a@"]).dictionary_encode().cast(fields[0].type),
        pa.array(["@x", "y", "z"], fields[1].type),
    ]
    out = io.BytesIO()
    orcish.write_table(pa.table(arrays, schema=pa.schema(fields)), out, compression="none")
    data = out.getvalue().replace(b"a@b@", b"a@\xff@").replace(b"@x", b"\xffx")
    null = orcish.read_table(data, invalid_utf8="null")
    assert null.to_pydict() == {"d": ["a@", None, "a@"], "v": [None, "y", "z"]}
    assert null.schema.field("v").nullable
    null.validate(full=True)
    assert orcish.read_table(data, invalid_utf8="replace")["v"].to_pylist() == ["\ufffdx", "y", "z"]
    binary = orcish.read_table(data, invalid_utf8="binary")
    assert binary["v"].type == pa.large_binary()
    assert binary.to_pydict() == {"d": [b"a@", b"\xff@", b"a@"], "v": [b"\xffx", b"y", b"z"]}


@each_case("precision", [1, 3, 17, 18])
def test_decimals_of_too_many_digits_of_the_draft(precision):
    """The ORCv2 draft stores decimals of up to 18 digits as integers."""
    bound = 10**precision
    numbers = [0, 1, bound - 1, 1 - bound, bound, -bound, bound + 1, 2 * bound, -2 * bound, 5]
    kind = orc_builder.integer(1, 14) + orc_builder.integer(5, precision) + orc_builder.integer(6, 1)
    types = [orc_builder.column_type(orc_builder.STRUCT, [1], ["v"]), kind]

    def draft(values):
        data = orc_builder.orc(types, [(len(values), [(1, orc_builder.DATA, orc_builder.integers(values))])])
        end = len(data) - 1 - data[-1]
        postscript = data[end:-1].replace(b"\x22\x02\x00\x0c", b"\x22\x03\x01\x8f\x4e")
        return data[:end] + postscript + bytes([len(postscript)])

    file = draft(numbers)
    assert orcish.ORCFile(file).version == "1.9999"
    fit = [None if abs(number) >= bound else decimal.Decimal(number).scaleb(-1) for number in numbers]
    table = orcish.read_table(file, decimal_out_of_range="null")
    assert table["v"].to_pylist() == fit
    table.validate(full=True)
    for row, number in enumerate(numbers):
        one = draft([number])
        if fit[row] is None:
            with pytest.raises(orcish.CorruptFileError, match="column v"):
                orcish.read_table(one)
        else:
            assert orcish.read_table(one)["v"].to_pylist() == [fit[row]]


@each_case("precision", [3, 18, 20])
def test_decimals_of_too_many_digits(precision):
    kind = pa.decimal128(precision, 2)
    bound = 10**precision
    for _, chance in random_cases(f"decimals {precision}", 4):
        near = [0, 5, -7, bound - 1, 1 - bound, bound, -bound, bound * 3]
        numbers = [None if chance.random() < 0.1 else chance.choice(near) for _ in range(300)]
        if chance.random() < 0.6:
            numbers.sort(key=lambda value: (value is None, value))
        data = written(pa.table({"i": list(range(300)), "v": decimals(numbers, kind)}), chance)
        scaled = [None if n is None or abs(n) >= bound else decimal.Decimal(n).scaleb(-2) for n in numbers]
        literals = [decimal.Decimal(n).scaleb(-2) for n in near]
        check(data, {"decimal_out_of_range": "null"}, scaled, chance, literals)
        some = [value for value in scaled if value is not None]
        assert orcish.scan(data, decimal_out_of_range="null").sum("v") == (sum(some) if some else None)
        if any(n is not None and abs(n) >= bound for n in numbers):
            with pytest.raises(orcish.CorruptFileError, match=f"more than {precision} digits"):
                orcish.read_table(data)


def chars(kind, values, **options):
    """A file whose text may be longer than its type, of 3 characters, has it."""
    out = io.BytesIO()
    code = {"char": 17, "varchar": 16}[kind]
    options |= {"compression": pyorc.CompressionKind.NONE, "row_index_stride": 20}
    with pyorc.Writer(out, f"struct<i:int,v:{kind}({PAD})>", **options) as writer:
        writer.writerows(enumerate(values))
    data, stated = out.getvalue(), bytes([8, code, 32, PAD])
    assert data.count(stated) == 1
    return data.replace(stated, bytes([8, code, 32, 3]))


@each_case("kind", ["char", "varchar"])
@each_case("trim", [False, True])
def test_text_longer_than_its_type(kind, trim):
    for _, chance in random_cases(f"{kind} {trim}", 4):
        letters = ["a", "b", "ä", "😀", " "]
        words = ["".join(chance.choice(letters) for _ in range(chance.randrange(1, 6))) for _ in range(40)]
        values = [None if chance.random() < 0.1 else chance.choice(words) for _ in range(200)]
        if chance.random() < 0.6:
            values.sort(key=lambda value: (value is None, value))
        blooms = [1] if chance.random() < 0.5 else []
        data = chars(kind, values, dict_key_size_threshold=chance.choice([0.0, 1.0]), bloom_filter_columns=blooms)

        def stored(value, most, as_char=kind == "char", is_trimmed=trim):
            if value is None:
                return None
            kept = (value.ljust(PAD) if as_char else value)[:most]
            return kept.rstrip(" ") if as_char and is_trimmed else kept

        cut, kept = [stored(v, 3) for v in values], [stored(v, None) for v in values]
        literals = [v for v in (*cut, *kept) if v is not None]
        check(data, {"long_char": "cut", "trim_char": trim}, cut, chance, literals)
        check(data, {"trim_char": trim}, kept, chance, literals)
        with pytest.raises(orcish.CorruptFileError, match=r"column v.*more than 3 characters"):
            orcish.read_table(data, long_char="error")


@each_case("strings", ["utf8", "large", "view", "dictionary"])
@each_case("dictionary", [0.0, 1.0])
def test_memory_of_text_that_is_replaced(strings, dictionary):
    """U+FFFD is longer than an invalid byte."""
    out = io.BytesIO()
    values = pa.table({"i": [0, 1], "v": text([b"a", b"\xff" * (1 << 20)])})
    orc.write_table(values, out, compression="zlib", dictionary_key_size_threshold=dictionary)
    options = {"invalid_utf8": "replace", "strings": strings}
    # A value may take a quarter.
    with pytest.raises(orcish.LimitExceededError, match=r"column v.*314572[89] bytes of values, with U\+FFFD"):
        orcish.read_table(out.getvalue(), limits={"memory": 8 << 20}, **options)
    read = orcish.read_table(out.getvalue(), limits={"memory": 13 << 20}, **options)
    assert read["v"].to_pylist() == ["a", "\ufffd" * (1 << 20)]
    # What is UTF-8 stays as long as it is.
    out = io.BytesIO()
    orc.write_table(pa.table({"v": ["ä" * (1 << 19)]}), out, dictionary_key_size_threshold=dictionary)
    assert orcish.read_table(out.getvalue(), limits={"memory": 8 << 20}, **options)["v"].to_pylist() == [
        "ä" * (1 << 19)
    ]


def test_columns_that_are_text_by_their_own_form():
    """Bounds and filters follow the type of each column."""
    options = {"strings": "binary", "invalid_utf8": "replace"}
    out = io.BytesIO()
    orc.write_table(pa.table({"v": text([b"\xff"] * 3)}), out, bloom_filter_columns=[0], row_index_stride=16)
    for kind, literal in [(pa.large_string(), "\ufffd"), (pa.binary(), b"\xff")]:
        schema = pa.schema([pa.field("v", kind)])
        scan = orcish.scan(out.getvalue(), schema=schema, filters=col("v") == literal, **options)
        assert scan.to_table()["v"].to_pylist() == [literal] * 3
        assert scan.count() == 3
        assert orcish.scan(out.getvalue(), schema=schema, **options).min("v") == literal


@each_case("strings", ["utf8", "large", "view", "dictionary"])
def test_long_text_that_is_not_read(strings):
    """Long text is an error only of rows that are read, also for dictionaries."""
    options = {"long_char": "error", "strings": strings}
    values = ["abcdef"] + ["abc", "x"] * 100
    for threshold in (0.0, 1.0):
        data = chars("varchar", values, dict_key_size_threshold=threshold)
        found = orcish.read_table(data, filters=col("i") > 100, columns=["v"], **options)
        assert found["v"].to_pylist() == values[101:]
        with pytest.raises(orcish.CorruptFileError, match=r"column v.*value 0 of the batch has more than 3 characters"):
            orcish.read_table(data, **options)


def test_choices_together():
    """Invalid UTF-8 is replaced before characters are counted."""
    data = chars("varchar", ["ab@@cd", "x@@", "abc"])
    data = data.replace(b"@@", b"\xff\xfe")
    options = {"invalid_utf8": "replace", "long_char": "cut"}
    want = ["ab\ufffd", "x\ufffd\ufffd", "abc"]
    assert orcish.read_table(data, **options)["v"].to_pylist() == want
    for value in want:
        assert orcish.read_table(data, filters=col("v") == value, **options)["v"].to_pylist() == [value]
