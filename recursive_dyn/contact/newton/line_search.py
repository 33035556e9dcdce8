"""How far to go along a step of Newton's method on F(y) = A^T p(u(y)) - y, the equations of an augmented Lagrangian.

Were the bounds of friction given, F would be minus the slope of a convex energy, which is least along a step where the
step's part of F is 0. As they are not that is no least, yet a better place than where |F| is: this grows where contacts
open, stick or slide on the way to where it is small.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.blocks import SPIN, Island, component
from recursive_dyn.contact.newton.block_equations import Block, BlockEquations
from recursive_dyn.contact.newton.natural import Trial, project, project_contact, push_of, push_of_row, spread
from recursive_dyn.contact.newton.node_order import LANES
from recursive_dyn.contact.newton.node_rows import add_products, along, along_three, total
from recursive_dyn.contact.tuning import LOOKS, PART_LEFT

Sixes = Annotated[np.ndarray, float, 6]


class Way(NamedTuple):
    """Velocities of contacts, u (n, 6), and of scalar rows, w (m,), before a step, and how it changes them."""

    u: Sixes
    w: Floats
    du: Sixes
    dw: Floats


@compiled
def way_of(it: Island) -> Way:
    """Room for the steps of an island."""
    n, m = len(it.contacts), len(it.scalars)
    return Way(np.zeros((n, 6)), np.zeros(m), np.zeros((n, 6)), np.zeros(m))


@compiled
def missing(it: Island, these: Trial, system: BlockEquations, share: float, y: Block, F: Block) -> None:
    """F = A^T p(u) - y at the trial's velocities, which are those of y, with the slopes of p."""
    project(it, these, share, True)
    spread(it, these, system, F)
    for k in range(len(F)):
        _add(F[k], y[k], -1.0)


@compiled
def go(
    it: Island, these: Trial, system: BlockEquations, share: float, y: Block, step: Block, way: Way, F: Block
) -> None:
    """Go along a step as far as F has a part along it, at most to its end; F, velocities and slopes are those there."""
    _note(it, these, system, step, way)
    start, linear, square = dot(step, F), dot(step, y), dot(step, step)
    for node in range(len(y)):
        _add(y[node], step[node], 1.0)
    _move(it, these, way, 1.0)
    missing(it, these, system, share, y, F)
    low, high, above, below, length = 0.0, 1.0, start, dot(step, F), 1.0
    if start <= 0.0 or below >= -PART_LEFT * start:
        return
    last = below
    for _ in range(LOOKS):
        length = (low * below - high * above) / (below - above)
        left = _work(it, these, share, way, length) - linear - length * square
        if abs(left) <= PART_LEFT * start:
            break
        if left > 0.0:
            low, above = length, left
            below *= 0.5 if last > 0.0 else 1.0  # what stays where it was counts half (Dowell & Jarratt, 1971)
        else:
            high, below = length, left
            above *= 0.5 if last <= 0.0 else 1.0
        last = left
    for node in range(len(y)):
        _add(y[node], step[node], length - 1.0)
    _move(it, these, way, length)
    missing(it, these, system, share, y, F)


@compiled
def _note(it: Island, these: Trial, system: BlockEquations, step: Block, way: Way) -> None:
    """The velocities of the trial, and what a step changes in them."""
    n = len(it.contacts)
    way.u[:] = these.u
    way.w[:] = these.w
    for e in range(n):
        c, du = it.contacts[e], way.du[e]
        height = it.rows.height[c]
        du[0], du[1], du[2] = along_three(system, e, height, step)
        for i in range(SPIN, height):
            du[component(it.rows.kind[c], i)] = along(system, e, height, i, step)
    for e in range(len(it.scalars)):
        way.dw[e] = along(system, n + e, 1, 0, step)


@compiled
def _move(it: Island, these: Trial, way: Way, length: float) -> None:
    """Velocities after so much of a step."""
    for e in range(len(it.contacts)):
        u, start, du = these.u[e], way.u[e], way.du[e]
        for i in range(6 if it.rows.kind[it.contacts[e]] > 0 else SPIN):
            u[i] = start[i] + length * du[i]
    for e in range(len(it.scalars)):
        these.w[e] = way.w[e] + length * way.dw[e]


@compiled
def _work(it: Island, these: Trial, share: float, way: Way, length: float) -> float:
    """What impulses after so much of a step do along it."""
    result = 0.0
    for e in range(len(it.contacts)):
        c, u, du, r = it.contacts[e], way.u[e], way.du[e], share * these.scale[e, 0]
        if r > 0.0 and it.rows.kind[c] == 0:
            p0, p1, p2 = push_of(it, c, 1.0 / r, (u[0] + length * du[0], u[1] + length * du[1], u[2] + length * du[2]))
            result += du[0] * p0 + du[1] * p1 + du[2] * p2
        elif r > 0.0:
            for i in range(6):
                these.u[e, i] = u[i] + length * du[i]
            project_contact(it, these, e, share, False)
            for i in range(6):
                result += du[i] * these.p[e, i]
    for e in range(len(it.scalars)):
        w = way.w[e] + length * way.dw[e]
        result += way.dw[e] * push_of_row(it, e, share * these.line_scale[e], w)
    return result


@compiled
def dot(a: Block, b: Block) -> float:
    """The product of whitened velocities, node by node."""
    sums = np.zeros(8)
    for k in range(len(a)):
        add_products(sums, a[k], b[k])
    return total(sums)


@compiled
def _add(x: Floats, d: Floats, share: float) -> None:
    """x += share x d, of a node."""
    for j in range(LANES):
        x[j] += share * d[j]
