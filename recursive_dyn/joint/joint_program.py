"""A joint from its transform alone: motion subspace S, bias S-dot q-dot, kinematics q-dot = N(q) v.

Si & Guenter (2011), eq. 9 and 12. A joint is a product of factors G = G_1 G_2 ..., each a rigid motion that depends on
a point of a space: on nothing, on n numbers (q-dot = v), on a rotation, on whatever has a ``Space``. A joint of several
charts (section 6 there) is one factor that selects the transform of the chart in force (``charted_program``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Graph, Scalar, array
from recursive_dyn.graph.program import content_hash
from recursive_dyn.graph.simplify import merge_identical
from recursive_dyn.graph.traversal import reachable, substitute
from recursive_dyn.spatial.algebra import cross, dot
from recursive_dyn.spatial.spaces import Flat, Space

_SKEW = ((2, 1), (0, 2), (1, 0))  # rows and columns of R^T dR that hold omega


@dataclass(frozen=True, eq=False)
class Factor:
    """One factor of a joint: ``transform`` (4, 4) over the inputs ("q", first_q) ... of the joint's graph, the numbers
    of a point of ``space``, whose tangents are its velocities."""

    space: Space
    transform: np.ndarray
    first_q: int
    first_v: int

    @property
    def nq(self) -> int:
        """How many numbers its position is."""
        return self.space.size

    @property
    def nv(self) -> int:
        """How many velocities it has."""
        return self.space.dimension


@dataclass(frozen=True, eq=False)
class JointProgram:
    """A joint's factors over the inputs ("q", i), ("v", i) and ("parameter", name) of its own graph.

    ``charts``: the joints of which the one factor selects one (``charted_program``); empty for any other joint.
    """

    graph: Graph
    factors: tuple[Factor, ...]
    charts: tuple[JointProgram, ...] = ()

    @property
    def nq(self) -> int:
        """How many numbers its position is."""
        return sum(f.nq for f in self.factors)

    @property
    def nv(self) -> int:
        """How many velocities it has."""
        return sum(f.nv for f in self.factors)

    @cached_property
    def key(self) -> str:
        """Content hash of the transform: equal joints share their derivatives."""
        shape = [f"{f.space.name},{f.nq},{f.nv}" for f in self.factors]
        return content_hash(";".join(shape), [x for f in self.factors for x in f.transform.flat])

    @cached_property
    def parameters(self) -> frozenset[str]:
        """Names of the inputs that are not coordinates."""
        nodes = reachable(x for f in self.factors for x in f.transform.flat)
        return frozenset(n.args[0][1] for n in nodes if n.op == "input" and n.args[0][0] == "parameter")

    def kinematics(self) -> JointKinematics:
        """Derived expressions of this joint, shared with every joint of the same content."""
        return _derive(self.key, Carried(self))

    def derived(self) -> JointKinematics:
        """The same, derived anew."""
        return _derived(self)

    @cached_property
    def split(self) -> tuple[list[np.ndarray], JointProgram, list[np.ndarray]]:
        """(leading constant poses, the moving core, trailing constant poses)."""
        moving = [i for i, f in enumerate(self.factors) if f.nv]
        if not moving:
            return [f.transform for f in self.factors], JointProgram(self.graph, ()), []
        first, last = moving[0], moving[-1] + 1
        return (
            [f.transform for f in self.factors[:first]],
            replace(self, factors=self.factors[first:last]),
            [f.transform for f in self.factors[last:]],
        )


class Carried:
    """Carries a joint past the cache's key: the content hash alone identifies it."""

    def __init__(self, joint: JointProgram) -> None:
        self.joint = joint

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Carried)


@dataclass(frozen=True, eq=False)
class JointKinematics:
    """Factor poses, S (6, nv), c = S-dot q-dot (6,) and q-dot = N(q) v (nq,), in the joint's own graph."""

    transforms: tuple[np.ndarray, ...]
    subspace: np.ndarray
    bias: np.ndarray
    rate: np.ndarray

    def instantiate(self, inputs: Mapping[Any, Scalar]) -> JointKinematics:
        """The same expressions with the joint's inputs replaced by scalars of another graph."""
        flat = [x for t in self.transforms for x in t.flat] + [*self.subspace.flat, *self.bias, *self.rate]
        values = iter(substitute(flat, inputs))

        def take(shape: tuple[int, ...]) -> np.ndarray:
            return array([next(values) for _ in range(int(np.prod(shape)))]).reshape(shape)

        transforms = tuple(take((4, 4)) for _ in self.transforms)
        return JointKinematics(transforms, take(self.subspace.shape), take((6,)), take(self.rate.shape))

    @property
    def pose(self) -> np.ndarray:
        """The joint's transform (4, 4), the product of its factors'."""
        return product(self.transforms)


@lru_cache(maxsize=4096)
def _derive(key: str, carrier: Carried) -> JointKinematics:
    return carrier.joint.derived()


