"""Where bodies are carried by what they stand on: points, normals, frictions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from recursive_dyn.codegen.arguments import real_array
from recursive_dyn.contact.contacts import STATIC
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.functions import columns
from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.simulation.simulation import Simulation

Array = np.ndarray
_SHORT = 1e-9  # of a normal that has no direction
_NEXT, _AFTER = [1, 2, 0], [2, 0, 1]  # of the axes


class Foothold(NamedTuple):
    """A point of a body, in its frame, m, that is carried: the normal of what carries it, and the friction coefficient.

    on: the body that carries it, or its name; None: the world. The point moves along with that body, which bears the
    opposite force; the normal is in its axes.
    """

    body: Any
    point: Any = (0.0, 0.0, 0.0)
    normal: Any = (0.0, 0.0, 1.0)
    friction: float = 0.5
    on: Any = None


class Standing(NamedTuple):
    """Footholds at a state, in world axes: J a + drift is what points accelerate by as seen from what carries them,
    where they move with ``velocity``."""

    J: Array  # (3 k, nv)
    velocity: Array  # (3 k,)
    drift: Array  # (3 k,)
    axes: Array  # (k, 3, 3): rows normal and two tangents


class Footholds:
    """Footholds of a model, as ``assign`` left them: ``given``; friction (k,)."""

    def __init__(self, dynamics: Dynamics) -> None:
        self._dynamics = dynamics
        self._columns = columns(dynamics.model)
        self._moves: dict[int, Array] = {}  # by body: which coordinate each column that moves it belongs to
        self.assign(())

    def __len__(self) -> int:
        return len(self.given)

    def assign(self, footholds: Iterable[Foothold]) -> None:
        """Have these. StateError for numbers that are none, ModelError for an unknown body, or one that is to stand on
        itself; then all is as it was."""
        model, given = self._dynamics.model, tuple(footholds)
        for foothold in given:
            if not isinstance(foothold, Foothold):
                raise StateError(f"footholds are control.Foothold(body, point, normal, friction, on), not {foothold!r}")
        bodies = [model.body_index(foothold.body) for foothold in given]
        carriers = [STATIC if foothold.on is None else model.body_index(foothold.on) for foothold in given]
        for foothold, body, carrier in zip(given, bodies, carriers, strict=True):
            if body == carrier:
                raise ModelError(f"the foothold of '{_name(foothold)}' is on itself; say what carries it")
        points = np.array([_three("point", s, s.point) for s in given]).reshape(-1, 3)
        axes = np.array([_axes(_three("normal", s, s.normal), s) for s in given]).reshape(-1, 3, 3)
        self.friction = np.array([_friction(s) for s in given])
        self.given, self._axes, self._points = given, axes, points
        self._bodies, everywhere = np.array(bodies, dtype=int), np.array(carriers, dtype=int)
        self._carried = np.flatnonzero(everywhere != STATIC)
        self._carriers = everywhere[self._carried]

    def look(self, q: Array, v: Array) -> Standing:
        """All of them at a state."""
        dynamics, own, carried, on = self._dynamics, self._bodies, self._carried, self._carriers
        if not len(own):
            return Standing(np.zeros((0, dynamics.nv)), np.zeros(0), np.zeros(0), self._axes)
        X = dynamics.poses(q)
        moving = _Moving(dynamics, q, v, X[:, :3, 3])
        places, axes = X[own, :3, 3] + np.einsum("kij,kj->ki", X[own, :3, :3], self._points), self._axes
        J, velocity, drift = moving.points(own, places - X[own, :3, 3], self._moved(own))
        if len(carried):
            arms = places[carried] - X[on, :3, 3]
            J_on, velocity_on, drift_on = moving.points(on, arms, self._moved(on))
            J[carried] -= J_on
            velocity[carried] -= velocity_on
            turning = _cross(moving.V[on, :3], velocity[carried])
            drift[carried] -= drift_on + 2.0 * turning  # Coriolis: of what slides on what turns
            axes = axes.copy()
            axes[carried] = axes[carried] @ X[on, :3, :3].transpose(0, 2, 1)
        return Standing(J.reshape(-1, dynamics.nv), velocity.ravel(), drift.ravel(), axes)

    def _moved(self, bodies: Array) -> Array:
        """(k, columns, nv) of bodies."""
        return np.array([self._moved_by(body) for body in bodies.tolist()])

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


class _Moving:
    """How bodies with these origins (nb, 3) move at a state."""

    def __init__(self, dynamics: Dynamics, q: Array, v: Array, origins: Array) -> None:
        self.V, self._A = dynamics.velocities(q, v), dynamics.accelerations(q, v, np.zeros(dynamics.nv))
        self._S, self._origins = dynamics.call("screws", q), origins

    def points(self, bodies: Array, arms: Array, moved: Array) -> tuple[Array, Array, Array]:
        """(J (k, 3, nv), velocity (k, 3), drift (k, 3)) of points of bodies (k,) at arms (k, 3) from their origins;
        moved (k, columns, nv)."""
        V, A, S = self.V[bodies], self._A[bodies], self._S
        turning = _cross(V[:, :3], arms)
        drift = A[:, 3:] + _cross(A[:, :3], arms) + _cross(V[:, :3], turning)
        speeds = S[None, :, 3:] + _cross(S[None, :, :3], (self._origins[bodies] + arms)[:, None])
        return np.einsum("kci,kcn->kin", speeds, moved), V[:, 3:] + turning, drift


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
    """Where bodies (all, unless some are given) stood when the last step ended: on what does not move, or on bodies
    that time and prescriptions alone lead.

    Contacts that pushed, as ``simulation.contacts`` has them: frictions of their materials, of which the share
    ``trust`` is counted on.
    """
    dynamics, contacts = simulation.dynamics, simulation.contacts
    wanted = range(len(dynamics.bodies)) if bodies is None else {dynamics.model.body_index(body) for body in bodies}
    poses, found = simulation.frames()[0], []
    led = _led(dynamics)
    for i in np.flatnonzero(np.einsum("ij,ij->i", contacts.impulse, contacts.normal) > 0.0):
        for own, other, point, sign in (
            (contacts.a[i], contacts.b[i], contacts.point_a[i], 1.0),
            (contacts.b[i], contacts.a[i], contacts.point_b[i], -1.0),
        ):
            if own in wanted and (other == STATIC or (other in led and own not in led)):
                X = poses[own]
                place = X[:3, :3].T @ (point - X[:3, 3])
                normal, friction, on = sign * contacts.normal[i], trust * contacts.friction[i, 1], None
                if other != STATIC:
                    normal, on = poses[other][:3, :3].T @ normal, dynamics.bodies[other]
                found.append(Foothold(dynamics.bodies[own], place, normal, friction, on))
    return tuple(found)


def _led(dynamics: Dynamics) -> set[int]:
    """Bodies that nothing can push: all coordinates that move them are led."""
    model, result = dynamics.model, set()
    for number, body in enumerate(model.bodies):
        chain = set(model.chain(body.link))
        if all(slot in model.prescribed for link, slot in columns(model) if link in chain):
            result.add(number)
    return result
