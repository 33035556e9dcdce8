"""What contacts and limits ask for: the velocity at the step's end, and the gap there."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.blocks import ContactRows, ScalarRows
from recursive_dyn.contact.problem import ELSEWHERE, EarlierContacts, GeneralizedRows, ImpulseProblem, Options
from recursive_dyn.contact.rows.lasting import (
    Three,
    any_glide,
    bend,
    closing,
    closing_before,
    dot,
    is_sprung,
    length,
    lies,
    lone_of,
    pressed_by,
    row,
)
from recursive_dyn.contact.rows.responses import moves_at, twists
from recursive_dyn.contact.rows.scalar_rows import directed
from recursive_dyn.contact.tuning import BEYOND_SLOP


@compiled
def unilateral(
    gap: float, free: float, acceleration: float, rising: float, restitution: float, options: Options
) -> tuple[float, float, float, float]:
    """(target velocity, gap wanted at the end of the step, lent, after) of a unilateral row; NaN for no particular gap.

    lent: what forces change the velocity by after a bounce, for which the height of that gap makes up; after: the time
    that they have for it.

    gap: at the end of the step without impulses, where the row's velocity is ``free``, and its acceleration what it has
    grown to from one that was less by ``rising``. The position share is 1 where an integrator moves positions with the
    end's velocity, 1/2 with the mean one. What rests on each other keeps its gap as all impulses move positions for
    that share of the step; what meets within the step ends where the true path ends: at the surface, or, after a
    bounce, as far from it, and as fast, as it then flew.
    """
    h, share = options.h, options.position_share
    if gap > 0.0:
        return min(free - gap / h, 0.0), np.nan, 0.0, 0.0  # what parts may be stopped, and works on nothing
    # semi-implicit Euler's positions lie on the parabola whose velocity is ahead of its own by half a step
    ahead = acceleration * h * (share - 0.5)
    end = free + ahead
    square = end * end - 2.0 * acceleration * gap
    since = h
    if end < 0.0 and square >= 0.0:
        since = min(2.0 * gap / (end - np.sqrt(square)), h)
    acceleration -= 0.5 * rising * since / h
    hit = end - acceleration * since
    if hit - ahead >= -options.rest_speed:
        return 0.0, np.nan, 0.0, 0.0
    rebound = -restitution * hit
    height = (rebound + 0.5 * acceleration * since) * since
    if rebound <= 0.0 or height <= 0.0:
        return 0.0, 0.0, 0.0, 0.0
    lent = acceleration * since - ahead
    return rebound + lent, height, lent, since - h * (share - 0.5)


@compiled
def awaited(gap: float, free: float, before: float, options: Options) -> float:
    """Target velocity of a unilateral row, as in ``unilateral``, that only forces close within the step; else NaN.

    What others carry does not fall: so long as velocities of the start, ``before``, do not close a row that was open,
    it may come as near as the surface, and carries nothing unless it would go further.
    """
    share = options.position_share
    coasting = gap - share * options.h * (free - before)
    if gap <= 0.0 and min(coasting, coasting - options.h * before) > options.slop:
        return min(free - gap / (share * options.h), 0.0)
    return np.nan


@compiled
def beginning(gap: float, free: float, before: float, options: Options) -> float:
    """The gap at the start of a step that flew as ``unilateral`` says, to first order."""
    return gap - options.h * (before + options.position_share * (free - before))


@compiled
def _overlapped(earlier: EarlierContacts, key: int, slop: float) -> bool:
    """Whether the last step left two shapes in each other."""
    i = 0
    while i < earlier.size[0] and not (earlier.keys[i] == key and earlier.gaps[i] < -slop * BEYOND_SLOP):
        i += 1
    return i < earlier.size[0]


@compiled
def contact_targets(
    problem: ImpulseProblem, rows: ContactRows, found: Integers, same: Integers, targets: Floats, wanted: Floats,
    began: Floats,
) -> None:  # fmt: skip
    """Targets, gaps wanted and gaps that the step began with (n,) of contacts; they come to rest half the slop deep.

    found (n,): the earlier contacts that these match, same (n,): those that they are known to go on."""
    contacts, options, half = problem.contacts, problem.options, 0.5 * problem.options.slop
    _forces(problem, rows)
    rocks = any_glide(problem, len(targets))
    for c in range(len(targets)):
        before, speed = dot(row(rows.axes[c, 0]), closing_before(problem, c)), rows.speed[c, 0]
        rows.lasting[c] = 0.0
        if same[c] >= 0:
            before = dot(
                row(problem.earlier.normals[same[c]]),
                closing(problem, problem.lone.start, c, problem.earlier.arms, same[c]),
            ) - dot(row(problem.contacts.normals[c]), bend(problem, c, same[c]))
            rows.lasting[c] = pressed_by(problem.earlier, same[c])
        rows.before[c], rows.coasting[c] = before, np.nan
        alone = lone_of(problem, c, 0) != ELSEWHERE and lone_of(problem, c, 1) != ELSEWHERE
        if alone and not is_sprung(problem, rows.links, c):
            coasts = closing(problem, problem.lone.coasting, c, contacts.arms, c)
            rows.coasting[c] = dot(row(contacts.normals[c]), coasts)
        targets[c], height, _, _ = _target(problem, rows, c, 0.0, contacts.gaps[c])
        began[c] = beginning(contacts.gaps[c], speed, before, options)
        if rows.lasting[c] > 0.0 and _is_held(problem, rows, c, same[c]):
            targets[c], height = 0.0, 0.0
        elif height == 0.0 and not rocks and lies(options, began[c], before):
            height = np.nan
        # nothing but contacts presses what floats by itself
        pressed = not alone and contacts.frictions[c, 4] == 0.0
        if pressed and _opened(options, contacts.gaps[c], speed, before):
            if _rested(options, pressed_by(problem.earlier, found[c]), began[c], before):
                targets[c], height = 0.0, 0.0
            else:
                targets[c] = min(speed - contacts.gaps[c] / (options.position_share * options.h), targets[c])
        wanted[c] = height - half
        # the first order errs by centimetres where limbs whip, but by less than twice the way that their last speed
        # makes; slow ones, as what is put into others, it knows well
        way = options.h * length(speed, rows.speed[c, 1], rows.speed[c, 2])
        fast = abs(before) > options.restitution_threshold and began[c] >= -2.0 * way
        if began[c] < 0.0 and fast and not _overlapped(problem.earlier, contacts.keys[c], options.slop):
            began[c] = 0.0


@compiled
def _is_held(problem: ImpulseProblem, rows: ContactRows, c: int, i: int) -> bool:
    """Whether what is round goes on from earlier contact i with what moves, too, and opens by no more than its impulse
    moves it by in a step: both fall in the flight, so that nothing but its turning shows."""
    contacts, options = problem.contacts, problem.options
    is_round = contacts.gliding[c] != 0 or max(contacts.balls[c, 0], contacts.balls[c, 1]) > 0.0
    if not is_round or min(rows.links[c, 0], rows.links[c, 1]) < 0:
        return False
    gap, earlier = contacts.gaps[c] + 0.5 * options.slop, problem.earlier
    pressed = dot(row(earlier.impulses[i]), row(earlier.normals[i]))
    return 0.0 < gap <= options.position_share * options.h * pressed * rows.mobility[c, 0]


@compiled
def _opened(options: Options, gap: float, free: float, before: float) -> bool:
    """Whether the flight opened what ends with this gap, by forces as of a spring."""
    return gap > options.slop and free > before


@compiled
def _rested(options: Options, pressed: bool, began: float, before: float) -> bool:
    """Whether what opened had pressed and was closed where the step began: what presses it in the solve, as a motor,
    may not bring it nearer than it was."""
    return pressed and began <= options.slop and before * options.h <= options.slop


@compiled
def _forces(problem: ImpulseProblem, rows: ContactRows) -> None:
    """What forces alone accelerate contacts by; NaN where that is not known. What inertia does to velocities of
    coordinates keeps kinetic energy, before a bounce as after it."""
    if len(problem.swing) == 0:
        rows.forced[:] = np.nan
        return
    links, nv = len(problem.layout.parent), problem.layout.nv
    A, B = np.empty((links, 6)), np.empty((links, 6))
    twists(problem.layout, problem.factors, problem.swing[:nv], problem.moving.links, A)
    twists(problem.layout, problem.factors, problem.swing[nv:], problem.moving.links, B)
    for c in range(len(rows.forced)):
        rows.forced[c], rows.beside[c, 0], rows.beside[c, 1] = _along(problem, rows, c, B)
        began, _, _ = _along(problem, rows, c, A)
        rows.rising[c] = rows.forced[c] - began


@compiled
def _along(problem: ImpulseProblem, rows: ContactRows, c: int, A: Annotated[np.ndarray, float, 6]) -> Three:
    """What twists A (nl, 6) of links do along a contact's axes; NaN along its normal if more takes part."""
    n, s, t, points, factors = 0.0, 0.0, 0.0, problem.contacts.points, problem.factors
    for side in range(2):
        link = rows.links[c, side]
        if link >= len(A):
            n = np.nan
        elif link >= 0:
            at = problem.layout.refs + 3 * link
            x, y = points[c, side, 0] - factors[at], points[c, side, 1] - factors[at + 1]
            moves = moves_at(A, link, x, y, points[c, side, 2] - factors[at + 2])
            sign, axes = 1.0 - 2.0 * side, rows.axes
            n += sign * dot(row(axes[c, 0]), moves)
            s, t = s + sign * dot(row(axes[c, 1]), moves), t + sign * dot(row(axes[c, 2]), moves)
    return n, s, t


