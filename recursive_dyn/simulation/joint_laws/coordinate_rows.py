"""Rows on coordinates: limits within reach, those of balls too, motors, dry friction, and the scene's constraints."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.problem import GeneralizedRows
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.program_calls import NO_PROGRAM, ProgramCall, evaluated, program_call
from recursive_dyn.dynamics.turn_rows import KINDS, ROWS
from recursive_dyn.model import limits
from recursive_dyn.model.ball_limits import ball_limits
from recursive_dyn.model.model import Model, once
from recursive_dyn.recursion.forces.element_slopes import slope_counts
from recursive_dyn.simulation.edits.edit import GONE, Edit, find, numbers
from recursive_dyn.simulation.joint_laws.actuation import Actuation, MotorArrays, actuation, motor_row
from recursive_dyn.simulation.joint_laws.ball_rows import BallSources, ball_rows, ball_sources, balls_passed
from recursive_dyn.simulation.joint_laws.held_rows import HeldRows, append_held, room_to_hold
from recursive_dyn.simulation.joint_laws.row_writing import plain_row, rests, within_reach
from recursive_dyn.simulation.joint_laws.yielding_rows import YieldingRows, append_yielding, yielding_rows


class RowSources(NamedTuple):
    """What may ask for rows.

    slots, places, low, high (l,): of the limited coordinates in v and in q, and their limits; rubbing, friction (r,):
    slots and dry frictions; rubbed (r,): impulses of these that the flight had, which rows are without; asked (2 l,): 1
    for low and high limits that are rows wherever the coordinate is; balls: with limits of their own; motors; jacobian,
    rates: programs of C and C v of the constraints, of which there are ``constraints``; yielding: rows of force
    elements; held: others' rows.
    """

    slots: Integers
    places: Integers
    low: Floats
    high: Floats
    rubbing: Integers
    friction: Floats
    rubbed: Floats
    asked: Integers
    balls: BallSources
    motors: Actuation
    jacobian: ProgramCall
    rates: ProgramCall
    constraints: int
    yielding: YieldingRows
    held: HeldRows


def row_sources(dynamics: Dynamics, motors: MotorArrays, load: np.ndarray, answering: bool) -> RowSources:
    """Those of a model; load (nv,): as of ``actuation``; answering: whether force elements answer impulses."""
    model = dynamics.model
    names = ("constraint_jacobian", "constraint_velocities") if model.constraints else ()
    jacobian, rates = [program_call(dynamics, name) for name in names] or (NO_PROGRAM, NO_PROGRAM)
    stops, rubbed = len(limits.limited(model).slots), np.zeros(len(limits.rubbing(model).slots))
    return RowSources(
        *limits.limited(model), *limits.rubbing(model), rubbed, np.zeros(2 * stops, dtype=np.int64),
        ball_sources(dynamics), actuation(dynamics, motors, load), jacobian, rates, len(model.constraints),
        yielding_rows(dynamics, answering), room_to_hold(len(model.held), model.held_width, model.nv),
    )  # fmt: skip


def row_count(model: Model) -> int:
    """How many rows there can be."""
    return _stop_count(model) + len(limits.rubbing(model).slots) + model.nv + _fixed_count(model)


def _fixed_count(model: Model) -> int:
    return len(model.constraints) + sum(slope_counts(model)) + len(model.held)


def _stop_count(model: Model) -> int:
    return 2 * len(limits.limited(model).slots) + ROWS * len(ball_limits(model).slots)


def row_slots(model: Model) -> np.ndarray:
    """A slot of each row by number, -1 of constraints and held ones."""
    stops, balls = limits.limited(model).slots, ball_limits(model).slots
    none = np.full(_fixed_count(model), -1)
    return np.concatenate([stops, stops, limits.rubbing(model).slots, *[balls] * ROWS, np.arange(model.nv), none])


@once
def row_names(model: Model) -> list[str]:
    """What rows are called, by number: low limits, high limits, dry frictions, limits of balls, motors by slot,
    constraints, held."""
    names = model.velocity_names
    stops = [names[s] for s in limits.limited(model).slots.tolist()]
    rough = [names[s] for s in limits.rubbing(model).slots.tolist()]
    return [
        *(f"low limit of {name}" for name in stops), *(f"high limit of {name}" for name in stops),
        *(f"friction of {name}" for name in rough),
        *(what + names[s] for what in KINDS for s in ball_limits(model).slots.tolist()),
        *(f"motor of {name}" for name in names), *(f"constraint {c.name}" for c in model.constraints),
        *(f"force element {k}" for k in range(sum(slope_counts(model)))), *model.held,
    ]  # fmt: skip


def renumbered_rows(edit: Edit) -> np.ndarray:
    """The number now of each row that there could be before the edit, GONE for none."""
    old, new = edit.old.model, edit.new.model
    if old.forces or new.forces or old.constraints or new.constraints or old.held or new.held:
        return numbers(row_names(old), row_names(new))
    found, first = list[np.ndarray](), 0
    for before, after in zip(_slots(old), _slots(new), strict=True):
        if len(before):
            at = find(after, edit.slots[before])
            found.append(np.where(at == GONE, GONE, first + at))
        first += len(after)
    if not first and not found:
        return edit.slots
    return np.concatenate([*found, np.where(edit.slots == GONE, GONE, first + edit.slots)])  # a motor a slot


def _slots(model: Model) -> tuple[np.ndarray, ...]:
    """Of low and high limits, of dry frictions and of balls' three limits, the slots of the coordinates, rising."""
    stops, balls = limits.limited(model).slots, ball_limits(model).slots
    return stops, stops, limits.rubbing(model).slots, *[balls] * ROWS


