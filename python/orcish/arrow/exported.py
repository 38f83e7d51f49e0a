"""Schemas and arrays of the native core, for import into pyarrow."""

from __future__ import annotations

import dataclasses

__all__ = ["ExportedArray", "ExportedSchema"]


@dataclasses.dataclass(frozen=True)
class ExportedSchema:
    """A schema as a PyCapsule, which :func:`pyarrow.schema` takes."""

    capsule: object

    def __arrow_c_schema__(self) -> object:
        return self.capsule


@dataclasses.dataclass(frozen=True)
class ExportedArray:
    """The PyCapsules of a type and of an array, which :func:`pyarrow.array` and :func:`pyarrow.record_batch` take."""

    capsules: tuple[object, object]

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        return self.capsules
