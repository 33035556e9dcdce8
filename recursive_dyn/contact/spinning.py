"""What bounces keeps the energy that moving positions changes: it is given back by the impulses that bounce.

A solve lets an impulse act where a step ends, then moves positions by the time for which it acted. Between these the
axes of inertia turn while the spin stays, and half of spin times angular velocity is another one. And forces that act
after a bounce, which a solve lends to the impulse, take from heights what they give to velocities only where one
impulse moves positions: several, met at different times or one after the other, and a face beside them into which they
moved a body, lead elsewhere. All impulses of an island that bounce are made longer or shorter by one share for it.

What floats with more hung on it keeps its momenta where positions are moved to, and springs pull otherwise there. What
energy that makes is known afterwards (``bounced_trees`` of the simulation's steps); a solve says what bounced.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.blocks import Island, add_impulse
from recursive_dyn.contact.islands.impacts import Bounced
from recursive_dyn.contact.islands.islands import Partition, member
from recursive_dyn.contact.problem import BOUNCES, DRIVEN, ELSEWHERE, MEETS, ONLY_BOUNCES, ImpulseProblem
from recursive_dyn.contact.rows.judging import lifted
from recursive_dyn.contact.rows.lasting import BOUNCED, PUT, closing, dot, floats, is_sprung, lone_of, row, tree_of
from recursive_dyn.contact.rows.spins import spin_of, turned_by
from recursive_dyn.contact.rows.targets import closes_loops
from recursive_dyn.contact.tuning import MOST_GIVEN_BACK

NOTHING = -1  # that an island does


@compiled
def give_back(
    problem: ImpulseProblem,
    whole: Island,
    these: Partition,
    bounced: Bounced,
    pushes: Floats,
    twists: Annotated[np.ndarray, float, 6],
    ways: Annotated[np.ndarray, float, 6],
) -> bool:
    """Change impulses P and whitened velocities y of islands that bounce; whether any were.

    bounced (n, 2): as in ``solve_impacts``; pushes (n or more,): impulses times s that moved contacts to their gaps;
    twists (k, 6) of lone bodies at the end; ways (nl, 6) by which links are moved besides their flight.
    """
    changed, counted = False, np.zeros(len(problem.lone.links), dtype=np.bool_)
    for k in range(these.total[0]):
        it, power, won = member(whole, these, k), 0.0, 0.0
        if not is_alone(problem, it) or _has_springs(problem, it):
            continue
        for c in it.contacts:
            if _bounces(it, c, bounced):
                end = closing(problem, twists, c, problem.contacts.arms, c)
                free = closing(problem, problem.lone.flown, c, problem.contacts.arms, c)
                coasts = closing(problem, problem.lone.coasting, c, problem.contacts.arms, c)
                for r in range(3):
                    axis = row(it.rows.axes[c, r])
                    ahead = (problem.options.position_share - 0.5) * (dot(axis, free) - dot(axis, coasts))
                    power += it.P[c, r] * (dot(axis, end) + ahead)
        if power <= 0.0:
            continue
        for c in it.contacts:
            if it.P[c, 0] == 0.0:
                won -= lifted(problem, c, pushes[c])
            elif bounced[c, 0] > 0.0:
                won += _overpaid(problem, it, c, bounced[c], pushes[c])
            for side in range(2):
                body = lone_of(problem, c, side)
                if body >= 0 and not counted[body]:
                    counted[body] = True
                    won += won_by_turning(problem, body, twists[body], ways[problem.lone.links[body]])
        if won != 0.0:
            share, changed = share_of(won, power, _square(it, bounced)), True
            for c in it.contacts:
                if _bounces(it, c, bounced):
                    _lengthen(it, c, share)
    return changed


@compiled
def _square(it: Island, bounced: Bounced) -> float:
    """Energy of what bounces alone, without what presses beside it and may hold it in balance."""
    y, total = np.zeros(len(it.y)), 0.0
    for c in it.contacts:
        if _bounces(it, c, bounced):
            add_impulse(it.rows, c, 1.0, it.P[c], y)
    for slot in it.slots:
        total += 0.5 * y[slot] * y[slot]
    return total


@compiled
def is_alone(problem: ImpulseProblem, it: Island) -> bool:
    """Whether only lone bodies, and what does not move, take part in an island's contacts."""
    for c in it.contacts:
        for side in range(2):
            if lone_of(problem, c, side) == ELSEWHERE:
                return False
    return True


@compiled
def _has_springs(problem: ImpulseProblem, it: Island) -> bool:
    found = False
    for c in it.contacts:
        found = found or is_sprung(problem, it.rows.links, c)
    return found


@compiled
def _bounces(it: Island, c: int, bounced: Bounced) -> bool:
    """Whether a contact does, and does not rather press."""
    return bounced[c, 0] > 0.5 * it.P[c, 0]


@compiled
def _overpaid(problem: ImpulseProblem, it: Island, c: int, bounced: Floats, push: float) -> float:
    """What forces have lent to a contact's bounce, J, more than they took on the way by which it moved positions."""
    h, share = problem.options.h, problem.options.position_share
    acceleration = (it.rows.speed[c, 0] - it.rows.coasting[c]) / h
    ahead = acceleration * h * (share - 0.5)
    return bounced[1] + bounced[0] * ahead - (share * h * bounced[0] + push) * acceleration


@compiled
def _owing(problem: ImpulseProblem, it: Island, c: int, bounced: Floats, push: float, does: int) -> float:
    """What forces have lent to the bounce of what moves with others; beside what presses, which is lent for as well,
    more than they took on its own way, by what they are where the flight ended."""
    h, P, rows = problem.options.h, it.P[c], it.rows
    if does == ONLY_BOUNCES or P[0] == 0.0 or np.isnan(rows.forced[c]):
        return bounced[1]
    power = P[0] * rows.forced[c] + P[1] * rows.beside[c, 0] + P[2] * rows.beside[c, 1]
    return bounced[1] - (push / P[0] + 0.5 * h) * power


