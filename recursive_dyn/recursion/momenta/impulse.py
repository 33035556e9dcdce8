"""What impulses on a tree need: the factors of M = L^T D L in world axes, and the momentum of what floats freely.

With every joint column s and every w = Z / omega of ``articulated`` written in world axes about one point of its tree,
an impulse F travels inward with no change of frame: c_k = s_k . F, F <- F - w_k c_k. Velocities travel outward the same
way, so that the response of a tree to an impulse costs O(depth) inward and O(n) outward (Kokkevis & Metaxas' impulses
through M^-1, on the factors of Si & Guenter's eq. 28-35).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recursive_dyn.graph.expression import Scalar, array, is_constant, reciprocal
from recursive_dyn.model.elimination_order import Crossing, Elimination
from recursive_dyn.model.forest import kinds_of, numbers_of, once_alike
from recursive_dyn.model.forest_numbers import LINKS
from recursive_dyn.model.model import WORLD, Model, once
from recursive_dyn.recursion.equations.articulated import ArticulatedInertias, Column, Pivot
from recursive_dyn.recursion.kinematics import Tree, zeros
from recursive_dyn.recursion.momenta.energy import link_momenta
from recursive_dyn.spatial.algebra import cross, dot
from recursive_dyn.spatial.spaces import RigidMotion

FLOATING = 16  # numbers a floating tree: mass, centre (3), momentum (3), spin about the centre (3), inertia (6)


@once
def roots(model: Model) -> list[int]:
    """The link next to the world that each link hangs on."""
    found: list[int] = []
    for i, link in enumerate(model.links):
        found.append(i if link.parent == WORLD else found[link.parent])
    return found


def factors(tree: Tree, diagonal: Sequence[Scalar]) -> list[Scalar]:
    """Factors of M + ``diagonal`` (nv,), world axes, about each tree's first link's origin.

    Per event of the model's ``elimination`` order: a column's twist s (6,); a pivot's wrench w (6,), 1 / D and ratios
    to its ports. Then the point of every link's tree (3,).
    """
    inertias = ArticulatedInertias(tree, diagonal)
    flat: list[Scalar] = []
    root = roots(tree.model)
    for i, events in enumerate(inertias.events):
        R, arm = tree.rotations[i], tree.positions[i] - tree.positions[root[i]]
        for event in events:
            if isinstance(event, Column):
                omega = R @ event.s[:3]
                flat += [*omega, *(R @ event.s[3:] + cross(arm, omega))]
            else:
                force = R @ event.w[3:]
                flat += [*(R @ event.w[:3] + cross(arm, force)), *force, *_solved(event)]
    for pivot in inertias.root:
        flat += [*zeros(6), *_solved(pivot)]
    for i in range(len(tree.links)):
        flat += list(tree.positions[root[i]])
    return flat


def _solved(pivot: Pivot) -> list[Scalar]:
    return [pivot.inverse, *pivot.ports.values()]


@once_alike
def factors_size(model: Model) -> int:
    """How many numbers ``factors`` puts out."""
    if model.parts:
        return sum(len(kind) * factors_size(kind.model) for kind in kinds_of(model))
    return sum(event_size(e) for link in model.elimination.events for e in link) + 3 * len(model.links)


def event_size(event: Crossing | Elimination) -> int:
    """How many of them belong to one event."""
    return 6 if isinstance(event, Crossing) else 7 + len(event.ports)


@once
def event_sizes(model: Model) -> list[int]:
    """How many of them belong to each link, and to the world, which comes last."""
    return [sum(map(event_size, events)) for events in model.elimination.events]


@once_alike
def floating(model: Model) -> np.ndarray:
    """The first links (k,) of the trees that nothing ties to the world: a plain free joint, and no constraint anywhere.
    They rise."""
    if model.constraints:
        return np.zeros(0, dtype=np.int64)
    numbers = numbers_of(model)
    if numbers is not None:
        own = [floating(kind.model) for kind in kinds_of(model)]
        if max(map(len, own)) < 2:  # one link of a tree at most
            at = np.array([first[0] if len(first) else WORLD for first in own])[numbers.kinds]
            return (numbers.firsts[LINKS, :-1] + at)[at != WORLD]
    if model.parts:
        firsts = np.concatenate([kind.links[:, floating(kind.model)].reshape(-1) for kind in kinds_of(model)])
        firsts.sort()
        return firsts
    found = [
        i
        for i, link in enumerate(model.links)
        if link.parent == WORLD
        and [f.space for f in link.joint.factors] == [RigidMotion()]
        and link.drive is None
        and not any(_resisted(model, slot) for slot in link.slots)
        and all(model.elimination.meeting[slot] == i for slot in link.slots)
    ]
    return np.array(found, dtype=np.int64)


def _resisted(model: Model, slot: int) -> bool:
    c = model.coordinates[slot]
    return bool(c.damping or c.stiffness or c.torsion or c.armature)


def floating_momenta(tree: Tree) -> list[Scalar]:
    """FLOATING numbers of every floating tree, world axes."""
    root = roots(tree.model)
    momenta = link_momenta(tree)
    flat: list[Scalar] = []
    for first in floating(tree.model):
        own = [i for i in range(len(tree.links)) if root[i] == first]
        flat += _whole(tree, own, momenta)
    return flat


def _whole(tree: Tree, links: Sequence[int], momenta: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> list[Scalar]:
    mass: Scalar = 0.0
    moment, linear = zeros(3), zeros(3)
    for i in links:
        p, _, center = momenta[i]
        mass = mass + tree.links[i].mass
        moment, linear = moment + tree.links[i].mass * center, linear + p
    nothing = is_constant(mass) and mass == 0.0  # of free bodies between joints: any point serves
    middle = momenta[links[0]][2] if nothing else moment * reciprocal(mass)
    spin, inertia = zeros(3), array(np.zeros((3, 3)))
    for i in links:
        p, own, center = momenta[i]
        arm, R, k = center - middle, tree.rotations[i], tree.links[i]
        spin = spin + own + cross(arm, p)
        inertia = inertia + R @ k.inertia @ R.T
        inertia = inertia + k.mass * (array(np.eye(3)) * dot(arm, arm) - np.outer(arm, arm))
    upper = [inertia[i, j] for i in range(3) for j in range(i, 3)]
    return [mass, *middle, *linear, *spin, *upper]
