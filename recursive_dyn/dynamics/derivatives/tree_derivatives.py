"""Derivatives of inverse and forward dynamics of trees, analytic and in lanes: see recursion.motion_derivatives.

The program of the motion is short, linear in the number of links, and the loops behind it are the same for all models.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import cached_property, partial
from math import prod
from typing import Any

import numpy as np

from recursive_dyn.codegen import jit
from recursive_dyn.codegen.addresses import aligned
from recursive_dyn.codegen.building import building
from recursive_dyn.codegen.compiled import Compiled
from recursive_dyn.codegen.drivers import padded
from recursive_dyn.codegen.evaluator import Evaluator
from recursive_dyn.codegen.kernel import Kernel
from recursive_dyn.codegen.loops.calling import Bound
from recursive_dyn.codegen.progress import waiting
from recursive_dyn.codegen.tree_products import (
    FACTOR,
    GATHER,
    ROW,
    SCATTER,
    SOLVE,
    WIDE,
    apart,
    padded_columns,
    products,
)
from recursive_dyn.dynamics.derivatives.tree_loops import (
    StateRows,
    TreeMemory,
    forward_derivatives,
    inverse_derivatives,
)
from recursive_dyn.dynamics.derivatives.tree_order import ROOM, TreeOrder, column_slots, tree_order, walk
from recursive_dyn.graph.expression import Graph, Scalar, is_constant
from recursive_dyn.graph.program import Program, schedule
from recursive_dyn.model.model import Model
from recursive_dyn.recursion import motion_derivatives as motion
from recursive_dyn.recursion.kinematics import Tree

Array = np.ndarray
Kernels = tuple[Kernel, Kernel, Kernel]  # of the motion, of links and of columns
_EMPTY, _FLOAT = np.zeros(0), np.dtype(np.float64)
_LOOPS: dict[str, Compiled[..., None]] = {
    "inverse_dynamics": inverse_derivatives,
    "forward_dynamics": forward_derivatives,
}


class TreeDerivatives:
    """Derivatives of inverse and forward dynamics of one model that moves and has no constraints."""

    functions = tuple(_LOOPS)

    def __init__(self, model: Model) -> None:
        self._model, self._local, self._last = model, threading.local(), threading.local()

    def single(self, it: Evaluator, function: str, arguments: Sequence[Any], parameters: Array) -> tuple[Array, ...]:
        """By q, v and tau or a, (nv, nv) each, of one state as arrays of floats; none where it is not that simple, and
        ``doubtful`` says whether to look at them."""
        sizes, plain = (self._model.nq, self._model.nv, self._model.nv), len(arguments) == 3 and self._sharing is None
        for size, x in zip(sizes, arguments, strict=False):
            plain = plain and type(x) is np.ndarray and x.dtype is _FLOAT and x.shape == (size,)
        if not plain:
            return ()
        return self.machine(it, function).single(arguments, parameters)

    def of(self, it: Evaluator, function: str, arrays: Sequence[Array], parameters: Array) -> tuple[Array, ...]:
        """By q, v and tau or a (..., size), each (..., nv, nv); ``doubtful`` says whether to look at them."""
        if self._sharing is None:
            return self.machine(it, function).batch(arrays, parameters)
        q, v, last = arrays
        a = it.call(function, q, v, last) if function == "forward_dynamics" else last
        by_columns = self.machine(it, "inverse_dynamics").batch([q, v, a], parameters)
        by_q, by_v, by_a = (self._sharing.T @ J @ self._sharing for J in by_columns)
        by_a = by_a + np.diag([c.armature for c in self._model.coordinates])
        if function == "inverse_dynamics":
            return by_q, by_v, by_a
        solved = np.linalg.inv(by_a)
        return -solved @ by_q, -solved @ by_v, solved

    @property
    def doubtful(self) -> bool:
        """Whether this thread's last results were large or not finite."""
        last: TreeMachine = self._last.machine
        return last.doubtful

    def machine(self, it: Evaluator, function: str) -> TreeMachine:
        """The loops of a function, with memory of this thread."""
        known: dict[str, TreeMachine] = self._local.__dict__
        if function not in known:
            what = f"derivatives of {function}"
            report = None if it.progress is None else partial(it.progress, what)
            with building(), waiting(f"compiling {what}") if report is None else nullcontext(report) as share:
                forward = it.kernel(function) if function == "forward_dynamics" else None
                known[function] = TreeMachine(self._model, self._kernels(share), forward, _LOOPS[function])
        self._last.machine = known[function]
        return known[function]

    @cached_property
    def _sharing(self) -> Array | None:
        """Which column (n, nv) has which coordinate, where any have the same."""
        slots = column_slots(self._model)
        return None if len(set(slots)) == len(slots) else np.eye(self._model.nv)[slots]

    def _kernels(self, report: Callable[[float], None] | None) -> Kernels:
        """The program of the motion, and what is made of links and of columns in lanes."""
        model = self._model
        program = Kernel(f"{model.key} motion derivatives", lambda: moving_program(model), 1, report)
        columns = motion.LINK_TERMS + _column_size(program)
        return program, _lanes("links", motion.link_terms, motion.LINK), _lanes("columns", motion.column_terms, columns)


