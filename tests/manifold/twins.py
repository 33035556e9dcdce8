"""Scenes of bodies on joints, and how to read from them the variables of a system of demos.manifolds.

A direction q of S^2 becomes a joint of two angles u, v, whose poles v = +-pi/2 lie along a random axis. Up is along no
axis.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp

import recursive_dyn as rd
from demos.manifolds.system import System
from scene import Body, Scene, joints

UP = np.array([0.36, -0.48, 0.8])
GRAVITY = 9.81
Marks = dict[str, tuple[float, float, float, float]]


@dataclass(frozen=True, eq=False)
class Load:
    """A force and a moment at a body's origin, in world axes or, turning with it, in those of the body."""

    body: str
    force: Any = (0.0, 0.0, 0.0)
    moment: Any = (0.0, 0.0, 0.0)
    turning: bool = False


@dataclass(frozen=True, eq=False)
class Twin:
    """A system of demos.manifolds and the scene of the same bodies.

    parameters: the numbers of both. The variables in the scene: ``vectors[name]`` is the sum of X_WB h over bodies B,
    h (4,) homogeneous; ``rotations[name]`` is a body's rotation; ``scalars[name]`` is a coordinate. forces: numbers of
    the applied forces, the same as the generalized forces ``efforts`` by coordinate together with the ``loads``.
    positive: coordinates that are around 1 instead of 0.
    """

    name: str
    system: System
    parameters: dict[str, Any]
    scene: Scene
    vectors: dict[str, Marks] = field(default_factory=dict)
    rotations: dict[str, str] = field(default_factory=dict)
    scalars: dict[str, str] = field(default_factory=dict)
    forces: dict[str, Any] = field(default_factory=dict)
    efforts: dict[str, float] = field(default_factory=dict)
    loads: tuple[Load, ...] = ()
    positive: tuple[str, ...] = ()

    def states(self, dynamics: rd.Dynamics, rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Random q (count, nq), angles far from the poles, any rotation; and v (count, nv) of 1 rad/s or 1 m/s."""
        q = rng.uniform(-0.6, 0.6, (count, dynamics.nq))
        for first, end in dynamics.model.units:
            quaternion = rng.normal(size=(count, end - first))
            q[:, first:end] = quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)
        for name in self.positive:
            q[:, dynamics.coordinates.index(name)] += 1.0
        return q, rng.normal(size=(count, dynamics.nv))

    def tau(self, dynamics: rd.Dynamics) -> np.ndarray:
        """Generalized forces (nv,)."""
        return np.array([self.efforts.get(name, 0.0) for name in dynamics.velocity_coordinates])

    def wrenches(self, dynamics: rd.Dynamics, q: np.ndarray) -> np.ndarray:
        """What the loads are at configurations q, (..., nb, 6) in world axes at the bodies' origins."""
        poses = dynamics.poses(q)
        result = np.zeros((*poses.shape[:-2], 6))
        for load in self.loads:
            body = dynamics.bodies.index(load.body)
            axes = poses[..., body, :3, :3] if load.turning else np.eye(3)
            result[..., body, :3] += axes @ np.asarray(load.moment)
            result[..., body, 3:] += axes @ np.asarray(load.force)
        return result


def arrow(tip: str, tail: str | None = None, length: float = 1.0) -> Marks:
    """(origin of ``tip`` - origin of ``tail``) / length; without a tail from the world's origin."""
    ends = {tip: (0.0, 0.0, 0.0, 1.0 / length)}
    return ends | {tail: (0.0, 0.0, 0.0, -1.0 / length)} if tail else ends


def random_frame(rng: np.random.Generator) -> np.ndarray:
    """A random rotation matrix."""
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return axes * np.linalg.det(axes)


def random_inertia(rng: np.random.Generator) -> np.ndarray:
    """An inertia (3, 3) about the centre of mass that some distribution of mass has, along no axis."""
    axes = random_frame(rng)
    second = axes @ np.diag(rng.uniform(0.05, 0.3, 3)) @ axes.T
    return np.trace(second) * np.eye(3) - second


def about(mass: float, center: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """Inertia about a point from which the centre of mass is at ``center``."""
    return inertia + mass * (center @ center * np.eye(3) - np.outer(center, center))


def direction(length: float, frame: np.ndarray) -> joints.Joint:
    """The child stands ``length`` away in the direction of longitude u and latitude v, and keeps its parent's axes."""
    u, v = sp.symbols("u v", real=True)
    transform = sp.eye(4)
    transform[:3, 3] = (
        length * sp.Matrix(frame.tolist()) * sp.Matrix([sp.cos(u) * sp.cos(v), sp.sin(u) * sp.cos(v), sp.sin(v)])
    )
    return joints.Joint(transform, (u, v))


def translation() -> joints.Joint:
    """Any place, the parent's axes."""
    x, y, z = sp.symbols("x y z", real=True)
    transform = sp.eye(4)
    transform[:3, 3] = [x, y, z]
    return joints.Joint(transform, (x, y, z))


class Hanging:
    """Point masses hung in a scene, each by a joint whose poles are somewhere else."""

    def __init__(self, rng: np.random.Generator, relative: bool = False) -> None:
        self.rng, self.relative = rng, relative
        self.scene = Scene(gravity=-GRAVITY * UP)

    def link(self, parent: Any, name: str, length: float, end: float, middle: float = 0.0) -> Body:
        """A massless link of a length with a mass at its end, which is what is returned, and one in its middle.

        Absolute: the masses move on joints of their own, those of a link by the same two coordinates. Relative: the
        link turns on a universal joint in what it hangs on, and carries its masses.
        """
        frame = random_frame(self.rng)
        if self.relative:
            at = np.eye(4)
            at[:3, :3] = frame
            own = {"mass": middle, "center_of_mass": (length / 2, 0, 0)} if middle else {}
            rod = parent.attach(Body(f"{name}_rod", **own), joints.universal("z", "y"), at=at)
            return rod.attach(Body(name, mass=end), joints.fixed(), at=rd.pose((length, 0, 0)))
        if not middle:
            return parent.attach(Body(name, mass=end), direction(length, frame))
        shared = [self.scene.coordinate(f"{name}_{angle}") for angle in "uv"]
        parent.attach(Body(f"{name}_middle", mass=middle), direction(length / 2, frame).driven(*shared))
        return parent.attach(Body(name, mass=end), direction(length, frame).driven(*shared))
