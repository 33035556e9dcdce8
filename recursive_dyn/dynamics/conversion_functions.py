"""The compiled functions between coordinates and bodies: forces as wrenches, velocities as twists, and back.

Weights (nb, 2) are those of moment and force, or of angular and linear velocity, at a point of each body.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.graph.expression import Scalar, array
from recursive_dyn.model.model import Model
from recursive_dyn.recursion import tree_rows
from recursive_dyn.recursion.cartesian import body_velocities, cartesian_forces
from recursive_dyn.recursion.cartesian.body_velocities import joint_velocities
from recursive_dyn.recursion.cartesian.cartesian_forces import forces_from_wrenches
from recursive_dyn.recursion.cartesian.joint_wrenches import joint_wrenches
from recursive_dyn.recursion.configuration import integrate
from recursive_dyn.recursion.context import Context, Function, Outputs


def _nv(model: Model) -> tuple[int, ...]:
    return (model.nv,)


def _cartesian_forces(c: Context) -> Outputs:
    joints = cartesian_forces.joints_at_points(c.tree, None, None)
    wrenches, _ = cartesian_forces.pairs(c.tree, c.input("tau"), joints, partial=False)
    return [("W", list(wrenches.flat))]


def _pair_wrenches(c: Context) -> Outputs:
    joints = cartesian_forces.joints_at_points(c.tree, c.input("weights"), c.input("points"))
    wrenches, left = cartesian_forces.pairs(c.tree, c.input("tau"), joints, partial=True)
    return [("W", list(wrenches.flat)), ("left", list(left))]


def _tree_wrenches(c: Context) -> Outputs:
    weights = c.input("weights")
    v = c.accelerations(body_velocities.weighed_tree(c.tree, weights), list(c.input("tau")))
    return [("W", body_velocities.wrenches_of_velocities(c.tree, v, weights))]


def _tree_velocities(c: Context) -> Outputs:
    return [("v", _fitted(c, c.input("velocities"), c.tree.pace))]


def _fitted(c: Context, twists: np.ndarray, given: np.ndarray | None) -> list[Scalar]:
    weights = c.input("weights")
    momenta = body_velocities.momenta(c.tree, twists, weights)
    return c.accelerations(body_velocities.weighed_tree(c.tree, weights, given), momenta)


def _pose_step(c: Context) -> Outputs:
    twists = body_velocities.twists_to(c.tree, c.input("poses").reshape(-1, 4, 4))
    v = _fitted(c, twists, None)
    return [("q", integrate(c.tree, array(v), 1.0)), ("v", v), ("residual", list(twists.flat))]


CONVERSIONS: dict[str, Function] = {
    "generalized_forces": Function(
        "Sum of J^T W of wrenches [moment; force], world axes at each body's centre of mass.",
        ("q", "wrenches"), _nv,
        lambda c: [("tau", forces_from_wrenches(c.tree, c.input("wrenches"), at_center=True))], exported=True,
        rows=tree_rows.slots,
    ),
    "cartesian_forces": Function(
        "Wrenches, world axes at each body's centre of mass, that act as tau.",
        ("q", "tau"), lambda m: (m.nb, 6), _cartesian_forces, exported=True, rows=tree_rows.jointed_bodies,
    ),
    "pair_wrenches": Function(
        "Wrenches as of cartesian_forces, the least by weights of moment and force at a point of each body's own, and\n"
        "what of tau singular joints leave undone.",
        ("q", "tau", "points", "weights"), lambda m: (6 * m.nb + m.nv,), _pair_wrenches, exported=True,
        rows=tree_rows.pair_wrenches,
    ),
    "tree_wrenches": Function(
        "The least wrenches of all, at each body's centre of mass, that act as tau, by weights at each body's origin.",
        ("q", "tau", "weights"), lambda m: (m.nb, 6), _tree_wrenches, solves=True,
        rows=tree_rows.bodies(6),
    ),
    "joint_velocities": Function(
        "v with which each joint moves its body against the parent as the velocities [omega; v] at their origins say.",
        ("q", "velocities", "weights"), _nv,
        lambda c: [("v", joint_velocities(c.tree, c.input("velocities"), c.input("weights")))], exported=True,
        rows=tree_rows.slots,
    ),
    "tree_velocities": Function(
        "v with which all bodies together are nearest to velocities [omega; v] at their origins.",
        ("q", "velocities", "weights"), _nv, _tree_velocities, solves=True, exported=True, rows=tree_rows.slots,
    ),
    "pose_step": Function(
        "q a Gauss-Newton step nearer to poses of the bodies, that step, and what there was to go for each of them,\n"
        "[rotation vector; displacement]: call it until the step is small.",
        ("q", "poses", "weights"), lambda m: (m.nq + m.nv + 6 * m.nb,), _pose_step, solves=True, exported=True,
        rows=tree_rows.state_and_twists, configuration=True,
    ),
    "joint_wrenches": Function(
        "[moment; force] on every body by its joint for the accelerations a, world axes at the body's origin.",
        ("q", "v", "a"), lambda m: (m.nb, 6),
        lambda c: [("W", joint_wrenches(c.tree, c.input("a")))], exported=True, rows=tree_rows.linked_bodies,
    ),
    "external_forces": Function(
        "Sum of J^T W of wrenches [moment; force], world axes at each body's origin.",
        ("q", "wrenches"), _nv,
        lambda c: [("tau", forces_from_wrenches(c.tree, c.input("wrenches"), at_center=False))], exported=True,
        rows=tree_rows.slots,
    ),
}  # fmt: skip
