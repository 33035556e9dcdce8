"""Numbers that stay inputs of the compiled programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from recursive_dyn.codegen.arguments import real_array
from recursive_dyn.dynamics.notebook import html_table, short
from recursive_dyn.errors import ModelError, StateError


class Parameters(Mapping[str, float]):
    """Current values by name; assignment changes the next call, with no recompilation.

    ``charts`` tells of the parameters that say which chart of a joint is in force how many charts there are. Raises
    ModelError for an unknown name, StateError for a value that is not a finite number, or no number of a chart.
    """

    def __init__(self, defaults: Sequence[tuple[str, float]], charts: Mapping[str, int] | None = None) -> None:
        self._place = {name: i for i, (name, _) in enumerate(defaults)}
        self._charts = dict(charts or {})
        self.values_array = np.array([value for _, value in defaults], dtype=float)

    def __repr__(self) -> str:
        return f"Parameters({', '.join(f'{name}={short(value)}' for name, value in self.items())})"

    def _repr_html_(self) -> str:
        return html_table(("parameter", "value"), self.items())

    def copy(self) -> Parameters:
        """The same names with values of their own."""
        result = object.__new__(type(self))
        result.__dict__ |= self.__dict__ | {"values_array": self.values_array.copy()}
        return result

    def __getitem__(self, name: str) -> float:
        return float(self.values_array[self._index(name)])

    def __setitem__(self, name: str, value: float) -> None:
        index = self._index(name)
        given = real_array(value)
        number = float(given) if given is not None and given.ndim == 0 else np.nan
        if not np.isfinite(number):
            raise StateError(f"parameter '{name}' needs a finite number, not {value!r}")
        if name in self._charts and number not in range(self._charts[name]):
            raise StateError(
                f"parameter '{name}' is the number of a chart, 0 to {self._charts[name] - 1}, not {value!r}"
            )
        self.values_array[index] = number

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._place

    def __iter__(self) -> Iterator[str]:
        return iter(self._place)

    def __len__(self) -> int:
        return len(self._place)

    def _index(self, name: str) -> int:
        if not isinstance(name, str) or name not in self._place:
            known = ", ".join(self._place) or "none"
            raise ModelError(f"unknown parameter {name!r}; the scene declares {known}")
        return self._place[name]
