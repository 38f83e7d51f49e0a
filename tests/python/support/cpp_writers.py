"""Small files that ORC C++ writes: by pyarrow, and by pyorc."""

import io

import pyarrow as pa
import pyarrow.orc
import pyorc


def write_arrow(table, **options) -> bytes:
    """A file that pyarrow (ORC C++) writes."""
    if not isinstance(table, pa.Table):
        table = pa.table(table)
    out = pa.BufferOutputStream()
    pyarrow.orc.write_table(table, out, **options)
    return out.getvalue().to_pybytes()


def write_rows(schema: str, rows, metadata=None, **options) -> bytes:
    """A file that pyorc (ORC C++, all types) writes."""
    out = io.BytesIO()
    with pyorc.Writer(out, schema, **options) as writer:
        writer.writerows(rows)
        if metadata:
            writer.set_user_metadata(**metadata)
    return out.getvalue()
