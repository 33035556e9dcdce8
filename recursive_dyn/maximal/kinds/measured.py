"""What constraints and force elements measure of bodies and joint coordinates, as inputs of programs of their own."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.graph.expression import Graph, Scalar, array
from recursive_dyn.integrators.integrator import numbers
from recursive_dyn.maximal.poses import by_body
from recursive_dyn.model.constraint import BIAS, COORDINATE, POSITION, RATE, ROTATION, SPIN, VELOCITY
from recursive_dyn.model.model import WORLD
from recursive_dyn.spatial.algebra import cross
from recursive_dyn.spatial.rotations import quaternion_to_matrix

Array = np.ndarray
Clock = tuple[int, int] | None  # place and slot of time
_MEASURED = POSITION, ROTATION, VELOCITY, SPIN


class Measures:
    """What scalars over inputs ``keys`` measure: ``bodies`` and ``coordinates``, (place, slot) of each.

    sizes: names and sizes of a program's inputs before its parameters: of each body its link's position and quaternion,
    its link's twist in own axes, and the first three rows of its frame in its link; positions and rates of coordinates.
    """

    def __init__(self, keys: Collection[Any], parameters: Sequence[str], link_of: Sequence[int]) -> None:
        """link_of: the link of each of the model's bodies, WORLD for none."""
        self.parameters, self.link_of = tuple(parameters), tuple(link_of)
        named = {key[1] for key in keys if key[0] in (COORDINATE, RATE)}
        self.coordinates = sorted(named, key=lambda where: (where[1], -1 if where[0] is None else where[0]))
        self.bodies = sorted({key[1] for key in keys if key[0] in _MEASURED})
        n = len(self.bodies)
        self.sizes = [("poses", 7 * n), ("twists", 6 * n), ("frames", 12 * n), ("coordinates", 2 * len(named))]

    @property
    def links(self) -> Array:
        """The link (b,) of each body, WORLD for none."""
        return np.array([self.link_of[k] for k in self.bodies], dtype=np.int64)

    def body_frames(self, free: Dynamics) -> Array:
        """First three rows of the bodies' frames (b, 12) in their links."""
        poses = [free.model.bodies[k].pose for k in self.bodies]
        found = numbers(free, np.array(poses, dtype=object).reshape(-1, 4, 4))
        return np.ascontiguousarray(found[:, :3].reshape(len(poses), 12))

    def values(self, free: Dynamics, q: Array, v: Array, places: Array, rates: Array) -> list[Array]:
        """The inputs at states q (..., 7 n), v (..., 6 n) of free bodies, with their joints' coordinates and rates."""
        lead, links = q.shape[:-1], self.links
        poses, twists = (by_body(x, n)[..., links, :] for x, n in ((q, 7), (v, 6)))
        poses[..., links == WORLD, :], twists[..., links == WORLD, :] = [0, 0, 0, 0, 0, 0, 1], 0.0
        frames = np.broadcast_to(self.body_frames(free).reshape(-1), (*lead, 12 * len(links)))
        moving = [x for place, slot in self.coordinates
                  for x in (np.zeros(lead) if place is None else places[..., place], rates[..., slot])]  # fmt: skip
        coordinates = np.stack(moving, axis=-1) if moving else np.zeros((*lead, 0))
        return [poses.reshape(*lead, -1), twists.reshape(*lead, -1), frames, coordinates]


class MeasuredInputs(dict[Any, Scalar]):
    """Inputs of scalars as those of the program, made as they are met."""

    def __init__(self, measured: Measures, graph: Graph) -> None:
        super().__init__()
        self._measured, self._graph = measured, graph
        given = [graph.inputs(name, n) for name, n in measured.sizes]
        rows = [x.reshape(len(measured.bodies), size) for x, size in zip(given, (7, 6, 12), strict=False)]
        self.bodies = {body: MeasuredBody(*(x[k] for x in rows)) for k, body in enumerate(measured.bodies)}
        self._coordinates = given[3]

    def __missing__(self, key: Any) -> Scalar:
        value = self[key] = self._made(key)
        return value

    def _made(self, key: Any) -> Scalar:
        kind = key[0]
        if kind == "parameter":
            return self._graph.input(("parameters", self._measured.parameters.index(key[1])))
        if kind in (COORDINATE, RATE):
            return self._coordinates[2 * self._measured.coordinates.index(key[1]) + (kind == RATE)]
        head, rest = ((BIAS, key[1]), key[2:]) if kind == BIAS else ((kind,), key[1:])
        owner, *component = rest
        return self.bodies[owner].values[head][tuple(component)]


class MeasuredBody:
    """What is measured of a body, of its link's pose (7,) and twist (6,) and its frame (12,) in the link."""

    def __init__(self, pose: np.ndarray, twist: np.ndarray, frame: np.ndarray) -> None:
        rows = frame.reshape(3, 4)
        self._turned, self._arm = quaternion_to_matrix(pose[3:]), rows[:, 3]
        at_origin = twist[3:] + cross(twist[:3], self._arm)
        self.values = {
            (POSITION,): pose[:3] + self._turned @ self._arm, (ROTATION,): self._turned @ rows[:, :3],
            (VELOCITY,): self._turned @ at_origin, (SPIN,): self._turned @ twist[:3],
            (BIAS, VELOCITY): self._turned @ cross(twist[:3], at_origin), (BIAS, SPIN): array(np.zeros(3)),
        }  # fmt: skip

    def push(self, side: np.ndarray, kind: str, component: int, slope: Scalar) -> None:
        """Add to the derivatives by its link's twist (6,) what one by its velocity or spin is."""
        way = self._turned[component] * slope
        if kind == VELOCITY:
            side[3:] += way
            side[:3] += cross(self._arm, way)
        else:
            side[:3] += way