def room_for_rows(model: Model, m: int) -> GeneralizedRows:
    """Arrays for m rows, as many as there can be at once."""
    balls = ROWS * int(ball_limits(model).counts.sum())
    shafts = sum(len(link.slots) ** 2 for link in model.charted)
    values = (
        m
        + balls
        + shafts
        + (len(model.constraints) + sum(slope_counts(model))) * model.nv
        + model.held_width * len(model.held)
    )
    offsets, gaps, targets, low, high, compliance, impulses = np.empty((7, m))
    first, slots = np.zeros(m + 1, dtype=np.int64), np.empty(values, dtype=np.int64)
    stops, holds = np.empty((2, m), dtype=bool)
    return GeneralizedRows(
        first, slots, np.empty(values), offsets, gaps, stops, holds, targets, low, high, compliance, impulses
    )


@compiled
def first_rows(rows: GeneralizedRows, m: int) -> GeneralizedRows:
    """The first m of them."""
    return GeneralizedRows(
        rows.first[: m + 1], rows.slots, rows.values, rows.offsets[:m], rows.gaps[:m], rows.stops[:m], rows.holds[:m],
        rows.targets[:m], rows.low[:m], rows.high[:m], rows.compliance[:m], rows.impulses[:m],
    )  # fmt: skip