@compiled
def share_of(won: float, power: float, square: float) -> float:
    """Share by which impulses are to be longer so that ``won``, J, is given back, or as much as can be: by a share s
    they do work s power + s^2 square, with power above 0."""
    root = np.sqrt(max(power * power - 4.0 * square * won, 0.0))
    least = -0.5 * power / square if square > 0.0 else -MOST_GIVEN_BACK  # where they take most
    return min(max(-2.0 * won / (power + root), least, -MOST_GIVEN_BACK), MOST_GIVEN_BACK)


@compiled
def is_too_much(won: float, power: float, square: float) -> bool:
    """Whether the same share cannot give all of it back."""
    return abs(2.0 * won) > MOST_GIVEN_BACK * power or power * power < 4.0 * square * won


@compiled
def struck_trees(
    problem: ImpulseProblem, whole: Island, these: Partition, bounced: Bounced, pushes: Floats, found: Integers
) -> bool:  # fmt: skip
    """Write which islands bounce, or meet by springs, what they do, and into y the whitened velocities that bounces
    make; whether there are any. Contacts that bounce there are marked.

    bounced (n, 2), pushes (n or more,): as in ``give_back``; found (n,): earlier contacts.
    """
    changes, links = problem.changes, len(problem.layout.parent)
    count, lone = 0, len(problem.lone.inertias)
    changes.strikes[0] = 0
    some = len(problem.lone.links) > lone or closes_loops(problem.rows)
    for sprung in problem.sprung:
        some = some or sprung > 0
    if not some:
        return False
    for k in range(these.total[0]):
        it, bears, known = member(whole, these, k), False, True
        does, springs, drifts = _done(problem, it, bounced, pushes, found), _has_springs(problem, it), 0.0
        for c in it.contacts:
            drift = row(problem.contacts.drift[c])
            drifts += dot(drift, drift)
            for side in range(2):
                j = tree_of(problem, c, side)
                bears = bears or (j >= lone and floats(problem, j))
                known = known and it.rows.links[c, side] < links  # no body of another world
        counts = (springs and drifts == 0.0) if does == MEETS else (springs or bears or _is_held(problem, it))
        if not known or does == NOTHING or not counts:
            continue
        if count == 0:
            it.y[:] = 0.0
            changes.islands[:] = -1
        for slot in it.slots:
            changes.islands[slot] = count
        for c in it.contacts:
            if _bounces(it, c, bounced):
                problem.contacts.levels[c] += BOUNCED - problem.contacts.levels[c] % PUT
                problem.contacts.debts[c] = _owing(problem, it, c, bounced[c], pushes[c], does)
                add_impulse(it.rows, c, 1.0, it.P[c], it.y)
        count += 1
        changes.strikes[count] = does + (DRIVEN if drifts > 0.0 else 0)
    changes.strikes[0] = count
    return count > 0


@compiled
def _is_held(problem: ImpulseProblem, it: Island) -> bool:
    """Whether constraints are among an island's rows."""
    found = False
    for s in it.scalars:
        found = found or problem.rows.holds[s]
    return found


@compiled
def _pressed(problem: ImpulseProblem, i: int) -> bool:
    """Whether the last step left an earlier contact pressed, and not apart after a bounce."""
    if i < 0 or problem.earlier.gaps[i] > problem.options.slop:
        return False
    impulse = row(problem.earlier.impulses[i])
    return dot(impulse, impulse) > 0.0


@compiled
def _done(problem: ImpulseProblem, it: Island, bounced: Bounced, pushes: Floats, found: Integers) -> int:
    """What an island does, as in Changes, or NOTHING."""
    bounce, press, meet = 0, 0, 0
    for c in it.contacts:
        if _bounces(it, c, bounced):
            bounce += 1
        elif it.P[c, 0] > 0.0 or pushes[c] > 0.0:
            press += 1
            meet += 0 if it.P[c, 0] > 0.0 and _pressed(problem, found[c]) else 1
    if bounce == 0:
        return MEETS if meet > 0 else NOTHING
    return BOUNCES if press > 0 else ONLY_BOUNCES


@compiled
def _lengthen(it: Island, c: int, share: float) -> None:
    add_impulse(it.rows, c, share, it.P[c], it.y)
    for k in range(6):
        it.P[c, k] *= 1.0 + share


@compiled
def won_by_turning(problem: ImpulseProblem, k: int, twist: Floats, way: Floats) -> float:
    """Energy that lone body k, moving with a twist, wins as it is turned on the way while its spin stays."""
    I = problem.lone.inertias[k]
    w = row(twist)
    spin = spin_of(I, w)
    a, b, c = -way[0], -way[1], -way[2]
    square = a * a + b * b + c * c
    sine = 1.0 - square / 6.0 * (1.0 - square / 20.0 * (1.0 - square / 42.0))  # sin x / x
    cosine = 0.5 - square / 24.0 * (1.0 - square / 30.0 * (1.0 - square / 56.0))  # (1 - cos x) / x^2
    x, y, z = spin
    u, v, t = b * z - c * y, c * x - a * z, a * y - b * x
    seen = (
        x + sine * u + cosine * (b * t - c * v),
        y + sine * v + cosine * (c * u - a * t),
        z + sine * t + cosine * (a * v - b * u),
    )  # fmt: skip
    return 0.5 * (dot(seen, turned_by(I, seen)) - dot(spin, w))
