"""Collisions that Bullet finds between the mirrored bodies, the scenery and Bullet's own bodies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pybullet

Point = tuple[float, float, float]

WORLD = "world"


@dataclass(frozen=True, slots=True)
class Contact:
    """Two bodies touching, or nearly so, at one point; lengths in m, world axes.

    body_a is always a body of the scene, the one attached earlier if both are; body_b another one, "world" for scenery
    and ground, or "bullet:<id>" for a body that Bullet has from elsewhere. normal (3,), a unit vector, points from B to
    A; distance is that of the surfaces along it, negative where they overlap. Bullet reports surfaces that are apart by
    up to 2 % of the smaller body's radius.
    """

    body_a: str
    body_b: str
    point_on_a: Point
    point_on_b: Point
    normal: Point
    distance: float


def detect(client: int, names: Mapping[int, str], ranks: Mapping[str, int]) -> tuple[Contact, ...]:
    """All contacts that a body of the scene takes part in, at the poses Bullet has now.

    ``names`` are the scene bodies of Bullet's bodies, WORLD for scenery; ``ranks`` the bodies' order of attachment.
    """
    pybullet.performCollisionDetection(physicsClientId=client)
    foreign = len(ranks)
    contacts = []
    # Asked for one body's contacts, Bullet may exchange A and B and turn the normal, but not the friction directions.
    for point in pybullet.getContactPoints(physicsClientId=client):
        a, b = (names.get(point[k]) or f"bullet:{point[k]}" for k in (1, 2))
        rank_a, rank_b = ranks.get(a, foreign), ranks.get(b, foreign)
        if rank_a == rank_b == foreign:
            continue
        on_a, on_b, normal = point[5], point[6], point[7]
        if rank_b < rank_a:
            a, b, on_a, on_b, normal = b, a, on_b, on_a, (-normal[0], -normal[1], -normal[2])
        contacts.append(Contact(a, b, on_a, on_b, normal, point[8]))
    return tuple(contacts)
