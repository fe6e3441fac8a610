"""What capture needs of a table, whichever library holds it: columns by position."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .. import budget, values
from .statistics import plain_statistics


@dataclass
class Column:
    name: str  # as shown; may repeat
    dtype: str  # the library's own name
    kind: str  # one of the host's ColumnKind names
    index: bool = False  # a row label
    note: str = ""
    # How to store it as Arrow when the values alone do not say ("text", "decimal", ...).
    store_as: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


class Source:
    """A table. Reads only; rows [start, stop) of one column at a time."""

    library = ""
    type_name = ""
    rows: int = 0
    # False: there are more rows than `rows` says (a query that was not run to its end).
    rows_known = True
    columns: list[Column]

    def names(self) -> list[str]:
        """The columns' names, each once: in the schema, in the file and in e2b/data alike. Row
        labels give way to data, so that a column is called in all of them as the user calls it."""
        columns = self.columns
        order = sorted(range(len(columns)), key=lambda at: columns[at].index)
        unique = values.unique_names(columns[at].name for at in order)
        named = dict(zip(order, unique, strict=True))
        return [named[at] for at in range(len(columns))]

    def metadata(self, names: list[str], kinds: list[Any]) -> dict[bytes, bytes]:
        """More for the schema of the Arrow file; `kinds` are the Arrow types of the columns."""
        return {}

    def values(self, index: int, start: int, stop: int) -> list[Any]:
        """Python values of a column's rows. Not to be changed: small columns are kept."""
        if self.rows > budget.SMALL_ROWS or (stop - start < self.rows and self.is_quick(index)):
            return self.read(index, start, stop)
        kept = self.__dict__.setdefault("_kept", {})
        if index not in kept:
            kept[index] = self.read(index, 0, self.rows)
        return kept[index] if (start, stop) == (0, self.rows) else kept[index][start:stop]

    def read(self, index: int, start: int, stop: int) -> list[Any]:
        raise NotImplementedError

    def arrow(self, index: int, start: int, stop: int, wanted: Any) -> Any:
        """A pyarrow array of a column's rows. `wanted` is the type of the rows before (None for
        the first). Raises what it likes; the caller then stores the column as text."""
        raise NotImplementedError

    def moments(self, index: int, start: int, stop: int) -> list[str | None] | None:
        """A column of moments as ISO 8601 texts, where the library has a quick way to them."""
        return None

    def statistics(self, index: int, nulls: int | None = None) -> dict[str, Any]:
        """nulls, min, max, mean, std, distinct, top: what is cheap and makes sense. `nulls` is
        given when they have been counted already."""
        if self.rows <= budget.SMALL_ROWS and not self.is_quick(index):
            return plain_statistics(self.values(index, 0, self.rows), self.columns[index].kind)
        return self.measure(index, nulls)

    def is_quick(self, index: int) -> bool:
        """Whether the library sums up even a short column quicker than plain Python does."""
        return False

    def measure(self, index: int, nulls: int | None) -> dict[str, Any]:
        """The statistics of a column, by its library."""
        raise NotImplementedError
