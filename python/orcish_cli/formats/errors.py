"""Errors of pyarrow, with the name of the file and advice."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

import pyarrow as pa
from orcish.errors import CastError, CorruptFileError, OrcishError, UnsupportedError, out_of_memory
from orcish.io.names import display_name

__all__ = ["DELIMITED", "ENCODED", "INFERRED", "errors_of_reading", "errors_of_writing"]

ARRAY = "JSON lines have an object on each line: `jq -c '.[]'` makes them of one array"
INFERRED = "types are inferred of the first rows where none are given: give the type with --schema"
"""Advice about values that are not of a type."""
DELIMITED = "--delimiter and --no-header say how the file is written"
"""Advice about rows of CSV with another number of columns."""
ENCODED = "--encoding names the encoding of the file, such as latin1, cp1252 or utf-16"
"""Advice about text that is not UTF-8."""
ADVICE = {
    "or the file is one array": ARRAY,
    "a row is an object, and not [": ARRAY,
    "conversion error": INFERRED,
    "metadata bytes, but only read": "the file is cut, or none of Arrow IPC",
    "Expected to be able to read": "the file is cut, or damaged",
}
"""Parts of messages, and what helps."""
IN_MEMORY = re.compile(r"^(?:<file object>|<memory>): ")
"""What messages call ORC in memory."""


@contextlib.contextmanager
def errors_of_reading(location: str) -> Iterator[None]:
    """Raises errors of pyarrow as those of orcish, and all with the name of the file.

    Raises:
        CorruptFileError: The file is not of its format, or a value is not one of its type.
        LimitExceededError: There is not enough memory.
        UnsupportedError: pyarrow cannot read it.
    """
    name = display_name(location)

    def text(error: BaseException) -> str:
        own = IN_MEMORY.sub("", str(error.args[0] if error.args else error))
        return ": ".join([name, own, *(advice for part, advice in ADVICE.items() if part in own)])

    try:
        yield
    except MemoryError as error:
        raise out_of_memory(name, error) from error
    except pa.ArrowCancelled:
        raise
    except pa.ArrowNotImplementedError as error:
        raise UnsupportedError(text(error)) from error
    except pa.ArrowException as error:
        raise CorruptFileError(text(error)) from error
    except OrcishError as error:
        if name in str(error):
            raise
        raise type(error)(text(error)) from error
    except UnicodeDecodeError as error:
        raise CorruptFileError(f"{name}: the text is not UTF-8 at byte {error.start:,}") from error
    except ValueError as error:
        if name in str(error):
            raise
        raise ValueError(text(error)) from error
    except OSError as error:
        if type(error) is not OSError or error.errno is not None or name in str(error):
            raise
        # Parquet and IPC report damage as errors of input.
        raise CorruptFileError(text(error)) from error


@contextlib.contextmanager
def errors_of_writing(location: str) -> Iterator[None]:
    """Raises errors of pyarrow as those of orcish.

    Raises:
        LimitExceededError: There is not enough memory.
        UnsupportedError: The format cannot store a type.
        ValueError: The format cannot store a value.
    """
    name = display_name(location)
    try:
        yield
    except MemoryError as error:
        raise out_of_memory(name, error) from error
    except (pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise UnsupportedError(f"{name}: {error}: --columns leaves columns out") from error
    except (pa.ArrowInvalid, CastError) as error:
        raise ValueError(f"{name}: {error}") from error
