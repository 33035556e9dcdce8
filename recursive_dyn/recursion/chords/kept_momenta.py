"""Momenta of whole trees that a step along chords would miss by what was not solved for, given back to all of a tree.

A step to q' whose momenta p_d miss p by r is an exact one from p + r. Where the world neither turns a tree nor pulls it
r is momentum of the tree as a whole, which symmetries keep; it is taken off as a rigid motion, with all other joints as
they are, so that no light link has to bear it.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.graph.expression import array, is_constant
from recursive_dyn.model.model import WORLD
from recursive_dyn.recursion.chords.chord_momenta import Chords
from recursive_dyn.recursion.equations.lagrangian import solve
from recursive_dyn.recursion.equations.mass_matrix import composites
from recursive_dyn.recursion.kinematics import Tree
from recursive_dyn.spatial.algebra import cross, dot
from recursive_dyn.spatial.spaces import RigidMotion, Rotation


def rigid_motions(chords: Chords, end: Tree, missed: np.ndarray) -> np.ndarray:
    """Velocities (nv,) where a step ends of what its momenta at the start miss (nv,), of joints next to the world."""
    kept, result = _kept(chords), array(np.zeros(end.model.nv))
    composite = composites(end) if kept else []
    for i, slots in kept.items():
        k, (here, there) = end.links[i], (chords.here[i].columns, chords.there[i].columns)
        turning = [s for s in slots if not _still(here[s][0])]
        sliding = [s for s in slots if s not in turning]
        force = sum((here[s][1] * missed[s] for s in sliding), array(np.zeros(3)))
        moments = [here[s][0] * (missed[s] - dot(here[s][1], force)) for s in turning]
        moment = sum(moments, -cross(chords.ways[i], force))
        momenta = [dot(there[s][0], moment) + dot(there[s][1], force) for s in slots]
        columns = dict(k.columns)
        wrenches = [composite[i].momentum(columns[s]) for s in slots]
        M = array([[dot(columns[s], wrench) for wrench in wrenches] for s in slots])
        for n, s in enumerate(slots):
            M[n, n] = M[n, n] + end.model.coordinates[s].armature
        result[slots] = solve(M, momenta)
    return result


def _kept(chords: Chords) -> dict[int, list[int]]:
    """Slots, by link, of joints next to the world along which a tree's momentum may be kept: of balls and free joints,
    and of hinges and slides that gravity neither turns nor pulls."""
    model, gravity = chords.tree.model, chords.tree.gravity
    shared = {s for s in range(model.nv) if sum(s in link.slots for link in model.links) > 1}
    spaces: dict[int, list[int]] = {}
    for i, factor, _, first in model.owners:
        if factor.space in (Rotation(), RigidMotion()):
            spaces.setdefault(i, []).extend(range(first, first + factor.nv))
    found: dict[int, list[int]] = {}
    for i, link in enumerate(model.links):
        slots = list(link.slots)
        if link.parent != WORLD or not slots or shared.union(model.prescribed) & set(slots):
            continue
        if spaces.get(i) == slots or (len(slots) == 1 and _even(*chords.here[i].columns[slots[0]], gravity)):
            found[i] = slots
    return found


def _even(omega: np.ndarray, v: np.ndarray, gravity: np.ndarray) -> bool:
    """Whether a column is an axis of the world about or along which gravity does nothing."""
    if not all(map(is_constant, (*omega, *v, *gravity))):
        return False
    return not any(cross(omega, gravity)) and not dot(v, gravity) and (_still(omega) or _still(v))


def _still(x: np.ndarray) -> bool:
    return all(is_constant(e) and e == 0.0 for e in x)
