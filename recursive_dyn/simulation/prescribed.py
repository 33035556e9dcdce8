"""What prescribed coordinates of a simulation do, and the forces that this takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.maximal.maximal_dynamics import MaximalDynamics
from recursive_dyn.simulation.acting_forces import acting_forces, forces_on_joints
from recursive_dyn.simulation.step_results import StepResults


@dataclass(frozen=True)
class DriveForce:
    """What a prescribed coordinate does, and takes: position, velocity, acceleration, force (N or N m), power (W).

    Of "time" the force is the power of all that scene.time moves.
    """

    position: float
    velocity: float
    acceleration: float
    force: float

    @property
    def power(self) -> float:
        """W, what it gives to what it moves."""
        return self.force * self.velocity


class Prescribed(Mapping[str, DriveForce]):
    """Drives by velocity coordinate, and "time" where it is a coordinate; asked at the present state.

    Forces are those of the last step as it ended, contacts, motors and limits included.
    """

    def __init__(self, simulation: StepResults) -> None:
        self._simulation = simulation

    def __getitem__(self, name: str) -> DriveForce:
        simulation = self._simulation
        d, q, v = simulation.dynamics, simulation.q, simulation.v
        if isinstance(d, MaximalDynamics):
            (q, v), d = d.to_reduced(q, v, simulation.near), d.reduced
        if name not in self:
            raise ModelError(f"no motion of {name!r} is prescribed; there are those of {', '.join(self) or 'none'}")
        tau = acting_forces(simulation) if d is simulation.dynamics else forces_on_joints(simulation, d, q)
        slot = d.velocity_coordinates.index(name)
        way = np.sign(np.round(d.call("in_time", q, v)[d.nq + slot], 9))  # as it is told: 0 where that is to stay
        force = d.drive_forces(q, v, tau)[slot] + d.model.coordinates[slot].friction * way
        a = d.forward_dynamics(q, v, tau + d.passive_forces(q, v))[slot]
        at = {s: p for p, s in d.model.plain_slots}[slot]
        return DriveForce(float(q[at]), float(v[slot]), float(a), float(force))

    def __contains__(self, name: object) -> bool:
        return name in tuple(self)

    def __iter__(self) -> Iterator[str]:
        return iter(self._simulation.dynamics.tree.velocity_names[k] for k in sorted(self._slots))

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def _slots(self) -> frozenset[int]:
        return self._simulation.dynamics.tree.prescribed
