"""Springs of ball and free joints: energy k |phi|^2 / 2 of the rotation vector phi that leads on from where they rest.

With the rotation R = R_rest exp(phi), phi' = Jr^-1(phi) omega, so that the moment is -Jr^-T(phi) K phi in child axes
(Bullo & Murray 1995; the Jacobian as in spatial.log_rates). A free joint's position has springs along the axes of its
place. phi is at most pi long: at half a turn from rest the shorter way changes sides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from recursive_dyn.graph.expression import Scalar, array
from recursive_dyn.model.independent import IndependentPart
from recursive_dyn.recursion.kinematics import Tree
from recursive_dyn.spatial.algebra import cross, dot
from recursive_dyn.spatial.rotations import (
    log_coefficient,
    quaternion_exp,
    quaternion_log,
    quaternion_product,
    quaternion_to_matrix,
)


@dataclass(frozen=True, eq=False)
class Torsion:
    """A spring at q: rotation vector and displacement (3,) from rest, each by their stiffness (3,); ``slots`` in v."""

    slots: tuple[int, ...]
    turned: np.ndarray
    torsion: np.ndarray
    moved: np.ndarray
    stiffness: np.ndarray
    rotation: np.ndarray

    @property
    def energy(self) -> Scalar:
        """Elastic energy."""
        return (dot(self.turned, self.torsion * self.turned) + dot(self.moved, self.stiffness * self.moved)) * 0.5

    @property
    def force(self) -> list[Scalar]:
        """Generalized forces, one a slot."""
        e, pull = self.turned, self.torsion * self.turned
        c = log_coefficient(dot(e, e))
        moment = -(pull - cross(e, pull) * 0.5 + cross(e, cross(e, pull)) * c)
        if len(self.slots) == 3:
            return list(moment)
        return [*moment, *-(self.rotation.T @ (self.stiffness * self.moved))]


def torsions(tree: Tree) -> Iterator[Torsion]:
    """The springs of a model's ball and free joints."""
    model = tree.model
    for link in model.links:
        for f in link.joint.factors if link.drive is None else ():
            slots = link.slots[f.first_v : f.first_v + f.nv]
            own = [model.coordinates[s] for s in slots]
            if not any(c.torsion for c in own):
                continue
            q = array([tree.q[place] for place in link.places[f.first_q : f.first_q + f.nq]])
            k, rest = (array([getattr(c, name) for c in own]) for name in ("torsion", "rest"))
            back = quaternion_exp(-rest[:3].astype(float))
            free = len(slots) == 6
            yield Torsion(
                slots, quaternion_log(quaternion_product(back, q[-4:])), k[:3],
                q[:3] - rest[3:] if free else array(np.zeros(3)), k[3:] if free else array(np.zeros(3)),
                quaternion_to_matrix(q[-4:]),
            )  # fmt: skip


def torsion_forces(tree: Tree) -> list[Scalar]:
    """tau (nv,) of them."""
    result: list[Scalar] = [0.0] * tree.model.nv
    for spring in torsions(tree):
        for slot, force in zip(spring.slots, spring.force, strict=True):
            result[slot] = force
    return result


def torsion_energy(tree: Tree, part: IndependentPart) -> Scalar:
    """Sum of the energies of those of a part."""
    total: Scalar = 0.0
    if not any(tree.model.coordinates[s].torsion for s in part.slots):
        return total
    for spring in torsions(tree):
        if spring.slots[0] in part.slots:
            total = total + spring.energy
    return total
