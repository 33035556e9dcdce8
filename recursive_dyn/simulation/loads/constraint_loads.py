"""What constraints transmitted in a step: their multipliers at its start, and what contacts, limits and motors added to
them as means over the step."""

from __future__ import annotations

import math

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.maximal.maximal_dynamics import MaximalDynamics
from recursive_dyn.maximal.poses import by_body
from recursive_dyn.simulation.joint_laws.coordinate_rows import row_names
from recursive_dyn.simulation.kept.memory import Memory


class ConstraintLoads:
    """Loads of the constraints of dynamics with strengths. means (m,): multipliers, as means over the step so far;
    sizes: the norm of a constraint's, by its name; N where its rows measure m. near: joint coordinates between free
    bodies, as memory keeps them."""

    def __init__(self, dynamics: Dynamics, near: np.ndarray) -> None:
        self._dynamics, self._bearing, self._near = dynamics, dynamics.hanging.bearing, near
        known, numbers = dynamics.constraints, row_names(dynamics.model)
        self._rows = {name: [known.index(r) for r in own.rows if r in known] for name, own in self._bearing.items()}
        row = ", row 0" if isinstance(dynamics, MaximalDynamics) else ""
        self._numbers = np.array([numbers.index(f"constraint {name}{row}") for name in known], dtype=np.int64)
        self._start, self.means = np.zeros((2, len(known)))
        self._began: tuple[np.ndarray, ...] | None = None
        self.sizes = dict.fromkeys(self._bearing, 0.0)

    def begin(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """A step begins at q, v under tau: what constraints and force elements do to bodies then, (nb, 6) world axes at
        their origins."""
        dynamics = self._dynamics
        self.means[:] = 0.0
        own = dynamics.reduced if isinstance(dynamics, MaximalDynamics) else dynamics
        if not (len(self._start) or own.model.forces):
            return np.zeros((len(dynamics.bodies), 6))
        if isinstance(dynamics, MaximalDynamics):  # as those of the joint coordinates where it is
            near = self._near[: dynamics.reduced.nq] if np.isfinite(self._near).all() else None
            wrenches = wrenches_of(dynamics, q, tau)
            q, v = dynamics.to_reduced(q, v, near)
            tau = own.call("external_forces", q, wrenches.reshape(-1))
        pulls = pulls_on_bodies(own, q, v)
        if not len(self._start):
            return pulls
        acting = tau + own.passive_forces(q, v)
        self._start[:] = own.multipliers(q, v, acting)
        pushes = own.constraint_wrenches(q, v, acting)
        if isinstance(dynamics, MaximalDynamics):
            self._began = None
        else:
            self._began = q.copy(), v.copy(), acting, pushes, self._start.copy()
        return pulls + pushes

    def bear(self, borne: np.ndarray) -> np.ndarray | float:
        """Constraints bear as well what motors and dry friction gave in all of the flight, borne (nv,), which is known
        at its end: what they do to bodies more than ``begin`` said (nb, 6)."""
        if self._began is None or not len(self._start):
            return 0.0
        q, v, acting, pushes, start = self._began
        if not borne.any():
            self._start[:] = start  # another part of the step may have borne something
            return 0.0
        self._start[:] = self._dynamics.multipliers(q, v, acting + borne)
        return self._dynamics.constraint_wrenches(q, v, acting + borne) - pushes

    def note(self, memory: Memory, h: float, share: float) -> None:
        """A step, or a part of one of length h, that share of it, ended."""
        self.add(share * (self._start + memory.arrays.rows[self._numbers] / h))

    def add(self, means: np.ndarray) -> None:
        """They transmitted these (m,), as means over the step, besides."""
        self.means += means
        for name, rows in self._rows.items():
            self.sizes[name] = math.hypot(*self.means[rows])

    def broken(self) -> list[str]:
        """Names of the constraints that transmitted more than they bear since ``begin``."""
        return [name for name, size in self.sizes.items() if size > self._bearing[name].force]


def pulls_on_bodies(dynamics: Dynamics, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Wrenches (nb, 6) of the scene's force elements, world axes at the bodies' origins."""
    if not dynamics.model.forces:
        return np.zeros((dynamics.model.nb, 6))
    pulls: np.ndarray = dynamics.element_wrenches(q, v)
    return pulls


def wrenches_of(dynamics: Dynamics, q: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """What forces tau (6 n,) on free bodies' twists are as wrenches (nb, 6), world axes at their origins."""
    moving = [k for k, body in enumerate(dynamics.model.bodies) if body.jointed]
    result = np.zeros((len(dynamics.bodies), 2, 3))
    result[moving] = by_body(tau, 6).reshape(-1, 2, 3) @ np.swapaxes(dynamics.poses(q)[moving, :3, :3], -1, -2)
    return result.reshape(-1, 6)
