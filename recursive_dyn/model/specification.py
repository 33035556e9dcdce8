"""What a scene says of a body, in plain scalars."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recursive_dyn.graph.expression import Scalar
from recursive_dyn.joint.coordinate import Coordinate
from recursive_dyn.joint.joint_program import JointProgram


@dataclass(frozen=True)
class Coupling:
    """A joint's one coordinate follows another body's: q = multiplier * q_leader + offset."""

    leader: str
    multiplier: float
    offset: float


@dataclass(frozen=True, eq=False)
class BodySpec:
    """What a scene says of one body. ``parent`` is an index or WORLD; mass, center (3,) and inertia (3, 3) about the
    centre of mass in body axes, and the placement (4, 4), are scalars over the model graph's parameter inputs.

    ``drive`` is what moves the joint's coordinates if they are not its own: another body's coordinate, or functions,
    one a coordinate. A name ("parameter", name) in such functions, or in the joint's transform, is a shared coordinate,
    the label "body.coordinate" of one before it, or a parameter.
    """

    name: str
    parent: int
    placement: np.ndarray
    joint: JointProgram
    coordinates: tuple[Coordinate, ...]
    mass: Scalar
    center: np.ndarray
    inertia: np.ndarray
    drive: Coupling | tuple[Scalar, ...] | None = None
