"""The rows of contacts in whitened coordinates."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.blocks import ContactRows
from recursive_dyn.contact.layout import Layout
from recursive_dyn.contact.problem import BodyFrames, ImpulseProblem
from recursive_dyn.contact.rows.reach import Reach
from recursive_dyn.contact.rows.responses import only_hinges
from recursive_dyn.contact.rows.sides import free_side, link_side, mobility


@compiled
def contact_rows(
    problem: ImpulseProblem,
    links: Annotated[np.ndarray, int, 2],
    reach: Reach,
    root: Floats,
    V: Annotated[np.ndarray, float, 6],
) -> ContactRows:
    """The blocks of contacts of ``links`` (n, 2), which ``reach`` tells of.

    root (nv + 6 m,): D^-1/2, then 1 for free bodies; V (nl, 6): the links' twists.
    """
    layout, contacts = problem.layout, problem.contacts
    rows = _room(problem, links, reach)
    marks, inward = np.zeros(layout.nv, dtype=np.int64), np.empty((layout.nv, 3))
    hinges = only_hinges(layout)
    if not hinges:
        for k in range(layout.nv):
            inward[k, 0] = inward[k, 1] = inward[k, 2] = 0.0
    rows.first[0], rows.start[0] = 0, 0
    for c in range(len(rows.kind)):
        a, b, at = rows.links[c, 0], rows.links[c, 1], rows.first[c]
        shared = _gather(layout, reach, a, b, marks, rows.slots, at, rows.first, c)
        size, rise = rows.first[c + 1] - at, 3 + (rows.kind[c] & 1) + (rows.kind[c] & 2)
        rows.start[c + 1] = rows.start[c] + size * rise
        rows.height[c] = rise if size > 0 else 0
        _basis(contacts.normals, rows, c)
        for r in range(3):
            drift, axes = contacts.drift, rows.axes
            along = axes[c, r, 0] * drift[c, 0] + axes[c, r, 1] * drift[c, 1] + axes[c, r, 2] * drift[c, 2]
            rows.speed[c, r], rows.speed[c, 3 + r] = -along, 0.0
        for side in range(2):
            link, known = rows.links[c, side], extent(reach, a)
            if link >= len(layout.parent):
                begin = at if side == 0 else at + known
                free_side(problem.free, rows, c, side, contacts.points, link - len(layout.parent), begin)
            elif link >= 0:
                begin, end = (at, at + known) if side == 0 else (at + known, at + size)
                link_side(
                    layout, problem.factors, V, rows, c, side, contacts.points, begin, end, shared, hinges, inward
                )
        mobility(rows, c, root)
    return rows


@compiled
def extent(reach: Reach, link: int) -> int:
    """How many coordinates an impulse on a link, or a free body, reaches."""
    if link < 0:
        return 0
    return reach.size[link] if link < len(reach.size) else 6


@compiled
def _room(problem: ImpulseProblem, links: Annotated[np.ndarray, int, 2], reach: Reach) -> ContactRows:
    """Room for all blocks, with their kinds."""
    contacts, n = problem.contacts, len(links)
    kind = np.empty(n, dtype=np.int64)
    slots, values = 0, 0
    for c in range(n):
        kind[c] = (1 if contacts.frictions[c, 3] > 0.0 else 0) + (2 if contacts.frictions[c, 2] > 0.0 else 0)
        size = extent(reach, links[c, 0]) + extent(reach, links[c, 1])
        slots += size
        values += size * (3 + (kind[c] & 1) + (kind[c] & 2))
    return ContactRows(
        links,
        np.empty((n, 3, 3)),
        np.empty(n + 1, dtype=np.int64),
        np.empty(slots, dtype=np.int64),
        np.empty(n + 1, dtype=np.int64),
        np.empty(values),
        kind,
        np.empty(n, dtype=np.int64),
        np.empty((n, 6)),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty((n, 2)),
        np.empty(n),
        np.empty((n, 21)),
    )


@compiled
def links_of(problem: ImpulseProblem) -> Annotated[np.ndarray, int, 2]:
    """The links (n, 2) of A and B of all contacts: nl + k for free body k, -1 for what does not move."""
    contacts, n = problem.contacts, problem.contacts.size[0]
    links = np.empty((n, 2), dtype=np.int64)
    for c in range(n):
        links[c, 0] = link_of(problem.layout, problem.bodies, contacts.a[c])
        links[c, 1] = link_of(problem.layout, problem.bodies, contacts.b[c])
    return links


@compiled
def link_of(layout: Layout, bodies: BodyFrames, body: int) -> int:
    """The link of a body, nl + k for free body k, -1 for what does not move."""
    if body < 0:
        return -1
    return bodies.links[body] if body < len(bodies.links) else len(layout.parent) + body - len(bodies.links)


@compiled
def _gather(
    layout: Layout, reach: Reach, a: int, b: int, marks: Integers, slots: Integers, at: int, first: Integers, c: int
) -> bool:
    """Coordinates (rising within each body) that a block between two links, or free bodies, reaches, from slots[at] to
    first[c + 1]; whether A and B share some."""
    links, end, shared = len(layout.parent), at, False
    if a >= links:
        for k in range(6):
            slots[end] = layout.nv + 6 * (a - links) + k
            end += 1
    elif a >= 0:
        for k in range(reach.first[a], reach.first[a] + reach.size[a]):
            slots[end] = reach.slots[k]
            end += 1
    if b >= links:
        for k in range(6):
            slots[end] = layout.nv + 6 * (b - links) + k
            end += 1
    elif b >= 0:
        shared = 0 <= a < links and layout.link_groups[a] == layout.link_groups[b]
        if shared:
            for k in range(at, end):
                marks[slots[k]] = 1
        middle = end
        for k in range(reach.first[b], reach.first[b] + reach.size[b]):
            if marks[reach.slots[k]] == 0:
                slots[end] = reach.slots[k]
                end += 1
        if shared:
            for k in range(at, middle):
                marks[slots[k]] = 0
    first[c + 1] = end
    return shared


@compiled
def _basis(normals: Annotated[np.ndarray, float, 3], rows: ContactRows, c: int) -> None:
    """The axes of a block: its normal and two tangents, as rows."""
    n0, n1, n2 = normals[c, 0], normals[c, 1], normals[c, 2]
    t0, t1, t2 = 0.0, n2, -n1
    if abs(n0) >= 0.6:
        t0, t1, t2 = -n2, 0.0, n0
    length = np.sqrt(t0 * t0 + t1 * t1 + t2 * t2)
    t0, t1, t2 = t0 / length, t1 / length, t2 / length
    axes = rows.axes
    axes[c, 0, 0], axes[c, 0, 1], axes[c, 0, 2] = n0, n1, n2
    axes[c, 1, 0], axes[c, 1, 1], axes[c, 1, 2] = t0, t1, t2
    axes[c, 2, 0], axes[c, 2, 1], axes[c, 2, 2] = n1 * t2 - n2 * t1, n2 * t0 - n0 * t2, n0 * t1 - n1 * t0
