"""What a detector reports: points where surfaces meet, and the rigid bodies of another world that take part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from recursive_dyn.contact.contact_record import Contact
from recursive_dyn.errors import StateError

STATIC = -1  # a body that nothing moves
WORLD = "world"  # what that is called


_FIELDS = (
    ("a", int, 0), ("b", int, 0), ("key", int, 0), ("point_a", float, 3), ("point_b", float, 3), ("normal", float, 3),
    ("distance", float, 0), ("friction", float, 5), ("drift", float, 3), ("gliding", int, 0), ("balls", float, 2),
)  # fmt: skip


def _checked(name: str, values: Any, kind: type, shape: tuple[int, ...]) -> np.ndarray:
    try:
        array = np.ascontiguousarray(values, dtype=np.int64 if kind is int else float)
    except (TypeError, ValueError):
        array = None
    if array is None or array.shape != shape:
        raise StateError(f"the detector reports contacts whose {name} is not numbers of shape {shape}")
    if kind is float and not np.isfinite(array).all():
        raise StateError(f"the detector reports a contact whose {name} is not finite")
    return array


def _rows(count: int, width: int) -> np.ndarray:
    return np.zeros((count, width))


@dataclass(eq=False)
class FreeBodies:
    """Rigid bodies that another engine owns.

    position (m, 3): centres of mass, inverse_mass (m,), inverse_inertia (m, 3, 3) world axes; before, twist (m, 6): the
    twist [omega; v] at the start of the step and the one it would end with, world axes at the centre of mass. A solve
    writes the twist that the step ends with into ``twist``, and into ``shift`` (m, 6) what positions must be moved by
    besides (rotation vector, translation).
    """

    position: np.ndarray
    inverse_mass: np.ndarray
    inverse_inertia: np.ndarray
    before: np.ndarray
    twist: np.ndarray
    shift: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.shift = np.zeros_like(self.twist)

    def __len__(self) -> int:
        return len(self.position)

    @classmethod
    def none(cls) -> FreeBodies:
        """No such bodies."""
        return cls(_rows(0, 3), np.zeros(0), np.zeros((0, 3, 3)), _rows(0, 6), _rows(0, 6))


@dataclass(eq=False)
class Contacts:
    """Contact points (n of them) at a simulation's present configuration; lengths in m, world axes.

    a, b (n,): index of a body of the dynamics, STATIC, or the number of bodies plus the index of one of ``free``.
    point_a, point_b (n, 3): on the surfaces; normal (n, 3): unit vector from B to A; distance (n,): negative where they
    overlap. friction (n, 5): sticking, sliding, rolling (m), spinning (m), restitution. key (n,): says which pair of
    surfaces it is, so that impulses are found again in the next step. drift (n, 3): velocity of a STATIC b that moves
    by itself, as a conveyor's belt. free_names (m,): what the free bodies are called, "free 0", ... if nothing is said;
    names: what the bodies of the dynamics are, by which contacts are told one by one; others (n,): what a STATIC b is.
    gliding (n,): 1 where an ellipsoid touches, all around which a contact glides and never jumps; balls (n, 2): radii
    of A and of B where they are balls, m, else 0.
    """

    a: np.ndarray
    b: np.ndarray
    point_a: np.ndarray
    point_b: np.ndarray
    normal: np.ndarray
    distance: np.ndarray
    friction: np.ndarray
    key: np.ndarray
    free: FreeBodies = field(default_factory=FreeBodies.none)
    drift: np.ndarray = field(default_factory=lambda: _rows(0, 3))
    free_names: Sequence[str] = ()
    names: Sequence[str] = ()
    others: Sequence[str] = ()
    gliding: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    balls: np.ndarray = field(default_factory=lambda: _rows(0, 2))
    trusted: bool = False  # arrays of the right kind by construction: they are not looked at
    impulse: np.ndarray = field(init=False)  # (n, 3) on A, N s, world axes: what the solve found
    moment: np.ndarray = field(init=False)  # (n, 3) on A, N m s: of rolling and spinning friction

    def __post_init__(self) -> None:
        n = len(self.a)
        if not len(self.drift):
            self.drift = _rows(n, 3)
        if not len(self.gliding):
            self.gliding = np.zeros(n, dtype=np.int64)
        if not len(self.balls):
            self.balls = _rows(n, 2)
        for name, kind, width in () if self.trusted else _FIELDS:
            setattr(self, name, _checked(name, getattr(self, name), kind, (n, width) if width else (n,)))
        if len(self.free) and not self.free_names:
            self.free_names = [f"free {k}" for k in range(len(self.free))]
        self.impulse, self.moment = _rows(n, 3), _rows(n, 3)
        self._local: tuple[np.ndarray, ...] = ()

    def __len__(self) -> int:
        return len(self.a)

    def __iter__(self) -> Iterator[Contact]:
        """Those of the dynamics' bodies one by one, by name; a STATIC B is "world" unless ``others`` knows better."""
        others = self.others if len(self.others) == len(self) else [WORLD] * len(self)
        return iter(self.records(self.names, others))

    def records(self, names: Sequence[str], others: Sequence[str]) -> tuple[Contact, ...]:
        """Contacts of the dynamics' bodies by name, without those of free bodies with each other.

        names: of the bodies of the dynamics; others (n,): what each contact's B is called where it is STATIC.
        """
        known = (*names, *self.free_names)
        points = (self.point_a, self.point_b, self.normal, self.distance, self.impulse)
        rows = zip(self.a.tolist(), self.b.tolist(), others, *[x.tolist() for x in points], strict=True)
        return tuple(
            Contact(known[a], other if b == STATIC else known[b], tuple(on_a), tuple(on_b), tuple(n), gap, tuple(p))
            for a, b, other, on_a, on_b, n, gap, p in rows
            if a < len(names)
        )

    def check(self, bodies: int) -> None:
        """Raise StateError for a contact that cannot be: of bodies that there are not, of one with itself, ..."""
        last = bodies + len(self.free)
        if len(self.free_names) != len(self.free):
            raise StateError(
                f"the detector names {len(self.free_names)} free bodies, of which there are {len(self.free)}"
            )
        length = np.einsum("ij,ij->i", self.normal, self.normal)
        stick, slide, roll, spin, e = self.friction.T
        for wrong, what in (
            (self.a == self.b, "of a body with itself"),
            (np.abs(length - 1.0) > 1e-6, "whose normal is not a unit vector"),
            (np.minimum.reduce((slide, roll, spin, e)) < 0.0, "with a negative friction or restitution"),
            (e > 1.0, "whose restitution is above 1"),
            (stick < slide, "that sticks less than it slides"),
        ):
            if wrong.any():
                raise StateError(f"the detector reports a contact {what}")
        for side in (self.a, self.b):
            wrong = np.flatnonzero((side < STATIC) | (side >= last))
            if len(wrong):
                raise StateError(f"the detector reports a contact of body number {side[wrong[0]]}; there are {last}")

    def located(self, poses: np.ndarray) -> Contacts:
        """These contacts, remembering where on bodies at ``poses`` (nb, 4, 4) their points are."""
        self._local = tuple(
            _into(poses, side, points) for side, points in ((self.a, self.point_a), (self.b, self.point_b))
        )
        return self

    @property
    def local(self) -> tuple[np.ndarray, ...]:
        """Points (n, 3) of A and of B in the frames of their bodies, after ``located``."""
        return self._local

    def moved(self, poses: np.ndarray) -> Contacts:
        """The same points of the same bodies at other ``poses``, overlapping as they then do along the old normals."""
        on_a, on_b = (_out_of(poses, side, local) for side, local in zip((self.a, self.b), self._local, strict=True))
        gap = np.einsum("ij,ij->i", on_a - on_b, self.normal)
        result = replace(self, point_a=on_a, point_b=on_b, distance=gap)
        result._local = self._local
        return result

    @classmethod
    def none(cls) -> Contacts:
        """Nothing touches."""
        integers, vectors = np.zeros(0, dtype=np.int64), _rows(0, 3)
        points = vectors, vectors, vectors, np.zeros(0)
        return cls(integers, integers, *points, _rows(0, 5), integers, drift=vectors, trusted=True)


def _into(poses: np.ndarray, bodies: np.ndarray, points: np.ndarray) -> np.ndarray:
    own = (bodies >= 0) & (bodies < len(poses))
    local = points.copy()
    X = poses[bodies[own]]
    local[own] = np.einsum("nji,nj->ni", X[:, :3, :3], points[own] - X[:, :3, 3])
    return local


def _out_of(poses: np.ndarray, bodies: np.ndarray, local: np.ndarray) -> np.ndarray:
    own = (bodies >= 0) & (bodies < len(poses))
    points = local.copy()
    X = poses[bodies[own]]
    points[own] = np.einsum("nij,nj->ni", X[:, :3, :3], local[own]) + X[:, :3, 3]
    return points
