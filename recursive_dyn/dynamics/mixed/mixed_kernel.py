"""A function that asks once for accelerations, as a kernel: a program before the links, the links, a program after.

It looks from outside as the kernel of one program does, so that steps, batches and threads are those of any method.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from recursive_dyn.codegen.addresses import address
from recursive_dyn.codegen.emitting import drivers
from recursive_dyn.codegen.emitting.ir_text import copy, load
from recursive_dyn.codegen.emitting.sizes import known_sizes
from recursive_dyn.codegen.kernel import Kernel
from recursive_dyn.codegen.loops.calling import Bound
from recursive_dyn.codegen.making import jit
from recursive_dyn.codegen.making.cache import key_of, source_fingerprint
from recursive_dyn.dynamics.mixed.link_kinds import CONSTANTS, MOTION, LinkKind, constant_numbers, constants_of
from recursive_dyn.dynamics.mixed.mixed_loops import ROW, LinkMemory, LinkTable, evaluate
from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph, Scalar, is_constant
from recursive_dyn.graph.program import Program, schedule
from recursive_dyn.graph.traversal import substitute
from recursive_dyn.integrators.registry import BY_FUNCTION
from recursive_dyn.model.model import WORLD, Model, once
from recursive_dyn.recursion import multipliers as constraints
from recursive_dyn.recursion.context import RECURSIVE, Context, Function, segment_size
from recursive_dyn.recursion.kinematics import Tree

ENTRY, FOUND = "rd_mixed", "found"  # the kernel, and the segment of accelerations that the links give
_HEAD = 5  # block, arena, address of the code's, inputs, outputs: what a call finds at the beginning of its scratch


@dataclass(frozen=True, eq=False)
class _Cut(Context):
    """A context whose accelerations are inputs: what was asked, once, is kept."""

    asked: list[list[Scalar]] = field(default_factory=list)

    def solved(
        self,
        tree: Tree,
        tau: Sequence[Scalar],
        diagonal: list[Scalar] | None = None,
        bias: constraints.Bias | None = None,
        yielding: Sequence[constraints.YieldingRow] = (),
    ) -> constraints.HeldMotion:
        nv = self.model.nv
        self.asked.append([*tree.q, *tree.v, *tau, *(diagonal or [0.0] * nv)])
        return constraints.HeldMotion(list(self.graph.inputs(FOUND, nv)), [], [0.0] * nv, [])


class MixedKernel(Kernel):
    """One function of a model by Method II. key: of the function and all that its programs depend on."""

    def __init__(
        self, model: Model, name: str, function: Function, key: str, report: Callable[[float], None] | None
    ) -> None:
        self._model = model
        parts = _Parts(model, name, function)
        self._before = Kernel(f"{key} before", lambda: parts.before, 1, report)
        self._after = Kernel(f"{key} after", lambda: parts.after, 1, report)
        self._tree = _link_programs(model)
        self.inputs, self.outputs = list(self._before.inputs), list(self._after.outputs)
        self.width, self.entry, self.scratch = 1, ENTRY, _HEAD
        self.input_size, self.output_size = self._before.input_size, self._after.output_size
        self.native = self._driver(name)

    @property
    def programs(self) -> list[Kernel]:
        """All straight-line programs it is made of."""
        return [self._before, self._after, *self._tree.kernels]

    def memory(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Input, output and scratch; the scratch knows what its calls work in, which lives as long."""
        given, made, scratch = super().memory()
        bound, own = self._bound()
        code, block, arena, _, _ = bound.place()
        scratch[:_HEAD].view(np.int64)[:] = block, arena, code, address(own.given), address(own.made)
        owner = scratch
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        weakref.finalize(owner, _let_go, bound)
        return given, made, scratch

    def _bound(self) -> tuple[Bound, LinkMemory]:
        model, tree = self._model, self._tree
        given, state, more = self._before.memory()
        ready, made, last = self._after.memory()
        programs = [kernel.memory() for kernel in tree.kernels]
        scratch = max([more, last, *(p[2] for p in programs)], key=len)
        link = max([np.zeros(CONSTANTS + MOTION), *(p[0] for p in programs)], key=len)
        code = 0
        if tree.constants is not None:
            code = tree.constants.native.address(tree.constants.entry)
            scratch = max(scratch, tree.constants.memory()[2], key=len)
        own = LinkMemory(
            self._before.native.address(self._before.entry), self._after.native.address(self._after.entry), code,
            given, state, ready, made, np.zeros(len(model.parameters)), tree.numbers.copy(), scratch, link,
            np.zeros((model.nl + 1) * ROW), np.zeros(96), np.zeros(64),
        )  # fmt: skip
        return evaluate.bind(tree.table, own, model.nq, model.nv, self.input_size), own

    def _driver(self, name: str) -> jit.Native:
        """Machine code of the calls, and of the loop of steps where the function is an integrator's."""
        model, rule = self._model, BY_FUNCTION.get(name)
        sizes = known_sizes(self.input_size, self.output_size, model.nq, model.nv, model.units)
        text = drivers.module(
            "", _entry(self.input_size, self.output_size),
            drivers.batch_driver(ENTRY, [s for _, s in self.inputs], [s for _, s in self.outputs], 1),
            drivers.call_driver(ENTRY, self.input_size, self.output_size),
            rule.loop(ENTRY, sizes) if rule is not None else "",
        )  # fmt: skip
        key = key_of("mixed", text, jit.environment(), source_fingerprint())
        made = jit.native(key, lambda: jit.compile_modules([text]))
        return made.holding(self._before, self._after, self._tree)


