"""Forces of the driven coordinates that give them their accelerations, whatever the others then do."""

from __future__ import annotations

import numpy as np

from recursive_dyn.control.drives import Drives
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.model.model import WORLD

Array = np.ndarray
_RANK = 1e-10  # share of the largest singular value below which constraints leave a direction to no force


class DrivenAcceleration:
    """tau and the acceleration a that it gives, with a as wanted in what is driven.

    What time or a prescription leads has the acceleration that it is given. Without constraints: M a + bias = tau +
    passive forces with tau = 0 in what is not driven, which is solved for as many columns of M as there are of these
    beside driven ones, O(n) each. With constraints: least squares of what the
    driven coordinates do, by forward dynamics.
    """

    def __init__(self, dynamics: Dynamics, drives: Drives) -> None:
        self._dynamics, self._slots, self._led = dynamics, drives.slots, drives.led
        known = drives.mask | drives.led.mask
        self._along = np.array([s for s in _beside(dynamics, drives.mask) if not known[s]], dtype=int)

    def forces(self, q: Array, v: Array, wanted: Array) -> tuple[Array, Array]:
        """(tau (nv,), a (nv,)) for the accelerations ``wanted`` (nv,)."""
        dynamics, along = self._dynamics, self._along
        passive = dynamics.passive_forces(q, v)
        if dynamics.model.constraints:
            return self._constrained(q, v, wanted, passive)
        a = np.where(self._led.mask, self._led.accelerations(q, v), wanted)
        if not len(along):
            return dynamics.inverse_dynamics(q, v, a) - passive, a
        a[along] = 0.0
        tries = np.vstack([a, a + np.eye(dynamics.nv)[along]])
        needed = (dynamics.inverse_dynamics(q, v, tries) - passive)[:, along]
        a[along] = np.linalg.solve((needed[1:] - needed[0]).T, -needed[0])
        return dynamics.inverse_dynamics(q, v, a) - passive, a

    def _constrained(self, q: Array, v: Array, wanted: Array, passive: Array) -> tuple[Array, Array]:
        dynamics, slots = self._dynamics, self._slots
        forces = np.vstack([passive, passive + np.eye(dynamics.nv)[slots]])
        free, *pushed = dynamics.forward_dynamics(q, v, forces)
        response = (np.reshape(pushed, (len(slots), dynamics.nv)) - free).T
        given = np.linalg.lstsq(response[slots], (wanted - free)[slots], rcond=_RANK)[0]
        tau = np.zeros(dynamics.nv)
        tau[slots] = given
        return tau, free + response @ given


def _beside(dynamics: Dynamics, mask: Array) -> list[int]:
    """Slots of all trees of which anything is driven."""
    roots: list[int] = []
    slots: dict[int, set[int]] = {}
    owners: dict[int, int] = {}  # of a slot that several joints share, which makes their trees one
    for i, link in enumerate(dynamics.model.links):
        root = i if link.parent == WORLD else roots[link.parent]
        roots.append(root)
        slots.setdefault(root, set()).update(link.slots)
        for slot in link.slots:
            other = owners.setdefault(slot, root)
            if other != root:
                slots[other] = slots[root] = slots[other] | slots[root]
    driven = [own for own in slots.values() if mask[list(own)].any()]
    return sorted(set().union(*driven))
