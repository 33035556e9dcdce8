"""Where impulses between two bodies that both move act: at one point of both, as it was when they touched.

A solve sees bodies where the flight of a step ends, in each other by what they flew on since they touched. Were an
impulse to act on each at its own surface there, along the normal there, the two would be no longer opposite about one
point: what moved on aside in the meantime, and then is moved back by the time for which the impulse acted, would win or
lose angular momentum, first order in the step. So bodies that fly into each other are looked at as they touched, as far
as two rigid bodies in straight flight tell: their arms are those to one point of both then, and balls have the normal
of then. What overlaps for longer is pushed apart at the middle of its overlap; a ball always at its own surface.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.problem import ImpulseProblem
from recursive_dyn.contact.rows.lasting import closing, dot, floats, row, tree_of
from recursive_dyn.contact.tuning import BEYOND_SLOP

Points = Annotated[np.ndarray, float, 2, 3]


@compiled
def met(problem: ImpulseProblem, links: Annotated[np.ndarray, int, 2], found: Integers) -> Points:
    """Move points and normals of contacts between two bodies that move to where impulses act; the points (n, 2, 3) as
    they were.

    links (n, 2): of A and B, -1 for what does not move; found (n,): earlier contacts nearest to these, or -1. Contacts
    of two bodies follow each other.
    """
    a, b, first, count = problem.contacts.a, problem.contacts.b, 0, len(found)
    points = problem.contacts.points[0:count].copy()
    while first < count:
        end = first + 1
        while end < count and a[end] == a[first] and b[end] == b[first]:
            end += 1
        if links[first, 0] >= 0 and links[first, 1] >= 0:
            _pair_met(problem, found, first, end)
        first = end
    return points


@compiled
def _pair_met(problem: ImpulseProblem, found: Integers, first: int, end: int) -> None:
    """``met`` of all contacts of two bodies, with their bodies as they were at one time: what is wedged between them
    would be torn apart by friction were each contact of another time."""
    contacts, d, u, since = problem.contacts, np.empty(3), np.zeros(3), 0.0
    a, b = tree_of(problem, first, 0), tree_of(problem, first, 1)
    if floats(problem, a) and floats(problem, b):
        for c in range(first, end):
            if contacts.gaps[c] < 0.0 and not _pressed(problem, c, found[c]):
                balls = contacts.balls[c, 0] > 0.0 and contacts.balls[c, 1] > 0.0
                longest = problem.options.h * (1.0 if found[c] >= 0 else 2.0)
                since = max(since, _balls_since(problem, c, longest) if balls else _since(problem, c, longest))
        start, flown, s, t = problem.lone.start, problem.lone.flown, problem.lone.home[a], problem.lone.home[b]
        for i in range(3, 6):
            u[i - 3] = 0.5 * (start[s, i] + flown[s, i] - start[t, i] - flown[t, i])
    for c in range(first, end):
        for i in range(3):
            d[i] = contacts.points[c, 0, i] - contacts.points[c, 1, i] - since * u[i]
        _join(problem, c, d)


@compiled
def _pressed(problem: ImpulseProblem, c: int, i: int) -> bool:
    """Whether a contact is the i-th earlier one, -1 for none, which pressed."""
    return i >= 0 and dot(row(problem.earlier.impulses[i]), row(problem.contacts.normals[c])) > 0.0


@compiled
def told(contacts: ContactTable, points: Points) -> None:
    """Tell of contacts without an impulse where the surfaces are: points (n, 2, 3), as they were found."""
    for c in range(len(points)):
        P = contacts.impulses[c]
        if P[0] == 0.0 and P[1] == 0.0 and P[2] == 0.0:
            contacts.points[c] = points[c]


@compiled
def _moves_past(problem: ImpulseProblem, c: int, a: float, b: float, u: Floats) -> None:
    """Write the velocity u (3,) of a point of A, ``a`` beneath its surface, against one of B, ``b`` beneath its own, as
    the mean over a step's flight."""
    contacts, lone, arms = problem.contacts, problem.lone, np.empty((1, 2, 3))
    for side in range(2):
        k, deep = tree_of(problem, c, side), a if side == 0 else -b
        for i in range(3):
            arms[0, side, i] = contacts.points[c, side, i] + deep * contacts.normals[c, i] - lone.centers[k, i]
    x0, y0, z0 = closing(problem, lone.start, c, arms, 0)
    x1, y1, z1 = closing(problem, lone.flown, c, arms, 0)
    u[0], u[1], u[2] = 0.5 * (x0 + x1), 0.5 * (y0 + y1), 0.5 * (z0 + z1)


@compiled
def _since(problem: ImpulseProblem, c: int, longest: float) -> float:
    """How long ago the surfaces of a contact touched, s; 0 if they did not fly into each other within the longest time:
    a step or, of what was not seen before, as a bounce led to it within the last one, two."""
    gap, u, slop = problem.contacts.gaps[c], np.empty(3), problem.options.slop
    _moves_past(problem, c, 0.0, 0.0, u)
    speed = dot(row(problem.contacts.normals[c]), row(u))
    if speed >= 0.0 or gap - speed * longest <= -slop * BEYOND_SLOP:
        return 0.0
    h = problem.options.h
    return min(gap / speed, h if gap - speed * h > -slop * BEYOND_SLOP else longest)


@compiled
def _balls_since(problem: ImpulseProblem, c: int, longest: float) -> float:
    """The same of two balls, whose normal and points become those of when they touched."""
    contacts, n, u = problem.contacts, problem.contacts.normals[c], np.empty(3)
    a, b = contacts.balls[c, 0], contacts.balls[c, 1]
    _moves_past(problem, c, a, b, u)
    far = a + b + contacts.gaps[c]
    closing, square = far * dot(row(n), row(u)), dot(row(u), row(u))
    root = np.sqrt(max(closing * closing - square * (far * far - (a + b) ** 2), 0.0))
    least = a + b - problem.options.slop * BEYOND_SLOP
    if _began_apart(far, closing, square, problem.options.h, least):
        longest = problem.options.h
    if closing >= 0.0 or (closing + root > square * longest and not _began_apart(far, closing, square, longest, least)):
        return 0.0
    since, size, along = min((closing + root) / square, longest), 0.0, 0.0
    for i in range(3):
        size += (far * n[i] - since * u[i]) ** 2
    size = np.sqrt(size)
    for i in range(3):
        now = far * n[i]
        m = (now - since * u[i]) / size
        along += now * m
        contacts.points[c, 0, i] += a * (n[i] - m)
        contacts.points[c, 1, i] -= b * (n[i] - m)
        n[i] = m
    contacts.gaps[c] = along - (a + b)
    return since


@compiled
def _began_apart(far: float, closing: float, square: float, h: float, least: float) -> bool:
    """Whether two middles were no nearer than ``least`` a time h ago."""
    return far * far - 2.0 * h * closing + h * h * square > least * least


@compiled
def _join(problem: ImpulseProblem, c: int, d: Floats) -> None:
    """Let points of A and B that are d apart, A's less B's, become one: that of a ball, or half way."""
    contacts, share = problem.contacts, 0.5
    if (contacts.balls[c, 0] > 0.0) != (contacts.balls[c, 1] > 0.0):
        share = 0.0 if contacts.balls[c, 0] > 0.0 else 1.0
    for i in range(3):
        contacts.points[c, 0, i] -= share * d[i]
        contacts.points[c, 1, i] += (1.0 - share) * d[i]
