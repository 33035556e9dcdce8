"""A simulation whose coordinates move as they are told."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError
from recursive_dyn.simulation.handling.detecting import Detecting
from recursive_dyn.simulation.handling.prescribed import Prescribed
from recursive_dyn.simulation.handling.prescribed_motions import PrescribedMotions, Written


class Prescribing(Detecting):
    """A simulation that prescribes motions, and goes on with other dynamics for it."""

    _motions: PrescribedMotions

    @property
    def prescribed(self) -> Prescribed:
        """What prescribed coordinates do and take: ``prescribed["crank.angle"].force``; "time": all that time moves."""
        return Prescribed(self)

    def prescribe(self, coordinate: Any, motion: Any) -> None:
        """Move a coordinate ("crank.angle", or a body's ``q[k]``) as told, whatever acts on it; None lets it go.

        motion: an expression of ``scene.time`` and parameters, a function of time, or a number to stay at. It begins
        where the coordinate is; where it moves otherwise than the coordinate does, an impulse on that alone changes
        it. The first motion of a coordinate compiles; another function of time does not. ``prescribed`` tells what it
        takes. A motion prevails over limits. ModelError for what cannot be moved so; StateError where it begins
        elsewhere, is not finite, or constraints do not let it; then nothing has changed. A step in which it jumps, or
        leads beyond the reach of constraints, raises StateError, which names it, and leaves the last good state.
        """
        name, own, motors = getattr(coordinate, "name", coordinate), self._motions, self._timesteps.motors
        motions = own.changed(name, motion)
        dynamics = own.on(own.free, motions)
        before = self.q.copy(), self.v.copy()
        q, v = before
        if name in motions:
            if name in motors:
                raise StateError(f"prescribe: '{name}' has a motor; switch it off: del simulation.motors['{name}']")
            q, v = own.begin(self, name, motions[name])
        self._state.q[:], self._state.v[:] = q, v
        try:
            self._go_on(own.free, dynamics, motions)
        except BaseException:
            self._state.q[:], self._state.v[:] = before
            raise

    @abstractmethod
    def _go_on(
        self,
        free: Dynamics,
        dynamics: Dynamics,
        motions: Mapping[str, Written],
        keys: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> None:
        """Go on with dynamics that are ``free`` with these motions."""
