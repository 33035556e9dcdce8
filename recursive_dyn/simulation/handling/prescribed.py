"""What prescribed coordinates of a simulation do, and the forces that this takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.simulation.results.acting_forces import acting
from recursive_dyn.simulation.results.step_results import StepResults


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
        if name not in self:
            raise ModelError(f"no motion of {name!r} is prescribed; there are those of {', '.join(self) or 'none'}")
        now = acting(simulation)
        d, q, v = now.dynamics, now.q, now.v
        slot = d.velocity_coordinates.index(name)
        pushed = now.tau + d.call("external_forces", q, now.wrenches.reshape(-1))
        way = np.sign(np.round(d.call("in_time", q, v)[d.nq + slot], 9))  # as it is told: 0 where that is to stay
        force = d.drive_forces(q, v, pushed - d.passive_forces(q, v))[slot] + d.model.coordinates[slot].friction * way
        a = d.forward_dynamics(q, v, pushed)[slot]
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
