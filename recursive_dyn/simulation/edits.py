"""What of a simulation goes on when its scene was edited: state, forces, impulses and momenta, by names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.model.model import Model
from recursive_dyn.recursion import impulse
from recursive_dyn.simulation.momentum import Momentum

GONE = -2  # the number of what is there no more; -1 is the world's
_LINEAR, _SPIN = slice(4, 7), slice(7, 10)  # among the numbers of a floating tree


@dataclass(frozen=True, eq=False)
class Edit:
    """From old dynamics to new ones: of everything that was numbered its number now, GONE where there is none.

    bodies (nb,), places (nq,), slots (nv,): of the old; names: of all bodies now.
    """

    old: Dynamics
    new: Dynamics
    bodies: np.ndarray
    places: np.ndarray
    slots: np.ndarray
    names: tuple[str, ...]

    @classmethod
    def between(cls, old: Dynamics, new: Dynamics) -> Edit:
        """What has the same name is the same."""
        before, names = old.bodies, new.bodies
        bodies = numbers(before, names)
        places = numbers(old.coordinates, new.coordinates)
        slots = numbers(old.velocity_coordinates, new.velocity_coordinates)
        return cls(old, new, bodies, places, slots, names)

    def configuration(self, q: np.ndarray) -> np.ndarray:
        """q (nq,) with what is new as it is at first."""
        return moved(q, self.places, self.new.neutral())

    def velocity(self, v: np.ndarray) -> np.ndarray:
        """v, or forces, (nv,) with zeros for what is new."""
        return moved(v, self.slots, np.zeros(self.new.nv))

    def parameters(self) -> None:
        """Give the new dynamics the values of the old one's parameters, charts in force included."""
        before, after = self.old.parameters, self.new.parameters
        for name in after:
            if name in before:
                after[name] = before[name]

    def owners(self, a: np.ndarray) -> np.ndarray:
        """Numbers of bodies in contacts, those of another world behind the scene's."""
        count, shift = len(self.bodies), len(self.names) - len(self.bodies)
        result = np.where(a >= count, a + shift, a)
        own = (a >= 0) & (a < count)
        result[own] = self.bodies[a[own]]
        return result

    def momentum(self, kept: Momentum, q: np.ndarray, v: np.ndarray, target: Momentum) -> None:
        """What is carried of floating trees that stayed as they are; the others' is measured at the new state q, v."""
        if not kept.known[0]:
            return
        target.known[0], target.q[:], target.v[:] = 1, q, v
        if not len(target.linear):
            return
        measured = self.new.call("frames", q, v)[22 * len(self.names) :].reshape(-1, impulse.FLOATING)
        target.linear[:], target.spin[:] = measured[:, _LINEAR], measured[:, _SPIN]
        before, after = _floating_parts(self.old.model), _floating_parts(self.new.model)
        for part, now in after.items():
            was = before.get(part)
            if was is not None:
                target.linear[now], target.spin[now] = kept.linear[was], kept.spin[was]


def numbers(before: Sequence[str], after: Sequence[str]) -> np.ndarray:
    """The number now of each name, GONE for none."""
    if before == after:
        return np.arange(len(before))
    at = {name: k for k, name in enumerate(after)}
    return np.array([at.get(name, GONE) for name in before], dtype=np.int64)


def moved(values: np.ndarray, to: np.ndarray, result: np.ndarray) -> np.ndarray:
    """``result`` with the values whose number now is known."""
    known = to >= 0
    result[to[known]] = values[known]
    return result


def _floating_parts(model: Model) -> dict[int, int]:
    """The number of the floating tree of every part that is one, by what it is: unchanged bodies stay one object."""
    owner = {part.links[0]: id(part.model) for part in model.parts if part.links}
    return {owner[first]: k for k, first in enumerate(impulse.floating(model)) if first in owner}
