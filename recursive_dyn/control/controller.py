"""What every controller is: a function of the state and time that gives generalized forces, within limits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np

from recursive_dyn.control.drives import Drives
from recursive_dyn.control.goal_spaces import Configurations
from recursive_dyn.control.references import Goal
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError
from recursive_dyn.joint.charted_program import ONE_CHART
from recursive_dyn.simulation.state import numbers

Array = np.ndarray


class Controller(ABC):
    """tau (nv,) = controller(q, v, time), which a simulation may have as its ``control``.

    ``saturated``: names of the velocity coordinates whose forces the last call cut to the limits. ``a + b`` gives the
    forces of both. Give it ``simulation.dynamics`` if it is to know the simulation's parameters. Raises StateError
    for states of wrong size, or not finite. Coordinates that time or a prescription leads are as they are at the time
    in q, with the accelerations that they then have; nothing drives them, and no target is asked where they are.

    ``load``: (load, lead), (nv,) each, of an ``implicit`` law: its last forces change by -load (a - lead) as what they
    drive accelerates by a, not at all where a limit cut them; else None. The default integrator has them change.

    ``held``: whether a simulation asks it once a step, as a machine's computer would be, and holds its forces
    throughout; False: at the stages of the integrator, as a law of nature.
    """

    implicit = False
    held = True

    def __init__(self, dynamics: Dynamics, actuated: Iterable[str] | None = None, limits: Any = None) -> None:
        if not isinstance(dynamics, Dynamics):
            raise StateError(f"a controller is of compiled dynamics, scene.compile(), not {type(dynamics).__name__}")
        self.dynamics = dynamics
        self.drives = Drives(dynamics, actuated, limits)
        self.saturated: tuple[str, ...] = ()
        self.load: tuple[Array, Array] | None = None

    def __call__(self, q: Any, v: Any, time: float = 0.0) -> Array:
        """Generalized forces (nv,) at a state, within the limits; 0 where nothing is driven."""
        q, v = numbers(self.dynamics, "q", q, self.dynamics.nq), numbers(self.dynamics, "v", v, self.dynamics.nv)
        wanted = self.forces(*self.drives.led.completed(q, v), time, np.zeros(self.dynamics.nv))
        tau, self.saturated = self.drives.given(wanted)
        if self.load is not None:
            load, lead = self.load
            self.load = np.where((tau == wanted) & self.drives.mask, load, 0.0), lead
        return tau

    def held_for(self, timestep: float) -> None:
        """Told by a simulation, before every call, for how long, s, the forces will be held; StateError if too long."""
        return None

    @abstractmethod
    def forces(self, q: Array, v: Array, time: float, beside: Array) -> Array:
        """What the law asks for, (nv,); beside (nv,): what others give, which only an ``implicit`` law looks at."""

    def __add__(self, other: Controller) -> Controller:
        if not isinstance(other, Controller):
            return NotImplemented
        if other.dynamics.model is not self.dynamics.model:
            raise StateError("controllers of two scenes have no sum")
        return ControllerSum(self, other)


class ControllerSum(Controller):
    """What several controllers ask for, within the limits of all; those that look at what the others give come last."""

    def __init__(self, first: Controller, second: Controller) -> None:
        super().__init__(first.dynamics)
        parts = [*_parts(first), *_parts(second)]
        self.held = any(part.held for part in parts)
        self.implicit = any(part.implicit for part in parts)
        self.parts: tuple[Controller, ...] = tuple(sorted(parts, key=lambda part: part.implicit))
        self.drives = first.drives.together(second.drives)

    def held_for(self, timestep: float) -> None:
        for part in self.parts:
            part.held_for(timestep)

    def forces(self, q: Array, v: Array, time: float, beside: Array) -> Array:
        total = np.zeros(self.dynamics.nv)
        load, lead = np.zeros((2, self.dynamics.nv))
        for part in self.parts:
            total += np.where(part.drives.mask, part.forces(q, v, time, beside + total), 0.0)
            if part.load is not None:
                own, at = part.load
                load, lead = load + own, lead + own * at
        self.load = (load, lead / np.where(load > 0.0, load, 1.0)) if self.implicit else None
        return total


def _parts(controller: Controller) -> tuple[Controller, ...]:
    return controller.parts if isinstance(controller, ControllerSum) else (controller,)


class ConfigurationController(Controller):
    """A controller that follows a configuration: ``q``, ``v`` and ``a`` are numbers or functions of time.

    They may be changed at any time. See ``Goal`` for what follows from one that is None.
    """

    def __init__(
        self, dynamics: Dynamics, q: Any = None, v: Any = None, a: Any = None,
        actuated: Iterable[str] | None = None, limits: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(dynamics, actuated, limits)
        self.target = Goal(Configurations(dynamics), dynamics.neutral() if q is None else q, v, a)
        for link in dynamics.model.charted:
            names = [dynamics.velocity_coordinates[slot] for slot in link.slots if self.drives.mask[slot]]
            if names:
                raise StateError(
                    f"the joint of '{link.name}' changes its charts, so that coordinates of it are no target;"
                    f" leave {', '.join(names)} out of 'actuated', or {ONE_CHART}"
                )

    @property
    def q(self) -> Any:
        """The configuration to follow (nq,), or a function of time that gives it."""
        return self.target.value

    @q.setter
    def q(self, value: Any) -> None:
        self.target.value = value

    @property
    def v(self) -> Any:
        """Its velocity (nv,), a function of time that gives it, or None: what follows from q."""
        return self.target.velocity

    @v.setter
    def v(self, value: Any) -> None:
        self.target.velocity = value

    @property
    def a(self) -> Any:
        """Its acceleration (nv,), a function of time that gives it, or None: what follows from q and v."""
        return self.target.acceleration

    @a.setter
    def a(self, value: Any) -> None:
        self.target.acceleration = value