def _let_go(bound: Bound) -> None:
    """What a scratch kept."""


def _entry(inputs: int, outputs: int) -> str:
    """void ENTRY(in, out, scratch): the compiled loop, in memory of its own."""
    names = ("block", "arena", "cell", "own", "made")
    reads = "\n".join(load(name, "ptr", "%scratch", k) for k, name in enumerate(names))
    return f"""define void @{ENTRY}(ptr %in, ptr %out, ptr %scratch) nounwind {{
entry:
{reads}
{copy("%own", "%in", inputs)}
  %code = load ptr, ptr %cell
  %missing = call i64 %code(ptr %block, ptr %arena)
{copy("%out", "%made", outputs)}
  ret void
}}
"""


class _Parts:
    """The programs before and after the links, made when one of them is asked for."""

    def __init__(self, model: Model, name: str, function: Function) -> None:
        self._model, self._name, self._function = model, name, function
        self._made: tuple[Program, Program] | None = None

    @property
    def before(self) -> Program:
        """q, v, tau and what is added to rotors, of which the links make accelerations."""
        return self._both()[0]

    @property
    def after(self) -> Program:
        """The function's outputs, from its inputs and the accelerations."""
        return self._both()[1]

    def _both(self) -> tuple[Program, Program]:
        if self._made is None:
            model, name, graph = self._model, self._name, Graph()
            context = _Cut(Tree(model, graph), model, graph, RECURSIVE)
            outputs = self._function.outputs(context)
            if len(context.asked) != 1:
                raise ModelError(f"'{name}' asks for accelerations {len(context.asked)} times, not once")
            inputs = [(segment, segment_size(model, segment)) for segment in (*self._function.inputs, "parameters")]
            self._made = (
                schedule(f"{name} before links", inputs, [("state", context.asked[0])]),
                schedule(f"{name} after links", [*inputs, (FOUND, model.nv)], outputs),
            )
        return self._made


@dataclass(frozen=True, eq=False)
class _LinkPrograms:
    """A model's links as tables, and the machine code of their kinds."""

    table: LinkTable
    kernels: list[Kernel]
    numbers: np.ndarray
    constants: Kernel | None


@once
def _link_programs(model: Model) -> _LinkPrograms:
    place = {name: k for k, (name, _) in enumerate(model.parameters)}
    kernels: dict[str, Kernel] = {}
    codes, parameters = list[int](), list[list[int]]()
    for link in model.links:
        kind = LinkKind.of(link)
        if kind.key not in kernels:
            kernels[kind.key] = kind.kernel()
        kernel = kernels[kind.key]
        codes.append(kernel.native.address(kernel.entry))
        parameters.append([place[name] for name in kind.parameters])
    parents = [model.nl if link.parent == WORLD else link.parent for link in model.links]
    table = LinkTable(
        _integers(parents), _integers(codes),
        *_listed([link.slots for link in model.links]), *_listed([link.places for link in model.links]),
        *_listed(parameters), np.array([c.armature for c in model.coordinates], dtype=float),
    )  # fmt: skip
    scalars = constants_of(model)
    constants = None
    if not all(is_constant(x) for x in scalars):
        constants = Kernel(f"{model.key} constants of links", lambda: _constants(model, scalars), 1)
    return _LinkPrograms(table, list(kernels.values()), constant_numbers(model), constants)


def _constants(model: Model, scalars: Sequence[Scalar]) -> Program:
    graph = Graph()
    inputs = {("parameter", name): graph.input(("parameters", k)) for k, (name, _) in enumerate(model.parameters)}
    return schedule("constants of links", [("parameters", len(model.parameters))], [
        ("constants", substitute(scalars, inputs))
    ])  # fmt: skip


def _listed(rows: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Where each row begins, and all rows one after the other."""
    return _integers([0, *np.cumsum([len(row) for row in rows])]), _integers([x for row in rows for x in row])


def _integers(values: Sequence[int]) -> np.ndarray:
    return np.array(values, dtype=np.int64)
