"""What constraints hold together bounces without winning or losing energy by where that moves it.

Impulses act where a flight ends, positions are moved on by the time for which they acted, and brought onto the
constraints: what velocities have across these there is lost, forces do other work on the way than a solve lent for it,
and bodies that turn take momentum along axes that turn with them. So what floats gets the momenta that its contacts
give it; then all that bounces together does so longer or shorter by one share, with what constraints answer to that,
which none of them feels (``bounced_trees`` does so where nothing is constrained). Where a slight touch of what whirls
cannot make up for its spin, that keeps its momentum alone.

Joints between free bodies are such constraints. There velocities lie by half a step behind positions: energies are
those of velocities that forces made as much faster, and across the joints they have what opens these until then.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.problem import DRIVEN, MEETS, ONLY_BOUNCES, Changes
from recursive_dyn.contact.rows.lasting import BOUNCED, PUT
from recursive_dyn.contact.spinning import is_too_much, share_of
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.integrators.integrator import StatePair
from recursive_dyn.maximal.acting.joint_action import JointAction
from recursive_dyn.maximal.holding import PENALTY
from recursive_dyn.simulation.stepping.held_parts import Afloat, HeldParts, JointedParts
from recursive_dyn.simulation.stepping.rigid_parts import RigidParts

_Array = np.ndarray


class Flown(NamedTuple):
    """Where a flight ended, before impulses: q (nq,), v (nv,); ahead, s: by how much positions are ahead of velocities;
    poses (nb, 4, 4) of bodies there; tau (nv,): forces that are given."""

    q: _Array
    v: _Array
    ahead: float
    poses: _Array
    tau: _Array


class _Cluster(NamedTuple):
    """What touches each other: its slots, all its contacts, those of them by which it bounces, and what a solve lent to
    these that it is to have back, J."""

    slots: list[int]
    contacts: list[int]
    bounced: list[int]
    lent: float


class BouncedParts:
    """Of what is held together."""

    def __init__(self, parts: HeldParts) -> None:
        self._parts = parts

    def kept(
        self, contacts: ContactTable, changed: Changes, flown: Flown, landed: StatePair, felt: _Array | None
    ) -> _Array:
        """Velocities (nv,) of the state that a step ``landed`` in, after impulses changed what had ``flown`` so, with
        which what bounced has the energy that the solve left it. Impulses of contacts become those that make them, and
        with them ``felt`` (nb, 6), in a part of a step, what bodies felt in it so far."""
        it, does, (q, v) = self._parts, int(changed.strikes[1]) % DRIVEN, landed
        clusters = self._clusters(contacts)
        if not clusters or does == MEETS or (does != ONLY_BOUNCES and isinstance(it, JointedParts)):
            return v
        left = self._left(changed, flown, q)
        touched = {int(side[c]) for own in clusters for c in own.contacts for side in (contacts.a, contacts.b)}
        afloat = it.afloat(flown.q, q, touched)
        after, struck = it.met(q, v, flown.ahead), it.struck(flown.q, q, changed.struck)
        every = [c for own in clusters for c in own.contacts]
        hits = [c for own in clusters for c in own.bounced]
        for spins in (True, False):
            v = _pushed(afloat, contacts, every, flown.v, after, spins)
            by = _pushed(afloat, contacts, hits, 0.0 * v, struck, spins)
            shares = [self._share(left, flown, q, v, by, own) for own in clusters]
            if not any(too_much for _, too_much in shares):
                break
        for own, (share, _) in zip(clusters, shares, strict=True):
            v[own.slots] += share * by[own.slots]
            if felt is not None:
                _feel(contacts, own.bounced, share, flown.poses, felt)
            contacts.impulses[own.bounced] *= 1.0 + share
            contacts.moments[own.bounced] *= 1.0 + share
        return v

    def _left(self, changed: Changes, flown: Flown, q: _Array) -> _Array:
        """J (nv,) that the solve left to motion in slots, with what forces do from where that flew to q (nq,), and
        without, where something presses as well, what it took them to do."""
        it, left, alone = self._parts, flown.v + changed.v, changed.strikes[1] % DRIVEN == ONLY_BOUNCES
        way, began = it.dynamics.difference(flown.q, q), it.forces(flown.q) + flown.tau
        middle, ends = it.forces(it.dynamics.integrate(flown.q, way, 0.5)) + flown.tau, it.forces(q) + flown.tau
        work = (began + 4.0 * middle + ends) * way / 6.0
        behind = flown.ahead * flown.v if alone else flown.ahead * left - changed.q
        return 0.5 * left * it.momenta(flown.q, [left])[0] + work + began * behind

    def _share(self, left: _Array, flown: Flown, q: _Array, v: _Array, by: _Array, own: _Cluster) -> tuple[float, bool]:
        """The share by which a cluster of velocities v (nv,), which its bounces change by ``by`` (nv,), is to bounce
        longer to have the energy that is left (nv,), and whether that cannot be."""
        (Mv, Mb), s = self._parts.momenta(q, [v, by]), own.slots
        ahead_of = flown.ahead * (self._parts.forces(q) + flown.tau)
        won = float((0.5 * v * Mv + ahead_of * v - left)[s].sum()) + own.lent
        power, square = float(by[s] @ (Mv + ahead_of)[s]), 0.5 * float(by[s] @ Mb[s])
        if power <= 0.0:
            return 0.0, False
        return share_of(won, power, square), is_too_much(won, power, square)

    def _clusters(self, contacts: ContactTable) -> list[_Cluster]:
        """What bounces apart from each other, and no motion leads; no contact is marked any more as one that
        bounced."""
        it, n = self._parts, int(contacts.size[0])
        bounced = contacts.levels[:n] % PUT == BOUNCED
        lent = np.where(bounced, contacts.debts[:n], 0.0)
        contacts.levels[:n][bounced] -= BOUNCED  # nothing is known of them, but whether they were put so
        contacts.debts[:n][bounced] = 0.0
        touching = [(it.part(a), it.part(b)) for a, b in zip(contacts.a[:n], contacts.b[:n], strict=True)]
        leader = list(range(len(it.slots)))
        for a, b in touching:
            if a >= 0 and b >= 0 and leader[a] != leader[b]:
                old, new = leader[a], leader[b]
                leader = [new if k == old else k for k in leader]
        found = dict[int, tuple[list[int], list[int]]]()
        for c, pair in enumerate(touching):
            if max(pair) >= 0:
                own, hits = found.setdefault(leader[max(pair)], ([], []))
                own.append(c)
                hits += [c] if bounced[c] else []
        clusters = list[_Cluster]()
        for first, (own, hits) in found.items():
            slots = [s for k, on in enumerate(leader) if on == first for s in it.slots[k]]
            if hits and it.dynamics.model.prescribed.isdisjoint(slots):
                clusters.append(_Cluster(slots, own, hits, float(lent[hits].sum())))
        return clusters


def bounced_parts(dynamics: Dynamics, joints: JointAction | None, floating: RigidParts) -> BouncedParts | None:
    """Of dynamics with constraints, or between whose free bodies these joints hold by nothing else; None of others."""
    if joints is None:
        return BouncedParts(HeldParts(dynamics, floating)) if dynamics.model.constraints else None
    d = joints.dynamics
    hard = d.method != PENALTY and not len(d.light.links) and not d.rotors.any()
    return BouncedParts(JointedParts(joints)) if hard else None


def _pushed(
    afloat: list[Afloat], contacts: ContactTable, these: list[int], before: _Array, v: _Array, spins: bool
) -> _Array:
    """Velocities v (nv,) changed so that what floats has the momenta that it had at ``before`` (nv,), where a flight
    ended, and what these contacts give it; spins: or but for its spin."""
    v = v.copy()
    for it in afloat:
        own = it.part.slots
        missing = it.was.momenta(before[own]) + it.pushed(contacts, these) - it.now.momenta(v[own])
        v[own] += it.now.gliding(missing[3:])
        if spins:
            v[own] += it.now.turning(missing[:3])
    return v


def _feel(contacts: ContactTable, these: list[int], share: float, poses: _Array, felt: _Array) -> None:
    """Add this share of what contacts do to bodies, about their origins at these poses."""
    for c in these:
        push, moment = share * contacts.impulses[c], share * contacts.moments[c]
        for side, body in enumerate((contacts.a[c], contacts.b[c])):
            if 0 <= body < len(felt):
                arm, sign = contacts.points[c, side] - poses[body, :3, 3], 1.0 - 2.0 * side
                felt[body, :3] += sign * (np.cross(arm, push) + moment)
                felt[body, 3:] += sign * push