class TreeMachine:
    """The loops of one function, bound to memory for one state; batches have memory for their rows."""

    def __init__(self, model: Model, kernels: Kernels, forward: Kernel | None, loop: Compiled[..., None]) -> None:
        names = [name for name, _ in kernels[0].outputs[2:]]
        own = [(int(link), int(row), int(column)) for link, row, column in map(str.split, names)]
        self._order = tree_order(model, jit.vector_width(), _column_size(kernels[0]), own)
        self._memory = _memory(self._order, kernels, forward)
        self._sizes, self._columns, self._loop = (model.nq, model.nv), len(self._order.end), loop
        self._alive = kernels, forward
        q, v, last, parameters = map(np.zeros, (model.nq, model.nv, model.nv, len(model.parameters)))
        self._state = StateRows(q, v, last, np.zeros(3, dtype=np.int64), parameters)
        self._results = tuple(np.zeros((self._columns, self._columns)) for _ in range(3))
        flat = (J.reshape(-1) for J in self._results)
        self._call = loop.bind(self._order, self._memory, self._state, *self._sizes, 1, *flat)

    @property
    def doubtful(self) -> bool:
        """Whether the last results were large, or not finite."""
        return bool(self._memory.doubt[0])

    def single(self, arrays: Sequence[Array], parameters: Array) -> tuple[Array, ...]:
        """Derivatives (columns, columns) at one state."""
        state = self._state
        state.q[:], state.v[:], state.last[:] = arrays
        state.parameters[:] = parameters
        self._memory.doubt[0] = 0
        self._call()
        by_q, by_v, by_last = self._results
        return by_q.copy(), by_v.copy(), by_last.copy()

    def repeated(self, rows: int) -> Bound:
        """The loops for the last single state, so many times in one call, each with results of its own: to be timed."""
        results = [np.zeros(rows * self._columns**2) for _ in range(3)]
        return self._loop.bind(self._order, self._memory, self._state, *self._sizes, rows, *results)

    def batch(self, arrays: Sequence[Array], parameters: Array) -> tuple[Array, ...]:
        """Derivatives (..., columns, columns) at arrays (..., size)."""
        n, lead = self._columns, np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
        rows = prod(lead)
        q, v, last = (
            np.ascontiguousarray(a if a.ndim == 1 else np.broadcast_to(a, (*lead, a.shape[-1]))).reshape(-1)
            for a in arrays
        )
        strides = np.array([0 if a.ndim == 1 else a.shape[-1] for a in arrays], dtype=np.int64)
        results = [np.empty(rows * n * n) for _ in range(3)]
        self._memory.doubt[0] = 0
        self._loop(self._order, self._memory, StateRows(q, v, last, strides, parameters), *self._sizes, rows, *results)
        return tuple(J.reshape(*lead, n, n) for J in results)


def _memory(order: TreeOrder, kernels: Kernels, forward: Kernel | None) -> TreeMemory:
    program, links, columns = kernels
    n, width = len(order.end), jit.vector_width()
    code, (given, moving, scratch) = products(n), program.memory()
    forward_given, accelerations, more = forward.memory() if forward is not None else (_EMPTY,) * 3
    gather, scatter, row, factor, solve = (code.address(name) for name in (GATHER, SCATTER, ROW, FACTOR, SOLVE))
    lanes = (2 * padded(motion.LINK_TERMS + motion.COLUMN) + motion.COLUMN_TERMS) * width
    equations = 0 if forward is None else n
    return TreeMemory(
        0 if forward is None else _address(forward), _address(program), _address(links), _address(columns),
        gather, scatter, row, factor, solve, width, _column_size(program), padded_columns(3 * n), forward_given,
        accelerations, given, np.append(moving, np.zeros(motion.LINK)),
        max(scratch, more, links.memory()[2], columns.memory()[2], key=len),
        aligned((len(order.terms) + 1) * ROOM), aligned(lanes), aligned(lanes),
        aligned(len(order.column) * motion.COLUMN_TERMS), aligned(len(order.column) * WIDE),
        aligned(equations * apart(padded_columns(3 * n))), aligned(equations * apart(padded_columns(n))),
        aligned(equations), aligned(width), np.zeros(1, dtype=np.int64),
    )  # fmt: skip


def _address(kernel: Kernel) -> int:
    return kernel.native.address(kernel.entry)


def _lanes(name: str, terms: Callable[[list[Scalar]], list[Scalar]], given: int) -> Kernel:
    def build() -> Program:
        return schedule(name, [(name, given)], [("terms", terms(list(Graph().inputs(name, given))))])

    return Kernel(f"motion derivatives of {given} numbers of {name}", build, jit.vector_width())


def _column_size(program: Kernel) -> int:
    """How many numbers a column has, as the program's second segment says."""
    return int(program.outputs[1][0])


def moving_program(model: Model) -> Program:
    """The motion of links, then of columns in the order of a walk, without what no column has, in a segment named by
    how many numbers they have; then of columns of one joint, segments named by link, row and column."""
    graph = Graph()
    inputs = [("q", model.nq), ("v", model.nv), ("a", model.nv), ("parameters", len(model.parameters))]
    found = motion.moving(Tree(model, graph), graph.inputs("a", model.nv))
    columns = [found.columns[i][c] for i, c in walk(model)]
    size = motion.COLUMN
    while all(is_constant(x) and x == 0.0 for column in columns for x in column[size - 6 : size]):
        size -= 6
    own = [(" ".join(map(str, place)), terms) for place, terms in found.own.items()]
    outputs = [("links", [x for link in found.links for x in link])]
    outputs += [(str(size), [x for column in columns for x in column[:size]])]
    return schedule("motion", inputs, [*outputs, *own])
