"""The impulses of one step: from where the flight ended, what contacts, limits, motors and dry friction make of it."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Flags, Floats, Integers, compiled
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.forest_layout import layout, tree_arrays
from recursive_dyn.contact.layout import Layout
from recursive_dyn.contact.problem import JUMPED, Changes, changes
from recursive_dyn.contact.tuning import STILL
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.program_calls import NO_PROGRAM, ProgramCall, evaluated, evaluated_awake, program_call
from recursive_dyn.model.forest import blocks_of, once_alike
from recursive_dyn.model.model import Model

_FREE = 6  # slots of what floats, or would


class ImpulseArrays(NamedTuple):
    """What impulses are solved for and move a state with.

    factors, integrate, accelerations: programs, the last one of steps of no length, with which it has most in common;
    passive: of springs, where what has joints has some; turning (k, 2): first slot and number of slots of what
    turns freely; guided (nv,): slots of trees in which nothing does; hanging (nv,): of all but bodies that float alone;
    conserving (nv,): of those of them without springs, dampers and force elements; swing (2 nv,), acted, pull (nv,): as
    a solve is given it; moving (1,): whether anything moves that impulses last on; changes: what a solve finds, of as
    many rows as there can be, and no free bodies; varied, rest (nv + 1,), whole (1,): room, zeros and 1; still (nv,): 1
    for slots of trees that sleep, of which nothing is asked.
    """

    factors: ProgramCall
    integrate: ProgramCall
    accelerations: ProgramCall
    passive: ProgramCall
    turning: Annotated[np.ndarray, int, 2]
    guided: Flags
    hanging: Flags
    conserving: Flags
    swing: Floats
    acted: Floats
    pull: Floats
    moving: Flags
    changes: Changes
    varied: Floats
    rest: Floats
    whole: Floats
    still: Integers


def impulse_arrays(
    dynamics: Dynamics, rows: int, still: np.ndarray | None = None, still_places: np.ndarray | None = None
) -> ImpulseArrays:
    """Those of a model with at most so many rows on coordinates; still (nv,), still_places (1 + nq,): 1 for what is of
    trees that sleep, as ``evaluated_awake`` reads the latter."""
    factors, integrate, accelerations = (
        program_call(dynamics, name, still_places) for name in ("impulse_factors", "integrate", "step_accelerations")
    )
    model = dynamics.model
    turning, guided, hanging, conserving = _slots(model)
    if model.held:
        hanging, conserving = np.zeros_like(hanging), np.zeros_like(conserving)
    springs = hanging.any() and (model.forces or any(c.stiffness or c.torsion for c in model.coordinates))
    passive = program_call(dynamics, "passive_forces") if springs else NO_PROGRAM
    room = changes(model.nv, 0, rows)
    if not hanging.any():
        room = room._replace(acted=np.zeros(0), steady=np.zeros(0))
    return ImpulseArrays(
        factors, integrate, accelerations, passive, turning, guided, hanging, conserving,
        np.full(2 * model.nv, np.nan), np.zeros(model.nv), np.zeros(model.nv), np.zeros(1, dtype=bool), room,
        np.zeros(model.nv + 1), np.zeros(model.nv + 1), np.ones(1),
        np.zeros(model.nv, dtype=np.int64) if still is None else still,
    )  # fmt: skip


class _Slots(NamedTuple):
    """``turning``, ``guided``, ``hanging`` and ``conserving`` of ``ImpulseArrays``."""

    turning: np.ndarray
    guided: np.ndarray
    hanging: np.ndarray
    conserving: np.ndarray


@once_alike
def _slots(model: Model) -> _Slots:
    """Those of a model whose rows of joints nobody holds."""
    group, groups, turning = (known := layout(model)).group, known.groups, _turning(model)
    guided, hanging = np.ones((2, groups), dtype=bool)
    guided[group[turning[:, 0]]] = False
    alone = np.bincount(group, minlength=groups) == _FREE
    hanging[(own := group[turning[turning[:, 1] == _FREE, 0]])[alone[own]]] = False
    return _Slots(turning, guided[group], hanging[group], (hanging & _conserving(model, group, groups))[group])


def _conserving(model: Model, group: np.ndarray, groups: int) -> np.ndarray:
    """Trees (groups,) in which nothing gives way by itself, nor changes its chart: near where one ends M says little of
    the next step's."""
    trees = np.full(groups, not model.forces)
    for kind in blocks_of(model):
        soft = [s for s, c in enumerate(kind.model.coordinates) if c.damping or c.stiffness or c.torsion]
        trees[group[kind.slots[:, soft]]] = False
    for link in model.charted:
        trees[group[list(link.slots)]] = False
    return trees


def _turning(model: Model) -> np.ndarray:
    known = tree_arrays(model)
    if known is not None:
        return known.turning
    turning = [np.zeros((0, 2), dtype=np.int64)]
    for kind in blocks_of(model):
        for _, factor, _, slot in kind.model.owners:
            own = kind.slots[:, slot]
            turning.append(np.stack([own, np.full_like(own, factor.nv)], axis=1))
    return np.concatenate(turning)


