"""Functions of a forest: equal trees are lanes of one program, whose machine code does not know how many there are.

What the functions of the whole give, but for rounding: a program's products and sums fuse as its neighbours let them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from math import prod
from typing import Any, NamedTuple

import numpy as np

from recursive_dyn.codegen.addresses import address
from recursive_dyn.codegen.evaluator import Evaluator
from recursive_dyn.codegen.forests.forest_driver import ENTRY, SIZES
from recursive_dyn.codegen.forests.forest_kernel import CommonKernel, ForestKernel, ForestPlan, Lanes, Whole, in_lanes
from recursive_dyn.codegen.forests.runs import Runs
from recursive_dyn.codegen.kernel import Kernel
from recursive_dyn.codegen.making import jit
from recursive_dyn.graph.expression import Graph
from recursive_dyn.graph.program import Program, schedule
from recursive_dyn.graph.recent import Recent
from recursive_dyn.integrators.driven import DRIVEN, LED, LOADED
from recursive_dyn.integrators.integrator import Integrator
from recursive_dyn.integrators.registry import stepping
from recursive_dyn.model.forest import Kind, kinds_of, numbers_of, once_alike
from recursive_dyn.model.forest_numbers import ForestNumbers, PlannedForest
from recursive_dyn.model.model import Model
from recursive_dyn.recursion import tree_rows
from recursive_dyn.recursion.context import ALONG, OF_BODIES, Function, segment_sizes

Array = np.ndarray
Report = Callable[[float], None] | None
_TREES, _EQUAL = 4, 2  # so many trees, and on average so many of a kind: below, one program of the whole is as fast


class Forest:
    """Kernels of a model's functions by its trees.

    alone: the evaluator of one tree's functions, by the model of the tree.
    """

    def __init__(self, model: Model, alone: Callable[[Model], Evaluator]) -> None:
        self.model, self._alone = model, alone

    @cached_property
    def kinds(self) -> list[Kind]:
        """The kinds of its trees."""
        return kinds_of(self.model)

    @cached_property
    def pays(self) -> bool:
        """Whether lanes are faster, or compiled faster, than one program of the whole."""
        model = self.model
        if model.constraints or model.forces or model.prescribed or not model.nv or model.nb < _TREES:
            return False
        trees = sum(map(len, self.kinds))
        return trees >= max(_TREES, _EQUAL * len(self.kinds))

    def kernel(self, name: str, function: Function, report: Report = None) -> Kernel | None:
        """The kernel of a function of the whole; None where it is not of trees. report: told the share compiled."""
        if not self.pays or function.rows is None:
            return None
        numbers, alone = numbers_of(self.model), name
        for prefix in (LED, DRIVEN, LOADED):
            alone = alone.removeprefix(prefix)
        if numbers is not None and function.rows in tree_rows.PLANNED and "/" not in alone:
            return self._planned(name, function, numbers, report)
        model, kinds, (tables, (_, *places)) = self.model, self.kinds, self._constants
        outputs = function.rows(model, kinds)
        if outputs is None:
            return None
        constants = [(table.shape[1], place) for table, place in zip(tables, places, strict=True)]
        groups = self._groups(name, function, self.inputs(function), constants, outputs, report)
        whole = _whole(name, function, model, sum([rows.systems * rows.size for rows in outputs]))
        units = _units(model)
        whole = whole._replace(unit_count=len(units), unit_table=address(units))
        return ForestKernel(whole, groups, tables, units)

    def tree(self, kind: Kind) -> Evaluator:
        """The functions of one tree of a kind."""
        return self._alone(kind.model)

    def inputs(self, function: Function) -> list[Runs]:
        """Of every kind, where the inputs of its trees are among those of the whole."""
        return _inputs(self.model, self.kinds, function)

    def segment(self, segment: str) -> list[Runs]:
        """Where the trees' parts of an input segment, or of one of rates, are in it."""
        return _segment(self.kinds, segment.removeprefix(ALONG))

    def _planned(self, name: str, function: Function, numbers: ForestNumbers, report: Report) -> ForestKernel:
        """``kernel`` where all that is where follows from how many trees of each kind there are."""
        key = name, len(self.model.parameters), *self._trees
        common: CommonKernel | None = numbers.known.get(key)
        if common is None:
            common = numbers.known[key] = self._common(name, function, numbers, report)
        return common.kernel(self._constants[1], self)

    def _common(self, name: str, function: Function, numbers: ForestNumbers, report: Report) -> CommonKernel:
        """What is the same of all forests with these trees."""
        key = name, *self._trees
        planned = _PLANS.of(key, lambda: self._plan(name, function, report))
        sizes, model, units = segment_sizes(self.model), self.model, _units(self.model)
        size = prod(function.shape(model))
        cleared = _cleared(int(numbers.counts @ planned.written), size, planned.made)
        whole = size, cleared, model.nl, model.nb, model.nv, model.nq, len(units), address(units)
        values, kept = numbers.values(whole, planned.stretched)
        inputs = [(segment, sizes[segment]) for segment in planned.segments]
        return CommonKernel(planned.plan, values, inputs, [(name, size)], kept, units, numbers)

    def _plan(self, name: str, function: Function, report: Report) -> _Planned:
        forest: Any = PlannedForest([kind.model for kind in self.kinds], self.model.common_parameters)
        assert function.rows is not None
        outputs = function.rows(forest, forest.kinds) or []
        constants = [
            (kind.constants.shape[1], it.constant_table) for kind, it in zip(self.kinds, forest.kinds, strict=True)
        ]
        groups = self._groups(name, function, _inputs(forest, forest.kinds, function), constants, outputs, report)
        whole = _whole(name, function, forest, 0)._replace(
            outputs=[(name, forest.size)], cleared=forest.cleared, unit_count=forest.unit_count,
            unit_table=forest.unit_table,
        )  # fmt: skip
        plan, written = ForestPlan(whole, groups, forest.symbols, forest.own_symbols), [rows.size for rows in outputs]
        segments = [segment for segment, _ in whole.inputs]
        return _Planned(plan, forest.stretched, segments, np.array(written, dtype=np.int64), whole.made)

    def _groups(
        self, name: str, function: Function, inputs: Sequence[Runs], constants: Sequence[tuple[int, int]],
        outputs: Sequence[Runs], report: Report,
    ) -> list[Lanes]:  # fmt: skip
        """The kinds whose trees have any part in a function."""
        kinds = self.kinds
        chosen = [k for k, rows in enumerate(outputs) if rows.runs or (function.sums and kinds[k].model.nv)]
        groups = []
        for done, k in enumerate(chosen):
            kernel = self._trees[k].kernel(name, jit.vector_width(), soon=True)
            groups.append(Lanes(kernel, inputs[k], *constants[k], outputs[k]))
            if report is not None:
                report((done + 1) / len(chosen))
        return groups

    @cached_property
    def _trees(self) -> tuple[Evaluator, ...]:
        """The functions of one tree of every kind."""
        return tuple([self._alone(kind.model) for kind in self.kinds])

    @cached_property
    def _constants(self) -> tuple[list[Array], Array]:
        """The numbers of every kind's trees; values of a kernel's own symbols: its table, and where these are."""
        tables = [in_lanes(kind.constants) for kind in self.kinds]
        return tables, np.array([0, *map(address, tables)])


