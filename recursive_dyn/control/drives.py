"""Which coordinates a controller may drive, and how hard."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from recursive_dyn.codegen.arguments import real_array
from recursive_dyn.control.led_coordinates import LedCoordinates
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import ModelError, StateError, listed
from recursive_dyn.model.model import WORLD
from recursive_dyn.spatial.spaces import RigidMotion

Array = np.ndarray


class Drives:
    """The coordinates that a controller drives, ``mask`` (nv,) and ``slots`` (n,), and what each can give at most.

    actuated: names of velocity coordinates; None for all but those of free joints next to the world, and those that
    time or a prescription leads, ``led``. limits: a number, (nv,) or (nv, 2), N or N m; None for the coordinates'
    effort limits, infinite unless some were given. ModelError for an unknown name and one that is led; StateError for
    other limits.
    """

    def __init__(self, dynamics: Dynamics, actuated: Iterable[str] | None = None, limits: Any = None) -> None:
        self._names = dynamics.velocity_coordinates
        self.led = LedCoordinates(dynamics)
        if actuated is None:
            self.mask = _anchored(dynamics) & ~self.led.mask
        else:
            self.mask = named_coordinates(self._names, actuated, "actuated")
            self.led.refuse(self.mask, "'actuated'")
        self.slots = np.flatnonzero(self.mask)
        self.lows, self.highs = _limits(dynamics.effort_limits if limits is None else limits, dynamics.nv)
        self._bounded = bool(np.isfinite([self.lows, self.highs]).any())

    @property
    def idle(self) -> tuple[str, ...]:
        """Names of the velocity coordinates that neither are driven nor move as told."""
        return tuple(self._names[i] for i in np.flatnonzero(~(self.mask | self.led.mask)))

    def given(self, tau: Array) -> tuple[Array, tuple[str, ...]]:
        """What there is of tau (nv,): nothing where nothing drives, no more than the limits; names of those at them."""
        tau = np.where(self.mask, tau, 0.0)
        if not self._bounded:
            return tau, ()
        beyond = self.mask & ((tau < self.lows) | (tau > self.highs))
        if not beyond.any():
            return tau, ()
        clamped = np.minimum(np.maximum(tau, self.lows), self.highs)
        return np.where(self.mask, clamped, 0.0), tuple(self._names[i] for i in np.flatnonzero(beyond))

    def together(self, other: Drives) -> Drives:
        """What drives either, within the limits of both."""
        result = object.__new__(Drives)
        result._names, result.led, result.mask = self._names, self.led, self.mask | other.mask
        result.slots = np.flatnonzero(result.mask)
        result.lows, result.highs = np.maximum(self.lows, other.lows), np.minimum(self.highs, other.highs)
        result._bounded = self._bounded or other._bounded
        return result


def _anchored(dynamics: Dynamics) -> Array:
    """All coordinates but those of free joints next to the world, which nothing there could drive."""
    model, mask = dynamics.model, np.ones(dynamics.nv, dtype=bool)
    for i, factor, _, slot in model.owners:
        if factor.space == RigidMotion() and model.links[i].parent == WORLD:
            mask[slot : slot + factor.nv] = False
    return mask


def named_coordinates(names: tuple[str, ...], chosen: Iterable[str], what: str) -> Array:
    """A mask (nv,) of the velocity coordinates that are chosen by name; ModelError, naming ``what``, for others."""
    if isinstance(chosen, str):
        raise ModelError(f"{what} takes names in a list, not the text {chosen!r}")
    mask = np.zeros(len(names), dtype=bool)
    for name in chosen:
        if name not in names:
            raise ModelError(f"unknown velocity coordinate {name!r}; the scene has {listed(names, name)}")
        mask[names.index(name)] = True
    return mask


def _limits(limits: Any, nv: int) -> tuple[Array, Array]:
    given = real_array(limits)
    if given is None or given.shape not in ((), (nv,), (nv, 2)):
        raise StateError(f"limits are a number, or of shape ({nv},) or ({nv}, 2), not {limits!r}")
    lows, highs = given.T if given.ndim == 2 else (-given, given)
    if not (lows <= highs).all():
        raise StateError("limits must be numbers that are not negative, or have each low one below the high one")
    return np.broadcast_to(lows, nv).copy(), np.broadcast_to(highs, nv).copy()
