"""Coordinates that joints show together, found from those of the joints by Gauss-Newton steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from recursive_dyn.codegen.function_list import Signature
from recursive_dyn.dynamics.parameters import Parameters
from recursive_dyn.graph.expression import Graph, Scalar
from recursive_dyn.graph.program import Program, content_hash, schedule
from recursive_dyn.graph.traversal import substitute
from recursive_dyn.maximal.kinds.joint_evaluator import evaluator_of
from recursive_dyn.maximal.kinds.joint_kinds import FAR
from recursive_dyn.maximal.kinds.measured import MeasuredInputs, Measures
from recursive_dyn.maximal.kinds.row_functions import SAME, TURNING
from recursive_dyn.maximal.shared.shown_together import ShownTogether
from recursive_dyn.model.constraint import COORDINATE

Array = np.ndarray

FOUND, MISSED = "found", "missed"

_STEPS, _TRIES = 30, 40
_STILL, _NEAR = 1e-13, 1e-8  # of a last step, relative to the coordinates; of residuals that need no other start
_LONGEST = 0.7  # of a step


class FindingFunctions:
    """Functions of groups for an Evaluator, over what is ``measured``: the joints' coordinates, and the groups' own to
    start from, ``ends``.

    "found": the groups' coordinates (k,) after some steps, and by how much another one would change them (k,);
    "missed": of every group its residuals (m,) and J (m, k).
    """

    owner = "these joints need"

    def __init__(self, groups: Sequence[ShownTogether], parameters: Sequence[str]) -> None:
        self.groups, self.parameters = tuple(groups), tuple(parameters)
        self.ends = [end for group in groups for end in group.ends]
        keys = [node.args[0] for group in groups for node in group.inputs]
        self.measured = Measures([*keys, *((COORDINATE, end) for end in self.ends)], parameters, ())
        self.sizes = [(len(group.residuals), len(group.ends)) for group in groups]

    def __reduce__(self) -> Any:
        return FindingFunctions, (self.groups, self.parameters)

    @property
    def still(self) -> float:
        """How large a further step may be where coordinates were followed far enough."""
        return min((SAME if group.steady else TURNING)[1] for group in self.groups)

    def signature(self, function: str) -> Signature:
        """One vector."""
        size = 2 * len(self.ends) if function == FOUND else sum(m + m * k for m, k in self.sizes)
        return Signature(tuple(self.measured.sizes), (size,))

    def key(self, function: str) -> str:
        """Hash of all residuals and of where their inputs are."""
        scalars = [x for group in self.groups for x in group.residuals]
        return content_hash(f"found together {function} {self.ends} {self.parameters}", scalars)

    def build(self, function: str) -> Program:
        """The function's program."""
        graph = Graph()
        known = MeasuredInputs(self.measured, graph)
        outputs = self._found(known) if function == FOUND else self._missed(known)
        return schedule(function, [*self.measured.sizes, ("parameters", len(self.parameters))], [("out", outputs)])

    def _found(self, known: MeasuredInputs) -> list[Scalar]:
        left = list[Scalar]()
        for group in self.groups:
            keys = [(COORDINATE, end) for end in group.ends]
            for _ in range((SAME if group.steady else TURNING)[0]):
                steps = substitute(group.step, known)
                known |= {key: known[key] + step for key, step in zip(keys, steps, strict=True)}
            left += substitute(group.step, known)
        return [*(known[COORDINATE, end] for end in self.ends), *left]

    def _missed(self, known: MeasuredInputs) -> list[Scalar]:
        return [x for group in self.groups for x in substitute([*group.residuals, *group.jacobian.flat], known)]

    def kernel(self, function: str, report: Callable[[float], None] | None) -> None:
        """None: every function has one program."""

    def driver(self, function: str) -> None:
        """None: there is no loop around any."""

    def label(self, segment: str, index: int) -> str:
        """Name of one number, for messages."""
        return f"number {index}"


class FoundTogether:
    """Coordinates of all groups of a model; start (nq,): a configuration."""

    def __init__(self, groups: Sequence[ShownTogether], parameters: Parameters, start: Array) -> None:
        self.functions = FindingFunctions(groups, list(parameters))
        self.evaluator = evaluator_of(self.functions, parameters)
        self.places: Array = np.array([place for place, _ in self.functions.ends], dtype=np.int64)
        self._bounds = np.array([limits for group in groups for limits in group.limits])
        self._start = start[self.places]

    def locate(self, q: Array, parameters: Array, anywhere: bool) -> None:
        """Write the coordinates found into q (..., nq), which has all others and, unless they may be anywhere, where
        these are followed from."""
        self.evaluator.parameters.values_array[:] = parameters
        for one in np.ndindex(q.shape[:-1]):
            best, left = self._followed(q[one], self._start if anywhere else q[one][self.places])
            if not left < (_NEAR if anywhere else FAR):
                for start in self._starts():
                    found, now = self._followed(q[one], start)
                    if now < left:
                        best, left = found, now
                    if left < _NEAR:
                        break
            q[one][self.places] = best

    def _starts(self) -> Array:
        """Configurations (n, k) to search from, the same every time."""
        low, high = (np.where(np.isfinite(self._bounds).all(axis=1), x, y)
                     for x, y in zip(self._bounds.T, (-np.pi, np.pi), strict=True))  # fmt: skip
        return np.random.default_rng(11).uniform(low, high, (_TRIES, len(low)))

    def _followed(self, q: Array, start: Array) -> tuple[Array, float]:
        """(coordinates (k,), the most of the residuals) after steps from a start."""
        q, measured = q.copy(), self.functions.measured
        q[self.places], left, none = start, np.inf, np.zeros(0)
        for _ in range(_STEPS):
            values = np.array([x for place, _ in measured.coordinates for x in (q[place], 0.0)])
            step, left = self._step(self.evaluator.call(MISSED, none, none, none, values))
            size = float(np.abs(step).max())
            q[self.places] += step * min(1.0, _LONGEST / max(size, 1e-300))
            if size <= _STILL * (1.0 + np.abs(q[self.places]).max()):
                break
        return q[self.places], left

    def _step(self, missed: Array) -> tuple[Array, float]:
        """The least J^+ r (k,), also where nothing shows a coordinate, and the most of r."""
        steps, left, at = list[Array](), 0.0, 0
        for m, k in self.functions.sizes:
            r, J = missed[at : at + m], missed[at + m : at + m + m * k].reshape(m, k)
            steps.append(np.linalg.lstsq(J, r)[0])
            left, at = max(left, float(np.abs(r).max())), at + m + m * k
        return np.concatenate(steps), left
