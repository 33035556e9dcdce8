"""Functions of lowered equations as machine code: programs, kernels, and calls for one state or a batch of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from recursive_dyn.codegen import jit
from recursive_dyn.codegen.kernel import BatchCall, Kernel, SingleCall
from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.graph.expression import Scalar
from recursive_dyn.graph.program import Program, content_hash, schedule
from recursive_dyn.integrators import munthe_kaas
from recursive_dyn.manifold.motion.lowering import Lowered

Outputs = list[tuple[str, Sequence[Scalar]]]

_STEPPING = ("slope", "landing")  # as ``munthe_kaas.loop`` takes them: [u, v, clock, q, ...]
_STATE = {False: ("u", "v"), True: ("u", "v", "clock")}  # what is integrated; the clock where motions are prescribed


def _step_so_far(s: Lowered) -> tuple[np.ndarray, Scalar]:
    """Displacement u (nv,) from the start of the step, and the time since motions were prescribed."""
    return s.graph.inputs("u", s.nv), s.graph.inputs("clock", 1)[0] if s.moves else 0.0


def _slope(s: Lowered) -> Outputs:
    du, dv = s.slope(*_step_so_far(s))
    return _named(s, u=du, v=dv, clock=[1.0])


def _landing(s: Lowered) -> Outputs:
    u, clock = _step_so_far(s)
    v, q = s.landing(u, clock)
    return _named(s, u=[0.0] * s.nv, v=v, clock=[clock], q=q)


def _named(s: Lowered, **values: Any) -> Outputs:
    return [(name, list(x)) for name, x in values.items() if name != "clock" or s.moves]


FUNCTIONS: dict[str, Callable[[Lowered], Outputs]] = {
    "accelerations": lambda s: [("a", list(s.motion[0]))],
    "multipliers": lambda s: [("multipliers", list(s.motion[1]))],
    "mass_matrix": lambda s: [("M", list(s.mass_matrix.flat))],
    "right_hand_side": lambda s: [("f", list(s.right_hand_side))],
    "energy": lambda s: [("energy", [s.energy])],
    "violation": lambda s: [("violation", list(s.violation))],
    "admitted": lambda s: [("v", list(s.admitted))],
    "slope": _slope,
    "landing": _landing,
    "bias": lambda s: [("bias", list(s.bias))],
}


class Calls:
    """The functions of one system of equations; each is compiled, or loaded from the cache, at its first call."""

    def __init__(self, lowered: Lowered) -> None:
        self._lowered = lowered
        self._programs: dict[str, Program] = {}
        self._kernels: dict[tuple[str, int], Kernel] = {}
        self._batches: dict[str, BatchCall] = {}
        self._local = threading.local()
        self._lock = threading.RLock()

    def program(self, function: str) -> Program:
        """The straight-line program of a function; ModelError for an unknown one."""
        if function not in FUNCTIONS:
            raise ModelError(f"unknown function '{function}'; there are {', '.join(FUNCTIONS)}")
        with self._lock:
            if function not in self._programs:
                sizes = {name: len(x) for name, x in self._lowered.inputs.items()} | {"u": self._lowered.nv, "clock": 1}
                segments = (*_STATE[self._lowered.moves], "q") if function in _STEPPING else ("q", "v")
                inputs = [(name, sizes[name]) for name in (*segments, "forces", "parameters")]
                self._programs[function] = schedule(function, inputs, FUNCTIONS[function](self._lowered))
            return self._programs[function]

    def kernel(self, function: str, width: int = 1) -> Kernel:
        """Machine code of a function for ``width`` states at once; that of "slope" holds the loop of steps."""
        with self._lock:
            if (function, width) not in self._kernels:
                key = f"manifold {function} {self._content}"
                stepper = self._stepper if function == "slope" else None
                self._kernels[function, width] = Kernel(key, lambda: self.program(function), width, driver=stepper)
            return self._kernels[function, width]

    def __call__(self, function: str, arrays: Sequence[np.ndarray], parameters: np.ndarray) -> np.ndarray:
        """A function's first output segment (..., size) for its inputs q, v, forces (..., size).

        Raises NotFinite, and StateError where the leading axes do not broadcast.
        """
        if all(a.ndim == 1 for a in arrays):
            return self._single(function)([*arrays, parameters])
        try:
            lead = np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
        except ValueError:
            shapes = ", ".join(f"{n} {a.shape}" for n, a in zip(("q", "v", "forces"), arrays, strict=True))
            raise StateError(f"the leading axes do not broadcast to one batch: {shapes}") from None
        count = int(np.prod(lead))
        with self._lock:
            if function not in self._batches:
                self._batches[function] = BatchCall(self.kernel(function, jit.vector_width()))
        rows = [np.broadcast_to(a, (*lead, a.shape[-1])).reshape(count, a.shape[-1]) for a in arrays]
        rows = [np.ascontiguousarray(a) for a in (*rows, parameters.reshape(1, -1))]
        result = self._batches[function](rows, count)[0]
        return result.reshape(*lead, result.shape[-1])

    def _single(self, function: str) -> SingleCall:
        calls: dict[str, SingleCall] = self._local.__dict__
        if function not in calls:
            calls[function] = SingleCall(self.kernel(function))
        return calls[function]

    def _stepper(self, entry: str, program: Program) -> str:
        state = 2 * self._lowered.nv + self._lowered.moves
        return munthe_kaas.loop(entry, program.input_size, state, self._lowered.nq)

    @cached_property
    def _content(self) -> str:
        """Hash of all that the functions are made from."""
        s = self._lowered
        layout = [(p.space, p.q, p.v) for p in s.places], [len(x) for x in s.inputs.values()], s.reaction_sign
        carried = s.carried(_step_so_far(s)[1])
        scalars = [*s.mass.flat, *s.force, *s.jacobian.flat, *s.bias, *s.violation, s.energy, *carried]
        return content_hash(str(layout), scalars)
