"""Links on rotations and rigid motions, which are stepped in their momenta: their axes turn during a step."""

from __future__ import annotations

import numpy as np

from recursive_dyn.graph.expression import Scalar, array, is_constant, reciprocal
from recursive_dyn.joint.joint_program import Factor
from recursive_dyn.model.model import Link, MassMoments
from recursive_dyn.recursion.kinematics import LinkKinematics, zeros
from recursive_dyn.spatial.algebra import dot
from recursive_dyn.spatial.spaces import RigidMotion, Rotation

TURNING, MOVING = Rotation(), RigidMotion()  # the spaces of such links


def stepped_point(k: LinkKinematics | Link, factor: Factor, at_center: bool) -> tuple[np.ndarray, np.ndarray | None]:
    """(point (3,), inertia (3, 3) about it) in whose momenta a link on a ball or free joint is stepped, its own axes.

    The point is the centre of mass, or the joint's centre. (0, None) of a link that has no inertia of its own, or whose
    joint moves it in other ways as well.
    """
    joint = (k.link if isinstance(k, LinkKinematics) else k).joint
    mass, c, inertia = _moved_mass(k, factor)
    massless = any(is_constant(x) and x == 0.0 for x in (mass, *np.diag(inertia)))
    if massless or len(joint.factors) > 1:
        return zeros(3), None
    if at_center:
        return c, inertia
    return zeros(3), inertia + mass * _square(c)


def _moved_mass(k: LinkKinematics | Link, factor: Factor) -> tuple[Scalar, np.ndarray, np.ndarray]:
    """Mass, centre and inertia about it of what moves with a link: its own, unless it was lent some."""
    moved = k.moments
    if moved is None or factor.space != MOVING or moved.equals(MassMoments.of(k.mass, k.center, k.inertia)):
        return k.mass, k.center, k.inertia
    c = moved.first * reciprocal(moved.mass)
    return moved.mass, c, moved.inertia - moved.mass * _square(c)


def _square(c: np.ndarray) -> np.ndarray:
    """Moment of inertia (3, 3) of a unit mass at c."""
    result: np.ndarray = array(np.eye(3)) * dot(c, c) - np.outer(c, c)
    return result
