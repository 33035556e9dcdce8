"""Corrections of contacts that last are withdrawn where they bring energy in.

A correction (``rows/turning``) is what the last impulse did wrong if it presses on; with what is found then it is no
work. A body that is thrown into a wedge, or squeezed between others as it spins, hits them again and again, with
impulses that are alike by chance: then what is found takes nothing of the correction, which throws it out with as much
as it had. So what an island's corrections and impulses do together is looked at, with what they lift by moving
positions. If it is work, the island is solved again without corrections. From there towards what was found with them
surfaces stay apart and friction within its bounds, as these are convex, and energy is a parabola: so the island goes
back towards it as far as energy lets it. What moves alone on what stands still, or is led, or hangs on joints, may win
what its contacts lost before, their debts: they are what rocks keeps its energy by. So may what rocks on one body that
floats, and nothing else, if what carries both bears their weight: things that fly, or are struck, may not. Trees that
float are looked at where they touch something that moves, if it is known what forces do to them.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Flags, Floats, Integers, compiled
from recursive_dyn.contact.blocks import Island, accumulate, along, component
from recursive_dyn.contact.islands.impacts import Bounced
from recursive_dyn.contact.islands.islands import Partition, member, solve_one
from recursive_dyn.contact.islands.passivity import Impulses, Lent, gain, share_of
from recursive_dyn.contact.problem import ELSEWHERE, ImpulseProblem, is_short
from recursive_dyn.contact.rows.jointed_trees import JointedTrees, is_jointed
from recursive_dyn.contact.rows.lasting import dot, fallen, floats, has_limbs, lone_of, row, tree_of
from recursive_dyn.contact.rows.pushes import moved_by
from recursive_dyn.contact.rows.scalar_rows import directed
from recursive_dyn.contact.rows.spins import spin_of
from recursive_dyn.contact.rows.sustaining import HALF
from recursive_dyn.contact.tuning import GUARDED, LITTLE, OVERDONE, REPAID, WEIGHTS

UNMET, SEVERAL = -3, -4  # instead of a partner


@compiled
def withdraw(
    problem: ImpulseProblem, whole: Island, these: Partition, trees: JointedTrees, same: Integers, powers: Floats,
    kicked: Floats, pushes: Floats, shares: Floats, wanted: Floats, bounced: Bounced, early: Flags,
) -> tuple[int, float]:  # fmt: skip
    """Solve islands again whose corrections bring energy in, with as much of these as brings none; (most sweeps,
    largest residual) of theirs.

    same (n,): earlier contacts that these go on; powers (n,): what their corrections do, J; kicked: whitened velocities
    that corrections made, among those of ``pushes``; shares, wanted, bounced, early as in a solve.
    """
    total, sweeps, residual, none = these.total[0], 0, 0.0, np.zeros((len(whole.targets), 3))
    again, won, left = np.zeros(total, dtype=np.bool_), np.zeros(total), np.zeros(total)
    if not _find_overdone(problem, whole, these, same, powers, shares, kicked, trees, none, early, again, won, left):
        return 0, 0.0
    P, Q, y, given = whole.P.copy(), whole.Q.copy(), whole.y.copy(), shares.copy()
    kicks, moves = problem.lone.kicks.copy(), np.zeros(len(kicked))
    for k in range(total):
        if again[k]:
            _give(problem, member(whole, these, k), -1.0, kicked, pushes, moves, kicks, given, shares)
    moved_by(whole.rows, whole.lines, moves)
    moves[:] = 0.0
    for k in range(total):
        if again[k]:
            it, bounces = member(whole, these, k), 0.0
            for c in it.contacts:
                bounced[c, 0] = bounced[c, 1] = 0.0
            done, change = solve_one(it, problem, wanted, bounced, none)
            sweeps, residual = max(sweeps, done), max(residual, change)
            early[k] = change > min(problem.options.tolerance, GUARDED)
            for c in it.contacts:
                bounces += bounced[c, 0]
            share = 0.0
            if bounces == 0.0:
                share = _share(it, y, kicked, _won(problem, it, moves, trees, none), won[k], left[k])
            if share > 0.0:
                _go_back(it, share, P, Q)
                _give(problem, it, share, kicked, pushes, moves, kicks, given, shares)
    moved_by(whole.rows, whole.lines, moves)
    return sweeps, residual


@compiled
def _find_overdone(
    problem: ImpulseProblem, whole: Island, these: Partition, same: Integers, powers: Floats, shares: Floats,
    kicked: Floats, trees: JointedTrees, none: Lent, early: Flags, again: Flags, won: Floats, left: Floats,
) -> bool:  # fmt: skip
    """Mark in ``again`` the islands that win more than they may; whether there are any. won, left (islands,): what they
    win and may win, J; the others as in ``withdraw``, none as in ``gain``."""
    some, options = False, problem.options
    for k in range(these.total[0]):
        it = member(whole, these, k)
        if _is_corrected(it, shares) and _is_known(problem, it, trees):
            won[k] = _won(problem, it, kicked, trees, none)
            # of what is far from the laws nothing is known that it might win back; by default it is as near as it gets
            if early[k] and is_short(float(options.iterations), options.microseconds, options.tolerance):
                left[k], least = 0.0 if problem.options.position_share == HALF else -np.inf, 0.0
            else:
                left[k], least = _left(problem, it, trees, same, powers)
            again[k] = won[k] > left[k] + least
            some = some or again[k]
    return some


@compiled
def _is_known(problem: ImpulseProblem, it: Island, trees: JointedTrees) -> bool:
    """Whether only lone bodies, known trees, and what does not move, take part in an island's contacts, and trees that
    float, whose energy is reckoned on its own where they touch nothing that moves (``balance``), others too."""
    floating, meet = False, False
    for c in it.contacts:
        moving = 0
        for side in range(2):
            k = tree_of(problem, c, side)
            moving += 1 if k >= 0 else 0
            floating = floating or has_limbs(problem, k)
            if k == ELSEWHERE or (has_limbs(problem, k) and not is_jointed(problem, trees, k)):
                return False
        meet = meet or moving == 2
    return meet or not floating


@compiled
def _is_corrected(it: Island, shares: Floats) -> bool:
    """Whether any contact of an island is."""
    some = False
    for c in it.contacts:
        some = some or shares[c] != 0.0
    return some


@compiled
def _won(problem: ImpulseProblem, it: Island, kicked: Floats, trees: JointedTrees, none: Lent) -> float:
    """Energy that corrections, which change whitened velocities by ``kicked``, and impulses of an island bring in, with
    what they lift by moving positions, J: against all that accelerates bodies in the flight, as forces besides gravity
    bear a share of it."""
    won, lone, lines = gain(it, none)[0], problem.lone, it.lines
    share = HALF if problem.options.position_share == HALF else 0.0
    seen = np.zeros(len(lone.links), dtype=np.bool_)
    for c in it.contacts:
        P, axes, hangs = it.P[c], it.rows.axes[c], False
        for side in range(2):
            k = tree_of(problem, c, side)
            if k < 0:
                continue
            if is_jointed(problem, trees, k):
                hangs = True
                continue
            fall = fallen(problem, k)
            for i in range(3):
                won -= share * (1.0 - 2.0 * side) * P[i] * dot(row(axes[i]), fall)
            if not seen[k]:
                seen[k] = True
                spin, push = row(lone.kicks[k]), row(lone.kicks[k, 3:6])
                won += dot(push, row(lone.flown[k, 3:6])) + dot(spin, row(lone.flown[k])) - share * dot(push, fall)
        for i in range(it.rows.height[c] if hangs else 0):
            won -= share * P[component(it.rows.kind[c], i)] * along(it.rows, c, i, 0.0, trees.falls)
    for s in it.scalars:
        if lines.low[s] == 0.0 or lines.target[s] == 0.0:  # as in ``gain``
            won -= share * it.Q[s] * (lines.speed[s] - directed(problem.rows, s, problem.start_v))
    for slot in it.slots:
        won += kicked[slot] * (trees.speeds[slot] - share * trees.falls[slot] + 0.5 * kicked[slot])
    return won


@compiled
def _left(
    problem: ImpulseProblem, it: Island, trees: JointedTrees, same: Integers, powers: Floats
) -> tuple[float, float]:  # fmt: skip
    """Energy that an island may win, J: what its contacts lost before, if one body moves in it, or rocks alone, of what
    does not glide no more than a share of what it has; and how much more is not looked at: another one of what its
    bodies have, and gravity gives them in a step, or what is at rest but for rounding would never be.

    By semi-implicit Euler, where velocities lie behind positions, energies of a step are not those of its ends: what
    glides is left to its debts there.
    """
    moves, lost, others, bodies, lone, h = 0.0, 0.0, 0.0, 0, problem.lone, problem.options.h
    fall = h * h * dot(row(lone.gravity), row(lone.gravity))
    if problem.options.position_share != HALF:
        for c in it.contacts:
            if problem.contacts.gliding[c] != 0:
                return np.inf, 0.0
    seen = np.zeros(len(lone.masses), dtype=np.bool_)
    for c in it.contacts:
        if same[c] >= 0 and problem.contacts.gliding[c] != 0:
            lost -= problem.earlier.debts[same[c]]
        elif same[c] >= 0:
            others -= problem.earlier.debts[same[c]]
        for side in range(2):
            k = lone_of(problem, c, side)
            if k >= 0 and not seen[k]:
                seen[k] = True
                bodies += 1
                w, v, m = row(lone.flown[k]), row(lone.flown[k, 3:6]), lone.masses[k]
                moves += 0.5 * (m * (dot(v, v) + fall) + dot(w, spin_of(lone.inertias[k], w)))
    for slot in it.slots:
        if slot < problem.layout.nv and not trees.hangs[problem.layout.group[slot]]:
            moves += 0.5 * trees.speeds[slot] * trees.speeds[slot]
    lost = max(lost, 0.0) + min(max(others, 0.0), REPAID * moves)
    alone = bodies == 1 or (bodies > 0 and _rocks_alone(problem, it, powers))
    return lost if alone else 0.0, OVERDONE * moves


@compiled
def _rocks_alone(problem: ImpulseProblem, it: Island, powers: Floats) -> bool:
    """Whether all that turns in an island, but for a little, touches one other body and nothing else, which it presses
    on by its weight, and not as what is struck or squeezed does, or both as they fly."""
    partners, most, borne = np.full(len(problem.lone.masses), UNMET), 0.0, 0.0
    for c in it.contacts:
        a, b, most = lone_of(problem, c, 0), lone_of(problem, c, 1), max(most, abs(powers[c]))
        borne += it.P[c, 0] if a < 0 or b < 0 else 0.0
        if a >= 0:
            partners[a] = b if partners[a] == UNMET or partners[a] == b else SEVERAL
        if b >= 0:
            partners[b] = a if partners[b] == UNMET or partners[b] == a else SEVERAL
    for k in range(len(partners)):
        borne -= HALF * _falls(problem, k) if partners[k] != UNMET else 0.0
    if borne < 0.0:
        return False
    for c in it.contacts:
        if abs(powers[c]) > LITTLE * most and not (
            _bears(problem, it, c, 0, partners) or _bears(problem, it, c, 1, partners)
        ):
            return False
    return True


@compiled
def _bears(problem: ImpulseProblem, it: Island, c: int, side: int, partners: Integers) -> bool:
    """Whether a contact bears the weight of a side that touches nothing else."""
    k = lone_of(problem, c, side)
    if k < 0 or partners[k] == SEVERAL:
        return False
    return it.P[c, 0] <= WEIGHTS * _falls(problem, k)


@compiled
def _falls(problem: ImpulseProblem, k: int) -> float:
    """The momentum that a lone body falls with after the flight, N s."""
    fall = fallen(problem, k)
    return problem.lone.masses[k] * np.sqrt(dot(fall, fall))


@compiled
def _give(
    problem: ImpulseProblem, it: Island, share: float, kicked: Floats, pushes: Floats, whitened: Floats,
    kicks: Impulses, given: Floats, shares: Floats,
) -> None:  # fmt: skip
    """Add a share of an island's corrections to ``pushes`` and ``whitened``: kicked, kicks and given are all of them.

    A share of -1 takes all back.
    """
    now = 1.0 + share if share < 0.0 else share
    for slot in it.slots:
        pushes[slot] += share * kicked[slot]
        whitened[slot] = share * kicked[slot]
    for c in it.contacts:
        shares[c] = now * given[c]
        for side in range(2):
            k = tree_of(problem, c, side)
            base = k if lone_of(problem, c, side) >= 0 or not floats(problem, k) else problem.lone.home[k]
            for i in range(6 if k >= 0 else 0):
                problem.lone.kicks[base, i] = now * kicks[base, i]


@compiled
def _share(it: Island, y: Floats, kicked: Floats, least: float, most: float, left: float) -> float:
    """The share of the way on which an island wins no more than ``left``, from where it wins ``least`` to where, with
    corrections and whitened velocities y, it wins ``most``, which is more."""
    square = 0.0
    for slot in it.slots:
        way = y[slot] + kicked[slot] - it.y[slot]
        square += 0.5 * way * way
    if least >= left or square <= 0.0:
        return 0.0
    return min(share_of(least, most, square, left), 1.0)


@compiled
def _go_back(it: Island, share: float, P: Impulses, Q: Floats) -> None:
    """Move an island's impulses a share of the way to P and Q."""
    for c in it.contacts:
        for i in range(6):
            it.P[c, i] += share * (P[c, i] - it.P[c, i])
    for s in it.scalars:
        it.Q[s] += share * (Q[s] - it.Q[s])
    accumulate(it)
