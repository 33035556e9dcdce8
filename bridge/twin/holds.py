"""Joints as Bullet's constraints between free bodies: which of them hold what a joint holds.

createConstraint knows points that stay together, all of a body's axes, and a slide along a line. One common point makes
a ball, two make a hinge; bodies that are fixed to each other are one body here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pybullet

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import ModelError
from recursive_dyn.model.model import BodyFrame

Array = np.ndarray

_SAMPLES, _REACH = 4, 0.3  # configurations about the first, rad or m apart, at which a joint is looked at
_SAME = 1e-8  # rad or m by which what Bullet holds together may move
_APART = 0.1  # m between a hinge's points and the body's origin, along the axis


@dataclass(frozen=True, eq=False)
class Hold:
    """One constraint of Bullet's between a body, by its number, and its parent: its type, and the point (3,) and
    direction (3,) in the body's frame."""

    body: int
    kind: int
    point: Array
    axis: Array


def all_holds(dynamics: Dynamics, q: Array) -> list[Hold]:
    """What holds bodies as their joints do, looked at about q (nq,); nothing where they are free.

    ModelError names the body of a joint that Bullet has no constraints for.
    """
    jointed = [k for k, body in enumerate(dynamics.model.bodies) if body.jointed]
    return [hold for k in jointed for hold in _holds(dynamics, q, k)]


def _holds(dynamics: Dynamics, q: Array, body: int) -> list[Hold]:
    frame = dynamics.model.bodies[body]
    link = dynamics.model.links[frame.link]
    _check_alone(dynamics, frame)
    if len(link.slots) == 6:
        return []
    columns = _motions(dynamics, q, body)  # (samples, d, 6)
    omega, v = columns[..., :3].reshape(-1, 3), columns[..., 3:].reshape(-1, 3)
    if len(link.slots) == 1 and np.abs(omega).max() < _SAME * np.abs(v).max():
        axis = v[0] / np.linalg.norm(v[0])
        if np.abs(np.cross(v, axis)).max() < _SAME * np.abs(v).max():
            return [Hold(body, pybullet.JOINT_PRISMATIC, np.zeros(3), axis)]
    elif len(link.slots) in (1, 3):
        # points p that stay: v + omega x p = 0
        crossed = np.cross(omega[:, None, :], np.eye(3)).swapaxes(1, 2).reshape(-1, 3)
        p, _, rank, _ = np.linalg.lstsq(crossed, -v.reshape(-1), rcond=1e-9)
        stays = np.abs(v + np.cross(omega, p)).max() < _SAME * max(1.0, np.abs(columns).max())
        if stays and (len(link.slots), rank) == (3, 3):
            return [Hold(body, pybullet.JOINT_POINT2POINT, p, np.zeros(3))]
        if stays and (len(link.slots), rank) == (1, 2):
            axis = omega[0] / np.linalg.norm(omega[0])
            return [Hold(body, pybullet.JOINT_POINT2POINT, p + side * axis, axis) for side in (-_APART, _APART)]
    names = ", ".join(f"'{dynamics.model.coordinates[slot].name}'" for slot in link.slots)
    raise ModelError(
        f"the joint of body '{frame.name}' with {names} is none that Bullet's constraints hold, which are balls, hinges"
        " and slides; use constrained=False, which takes every joint"
    )


def _check_alone(dynamics: Dynamics, frame: BodyFrame) -> None:
    """Refuse what is no matter of two bodies."""
    model = dynamics.model
    link = model.links[frame.link]
    shared = next(group for group in model.sharing if frame.link in group)
    if link.drive is not None or len(shared) > 1:
        raise ModelError(
            f"the joint of body '{frame.name}' follows, or leads, coordinates of others, which no constraint of"
            " Bullet's does; use constrained=False, which takes every joint"
        )
    for slot in link.slots:
        if model.coordinates[slot].armature:
            raise ModelError(
                f"coordinate '{model.coordinates[slot].name}' has a rotor's inertia (armature), which no body of"
                " Bullet's has; leave it out, or use constrained=False"
            )


def _motions(dynamics: Dynamics, q: Array, body: int) -> Array:
    """S (samples, d, 6) of a body's joint at its origin in its own axes, at some configurations about q."""
    frame = dynamics.model.bodies[body]
    slots = list(dynamics.model.links[frame.link].slots)
    rng = np.random.default_rng(5)
    v = np.zeros((_SAMPLES, dynamics.nv))
    v[1:, slots] = rng.uniform(-_REACH, _REACH, (_SAMPLES - 1, len(slots)))
    states = dynamics.integrate(q, v, np.ones(_SAMPLES))
    S = np.swapaxes(dynamics.jacobian(states, frame.name)[..., slots], -1, -2)
    R = dynamics.poses(states)[:, None, body, :3, :3]
    result: Array = np.concatenate([_turned(R, S[..., :3]), _turned(R, S[..., 3:])], axis=-1)
    return result


def _turned(R: Array, vectors: Array) -> Array:
    """R^T x of vectors (..., 3)."""
    turned: Array = np.einsum("...ij,...i->...j", R, vectors)
    return turned
