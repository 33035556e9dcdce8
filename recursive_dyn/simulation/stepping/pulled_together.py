"""What floats keeps its centre of mass and its momenta where a gap between its bodies is closed.

Coordinates are moved, and what v says of them then is another motion. Of what hangs together by constraints, and by
nothing with the world, a rigid motion T makes up for that: no constraint feels it, and T^T M v are the momenta.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.integrators.integrator import StatePair
from recursive_dyn.simulation.stepping.rigid_parts import RigidParts

_Array = np.ndarray
_MOVED = 1e-9  # m or rad by which something was moved
_SPUN = 2.0  # times the kinetic energy that there was: what is pulled in from far away would spin up like a skater


class PulledTogether(RigidParts):
    """Of one dynamics, the parts that may float, until one is found to be held by the world."""

    def with_momenta(self, before: StatePair, after: StatePair, way: _Array) -> StatePair:
        """The state after a gap was closed along a way (nv,), with the centre of mass and the momenta that what floats
        had before; not with its spin where that would give it more than twice its energy."""
        (q, v), moved = after, np.abs(way) > _MOVED
        for part in self.parts:
            own = part.slots
            if not moved[own].any() or (now := self.whole(q, part)) is None or not self.floats(q, part, now):
                continue
            if (was := self.whole(before[0], part)) is None:
                continue
            drift, missing = np.zeros(self.dynamics.nv), was.momenta(before[1][own]) - now.momenta(v[own])
            drift[own] = now.T[:, 3:] @ (was.center - now.center)
            there, v = self.dynamics.integrate(q, drift, 1.0), v.copy()
            v[own] += now.gliding(missing[3:])
            turning = v.copy()
            turning[own] += now.turning(missing[:3])
            most = _SPUN * self._energy(before, own)
            v = turning if self._energy((q, turning), own) <= most else v
            q = there
        return q, v

    def _energy(self, state: StatePair, own: list[int]) -> float:
        """v M v of these slots."""
        q, v = state
        return float(v[own] @ self.momenta(q, [v])[0, own])