@once_alike
def _units(model: Model) -> Array:
    """First and number (k, 2) of what in q together has length 1."""
    found = []
    for kind in kinds_of(model):
        for first, end in kind.model.units:
            own = np.empty((len(kind), 2), dtype=np.int64)
            own[:, 0], own[:, 1] = kind.places[:, first], end - first
            found.append(own)
    return np.concatenate(found) if found else np.zeros((0, 2), dtype=np.int64)


class _Planned(NamedTuple):
    """A plan for a function, of these stretches and inputs; how many outputs a tree of each kind writes, and how many
    are made of sums."""

    plan: ForestPlan
    stretched: Sequence[Sequence[int]]
    segments: Sequence[str]
    written: Array
    made: int


_PLANS = Recent[_Planned](256)  # by the function and the evaluators of the trees


def _inputs(model: Model, kinds: Sequence[Kind], function: Function) -> list[Runs]:
    first, found, sizes = 0, list[list[Runs]](), segment_sizes(model)
    for segment in (*function.inputs, "parameters"):
        own = segment.removeprefix(ALONG)
        found.append([runs.after(first) for runs in _segment(kinds, own)])
        first += sizes[own]
    return [Runs.joined(own) for own in zip(*found, strict=True)]


def _segment(kinds: Sequence[Kind], segment: str) -> list[Runs]:
    if segment == "parameters":
        return [kind.parameter_runs for kind in kinds]
    if segment in ("dt", "ahead", "whole"):
        return [kind.shared(0, 1) for kind in kinds]
    if segment in OF_BODIES:
        return [kind.body_runs.each(OF_BODIES[segment]) for kind in kinds]
    return [kind.place_runs if segment in ("q", "q_end") else kind.slot_runs for kind in kinds]


def _whole(name: str, function: Function, model: Model, written: int) -> Whole:
    """What a function looks like from outside, of which trees write so many outputs; its units are left out."""
    rule, sizes = stepping(name), segment_sizes(model)
    segments = [(segment, sizes[segment.removeprefix(ALONG)]) for segment in (*function.inputs, "parameters")]
    loop = "" if rule is None else _loop(rule)
    whole = Whole(segments, (), model.nq, model.nv, 0, 0, 0, function.sums, _total(name, function), loop)
    if isinstance(model, PlannedForest):
        return whole
    size = prod(function.shape(model))
    return whole._replace(outputs=[(name, size)], cleared=_cleared(written, size, whole.made))


def _cleared(written: int, size: int, made: int) -> int:
    """How many outputs no tree may write, if there are any."""
    return 0 if written + made == size else size - made


def _total(name: str, function: Function) -> Kernel | None:
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
