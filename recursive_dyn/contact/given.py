"""What a solve is given, in the order in which its loops read it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.numba_loops import compiled
from recursive_dyn.contact.problem import EarlierContacts, GeneralizedRows, ImpulseProblem


class ContactArrays(NamedTuple):
    """Contacts (n of them) where the flight ends.

    links (n, 2): of A and B; free body k counts as link len(layout.parent) + k, what is immovable as negative. bodies
    (n, 2): rows of origins (m, 3) and start_twists (m, 6), the twists there at the step's start, or negative. points
    (n, 2, 3): on A and on B; gaps (n,), normals (n, 3), frictions (n, 5), drift (n, 3) and keys (n,) as in Contacts.
    """

    links: np.ndarray
    bodies: np.ndarray
    points: np.ndarray
    gaps: np.ndarray
    normals: np.ndarray
    frictions: np.ndarray
    drift: np.ndarray
    keys: np.ndarray
    origins: np.ndarray
    start_twists: np.ndarray


class DirectionRows(NamedTuple):
    """GeneralizedRows with their directions (m, nv) written out."""

    directions: np.ndarray
    offsets: np.ndarray
    gaps: np.ndarray
    stops: np.ndarray
    holds: np.ndarray
    targets: np.ndarray
    low: np.ndarray
    high: np.ndarray
    softness: np.ndarray
    impulses: np.ndarray


class EarlierArrays(NamedTuple):
    """Earlier contacts: keys (k,), points (k, 3) on B, impulses and moments (k, 2, 3) on A."""

    keys: np.ndarray
    points: np.ndarray
    impulses: np.ndarray


@compiled
def contact_arrays(problem: ImpulseProblem) -> ContactArrays:
    """The contacts of a problem."""
    table, bodies, free = problem.contacts, problem.bodies, problem.free
    n, count, links = table.size[0], len(bodies.links), len(problem.layout.parent)
    owners, both = np.zeros((n, 2), dtype=np.int64), np.zeros((n, 2), dtype=np.int64)
    for c in range(n):
        for side in range(2):
            body = table.a[c] if side == 0 else table.b[c]
            owners[c, side] = body
            both[c, side] = body if body < 0 else (bodies.links[body] if body < count else links + body - count)
    moving = len(bodies.poses)
    origins, twists = np.zeros((moving + len(free.masses), 3)), np.zeros((moving + len(free.masses), 6))
    for k in range(moving):
        for i in range(3):
            origins[k, i] = bodies.poses[k, i, 3]
        twists[k] = bodies.start_twists[k]
    for k in range(len(free.masses)):
        origins[moving + k] = free.centers[k]
        twists[moving + k] = free.start_twists[k]
    return ContactArrays(
        both, owners, table.points[:n], table.gaps[:n], table.normals[:n], table.frictions[:n], table.drift[:n],
        table.keys[:n], origins, twists,
    )  # fmt: skip


@compiled
def direction_rows(given: GeneralizedRows, nv: int) -> DirectionRows:
    """The generalized rows of a problem."""
    C = np.zeros((len(given.offsets), nv))
    for i in range(len(C)):
        for k in range(given.first[i], given.first[i + 1]):
            C[i, given.slots[k]] += given.values[k]
    return DirectionRows(
        C, given.offsets, given.gaps, given.stops, given.holds, given.targets, given.low, given.high, given.softness,
        given.impulses,
    )  # fmt: skip


@compiled
def earlier_arrays(given: EarlierContacts) -> EarlierArrays:
    """The earlier contacts of a problem."""
    n = given.size[0]
    points, impulses = np.zeros((n, 3)), np.zeros((n, 2, 3))
    for c in range(n):
        points[c], impulses[c, 0], impulses[c, 1] = given.points[c, 1], given.impulses[c], given.moments[c]
    return EarlierArrays(given.keys[:n], points, impulses)
