"""The compiled loop of steps of a motion."""

from __future__ import annotations

import numpy as np

from recursive_dyn.integrators.compiled_loop import CompiledLoop
from recursive_dyn.manifold.motion.manifold_dynamics import ManifoldDynamics

Array = np.ndarray


class StepLoop:
    """Steps of one motion, in memory of its own; q and v: the state that they have led to."""

    def __init__(self, dynamics: ManifoldDynamics) -> None:
        slope, landing = dynamics.kernel("slope"), dynamics.kernel("landing")
        self._loop = CompiledLoop(slope, 2 * dynamics.nv + 1, 3)
        _, *self._buffers = landing.memory()
        self._landing = landing.native.address(landing.entry), *(b.ctypes.data for b in self._buffers)
        self._native = landing.native  # keeps the address alive

    def load(self, q: Array, v: Array, forces: Array, parameters: Array) -> None:
        """Start from a state; forces are those of its time."""
        own = self._loop.inputs
        own["u"][:], own["v"][:], own["q"][:], own["forces"][:], own["parameters"][:] = 0.0, v, q, forces, parameters
        if "clock" in own:
            own["clock"][:] = 0.0
        self.q, self.v = own["q"], own["v"]

    def run(self, h: float, count: int) -> tuple[int, int]:
        """Go on by at most ``count`` steps of length h, some 20 ms of them; (steps done, code of ``drivers``)."""
        return self._loop.run(h, count, *self._landing)
