"""What the explorer knows of answers before one is opened: columns of small numbers, so that tens of thousands fit."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any


class Columns:
    """Rows taken one by one and given as columns; a coded column holds each distinct value once."""

    def __init__(self, coded: Sequence[str], plain: Sequence[str]) -> None:
        self._codes: dict[str, dict[Any, int]] = {name: {} for name in coded}
        self._columns: dict[str, list[Any]] = {name: [] for name in (*coded, *plain)}
        self.count = 0

    def add(self, row: Mapping[str, Any]) -> int:
        """Take a row, which has a value (or None) for every column, and give its place."""
        for name, column in self._columns.items():
            value = row[name]
            if name in self._codes:
                codes = self._codes[name]
                value = codes.setdefault(value, len(codes))
            column.append(value)
        self.count += 1
        return self.count - 1

    def values(self, name: str) -> set[str]:
        """The distinct values of a coded column, as texts; none where there is no such column."""
        return {str(value) for value in self._codes.get(name, ())}

    def as_data(self, order: Mapping[str, Sequence[Any]] | None = None) -> dict[str, Any]:
        """The columns as JSON values.

        Args:
            order: for a coded column, its values in the order in which a reader expects them; what is not listed
                follows, sorted.

        Returns:
            `count`, `values` (the distinct values of coded columns, in order) and `columns` (their places in `values`,
            or the values themselves).
        """
        values: dict[str, list[Any]] = {}
        columns: dict[str, list[Any]] = dict(self._columns)
        for name, codes in self._codes.items():
            values[name] = sorted(codes, key=functools.partial(_rank, list((order or {}).get(name, ()))))
            places = {codes[value]: place for place, value in enumerate(values[name])}
            columns[name] = [places[code] for code in self._columns[name]]
        return {"count": self.count, "values": values, "columns": columns}


def _rank(wanted: Sequence[Any], value: Any) -> tuple[int, int, float, str]:
    """Listed values first, then numbers, then texts, and what is not said last."""
    if value in wanted:
        return 0, wanted.index(value), 0, ""
    if value is None:
        return 3, 0, 0, ""
    if isinstance(value, int | float):
        return 1, 0, float(value), ""
    return 2, 0, 0, str(value)
