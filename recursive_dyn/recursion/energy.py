"""Energies, momentum and centre of mass, and the exchange of generalized and Cartesian forces."""

from __future__ import annotations

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Scalar, array, evaluate, reachable, reciprocal
from recursive_dyn.joint.joint_program import JointProgram
from recursive_dyn.model.model import WORLD, BodyFrame
from recursive_dyn.recursion.inverse_dynamics import project
from recursive_dyn.recursion.kinematics import LinkKinematics, Tree, zeros
from recursive_dyn.recursion.lagrangian import solve
from recursive_dyn.spatial.algebra import cross, dot

_LENGTH = 1.0  # metres: how a force is weighed against a moment where a pure couple cannot do

_SINGULAR = 1e-14  # squared sine between columns of S at which rounding hides whether they differ


def link_momenta(tree: Tree) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(linear momentum, angular momentum about the centre of mass, centre of mass), all in world axes, per link."""
    result = []
    for i, k in enumerate(tree.links):
        twist, R = tree.twists[i], tree.rotations[i]
        omega = twist[:3]
        linear = k.mass * (twist[3:] + cross(omega, k.center))
        result.append((R @ linear, R @ (k.inertia @ omega), tree.positions[i] + R @ k.center))
    return result


def kinetic_energy(tree: Tree) -> Scalar:
    """Sum over links of m v.v / 2 + omega.I omega / 2, and of the rotors' armature v^2 / 2."""
    total: Scalar = 0.0
    for i, k in enumerate(tree.links):
        omega = tree.twists[i][:3]
        velocity = tree.twists[i][3:] + cross(omega, k.center)
        total = total + k.mass * dot(velocity, velocity) + dot(omega, k.inertia @ omega)
    for slot, coordinate in enumerate(tree.model.coordinates):
        total = total + coordinate.armature * (tree.v[slot] * tree.v[slot])
    return total * 0.5


def potential_energy(tree: Tree) -> Scalar:
    """Gravity's potential, zero with every centre of mass at the world origin."""
    total: Scalar = 0.0
    gravity = array(tree.model.gravity)
    for i, k in enumerate(tree.links):
        total = total - k.mass * dot(gravity, tree.positions[i] + tree.rotations[i] @ k.center)
    return total


def elastic_energy(tree: Tree) -> Scalar:
    """Energy of the joints' springs, stiffness (q - rest)^2 / 2."""
    total: Scalar = 0.0
    for q, coordinate in zip(plain_positions(tree), tree.model.coordinates, strict=True):
        if coordinate.stiffness:
            stretch = q - coordinate.rest
            total = total + coordinate.stiffness * stretch * stretch
    return total * 0.5


def plain_positions(tree: Tree) -> list[Scalar]:
    """The position that belongs to each velocity slot; 0 for slots of a manifold factor, which carry no spring."""
    result: list[Scalar] = [0.0] * tree.model.nv
    for place, slot in tree.model.plain_slots:
        result[slot] = tree.q[place]
    return result


def momentum(tree: Tree) -> list[Scalar]:
    """[angular about the world origin; linear] (6,), world axes."""
    angular, linear = zeros(3), zeros(3)
    for p, spin, center in link_momenta(tree):
        linear = linear + p
        angular = angular + spin + cross(center, p)
    return [*angular, *linear]


def mass_moment(tree: Tree) -> list[Scalar]:
    """[sum of m c (3,), sum of m] of everything that moves, c its centres of mass in the world."""
    if not tree.links:
        raise ModelError("nothing in this scene moves, so that it has no centre of mass of what moves; attach a joint")
    total, moment = 0.0, zeros(3)
    for i, k in enumerate(tree.links):
        total = total + k.mass
        moment = moment + k.mass * (tree.positions[i] + tree.rotations[i] @ k.center)
    return [*moment, total]


def center_of_mass(moment: list[Scalar]) -> list[Scalar]:
    """World position (3,) of the centre of mass, from ``mass_moment``."""
    return list(array(moment[:3]) * reciprocal(moment[3]))


def forces_from_wrenches(tree: Tree, wrenches: np.ndarray, at_center: bool) -> list[Scalar]:
    """tau = sum of J^T wrench (nb, 6), world axes, at each body's centre of mass or origin."""
    local = [(zeros(3), zeros(3)) for _ in tree.links]
    for wrench, body in zip(wrenches, tree.model.bodies, strict=True):
        if body.link == WORLD:
            continue
        pose, RT = tree.scalars(body.pose), tree.rotations[body.link].T
        point = pose[:3, 3] + (pose[:3, :3] @ tree.scalars(body.center) if at_center else zeros(3))
        moment, force = RT @ wrench[:3], RT @ wrench[3:]
        total = local[body.link]
        local[body.link] = (total[0] + moment + cross(point, force), total[1] + force)
    return project(tree, local)


def wrenches_from_forces(tree: Tree, tau: np.ndarray) -> np.ndarray:
    """Wrenches (nb, 6), world axes at each body's centre of mass, with exactly the generalized forces tau.

    Liu & Jain section 6.2 for a general joint: a wrench F with S^T F = tau on the child and -F on the parent at the
    same world point. F is the pure couple of least norm where S's angular rows have full column rank, else the wrench
    of least norm with moments weighed by a length of 1 m.
    """
    model = tree.model
    result = np.zeros((len(model.bodies), 6), dtype=object)
    result[:] = 0.0
    reached: set[int] = set()
    for index, body in enumerate(model.bodies):
        if not body.jointed:
            continue
        k = tree.links[body.link]
        if reached.issuperset(k.link.slots):
            continue  # what acts on a shared coordinate acts through the first joint that it moves
        own = [0.0 if slot in reached else tau[slot] for slot in k.link.slots]
        reached.update(k.link.slots)
        moment, force = _joint_wrench(k, array(own))
        R, origin = tree.rotations[body.link], tree.positions[body.link]
        moment, force = R @ moment, R @ force
        _add(result[index], moment, force, origin - tree.body_center(body))
        if body.parent != WORLD:
            parent: BodyFrame = model.bodies[body.parent]
            _add(result[body.parent], -moment, -force, origin - tree.body_center(parent))
    return result


def _add(wrench: np.ndarray, moment: np.ndarray, force: np.ndarray, arm: np.ndarray) -> None:
    wrench[:3] = wrench[:3] + moment + cross(arm, force)
    wrench[3:] = wrench[3:] + force


def _joint_wrench(k: LinkKinematics, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    S = k.S
    if turns_freely(k.link.joint) and len(k.link.slots) <= k.link.joint.nv:
        angular = S[:3]
        return angular @ array(solve(angular.T @ angular, list(tau), _SINGULAR)), zeros(3)
    weight = array([_LENGTH**2] * 3 + [1.0] * 3)
    weighted = S * weight[:, None]
    wrench = weighted @ array(solve(S.T @ weighted, list(tau), _SINGULAR))
    return wrench[:3], wrench[3:]


def turns_freely(joint: JointProgram) -> bool:
    """True when S's angular rows have full column rank at a generic configuration: a couple can do any tau."""
    if joint.nv > 3:
        return False
    angular = joint.kinematics().subspace[:3]
    names = {n.args[0] for n in reachable(angular.flat) if n.op == "input"}
    rng = np.random.default_rng(11)
    values = np.array(evaluate(list(angular.flat), {n: float(rng.uniform(0.3, 1.1)) for n in names}), dtype=float)
    if not np.all(np.isfinite(values)):
        return False
    return bool(np.linalg.matrix_rank(values.reshape(3, -1), tol=1e-6) == joint.nv)
