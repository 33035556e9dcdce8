"""Joints that do not show everywhere a coordinate that others share, as cams at their dead centre: poses are measured.

Such a joint G(s) is left to allow any motion X of its bodies, and what is missed is, of G^-1 X,

    r = (2 tan(angle / 2) axis, shift) = 0,

one way to measure a rigid motion that is smooth everywhere but at half a turn, with the other joints that show s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from recursive_dyn.graph.expression import Expression, Graph, Scalar, array, is_constant, reciprocal
from recursive_dyn.graph.traversal import evaluate, substitute
from recursive_dyn.maximal.freed.freeing import free_joint
from recursive_dyn.maximal.kinds.timed_joints import moving_columns, time_column
from recursive_dyn.model.constraint import COORDINATE, RATE
from recursive_dyn.model.model import Link, Model
from recursive_dyn.spatial.algebra import inverse_pose
from recursive_dyn.spatial.rotations import matrix_to_quaternion
from recursive_dyn.spatial.spaces import RigidMotion

_PLACES, _FLAT = 400, 0.1  # where S is looked at; of what it shows there in the middle, that is too little
_FAR = 1e9  # limits beyond this are none
_TURN = 1e-3  # added to 1 + trace, so that half a turn has a number


@dataclass(frozen=True, eq=False)
class PosedJoint:
    """link: on a joint that allows all; values (7,), speeds (6,): what its coordinates follow, and their rates;
    residuals (6,); turning: the inputs of its coordinates with their rates."""

    link: Link
    values: list[Scalar]
    speeds: list[Scalar]
    residuals: list[Scalar]
    turning: list[tuple[Expression, Scalar]]


def hides(model: Model, link: Link) -> bool:
    """Whether a link's own joint comes to show less than all of its coordinates somewhere, as far as that can be seen
    from many places."""
    moving = moving_columns(link.joint, time_column(model, link))
    if link.drive is not None or link.chart is not None or not all(f.space.flat for f in link.joint.factors):
        return False
    S = link.joint.kinematics().subspace[:, moving]
    if all(map(is_constant, S.flat)):
        return False
    rng = np.random.default_rng(13)
    inputs: dict[Any, Any] = {("parameter", name): value for name, value in model.parameters}
    for j, slot in enumerate(link.slots):
        low, high = model.coordinates[slot].limits if j in moving else (-np.inf, np.inf)
        inputs["q", j] = rng.uniform(*((low, high) if max(-low, high) < _FAR else (-np.pi, np.pi)), _PLACES)
    numbers = np.array([np.broadcast_to(x, _PLACES) for x in evaluate(list(S.flat), inputs)], dtype=float)
    S = np.moveaxis(numbers.reshape(6, len(moving), _PLACES), -1, 0)
    usual = np.sqrt((S * S).sum(axis=1).mean(axis=0))
    least = np.linalg.svd(S / np.where(usual > 0.0, usual, 1.0), compute_uv=False)[:, -1]
    return bool(least.min() < _FLAT * np.median(least))


def posed(link: Link, graph: Graph, place: int, slot: int, names: Sequence[str]) -> PosedJoint:
    """A link whose pose is measured, by coordinates that begin at a place and a slot; names: of all parameters."""
    space, ends = RigidMotion(), list(zip(link.places, link.slots, strict=True))
    last = space.tangent_size - 1
    y = array([graph.input((COORDINATE, (place + k, slot + min(k, last)))) for k in range(space.size)])
    v = array([graph.input((RATE, (place + k, slot + k))) for k in range(space.tangent_size)])
    own = [graph.input((COORDINATE, end)) for end in ends]
    parameters: dict[Any, Scalar] = {("parameter", name): graph.input(("parameter", name)) for name in names}
    inputs = parameters | {("q", j): x for j, x in enumerate(own)}
    inputs |= {("v", j): graph.input((RATE, end)) for j, end in enumerate(ends)}
    if len(own) == 1:
        inputs["q", 0] = own[0] + substitute([link.offset], parameters)[0]
    known = link.joint.kinematics().instantiate(inputs)
    missed = inverse_pose(known.pose) @ space.pose(y)
    R, p = missed[:3, :3], missed[:3, 3]
    scale = reciprocal(R[0, 0] + R[1, 1] + R[2, 2] + (1.0 + _TURN)) * 2.0
    turn = [(R[2, 1] - R[1, 2]) * scale, (R[0, 2] - R[2, 0]) * scale, (R[1, 0] - R[0, 1]) * scale]
    values = [*known.pose[:3, 3], *matrix_to_quaternion(known.pose[:3, :3])]
    speeds = list(known.subspace @ array([inputs["v", j] for j in range(len(ends))]))
    moved = replace(
        link, joint=free_joint(), offset=0.0, places=tuple(place + k for k in range(space.size)),
        slots=tuple(slot + k for k in range(space.tangent_size)),
    )  # fmt: skip
    return PosedJoint(moved, values, speeds, [*turn, *p], list(zip(y, space.rate(y, v), strict=True)))
