"""Where bodies are carried by what they stand on: points, normals, frictions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from recursive_dyn.codegen.arguments import real_array
from recursive_dyn.contact.contacts import STATIC
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.functions import columns
from recursive_dyn.errors import StateError
from recursive_dyn.simulation.simulation import Simulation

Array = np.ndarray
_SHORT = 1e-9  # of a normal that has no direction
_NEXT, _AFTER = [1, 2, 0], [2, 0, 1]  # of the axes


class Foothold(NamedTuple):
    """A point of a body, in its frame, m, that ground carries: its normal, world axes, and its friction coefficient."""

    body: Any
    point: Any = (0.0, 0.0, 0.0)
    normal: Any = (0.0, 0.0, 1.0)
    friction: float = 0.5


class Footholds:
    """Footholds of a model, as ``assign`` left them: ``given``; friction (k,); axes (k, 3, 3): rows normal and two
    tangents, world axes."""

    def __init__(self, dynamics: Dynamics) -> None:
        self._dynamics = dynamics
        self._columns = columns(dynamics.model)
        self._moves: dict[int, Array] = {}  # by body: which coordinate each column that moves it belongs to
        self.assign(())

    def __len__(self) -> int:
        return len(self.given)

    def assign(self, footholds: Iterable[Foothold]) -> None:
        """Have these. StateError for numbers that are none, ModelError for an unknown body; then all is as it was."""
        model, given = self._dynamics.model, tuple(footholds)
        for foothold in given:
            if not isinstance(foothold, Foothold):
                raise StateError(f"footholds are control.Foothold(body, point, normal, friction), not {foothold!r}")
        bodies = [model.body_index(foothold.body) for foothold in given]
        points = np.array([_three("point", s, s.point) for s in given]).reshape(-1, 3)
        axes = np.array([_axes(_three("normal", s, s.normal), s) for s in given]).reshape(-1, 3, 3)
        self.friction = np.array([_friction(s) for s in given])
        self.given, self.axes, self._points = given, axes, points
        self._bodies = np.array(bodies, dtype=int)
        moves = [self._moved_by(body) for body in bodies]
        self._owned = np.array(moves).reshape(-1, len(self._columns), self._dynamics.nv)

    def look(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """(J (3 k, nv), velocity (3 k,), drift (3 k,)) of the points at a state, world axes: J a + drift is what they
        accelerate by."""
        dynamics, own = self._dynamics, self._bodies
        if not len(own):
            return np.zeros((0, dynamics.nv)), np.zeros(0), np.zeros(0)
        X, V = dynamics.poses(q)[own], dynamics.velocities(q, v)[own]
        A, S = dynamics.accelerations(q, v, np.zeros(dynamics.nv))[own], dynamics.call("screws", q)
        arms = np.einsum("kij,kj->ki", X[:, :3, :3], self._points)
        turning = _cross(V[:, :3], arms)
        drift = A[:, 3:] + _cross(A[:, :3], arms) + _cross(V[:, :3], turning)
        speeds = S[None, :, 3:] + _cross(S[None, :, :3], (X[:, :3, 3] + arms)[:, None])
        J = np.einsum("kci,kcn->kin", speeds, self._owned)
        return J.reshape(-1, dynamics.nv), (V[:, 3:] + turning).ravel(), drift.ravel()

    def _moved_by(self, body: int) -> Array:
        """(columns, nv): 1 where a column that moves a body is of a coordinate."""
        if body not in self._moves:
            model = self._dynamics.model
            chain = set(model.chain(model.bodies[body].link))
            moves = np.zeros((len(self._columns), self._dynamics.nv))
            for k, (link, slot) in enumerate(self._columns):
                moves[k, slot] = float(link in chain)
            self._moves[body] = moves
        return self._moves[body]


def _cross(a: Array, b: Array) -> Array:
    """a x b (..., 3), in a third of the time that NumPy's takes for a few."""
    return np.asarray(a[..., _NEXT] * b[..., _AFTER] - a[..., _AFTER] * b[..., _NEXT])


def _three(what: str, foothold: Foothold, value: Any) -> Array:
    given = real_array(value)
    if given is None or given.shape != (3,) or not np.isfinite(given).all():
        raise StateError(f"the {what} of the foothold of '{_name(foothold)}' is 3 finite numbers, not {value!r}")
    return given


def _friction(foothold: Foothold) -> float:
    friction = real_array(foothold.friction)
    if friction is None or friction.shape != () or not 0.0 <= friction < np.inf:
        raise StateError(
            f"the friction of the foothold of '{_name(foothold)}' is a number, not negative, not {foothold.friction!r}"
        )
    return float(friction)


def _axes(normal: Array, foothold: Foothold) -> Array:
    """Rows: the normal, of length 1, and two tangents."""
    length = float(np.linalg.norm(normal))
    if length < _SHORT:
        raise StateError(f"the normal of the foothold of '{_name(foothold)}' has no direction: {foothold.normal!r}")
    across = np.zeros(3)
    across[np.argmin(np.abs(normal))] = 1.0
    first = np.cross(normal, across)
    first /= np.linalg.norm(first)
    return np.array([normal / length, first, np.cross(normal, first) / length])


def _name(foothold: Foothold) -> str:
    return str(getattr(foothold.body, "name", foothold.body))


def touching(simulation: Simulation, bodies: Iterable[Any] | None = None, trust: float = 0.9) -> tuple[Foothold, ...]:
    """Where bodies (all, unless some are given) stood on what does not move when the last step ended.

    Contacts that pushed, as ``simulation.contacts`` has them: frictions of their materials, of which the share
    ``trust`` is counted on.
    """
    dynamics, contacts = simulation.dynamics, simulation.contacts
    wanted = range(len(dynamics.bodies)) if bodies is None else {dynamics.model.body_index(body) for body in bodies}
    poses, found = simulation.frames()[0], []
    for i in np.flatnonzero(np.einsum("ij,ij->i", contacts.impulse, contacts.normal) > 0.0):
        for own, other, point, sign in (
            (contacts.a[i], contacts.b[i], contacts.point_a[i], 1.0),
            (contacts.b[i], contacts.a[i], contacts.point_b[i], -1.0),
        ):
            if own in wanted and other == STATIC:
                X = poses[own]
                place = X[:3, :3].T @ (point - X[:3, 3])
                friction = trust * contacts.friction[i, 1]
                found.append(Foothold(dynamics.bodies[own], place, sign * contacts.normal[i], friction))
    return tuple(found)