@compiled
def active_rows(
    sources: RowSources,
    rows: GeneralizedRows,
    numbers: Integers,
    earlier: Floats,
    q: Floats,
    v: Floats,
    h: float,
    parameters: Floats,
    still: Integers,
    answering: Floats,
) -> int:
    """Write the rows of a step of length h that would end at q, v without impulses; how many there are.

    numbers (m,): which rows they are, see ``row_names``; earlier: impulses of the last step by number, to start from;
    still (nv,): 1 for slots of what sleeps, which has none, or empty; answering (2 + 2 nv,): see ``ImpulseArrays``.
    """
    limited, count = len(sources.slots), 0
    for side in range(2):
        for k in range(limited):
            slot, x = sources.slots[k], q[sources.places[k]]
            if rests(still, slot):
                continue
            gap = x - sources.low[k] if side == 0 else sources.high[k] - x
            if within_reach(gap, v[slot], h) or sources.asked[side * limited + k] != 0:
                _row(rows, numbers, earlier, count, side * limited + k, slot, 1.0 - 2.0 * side)
                rows.gaps[count], rows.stops[count] = gap, True
                rows.low[count], rows.high[count] = 0.0, np.inf
                count += 1
    for k in range(len(sources.rubbing)):
        if rests(still, sources.rubbing[k]):
            continue
        _row(rows, numbers, earlier, count, 2 * limited + k, sources.rubbing[k], 1.0)
        rows.high[count] = h * sources.friction[k] - sources.rubbed[k]
        rows.low[count] = -h * sources.friction[k] - sources.rubbed[k]
        rows.impulses[count] -= sources.rubbed[k]
        count += 1
    if len(sources.balls.asked) > 0:
        first = 2 * limited + len(sources.rubbing)
        count = ball_rows(sources.balls, rows, numbers, earlier, count, first, q, v, h, parameters, still)
    driving, base = sources.motors.motors, first_motor(sources)
    for k in range(driving.size[0]):
        if sources.motors.apart[k] != 0:
            motor_row(sources.motors, k, rows, numbers, earlier, count, base)
            count += 1
    if sources.constraints:
        _constraint_rows(sources, rows, numbers, earlier, count, base + len(v), q, v, parameters)
    first, count, it = base + len(v) + sources.constraints, count + sources.constraints, sources.yielding
    count = append_yielding(it, rows, numbers, earlier, count, first, q, v, answering, parameters)
    return append_held(sources.held, rows, numbers, earlier, count, first + it.total)


@compiled
def first_motor(sources: RowSources) -> int:
    """The number of the row of a motor on slot 0."""
    return 2 * len(sources.slots) + len(sources.rubbing) + len(sources.balls.asked)


@compiled
def passed(sources: RowSources, q: Floats, v: Floats, h: float, way: Floats, slop: float, still: Integers) -> bool:
    """Whether the ``way`` (nv,) from q leads beyond limits that were no rows yet: from now on they are. still: as
    above."""
    limited, found = len(sources.slots), False
    for side in range(2):
        for k in range(limited):
            slot, x, at = sources.slots[k], q[sources.places[k]], side * limited + k
            gap, by = (x - sources.low[k], way[slot]) if side == 0 else (sources.high[k] - x, -way[slot])
            new = sources.asked[at] == 0 and not rests(still, slot)
            if gap + by < -slop and new and not within_reach(gap, v[slot], h):
                sources.asked[at] = 1
                found = True
    return balls_passed(sources.balls, q, v, h, way, slop, still) or found


@compiled
def _row(
    rows: GeneralizedRows, numbers: Integers, earlier: Floats, i: int, number: int, slot: int, sign: float
) -> None:
    """Row i acts on one coordinate; its bounds, and what differs from 0 otherwise, are still to be set."""
    plain_row(rows, numbers, earlier, i, number)
    at = rows.first[i]
    rows.first[i + 1] = at + 1
    rows.slots[at], rows.values[at] = slot, sign


@compiled
def _constraint_rows(
    sources: RowSources,
    rows: GeneralizedRows,
    numbers: Integers,
    earlier: Floats,
    start: int,
    number: int,
    q: Floats,
    v: Floats,
    parameters: Floats,
) -> None:
    """The constraints, numbered from ``number`` on, as rows from ``start`` on."""
    nv, at = len(v), rows.first[start]
    evaluated(sources.jacobian, q, q[:0], q[:0], parameters)
    evaluated(sources.rates, q, v, q[:0], parameters)
    for k in range(sources.constraints):
        i = start + k
        plain_row(rows, numbers, earlier, i, number + k)
        offset = sources.rates.outputs[k]
        for j in range(nv):
            coefficient = sources.jacobian.outputs[k * nv + j]
            rows.slots[at], rows.values[at] = j, coefficient
            offset -= coefficient * v[j]
            at += 1
        rows.first[i + 1] = at
        rows.offsets[i], rows.holds[i] = offset, True
        rows.low[i], rows.high[i] = -np.inf, np.inf
