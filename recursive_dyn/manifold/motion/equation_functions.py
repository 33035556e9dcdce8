"""The functions of equations of motion, each a program of what was lowered to the expression graph."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import prod
from typing import Any

from recursive_dyn.codegen.function_list import Signature
from recursive_dyn.codegen.kernel import Driver
from recursive_dyn.errors import ModelError
from recursive_dyn.graph.program import Program, content_hash, schedule
from recursive_dyn.integrators import munthe_kaas
from recursive_dyn.manifold.motion.lowering import Lowered, Segments
from recursive_dyn.manifold.writing.equation import EquationSystem

_STEPPING = ("slope", "landing")  # as ``munthe_kaas.loop`` takes them: [u, v, clock, q, ...]


FUNCTIONS: dict[str, tuple[Callable[[Lowered], tuple[int, ...]], Callable[[Lowered], Segments]]] = {
    "accelerations": (lambda s: (s.nv,), lambda s: {"a": s.motion[0]}),
    "multipliers": (lambda s: (len(s.jacobian),), lambda s: {"multipliers": s.motion[1]}),
    "mass_matrix": (lambda s: (s.nv, s.nv), lambda s: {"M": s.mass_matrix.flat}),
    "right_hand_side": (lambda s: (s.nv,), lambda s: {"f": s.right_hand_side}),
    "energy": (lambda s: (), lambda s: {"energy": [s.energy]}),
    "violation": (lambda s: (len(s.jacobian),), lambda s: {"violation": s.violation}),
    "admitted": (lambda s: (s.nv,), lambda s: {"v": s.admitted}),
    "bias": (lambda s: (len(s.jacobian),), lambda s: {"bias": s.bias}),
    "slope": (lambda s: (2 * s.nv + s.moves,), lambda s: s.slope),
    "landing": (lambda s: (2 * s.nv + s.moves + s.nq,), lambda s: s.landing),
}


class EquationFunctions:
    """``FUNCTIONS`` of equations of motion, for an Evaluator; a pickle holds the equations and lowers them again."""

    owner = "these equations need"

    def __init__(self, equations: EquationSystem) -> None:
        self.equations = equations
        self.lowered = Lowered(equations)

    def __reduce__(self) -> Any:
        return EquationFunctions, (self.equations,)

    def signature(self, function: str) -> Signature:
        """Inputs are q, v and forces, of a step [u, v, clock, q, forces]; shapes as :class:`ManifoldDynamics` says."""
        if function not in FUNCTIONS:
            raise ModelError(f"unknown function '{function}'; there are {', '.join(FUNCTIONS)}")
        s = self.lowered
        sizes = {"u": s.nv, "v": s.nv, "clock": int(s.moves), "q": s.nq, "forces": s.forces.size}
        state = ["u", "v", "clock", "q"] if function in _STEPPING else ["q", "v"]
        return Signature(tuple((name, sizes[name]) for name in (*state, "forces")), FUNCTIONS[function][0](s))

    def key(self, function: str) -> str:
        """Name and hash of all that the functions are made from."""
        return f"manifold {function} {self._content}"

    def build(self, function: str) -> Program:
        """The function's program."""
        inputs = [*self.signature(function).inputs, ("parameters", self.lowered.parameters.size)]
        outputs = FUNCTIONS[function][1](self.lowered)
        return schedule(function, inputs, [(name, list(values)) for name, values in outputs.items()])

    def kernel(self, function: str, report: Callable[[float], None] | None) -> None:
        """None: every function has one program."""

    def driver(self, function: str) -> Driver | None:
        """The loop of steps around "slope"."""
        if function != "slope":
            return None
        size = prod(self.signature(function).shape)
        return lambda entry, inputs, _: munthe_kaas.loop(entry, inputs, size, self.lowered.nq)

    def label(self, segment: str, index: int) -> str:
        """The variable, or force, that a number belongs to."""
        if segment in ("q", "v", "u"):
            ends = ((p.name, (p.q if segment == "q" else p.v).stop) for p in self.lowered.variables)
        else:
            ends = ((name, self.lowered.forces.slices[s].stop) for name, s in self.lowered.forces.names.items())
        return next(f"'{name}'" for name, end in ends if index < end)

    @cached_property
    def _content(self) -> str:
        s = self.lowered
        layout = [(p.space.name, p.q, p.v) for p in s.variables], [len(x) for x in s.inputs.values()], s.reaction_sign
        scalars = [*s.mass.flat, *s.force, *s.jacobian.flat, *s.bias, *s.violation, s.energy, *s.carried]
        return content_hash(str(layout), scalars)