def _derived(joint: JointProgram) -> JointKinematics:
    graph = joint.graph
    v = graph.inputs("v", joint.nv)
    columns: list[np.ndarray] = []
    rate: list[Scalar] = []
    for factor in joint.factors:
        rotation, position = factor.transform[:3, :3], factor.transform[:3, 3]
        columns = [_carry(column, rotation, position) for column in columns]
        columns += _factor_subspace(graph, factor)
        rate += _factor_rate(graph, factor, v)
    subspace = array(columns).reshape(joint.nv, 6).T if columns else np.zeros((6, 0), dtype=object)
    flat = [x for f in joint.factors for x in f.transform.flat] + list(subspace.flat)
    merged = merge_identical(flat)
    transforms = tuple(array(merged[16 * i : 16 * i + 16]).reshape(4, 4) for i in range(len(joint.factors)))
    subspace = array(merged[16 * len(joint.factors) :]).reshape(6, joint.nv)
    twist = [dot(row, v) for row in subspace]
    along = {graph.input(("q", i)): r for i, r in enumerate(rate)}
    bias = merge_identical(directional_derivative(twist, along))
    return JointKinematics(transforms, subspace, array(bias), array(rate))


def _carry(column: np.ndarray, rotation: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Ad_{G^-1}: a twist column seen from the next factor's child frame (eq. 2)."""
    omega, v = column[:3], column[3:]
    return np.concatenate([rotation.T @ omega, rotation.T @ (v + cross(omega, position))])


def _factor_subspace(graph: Graph, factor: Factor) -> list[np.ndarray]:
    """Columns (G^-1 dG/dq q-dot)^vee of one factor (eq. 9), q-dot along each of its velocities."""
    columns = []
    rotation, q = factor.transform[:3, :3], _point(graph, factor)
    for own in np.eye(factor.nv):
        along = dict(zip(q, factor.space.rate(q, array(own)), strict=True))
        d = array(directional_derivative(list(factor.transform[:3].flat), along)).reshape(3, 4)
        omega = [_shorter(dot(rotation[:, a], d[:, b]), -dot(rotation[:, b], d[:, a])) for a, b in _SKEW]
        columns.append(np.concatenate([array(omega), rotation.T @ d[:, 3]]))
    if not factor.space.flat:  # by itself: a velocity is mostly a component of the twist, and seen to be one here
        columns = list(array(merge_identical([x for column in columns for x in column])).reshape(-1, 6))
    return columns


def _shorter(a: Scalar, b: Scalar) -> Scalar:
    """Of two equal scalars the one that depends on fewer nodes: R^T dR is skew, and frames differ in what is simple."""
    return a if len(reachable([a])) <= len(reachable([b])) else b


def _factor_rate(graph: Graph, factor: Factor, v: np.ndarray) -> list[Scalar]:
    return list(factor.space.rate(_point(graph, factor), v[factor.first_v : factor.first_v + factor.nv]))


def _point(graph: Graph, factor: Factor) -> np.ndarray:
    return array([graph.input(("q", factor.first_q + i)) for i in range(factor.nq)])


def build(graph: Graph, factors: Sequence[tuple[Space, np.ndarray]]) -> JointProgram:
    """A joint from space and transform (4, 4) of each factor, coordinates in order.

    ModelError for a space whose tangents have more numbers than dimensions: a joint's velocities are independent.
    """
    made, q, v = [], 0, 0
    for space, transform in factors:
        if space.tangent_size != space.dimension:
            raise ModelError(
                f"a joint cannot move on the space '{space.name}': its tangents are {space.tangent_size} numbers in"
                f" {space.dimension} dimensions; describe velocities by {space.dimension} independent numbers"
            )
        made.append(Factor(space, array(transform), q, v))
        q, v = q + space.size, v + space.dimension
    return JointProgram(graph, tuple(made))


def compose(*joints: JointProgram) -> JointProgram:
    """The joint G_a G_b ...: b's coordinates follow a's."""
    graph = Graph()
    factors: list[tuple[Space, np.ndarray]] = []
    offset = 0
    for joint in joints:
        for f in joint.factors:
            names = [n.args[0] for n in reachable(f.transform.flat) if n.op == "input"]
            inputs = {n: graph.input(("q", n[1] + offset) if n[0] == "q" else n) for n in names}
            transform = array(substitute(list(f.transform.flat), inputs)).reshape(4, 4)
            factors.append((f.space, transform))
        offset += joint.nq
    return build(graph, factors)


def product(transforms: Sequence[np.ndarray]) -> np.ndarray:
    """The product of scalar poses (4, 4); the identity for none."""
    total = array(np.eye(4))
    for transform in transforms:
        total = total @ transform
    return total


def borrow(joint: JointProgram, names: Sequence[str]) -> JointProgram:
    """The joint, of plain coordinates, with the inputs ("parameter", name) of ``names`` as further coordinates."""
    graph = Graph()
    total = product([f.transform for f in joint.factors])
    inputs = {}
    for n in reachable(total.flat):
        if n.op == "input":
            name = n.args[0]
            borrowed = name[0] == "parameter" and name[1] in names
            inputs[name] = graph.input(("q", joint.nq + names.index(name[1])) if borrowed else name)
    transform = array(substitute(list(total.flat), inputs)).reshape(4, 4)
    return build(graph, [(Flat(joint.nv + len(names)), transform)])
