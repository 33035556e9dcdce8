"""What a simulation tells of its last step and of where it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.contact.contacts import Contacts
from recursive_dyn.contact.settings import Solution
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.notebook import counted
from recursive_dyn.errors import StateError
from recursive_dyn.maximal.maximal_dynamics import MaximalDynamics
from recursive_dyn.simulation.flying.applied_forces import Acted
from recursive_dyn.simulation.joint_laws.motor import MotorForce
from recursive_dyn.simulation.joint_laws.motors import Motors
from recursive_dyn.simulation.kept.events import ContactEvent
from recursive_dyn.simulation.loads.breaking import Breaking, BrokenConstraint, BrokenJoint
from recursive_dyn.simulation.present import Present
from recursive_dyn.simulation.report import Report
from recursive_dyn.simulation.results.stepped import Stepped
from recursive_dyn.simulation.stepping.timesteps import Timesteps
from recursive_dyn.simulation.surroundings import NamingSurroundings


class StepResults(Stepped[Dynamics]):
    """What a simulation can be asked after a step; nothing of it changes anything."""

    _timesteps: Timesteps
    _tau: np.ndarray
    _integrator: str
    breaking: Breaking

    def __repr__(self) -> str:
        bodies, nv = counted(self._dynamics.model.nb, "body", "bodies"), self._dynamics.nv
        rate = 1.0 / self._timestep
        steps = f"1/{round(rate)}" if abs(rate - round(rate)) < 1e-9 * rate else f"{self._timestep:.6g}"
        steps = f"steps of {steps} s by {self._integrator}"
        return f"<Simulation: {bodies}, nv {nv}, time {self.time:.6g} s, {self._energy()}, {steps}>"

    def _energy(self) -> str:
        dynamics, q, v = self._dynamics, self._state.q, self._state.v
        try:
            energy = dynamics.kinetic_energy(q, v) + dynamics.potential_energy(q) + self._elastic_energy()
        except StateError as error:
            return f"no energy ({error})"
        return f"energy {float(energy):.6g} J"

    def _elastic_energy(self) -> np.ndarray:
        dynamics, q = self._dynamics, self._state.q
        return (
            dynamics.elastic_energy(q, self.near)
            if isinstance(dynamics, MaximalDynamics)
            else dynamics.elastic_energy(q)
        )

    @property
    def solution(self) -> Solution:
        """What the solve of the last step did."""
        return self._timesteps.solution()

    @property
    def report(self) -> Report:
        """What steps took beyond themselves so far: halves, cuts, energy that nothing explains, solves that did not
        converge."""
        return self._timesteps.report()

    @property
    def contacts(self) -> Contacts:
        """Contacts of the last step, with their impulses: arrays, and one by one, by name, as a mirror's are.

        Of a step that was taken in parts impulses are those of all parts, and contacts that ended within it come last,
        as they were then; so impulses on a body add up to ``contact_wrench`` times the timestep.
        """
        found = self._timesteps.memory.touching()
        if not found.names:
            surroundings = self._timesteps.surroundings
            found.names = self._dynamics.bodies
            found.others = surroundings.others(found) if isinstance(surroundings, NamingSurroundings) else ()
        return found

    @property
    def contact_events(self) -> tuple[ContactEvent, ...]:
        """Pairs of bodies that began to touch, stay in touch, or parted in the last call of ``step`` or ``advance``."""
        return self._timesteps.events.told()

    @property
    def broken(self) -> tuple[BrokenJoint, ...]:
        """Joints that broke in the last call of ``step`` or ``advance``, see ``Body.breaks_at``."""
        return self.breaking.told

    @property
    def broken_constraints(self) -> tuple[BrokenConstraint, ...]:
        """Constraints that broke in the last call of ``step`` or ``advance``, see ``Scene.constrain``."""
        return self.breaking.constraints

    @property
    def touching(self) -> frozenset[tuple[str, str]]:
        """Pairs of bodies, by name, that are in touch after the last step; the same object while they are the same."""
        return self._timesteps.events.pairs()

    @property
    def coordinate_impulses(self) -> dict[str, float]:
        """Impulses (N s, N m s) of the last step by row: "motor of arm.q", "low limit of arm.q", "friction of ..."."""
        return self._timesteps.coordinates()

    @property
    def motors(self) -> Motors:
        """Motors by coordinate: ``motors["arm.q"] = Motor(position=0.3, max_force=5.0)``; ``del`` switches one off."""
        return self._timesteps.motors

    @property
    def motor_forces(self) -> dict[str, MotorForce]:
        """What motors did in the last step, by velocity coordinate: ``motor_forces["arm.q"].force``, ``.saturated``."""
        return self._timesteps.motors.forces(self.coordinate_impulses, self._timestep)

    @property
    def joint_coordinates(self) -> np.ndarray:
        """In maximal coordinates those of the joints (reduced.nq,), turns included, where the last step found them: for
        ``near`` of ``dynamics.to_reduced``. Not finite before a first step; none in joint coordinates."""
        dynamics, found = self._dynamics, self._timesteps.memory.arrays.joints
        return found[: dynamics.reduced.nq].copy() if isinstance(dynamics, MaximalDynamics) else found.copy()

    @property
    def near(self) -> np.ndarray | None:
        """``joint_coordinates`` if the last step found any, for ``near``."""
        found = self.joint_coordinates
        return found if np.isfinite(found).all() else None

    def contact_wrench(self, body: Any) -> np.ndarray:
        """[moment; force] (6,) of all contacts on a body during the last step, world axes about its origin."""
        index = self._dynamics.model.body_index(body)
        return self.contact_wrenches(self.present.poses[:, :3, 3])[index]

    def contact_wrenches(self, origins: np.ndarray) -> np.ndarray:
        """The same of every body, (nb, 6), about ``origins`` (nb, 3)."""
        return self._timesteps.memory.wrenches(origins, self._timestep)

    @property
    def acted(self) -> Acted:
        """What the user had act in the last step; tau as it is now where nobody kept that, or forces are unknown."""
        return self._timesteps.memory.acted or Acted(self._tau, ())

    @property
    def present(self) -> Present:
        """Poses and twists of all bodies at the present state, for surroundings: arrays that steps write to."""
        return self._timesteps.at_present()

    @property
    def arrived(self) -> Present:
        """The same right after a step, before anyone could write to the state; asked in time, it costs nothing."""
        return self._timesteps.arrived()

    def frames(self) -> tuple[np.ndarray, np.ndarray]:
        """Poses (nb, 4, 4) and twists (nb, 6) of all bodies at the present state, as ``Dynamics`` has them; copies."""
        present = self.present
        return present.poses.copy(), present.twists.copy()
