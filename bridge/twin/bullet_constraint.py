"""One of Bullet's constraints between two free bodies, made where a scene's joint is, and kept there."""

from __future__ import annotations

import numpy as np
import pybullet

from bridge.twin.assemblies import Assemblies
from bridge.twin.holds import Hold
from recursive_dyn.model.model import WORLD
from recursive_dyn.spatial.rotations import matrix_to_quaternion

Array = np.ndarray

_STRENGTH = 1e9  # N and N m that it may need


class BulletConstraint:
    """What Bullet makes of a hold between bodies at poses X (nb, 4, 4): points and axes in both frames as they are now.

    Of a slide Bullet's forces act at a point of each body, which part as it slides and make a couple that is nobody's:
    ``aim``, before every step, moves the parent's point along the axis to where the child's is.
    """

    def __init__(self, hold: Hold, bodies: Assemblies, X: Array) -> None:
        self._hold, self._bodies = hold, bodies
        model = bodies.dynamics.model
        parent = model.bodies[hold.body].parent
        self._child, self._parent = (
            model.bodies[hold.body].link,
            WORLD if parent == WORLD else model.bodies[parent].link,
        )
        R = X[hold.body, :3, :3]
        point, axis = R @ hold.point + X[hold.body, :3, 3] + bodies.at, R @ hold.axis
        C, P = self._frames(bodies.principal())
        self._point, self._axis, self._line = _within(C, point), C[:3, :3].T @ axis, _within(P, point)
        turn = _across(axis)
        self._id: int = pybullet.createConstraint(
            bodies.ids[self._child], -1, -1 if self._parent == WORLD else bodies.ids[self._parent], -1, hold.kind,
            self._axis.tolist(), self._point.tolist(), self._line.tolist(), _turn(C, turn), _turn(P, turn),
            physicsClientId=bodies.client,
        )  # fmt: skip
        pybullet.changeConstraint(self._id, maxForce=_STRENGTH, physicsClientId=bodies.client)

    def _frames(self, principal: Array) -> tuple[Array, Array]:
        """Bullet's frames of the child and the parent."""
        return principal[self._child], np.eye(4) if self._parent == WORLD else principal[self._parent]

    def aim(self, principal: Array) -> None:
        """Let the forces of a slide act at one point of the world in the next step; principal: of ``bodies``."""
        if self._hold.kind != pybullet.JOINT_PRISMATIC:
            return
        C, P = self._frames(principal)
        axis, line = C[:3, :3] @ self._axis, P[:3, :3] @ self._line + P[:3, 3]
        along = (C[:3, :3] @ self._point + C[:3, 3] - line) @ axis
        pybullet.changeConstraint(
            self._id, jointChildPivot=_within(P, line + along * axis).tolist(), maxForce=_STRENGTH,
            physicsClientId=self._bodies.client,
        )  # fmt: skip


def _within(X: Array, point: Array) -> Array:
    """A point of the world in a frame."""
    own: Array = X[:3, :3].T @ (point - X[:3, 3])
    return own


def _turn(X: Array, R: Array) -> list[float]:
    """Axes R (3, 3) of the world as a quaternion in a frame."""
    return [float(x) for x in matrix_to_quaternion(X[:3, :3].T @ R)]


def _across(axis: Array) -> Array:
    """Axes (3, 3) of which the first is not along ``axis``: Bullet takes a slide's other two directions from it."""
    R = np.linalg.svd(axis[None])[2][::-1].T
    turned: Array = R * np.sign(np.linalg.det(R))
    return turned
