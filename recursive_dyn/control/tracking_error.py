"""How far a state is from the one to follow, on manifolds too, and how forces and accelerations change that."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics

Array = np.ndarray


class Tracking:
    """The error e (nv,) = difference(q, q of the target) of a state, its rate, and ``drift``: e'' = drift - A a.

    A is 1 but for blocks of ball and free joints; the laws that follow from it are exact as long as no rotation is half
    a turn off. Keep one for a model and call ``look``.
    """

    def __init__(self, dynamics: Dynamics) -> None:
        self._dynamics = dynamics
        sizes = {factor.nv for _, factor, _, _ in dynamics.model.owners}
        self._blocks = [(n, _slots(n, ((f.nv, slot) for _, f, _, slot in dynamics.model.owners))) for n in sizes]
        self._rows = np.zeros((dynamics.nv, 0))

    def look(self, q: Array, v: Array, target: tuple[Array, Array, Array]) -> Tracking:
        """At a state and at what is to be followed: (q, v, a)."""
        self._rows = self._dynamics.call("tracking", q, v, *target)
        return self

    @property
    def error(self) -> Array:
        """e (nv,)."""
        return self._rows[:, 0]

    @property
    def rate(self) -> Array:
        """e' (nv,)."""
        return self._rows[:, 1]

    @property
    def drift(self) -> Array:
        """e'' (nv,) at zero acceleration of the coordinates."""
        return self._rows[:, 2]

    def pulled(self, pull: Array) -> Array:
        """A^T pull: the generalized forces (nv,) that do the work of ``pull`` (nv,) on -e."""
        tau = pull.copy()
        for n, slots in self._blocks:
            tau[slots] = np.einsum("kij,ki->kj", self._rows[slots, 3 : 3 + n], pull[slots])
        return tau

    def accelerations(self, wanted: Array) -> Array:
        """The a (nv,) with which e'' is ``wanted`` (nv,)."""
        a: Array = self.drift - wanted
        for n, slots in self._blocks:
            a[slots] = np.linalg.solve(self._rows[slots, 3 : 3 + n], a[slots][..., None])[..., 0]
        return a


def _slots(size: int, factors: Iterable[tuple[int, int]]) -> Array:
    """Velocity slots (k, size) of the factors (size, first slot) of that size."""
    return np.array([np.arange(first, first + n) for n, first in factors if n == size])
