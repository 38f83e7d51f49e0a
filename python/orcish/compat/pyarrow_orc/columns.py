"""Selection of columns, as ``pyarrow.orc`` has it."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

from orcish.errors import closest_match
from orcish.reading.file import ORCFile

__all__ = ["ColumnSelector"]


class ColumnSelector:
    """Finds the column ids of names and of indexes of top-level columns.

    The names of pyarrow lead through lists, maps and unions without a step of their own: in a list of structs ``l``,
    ``l.a`` is the field ``a`` of the elements.

    Args:
        file: The file.

    Raises:
        LimitExceededError: The names or types of the columns take more than ``limits["tail"]`` bytes.
    """

    def __init__(self, file: ORCFile) -> None:
        paths, parents = file.column_paths, file.column_parents
        is_struct = [kind.startswith("struct<") for kind in file.column_types]
        # A file whose root is no struct has one column.
        self._ids: dict[str, int] = {} if is_struct[0] else {"value": 0}
        steps: list[tuple[str, ...]] = [()]
        for id, parent in list(enumerate(parents))[1:]:
            # The root has no parent; all other columns do.
            above = parent or 0
            name = paths[id][len(paths[above]) + 1 :] if above else paths[id]
            steps.append((*steps[above], name) if is_struct[above] else steps[above])
            if is_struct[above]:
                # The last column of a name counts.
                self._ids[".".join(steps[id])] = id
        self._top = [id for id, parent in enumerate(parents) if parent == 0] if is_struct[0] else [0]

    def select(self, columns: Iterable[Any]) -> list[int]:
        """The ids of columns, in the order of the file.

        Args:
            columns: Names, or indexes of top-level columns.

        Raises:
            OSError: There is no column of a name.
            ValueError: An index is out of range.
            TypeError: The columns are neither all names nor all indexes.
        """
        wanted = list(columns)
        if wanted and isinstance(wanted[0], Integral):
            return sorted({self._id_of_index(each) for each in wanted})
        return sorted({self._id_of_name(each) for each in wanted})

    def _id_of_index(self, index: Any) -> int:
        if not isinstance(index, Integral):
            raise TypeError(f"columns are names or indexes, not both: {index!r} follows an index")
        at, count = int(index), len(self._top)
        if not 0 <= at < count:
            raise ValueError(f"the index of a column is at least 0 and less than {count}, not {at}")
        return self._top[at]

    def _id_of_name(self, name: Any) -> int:
        text = name.decode() if isinstance(name, bytes) else name
        if not isinstance(text, str):
            raise TypeError(f"columns are all names or all indexes; {name!r} is a {type(name).__name__}")
        if text not in self._ids:
            nearest = closest_match(text, self._ids)
            hint = f"; did you mean {nearest!r}?" if nearest else ""
            raise OSError(f"no column is named {text!r}{hint}")
        return self._ids[text]