@compiled
def target_after(
    problem: ImpulseProblem, rows: ContactRows, c: int, change: float, gap: float, lent: Floats
) -> tuple[float, float]:
    """(target velocity, gap) as ``unilateral`` has them of a contact whose rows move faster by ``change`` than without
    impulses, and end with this gap if nothing follows. lent (3,) becomes what forces change its velocities by after it
    bounced: heights make up for that along the normal; what they do to friction's way is theirs too."""
    target, height, lent[0], after = _target(problem, rows, c, change, gap)
    lent[1] = lent[2] = 0.0
    if height > 0.0 and np.isnan(rows.coasting[c]) and not np.isnan(rows.forced[c]):
        lent[1], lent[2] = rows.beside[c, 0] * after, rows.beside[c, 1] * after
    return target, height


@compiled
def _target(
    problem: ImpulseProblem, rows: ContactRows, c: int, change: float, gap: float
) -> tuple[float, float, float, float]:
    """As ``unilateral``. A contact comes to rest half the slop deep."""
    options, speed, before = problem.options, rows.speed[c, 0], rows.before[c] + change
    gap += 0.5 * options.slop
    restitution, least = problem.contacts.frictions[c, 4], options.restitution_threshold
    if restitution >= 1.0:  # what gives back all never comes to rest
        least = min(least, options.rest_speed)
    if min(before, speed) >= -least:
        restitution = 0.0
    if restitution == 0.0 and rows.lasting[c] == 0.0:
        near = awaited(gap, speed, before, options)
        if not np.isnan(near):
            return near, np.nan, 0.0, 0.0
    target, height, lent, after = unilateral(gap, speed, (speed - before) / options.h, 0.0, restitution, options)
    if height > 0.0 and not np.isnan(rows.coasting[c]):  # what turning does to energy is ``give_back``'s
        mean = (speed - rows.coasting[c] - change) / options.h
        return unilateral(gap, speed, mean, 0.0, restitution, options)
    if height > 0.0 and not np.isnan(rows.forced[c]):
        return unilateral(gap, speed, rows.forced[c], rows.rising[c], restitution, options)
    return target, height, lent, after


