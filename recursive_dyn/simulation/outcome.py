"""What a timestep leaves behind: what it found, for the user, and what the next one starts from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from recursive_dyn.contact.contact_buffer import ContactBuffer
from recursive_dyn.contact.contacts import Contacts
from recursive_dyn.contact.problem import EarlierContacts, ImpulseResult, earlier_contacts
from recursive_dyn.contact.settings import Settings, Solution

if TYPE_CHECKING:
    from recursive_dyn.simulation.momentum import Momentum

NO_CONTACTS = earlier_contacts(ContactBuffer(0).table)


@dataclass(frozen=True, eq=False)
class Memory:
    """What the next step starts from besides the state: the last impulses, and the momenta that are carried."""

    contacts: EarlierContacts = NO_CONTACTS
    coordinates: dict[str, float] = field(default_factory=dict)
    momentum: Momentum | None = None


@dataclass(frozen=True, eq=False)
class Found:
    """What a timestep found: contacts with their impulses, impulses by row, and what its solve did."""

    contacts: Contacts = field(default_factory=Contacts.none)
    coordinates: dict[str, float] = field(default_factory=dict)
    solution: Solution = field(default_factory=Solution)

    def wrench(self, index: int, origin: np.ndarray, timestep: float) -> np.ndarray:
        """Mean wrench (6,) of all contacts on a body, over the last part of a step, world axes about ``origin``."""
        c, result = self.contacts, np.zeros(6)
        for side, points, sign in ((c.a, c.point_a, 1.0), (c.b, c.point_b, -1.0)):
            own = side == index
            forces = sign * c.impulse[own]
            result[:3] += (np.cross(points[own] - origin, forces) + sign * c.moment[own]).sum(axis=0)
            result[3:] += forces.sum(axis=0)
        return result * (self.solution.substeps / timestep)


NOTHING_KEPT, NOTHING_FOUND = Memory(), Found()


def whole_step(parts: Sequence[Found]) -> Found:
    """Contacts and solution of the last part, impulses by row of all."""
    last = parts[-1]
    if len(parts) == 1:
        return last
    coordinates: dict[str, float] = {}
    for part in parts:
        for name, impulse in part.coordinates.items():
            coordinates[name] = coordinates.get(name, 0.0) + impulse
    return Found(last.contacts, coordinates, replace(last.solution, substeps=len(parts)))


def solution(result: ImpulseResult | None, settings: Settings, clock: Sequence[float]) -> Solution:
    """What a solve did; clock: when the flight, the detection and the solve began, and when all ended."""
    stages = zip(("flight", "detection", "solve"), clock[:-1], clock[1:], strict=True)
    times = {stage: end - begin for stage, begin, end in stages}
    if result is None:
        return Solution(times=times)
    facts = result.facts
    return Solution(
        contacts=result.contacts, rows=facts.rows, islands=facts.islands, iterations=facts.sweeps,
        residual=facts.residual, converged=facts.residual <= settings.tolerance,
        penetration=max(0.0, -facts.deepest), times=times,
    )  # fmt: skip
