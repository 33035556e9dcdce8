"""The impulses of one step: from where the flight ended, what contacts, limits, motors and dry friction make of it."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.layout import Layout, group_of
from recursive_dyn.contact.problem import JUMPED
from recursive_dyn.contact.tuning import STILL
from recursive_dyn.dynamics.program_calls import evaluated, evaluated_awake
from recursive_dyn.simulation.stepping.impulse_arrays import ImpulseArrays


@compiled
def swinging(
    it: ImpulseArrays, layout: Layout, links: Integers, contacts: ContactTable, start: Floats, start_v: Floats,
    q: Floats, v: Floats, h: float, tau: Floats, parameters: Floats,
) -> int:  # fmt: skip
    """Write what forces accelerate by where a flight of a time h from start to q began and ended, if what may bounce
    has joints or springs; how many numbers a solve needs of them: all or none. Where something turns freely, so do the
    axes: there what was at the start is carried along. Of what floats, or has springs, it is what it is where the
    flight ended: what that is otherwise elsewhere is known afterwards (``bounced_trees``); so is that of what
    constraints hold, if nothing of another world touches (``bounced_parts``)."""
    some, count, kept = False, len(tau), bool(it.bound[0])
    for c in range(contacts.size[0]):
        kept = kept and contacts.a[c] < len(links) and contacts.b[c] < len(links)
        if contacts.frictions[c, 4] > 0.0 and not some:
            some = _is_asked(it, layout, links, contacts.a[c]) or _is_asked(it, layout, links, contacts.b[c])
    it.bound[1] = kept
    if not some or not pulled(it, start, tau, parameters, 0) or not pulled(it, q, tau, parameters, count):
        it.swing[:] = np.nan
        return 0
    way, change = np.empty(count), np.zeros(count)
    for k in range(count):
        way[k] = 0.5 * h * (start_v[k] + v[k])
    if len(it.turning) > 0 and not _transport(it, q, it.swing[:count], way, parameters, change):
        return 0
    for k in range(count):
        if kept or not it.grounded[k]:
            it.swing[k] = it.swing[count + k]
        elif not it.guided[k]:
            it.swing[k] += change[k]
    return 2 * count


@compiled
def pulled(it: ImpulseArrays, q: Floats, tau: Floats, parameters: Floats, at: int) -> bool:
    """Write what forces accelerate by at q, at rest, from a place in ``swing`` on; whether there are numbers."""
    finite = forced(it, q, it.rest[: len(tau)], tau, parameters)
    for k in range(len(tau)):
        it.swing[at + k] = it.accelerations.outputs[k]
    return finite


@compiled
def pulled_here(
    it: ImpulseArrays, q: Floats, tau: Floats, parameters: Floats, drives: Integers, acting: Integers, asked: Integers
) -> int:
    """Write what forces accelerate by at q, at rest, NaN where others act too, as motors, a law, or who pushes; how
    many numbers a solve needs of it: all, or none where nothing moves on that impulses last on."""
    some = False
    if it.moving[0]:
        for k in range(len(tau)):
            some = some or it.conserving[k]
    if not some or not forced(it, q, it.rest[: len(tau)], tau, parameters):
        return 0
    for k in range(len(tau)):
        known = it.conserving[k] and drives[k] == 0 and acting[k] == 0 and asked[k] == 0
        it.pull[k] = it.accelerations.outputs[k] if known else np.nan
    return len(tau)


@compiled
def forces_here(it: ImpulseArrays, q: Floats, tau: Floats, parameters: Floats, limited: bool) -> int:
    """Write what all that is known accelerates by at q, at rest; how many numbers a solve needs of it: all, or none
    where it is not limited, or no trees have joints."""
    some = False
    for k in range(len(tau)):
        some = some or it.hanging[k]
    if not limited or not some or not forced(it, q, it.rest[: len(tau)], tau, parameters):
        return 0
    for k in range(len(tau)):
        it.forces[k] = it.accelerations.outputs[k]
    return len(tau)


@compiled
def forced(it: ImpulseArrays, q: Floats, v: Floats, tau: Floats, parameters: Floats) -> bool:
    """Evaluate accelerations at q, v by tau, springs and force elements; whether there are numbers."""
    force, finite = it.varied, True
    force[: len(tau)] = tau
    force[len(tau)] = 0.0  # the length of the step
    if it.passive.address:
        finite = evaluated(it.passive, q, v, it.rest[:0], parameters)
        for k in range(len(tau)):
            force[k] += it.passive.outputs[k]
    return evaluated_awake(it.accelerations, q, v, force, parameters) and finite


@compiled
def acted_here(
    it: ImpulseArrays, acted: Floats, longer: float, steady: Floats, start: Floats, q: Floats, v: Floats, h: float,
    parameters: Floats,
) -> int:  # fmt: skip
    """Write what the last impulses changed velocities by, in a step that was 1 / ``longer`` times as long, as it is
    carried along the way (see ``_carry``) of a flight that began with velocities ``start``, if they lasted on any tree
    that moves; how many numbers a solve needs of it: all, or none where there was none."""
    some, lasting, fast, far = False, False, 0.0, 0.0
    mean, change, last = np.empty(len(v)), np.zeros(len(v)), np.empty(len(v))
    for k in range(len(it.changes.acted)):
        last[k] = longer * acted[k] if it.hanging[k] else 0.0
        some = some or last[k] != 0.0
        lasting = lasting or (last[k] != 0.0 and steady[k] != JUMPED)
        mean[k], it.acted[k] = 0.5 * (start[k] + v[k]), last[k]
        fast, far = max(fast, abs(mean[k])), max(far, h * abs(it.acted[k]))
    it.moving[0] = False
    if not some:
        return 0
    it.moving[0] = lasting and fast * far > STILL
    if not it.moving[0]:
        return len(v)
    if not _connected(it, q, mean, last, parameters, change):
        return 0
    for k in range(len(it.turning)):
        _bracket(it.turning[k, 0], it.turning[k, 1], mean, last, change)
    for k in range(len(v)):
        it.acted[k] = last[k] + h * change[k] if it.hanging[k] else 0.0
    return len(v)


@compiled
def _is_asked(it: ImpulseArrays, layout: Layout, links: Integers, body: int) -> bool:
    """Whether a body moves with others, or on joints or springs."""
    group = group_of(layout, links, body)
    return group >= 0 and (it.sprung[group] > 0 or bool(it.hanging[layout.group_slots[layout.group_first[group]]]))


@compiled
def moved(it: ImpulseArrays, q: Floats, v: Floats, tau: Floats, parameters: Floats) -> bool:
    """Change velocities and positions, in place, by what a solve found; whether the way led to finite numbers.

    What bounced flies on along another way, on which forces grow to other ones: by half of the time since then they
    change its velocity, but that of what takes part in a bounce of others by a force element alone. Where something
    turns freely its axes turn too: what forces were is carried along.
    """
    way, fast, far, since, late, bounced = it.changes.q, 0.0, 0.0, it.changes.since, False, False
    for k in range(len(v)):
        bounced = bounced or since[k] != 0.0
        v[k] += it.changes.v[k]
        fast, far = max(fast, abs(v[k])), max(far, abs(way[k]))
        late = late or (since[k] != 0.0 and it.grounded[k] and not it.bound[1] and not np.isnan(it.swing[len(v) + k]))
    if far == 0.0:
        return True
    finite = _carry(it, q, v, late or (bounced and it.bound[1]), parameters) if far * fast > STILL else True
    before, change = it.swing[len(v) : 2 * len(v)], np.zeros(len(v))
    if late and len(it.turning) > 0:
        finite = _transport(it, q, before, way, parameters, change) and finite
    finite = evaluated_awake(it.integrate, q, way, it.whole, parameters) and finite
    q[:] = it.integrate.outputs
    if late:
        finite = pulled(it, q, tau, parameters, 0) and finite
        for k in range(len(v)):
            if it.grounded[k]:
                v[k] += 0.5 * since[k] * (it.swing[k] - before[k] - (0.0 if it.guided[k] else change[k]))
    return finite


@compiled
def _carry(it: ImpulseArrays, q: Floats, v: Floats, late: bool, parameters: Floats) -> bool:
    """Change velocity as it is carried along the way, of what bounced ``late`` in second order, by where it is half of
    the way on: the first order alone makes it faster by the square of the angle."""
    way, change, finite = it.changes.q, np.zeros(len(v)), True
    if late:
        half, there, on = np.empty(len(v)), np.empty(len(q)), v.copy()
        for k in range(len(v)):
            half[k] = 0.5 * way[k]
        finite = _transport(it, q, v, half, parameters, change)
        for k in range(len(v)):
            on[k] += change[k]
            change[k] = 0.0
        finite = evaluated_awake(it.integrate, q, half, it.whole, parameters) and finite
        there[:] = it.integrate.outputs
        finite = _transport(it, there, on, way, parameters, change) and finite
    else:
        finite = _transport(it, q, v, way, parameters, change)
    for k in range(len(v)):
        v[k] += change[k]
    return finite


@compiled
def _transport(it: ImpulseArrays, q: Floats, x: Floats, d: Floats, parameters: Floats, change: Floats) -> bool:
    """Add what x changes by as it is carried along a way d: parallel transport in the metric of M.

    The bracket is what the symmetric part of the connection leaves, as the axes of bodies that turn freely are no
    coordinates. Such a body keeps its velocity in the world.
    """
    finite = _connected(it, q, x, d, parameters, change)
    for k in range(len(it.turning)):
        if it.still[it.turning[k, 0]] == 0:
            _bracket(it.turning[k, 0], it.turning[k, 1], d, x, change)
    return finite


@compiled
def _connected(it: ImpulseArrays, q: Floats, x: Floats, d: Floats, parameters: Floats, change: Floats) -> bool:
    """Add -M^-1 Gamma(x, d), the symmetric part of the connection, to ``change``; whether there are finite numbers.

    Accelerations at x + d and x - d differ by four times that, and by little else where d is small.
    """
    w, finite = it.varied[: len(x)], True
    for side in range(2):
        sign = 1.0 - 2.0 * side
        for k in range(len(x)):
            w[k] = x[k] + sign * d[k]
        finite = evaluated_awake(it.accelerations, q, w, it.rest, parameters) and finite
        for k in range(len(x)):
            change[k] += 0.25 * sign * it.accelerations.outputs[k]
    return finite


@compiled
def _bracket(at: int, size: int, d: Floats, v: Floats, change: Floats) -> None:
    """Take half of ad_d v from change, for a ball or free factor whose ``size`` slots start at ``at``."""
    for i in range(3):
        a, b = at + (i + 1) % 3, at + (i + 2) % 3
        change[at + i] -= 0.5 * (d[a] * v[b] - d[b] * v[a])
        if size == 6:
            turned = d[a] * v[3 + b] - d[b] * v[3 + a] + d[3 + a] * v[b] - d[3 + b] * v[a]
            change[at + 3 + i] -= 0.5 * turned
