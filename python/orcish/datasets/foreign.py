"""The C++ side of a dataset, for consumers that do not ask for its scanner."""

from __future__ import annotations

from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.fs as fs

__all__ = ["unreadable_dataset"]


def unreadable_dataset(schema: pa.Schema) -> ds.Dataset:
    """A dataset of pyarrow with a schema whose rows are an error to read.

    A subclass of :class:`pyarrow.dataset.Dataset` cannot implement its C++ interface, and one without a C++ object ends
    the process where the interface is used.
    """
    files = fs.PyFileSystem(_Unreadable())
    return ds.FileSystemDataset.from_paths(["orcish"], schema=schema, format=ds.IpcFileFormat(), filesystem=files)


def _refuse(*_: Any, **__: Any) -> NoReturn:
    raise TypeError(
        "a dataset of orcish is read by its methods, and not by the C++ interface of pyarrow: pass on its "
        "scanner().to_reader(), or its to_table()"
    )


class _Unreadable(fs.FileSystemHandler):  # type: ignore[misc]
    """A file system without files."""

    copy_file = create_dir = delete_dir = delete_dir_contents = delete_file = delete_root_dir_contents = _refuse
    get_file_info = get_file_info_selector = move = open_append_stream = open_input_file = _refuse
    open_input_stream = open_output_stream = _refuse

    def get_type_name(self) -> str:
        return "orcish"

    def normalize_path(self, path: str) -> str:
        return path
