"""Jacobians of compiled functions in tangent spaces, as batches of directional derivatives: a direction a row."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from recursive_dyn.codegen.emitting.drivers import MODERATE
from recursive_dyn.codegen.kernel import NotFinite
from recursive_dyn.dynamics.derivatives.tangents import (
    POINTS,
    ArgumentDirections,
    Directions,
    of_trees,
    tangents,
    velocities_of,
)
from recursive_dyn.dynamics.model_evaluator import ModelEvaluator
from recursive_dyn.dynamics.singular_joints import singular
from recursive_dyn.errors import StateError
from recursive_dyn.recursion.context import Function, segment_size

Array = np.ndarray
_ROWS = 1 << 14  # directions at once, so that large batches need little memory beside their results


class Jacobians:
    """Derivatives of a model's functions at arrays (..., size) whose leading axes broadcast."""

    def __init__(self, evaluator: ModelEvaluator) -> None:
        self._evaluator, self._functions, self._model = evaluator, evaluator.functions, evaluator.model

    def all(self, name: str, arrays: Sequence[Array], parameters: bool) -> list[Array]:
        """df by every argument, and by the parameters if asked for."""
        found = self._of_trees(name, arrays) or self._at_once(name, arrays)
        found = found or [self.by_argument(name, arrays, k) for k in range(len(arrays))]
        return [*found, self.by_parameters(name, arrays)] if parameters else [*found]

    def _at_once(self, name: str, arrays: Sequence[Array]) -> list[Array]:
        """df by every argument of one state, all directions in one batch; none where there is no sound result."""
        if any(a.ndim > 1 for a in arrays) or not self._model.nv:
            return []
        functions, it = self._functions, self._evaluator
        function, known = functions.function(name), functions.directions.get(name)
        if known is None:
            own = [self._directions(function, segment) for segment in function.inputs]
            known = functions.directions[name] = ArgumentDirections(self._model, function.inputs, own)
        try:
            rates = it.batch(f"along/{name}", [*arrays, *known.at(arrays)], (known.count,))
        except NotFinite:
            return []
        if function.solves and not np.abs(rates).max(initial=0.0) <= MODERATE:
            return []
        parts = zip(known.parts, known.own, strict=True)
        return [self._whole(function, name, arrays, own, rates[part]) for part, own in parts]

    def _of_trees(self, name: str, arrays: Sequence[Array]) -> tuple[Array, ...]:
        """df by every argument by analytic recursion; none where there is none, or no result: others say why."""
        trees, values = self._functions.trees, self._evaluator.parameters
        if trees is None or name not in trees.functions or not arrays[0].size:
            return ()
        found = trees.of(self._evaluator, name, arrays, values.values_array)
        return found if not trees.doubtful or self.sound(name, arrays[0], found) else ()

    def sound(self, name: str, q: Array, found: Sequence[Array]) -> bool:
        """Whether large derivatives of inverse or forward dynamics at q are finite, and there is no singular joint."""
        model = self._model
        if not all(np.isfinite(J).all() for J in found):
            return False
        rows = q.reshape(-1, model.nq)
        return name != "forward_dynamics" or singular(model, rows, self._evaluator.parameters) is None

    def by_argument(self, name: str, arrays: Sequence[Array], k: int) -> Array:
        """df by argument k, (..., outputs, nv or size); outputs that are a configuration are in its tangent space."""
        function, model = self._functions.function(name), self._model
        segment, directions = function.inputs[k], self._directions(function, function.inputs[k])
        unit = np.eye(directions.columns)
        if segment in POINTS:
            unit = tangents(model, arrays[k] if model.owners else np.zeros(model.nq))
        rates = self._rates("along", name, arrays, directions.moved(unit), k)
        return self._whole(function, name, arrays, directions, rates)

    def by_parameters(self, name: str, arrays: Sequence[Array]) -> Array:
        """df by all parameters, (..., outputs, parameters)."""
        count = len(self._model.parameters)
        rates = self._rates("along parameters", name, arrays, np.eye(count), 0)
        return self._whole(self._functions.function(name), name, arrays, Directions(count), rates)

    def _directions(self, function: Function, segment: str) -> Directions:
        model, forest = self._model, self._functions.forest
        columns = model.nv if segment in POINTS else segment_size(model, segment)
        if not forest.pays or function.rows is None or function.sums:
            return Directions(columns)
        kinds = forest.kinds
        rows = function.rows(model, kinds)
        if rows is None:
            return Directions(columns)
        written = [own.positions() for own in rows]
        if function.configuration:
            shift = model.nq - model.nv
            written = [
                np.concatenate([kind.slots, own[:, own[0] >= model.nq] - shift], axis=1)
                for own, kind in zip(written, kinds, strict=True)
            ]
        inputs = [own.positions() for own in forest.segment("v" if segment in POINTS else segment)]
        return of_trees(columns, prod(self._shape(function)), inputs, written)

    def _shape(self, function: Function) -> tuple[int, ...]:
        """The shape of the outputs' tangents."""
        shape, model = function.shape(self._model), self._model
        return (prod(shape) - model.nq + model.nv,) if function.configuration else shape

    def _rates(self, how: str, name: str, arrays: Sequence[Array], directions: Array, k: int) -> Array:
        """Rates (..., count, outputs) of a function's outputs: of its derivative, ``how`` it is derived, as the k-th
        segment of rates is a direction (..., count, size)."""
        derived = f"{how}/{name}"
        known = self._evaluator.functions.signature(derived)
        lead = np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
        count, rows, outputs = directions.shape[-2], prod(lead), prod(known.shape)
        result = np.zeros((rows, count, outputs))
        flat = [a if a.ndim == 1 else _flat(a, lead)[:, None, :] for a in arrays]
        moved = directions if directions.ndim == 2 else _flat(directions, lead, 2)
        step = max(1, _ROWS // max(count, 1))
        for first in range(0, rows if result.size else 0, step):
            part = slice(first, first + step)
            rates = [np.zeros(size) for _, size in known.inputs[len(arrays) :]]
            rates[k] = moved if moved.ndim == 2 else moved[part]
            some = [a if a.ndim == 1 else a[part] for a in flat]
            result[part] = self._called(derived, name, some, rates).reshape(-1, count, outputs)
        return result.reshape(*lead, count, outputs)

    def _called(self, derived: str, name: str, arrays: Sequence[Array], rates: Sequence[Array]) -> Array:
        try:
            return self._evaluator.call(derived, *arrays, *rates)
        except StateError as error:
            self._evaluator.call(name, *arrays)  # says better what is wrong if the function itself has no result
            raise StateError(f"derivatives of {name}: {error}") from None

    def _whole(
        self, function: Function, name: str, arrays: Sequence[Array], directions: Directions, rates: Array
    ) -> Array:
        nq = self._model.nq
        if function.configuration:
            q = self._evaluator.call(name, *arrays)[..., :nq]
            rates = np.concatenate([velocities_of(self._model, q, rates[..., :nq]), rates[..., nq:]], axis=-1)
        result = directions.jacobian(rates)
        return result.reshape(*result.shape[:-2], *self._shape(function), directions.columns)


def _flat(a: Array, lead: tuple[int, ...], own: int = 1) -> Array:
    """Rows of an array with ``own`` axes of its own that broadcasts to a batch of shape ``lead``."""
    shape = a.shape[-own:]
    return np.broadcast_to(a, (*lead, *shape)).reshape(prod(lead), *shape)
