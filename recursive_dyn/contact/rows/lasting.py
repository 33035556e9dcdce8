"""Contacts that last from one step to the next, between bodies that float, or do not move at all.

What turns takes its contacts along: where a step ends, an arm or a normal is another one than where it began. Seen
from there alone a rolling body approaches what it rolls on. So the velocity at the start is that of the points that
touched then.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.problem import ELSEWHERE, NOWHERE, EarlierContacts, ImpulseProblem, Options
from recursive_dyn.contact.rows.responses import moves_at
from recursive_dyn.contact.tuning import EDGES, SAME_FACE, STANDS, TOUCHED, TURNS, WANDERS, WANDERS_GLIDING

UNKNOWN, PLACED, LASTING = 0, 1, 2  # levels of what is known of a contact: nothing, its arms, that it presses smoothly;
BOUNCED = 3  # until energy is settled, of one that a floating tree bounced by
PUT = 4  # is added to those of what was built in each other, and is being pushed apart

Three = tuple[float, float, float]


@compiled
def placed(problem: ImpulseProblem, found: Integers, same: Integers) -> None:
    """Arms of contacts, and of which earlier ones they are known to go on: found (n,), same (n,), -1: of none."""
    contacts, earlier = problem.contacts, problem.earlier
    for c in range(len(same)):
        contacts.levels[c], contacts.debts[c], contacts.ways[c], same[c] = UNKNOWN, 0.0, 0.0, -1
        for side in range(2):
            _arm(problem, c, side)
        if turns(problem, c):
            contacts.levels[c] = PLACED
            i = found[c]
            if i >= 0 and known_of(earlier, i) != UNKNOWN and _near(problem, c, i):
                same[c] = i


@compiled
def known_of(earlier: EarlierContacts, i: int) -> int:
    """The level of an earlier contact, whether it was built so or not."""
    return earlier.levels[i] % PUT


@compiled
def tree_of(problem: ImpulseProblem, c: int, side: int) -> int:
    """The number of a contact's side among floating bodies, and those that hang on the world; NOWHERE for what does not
    move, ELSEWHERE for anything else."""
    body = problem.contacts.a[c] if side == 0 else problem.contacts.b[c]
    if body < 0:
        return NOWHERE
    return problem.lone.of[body] if body < len(problem.lone.of) else ELSEWHERE


@compiled
def floats(problem: ImpulseProblem, k: int) -> bool:
    """Whether a number is that of a body that floats, and does not hang on the world."""
    return k >= 0 and problem.lone.home[k] >= 0


@compiled
def has_limbs(problem: ImpulseProblem, k: int) -> bool:
    """Whether a number is that of a body of a tree that floats, and has others."""
    return k >= len(problem.lone.inertias) and floats(problem, k)


@compiled
def any_hang(problem: ImpulseProblem) -> bool:
    """Whether any body is known that hangs on the world: those are the last ones."""
    home = problem.lone.home
    return len(home) > 0 and home[len(home) - 1] < 0


@compiled
def lone_of(problem: ImpulseProblem, c: int, side: int) -> int:
    """The same of lone bodies only."""
    k = tree_of(problem, c, side)
    return ELSEWHERE if k >= len(problem.lone.inertias) else k


@compiled
def fallen(problem: ImpulseProblem, k: int) -> Three:
    """What all that accelerates a body in the flight changed the velocity of its centre, or origin, by."""
    v, u = row(problem.lone.flown[k, 3:6]), row(problem.lone.coasting[k, 3:6])
    return v[0] - u[0], v[1] - u[1], v[2] - u[2]


@compiled
def at_center(problem: ImpulseProblem, V: Annotated[np.ndarray, float, 6], k: int, before: Three) -> Three:
    """What twists V (nl, 6) of links move the centre of a lone body by, and what it moved by before."""
    factors, lone = problem.factors, problem.lone
    i, at = lone.links[k], problem.layout.refs + 3 * lone.links[k]
    x, y = lone.centers[k, 0] - factors[at], lone.centers[k, 1] - factors[at + 1]
    z = lone.centers[k, 2] - factors[at + 2]
    return (
        before[0] + V[i, 3] + V[i, 1] * z - V[i, 2] * y,
        before[1] + V[i, 4] + V[i, 2] * x - V[i, 0] * z,
        before[2] + V[i, 5] + V[i, 0] * y - V[i, 1] * x,
    )


@compiled
def is_sprung(problem: ImpulseProblem, links: Annotated[np.ndarray, int, 2], c: int) -> bool:
    """Whether a side of a contact between these links is of a tree with springs."""
    layout, found = problem.layout, False
    for side in range(2):
        link = links[c, side]
        group = layout.link_groups[link] if 0 <= link < len(layout.parent) else -1
        found = found or (group >= 0 and problem.sprung[group] > 0)
    return found


@compiled
def turns(problem: ImpulseProblem, c: int) -> bool:
    """Whether a contact is of lone bodies, or of one with what does not move, that turn, or move: what glides on what
    is curved takes its contact round it."""
    rate, some = 0.0, False
    for side in range(2):
        k = tree_of(problem, c, side)
        if k == ELSEWHERE:
            return False
        some = some or floats(problem, k)
        if k >= 0:
            for i in range(6):
                rate += abs(problem.lone.start[k, i])
    return some and rate > TURNS


@compiled
def _arm(problem: ImpulseProblem, c: int, side: int) -> None:
    """From the centre of mass of a side to the contact; 0 for what has none."""
    k, contacts = tree_of(problem, c, side), problem.contacts
    for i in range(3):
        contacts.arms[c, side, i] = contacts.points[c, side, i] - problem.lone.centers[k, i] if k >= 0 else 0.0


@compiled
def _near(problem: ImpulseProblem, c: int, i: int) -> bool:
    """Whether a contact is where an earlier one of the same pair may have got to by turning and gliding, or as it did
    in the step before: nothing but a jump tells the next spoke of a wheel from a round one, or the next face of a
    bowl of triangles from a round one."""
    new, old, far, way = problem.contacts.arms, problem.earlier.arms, 0.0, 0.0
    for side in range(2):
        k = tree_of(problem, c, side)
        if k >= 0:
            V, x, y, z = problem.lone.start, new[c, side, 0], new[c, side, 1], new[c, side, 2]
            way += length(V[k, 0], V[k, 1], V[k, 2]) * length(x, y, z) + length(V[k, 3], V[k, 4], V[k, 5])
            far = max(far, length(x - old[i, side, 0], y - old[i, side, 1], z - old[i, side, 2]))
    problem.contacts.ways[c] = far
    edges = known_of(problem.earlier, i) == LASTING and _turned(problem, c, i)
    most = problem.options.h * way * (EDGES if edges else 1.0)
    wanders = WANDERS_GLIDING if problem.contacts.gliding[c] != 0 else WANDERS
    return far <= wanders * max(most, problem.earlier.ways[i])


@compiled
def _turned(problem: ImpulseProblem, c: int, i: int) -> bool:
    """Whether the normal of a contact is not that of an earlier one."""
    n, m = problem.contacts.normals, problem.earlier.normals
    return length(n[c, 0] - m[i, 0], n[c, 1] - m[i, 1], n[c, 2] - m[i, 2]) > SAME_FACE


@compiled
def length(x: float, y: float, z: float) -> float:
    """Of a vector."""
    return np.sqrt(x * x + y * y + z * z)


@compiled
def closing(
    problem: ImpulseProblem,
    V: Annotated[np.ndarray, float, 6],
    c: int,
    arms: Annotated[np.ndarray, float, 2, 3],
    i: int,
) -> Three:
    """Velocity of A's point against B's of a contact, where lone bodies move with V (k, 6), at the arms arms[i]."""
    drift = problem.contacts.drift
    u0, u1, u2 = -drift[c, 0], -drift[c, 1], -drift[c, 2]
    for side in range(2):
        k, sign = tree_of(problem, c, side), 1.0 - 2.0 * side
        if k >= 0:
            x, y, z = arms[i, side, 0], arms[i, side, 1], arms[i, side, 2]
            u0 += sign * (V[k, 3] + V[k, 1] * z - V[k, 2] * y)
            u1 += sign * (V[k, 4] + V[k, 2] * x - V[k, 0] * z)
            u2 += sign * (V[k, 5] + V[k, 0] * y - V[k, 1] * x)
    return u0, u1, u2


@compiled
def closing_before(problem: ImpulseProblem, c: int) -> Three:
    """Velocity of A's point against B's of any contact, at the start of the step."""
    contacts, bodies, free = problem.contacts, problem.bodies, problem.free
    u0, u1, u2 = -contacts.drift[c, 0], -contacts.drift[c, 1], -contacts.drift[c, 2]
    for side in range(2):
        body, sign = (contacts.a[c], 1.0) if side == 0 else (contacts.b[c], -1.0)
        x, y, z = contacts.points[c, side, 0], contacts.points[c, side, 1], contacts.points[c, side, 2]
        if body >= len(bodies.links):
            k = body - len(bodies.links)
            d0, d1, d2 = moves_at(
                free.start_twists, k, x - free.centers[k, 0], y - free.centers[k, 1], z - free.centers[k, 2]
            )
            u0, u1, u2 = u0 + sign * d0, u1 + sign * d1, u2 + sign * d2
        elif body >= 0:
            X = bodies.poses[body]
            d0, d1, d2 = moves_at(bodies.start_twists, body, x - X[0, 3], y - X[1, 3], z - X[2, 3])
            u0, u1, u2 = u0 + sign * d0, u1 + sign * d1, u2 + sign * d2
    return u0, u1, u2


@compiled
def turned(problem: ImpulseProblem, c: int, i: int, v: Three) -> Three:
    """A vector turned as the normal of earlier contact i is onto that of contact c, the shortest way."""
    n, m = problem.earlier.normals, problem.contacts.normals
    a0, a1, a2 = n[i, 0], n[i, 1], n[i, 2]
    b0, b1, b2 = m[c, 0], m[c, 1], m[c, 2]
    d0, d1, d2 = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
    cosine = max(a0 * b0 + a1 * b1 + a2 * b2, 0.0)
    x, y, z = v
    share = (d0 * x + d1 * y + d2 * z) / (1.0 + cosine)
    return (
        cosine * x + d1 * z - d2 * y + share * d0,
        cosine * y + d2 * x - d0 * z + share * d1,
        cosine * z + d0 * y - d1 * x + share * d2,
    )  # fmt: skip


@compiled
def bend(problem: ImpulseProblem, c: int, i: int) -> Three:
    """Velocity of a contact by which velocities are ahead of positions, as it goes on from earlier contact i."""
    share, start = problem.options.position_share - 0.5, problem.lone.start
    old = turned(problem, c, i, closing(problem, start, c, problem.earlier.arms, i))
    new = closing(problem, start, c, problem.contacts.arms, c)
    return share * (new[0] - old[0]), share * (new[1] - old[1]), share * (new[2] - old[2])


@compiled
def dot(a: Three, b: Three) -> float:
    """a b"""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def row(x: Floats) -> Three:
    """A row (3,) of an array."""
    return x[0], x[1], x[2]


@compiled
def any_glide(problem: ImpulseProblem, count: int) -> bool:
    """Whether an ellipsoid rocks anywhere: what lies below it is let down."""
    some = 0
    for c in range(count):
        some += problem.contacts.gliding[c]
    return some > 0


@compiled
def lies(options: Options, began: float, before: float) -> bool:
    """Whether what rests touched before: so deep it stays. Between curved surfaces moving one point moves others."""
    return began <= -TOUCHED * options.slop and abs(before) <= STANDS


@compiled
def pressed_by(earlier: EarlierContacts, i: int) -> bool:
    """Whether there is an earlier contact i that pressed."""
    return i >= 0 and dot(row(earlier.impulses[i]), row(earlier.normals[i])) > 0.0
