"""Functions of a forest: equal trees are lanes of one program, whose machine code does not know how many there are.

What the functions of the whole give, but for rounding: a program's products and sums fuse as its neighbours let them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from math import prod

import numpy as np

from recursive_dyn.codegen import jit
from recursive_dyn.codegen.evaluator import Evaluator
from recursive_dyn.codegen.forest_driver import ENTRY, SIZES
from recursive_dyn.codegen.forest_kernel import ForestKernel, Lanes, Whole, in_lanes
from recursive_dyn.codegen.kernel import Kernel
from recursive_dyn.codegen.runs import Runs
from recursive_dyn.graph.expression import Graph
from recursive_dyn.graph.program import Program, schedule
from recursive_dyn.integrators.integrator import Integrator
from recursive_dyn.integrators.registry import BY_FUNCTION
from recursive_dyn.model.forest import Kind, kinds_of
from recursive_dyn.model.model import Model
from recursive_dyn.recursion import tree_rows
from recursive_dyn.recursion.context import ALONG, OF_BODIES, Function, segment_sizes

Array = np.ndarray
_TREES, _EQUAL = 4, 2  # so many trees, and on average so many of a kind: below, one program of the whole is as fast


class Forest:
    """Kernels of a model's functions by its trees.

    alone: the evaluator of one tree's functions, by the model of the tree.
    """

    def __init__(self, model: Model, alone: Callable[[Model], Evaluator]) -> None:
        self.model, self._alone = model, alone
        self._segments: dict[tuple[int, str], list[Runs]] = {}

    @cached_property
    def kinds(self) -> list[Kind]:
        """The kinds of its trees."""
        return kinds_of(self.model)

    @cached_property
    def pays(self) -> bool:
        """Whether lanes are faster, or compiled faster, than one program of the whole."""
        model = self.model
        if model.constraints or model.forces or not model.nv or model.nb < _TREES:
            return False
        trees = sum(map(len, self.kinds))
        return trees >= max(_TREES, _EQUAL * len(self.kinds))

    def kernel(self, name: str, function: Function, report: Callable[[float], None] | None = None) -> Kernel | None:
        """The kernel of a function of the whole; None where it is not of trees. report: told the share compiled."""
        if not self.pays or function.rows is None:
            return None
        outputs = function.rows(self.model, self.kinds)
        if outputs is None:
            return None
        inputs, kinds = self.inputs(function), self.kinds
        chosen = [k for k, rows in enumerate(outputs) if rows.runs or (function.sums and kinds[k].model.nv)]
        groups = []
        for done, k in enumerate(chosen):
            kernel = self.tree(kinds[k]).kernel(name, jit.vector_width())
            groups.append(Lanes(kernel, inputs[k], self._constants[k], outputs[k]))
            if report is not None:
                report((done + 1) / len(chosen))
        return ForestKernel(self._whole(name, function, outputs), groups)

    def tree(self, kind: Kind) -> Evaluator:
        """The functions of one tree of a kind."""
        return self._alone(kind.model)

    @cached_property
    def _constants(self) -> list[Array]:
        """The numbers of every kind's trees."""
        return [in_lanes(kind.constants) for kind in self.kinds]

    @cached_property
    def _parameters(self) -> list[Runs]:
        """Where the parameters of every kind's trees are."""
        return [Runs.of(kind.parameters) for kind in self.kinds]

    @cached_property
    def _units(self) -> Array:
        """First and number (k, 2) of what in q together has length 1."""
        found = [np.zeros((0, 2), dtype=np.int64)]
        for kind in self.kinds:
            for first, end in kind.model.units:
                own = kind.places[:, first]
                found.append(np.stack([own, np.full_like(own, end - first)], axis=1))
        return np.concatenate(found)

    def inputs(self, function: Function) -> list[Runs]:
        """Of every kind, where the inputs of its trees are among those of the whole."""
        first, found, sizes = 0, list[list[Runs]](), segment_sizes(self.model)
        for segment in (*function.inputs, "parameters"):
            found.append(self._behind(first, segment))
            first += sizes[segment.removeprefix(ALONG)]
        return [Runs.joined(own) for own in zip(*found, strict=True)]

    def _behind(self, first: int, segment: str) -> list[Runs]:
        """A segment behind ``first`` other numbers: many functions have the same."""
        known = self._segments.get((first, segment))
        if known is None:
            known = [runs.after(first) if first else runs for runs in self.segment(segment)]
            self._segments[first, segment] = known
        return known

    def segment(self, segment: str) -> list[Runs]:
        """Where the trees' parts of an input segment, or of one of rates, are in it."""
        model, kinds, segment = self.model, self.kinds, segment.removeprefix(ALONG)
        if segment == "parameters":
            return self._parameters
        if segment == "dt":
            return [Runs.shared(len(kind), 0, 1) for kind in kinds]
        if segment in OF_BODIES:
            return tree_rows.bodies(OF_BODIES[segment])(model, kinds) or []
        return tree_rows.places(model, kinds) if segment in ("q", "q_end") else tree_rows.slots(model, kinds)

    def _whole(self, name: str, function: Function, outputs: Sequence[Runs]) -> Whole:
        model, rule = self.model, BY_FUNCTION.get(name)
        sizes = segment_sizes(model)
        segments = [(segment, sizes[segment.removeprefix(ALONG)]) for segment in (*function.inputs, "parameters")]
        size = prod(function.shape(model))
        written = sum([rows.systems * rows.size for rows in outputs])
        total = self._total(name, function)
        made = total.output_size if total is not None else function.sums
        return Whole(
            segments, [(name, size)], model.nq, model.nv, self._units, 0 if written + made == size else size - made,
            function.sums, total, "" if rule is None else _loop(rule),
        )  # fmt: skip

    def _total(self, name: str, function: Function) -> Kernel | None:
        """What is made of sums."""
        if function.total is None:
            return None
        total, count = function.total, function.sums

        def build() -> Program:
            sums = Graph().inputs("sums", count)
            return schedule(name, [("sums", count)], [(name, total(list(sums)))])

        return Kernel(f"total of {name}", build, 1)


@cache
def _loop(rule: Integrator) -> str:
    """The loop of a rule's steps."""
    return rule.loop(ENTRY, SIZES)
