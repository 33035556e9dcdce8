"""The linear equations of the central path where an island is, and its direction there."""

from __future__ import annotations

import math

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.contact.blocks import Island
from recursive_dyn.contact.newton.assembly import assemble
from recursive_dyn.contact.newton.block_equations import Block, BlockEquations
from recursive_dyn.contact.newton.block_factors import factor, solve
from recursive_dyn.contact.newton.central_moments import (
    answer_moment,
    change_moment,
    miss_moment,
    press_moment,
    push_moment,
)
from recursive_dyn.contact.newton.central_point import (
    Central,
    answer_contact,
    answer_row,
    miss_contact,
    miss_row,
    press_contact,
    press_row,
)
from recursive_dyn.contact.newton.interior import Threes
from recursive_dyn.contact.newton.interior_contacts import times
from recursive_dyn.contact.newton.natural import Trial, has_room, read_velocities, spread
from recursive_dyn.contact.newton.node_order import BODY
from recursive_dyn.contact.newton.node_rows import along, along_three, push, push_three
from recursive_dyn.contact.tuning import SOFTENS


@compiled
def evaluate(it: Island, these: Trial, at: Central, system: BlockEquations, y: Block, nu: float) -> float:
    """Impulses, velocities and ``miss`` where w is; the sum of its squares."""
    total, (soft, _) = 0.0, _softness(at, nu)
    for e in range(len(it.contacts)):
        if these.scale[e, 0] > 0.0:
            press_contact(it, these, at, e, nu)
    for j in range(len(at.moments.contact)):
        press_moment(these, at, j, nu)
    for e in range(len(it.scalars)):
        press_row(it, these, at, e, nu)
    spread(it, these, system, y)
    read_velocities(it, these, system, y)
    for e in range(len(it.contacts)):
        if these.scale[e, 0] > 0.0:
            total += miss_contact(it, these, at, e, nu, soft)
    for j in range(len(at.moments.contact)):
        total += miss_moment(these, at, j, soft)
    for e in range(len(it.scalars)):
        if has_room(it, these, e):
            total += miss_row(it, these, at, e, soft)
    return total


@compiled
def factored(it: Island, these: Trial, at: Central, system: BlockEquations, nu: float) -> bool:
    """Factor the equations where w is; False where they have no solution."""
    soft, softens = _softness(at, nu)
    for e in range(len(it.contacts)):
        these.X[e] = 0.0
        if these.scale[e, 0] > 0.0:
            answer_contact(it, these, at, e, nu, soft, softens)
    for j in range(len(at.moments.contact)):
        answer_moment(these, at, j, nu, soft, softens)
    for e in range(len(it.scalars)):
        these.x[e] = 0.0
        if has_room(it, these, e):
            answer_row(it, these, at, e, soft, softens)
    assemble(it, system, these.X, these.x)
    return factor(system)


@compiled
def _softness(at: Central, nu: float) -> tuple[float, float]:
    """The share of its mobility by which each contact and row gives way, and with which power of nu."""
    soft = math.exp(SOFTENS * math.log(nu / at.outside)) if at.outside < np.inf else 0.0
    return (soft, SOFTENS) if soft > at.least else (at.least, 0.0)


@compiled
def orientation(system: BlockEquations) -> float:
    """The sign of the determinant that was factored."""
    sign = 1.0
    for own in system.base:
        for i in range(BODY):
            if system.numbers[own, i, i] < 0.0:
                sign = -sign
    return sign


@compiled
def answered(
    it: Island, these: Trial, at: Central, system: BlockEquations, right: Threes, grows: float, found: Threes, y: Block
) -> None:
    """found: what w has to change by for laws that are missed by ``right`` when log nu grows by so much; y: room."""
    n, heights = len(it.contacts), it.rows.height
    y[:] = 0.0
    for e in range(n):
        if these.scale[e, 0] > 0.0:
            r, rise, gift, c = right[e], at.rise[e], at.gift[e], it.contacts[e]
            z0, z1, z2 = times(at.answer[e], r[0] + grows * rise[0], r[1] + grows * rise[1], r[2] + grows * rise[2])
            own = at.mass * it.frictions[c, 1]
            z0, z1, z2 = z0 + grows * gift[0], z1 + grows * gift[1], z2 + grows * gift[2]
            push_three(system, e, heights[c], at.mass * z0, own * z1, own * z2, y)
    for j in range(len(at.moments.contact)):
        push_moment(it, at, system, right, grows, j, y)
    for e in range(len(it.scalars)):
        if has_room(it, these, e):
            k = n + e
            q = at.answer[k, 0] * (right[k, 0] + grows * at.rise[k, 0]) + grows * at.gift[k, 0]
            push(system, k, 1, 0, at.mass * q, y)
    solve(system, y)
    for e in range(n):
        if these.scale[e, 0] > 0.0:
            r, rise, change = right[e], at.rise[e], found[e]
            v0, v1, v2 = along_three(system, e, heights[it.contacts[e]], y)
            mu = it.frictions[it.contacts[e], 1]
            change[0], change[1], change[2] = times(
                at.inverse[e], r[0] + grows * rise[0] - v0, r[1] + grows * rise[1] - mu * v1,
                r[2] + grows * rise[2] - mu * v2,
            )  # fmt: skip
    for j in range(len(at.moments.contact)):
        change_moment(it, at, system, right, grows, j, found, y)
    for e in range(len(it.scalars)):
        if has_room(it, these, e):
            k = n + e
            found[k, 0] = at.inverse[k, 0] * (right[k, 0] + grows * at.rise[k, 0] - along(system, k, 1, 0, y))
