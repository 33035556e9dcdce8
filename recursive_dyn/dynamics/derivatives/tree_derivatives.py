"""Derivatives of inverse and forward dynamics, analytic and in lanes: see recursion.motion_derivatives.

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

from recursive_dyn.codegen.addresses import aligned
from recursive_dyn.codegen.compiled import Compiled
from recursive_dyn.codegen.emitting.drivers import padded
from recursive_dyn.codegen.emitting.tree_products import (
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
from recursive_dyn.codegen.evaluator import Evaluator
from recursive_dyn.codegen.kernel import Kernel
from recursive_dyn.codegen.loops.calling import Bound
from recursive_dyn.codegen.making import jit
from recursive_dyn.codegen.making.building import building
from recursive_dyn.codegen.making.progress import waiting
from recursive_dyn.dynamics.derivatives.constrained_loops import ConstraintMemory, constrained_derivatives
from recursive_dyn.dynamics.derivatives.motion_program import constraint_memory, moving_program, pairs_of_columns
from recursive_dyn.dynamics.derivatives.tree_loops import (
    StateRows,
    TreeMemory,
    forward_derivatives,
    inverse_derivatives,
)
from recursive_dyn.dynamics.derivatives.tree_order import ROOM, TreeOrder, column_slots, tree_order
from recursive_dyn.graph.expression import Graph, Scalar
from recursive_dyn.graph.program import Program, schedule
from recursive_dyn.model.model import Model
from recursive_dyn.recursion.analytic_derivatives import motion_derivatives as motion

Array = np.ndarray
Kernels = tuple[Kernel, Kernel, Kernel]  # of the motion, of links and of columns
_EMPTY, _FLOAT, _WHOLE = np.zeros(0), np.dtype(np.float64), slice(None)
INVERSE, FORWARD, MULTIPLIERS = "inverse_dynamics", "forward_dynamics", "multipliers"


class TreeDerivatives:
    """Derivatives of inverse and forward dynamics and of multipliers of one model that moves.

    functions: those of which there are any; of constraints between columns that share coordinates there are none.
    """

    def __init__(self, model: Model) -> None:
        self._model, self._local, self._last = model, threading.local(), threading.local()
        solved = (FORWARD,) if not model.constraints else (FORWARD, MULTIPLIERS) if self._sharing is None else ()
        self.functions = (INVERSE, *solved)

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
        """By q, v and tau or a (..., size), each (..., nv, nv); ``doubtful`` says whether to look at them.

        Parameters may have leading axes where no coordinates are ``shared``.
        """
        if self._sharing is None:
            machine = self.machine(it, function)
            return (machine.batch if any(x.ndim > 1 for x in arrays) else machine.single)(arrays, parameters)
        q, v, last = arrays
        a = it.call(function, q, v, last) if function == FORWARD else last
        by_columns = self.machine(it, INVERSE).batch([q, v, a], parameters)
        by_q, by_v, by_a = (self._sharing.T @ J @ self._sharing for J in by_columns)
        by_a = by_a + np.diag([c.armature for c in self._model.coordinates])
        if function == INVERSE:
            return by_q, by_v, by_a
        solved = np.linalg.inv(by_a)
        return -solved @ by_q, -solved @ by_v, solved

    @property
    def shared(self) -> bool:
        """Whether columns share coordinates."""
        return self._sharing is not None

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
                known[function] = self._machine(it, function, share)
        self._last.machine = known[function]
        return known[function]

    def _machine(self, it: Evaluator, function: str, report: Callable[[float], None] | None) -> TreeMachine:
        model = self._model
        if function == INVERSE:
            return TreeMachine(model, self._kernels(False, report), None, inverse_derivatives)
        if not model.constraints:
            return TreeMachine(model, self._kernels(False, report), it.kernel(FORWARD), forward_derivatives)
        kernels, forward = self._kernels(True, report), it.kernel("constrained_motion")
        part = slice(None, model.nv) if function == FORWARD else slice(model.nv, None)
        constraints = constraint_memory(model, kernels[0].outputs)
        return TreeMachine(model, kernels, forward, constrained_derivatives, constraints, part)

    @cached_property
    def _sharing(self) -> Array | None:
        """Which column (n, nv) has which coordinate, where any have the same."""
        slots = column_slots(self._model)
        return None if len(set(slots)) == len(slots) else np.eye(self._model.nv)[slots]

    def _kernels(self, constrained: bool, report: Callable[[float], None] | None) -> Kernels:
        """The program of the motion, and what is made of links and of columns in lanes."""
        model, what = self._model, "constrained motion derivatives" if constrained else "motion derivatives"
        program = Kernel(f"{model.key} {what}", lambda: moving_program(model, constrained), 1, report)
        columns = motion.LINK_TERMS + _column_size(program)
        return program, _lanes("links", motion.link_terms, motion.LINK), _lanes("columns", motion.column_terms, columns)


class TreeMachine:
    """The loops of one function, bound to memory for one state; batches have memory for their rows.

    constraints: what they add to the memory; part: which rows of the results are the function's.
    """

    def __init__(
        self,
        model: Model,
        kernels: Kernels,
        forward: Kernel | None,
        loop: Compiled[..., None],
        constraints: ConstraintMemory | None = None,
        part: slice = _WHOLE,
    ) -> None:
        count = 0 if constraints is None else len(constraints.inverse)
        own = pairs_of_columns(kernels[0].outputs)
        self._order = tree_order(model, jit.vector_width(), _column_size(kernels[0]), own)
        self._memory = _memory(self._order, kernels, forward, count)
        self._sizes, self._columns, self._loop = (model.nq, model.nv), len(self._order.end), loop
        self._rows, self._part, self._alive = self._columns + count, part, (kernels, forward)
        self._places = (self._order, self._memory) if constraints is None else (self._order, self._memory, constraints)
        q, v, last, parameters = map(np.zeros, (model.nq, model.nv, model.nv, len(model.parameters)))
        self._state = StateRows(q, v, last, parameters, np.zeros(4, dtype=np.int64), len(parameters))
        self._results = tuple(np.zeros((self._rows, self._columns)) for _ in range(3))
        flat = (J.reshape(-1) for J in self._results)
        self._call = loop.bind(*self._places, self._state, *self._sizes, 1, *flat)

    @property
    def doubtful(self) -> bool:
        """Whether the last results were large, or not finite."""
        return bool(self._memory.doubt[0])

    def single(self, arrays: Sequence[Array], parameters: Array) -> tuple[Array, ...]:
        """Derivatives (rows, columns) at one state."""
        state, part = self._state, self._part
        state.q[:], state.v[:], state.last[:] = arrays
        state.parameters[:] = parameters
        self._memory.doubt[0] = 0
        self._call()
        by_q, by_v, by_last = self._results
        return by_q[part].copy(), by_v[part].copy(), by_last[part].copy()

    def repeated(self, rows: int) -> Bound:
        """The loops for the last single state, so many times in one call, each with results of its own: to be timed."""
        results = [np.zeros(rows * self._rows * self._columns) for _ in range(3)]
        return self._loop.bind(*self._places, self._state, *self._sizes, rows, *results)

    def batch(self, arrays: Sequence[Array], parameters: Array) -> tuple[Array, ...]:
        """Derivatives (..., rows, columns) at arrays and parameters (..., size)."""
        n, lead, every = self._columns, np.broadcast_shapes(*(a.shape[:-1] for a in arrays)), (*arrays, parameters)
        rows = prod(lead)
        q, v, last, own = (
            np.ascontiguousarray(a if a.ndim == 1 else np.broadcast_to(a, (*lead, a.shape[-1]))).reshape(-1)
            for a in every
        )
        strides = np.array([0 if a.ndim == 1 else a.shape[-1] for a in every], dtype=np.int64)
        state = StateRows(q, v, last, own, strides, parameters.shape[-1])
        results = [np.empty(rows * self._rows * n) for _ in range(3)]
        self._memory.doubt[0] = 0
        self._loop(*self._places, state, *self._sizes, rows, *results)
        return tuple(np.ascontiguousarray(J.reshape(*lead, self._rows, n)[..., self._part, :]) for J in results)


def _memory(order: TreeOrder, kernels: Kernels, forward: Kernel | None, constraints: int) -> TreeMemory:
    program, links, columns = kernels
    n, width = len(order.end), jit.vector_width()
    sides = 3 * n + constraints
    code, (given, moving, scratch) = products(n, sides), program.memory()
    forward_given, accelerations, more = forward.memory() if forward is not None else (_EMPTY,) * 3
    gather, scatter, row, factor, solve = (code.address(name) for name in (GATHER, SCATTER, ROW, FACTOR, SOLVE))
    lanes = (2 * padded(motion.LINK_TERMS + motion.COLUMN) + motion.COLUMN_TERMS) * width
    equations = 0 if forward is None else n
    return TreeMemory(
        0 if forward is None else _address(forward), _address(program), _address(links), _address(columns),
        gather, scatter, row, factor, solve, width, _column_size(program), padded_columns(sides), forward_given,
        accelerations, more, given, np.append(moving, np.zeros(motion.LINK)),
        max(scratch, links.memory()[2], columns.memory()[2], key=len),
        aligned((len(order.terms) + 1) * ROOM), aligned(lanes), aligned(lanes),
        aligned(len(order.column) * motion.COLUMN_TERMS), aligned(len(order.column) * WIDE),
        aligned(equations * apart(padded_columns(sides))), aligned(equations * apart(padded_columns(n))),
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