@compiled
def limit_targets(problem: ImpulseProblem, lines: ScalarRows, wanted: Floats, began: Floats) -> None:
    """The same of the limits among scalar rows (m,): stops give nothing back.

    Where loops are closed what moves on towards a stop is led beyond it as they are put right: all stops hold there.
    """
    given, options, loops = problem.rows, problem.options, closes_loops(problem.rows)
    for s in range(len(wanted)):
        if given.stops[s]:
            gap, speed, before = given.gaps[s], lines.speed[s], directed(given, s, problem.start_v)
            lines.target[s], wanted[s] = stop_target(options, gap, speed, before, loops)
            began[s] = beginning(gap, speed, before, options)
            opened = not loops and _opened(options, gap, speed, before)
            if opened and _rested(options, given.impulses[s] > 0.0, began[s], before):
                lines.target[s], wanted[s] = 0.0, 0.0
        else:
            wanted[s], began[s] = np.nan, np.nan


@compiled
def closes_loops(rows: GeneralizedRows) -> bool:
    """Whether constraints are among the rows."""
    loops = False
    for held in rows.holds:
        loops = loops or held
    return loops


@compiled
def stop_target(options: Options, gap: float, free: float, before: float, loops: bool) -> tuple[float, float]:
    """(target velocity, gap wanted) of a stop, ``free`` as in ``unilateral``, ``before`` its velocity at the start;
    loops: ``closes_loops``."""
    near = awaited(gap, free, before, options)
    if not np.isnan(near) and not loops:
        return near, np.nan
    target, wanted, _, _ = unilateral(gap, free, (free - before) / options.h, 0.0, 0.0, options)
    return target, wanted
