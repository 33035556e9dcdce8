"""Functions of one model, and what callers pass to them: checked, and told by the names of coordinates and bodies."""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.codegen.arguments import real_array
from recursive_dyn.codegen.evaluator import Array, Evaluator
from recursive_dyn.dynamics.model_functions import ModelFunctions
from recursive_dyn.dynamics.parameters import Parameters
from recursive_dyn.dynamics.states_in_charts import StatesInCharts
from recursive_dyn.errors import StateError
from recursive_dyn.model.model import Model


class ModelEvaluator(Evaluator):
    """The compiled functions of a model."""

    functions: ModelFunctions
    model: Model
    _values: Parameters
    _states: StatesInCharts

    @property
    def parameters(self) -> Parameters:
        """Values of the scene's parameters; assignment changes the next call."""
        return self._values

    def knows(self, q: Array) -> None:
        """This array (nq,) is the state of a simulation in the charts of these parameters, whose values may change."""
        if self._charted:
            self._states.add(q, self._values)

    def _refuse_charts(self, q: Array) -> None:
        self._states.check(q, self._values, self.model.charted)

    def _finite(self, name: str, value: Any, size: int) -> Array:
        array = self._sized(name, value, size)
        if self._charted:
            self._refuse_charts(array)
        bad = np.argwhere(~np.isfinite(array))
        if len(bad):
            row = f", batch row {tuple(int(i) for i in bad[0][:-1])}" if array.ndim > 1 else ""
            where = self.label(name, int(bad[0][-1]))
            raise StateError(f"'{name}' is not finite at {where}{row}; pass finite numbers only")
        return array

    def _of_bodies(self, name: str, value: Any, size: int) -> Array:
        """Numbers (..., nb, size) as (..., nb size)."""
        count = self.model.nb
        array = real_array(value)
        if array is None:
            raise StateError(f"'{name}' must be an array of real numbers of shape (..., {count}, {size}), one a body")
        if array.ndim < 2 or array.shape[-2:] != (count, size):
            raise StateError(
                f"'{name}' has shape {array.shape}, but this scene needs (..., {count}, {size}), one a body"
            )
        return array.reshape(*array.shape[:-2], size * count)

    def _duration(self, value: Any) -> Array:
        """A duration, or one a batch row (...), as (..., 1)."""
        steps = real_array(value)
        if steps is None:
            raise StateError(f"'dt' must be a number of seconds, or one a batch row, not {value!r}")
        return steps[..., None]