@compiled
def swinging(
    it: ImpulseArrays, layout: Layout, links: Integers, contacts: ContactTable, start: Floats, q: Floats, tau: Floats,
    parameters: Floats,
) -> int:  # fmt: skip
    """Write what forces accelerate by where a flight from start to q began and ended, if what may bounce has joints;
    how many numbers a solve needs of them: all or none. Where something turns freely, so do the axes: there, at both
    places, that where it ended."""
    some, count = False, len(tau)
    for c in range(contacts.size[0]):
        if contacts.frictions[c, 4] > 0.0 and not some:
            some = _is_hanging(it, layout, links, contacts.a[c]) or _is_hanging(it, layout, links, contacts.b[c])
    if not some or not _pulled(it, start, tau, parameters, 0) or not _pulled(it, q, tau, parameters, count):
        it.swing[:] = np.nan
        return 0
    for k in range(count):
        if not it.guided[k]:
            it.swing[k] = it.swing[count + k]
    return 2 * count


@compiled
def _pulled(it: ImpulseArrays, q: Floats, tau: Floats, parameters: Floats, at: int) -> bool:
    """Write what forces accelerate by at q, at rest, from a place in ``swing`` on; whether there are numbers."""
    finite = _forced(it, q, tau, parameters)
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
    if not some or not _forced(it, q, tau, parameters):
        return 0
    for k in range(len(tau)):
        known = it.conserving[k] and drives[k] == 0 and acting[k] == 0 and asked[k] == 0
        it.pull[k] = it.accelerations.outputs[k] if known else np.nan
    return len(tau)


@compiled
def _forced(it: ImpulseArrays, q: Floats, tau: Floats, parameters: Floats) -> bool:
    """Evaluate accelerations at q, at rest, by tau, springs and force elements; whether there are numbers."""
    force, still, finite = it.varied, it.rest[: len(tau)], True
    force[: len(tau)] = tau
    force[len(tau)] = 0.0  # the length of the step
    if it.passive.address:
        finite = evaluated(it.passive, q, still, it.rest[:0], parameters)
        for k in range(len(tau)):
            force[k] += it.passive.outputs[k]
    return evaluated_awake(it.accelerations, q, still, force, parameters) and finite


@compiled
def acted_here(
    it: ImpulseArrays, last: Floats, steady: Floats, start: Floats, q: Floats, v: Floats, h: float, parameters: Floats
) -> int:  # fmt: skip
    """Write what the last impulses changed velocities by as it is carried along the way (see ``_carry``) of a flight
    that began with velocities ``start``, if they lasted on any tree that moves; how many numbers a solve needs of it:
    all, or none where there was none."""
    some, lasting, fast, far = False, False, 0.0, 0.0
    mean, change = np.empty(len(v)), np.zeros(len(v))
    for k in range(len(it.changes.acted)):
        some = some or (it.hanging[k] and last[k] != 0.0)
        lasting = lasting or (it.hanging[k] and last[k] != 0.0 and steady[k] != JUMPED)
        mean[k], it.acted[k] = 0.5 * (start[k] + v[k]), last[k] if it.hanging[k] else 0.0
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
def _is_hanging(it: ImpulseArrays, layout: Layout, links: Integers, body: int) -> bool:
    """Whether a body moves with others, or on joints."""
    if body < 0 or body >= len(links) or links[body] < 0 or layout.link_groups[links[body]] < 0:
        return False
    return bool(it.hanging[layout.group_slots[layout.group_first[layout.link_groups[links[body]]]]])


@compiled
def moved(it: ImpulseArrays, q: Floats, v: Floats, tau: Floats, parameters: Floats) -> bool:
    """Change velocities and positions, in place, by what a solve found; whether the way led to finite numbers.

    What bounced flies on along another way, on which forces grow to other ones: by half of the time since then they
    change its velocity. Where something turns freely its axes turn too: this is done on hinges and slides, but on what
    takes part in a bounce of others by a force element alone.
    """
    way, fast, far, since, late = it.changes.q, 0.0, 0.0, it.changes.since, False
    for k in range(len(v)):
        v[k] += it.changes.v[k]
        fast, far = max(fast, abs(v[k])), max(far, abs(way[k]))
        late = late or (since[k] != 0.0 and it.guided[k] and not np.isnan(it.swing[len(v) + k]))
    if far == 0.0:
        return True
    finite = _carry(it, q, v, parameters) if far * fast > STILL else True
    finite = evaluated_awake(it.integrate, q, way, it.whole, parameters) and finite
    q[:] = it.integrate.outputs
    if late:
        finite = _pulled(it, q, tau, parameters, 0) and finite
        for k in range(len(v)):
            if it.guided[k]:
                v[k] += 0.5 * since[k] * (it.swing[k] - it.swing[len(v) + k])
    return finite


@compiled
def _carry(it: ImpulseArrays, q: Floats, v: Floats, parameters: Floats) -> bool:
    """Change velocity as it is carried along the way: parallel transport in the metric of M.

    The bracket is what the symmetric part of the connection leaves, as the axes of bodies that turn freely are no
    coordinates. Such a body keeps its velocity in the world.
    """
    way, change = it.changes.q, np.zeros(len(v))
    finite = _connected(it, q, v, way, parameters, change)
    for k in range(len(it.turning)):
        if it.still[it.turning[k, 0]] == 0:
            _bracket(it.turning[k, 0], it.turning[k, 1], way, v, change)
    for k in range(len(v)):
        v[k] += change[k]
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
