"""What a solve that ended early may lift by pushing overlaps apart: no more than its impulses took.

Impulses that are not yet those of the laws leave bodies that approach. These sink on, and what pushes them out again
lifts them while they keep the speed at which they sank: energy from nothing, in every step, until a wall falls. What
stops them later takes as much as they fell by, which lifts them then; what that does not pay for stays sunken until a
solve does not end early. What was built in each other comes apart nevertheless: it has never sunk.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Flags, Floats, Integers, compiled
from recursive_dyn.contact.blocks import ContactRows, Island
from recursive_dyn.contact.islands.impacts import Bounced
from recursive_dyn.contact.islands.islands import Partition, member
from recursive_dyn.contact.islands.passivity import gain, tame
from recursive_dyn.contact.problem import JUMPED, ImpulseProblem
from recursive_dyn.contact.rows.lasting import PUT, at_center, dot, fallen, length, lone_of
from recursive_dyn.contact.rows.responses import expand, whitened
from recursive_dyn.contact.rows.sustaining import HALF
from recursive_dyn.contact.spinning import is_alone, won_by_turning
from recursive_dyn.contact.tuning import PUT_DEEP

Twists = Annotated[np.ndarray, float, 6]


@compiled
def straightened(
    whole: Island, these: Partition, early: Flags, bends: Annotated[np.ndarray, float, 3], bounced: Bounced
) -> None:
    """Shrink impulses of islands that ended ``early`` where they bring energy in by what they found rows slower by:
    bends (n, 3), or none; bounced (n, 2): what of them bounced."""
    if len(bends) == 0:
        return
    none = np.zeros((len(bends), 3))
    for k in range(these.total[0]):
        if early[k]:
            it = member(whole, these, k)
            for c in it.contacts:
                for i in range(3):
                    it.rows.speed[c, i] += bends[c, i]
            share = tame(it, none)
            for c in it.contacts:
                bounced[c, 0] *= share
                bounced[c, 1] *= share


@compiled
def left_to_lift(
    problem: ImpulseProblem, whole: Island, these: Partition, early: Flags, root: Floats, pushes: Floats, put: Flags
) -> Floats:
    """What moving positions may lift each island by, J (islands,): what impulses and corrections of one that ended
    ``early`` took; inf where that is not bounded, as where something was put into another, or forces are not known.

    pushes: whitened velocities that corrections made; put (n,): contacts whose overlap was built so."""
    left, none, u = np.full(these.total[0], np.inf), np.zeros((0, 3)), np.zeros(0)
    for k in range(these.total[0]):
        it = member(whole, these, k)
        some = False
        for c in it.contacts:
            some = some or put[c]
        if early[k] and not some and _is_known(problem, it):
            if len(u) == 0:
                none, u = np.zeros((len(whole.targets), 3)), np.zeros(len(root))
                whitened(problem.layout, problem.factors, root, problem.v, u)
            left[k] = -gain(it, none)[0]
            for slot in it.slots:
                left[k] -= pushes[slot] * (u[slot] + 0.5 * pushes[slot])
    return left


@compiled
def _is_known(problem: ImpulseProblem, it: Island) -> bool:
    """Whether it is known what lifting an island takes, and no motor does: that of the model's own bodies, where forces
    on all of them are, else of those that float alone."""
    if len(problem.forces) == 0:
        return len(it.scalars) == 0 and is_alone(problem, it)
    others = 0
    for slot in it.slots:
        others += slot >= problem.layout.nv or problem.pushes[slot] != 0.0
    for s in it.scalars:
        others += it.lines.low[s] != 0.0 and it.lines.target[s] != 0.0
    return others == 0


@compiled
def put_in(problem: ImpulseProblem, rows: ContactRows, found: Integers, began: Floats) -> Flags:
    """Which contacts (n,) are of what was built, or put, in each other.

    Such is what touched nothing in the last step, and overlaps by more than it moves, and than others may have been
    pushed; and what is still being pushed apart since then. found (n,): earlier contacts that these match; began (n or
    more,): gaps as the step began, m."""
    options, earlier, contacts, deepest = problem.options, problem.earlier, problem.contacts, 0.0
    put = np.zeros(len(found), dtype=np.bool_)
    for c in range(len(put)):
        deepest = min(deepest, began[c])
    if deepest >= -PUT_DEEP:
        return put
    pushed = options.push_speed * options.h if earlier.size[0] > 0 else 0.0
    touched = np.zeros(len(problem.bodies.links), dtype=np.bool_)
    for c in range(len(put)):
        if found[c] >= 0:
            put[c] = earlier.levels[found[c]] >= PUT and began[c] < -PUT_DEEP
            for body in (contacts.a[c], contacts.b[c]):
                if 0 <= body < len(touched):
                    touched[body] = True
    for c in range(len(put)):
        u = rows.speed[c]
        way = options.h * max(length(u[0], u[1], u[2]), abs(rows.before[c]))
        if found[c] < 0 and began[c] < -PUT_DEEP - pushed - way:
            for body in (contacts.a[c], contacts.b[c]):
                put[c] = put[c] or (0 <= body < len(touched) and not touched[body])
    return put


@compiled
def settled(problem: ImpulseProblem, whole: Island, these: Partition, early: Flags, put: Flags) -> None:
    """What contacts leave to the next step: what islands lost that ended ``early`` is not won again, what acted on
    trees there does not last, and what was ``put`` in each other is marked."""
    contacts, steady = problem.contacts, problem.changes.steady
    for k in range(these.total[0]):
        if early[k]:
            it = member(whole, these, k)
            for c in it.contacts:
                contacts.debts[c] = max(contacts.debts[c], 0.0)
            for slot in it.slots:
                if len(problem.forces) > 0 and slot < len(steady):
                    steady[slot] = JUMPED
    for c in range(len(put)):
        if put[c]:
            contacts.levels[c] += PUT


@compiled
def is_bounded(left: Floats) -> bool:
    """Whether there is an island that may not be lifted by anything."""
    least = np.inf
    for energy in left:
        least = min(least, energy)
    return least < np.inf


@compiled
def _lifted_by(
    problem: ImpulseProblem, it: Island, f: Floats, ends: Twists, z: Floats, V: Twists
) -> tuple[float, float]:
    """What whitened ways z, of links V (nl, 6), lift an island by, J, and what they give to lone bodies that move with
    ``ends`` by turning them while their spin stays. f: whitened accelerations, or none: all that lifts is lone bodies
    then."""
    lone, lift, won = problem.lone, 0.0, 0.0
    seen = np.zeros(len(lone.masses), dtype=np.bool_)
    for c in it.contacts:
        for side in range(2):
            k = lone_of(problem, c, side)
            if k >= 0 and not seen[k]:
                seen[k] = True
                won += won_by_turning(problem, k, ends[k], V[lone.links[k]])
                if len(f) == 0:
                    moved, fall = at_center(problem, V, k, (0.0, 0.0, 0.0)), fallen(problem, k)
                    lift -= lone.masses[k] * dot(moved, fall) / problem.options.h
    for slot in it.slots:
        if len(f) > 0:
            lift -= f[slot] * z[slot]
    return lift, won


@compiled
def bounded(
    problem: ImpulseProblem, whole: Island, these: Partition, root: Floats, left: Floats, ends: Twists, z: Floats
) -> None:
    """Shorten whitened ways z of islands, towards those that impulses alone lead on and then nothing, to where they
    lift by what is left. Velocities that lie half a step behind positions leave as much of it more. Pushes are told as
    if all of them had been given way to: contacts that owe less for it win energy with joints.

    ends (k, 6): twists of lone bodies at the step's end."""
    layout, options = problem.layout, problem.options
    if not is_bounded(left):
        return
    led, x, behind = np.empty(len(z)), np.empty(layout.nv), 1.0 - HALF / options.position_share
    f = np.empty(len(problem.forces))
    if len(f) > 0:
        whitened(layout, problem.factors, root, problem.forces, f)
    for k in range(len(z)):
        led[k] = options.position_share * options.h * whole.y[k]
    V, ways = np.empty((len(layout.parent), 6)), np.empty((len(layout.parent), 6))
    expand(layout, problem.factors, root, led, problem.moving.links, V, x)
    expand(layout, problem.factors, root, z, problem.moving.links, ways, x)
    for k in range(these.total[0]):
        if left[k] < np.inf:
            it = member(whole, these, k)
            (lift, won), (more, wins) = (
                _lifted_by(problem, it, f, ends, led, V),
                _lifted_by(problem, it, f, ends, z, ways),
            )
            least, most, may = lift + won, more + wins, left[k] + behind * lift
            if least > max(may, 0.0):
                share = max(may, 0.0) / least
                for slot in it.slots:
                    z[slot] = share * led[slot]
            elif most > max(may, least):
                share = max(may - least, 0.0) / (most - least)
                for slot in it.slots:
                    z[slot] = led[slot] + share * (z[slot] - led[slot])
