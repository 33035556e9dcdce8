"""What a simulation touches: its detector, motors, settings, and what the last steps found."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recursive_dyn.contact.contacts import Contacts
from recursive_dyn.contact.events import ContactEvent, Events
from recursive_dyn.contact.motors import Motors
from recursive_dyn.contact.settings import Settings, Solution
from recursive_dyn.errors import StateError
from recursive_dyn.integrators.registry import INTEGRATORS
from recursive_dyn.simulation.surroundings import Surroundings

if TYPE_CHECKING:
    from recursive_dyn.contact.step import ImpulseStep
    from recursive_dyn.simulation.simulation import Simulation


class Interaction:
    """Contacts, motors and dry friction of one simulation.

    surroundings: what may be touched; settings, motors: as set by the user; solution: what the last step did; contacts:
    those of the last step, with their impulses.
    """

    def __init__(self, simulation: Simulation) -> None:
        model = simulation.dynamics.model
        self._sim = simulation
        self._rubbing = any(c.friction > 0.0 for c in model.coordinates)
        self._machine: ImpulseStep | None = None
        self._kept: Contacts | None = None
        self.surroundings: Surroundings | None = None
        self.settings = Settings()
        self.motors = Motors(model)
        self.solution = Solution()
        self.contacts = Contacts.none()
        self.step_size = simulation.timestep
        self.coordinate_impulses: dict[str, float] = {}
        self._events = Events()

    @property
    def needed(self) -> bool:
        """Whether steps need impulses at all."""
        return self.surroundings is not None or len(self.motors) > 0 or self._rubbing

    @property
    def share(self) -> float:
        """Share of a step by which positions follow a change of its end's velocity."""
        return INTEGRATORS[self._sim.integrator].share

    @property
    def machine(self) -> ImpulseStep:
        """The impulse solver, imported and compiled when first needed."""
        if self._machine is None:
            from recursive_dyn.contact.step import ImpulseStep  # brings numba

            self._machine = ImpulseStep(self._sim)
        return self._machine

    def begin(self) -> None:
        """A call of ``step`` or ``advance`` starts: contacts are detected anew, events counted anew."""
        self._kept = None
        self._events.begin()

    def step(self, tau: np.ndarray) -> None:
        """One timestep of the simulation, in as many parts as fast bodies need."""
        sim, machine = self._sim, self.machine
        parts = 1
        if self.surroundings is not None and self.settings.substeps > 1:
            parts = min(max(1, self.surroundings.substeps(sim, sim.timestep)), self.settings.substeps)
        self.step_size = sim.timestep / parts
        self.coordinate_impulses = {}
        try:
            for _ in range(parts):
                self.solution = machine.step(sim, tau, self.step_size)
                for name, impulse in machine.coordinate_impulses.items():
                    self.coordinate_impulses[name] = self.coordinate_impulses.get(name, 0.0) + impulse
                self._events.note(self.contacts, sim.dynamics.bodies)
        finally:
            self.step_size = sim.timestep
        if parts > 1:
            self.solution = replace(self.solution, substeps=parts)

    def detected(self) -> Contacts:
        """Contacts at the simulation's state: found by the detector, or those kept, moved along with their bodies."""
        if self.surroundings is None:
            self.contacts = Contacts.none()
        elif self._kept is not None and self.settings.detect == "frame" and not len(self._kept.free):
            self.contacts = self._kept.moved(self._sim.frames()[0])
        else:
            found = self.surroundings.detect(self._sim)
            if not isinstance(found, Contacts):
                raise StateError(f"a simulation's detect returns Contacts, not {type(found).__name__}")
            if not found.trusted:
                found.check(len(self._sim.dynamics.bodies))
            self.contacts = found
            if self.settings.detect == "frame":
                found.located(self._sim.frames()[0])
        self._kept = self.contacts
        return self.contacts

    def events(self) -> tuple[ContactEvent, ...]:
        """What began, went on and ended in the last call of ``step`` or ``advance``."""
        return self._events.told()

    def wrench(self, index: int, origin: np.ndarray) -> np.ndarray:
        """Mean wrench (6,) of all contacts on a body in the last step, world axes about ``origin``."""
        c, result = self.contacts, np.zeros(6)
        for side, points, sign in ((c.a, c.point_a, 1.0), (c.b, c.point_b, -1.0)):
            own = side == index
            forces = sign * c.impulse[own]
            result[:3] += (np.cross(points[own] - origin, forces) + sign * c.moment[own]).sum(axis=0)
            result[3:] += forces.sum(axis=0)
        return result * (self.solution.substeps / self._sim.timestep)

    def forget(self) -> None:
        """The state was set anew: nothing of the last step holds any more."""
        if self._machine is not None:
            self._machine.forget()
        self._kept = None

    def memory(self) -> Any:
        """What the next step starts from besides the state."""
        return None if self._machine is None else self._machine.remembered()

    def recall(self, memory: Any) -> None:
        """Start the next step from what ``memory`` gave."""
        if memory is None:
            self.forget()
        else:
            self.machine.recall(memory)
        self._kept = None
