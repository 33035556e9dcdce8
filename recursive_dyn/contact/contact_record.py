"""Contacts as a person reads them: bodies by name, lengths in m, world axes."""

from __future__ import annotations

from dataclasses import dataclass

Point = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Contact:
    """Two bodies touching, or nearly so, at one point; lengths in m, world axes.

    body_a is always a body of the scene, the one attached earlier if both are; body_b another one, "world" for scenery
    and ground, or "bullet:<id>" for a body that Bullet has from elsewhere. normal (3,), a unit vector, points from B to
    A; distance is that of the surfaces along it, negative where they overlap. Surfaces that are apart are reported up
    to 5 mm over planes and from ellipsoids, else up to 2 % of the smaller body's radius. impulse (3,): what A felt in
    the last step, N s; zero where contacts were only looked for. Points are on the surfaces; where the impulse acted
    on each, as they touched, if it is between two bodies that move.
    """

    body_a: str
    body_b: str
    point_on_a: Point
    point_on_b: Point
    normal: Point
    distance: float
    impulse: Point = (0.0, 0.0, 0.0)
